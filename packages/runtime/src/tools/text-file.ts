/** How a text was stored; kept so that an edited file goes back the way it came. */
export type TextEncoding = "utf-8" | "utf-8-bom" | "utf-16le" | "utf-16be";

/** `exact` is false when some bytes were no valid text: what is shown cannot be written back without loss. */
export type DecodedText = { text: string; encoding: TextEncoding; exact: boolean };

/** Undefined for a binary file, told by a NUL near its start, as git does. */
export function decodeText(bytes: Uint8Array): DecodedText | undefined {
  const encoding = encodingOf(bytes);
  const label = encoding === "utf-8-bom" ? "utf-8" : encoding;
  const body = bytes.subarray(markLength(encoding));
  if (label === "utf-8" && body.subarray(0, 8192).includes(0)) return undefined;
  try {
    return { text: new TextDecoder(label, { fatal: true, ignoreBOM: true }).decode(body), encoding, exact: true };
  } catch {
    return { text: new TextDecoder(label, { ignoreBOM: true }).decode(body), encoding, exact: false };
  }
}

export function encodeText(text: string, encoding: TextEncoding): Uint8Array {
  if (encoding === "utf-8") return Buffer.from(text, "utf8");
  const marked = Buffer.from(`\uFEFF${text}`, encoding === "utf-8-bom" ? "utf8" : "utf16le");
  return encoding === "utf-16be" ? marked.swap16() : marked;
}

/** The lines without their endings; a final newline does not open one more line. */
export function splitLines(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
}

function encodingOf(bytes: Uint8Array): TextEncoding {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return "utf-8-bom";
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  return "utf-8";
}

function markLength(encoding: TextEncoding): number {
  if (encoding === "utf-8") return 0;
  return encoding === "utf-8-bom" ? 3 : 2;
}
