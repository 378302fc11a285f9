const longestLine = 2000;

/** `cat -n` style: the number right-aligned, a tab, the text from this column on. */
export function numberedLine(number: number, text: string, column: number = 1): string {
  return `${String(number).padStart(6)}\t${cutLine(text, longestLine, column)}`;
}

/** What is left out is said, with the column to go on from. */
export function cutLine(text: string, limit: number, column: number = 1): string {
  const from = isHalf(text, column - 1) ? column : column - 1;
  if (text.length - from <= limit)
    return from > 0 && text.length <= from ? `[line ends at column ${text.length}]` : text.slice(from);
  const end = isHalf(text, from + limit) ? from + limit - 1 : from + limit;
  return `${text.slice(from, end)}… [line cut: it has ${text.length} characters; go on with column ${end + 1}]`;
}

/** In the middle of a letter of two units. */
function isHalf(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  return before >= 0xd800 && before <= 0xdbff;
}
