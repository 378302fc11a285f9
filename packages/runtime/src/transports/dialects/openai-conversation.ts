import type { ImagePart, TextPart, UserMessage } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import { isRecord } from "../../util/is-record.ts";

type Said = { readonly role: string; readonly content: (TextPart | ImagePart)[] };

/**
 * The last message of the user. Clients of these interfaces send the whole conversation with each request: what came before is told in front of it,
 * unless the session has it already.
 */
export function toPrompt(messages: readonly unknown[], hasPast: boolean, instructions?: unknown): UserMessage {
  const said = messages.filter((message) => !isWork(message)).map(toSaid);
  const last = said.findLastIndex(({ role }) => role === "user");
  const prompt = said[last];
  if (!prompt || prompt.content.length === 0) throw new RuntimeError("usage", "There is no message of the user");
  const rules = said.filter(({ role }) => role === "system" || role === "developer").map(wordsOf);
  if (typeof instructions === "string") rules.unshift(instructions);
  const past = said.slice(0, last).filter(({ role }) => role === "user" || role === "assistant");
  const before = [
    ...(rules.length > 0 ? [`<instructions>\n${rules.join("\n")}\n</instructions>`] : []),
    ...(past.length > 0
      ? [`<conversation>\n${past.map((one) => `${one.role}: ${wordsOf(one)}`).join("\n")}\n</conversation>`]
      : []),
  ];
  if (hasPast || before.length === 0) return { role: "user", content: prompt.content };
  return { role: "user", content: [{ type: "text", text: before.join("\n\n") }, ...prompt.content] };
}

/** Clients of Responses send back what an answer was made of: of the agent's own work the words alone are told again. */
function isWork(item: unknown): boolean {
  if (!isRecord(item) || typeof item["role"] === "string") return false;
  if (item["type"] === "item_reference")
    throw new RuntimeError("usage", "Items are not kept by name: give previous_response_id, or the messages themselves");
  return typeof item["type"] === "string" && item["type"] !== "message";
}

function toSaid(message: unknown): Said {
  if (!isRecord(message)) throw new RuntimeError("usage", "A message must be an object");
  const { role, content } = message;
  if (typeof role !== "string") throw new RuntimeError("usage", "A message must have a role");
  if (typeof content === "string") return { role, content: [{ type: "text", text: content }] };
  return { role, content: Array.isArray(content) ? content.flatMap(toPart) : [] };
}

function toPart(part: unknown): (TextPart | ImagePart)[] {
  if (!isRecord(part)) return [];
  if (typeof part["text"] === "string") return [{ type: "text", text: part["text"] }];
  if (typeof part["refusal"] === "string") return [{ type: "text", text: part["refusal"] }];
  const image = imageOf(part);
  if (!image)
    throw new RuntimeError("usage", `A part must be a text, or an image as a data: URL; this one is ${String(part["type"])}`);
  return [image];
}

/** As OpenAI's clients and as those of AG-UI name it. */
function imageOf(part: Record<string, unknown>): ImagePart | undefined {
  const { source } = part;
  const { value, data, mimeType } = isRecord(source) ? source : part;
  const bytes = value ?? data;
  if (typeof bytes === "string" && typeof mimeType === "string" && mimeType.startsWith("image/"))
    return { type: "image", mediaType: mimeType, data: bytes };
  const named = part["image_url"];
  const url = isRecord(named) ? named["url"] : named;
  const [, mediaType, base64] = typeof url === "string" ? (/^data:(image\/[\w.+-]+);base64,(.+)$/s.exec(url) ?? []) : [];
  return mediaType === undefined || base64 === undefined ? undefined : { type: "image", mediaType, data: base64 };
}

function wordsOf({ content }: Said): string {
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}
