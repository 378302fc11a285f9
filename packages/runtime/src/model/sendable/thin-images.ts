import type { ImagePart, Message, TextPart } from "../../protocol/content.ts";
import { inspectImage } from "./inspect-image.ts";

/** What providers take of all images of one request. */
const limits = {
  count: 100,
  /** Among more images than `fewCount`, none may have a side of more than `fewSide` pixels. */
  fewCount: 20,
  fewSide: 2_000,
  /** Characters of base64: Gemini takes requests of 20 MB. */
  base64: 14 * 1024 * 1024,
} as const;

/** Older images give way in groups: one by one, each would change the beginning of the request and lose the provider's cache. */
const groups = 4;

const gone: TextPart = {
  type: "text",
  text: "(An image stood here. It is not shown any more: newer ones take all the room that providers give to images.)",
};

/** The messages with as many images, the newest, as fit into one request. A function of the messages alone. */
export function thinImages(messages: readonly Message[]): readonly Message[] {
  const images = messages.flatMap(imagesIn);
  let surplus = surplusOf(images);
  if (surplus === 0) return messages;
  const replace = <T extends ImagePart | TextPart>(part: T): T | TextPart =>
    part.type === "image" && surplus-- > 0 ? gone : part;
  return messages.map((message): Message => {
    if (message.role === "user") return { ...message, content: message.content.map(replace) };
    if (message.role === "tool")
      return { ...message, content: message.content.map((result) => ({ ...result, content: result.content.map(replace) })) };
    return message;
  });
}

function imagesIn(message: Message): ImagePart[] {
  const parts =
    message.role === "user"
      ? message.content
      : message.role === "tool"
        ? message.content.flatMap((result) => result.content)
        : [];
  return parts.filter((part): part is ImagePart => part.type === "image");
}

/** How many of the oldest have to go. */
function surplusOf(images: readonly ImagePart[]): number {
  const sides = images.map(longSide);
  const byCount = inGroups(
    images.length,
    images.length > limits.fewCount && sides.some((side) => side > limits.fewSide) ? limits.fewCount : limits.count,
  );
  const total = images.reduce((sum, { data }) => sum + data.length, 0);
  const excess = inGroups(total, limits.base64);
  let bySize = 0;
  for (let sum = 0; sum < excess; bySize++) sum += images[bySize]?.data.length ?? excess;
  return Math.max(byCount, bySize);
}

/** What is above the limit, rounded up to a quarter of it. */
function inGroups(amount: number, limit: number): number {
  if (amount <= limit) return 0;
  const step = Math.ceil(limit / groups);
  return Math.ceil((amount - limit) / step) * step;
}

const sides = new WeakMap<ImagePart, number>();

function longSide(image: ImagePart): number {
  const known = sides.get(image);
  if (known !== undefined) return known;
  const facts = inspectImage(Buffer.from(image.data, "base64"));
  const side = facts.type === "image" ? Math.max(facts.width, facts.height) : 0;
  sides.set(image, side);
  return side;
}
