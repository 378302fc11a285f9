import { clip, textWidth } from "./text-width.ts";

/** One line at the bottom that gives way to whatever is said. */
export interface StatusLine {
  paint(text: string): void;
  clear(): void;
}

export function createStatusLine(stream: NodeJS.WriteStream, columns: () => number): StatusLine {
  let painted = "";
  /** A line that was painted when the terminal was wider stands on several rows now. */
  const clear = (): void => {
    if (painted === "") return;
    const rows = Math.max(1, Math.ceil(textWidth(painted) / columns()));
    stream.write(`${rows > 1 ? `\x1b[${rows - 1}A` : ""}\r\x1b[J`);
    painted = "";
  };
  return {
    paint(text) {
      clear();
      painted = clip(text, columns() - 1);
      stream.write(painted);
    },
    clear,
  };
}
