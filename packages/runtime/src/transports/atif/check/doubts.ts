import { depthOf, isSet, type JsonRecord, maxDepth, type TrajectoryProblem } from "./field-checks.ts";
import { isRecord } from "../../../util/is-record.ts";
import { isIsoTime } from "./iso-time.ts";
import { canonicalType } from "../media-files.ts";

type Doubts = {
  readonly version: number;
  readonly exists: ((path: string) => boolean) | undefined;
  readonly found: TrajectoryProblem[];
};

/** What the format allows and its specification advises against, or what hints at a mistake. */
export function findDoubts(value: unknown, facts: Omit<Doubts, "found">): TrajectoryProblem[] {
  const doubts: Doubts = { ...facts, found: [] };
  if (isRecord(value)) doubtTrajectory(value, "trajectory", doubts);
  const isRootWithoutSession =
    isRecord(value) && facts.version >= 7 && Array.isArray(value["steps"]) && !isSet(value["session_id"]);
  if (isRootWithoutSession) note(doubts, "trajectory.session_id", "session-id", "a document should name the session it is about");
  return doubts.found;
}

function note(doubts: Doubts, path: string, ...[rule, message]: [rule: string, message: string]): void {
  doubts.found.push({ path, rule, message });
}

function doubtTrajectory(value: JsonRecord, path: string, doubts: Doubts): void {
  const steps = recordsIn(value["steps"]);
  for (const [index, step] of steps) doubtStep(step, `${path}.steps[${index}]`, doubts);
  doubtSums(value, path, doubts);
  doubtOrder(steps, path, doubts);
  doubtFile(value["continued_trajectory_ref"], `${path}.continued_trajectory_ref`, doubts);
  if (depthOf(path) > maxDepth) return;
  for (const [index, child] of recordsIn(value["subagent_trajectories"]))
    doubtTrajectory(child, `${path}.subagent_trajectories[${index}]`, doubts);
}

function doubtSums(value: JsonRecord, path: string, doubts: Doubts): void {
  const final = value["final_metrics"];
  if (!isRecord(final)) return;
  const own = recordsIn(value["steps"]).filter(([, step]) => step["is_copied_context"] !== true);
  for (const name of ["prompt_tokens", "completion_tokens", "cached_tokens"]) {
    const total = final[`total_${name}`];
    if (typeof total === "number" && total < 0) note(doubts, `${path}.final_metrics.total_${name}`, "negative", "is below 0");
    const counts = own.flatMap(([, { metrics }]) =>
      isRecord(metrics) && typeof metrics[name] === "number" ? [metrics[name]] : [],
    );
    const sum = counts.reduce((a, b) => a + b, 0);
    if (counts.length > 0 && typeof total === "number" && sum !== total)
      note(doubts, `${path}.final_metrics.total_${name}`, "sum", `${total} is not the sum of the steps, ${sum}`);
  }
}

function doubtOrder(steps: readonly (readonly [number, JsonRecord])[], path: string, doubts: Doubts): void {
  let latest = Number.NEGATIVE_INFINITY;
  for (const [index, { timestamp }] of steps) {
    const time = typeof timestamp === "string" ? Date.parse(timestamp) : Number.NaN;
    if (Number.isNaN(time)) continue;
    if (time < latest) note(doubts, `${path}.steps[${index}].timestamp`, "order", "is earlier than that of the step before");
    latest = time;
  }
}

