import type { JsonObject } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import { effortFor, fitEffort, isOff, type Tell } from "../capabilities/fit.ts";
import type { ModelRecord } from "../capabilities/record.ts";
import type { ModelRequest } from "../model.ts";
import type { OpenAIChatQuirks } from "./chat-wire.ts";

type Words = Pick<OpenAIChatQuirks, "effort" | "effortWords" | "isMaker">;

/** How hard to think, for a model that nothing is known about: as its server takes it. */
export function plainEffort(request: ModelRequest, wire: Words): JsonObject {
  const { thinkingTokens } = request;
  const effort = request.effort ?? (isOff(request) ? "minimal" : effortFor(thinkingTokens));
  if (!effort) return {};
  const { effortWords: words = {} } = wire;
  const word = words[effort] ?? (effort === "xhigh" || effort === "max" ? (words.high ?? "high") : effort);
  const enabled = effort !== "minimal";
  switch (wire.effort ?? "reasoning_effort") {
    case "reasoning_effort":
      return isOff(request) && words.minimal === undefined ? {} : { reasoning_effort: word };
    case "reasoning":
      if (isOff(request)) return { reasoning: { enabled: false } };
      return { reasoning: thinkingTokens && !request.effort ? { max_tokens: thinkingTokens } : { effort: word } };
    case "thinking":
      return { thinking: { type: enabled ? "enabled" : "disabled" } };
    case "enable_thinking":
      return { enable_thinking: enabled, ...(enabled && thinkingTokens && { thinking_budget: thinkingTokens }) };
    case "chat_template_kwargs":
      return { chat_template_kwargs: { enable_thinking: enabled } };
    case "none":
      return {};
  }
}

/** The same for a model whose record says what it takes. */
export function chatEffort(
  request: ModelRequest,
  { record, wire, tell }: { record: ModelRecord; wire: Words; tell: Tell },
): JsonObject {
  if (wire.effort === "reasoning") return routedEffort(request, record, tell);
  const { thinking, chatTools } = record;
  const off = isOff(request);
  if (off && thinking.includes("disabled")) return {}; // it thinks only when it is asked to
  if (record.efforts.length === 0 && (thinking.includes("enabled") || thinking.includes("budget")))
    return plainEffort(request, wire); // its own wire takes tokens, this one has words only
  const isSwitched = thinking.includes("switch") || thinking.includes("enable_thinking");
  const asked = off || request.effort !== undefined || Boolean(request.thinkingTokens);
  const word = off && isSwitched ? undefined : fitEffort(request, record, tell) || record.usualEffort;
  if (asked && !off && thinking.length === 0) tell(`${record.id} cannot be told how hard to think`);
  if (request.effort && !off && !word && isSwitched) tell(`${record.id} knows no efforts: it is asked to think`);
  return {
    ...(thinking.includes("switch") && asked && { thinking: { type: off ? "disabled" : "enabled" } }),
    ...(thinking.includes("enable_thinking") && asked && { enable_thinking: !off }),
    ...(thinking.includes("enable_thinking") && request.thinkingTokens && !word && { thinking_budget: request.thinkingTokens }),
    ...(request.tools.length > 0 && chatTools !== "any"
      ? besideTools(record, { word: asked ? word : undefined, wire, tell })
      : word && { reasoning_effort: word }),
  };
}

/** Newer GPT models do not think and call tools at once over this wire. */
function besideTools(
  record: ModelRecord,
  { word, wire, tell }: { word: string | undefined; wire: Words; tell: Tell },
): JsonObject {
  const { chatTools, id } = record;
  if (chatTools === "never" && wire.isMaker)
    throw new RuntimeError("config", `${id} calls tools over the Responses API only`, {
      hint: 'Leave the option apiSurface out, or set it to "responses"',
    });
  if (chatTools === "never") tell(`${id} calls tools over the Responses API only: a server that passes this on may be refused`);
  if (word !== undefined && word !== "none")
    tell(`${id} takes no effort beside tools over Chat Completions: it is asked without (apiSurface "responses" takes both)`);
  return chatTools === "off" ? { reasoning_effort: "none" } : {};
}

/** A router knows how each model is asked; only the word has to be one that the model has. */
function routedEffort(request: ModelRequest, record: ModelRecord, tell: Tell): JsonObject {
  const { thinkingTokens, effort } = request;
  if (isOff(request) && canRest(record)) return { reasoning: { enabled: false } };
  if (thinkingTokens && !effort) return { reasoning: { max_tokens: thinkingTokens } };
  const word = fitEffort(request, record, tell) ?? effort;
  return word ? { reasoning: { effort: word } } : {};
}

const switches: ReadonlySet<string> = new Set(["disabled", "switch", "enable_thinking"]);

/** Can it be kept from thinking? */
function canRest({ thinking, efforts }: ModelRecord): boolean {
  return efforts.length === 0 || efforts.includes("none") || thinking.some((kind) => switches.has(kind));
}
