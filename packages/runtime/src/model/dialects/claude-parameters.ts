import { isJsonObject, type JsonObject, type Message } from "../../protocol/content.ts";
import { claudeModels } from "../capabilities/claude.ts";
import { budgets, effortFor, fitEffort, fitOutput, fitTemperature, isOff, type Tell } from "../capabilities/fit.ts";
import { findRecord, isLong, type ModelRecord } from "../capabilities/record.ts";
import type { ModelRequest } from "../model.ts";
import { toClaudeSchema } from "./claude-schema.ts";

/** What is known about the model of a request; undefined for what only looks like Claude's API. */
export function claudeRecord({ model, capabilities }: Pick<ModelRequest, "model" | "capabilities">): ModelRecord | undefined {
  const record = findRecord(claudeModels, model);
  return record && capabilities ? { ...record, ...capabilities } : record;
}

const defaultMaxTokens = 32_000;
/** The API refuses a smaller thinking budget. */
const minThinkingTokens = 1_024;

/** The fields that depend on what the model takes. */
export function claudeParameters(request: ModelRequest, tell: Tell): JsonObject {
  const record = claudeRecord(request);
  const { thinking: wanted, output_config: configured } = request.options ?? {};
  const thinks = toThinking(request, { record, wanted: isJsonObject(wanted) ? wanted : {}, tell });
  const budget = Number(thinks?.["budget_tokens"] ?? 0);
  const config = {
    ...toEffort(request, { record, thinks, tell }),
    ...toFormat(request, record),
    ...(isJsonObject(configured) && configured),
  };
  const temperature = toTemperature(request, { record, thinks, tell });
  return {
    max_tokens: toMaxTokens(request, { record, budget, tell }),
    ...(temperature !== undefined && { temperature }),
    ...(thinks && { thinking: thinks }),
    ...(Object.keys(config).length > 0 && { output_config: config }),
    ...(record?.parallelCalls === false &&
      request.tools.length > 0 && { tool_choice: { type: "auto", disable_parallel_tool_use: true } }),
  };
}

/** Features that have to be named, by the model and by what is asked of it. */
export function claudeBetas(request: ModelRequest): string[] {
  const record = claudeRecord(request);
  if (!record) return [];
  const { thinking: wanted } = request.options ?? {};
  const thinks = toThinking(request, { record, wanted: isJsonObject(wanted) ? wanted : {}, tell() {} });
  return [
    ...(thinks?.["block_binding"] ? ["thinking-binding-controls-2026-08-01"] : []),
    ...(thinks?.["type"] === "enabled" && request.tools.length > 0 ? ["interleaved-thinking-2025-05-14"] : []),
    ...(record.longWindow !== undefined && isLong(request.model) ? ["context-1m-2025-08-07"] : []),
  ];
}

/** Whether the model keeps to this schema by itself. */
export function takesSchema(schema: JsonObject, record: ModelRecord | undefined): boolean {
  return record?.nativeSchema === true && toClaudeSchema(schema) !== undefined;
}

type Asked = { readonly record: ModelRecord | undefined; readonly tell: Tell };

function toThinking(request: ModelRequest, { record, wanted, tell }: Asked & { wanted: JsonObject }): JsonObject | undefined {
  const { type, ...more } = wanted;
  const tokens = request.thinkingTokens ?? 0;
  if (!record) {
    if (tokens > 0) return { ...more, type: "enabled", budget_tokens: Math.max(minThinkingTokens, tokens) };
    return type === undefined ? undefined : { ...more, type };
  }
  const kinds = record.thinking;
  if (isOff(request) || type === "disabled") return withoutThinking(record, more, tell);
  const asked = tokens > 0 ? tokens : budgetOf(request, record);
  if (asked && kinds.includes("enabled"))
    return {
      ...more,
      type: "enabled",
      budget_tokens: Math.min(Math.max(minThinkingTokens, asked), record.maxOutputTokens - 4_000),
    };
  if (tokens > 0 && kinds.includes("adaptive"))
    tell(`${record.id} takes no budget for its thinking: it is asked with effort ${request.effort ?? effortFor(tokens)}`);
  if (tokens > 0 && kinds.length === 0) tell(`${record.id} cannot think before it answers`);
  if (typeof type === "string" && type !== "adaptive" && kinds.includes(type)) return { ...unbinding(record), ...more, type };
  if (!kinds.includes("adaptive")) return undefined;
  // A temperature was asked for, thinking was not: the model takes one of the two.
  const isFree = request.temperature !== undefined && record.temperature === "idle" && type === undefined && !request.effort;
  return isFree ? undefined : adaptive(record, more);
}

/** Models that take no words for how hard to think are given tokens. */
function budgetOf({ effort }: ModelRequest, { efforts, thinking }: ModelRecord): number {
  if (!effort || effort === "minimal" || efforts.length > 0 || !thinking.includes("enabled")) return 0;
  return budgets[effort];
}