function doubtStep(step: JsonRecord, path: string, doubts: Doubts): void {
  const { timestamp, source, observation, metrics, extra } = step;
  if (typeof timestamp === "string" && isIsoTime(timestamp) && !hasZone(timestamp))
    note(doubts, `${path}.timestamp`, "naive-timestamp", "has no time zone");
  if (source === "user" && isSet(observation))
    note(doubts, `${path}.observation`, "user-observation", "observations belong to steps of the agent and the system");
  const results = recordsIn(isRecord(observation) ? observation["results"] : undefined);
  const answered = new Set(results.map(([, result]) => result["source_call_id"]));
  for (const [, { tool_call_id: id }] of recordsIn(step["tool_calls"]))
    if (typeof id === "string" && !answered.has(id))
      note(doubts, `${path}.tool_calls`, "unanswered-call", `the call ${JSON.stringify(id)} has no result`);
  doubtAudio(step["message"], `${path}.message`, doubts);
  for (const [index, result] of results) {
    doubtAudio(result["content"], `${path}.observation.results[${index}].content`, doubts);
    for (const [at, ref] of recordsIn(result["subagent_trajectory_ref"]))
      doubtFile(
        ref["trajectory_path"],
        `${path}.observation.results[${index}].subagent_trajectory_ref[${at}].trajectory_path`,
        doubts,
      );
  }
  if (isRecord(metrics)) doubtMetrics(metrics, `${path}.metrics`, doubts);
  if (isRecord(extra) && extra["context_management"] !== undefined)
    doubtContext(step, extra["context_management"], { path, doubts });
}

function hasZone(timestamp: string): boolean {
  return /(?:Z|[+-]\d{2}(?::?\d{2})?(?::?\d{2}(?:\.\d+)?)?)$/.test(timestamp.replace(/^\d{4}-\d{2}-\d{2}/, ""));
}

function doubtMetrics(metrics: JsonRecord, path: string, doubts: Doubts): void {
  const { prompt_tokens: prompt, completion_tokens: completion, cached_tokens: cached } = metrics;
  if (typeof prompt === "number" && typeof cached === "number" && cached > prompt && doubts.version >= 2)
    note(doubts, `${path}.cached_tokens`, "cached-subset", "is more than prompt_tokens, of which it is a part");
  for (const name of ["prompt_tokens", "completion_tokens", "cached_tokens"]) {
    const count = metrics[name];
    if (typeof count === "number" && count < 0) note(doubts, `${path}.${name}`, "negative", "is below 0");
  }
  const lists = { prompt_token_ids: prompt, completion_token_ids: completion, logprobs: completion };
  for (const [name, count] of Object.entries(lists)) {
    const list = metrics[name];
    if (Array.isArray(list) && typeof count === "number" && list.length !== count)
      note(doubts, `${path}.${name}`, "length", `has ${list.length} entries for ${count} tokens`);
  }
}

function doubtContext(step: JsonRecord, value: unknown, { path, doubts }: { path: string; doubts: Doubts }): void {
  const place = `${path}.extra.context_management`;
  const rule = "context-management";
  if (!isRecord(value)) return note(doubts, place, rule, "should be an object");
  const { type, boundary } = value;
  if (step["source"] !== "system") note(doubts, place, rule, "belongs to steps of the system");
  if (!["compaction", "pruning", "injection"].some((known) => known === type))
    note(doubts, `${place}.type`, rule, "should be compaction, pruning or injection");
  if (!["replace", "append", "truncate"].some((known) => known === boundary))
    note(doubts, `${place}.boundary`, rule, "should be replace, append or truncate");
  const { observation } = step;
  const results = recordsIn(isRecord(observation) ? observation["results"] : undefined);
  if (boundary === "replace" && !results.some(([, result]) => result["content"]))
    note(doubts, path, rule, "replaces the context and does not say with what");
}

function doubtAudio(content: unknown, path: string, doubts: Doubts): void {
  for (const [index, part] of recordsIn(content)) {
    const type = part["type"] === "audio" && isRecord(part["source"]) ? part["source"]["media_type"] : undefined;
    if (typeof type === "string" && canonicalType(type) !== type)
      note(doubts, `${path}[${index}].source.media_type`, "media-alias", `is usually written ${canonicalType(type)}`);
  }
}

function doubtFile(value: unknown, path: string, doubts: Doubts): void {
  if (typeof value !== "string" || value.includes("://") || !doubts.exists || doubts.exists(value)) return;
  note(doubts, path, "missing-file", `there is no file ${value}`);
}

function recordsIn(value: unknown): [number, JsonRecord][] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item: unknown, index): [number, JsonRecord][] => (isRecord(item) ? [[index, item]] : []));
}
