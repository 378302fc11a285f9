import { type PartPlace, isJsonObject, type JsonObject, type JsonValue, type Message } from "../protocol/content.ts";
import type { Refused } from "../protocol/errors.ts";
import type { ModelRequest } from "./model.ts";
import { findField } from "./refused-field.ts";
import { findSeals } from "./find-seals.ts";

/**
 * What a provider complains about, when it refuses a request because of a part of it: `messages.3.content.1.image…` (Anthropic),
 * `input[3].content[0]` (OpenAI), `contents[2].parts[1]` (Gemini), a function by its name, a field of the body, sealed thinking, or an
 * image that it does not name.
 * `sent` is the body of the request, `said` that of the answer. Undefined when that cannot be told.
 */
export function findRefused(request: ModelRequest, { sent, said }: { sent: string; said: string }): Refused | undefined {
  const complaints = complaintsIn(said);
  const seals = findSeals(complaints, request.messages);
  if (seals.length > 0) return { parts: seals, tools: [] };
  for (const complaint of complaints) {
    const path = pathIn(complaint);
    const element = path && elementAt(JSON.parse(sent) as JsonValue, path); // we wrote it
    const tool = path?.[0] === "tools" ? toolName(element) : functionName(complaint);
    if (tool !== undefined) return { parts: [], tools: [tool] };
    const parts = element ? placesOf(element, request.messages) : [];
    if (parts.length > 0) return { parts, tools: [] };
  }
  const field = findField(complaints, sent);
  if (field !== undefined) return { parts: [], tools: [], field };
  const images = complaints.some(isAboutImages) ? suspectImages(request.messages) : [];
  return images.length > 0 ? { parts: images, tools: [] } : undefined;
}

/** The place it names, its words and its code; a router's own words hide those of the server behind it. */
function complaintsIn(said: string): string[] {
  const parsed = parse(said);
  const outer = Array.isArray(parsed) ? parsed[0] : parsed;
  const error = isJsonObject(outer) ? (outer["error"] ?? outer) : outer;
  if (!isJsonObject(error)) return [said];
  const { param, message, detail, code, metadata } = error;
  const raw = isJsonObject(metadata) ? metadata["raw"] : undefined;
  const own = [param, message, detail, code].filter((text) => typeof text === "string");
  return typeof raw === "string" ? [...own, ...complaintsIn(raw)] : own;
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue; // JSON.parse makes nothing else
  } catch {
    return undefined;
  }
}

/** Paths are told from other words by a number after their first step. */
const pathForm = /(?:^|[\s'"`(*.])((?:messages|input|contents|tools)\.?(?:\[\d+\]|\d+)(?:\.?\[\d+\]|\.[A-Za-z_]\w*|\.\d+)*)/;

function pathIn(text: string): string[] | undefined {
  return pathForm
    .exec(text)?.[1]
    ?.split(/[.[\]]+/)
    .filter((step) => step !== "");
}

/** The innermost block on the way; steps that are no keys, such as the names of types, are passed over. */
function elementAt(body: JsonValue, path: readonly string[]): JsonObject | undefined {
  let place: JsonValue | undefined = body;
  let element: JsonObject | undefined;
  for (const step of path) {
    const key = [step, step.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())].find((name) =>
      Object.hasOwn(Object(place), name),
    );
    if (key === undefined) continue;
    const isItem = Array.isArray(place);
    place = (place as JsonObject)[key]; // lists are read by index the same way
    if (isItem && isJsonObject(place)) element = place;
  }
  return element;
}

function toolName(element: JsonObject | undefined): string | undefined {
  const inner = isJsonObject(element?.["function"]) ? element["function"] : element;
  return typeof inner?.["name"] === "string" ? inner["name"] : undefined;
}

function functionName(complaint: string): string | undefined {
  return /invalid schema for function ['"`]([\w-]+)['"`]/i.exec(complaint)?.[1];
}

/** The parts that a block on the wire was made of: told by what they hold, since each wire has an order of its own. */
function placesOf(element: JsonObject, messages: readonly Message[]): PartPlace[] {
  const held = new Set(stringsIn(element));
  const images = imagePlaces(messages, ({ data }) => held.has(data));
  if (images.length > 0) return images;
  return messages.flatMap((message, index): PartPlace[] => {
    if (message.role === "user") return []; // without its words there is nothing to answer
    if (message.role === "assistant")
      return message.content.flatMap((part, at) => (isMadeOf(part, element, held) ? [{ message: index, part: at }] : []));
    return message.content.flatMap((result, at) =>
      result.content.flatMap((part, item) =>
        part.type === "text" && held.has(part.text) ? [{ message: index, part: at, item }] : [],
      ),
    );
  });
}

type AnswerPart = (Message & { role: "assistant" })["content"][number];

function isMadeOf(part: AnswerPart, element: JsonObject, held: ReadonlySet<string>): boolean {
  if (part.type === "opaque") return JSON.stringify(part.value) === JSON.stringify(element);
  if (part.type === "tool-call") return element["type"] !== "tool_result" && (held.has(part.callId) || holdsCall(element, part));
  const seals = stringsIn((part.providerMetadata ?? {}) as JsonObject).filter((text) => text.length > 20);
  return (part.text !== "" && held.has(part.text)) || seals.some((seal) => held.has(seal));
}

function holdsCall({ functionCall }: JsonObject, { name, input }: { name: string; input: unknown }): boolean {
  return (
    isJsonObject(functionCall) && functionCall["name"] === name && JSON.stringify(functionCall["args"]) === JSON.stringify(input)
  );
}

function stringsIn(value: JsonValue): string[] {
  if (typeof value === "string") return [value, value.replace(/^data:[^,]*,/, "")];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(stringsIn);
}

function isAboutImages(complaint: string): boolean {
  return (
    /image|inline_?data|media.?type|mime/i.test(complaint) &&
    /process|invalid|unsupported|not support|corrupt|decod|exceed|dimension|format|too large|unable|could not|cannot/i.test(
      complaint,
    )
  );
}

/** Those that came since the last answer: a request with the others was taken. All of them where none came. */
function suspectImages(messages: readonly Message[]): PartPlace[] {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  const all = imagePlaces(messages, () => true);
  const fresh = all.filter(({ message }) => message > last);
  return fresh.length > 0 ? fresh : all;
}

function imagePlaces(messages: readonly Message[], isMeant: (image: { data: string }) => boolean): PartPlace[] {
  return messages.flatMap((message, index): PartPlace[] => {
    if (message.role === "assistant") return [];
    if (message.role === "user")
      return message.content.flatMap((part, at) =>
        part.type === "image" && isMeant(part) ? [{ message: index, part: at }] : [],
      );
    return message.content.flatMap((result, at) =>
      result.content.flatMap((part, item) =>
        part.type === "image" && isMeant(part) ? [{ message: index, part: at, item }] : [],
      ),
    );
  });
}
