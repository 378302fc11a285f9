import { type ImagePart, isJsonObject, type JsonObject, type JsonValue, type TextPart } from "../../protocol/content.ts";
import type { ToolOutput } from "../tool.ts";

/** What is longer is in the words too, where it is kept whole. */
const maxStructured = 256 * 1024;
const maxOddBlock = 2_000;

/** What a server answered to a call, block by block: one that is not understood is told of, and the others stay. */
export function toToolOutput(result: JsonObject): ToolOutput {
  const { content, structuredContent, isError } = result;
  const parts = (Array.isArray(content) ? content : content === undefined ? [] : [content]).map(toPart);
  const structured = structuredContent === undefined ? "" : JSON.stringify(structuredContent);
  if (parts.length === 0) parts.push(text(structured || "(no output)"));
  return {
    content: parts,
    isError: isError === true,
    ...(isJsonObject(structuredContent) && structured.length <= maxStructured && { details: { structuredContent } }),
  };
}

export function toPart(block: JsonValue): TextPart | ImagePart {
  if (typeof block === "string") return text(block);
  if (!isJsonObject(block)) return odd(block);
  const { type, data, mimeType, name, uri, resource } = block;
  switch (type) {
    case "text":
      return typeof block["text"] === "string" ? text(block["text"]) : odd(block);
    case "image":
      return typeof data === "string" ? { type: "image", mediaType: nameOf(mimeType), data } : odd(block);
    case "audio":
      return text(`(audio, ${nameOf(mimeType)}, not shown)`);
    case "resource_link":
      return text(`${nameOf(name)}: ${nameOf(uri)}`);
    case "resource":
      return isJsonObject(resource) ? toResourcePart(resource) : odd(block);
    default:
      return odd(block);
  }
}

/** What a resource holds, in one piece. */
function toResourcePart({ text: words, blob, mimeType, uri }: JsonObject): TextPart | ImagePart {
  if (typeof words === "string") return text(words);
  if (typeof blob === "string" && nameOf(mimeType).startsWith("image/"))
    return { type: "image", mediaType: nameOf(mimeType), data: blob };
  return text(`(binary resource ${nameOf(uri)})`);
}

/** The words of a block of an unknown type, if it has any; else a part of what it holds. */
function odd(block: JsonValue): TextPart {
  const type = isJsonObject(block) ? nameOf(block["type"]) : "none";
  if (isJsonObject(block) && typeof block["text"] === "string") return text(block["text"]);
  const json = JSON.stringify(block);
  const shown = json.length > maxOddBlock ? `${json.slice(0, maxOddBlock)}… (${json.length} characters)` : json;
  return text(`(a block of the type ${JSON.stringify(type)}, which is not understood: ${shown})`);
}

function nameOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "unknown";
}

function text(words: string): TextPart {
  return { type: "text", text: words };
}
