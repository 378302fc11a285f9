import type { ImagePart, TextPart } from "../../protocol/content.ts";
import { wellFormed } from "../../util/well-formed.ts";
import { encodePng } from "./png.ts";
import { readImage, refusalOf, toSendableImage } from "./sendable-image.ts";
import { maxBlocks } from "./sendable-content.ts";
import { shrink } from "./shrink.ts";
import { toPixels } from "./to-pixels.ts";
import { pdfType } from "../../protocol/media.ts";

type Part = TextPart | ImagePart;

/** Every part as models can read it. A part may become two: an image that was changed, and a word about that. */
export function mendContent(content: readonly Part[]): Part[] {
  const mended = content.flatMap((part): Part[] => (part.type === "image" ? mendImage(part) : [mendText(part)]));
  return mended.length <= maxBlocks ? mended : fewerBlocks(mended);
}

function mendText(part: TextPart): TextPart {
  const text = wellFormed(part.text);
  return text === part.text ? part : { ...part, text };
}

/** What base64 may have at most before anybody tries to make it smaller: beyond that it takes too long. */
const maxTried = 40 * 1024 * 1024;
const maxSource = 20_000;

function mendImage(part: ImagePart): Part[] {
  const sendable = toSendableImage(part);
  if (sendable.type === "image" || part.mediaType === pdfType) return [sendable];
  const { facts, bytes, data } = readImage(part);
  if (facts.type === "unknown" && facts.kind === "SVG") return [sendable, ...sourceOf(bytes)];
  const isOtherKind = facts.type === "unknown" && facts.kind === "BMP";
  const isTooLarge = facts.type === "image" && refusalOf(facts, data) !== undefined;
  if (data.length > maxTried || !(isOtherKind || isTooLarge)) return [sendable];
  return smallerImage(bytes) ?? [sendable];
}

/** Words that models read as well as a picture. */
function sourceOf(bytes: Buffer): TextPart[] {
  const text = bytes.toString("utf8");
  return text.length <= maxSource ? [{ type: "text", text: `Its source:\n${text}` }] : [];
}

/** No provider looks at more than about this much of a side. */
const sides = [2_000, 1_400, 1_000, 700];

function smallerImage(bytes: Buffer): Part[] | undefined {
  const pixels = toPixels(bytes);
  if (!pixels) return undefined;
  for (const side of sides) {
    const small = shrink(pixels, side);
    const made: ImagePart = { type: "image", mediaType: "image/png", data: encodePng(small).toString("base64") };
    if (toSendableImage(made) !== made) continue;
    const size = ({ width, height }: { width: number; height: number }): string => `${width}×${height}`;
    const how = small === pixels ? "converted to PNG" : `scaled from ${size(pixels)} to ${size(small)} pixels`;
    return [made, { type: "text", text: `(The image was ${how}, since providers refuse it as it was.)` }];
  }
  return undefined;
}

/** Texts in a row become one; of what is still too much, the first parts are kept. */
function fewerBlocks(content: readonly Part[]): Part[] {
  const joined: Part[] = [];
  const texts: string[] = [];
  const flush = (): void => {
    if (texts.length > 0) joined.push({ type: "text", text: texts.splice(0).join("\n") });
  };
  for (const part of content) {
    if (part.type === "text") {
      texts.push(part.text);
      continue;
    }
    flush();
    joined.push(part);
  }
  flush();
  if (joined.length <= maxBlocks) return joined;
  const note: TextPart = { type: "text", text: `(${joined.length - maxBlocks + 1} more images and texts are left out.)` };
  return [...joined.slice(0, maxBlocks - 1), note];
}
