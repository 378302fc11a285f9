import { StringDecoder } from "node:string_decoder";

/** Lines that come at about the same time are told together. */
const gatherMs = 300;
const maxLines = 20;
const maxLineLength = 500;

export type LineWatch = { add(bytes: Uint8Array): void; end(): void };

/** Tells of the lines a program prints that match, while it runs. */
export function watchLines(matches: (lines: readonly string[]) => boolean, tell: (lines: readonly string[]) => void): LineWatch {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  let found: string[] = [];
  let omitted = 0;
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    timer = undefined;
    const lines = omitted > 0 ? [...found, `(${omitted} more lines)`] : found;
    found = [];
    omitted = 0;
    if (lines.length > 0) tell(lines);
  };
  const look = (line: string): void => {
    if (line === "" || !matches([line])) return;
    if (found.length < maxLines) found.push(line.slice(0, maxLineLength));
    else omitted++;
    timer ??= setTimeout(flush, gatherMs);
  };
  return {
    add(bytes) {
      const lines = (rest + decoder.write(Buffer.from(bytes))).split("\n");
      rest = (lines.pop() ?? "").slice(-10 * maxLineLength);
      for (const line of lines) look(line.replace(/\r$/, ""));
    },
    end() {
      look(rest);
      clearTimeout(timer);
      flush();
    },
  };
}
