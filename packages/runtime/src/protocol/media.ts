import type { ImagePart, JsonObject } from "./content.ts";

/** The media type of documents that models read as a whole. */
export const pdfType = "application/pdf";

/** A block in the words of Anthropic's API, which transcripts and frames share. */
export function toMediaBlock({ mediaType, data, url }: ImagePart): JsonObject {
  const type = mediaType === pdfType ? "document" : "image";
  if (url !== undefined) return { type, source: { type: "url", url } };
  return { type, source: { type: "base64", media_type: mediaType, data } };
}

/** What stands in the place of something that a provider cannot be shown. */
export function inWordsOf({ mediaType, url }: ImagePart): string {
  const what = mediaType === pdfType ? "a PDF document" : "an image";
  const where = url === undefined ? (mediaType === pdfType ? "" : `, ${mediaType},`) : ` at ${url}`;
  return `(${what}${where} that this model cannot see)`;
}
