import {
  type AssistantPart,
  type ImagePart,
  type JsonObject,
  type JsonValue,
  type Message,
  type TextPart,
  type ToolResultPart,
  isJsonObject,
} from "../../protocol/content.ts";
import { type ModelRecord, withoutLong } from "../capabilities/record.ts";
import type { ModelRequest } from "../model.ts";
import type { Tell } from "../capabilities/fit.ts";
import { claudeParameters, claudeRecord, leavesOutThinking, takesSchema } from "./claude-parameters.ts";
import { schemaInWords } from "./schema-in-words.ts";
import { shortChecksum } from "../../util/short-checksum.ts";
import { toMediaBlock } from "../../protocol/media.ts";

export const dialectId = "anthropic-messages";

/** Never changed once it is made: another one takes its place. */
type Turn = { readonly role: "user" | "assistant"; readonly content: JsonObject[] };

export function encode(request: ModelRequest, tell: Tell = () => {}): JsonObject {
  const record = claudeRecord(request);
  const { thinking: _, output_config: __, ...more } = request.options ?? {};
  const { max_tokens, ...parameters } = claudeParameters(request, tell);
  const system = toSystem(request, record);
  const turns = toTurns(
    leavesOutThinking(request) ? request.messages.map(withoutThoughts) : readableBy(record, request.messages),
  );
  return {
    model: withoutLong(request.model),
    max_tokens: max_tokens ?? null,
    ...(system.trim() && { system: [cached({ type: "text", text: system })] }),
    ...(request.tools.length > 0 && { tools: toTools(request.tools) }),
    messages: markForCache(record?.prefill === false && !isPaused(request) ? withLastWord(turns) : turns),
    ...(request.stopSequences && request.stopSequences.length > 0 && { stop_sequences: [...request.stopSequences] }),
    ...parameters,
    ...more,
    stream: true,
  };
}

/** A model that does not keep to a schema by itself is told of it. */
function toSystem({ system, outputSchema }: ModelRequest, record: ModelRecord | undefined): string {
  if (!outputSchema || takesSchema(outputSchema, record)) return system;
  return `${system}\n\n${schemaInWords(outputSchema)}`;
}

/** Newer models read the thinking of their own kind only, and bind it: what another model has thought is left out where one of both does so. */
function readableBy(record: ModelRecord | undefined, messages: readonly Message[]): readonly Message[] {
  if (!record) return messages;
  const isForeign = (message: Message): boolean => {
    if (message.role !== "assistant" || !message.content.some(isThought)) return false;
    const other = claudeRecord({ model: message.model.id });
    if (!other || other.id === record.id) return false; // some gateways have names of their own
    return record.sendBack === "bound" || other.sendBack === "bound";
  };
  return messages.some(isForeign)
    ? messages.map((message) => (isForeign(message) ? withoutThoughts(message) : message))
    : messages;
}

const unthought = new WeakMap<Message, Message>();

function withoutThoughts(message: Message): Message {
  if (message.role !== "assistant") return message;
  const made = unthought.get(message) ?? { ...message, content: message.content.filter((part) => !isThought(part)) };
  unthought.set(message, made);
  return made;
}

function isThought(part: AssistantPart): boolean {
  if (part.type !== "opaque") return part.type === "reasoning";
  return part.dialect === dialectId && isJsonObject(part.value) && part.value["type"] === "redacted_thinking";
}

/** What the server stopped on its way goes on when it comes back as it is. */
function isPaused({ messages }: ModelRequest): boolean {
  const last = messages.at(-1);
  return last?.role === "assistant" && last.finish === "paused";
}

/** Newer models refuse a conversation that ends with their own words, unless a tool of the server's is at work. */
function withLastWord(turns: readonly Turn[]): Turn[] {
  const last = turns.at(-1);
  if (last?.role !== "assistant" || last.content.some((block) => !isPlain(block))) return [...turns];
  return [...turns, { role: "user", content: [{ type: "text", text: "Go on." }] }];
}

function isPlain({ type }: JsonObject): boolean {
  return type === "text" || isThinking({ type: type ?? null });
}

function toTools(tools: ModelRequest["tools"]): JsonObject[] {
  return tools.map((tool, index) => {
    const definition = { name: tool.name, description: tool.description, input_schema: tool.inputSchema };
    return index === tools.length - 1 ? cached(definition) : definition;
  });
}

/** Roles must alternate and no content may be empty; results answer their calls before anything else is said. */
function toTurns(messages: readonly Message[]): Turn[] {
  const turns: Turn[] = [];
  for (const message of messages) {
    const turn = toTurn(message);
    if (turn.content.length === 0) continue;
    const last = turns.at(-1);
    if (last?.role === turn.role) turns[turns.length - 1] = joined(last, turn);
    else turns.push(turn);
  }
  const taken = turns.flatMap((turn, index) =>
    turn.role === "user" ? [withWords(turn)] : withoutLastThoughts(turn, turns[index + 1]),
  );
  const last = taken.at(-1);
  if (last?.role === "assistant") taken[taken.length - 1] = withTrimmedEnd(last);
  return taken;
}

