import type { ImagePart, TextPart, UserMessage } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { ContentBlock, ResourceContents } from "./wire.ts";

/** A prompt as clients write it, to what the model is told. What cannot be understood is refused before anything is asked. */
export function toUserMessage(prompt: readonly ContentBlock[]): UserMessage {
  const content = prompt.map(toPart);
  if (!content.some((part) => part.type === "image" || part.text.trim() !== ""))
    throw new RuntimeError("usage", "The prompt is empty", { hint: "Send at least one block of text, a resource or an image" });
  return { role: "user", content };
}

function toPart(block: ContentBlock): TextPart | ImagePart {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image":
      return toImage(block.mimeType, block.data);
    case "resource_link":
      return { type: "text", text: describeLink(block) };
    case "resource":
      return toResource(block.resource);
    case "audio":
      throw new RuntimeError("usage", "Audio is not understood", {
        hint: "promptCapabilities.audio is false: send text instead",
      });
  }
}

/** A file is named by its path, which is what tools take. */
function describeLink({ uri, name, title, description }: ContentBlock & { type: "resource_link" }): string {
  const words = [title ?? name, description].filter(Boolean).join(": ");
  const place = toPath(uri);
  const named = /[\s"'`(){}[\]<>,;]/.test(place) ? `@${JSON.stringify(place)}` : `@${place}`;
  return words === "" || place.endsWith(words) ? named : `${named} (${words})`;
}

function toResource(resource: ResourceContents): TextPart | ImagePart {
  const place = toPath(resource.uri);
  if ("text" in resource) return { type: "text", text: `<context ref=${JSON.stringify(place)}>\n${resource.text}\n</context>` };
  if (resource.mimeType?.startsWith("image/")) return toImage(resource.mimeType, resource.blob);
  throw new RuntimeError("usage", `The resource ${place} is neither text nor an image`, {
    hint: "Send its text, or a link to the file",
  });
}

const imageTypes = ["image/png", "image/jpeg", "image/gif", "image/webp"];

function toImage(mimeType: string, data: string): ImagePart {
  const mediaType = mimeType.toLowerCase() === "image/jpg" ? "image/jpeg" : mimeType.toLowerCase();
  if (!imageTypes.includes(mediaType))
    throw new RuntimeError("usage", `An image of the type ${JSON.stringify(mimeType)} is not understood`, {
      hint: `Send one of ${imageTypes.join(", ")}`,
    });
  if (data === "" || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) throw new RuntimeError("usage", "The data of an image is not base64");
  return { type: "image", mediaType, data };
}

function toPath(uri: string): string {
  if (!uri.startsWith("file://")) return uri;
  try {
    const { pathname, hash } = new URL(uri);
    return decodeURIComponent(pathname) + hash;
  } catch {
    return uri;
  }
}
