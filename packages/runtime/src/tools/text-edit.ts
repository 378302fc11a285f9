export type Replacement = { readonly oldText: string; readonly newText: string; readonly all: boolean };

/** `lines` are where the old text begins, counted from 1. */
export type Replaced =
  | { type: "replaced"; text: string; lines: number[] }
  | { type: "missing" }
  | { type: "ambiguous"; lines: number[] };

/**
 * Exact replacement that does not care which line endings the two sides use: a line break in `oldText` matches LF and CRLF,
 * and `newText` takes on the ending of the place it lands in. Nothing else in the text changes.
 */
export function replaceText(text: string, { oldText, newText, all }: Replacement): Replaced {
  const folded = foldLineEndings(text);
  const wanted = foldLineEndings(oldText).text;
  const ranges: Range[] = [];
  for (let at = folded.text.indexOf(wanted); at !== -1; at = folded.text.indexOf(wanted, at + wanted.length))
    ranges.push({ from: at, to: at + wanted.length });
  if (ranges.length === 0) return { type: "missing" };

  const lines = lineNumbers(
    folded.text,
    ranges.map(({ from }) => from),
  );
  if (ranges.length > 1 && !all) return { type: "ambiguous", lines };
  return { type: "replaced", text: replaceRanges(text, ranges, newText), lines };
}

/** Positions in the text with LF line endings. */
type Range = { readonly from: number; readonly to: number };

/** Puts the new text where the ranges are, with the line endings of each place. The ranges ascend and do not overlap. */
export function replaceRanges(text: string, ranges: readonly Range[], newText: string): string {
  const { toOriginal } = foldLineEndings(text);
  const fresh = foldLineEndings(newText).text;
  const pieces: string[] = [];
  let done = 0;
  for (const { from, to } of ranges) {
    const start = toOriginal(from);
    const ending = lineEndingNear(text, start);
    // Joined from slices, never `String.replace`: a `$` in the new text is only a `$`.
    pieces.push(text.slice(done, start), ending === "\n" ? fresh : fresh.split("\n").join(ending));
    done = toOriginal(to);
  }
  pieces.push(text.slice(done));
  return pieces.join("");
}

/** The text with every CRLF as LF, and the way back from its positions to those of the original. */
export function foldLineEndings(text: string): { text: string; toOriginal(position: number): number } {
  const dropped: number[] = [];
  for (let at = text.indexOf("\r\n"); at !== -1; at = text.indexOf("\r\n", at + 2)) dropped.push(at - dropped.length);
  if (dropped.length === 0) return { text, toOriginal: (position) => position };
  return { text: text.replaceAll("\r\n", "\n"), toOriginal: (position) => position + countBelow(dropped, position) };
}

function lineEndingNear(text: string, position: number): "\n" | "\r\n" {
  const next = text.indexOf("\n", position);
  const newline = next === -1 ? text.lastIndexOf("\n", position) : next;
  return newline > 0 && text[newline - 1] === "\r" ? "\r\n" : "\n";
}

/** Which lines the positions are in, counted from 1. */
export function lineNumbers(text: string, ascending: number[]): number[] {
  let line = 1;
  let newline = text.indexOf("\n");
  return ascending.map((position) => {
    for (; newline !== -1 && newline < position; newline = text.indexOf("\n", newline + 1)) line++;
    return line;
  });
}

function countBelow(ascending: number[], position: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] ?? 0) < position) low = middle + 1;
    else high = middle;
  }
  return low;
}
