/**
 * Takes out what a person looking at the file would not see and a model would read: HTML comments outside of code,
 * and characters without a picture (Unicode tags, zero-width and direction marks, stray control characters).
 */
export function withoutHiddenText(text: string): { text: string; invisible: number } {
  const visible = special.test(text) ? text.replace(hidden, "") : text;
  return { text: withoutComments(visible), invisible: text.length - visible.length };
}

/** In nearly no file; a look for one takes a tenth of the time. */
const special = /[^\t\n\r\x20-\x7e]/;

const hidden =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  /[\u{e0000}-\u{e0fff}]|[\u200b\u2060-\u2064\u202a-\u202e\u2066-\u2069\ufeff\u00ad]|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/gu;

/** A comment in a code block is an example, and stays. */
function withoutComments(text: string): string {
  if (!text.includes("<!--")) return text;
  return splitCode(text)
    .map(({ isCode, text: piece }) => (isCode ? piece : piece.replace(/<!--[\s\S]*?(?:-->|$)/g, "")))
    .join("");
}

/** Fenced blocks apart from everything else; joined again they are the text. */
export function splitCode(text: string): { isCode: boolean; text: string }[] {
  const pieces: { isCode: boolean; text: string }[] = [];
  let fence: string | undefined;
  let current = "";
  const close = (isCode: boolean): void => {
    if (current) pieces.push({ isCode, text: current });
    current = "";
  };
  for (const line of text.split(/(?<=\n)/)) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence === undefined && mark) {
      close(false);
      fence = mark;
      current += line;
      continue;
    }
    current += line;
    if (fence !== undefined && mark && mark[0] === fence[0] && mark.length >= fence.length && line.trim() === mark) {
      close(true);
      fence = undefined;
    }
  }
  close(fence !== undefined);
  return pieces;
}
