import { splitCode } from "./hidden-text.ts";

/** The section headed "Compact Instructions" of an instruction file, without its heading; undefined when there is none. */
export function compactInstructionsOf(text: string): string | undefined {
  const lines: string[] = [];
  let level: number | undefined;
  for (const piece of splitCode(text)) {
    if (piece.isCode) {
      if (level !== undefined) lines.push(piece.text);
      continue;
    }
    for (const line of piece.text.split(/(?<=\n)/)) {
      const [, marks, title = ""] = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/.exec(line) ?? [];
      if (marks && level !== undefined && marks.length <= level) level = undefined;
      if (marks && level === undefined && /^compact(?:ion)? instructions$/i.test(title)) level = marks.length;
      else if (level !== undefined) lines.push(line);
    }
  }
  return lines.join("").trim() || undefined;
}
