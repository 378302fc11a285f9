import { ToolFailure } from "./tool.ts";

/** How a text was stored; kept so that an edited file goes back the way it came. `-plain`: without a mark at its start. */
export type TextEncoding = "utf-8" | "utf-8-bom" | "utf-16le" | "utf-16be" | "utf-16le-plain" | "utf-16be-plain" | "windows-1252";

/** `exact` is false when some bytes were no valid text: what is shown cannot be written back without loss. */
export type DecodedText = { text: string; encoding: TextEncoding; exact: boolean };

/** Undefined for a binary file, told by a NUL near its start, as git does. `singleBytes: false` keeps to Unicode, as ripgrep does. */
export function decodeText(bytes: Uint8Array, { singleBytes = true }: { singleBytes?: boolean } = {}): DecodedText | undefined {
  const encoding = encodingOf(bytes);
  const label = encoding.replace(/-(?:bom|plain)$/, "");
  const body = bytes.subarray(markLength(encoding));
  if (label === "utf-8" && body.subarray(0, 8192).includes(0)) return undefined;
  try {
    return { text: new TextDecoder(label, { fatal: true, ignoreBOM: true }).decode(body), encoding, exact: true };
  } catch {
    const text = new TextDecoder(label, { ignoreBOM: true }).decode(body);
    // Not one letter of several bytes: it is of the time when a letter was one byte.
    const isOld = singleBytes && encoding === "utf-8" && /^[\t\n\f\r -\x7f\ufffd]*$/.test(text);
    if (isOld) return { text: fromSingleBytes(body), encoding: "windows-1252", exact: true };
    return { text, encoding, exact: false };
  }
}

/** Throws where a letter cannot be stored that way. */
export function encodeText(text: string, encoding: TextEncoding): Uint8Array {
  switch (encoding) {
    case "utf-8":
      return Buffer.from(text, "utf8");
    case "utf-8-bom":
      return Buffer.from(`\uFEFF${text}`, "utf8");
    case "windows-1252":
      return toSingleBytes(text);
    default: {
      const written = Buffer.from(encoding.endsWith("-plain") ? text : `\uFEFF${text}`, "utf16le");
      return encoding.startsWith("utf-16be") ? written.swap16() : written;
    }
  }
}

/** What people call it. */
export function nameOfEncoding(encoding: TextEncoding): string {
  return encoding === "windows-1252" ? "Latin-1 (Windows-1252)" : encoding.replace(/-(?:bom|plain)$/, "").toUpperCase();
}

/** The letters of Windows-1252 from 0x80 to 0x9f; all others have their Unicode numbers. Node's decoder has known them only since version 23. */
const middle =
  "\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178";

function fromSingleBytes(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
  return text.replace(/[\x80-\x9f]/g, (letter) => middle.charAt(letter.charCodeAt(0) - 0x80));
}

function toSingleBytes(text: string): Uint8Array {
  return Uint8Array.from(text, (letter) => {
    const at = middle.indexOf(letter);
    const code = letter.codePointAt(0) ?? 0;
    if (at !== -1) return 0x80 + at;
    if (code < 0x80 || (code > 0x9f && code < 0x100)) return code;
    throw new ToolFailure(
      `The file is stored as ${nameOfEncoding("windows-1252")}, which has no ${JSON.stringify(letter)}: nothing was changed. ` +
        "Leave that character out, or convert the file to UTF-8 first (iconv -f windows-1252 -t utf-8).",
    );
  });
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
  return plainWide(bytes) ?? "utf-8";
}

/** Of a text in UTF-16 that is mostly Latin, every other byte is zero, and no other one is. */
function plainWide(bytes: Uint8Array): TextEncoding | undefined {
  if (bytes.length < 4 || bytes.length % 2 !== 0) return undefined;
  const start = bytes.subarray(0, 8192);
  const zeros = [0, 0];
  for (const [at, byte] of start.entries()) if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  const most = start.length * 0.35;
  if (even === 0 && odd > most) return "utf-16le-plain";
  return odd === 0 && even > most ? "utf-16be-plain" : undefined;
}

function markLength(encoding: TextEncoding): number {
  if (encoding === "utf-8-bom") return 3;
  return encoding === "utf-16le" || encoding === "utf-16be" ? 2 : 0;
}
