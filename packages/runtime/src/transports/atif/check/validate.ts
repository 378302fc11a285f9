import { findDoubts } from "./doubts.ts";
import {
  type Check,
  type Checking,
  checkFields,
  depthOf,
  type Field,
  integer,
  isSet,
  type JsonRecord,
  listOf,
  maxDepth,
  nameOf,
  number,
  object,
  objectOf,
  report,
  shape,
  text,
  type TrajectoryProblem,
  type ValidationMode,
} from "./field-checks.ts";
import { isRecord } from "../../../util/is-record.ts";
import { missingMedia } from "./missing-media.ts";
import { checkStep } from "./step-check.ts";

export type ValidationOptions = {
  readonly mode?: ValidationMode | undefined;
  /** Checked as this version instead of the one the document says it has: `1.7`. */
  readonly version?: string | undefined;
  /** Whether a file a document names is there; without it nobody looks. */
  readonly exists?: ((path: string) => boolean) | undefined;
};

export type Validation = {
  readonly ok: boolean;
  /** The version it was checked as: `1.7`. */
  readonly version: string;
  readonly problems: readonly TrajectoryProblem[];
  /** What is allowed and still looks wrong; in strict mode only. */
  readonly warnings: readonly TrajectoryProblem[];
};

/** The newest version anybody has seen. */
const newest = 8;

/** Every problem of a document at once, each with its path. Never throws, whatever it is given. */
export function validateTrajectory(value: unknown, options: ValidationOptions = {}): Validation {
  const strict = (options.mode ?? "strict") === "strict";
  const version = versionOf(value, options.version);
  const checking: Checking = { version, strict, problems: [] };
  if (!isRecord(value)) report(checking, "trajectory", { rule: "root", message: `expected object, got ${nameOf(value)}` });
  else checkTrajectory(value, "trajectory", checking);
  if (options.exists && version >= 6) checking.problems.push(...missingMedia(value, { strict, exists: options.exists }));
  return {
    ok: checking.problems.length === 0,
    version: `1.${version}`,
    problems: checking.problems,
    warnings: strict ? findDoubts(value, { version, exists: options.exists }) : [],
  };
}

function versionOf(value: unknown, asked: string | undefined): number {
  const label = asked ?? (isRecord(value) ? value["schema_version"] : undefined);
  const minor = typeof label === "string" ? /^(?:ATIF-)?v?1\.(\d+)$/.exec(label)?.[1] : undefined;
  return minor === undefined ? newest : Math.min(Number(minor), newest);
}

function checkTrajectory(value: JsonRecord, path: string, checking: Checking): void {
  const embedded = embeddedIds(value["subagent_trajectories"]);
  const steps: Check = (list, place) => {
    listOf((step, at, { index }) =>
      objectOf((inside) => checkStep(inside, at, { checking, index, embedded }))(step, at, checking),
    )(list, place, checking);
    if (Array.isArray(list) && list.length === 0)
      report(checking, place, { rule: "min-items", message: "a trajectory has at least one step" });
  };
  const fields: Readonly<Record<string, Field>> = {
    // Harbor's models know a default for it, but not for null.
    schema_version: { check: label, required: checking.strict || checking.version < 3 || value["schema_version"] === null },
    ...trajectoryFields,
    steps: { check: steps, required: true },
    subagent_trajectories: { check: checkSubagents, since: 7 },
  };
  checkFields(value, path, { fields, checking });
  if (checking.strict) checkTotalSteps(value, path, checking);
}

const label: Check = (value, path, checking) => {
  const minor = typeof value === "string" ? /^ATIF-v1\.(\d+)$/.exec(value)?.[1] : undefined;
  if (minor !== undefined && Number(minor) <= checking.version) return;
  report(checking, path, {
    rule: "schema-version",
    message: `must be ATIF-v1.0 to ATIF-v1.${checking.version}, got ${JSON.stringify(value)}`,
  });
};

const agentFields: Readonly<Record<string, Field>> = {
  name: { check: text, required: true },
  version: { check: text, required: true },
  model_name: { check: text },
  tool_definitions: { check: listOf((value, path, { checking }) => object(value, path, checking)), since: 5 },
  extra: { check: object },
};

const finalFields: Readonly<Record<string, Field>> = {
  total_prompt_tokens: { check: integer() },
  total_completion_tokens: { check: integer() },
  total_cached_tokens: { check: integer() },
  total_cost_usd: { check: number() },
  total_steps: { check: integer(0) },
  extra: { check: object },
};

const trajectoryFields: Readonly<Record<string, Field>> = {
  session_id: { check: text, required: (version) => version < 7 },
  trajectory_id: { check: text, since: 7 },
  agent: { check: shape(agentFields), required: true },
  notes: { check: text },
  final_metrics: { check: shape(finalFields) },
  continued_trajectory_ref: { check: text, since: 5 },
  extra: { check: object, since: 1 },
};

function embeddedIds(value: unknown): ReadonlySet<unknown> {
  return new Set(
    Array.isArray(value)
      ? value.flatMap((child: unknown) => (isRecord(child) && isSet(child["trajectory_id"]) ? [child["trajectory_id"]] : []))
      : [],
  );
}

function checkSubagents(value: unknown, path: string, checking: Checking): void {
  if (depthOf(path) > maxDepth)
    return report(checking, path, { rule: "depth", message: `subagents are nested more than ${maxDepth} deep` });
  const seen = new Set<unknown>();
  const one = (child: unknown, place: string): void =>
    objectOf((inside) => {
      checkTrajectory(inside, place, checking);
      const id = inside["trajectory_id"];
      const problem = !isSet(id)
        ? "an embedded subagent needs one"
        : seen.has(id)
          ? `${JSON.stringify(id)} is there twice`
          : undefined;
      if (problem) report(checking, `${place}.trajectory_id`, { rule: "subagent-id", message: problem });
      seen.add(id);
    })(child, place, checking);
  listOf((child, place) => one(child, place))(value, path, checking);
}

function checkTotalSteps(value: JsonRecord, path: string, checking: Checking): void {
  const { final_metrics: final, steps, notes } = value;
  const total = isRecord(final) ? final["total_steps"] : undefined;
  if (typeof total !== "number" || !Array.isArray(steps) || total === steps.length) return;
  if (typeof notes === "string" && notes.trim() !== "") return;
  const message = `${total} is not the number of steps, ${steps.length}, and notes do not say why`;
  report(checking, `${path}.final_metrics.total_steps`, { rule: "total-steps", message });
}
