import { checkContent } from "./content-check.ts";
import {
  boolean,
  type Check,
  type Checking,
  checkFields,
  type Field,
  integer,
  isSet,
  type JsonRecord,
  listOf,
  number,
  object,
  objectOf,
  report,
  shape,
  text,
  textOrNumber,
  toInteger,
} from "./field-checks.ts";
import { isRecord } from "../../../util/is-record.ts";
import { isIsoTime } from "./iso-time.ts";

/** `embedded` are the ids of the trajectories inside the same document. */
export type StepPlace = { checking: Checking; index: number; embedded: ReadonlySet<unknown> };

const agentOnly = ["model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics"];

/** A step and all that is in it, by the rules for its place and its source. */
export function checkStep(step: JsonRecord, path: string, { checking, index, embedded }: StepPlace): void {
  const results = listOf((value, place) =>
    objectOf((result) => checkResult(result, place, { checking, step, embedded }))(value, place, checking),
  );
  const observation = shape({ results: { check: results, required: true } });
  checkFields(step, path, { fields: { ...stepFields, observation: { check: observation } }, checking });
  const id = toInteger(step["step_id"], checking.strict);
  if (id !== undefined && id >= 1 && id !== index + 1)
    report(checking, `${path}.step_id`, {
      rule: "step-id",
      message: `expected ${index + 1}, as steps are numbered from 1, got ${id}`,
    });
  const { source } = step;
  const forbidden =
    source === "system" || source === "user" ? agentOnly : isIdle(step, checking) ? ["metrics", "reasoning_content"] : [];
  for (const name of forbidden.filter((field) => isSet(step[field])))
    report(checking, `${path}.${name}`, {
      rule: source === "agent" ? "no-llm-step" : "agent-only",
      message:
        source === "agent"
          ? "a step without a model call has none"
          : `only steps of the agent have it, and this is one of the ${source}`,
    });
}

/** A step that no model was asked for. */
function isIdle(step: JsonRecord, checking: Checking): boolean {
  return step["source"] === "agent" && checking.version >= 7 && toInteger(step["llm_call_count"], checking.strict) === 0;
}

const source: Check = (value, path, checking) => {
  if (value !== "system" && value !== "user" && value !== "agent")
    report(checking, path, { rule: "enum", message: `must be "system", "user" or "agent"` });
};

const timestamp: Check = (value, path, checking) => {
  text(value, path, checking);
  if (typeof value === "string" && !isIsoTime(value))
    report(checking, path, { rule: "timestamp", message: `${JSON.stringify(value)} is no time in ISO 8601` });
};

const tokenIds: Check = listOf((value, path, { checking }) => integer()(value, path, checking));

const metricFields: Readonly<Record<string, Field>> = {
  prompt_tokens: { check: integer() },
  completion_tokens: { check: integer() },
  cached_tokens: { check: integer() },
  cost_usd: { check: number() },
  prompt_token_ids: { check: tokenIds, since: 4 },
  completion_token_ids: { check: tokenIds, since: 3 },
  logprobs: { check: listOf((value, path, { checking }) => number()(value, path, checking)) },
  extra: { check: object },
};

const callFields: Readonly<Record<string, Field>> = {
  tool_call_id: { check: text, required: true },
  function_name: { check: text, required: true },
  arguments: { check: object, required: true },
  extra: { check: object, since: 7 },
};

const toolCalls: Check = (value, path, checking) => {
  const seen = new Set<unknown>();
  listOf((call, place) => {
    shape(callFields)(call, place, checking);
    const id = isRecord(call) ? call["tool_call_id"] : undefined;
    if (checking.strict && typeof id === "string" && seen.has(id))
      report(checking, `${place}.tool_call_id`, {
        rule: "duplicate-call-id",
        message: `${JSON.stringify(id)} is there twice in this step`,
      });
    seen.add(id);
  })(value, path, checking);
};

const stepFields: Readonly<Record<string, Field>> = {
  step_id: { check: integer(1), required: true },
  timestamp: { check: timestamp },
  source: { check: source, required: true },
  model_name: { check: text },
  reasoning_effort: { check: textOrNumber },
  message: { check: checkContent, required: true },
  reasoning_content: { check: text },
  tool_calls: { check: toolCalls },
  metrics: { check: shape(metricFields) },
  is_copied_context: { check: boolean, since: 5 },
  llm_call_count: { check: integer(0), since: 7 },
  extra: { check: object },
};

function checkResult(
  result: JsonRecord,
  path: string,
  { checking, step, embedded }: Omit<StepPlace, "index"> & { step: JsonRecord },
): void {
  const refs = listOf((ref, place) =>
    objectOf((inside) => checkRef(inside, place, { checking, embedded }))(ref, place, checking),
  );
  checkFields(result, path, { fields: { ...resultFields, subagent_trajectory_ref: { check: refs } }, checking });
  const id = result["source_call_id"];
  const calls: unknown = step["tool_calls"];
  const isKnown = Array.isArray(calls) && calls.some((call: unknown) => isRecord(call) && call["tool_call_id"] === id);
  if (typeof id === "string" && !isKnown)
    report(checking, `${path}.source_call_id`, {
      rule: "call-reference",
      message: `this step has no tool call ${JSON.stringify(id)}`,
    });
}

const resultFields: Readonly<Record<string, Field>> = {
  source_call_id: { check: text },
  content: { check: checkContent },
  extra: { check: object, since: 7 },
};

const refFields: Readonly<Record<string, Field>> = {
  trajectory_id: { check: text, since: 7 },
  session_id: { check: text, required: (version) => version < 7 },
  trajectory_path: { check: text },
  extra: { check: object },
};

function checkRef(
  ref: JsonRecord,
  path: string,
  { checking, embedded }: { checking: Checking; embedded: ReadonlySet<unknown> },
): void {
  checkFields(ref, path, { fields: refFields, checking });
  if (checking.version < 7) return;
  const { trajectory_id: id, trajectory_path: file } = ref;
  if (!isSet(id) && !isSet(file))
    report(checking, path, {
      rule: "unresolvable-ref",
      message: "needs trajectory_id (embedded) or trajectory_path (a file); session_id alone finds nothing",
    });
  else if (checking.strict && !file && typeof id === "string" && !embedded.has(id))
    report(checking, `${path}.trajectory_id`, {
      rule: "dangling-ref",
      message: `no embedded subagent is called ${JSON.stringify(id)}`,
    });
}