/** An answer that was cut while the model thought: the API refuses one that ends so, and one of nothing else has no place. */
function withoutLastThoughts(turn: Turn, next: Turn | undefined): Turn[] {
  const end = turn.content.findLastIndex((block) => !isThinking(block)) + 1;
  if (end === turn.content.length) return [turn];
  const content = end === 0 && next ? [cutShort] : turn.content.slice(0, end);
  return content.length > 0 ? [{ ...turn, content }] : [];
}

/** Roles must alternate, so that something has to stand between two turns of the user's. */
const cutShort: JsonObject = { type: "text", text: "(This answer was cut short.)" };

function isThinking({ type }: JsonObject): boolean {
  return type === "thinking" || type === "redacted_thinking";
}

/** Images alone are not taken for something that was said. */
function withWords(turn: Turn): Turn {
  if (turn.content.some(({ type }) => type !== "image")) return turn;
  return { ...turn, content: [...turn.content, { type: "text", text: "(See above.)" }] };
}

const madeTurns = new WeakMap<Message, Turn>();

/** Messages never change, so each one is turned once; who writes the body relies on getting the same object again. */
function toTurn(message: Message): Turn {
  const before = madeTurns.get(message);
  if (before) return before;
  const turn: Turn = { role: message.role === "assistant" ? "assistant" : "user", content: toBlocks(message) };
  madeTurns.set(message, turn);
  return turn;
}

function joined(one: Turn, other: Turn): Turn {
  const isResult = (block: JsonObject): boolean => block["type"] === "tool_result";
  const content = [...one.content, ...other.content];
  return { role: one.role, content: [...content.filter(isResult), ...content.filter((block) => !isResult(block))] };
}

/** A conversation that ends with the assistant's own words may not end with white space. */
function withTrimmedEnd(turn: Turn): Turn {
  const block = turn.content.at(-1);
  if (block?.["type"] !== "text") return turn;
  return { ...turn, content: [...turn.content.slice(0, -1), { ...block, text: String(block["text"]).trimEnd() }] };
}

function toBlocks(message: Message): JsonObject[] {
  switch (message.role) {
    case "user":
      return message.content.flatMap(toContentBlocks);
    case "assistant":
      return message.content.flatMap(toAssistantBlocks);
    case "tool":
      return message.content.map(toResultBlock);
  }
}

function toContentBlocks(part: TextPart | ImagePart): JsonObject[] {
  if (part.type === "text") return part.text.trim() ? [{ type: "text", text: part.text }] : [];
  return [toMediaBlock(part)];
}

function toAssistantBlocks(part: AssistantPart): JsonObject[] {
  switch (part.type) {
    case "text":
      return toContentBlocks(part);
    case "reasoning": {
      const signature = signatureOf(part.providerMetadata?.[dialectId]);
      return signature ? [{ type: "thinking", thinking: part.text, signature }] : [];
    }
    case "tool-call":
      return [
        { type: "tool_use", id: toWireId(part.callId), name: part.name, input: isJsonObject(part.input) ? part.input : {} },
      ];
    case "opaque":
      return part.dialect === dialectId && isJsonObject(part.value) ? [part.value] : [];
  }
}

function toResultBlock(part: ToolResultPart): JsonObject {
  const content = part.content.flatMap(toContentBlocks);
  const isText = content.every(({ type }) => type === "text");
  return {
    type: "tool_result",
    tool_use_id: toWireId(part.callId),
    content: content.length > 0 ? content : [{ type: "text", text: "(no output)" }],
    ...(part.isError && isText && { is_error: true }), // images are refused beside it
  };
}

/** Ids of calls another provider made may hold characters this API refuses, or too many of them. */
function toWireId(callId: string): string {
  const id = callId.replace(/[^a-zA-Z0-9_-]/g, "_");
  return id.length <= maxIdLength ? id : `${id.slice(0, maxIdLength - 10)}_${shortChecksum(callId)}`;
}

const maxIdLength = 64;

function signatureOf(metadata: JsonValue | undefined): string | undefined {
  const signature = isJsonObject(metadata) ? metadata["signature"] : undefined;
  return typeof signature === "string" && signature !== "" ? signature : undefined;
}

/**
 * Marks where the next request may pick up: here, and where the last request ended (the API looks back 20 blocks only,
 * and one answer with many parallel calls is longer). With system and tools that is 4, as many as are allowed.
 */
function markForCache(turns: readonly Turn[]): Turn[] {
  const last = turns.length - 1;
  const marked = [...turns];
  for (const index of [turns.findLastIndex((turn, place) => turn.role === "user" && place < last), last]) {
    const turn = turns[index];
    if (turn) marked[index] = withMark(turn);
  }
  return marked;
}

function withMark(turn: Turn): Turn {
  const index = turn.content.findLastIndex((block) => cacheable.has(String(block["type"])));
  return { ...turn, content: turn.content.map((block, place) => (place === index ? cached(block) : block)) };
}

const cacheable: ReadonlySet<string> = new Set(["text", "image", "document", "tool_use", "tool_result"]);

function cached(block: JsonObject): JsonObject {
  return { ...block, cache_control: { type: "ephemeral" } };
}
