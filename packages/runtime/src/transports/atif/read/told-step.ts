import type { JsonObject, JsonValue } from "../../../protocol/content.ts";
import { isRecord } from "../../../util/is-record.ts";
import type { JsonRecord } from "../check/field-checks.ts";

/** Pictures that can be had are in it as base64 under `source.data`; `nameOnly` answers what stands for one that cannot. */
export type ToldPictures = {
  readonly load: (source: unknown) => { readonly mediaType: string; readonly data: string } | undefined;
  readonly nameOnly: (part: JsonRecord) => string;
};

const copied = ["source", "timestamp", "model_name", "reasoning_effort", "reasoning_content", "extra"] as const;

/**
 * A step of another writer as a later trajectory tells it again: every word, call and result of it, whatever a model is shown of them.
 * Its number, its metrics and where its subagents' trajectories lay are left behind: they are about the document it came from.
 */
export function toToldStep(step: JsonRecord, pictures: ToldPictures): JsonObject {
  const calls = listIn(step["tool_calls"]);
  const ids = uniqueIds(calls);
  const told: JsonRecord = Object.fromEntries(copied.map((name) => [name, step[name]]));
  told["message"] = toContent(step["message"], pictures);
  if (Array.isArray(step["tool_calls"])) told["tool_calls"] = calls.map((call, index) => ({ ...call, tool_call_id: ids[index] }));
  const results = isRecord(step["observation"]) ? step["observation"]["results"] : undefined;
  if (Array.isArray(results)) {
    const answered = new Set<string>();
    told["observation"] = { results: listIn(results).map((result) => toResult(result, { calls, ids, answered, pictures })) };
  }
  const count = Number(step["llm_call_count"] ?? Number.NaN);
  if (Number.isInteger(count)) told["llm_call_count"] = count;
  return withoutNulls(told);
}

type ToldCalls = {
  readonly calls: readonly JsonRecord[];
  readonly ids: readonly string[];
  readonly answered: Set<string>;
  readonly pictures: ToldPictures;
};

/** A second result for an id belongs to the next call that had the same one; when there is none, to the first again. */
function toResult(result: JsonRecord, { calls, ids, answered, pictures }: ToldCalls): JsonObject {
  const { subagent_trajectory_ref: refs, content, extra, source_call_id: from } = result;
  const named = ids.filter((_, index) => calls[index]?.["tool_call_id"] === from);
  const id = named.find((one) => !answered.has(one)) ?? named[0];
  if (id !== undefined) answered.add(id);
  const isReferring = Array.isArray(refs) && refs.length > 0;
  return withoutNulls({
    source_call_id: id,
    content: content === undefined || content === null ? undefined : toContent(content, pictures),
    extra: isReferring ? { ...(isRecord(extra) ? extra : {}), subagent_trajectory_ref: refs } : extra,
  });
}

function toContent(content: unknown, pictures: ToldPictures): unknown {
  if (!Array.isArray(content)) return content;
  return listIn(content).map((part) => {
    if (typeof part["text"] === "string") return { type: "text", text: part["text"] };
    const loaded = pictures.load(part["source"]);
    if (loaded) return { type: "image", source: { media_type: loaded.mediaType, data: loaded.data } };
    const { source } = part;
    const isLink = part["type"] === "image" && isRecord(source) && String(source["path"]).includes("://");
    return isLink ? part : { type: "text", text: pictures.nameOnly(part) };
  });
}

/** Each id once in a step. */
function uniqueIds(calls: readonly JsonRecord[]): string[] {
  const ids: string[] = [];
  for (const { tool_call_id: given } of calls) {
    let id = String(given);
    for (let times = 2; ids.includes(id); times++) id = `${String(given)}#${times}`;
    ids.push(id);
  }
  return ids;
}

function listIn(value: unknown): JsonRecord[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function withoutNulls(record: JsonRecord): JsonObject {
  const filled = Object.entries(record).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(filled) as { [key: string]: JsonValue }; // it was read from JSON
}
