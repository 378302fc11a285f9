import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/content.ts";
import type { ToolContext } from "../tool.ts";

/** Of one result; more is told and not kept. */
const maxKept = 8;
const maxBytes = 32 * 1024 * 1024;

/**
 * A result in which sounds and other content that no model is shown gives way to the place of a file that holds it, so that commands can work
 * with it.
 */
export async function withKeptMedia(
  result: JsonObject,
  { workspace, callId }: Pick<ToolContext, "workspace" | "callId">,
): Promise<JsonObject> {
  const { content } = result;
  if (!Array.isArray(content) || !content.some(isUnshown)) return result;
  let kept = 0;
  const blocks: JsonValue[] = [];
  for (const block of content) {
    const media = mediaOf(block);
    if (!media || ++kept > maxKept) {
      blocks.push(block);
      continue;
    }
    const bytes = Buffer.from(media.data, "base64");
    const name = `mcp-${callId}.${media.extension}`;
    const isBroken = bytes.length === 0 && media.data !== "";
    const path =
      isBroken || bytes.length > maxBytes ? undefined : await workspace.saveOverflow(name, bytes).catch(() => undefined);
    blocks.push(path === undefined ? block : { type: "text", text: `(${media.what}, ${bytes.length} bytes: kept in ${path})` });
  }
  return { ...result, content: blocks };
}

type Media = { readonly data: string; readonly what: string; readonly extension: string };

function isUnshown(block: JsonValue): boolean {
  return mediaOf(block) !== undefined;
}

function mediaOf(block: JsonValue): Media | undefined {
  if (!isJsonObject(block)) return undefined;
  const { type, data, mimeType, resource } = block;
  if (type === "audio" && typeof data === "string")
    return { data, what: `audio, ${nameOf(mimeType)}`, extension: extensionOf(mimeType) };
  if (type !== "resource" || !isJsonObject(resource)) return undefined;
  const { blob, mimeType: kind, uri } = resource;
  if (typeof blob !== "string" || nameOf(kind).startsWith("image/")) return undefined;
  return { data: blob, what: `binary resource ${nameOf(uri)}, ${nameOf(kind)}`, extension: extensionOf(kind) };
}

function nameOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value.slice(0, 200) : "unknown";
}

/** `audio/x-wav` is a `wav`. */
function extensionOf(mimeType: JsonValue | undefined): string {
  const [, subtype = "bin"] = /^[\w-]+\/(?:x-)?([a-z0-9]{1,10})/i.exec(nameOf(mimeType)) ?? [];
  return subtype.toLowerCase();
}
