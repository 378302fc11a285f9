import type { ImagePart, TextPart, UserMessage } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import { isRecord } from "../../util/is-record.ts";

type Said = { readonly role: string; readonly content: (TextPart | ImagePart)[] };

/**
 * The last message of the user. Clients of these interfaces send the whole conversation with each request: what came before is told in front of it,
 * unless the session has it already.
 */
export function toPrompt(messages: readonly unknown[], hasPast: boolean, instructions?: unknown): UserMessage {
  const said = messages.map(toSaid);
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
  const { source } = part; // AG-UI's: what it names elsewhere is left out
  if (part["type"] === "image" && isRecord(source)) {
    const { type, value, mimeType } = source;
    if (type !== "data" || typeof value !== "string" || typeof mimeType !== "string") return [];
    return [{ type: "image", mediaType: mimeType, data: value }];
  }
  const image = part["image_url"];
  const url = isRecord(image) ? image["url"] : image;
  if (typeof url !== "string") return [];
  const [, mediaType, data] = /^data:(image\/[\w.+-]+);base64,(.+)$/s.exec(url) ?? [];
  if (mediaType === undefined || data === undefined) throw new RuntimeError("usage", "An image must be a data: URL");
  return [{ type: "image", mediaType, data }];
}

function wordsOf({ content }: Said): string {
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}
