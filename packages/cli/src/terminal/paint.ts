/** Colours for a terminal that has them; the same words without them. */
export interface Paint {
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  dim(text: string): string;
  bold(text: string): string;
}

export function createPaint(isColoured: boolean): Paint {
  const style =
    (on: number, off: number) =>
    (text: string): string =>
      isColoured && text !== "" ? `\x1b[${on}m${text}\x1b[${off}m` : text;
  return { red: style(31, 39), green: style(32, 39), yellow: style(33, 39), dim: style(2, 22), bold: style(1, 22) };
}

/** A terminal that may be painted: https://no-color.org, and what CI keeps is read elsewhere. */
export function isColoured(stream: NodeJS.WriteStream): boolean {
  const { CI, NO_COLOR, TERM } = process.env;
  return stream.isTTY && !CI && !NO_COLOR && TERM !== "dumb";
}