/**
 * What the model thinks is shown: without the word, newer models send nothing of it, nor what they say between calls. Thinking that is bound to
 * what came before it is left out by the API where that has changed (a summary in its place, another prompt), instead of refused.
 */
function adaptive(record: ModelRecord, more: JsonObject): JsonObject {
  const isSilent = record.efforts.includes("xhigh");
  return { type: "adaptive", ...(isSilent && { display: "summarized" }), ...unbinding(record), ...more };
}

function unbinding({ sendBack }: ModelRecord): JsonObject {
  return sendBack === "bound" ? { block_binding: { prefix_mismatch_behavior: "drop_block" } } : {};
}

/** The model does not think in this request: bound thinking from before would be refused where its prefix changed, and helps nobody. */
export function leavesOutThinking(request: ModelRequest): boolean {
  const record = claudeRecord(request);
  const { thinking: wanted } = request.options ?? {};
  const thinks = record && toThinking(request, { record, wanted: isJsonObject(wanted) ? wanted : {}, tell() {} });
  return record?.sendBack === "bound" && thinks?.["type"] === "disabled";
}

function withoutThinking(record: ModelRecord, more: JsonObject, tell: Tell): JsonObject | undefined {
  const { thinking: kinds, id } = record;
  if (!kinds.includes("adaptive")) return undefined;
  if (kinds.includes("disabled")) return { type: "disabled" };
  if (!kinds.includes("between_tools")) return adaptive(record, more); // the effort tells of it
  tell(`${id} cannot be kept from thinking: it thinks between calls only`);
  return { type: "between_tools", ...unbinding(record) };
}

function toEffort(request: ModelRequest, asked: Asked & { thinks: JsonObject | undefined }): JsonObject {
  const { record, thinks, tell } = asked;
  const wanted = wantedEffort(request, asked);
  const effort = thinks?.["type"] === "between_tools" ? firstEffort(request, wanted) : wanted;
  if (effort !== wanted) tell(`${record?.id} keeps its first effort: ${effort}`);
  return effort === undefined ? {} : { effort };
}

function wantedEffort(
  request: ModelRequest,
  { record, thinks, tell }: Asked & { thinks: JsonObject | undefined },
): string | undefined {
  if (!record) return request.effort === "minimal" ? "low" : request.effort;
  const isIdle = thinks !== undefined && thinks["type"] !== "adaptive" && thinks["type"] !== "enabled";
  if (thinks?.["type"] === "enabled" && !request.effort) return undefined;
  if (isOff(request) && (isIdle || thinks === undefined) && !request.effort) return undefined;
  const { thinkingTokens: tokens, ...rest } = request;
  const insists = tokens === 0 && request.effort !== undefined;
  if (insists && !isIdle && record.thinking.includes("adaptive"))
    tell(`${record.id} cannot be kept from thinking: effort ${request.effort} counts`);
  return fitEffort(isIdle || insists ? rest : request, isIdle ? withoutHighest(record) : record, tell);
}

/** By the message that a conversation begins with; messages never change. */
const firstEfforts = new WeakMap<Message, { readonly effort: string | undefined }>();

/** With thinking between calls only, a conversation has one effort: that of its first request. */
function firstEffort({ messages: [first] }: ModelRequest, effort: string | undefined): string | undefined {
  if (!first) return effort;
  const known = firstEfforts.get(first) ?? { effort };
  firstEfforts.set(first, known);
  return known.effort;
}

/** Thinking may be off at efforts up to `high` only. */
function withoutHighest(record: ModelRecord): ModelRecord {
  return { ...record, efforts: record.efforts.filter((word) => word !== "xhigh" && word !== "max") };
}

function toFormat({ outputSchema }: ModelRequest, record: ModelRecord | undefined): JsonObject {
  const schema = outputSchema && record?.nativeSchema ? toClaudeSchema(outputSchema) : undefined;
  return schema ? { format: { type: "json_schema", schema } } : {};
}

function toTemperature(
  request: ModelRequest,
  { record, thinks, tell }: Asked & { thinks: JsonObject | undefined },
): number | undefined {
  const isThinking = thinks !== undefined && thinks["type"] !== "disabled";
  if (record) return fitTemperature(request, { record, thinks: isThinking, tell });
  return isThinking ? undefined : request.temperature; // with thinking the API takes no other temperature than its own
}

/** The limit covers thinking too: a limit below the budget was meant for the answer alone. */
function toMaxTokens(request: ModelRequest, { record, budget, tell }: Asked & { budget: number }): number {
  const most = record?.maxOutputTokens ?? Number.POSITIVE_INFINITY;
  const answer = fitOutput(request.maxOutputTokens, record, tell) ?? Math.min(defaultMaxTokens, most);
  return Math.min(most, answer > budget ? answer : budget + answer);
}
