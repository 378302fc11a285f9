import { compare } from "../contract/compare.ts";
import { type Json, type JsonRecord, kindOf, structuresOf } from "../contract/structure.ts";
import type { Played, Scenario } from "./play.ts";

/** Values that programs decide by; words, ids, times and prices are everybody's own. */
const telling = new Set(
  "subtype is_error num_turns stop_reason terminal_reason result structured_output outcome exit_code status permissionMode compact_result non_execution_kind kind prompt_kept decision behavior error tool_name name".split(
    " ",
  ),
);

/** Every way in which the two differ, in words that a row of the table can match: `exit 0 is 1`, `value result.subtype: success is error`. */
export function differences(scenario: Scenario, claude: Played, outrider: Played): string[] {
  const runs = claude.runs.flatMap((run, index) => {
    const other = outrider.runs[index];
    if (!other) return ["run missing"];
    return [
      ...(run.code === other.code ? [] : [`exit ${run.code} is ${other.code}`]),
      ...((run.stderr === "") === (other.stderr === "") ? [] : [`stderr ${run.stderr === "" ? "written" : "empty"}`]),
      ...(scenario.format === "text" && run.stdout !== other.stdout ? ["stdout is another"] : []),
      ...compare(structuresOf(run.frames), structuresOf(other.frames)),
      ...compareValues(run.frames, other.frames),
    ];
  });
  return [
    ...new Set([
      ...runs,
      ...compareToolResults(claude, outrider),
      ...compareHooks(claude, outrider),
      ...(claude.requests.length === outrider.requests.length
        ? []
        : [`requests ${claude.requests.length} is ${outrider.requests.length}`]),
      ...compareRequests(scenario, claude, outrider),
      ...(scenario.seek ?? []).filter((word) => isSent(claude, word) !== isSent(outrider, word)).map((word) => `seek ${word}`),
      ...(scenario.look ?? []).filter((file) => claude.files[file] !== outrider.files[file]).map((file) => `file ${file}`),
    ]),
  ];
}

function compareValues(claude: readonly JsonRecord[], outrider: readonly JsonRecord[]): string[] {
  const kinds = new Set(claude.map(placeOf));
  return [...kinds].flatMap((kind) => {
    const [olds, news] = [claude, outrider].map((frames) => frames.filter((frame) => placeOf(frame) === kind));
    return (olds ?? []).flatMap((old, index) => valuesIn(old, news?.[index], kind));
  });
}

/** All results are of one kind: what became of them is among their values. */
function placeOf(frame: JsonRecord): string {
  const kind = kindOf(frame);
  return kind.startsWith("result") ? "result" : kind;
}

function valuesIn(old: Json | undefined, fresh: Json | undefined, path: string): string[] {
  if (Array.isArray(old) && Array.isArray(fresh))
    return old.length === fresh.length ? old.flatMap((item, index) => valuesIn(item, fresh[index], `${path}[]`)) : [];
  if (!isRecord(old) || !isRecord(fresh)) return [];
  return Object.entries(old).flatMap(([name, value]) => {
    const other = fresh[name];
    if (typeof value === "object" && value !== null) return valuesIn(value, other, `${path}.${name}`);
    if (!telling.has(name) || other === undefined || value === other || isWords(value, other)) return [];
    return [`value ${path}.${name}: ${value} is ${other}`];
  });
}

/** Sentences are each product's own. */
function isWords(...values: readonly Json[]): boolean {
  return values.every((value) => typeof value === "string" && value.includes(" "));
}

function isRecord(value: Json | undefined): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

type ToolResult = { readonly type: string; readonly tool_use_id: string; readonly is_error?: boolean };

function toolResults({ requests }: Played): Map<string, boolean> {
  const blocks = requests.flatMap(({ messages }) =>
    (messages as { content: unknown }[]).flatMap(({ content }) => (Array.isArray(content) ? content : [])),
  );
  const results = (blocks as ToolResult[]).filter(({ type }) => type === "tool_result");
  return new Map(results.map(({ tool_use_id: id, is_error: isError = false }) => [id, isError]));
}

function compareToolResults(claude: Played, outrider: Played): string[] {
  const [old, fresh] = [toolResults(claude), toolResults(outrider)];
  const ids = [...new Set([...old.keys(), ...fresh.keys()])];
  return ids.flatMap((id) => {
    if (old.get(id) === fresh.get(id)) return [];
    if (!fresh.has(id)) return [`tool-result missing ${id}`];
    return [old.has(id) ? `tool-result ${id} is_error ${old.get(id)} is ${fresh.get(id)}` : `tool-result extra ${id}`];
  });
}

/** In which order, and whether what Claude Code tells them is there. */
function compareHooks({ hooks: olds }: Played, { hooks: news }: Played): string[] {
  const name = ({ hook_event_name: event, tool_name: tool }: JsonRecord): string => [event, tool].filter(Boolean).join(":");
  const orders = [olds, news].map((hooks) => hooks.map(name).join(" "));
  const missing = olds.flatMap((old, index) => {
    const fresh = news[index];
    return fresh && name(fresh) === name(old)
      ? Object.keys(old)
          .filter((field) => !(field in fresh))
          .map((field) => `hook-field missing ${old["hook_event_name"]}.${field}`)
      : [];
  });
  return [...(orders[0] === orders[1] ? [] : [`hooks ${orders[0]} is ${orders[1]}`]), ...missing];
}

/** What of the requests the scenario names. */
function compareRequests({ headers = [], body = [] }: Scenario, claude: Played, outrider: Played): string[] {
  return claude.requests.flatMap((old, index) => {
    const fresh = outrider.requests[index];
    if (!fresh) return [];
    const say = (name: string, one: Json | undefined, other: Json | undefined): string[] =>
      JSON.stringify(one) === JSON.stringify(other) ? [] : [`${name}: ${JSON.stringify(one)} is ${JSON.stringify(other)}`];
    return [
      ...body.flatMap((name) => say(`request ${name}`, old[name], fresh[name])),
      ...headers.flatMap((name) => say(`header ${name}`, claude.headers[index]?.[name], outrider.headers[index]?.[name])),
    ];
  });
}

function isSent({ requests }: Played, word: string): boolean {
  return requests.some(({ system, messages }) => JSON.stringify([system, messages]).includes(word));
}
