import { crc32 } from "../../util/crc32.ts";

/** What the bytes of an image say: the type they really have and its size in pixels, or why no model can look at it. */
export type ImageFacts =
  | { readonly type: "image"; readonly mediaType: ImageType; readonly width: number; readonly height: number }
  /** `kind` is what it is, in words for the model. */
  | { readonly type: "unknown"; readonly kind: string }
  | { readonly type: "broken"; readonly kind: string };

export type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

/** Looks at the bytes and never at the name. An image that was cut off or altered is `broken`, as far as its structure shows. */
export function inspectImage(bytes: Buffer): ImageFacts {
  const format = formats.find(({ signature }) => signature(bytes));
  if (!format) return { type: "unknown", kind: kindOf(bytes) };
  const size = sizeIn(bytes, format.read);
  if (!size || size.width < 1 || size.height < 1) return { type: "broken", kind: format.kind };
  return { type: "image", mediaType: format.mediaType, ...size };
}

type Size = { readonly width: number; readonly height: number };
type Format = {
  readonly mediaType: ImageType;
  readonly kind: string;
  signature(bytes: Buffer): boolean;
  /** Undefined for what is not whole. Reading beyond the end throws. */
  read(bytes: Buffer): Size | undefined;
};

const formats: readonly Format[] = [
  { mediaType: "image/png", kind: "PNG", signature: (bytes) => startsWith(bytes, "\x89PNG\r\n\x1a\n"), read: readPng },
  { mediaType: "image/jpeg", kind: "JPEG", signature: (bytes) => startsWith(bytes, "\xff\xd8\xff"), read: readJpeg },
  {
    mediaType: "image/gif",
    kind: "GIF",
    signature: (bytes) => startsWith(bytes, "GIF87a") || startsWith(bytes, "GIF89a"),
    read: readGif,
  },
  {
    mediaType: "image/webp",
    kind: "WebP",
    signature: (bytes) => startsWith(bytes, "RIFF") && startsWith(bytes, "WEBP", 8),
    read: readWebp,
  },
];

function sizeIn(bytes: Buffer, read: Format["read"]): Size | undefined {
  try {
    return read(bytes);
  } catch (error) {
    if (error instanceof RangeError) return undefined; // it ends in the middle of something
    throw error;
  }
}

/** Every piece, up to the one that says it is the last; those that the picture is made of with the right checksum. */
function readPng(bytes: Buffer): Size | undefined {
  if (bytes.toString("latin1", 12, 16) !== "IHDR") return undefined;
  let hasPixels = false;
  for (let at = 8; ; ) {
    const length = bytes.readUInt32BE(at);
    const end = at + 8 + length;
    const type = bytes.toString("latin1", at + 4, at + 8);
    const isNeeded = /^[A-Z]/.test(type); // readers pass over others that are damaged
    if (bytes.readUInt32BE(end) !== crc32(bytes.subarray(at + 4, end)) && isNeeded) return undefined;
    if (type === "IDAT") hasPixels = true;
    if (type === "IEND") break;
    at = end + 4;
  }
  return hasPixels ? { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) } : undefined;
}

/** The segments up to the pixels, one of which holds the size, and the mark of the end. */
function readJpeg(bytes: Buffer): Size | undefined {
  let size: Size | undefined;
  for (let at = 2; ; ) {
    if (bytes.readUInt8(at) !== 0xff) return undefined;
    const marker = bytes.readUInt8(at + 1);
    if (marker === 0xff) {
      at++; // filling
      continue;
    }
    if (marker === 0xda) break;
    const length = bytes.readUInt16BE(at + 2);
    if (length < 2) return undefined;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame) size = { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    at += 2 + length;
  }
  return bytes.lastIndexOf("\xff\xd9", undefined, "latin1") > 0 ? size : undefined;
}

/** Every block up to the trailer, which not all programs write; at least one of them is a picture. */
function readGif(bytes: Buffer): Size | undefined {
  const size = { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
  let at = 13 + colourTableLength(bytes.readUInt8(10));
  let hasPicture = false;
  while (true) {
    const kind = bytes[at] ?? 0x3b;
    if (kind === 0x3b) return hasPicture ? size : undefined;
    if (kind === 0x21) at = skipBlocks(bytes, at + 2);
    else if (kind === 0x2c) {
      hasPicture = true;
      at = skipBlocks(bytes, at + 11 + colourTableLength(bytes.readUInt8(at + 9)));
    } else return undefined;
  }
}

function colourTableLength(flags: number): number {
  return flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0;
}

function skipBlocks(bytes: Buffer, from: number): number {
  let at = from;
  for (let length = bytes.readUInt8(at); length > 0; length = bytes.readUInt8(at)) at += length + 1;
  return at + 1;
}

/** The container's length fits, and its first piece says the size. */
function readWebp(bytes: Buffer): Size | undefined {
  if (bytes.readUInt32LE(4) + 8 > bytes.length + 1) return undefined;
  switch (bytes.toString("latin1", 12, 16)) {
    case "VP8X":
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    case "VP8L": {
      if (bytes.readUInt8(20) !== 0x2f) return undefined;
      const bits = bytes.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case "VP8 ":
      if (bytes.toString("latin1", 23, 26) !== "\x9d\x01\x2a") return undefined;
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    default:
      return undefined;
  }
}

const otherKinds: readonly (readonly [signature: string, kind: string, offset?: number])[] = [
  ["BM", "BMP"],
  ["II*\0", "TIFF"],
  ["MM\0*", "TIFF"],
  ["\0\0\x01\0", "an icon"],
  ["%PDF-", "a PDF document"],
  ["ftypavif", "AVIF", 4],
  ["ftyphei", "HEIC", 4],
  ["ftyphev", "HEIC", 4],
  ["ftypmif1", "HEIF", 4],
  ["8BPS", "a Photoshop file"],
];

function kindOf(bytes: Buffer): string {
  const known = otherKinds.find(([signature, , offset]) => startsWith(bytes, signature, offset));
  if (known) return known[1];
  const beginning = bytes.toString("utf8", 0, 1_000);
  return /^\uFEFF?\s*(<\?xml|<!--|<!doctype svg|<svg)/i.test(beginning) && /<svg/i.test(bytes.toString("utf8", 0, 100_000))
    ? "SVG"
    : "no image that is known";
}

function startsWith(bytes: Buffer, signature: string, offset: number = 0): boolean {
  return bytes.toString("latin1", offset, offset + signature.length) === signature;
}
