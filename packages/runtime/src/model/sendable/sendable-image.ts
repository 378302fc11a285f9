import type { ImagePart, TextPart } from "../../protocol/content.ts";
import { type ImageFacts, inspectImage } from "./inspect-image.ts";
import { pdfType } from "../../protocol/media.ts";

/** What providers take of one image: the smallest of their limits, so that a fallback can be asked with the same conversation. */
const imageLimits = {
  /** Characters of base64: Anthropic refuses more. */
  base64: 5 * 1024 * 1024,
  /** Pixels of either side. */
  side: 8_000,
} as const;

/** An image that can be sent, with the media type its bytes have; or words in its place that say why not. The same for the same part. */
export function toSendableImage(part: ImagePart): ImagePart | TextPart {
  if (part.url !== undefined) return part; // who fetches it sees what it is
  if (part.mediaType === pdfType) return toSendablePdf(part);
  const { facts, bytes, data } = readImage(part);
  const reason = refusalOf(facts, data);
  if (reason !== undefined) return { type: "text", text: inWords({ part, facts, bytes: bytes.length, reason }) };
  if (facts.type !== "image" || (part.mediaType === facts.mediaType && part.data === data)) return part;
  return { ...part, mediaType: facts.mediaType, data };
}

/** What providers take of one document, in characters of base64: the smallest of their limits. */
const maxPdf = 14 * 1024 * 1024;

function toSendablePdf(part: ImagePart): ImagePart | TextPart {
  const { bytes, data } = readImage(part);
  const isPdf = bytes.subarray(0, 1024).includes("%PDF-");
  if (isPdf && data.length <= maxPdf) return data === part.data ? part : { ...part, data };
  const reason = isPdf ? "documents of more than 14 MB in base64 are refused" : "it is no PDF";
  return { type: "text", text: `(A PDF document stood here, ${sizeInWords(bytes.length)}. It is not shown: ${reason}.)` };
}

export type ReadImage = { readonly facts: ImageFacts; readonly bytes: Buffer; readonly data: string };

/** Takes base64 in any spelling, also as a data URL; `data` is the plain one. */
export function readImage({ data: given }: ImagePart): ReadImage {
  const text = given.startsWith("data:") ? given.slice(given.indexOf(",") + 1) : given;
  const bytes = Buffer.from(text, "base64");
  const data = isPlainBase64(text) ? text : bytes.toString("base64");
  return { facts: inspectImage(bytes), bytes, data };
}

function isPlainBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}

/** Why a provider would refuse it; undefined when none would. */
export function refusalOf(facts: ImageFacts, data: string): string | undefined {
  if (data === "") return "it is empty";
  switch (facts.type) {
    case "unknown":
      return "models look at PNG, JPEG, GIF and WebP only";
    case "broken":
      return "it is damaged or cut off";
    case "image":
      if (Math.max(facts.width, facts.height) > imageLimits.side)
        return `images of more than ${imageLimits.side} pixels a side are refused; scale it down first`;
      if (data.length > imageLimits.base64) return "images of more than 5 MB in base64 are refused; make it smaller first";
      return undefined;
  }
}

type Description = { readonly part: ImagePart; readonly facts: ImageFacts; readonly bytes: number; readonly reason: string };

function inWords({ part, facts, bytes, reason }: Description): string {
  const told = part.mediaType.slice(0, 100).toWellFormed();
  const kind =
    facts.type === "image" ? `${facts.mediaType}, ${facts.width}×${facts.height} pixels` : `said to be ${told || "nothing"}`;
  const really = facts.type === "image" || bytes === 0 ? "" : `, in truth ${facts.kind}`;
  return `(An image stood here: ${kind}${really}, ${sizeInWords(bytes)}. It is not shown: ${reason}.)`;
}

function sizeInWords(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
