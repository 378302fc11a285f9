import { describeIndentation, type Indentation, readIndentation } from "./indentation.ts";
import { foldLineEndings } from "./text-edit.ts";

/** The one place that an old text can only have meant, although it is not there letter by letter. */
export type Healed = {
  /** From where to where the text changes, in the text with LF line endings. */
  readonly from: number;
  readonly to: number;
  /** What to put there: the new text, changed in the way in which the old one differed. */
  readonly newText: string;
  /** What was done, for the model. */
  readonly note: string;
};

type Change = { readonly oldText: string; readonly newText: string };

/**
 * Finds a place that differs from `oldText` only in white space at the beginnings and ends of lines, or in the form of quotation marks and dashes.
 * Undefined unless exactly one place fits and it is clear how the new text has to change: a wrong guess costs more than a refusal.
 */
export function healEdit(text: string, given: Change): Healed | undefined {
  const folded = foldLineEndings(text).text;
  const oldText = foldLineEndings(given.oldText).text;
  const newText = foldLineEndings(given.newText).text;
  if (!/[\p{L}\p{N}]/u.test(oldText)) return undefined; // brackets and blanks alone say too little about the place
  const change = { oldText, newText };
  // Every place that could be meant in either way counts: one that fits better than another is still a guess.
  const blocks = findBlocks(linesOf(folded), oldText);
  const places = findMarks(folded, oldText);
  if (blocks.length > 1 || places.length > 1) return undefined;
  const [block] = blocks;
  const [place] = places;
  if (block && place !== undefined && !isInside(block, place, oldText.trimEnd().length)) return undefined;
  const healed = place === undefined ? block && fitBlock(folded, block, change) : fitMarks(folded, place, change);
  return healed && folded.slice(healed.from, healed.to) !== healed.newText ? healed : undefined;
}

type Line = { readonly text: string; readonly start: number };

/** Lines of the file, one for each line of the old text, that look like them but for white space at both ends. */
type Block = { readonly lines: readonly Line[]; readonly number: number };

/** At most two: a second one is enough to know that the place is not clear. */
function findBlocks(lines: readonly Line[], oldText: string): Block[] {
  const wanted = splitText(oldText).lines.map((line) => plainMarks(line).trim());
  const trimmed = lines.map((line) => plainMarks(line.text).trim());
  const found: Block[] = [];
  let compared = 0;
  for (let start = 0; start + wanted.length <= trimmed.length && found.length < 2; start++) {
    let same = 0;
    while (same < wanted.length && trimmed[start + same] === wanted[same]) same++;
    if (same === wanted.length) found.push({ lines: lines.slice(start, start + wanted.length), number: start + 1 });
    compared += same + 1;
    if (compared > mostComparisons) return [];
  }
  return found;
}

/** Enough for ordinary files many times over; a text made of one line repeated would take the product of both lengths. */
const mostComparisons = 5_000_000;

function isInside({ lines }: Block, from: number, length: number): boolean {
  const [first] = lines;
  const last = lines.at(-1);
  return first !== undefined && last !== undefined && from >= first.start && from + length <= last.start + last.text.length;
}

function fitBlock(folded: string, block: Block, { oldText, newText }: Change): Healed | undefined {
  const wanted = splitText(oldText);
  if (wanted.lines.some((line, index) => line.trim() !== block.lines[index]?.text.trim())) return undefined; // both kinds at once
  const indentation = readIndentation(wanted.lines.map((line, index) => [line, block.lines[index]?.text ?? ""]));
  if (!indentation) return undefined;
  const fresh = splitText(newText);
  const lines = rebuild({ wanted: wanted.lines, fresh: fresh.lines, block, indentation });
  if (!lines) return undefined;

  const first = block.lines[0];
  const last = block.lines.at(-1);
  if (!first || !last) return undefined;
  const end = last.start + last.text.length;
  const takesBreak = wanted.endsWithBreak && end < folded.length;
  // A last line without a line break stays one.
  const addsBreak = fresh.endsWithBreak && (takesBreak || !wanted.endsWithBreak);
  return {
    from: first.start,
    to: takesBreak ? end + 1 : end,
    newText: lines.join("\n") + (addsBreak ? "\n" : ""),
    note: `old_string was taken for ${linesInWords(block)}, which differ${block.lines.length === 1 ? "s" : ""} from it only in white space. ${describeIndentation(indentation)}`,
  };
}

/** Lines that the change leaves alone stay as the file has them; the others are indented as the file is. */
function rebuild(parts: {
  wanted: readonly string[];
  fresh: readonly string[];
  block: Block;
  indentation: Indentation;
}): string[] | undefined {
  const { wanted, fresh, block, indentation } = parts;
  const shorter = Math.min(wanted.length, fresh.length);
  let head = 0;
  while (head < shorter && wanted[head] === fresh[head]) head++;
  let tail = 0;
  while (tail < shorter - head && wanted.at(-1 - tail) === fresh.at(-1 - tail)) tail++;
  const kept = block.lines.map((line) => line.text);
  const changed: string[] = [];
  for (const line of fresh.slice(head, fresh.length - tail)) {
    const indented = indentation.apply(line);
    if (indented === undefined) return undefined;
    changed.push(indented);
  }
  return [...kept.slice(0, head), ...changed, ...kept.slice(kept.length - tail)];
}

/** Where the same text is with other quotation marks, dashes or spaces; at most two. */
function findMarks(folded: string, oldText: string): number[] {
  const plain = plainMarks(folded);
  const wanted = plainMarks(oldText);
  const first = plain.indexOf(wanted);
  const second = first === -1 ? -1 : plain.indexOf(wanted, first + 1);
  return [first, second].filter((position) => position !== -1);
}

/** Each mark has the length of the one it stands for, so that positions agree. */
function fitMarks(folded: string, from: number, { oldText, newText }: Change): Healed {
  const found = folded.slice(from, from + oldText.length);
  const shorter = Math.min(oldText.length, newText.length);
  let head = 0;
  while (head < shorter && oldText[head] === newText[head]) head++;
  let tail = 0;
  while (tail < shorter - head && oldText.at(-1 - tail) === newText.at(-1 - tail)) tail++;
  return {
    from,
    to: from + oldText.length,
    newText: found.slice(0, head) + newText.slice(head, newText.length - tail) + found.slice(found.length - tail),
    note: "The file has other quotation marks, dashes or spaces than old_string; what you did not change keeps them.",
  };
}

function plainMarks(text: string): string {
  return text
    .replace(/[\u2018\u2019\u201a\u201b]/g, "'")
    .replace(/[\u201c\u201d\u201e\u201f]/g, '"')
    .replace(/[\u2010-\u2015\u2212]/g, "-")
    .replace(/[\u00a0\u202f]/g, " ");
}

function linesOf(text: string): Line[] {
  let start = 0;
  return text.split("\n").map((line) => {
    const at = start;
    start += line.length + 1;
    return { text: line, start: at };
  });
}

function splitText(text: string): { lines: string[]; endsWithBreak: boolean } {
  const lines = text.split("\n");
  const endsWithBreak = lines.length > 1 && lines.at(-1) === "";
  if (endsWithBreak || text === "") lines.pop();
  return { lines, endsWithBreak };
}

function linesInWords({ lines, number }: Block): string {
  return lines.length === 1 ? `line ${number}` : `lines ${number} to ${number + lines.length - 1}`;
}
