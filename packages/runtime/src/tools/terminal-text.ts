/**
 * What a terminal would show of a program's output in the end: colours are gone, and of a line that was written over again and again, as
 * progress bars do, only the last state is left. Lines that are written anew by moving up are not followed.
 */
export function toTerminalText(output: string): string {
  if (!hasControls(output)) return output;
  return output
    .split("\n")
    .map((line) => (hasControls(line) ? lastState(line) : line))
    .join("\n");
}

function hasControls(text: string): boolean {
  return ["\u001b", "\b", "\r"].some((control) => text.includes(control));
}

/** Text, control sequences (CSI, OSC and strings, others of two characters), and the characters that move. */
const pieces =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this is what they are looked for by
  /\u001b\[([0-?]*)[ -/]*([@-~])|\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[ -/]*[0-~]?|[\b\r]|[^\u001b\b\r]+/g;

function lastState(line: string): string {
  let shown = "";
  let column = 0;
  for (const [piece, parameters, final] of line.matchAll(pieces)) {
    if (piece === "\r") column = 0;
    else if (piece === "\b") column = Math.max(0, column - 1);
    else if (final === "K") shown = erase(shown, column, parameters ?? "");
    else if (final === "G") column = Math.min(shown.length, Math.max(0, Number(parameters || 1) - 1));
    else if (!piece.startsWith("\u001b")) {
      shown = shown.slice(0, column).padEnd(column) + piece + shown.slice(column + piece.length);
      column += piece.length;
    }
  }
  return shown.trimEnd().toWellFormed(); // half of a character may have been written over
}

function erase(shown: string, column: number, parameters: string): string {
  if (parameters === "2") return "";
  return parameters === "1" ? " ".repeat(Math.min(column, shown.length)) + shown.slice(column) : shown.slice(0, column);
}
