import type { Value } from "./run-model.ts";

/** A report keeps this much of one text; what is longer is kept by both ends. */
const maxValueChars = 64 * 1024;
const headChars = 48 * 1024;
const tailChars = 12 * 1024;

export function toValue(text: string): Value {
  if (text.length <= maxValueChars) return { text };
  const head = wholeLines(text.slice(0, headChars), "end");
  const tail = wholeLines(text.slice(-tailChars), "start");
  const gone = text.slice(head.length, text.length - tail.length);
  return { text: head, cut: { bytes: gone.length, lines: countLines(gone), tail } };
}

export function isCut(value: Value | undefined): boolean {
  return value?.cut !== undefined;
}

export function countLines(text: string): number {
  if (text === "") return 0;
  let lines = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines++;
  return text.endsWith("\n") ? lines - 1 : lines;
}

/** A part that begins and ends with whole lines, unless a line is longer than all of it. No character is cut in two. */
function wholeLines(part: string, cutAt: "start" | "end"): string {
  if (cutAt === "end") {
    const end = part.lastIndexOf("\n");
    return end > 0 ? part.slice(0, end + 1) : part.replace(/[\uD800-\uDBFF]$/, "");
  }
  const start = part.indexOf("\n");
  return start >= 0 && start < part.length - 1 ? part.slice(start + 1) : part.replace(/^[\uDC00-\uDFFF]/, "");
}
