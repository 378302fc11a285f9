import type { ImagePart, TextPart } from "../protocol/content.ts";
import { pdfType } from "../protocol/media.ts";

/** Providers whose wire has no word for something that is elsewhere. */
const fetchNothing: ReadonlySet<string> = new Set(["gemini", "vertex", "bedrock"]);
/** Providers that fetch documents too, not only images. */
const fetchDocuments: ReadonlySet<string> = new Set(["anthropic", "openai"]);

/** What of a prompt stands in the request as words only, told to the person who wrote it. */
export function unseenMedia(content: readonly (TextPart | ImagePart)[], provider: string): string[] {
  return content.flatMap((part) => {
    if (part.type === "text" || part.url === undefined) return [];
    const isPdf = part.mediaType === pdfType;
    if (!fetchNothing.has(provider) && (!isPdf || fetchDocuments.has(provider))) return [];
    const what = isPdf ? "the document" : "the image";
    return [`${provider} does not fetch ${what} at ${part.url}: the model is told of it and does not see it. Send it as base64`];
  });
}
