import type { ImagePart, TextPart } from "../protocol/content.ts";

/** Where a text is kept of which only parts are shown, and how long it is. */
export type SavedOutput = { readonly fullOutputPath?: string; readonly fullOutputBytes?: number };

/** Characters of text one tool result may bring into the conversation. */
export const defaultOutputLimit: number = 30_000;

/** Keeps the beginning and the end, since that is where commands and files say most, and cuts the middle. */
export function limitText(text: string, limit: number): { text: string; omitted: number } {
  return joinEnds(
    { start: text, end: text, length: text.length },
    { limit, marker: (omitted) => `… ${omitted} characters omitted …` },
  );
}

/** Bounds all text of one result together. When it has to cut, the whole text is saved first and the cut names the place. Images stay. */
export async function limitContent(
  content: (TextPart | ImagePart)[],
  options: { limit: number; save(text: string): Promise<string> },
): Promise<{ content: (TextPart | ImagePart)[] } & SavedOutput> {
  const texts = content.filter((part) => part.type === "text");
  const length = texts.reduce((sum, part) => sum + part.text.length, 0);
  if (length <= options.limit) return { content };

  const whole = texts.map((part) => part.text).join("\n");
  // A full disk must not cost the model the part of the result that it can still see.
  const path = await options.save(whole).catch(() => undefined);
  const where = path === undefined ? "they could not be saved" : `the whole output is in ${path}`;
  const cut = joinEnds(
    { start: whole, end: whole, length: whole.length },
    { limit: options.limit, marker: (omitted) => `… ${omitted} characters omitted; ${where} …` },
  );

  const first = texts[0];
  const kept = content.flatMap<TextPart | ImagePart>((part) => {
    if (part.type !== "text") return part;
    return part === first ? { type: "text", text: cut.text } : [];
  });
  return path === undefined
    ? { content: kept }
    : { content: kept, fullOutputPath: path, fullOutputBytes: Buffer.byteLength(whole) };
}

/** A text of which at least the first and the last `limit` characters are at hand; the same string twice when all of it is. */
export type TextEnds = { readonly start: string; readonly end: string; readonly length: number };

/** As much of both ends as fits, with a line between them that says how much is missing. Never longer than `limit`. */
export function joinEnds(
  text: TextEnds,
  options: { limit: number; marker(omitted: number): string },
): { text: string; omitted: number } {
  const { limit, marker } = options;
  if (text.length <= limit) return { text: text.start, omitted: 0 };
  // The final marker counts fewer characters than the whole text has, so it is never longer than this one.
  const room = limit - marker(text.length).length - 2;
  if (room < 0) {
    const head = headOf(text.start, Math.max(0, limit));
    return { text: head, omitted: text.length - head.length };
  }
  const head = headOf(text.start, Math.ceil(room / 2));
  const tail = tailOf(text.end, Math.floor(room / 2));
  const omitted = text.length - head.length - tail.length;
  const lead = head === "" || head.endsWith("\n") ? head : `${head}\n`;
  return { text: `${lead}${marker(omitted)}\n${tail}`, omitted };
}

/** The part before `end` that ends with a whole character, and with a whole line if one ends close by. */
function headOf(text: string, end: number): string {
  if (end >= text.length) return text;
  const lineEnd = text.lastIndexOf("\n", end - 1) + 1;
  if (lineEnd > end - end / 8) return text.slice(0, lineEnd);
  return text.slice(0, isHighSurrogate(text.charCodeAt(end - 1)) ? end - 1 : end);
}

/** The last `length` characters or a little less, with the same care at their start. */
export function tailOf(text: string, length: number): string {
  const start = text.length - length;
  if (start <= 0) return text;
  const lineStart = text.slice(start - 1, start + Math.floor(length / 8)).indexOf("\n") + start;
  if (lineStart >= start) return text.slice(lineStart);
  return text.slice(isHighSurrogate(text.charCodeAt(start - 1)) ? start + 1 : start);
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
