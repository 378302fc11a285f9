import { StringDecoder } from "node:string_decoder";
import { messageOf } from "../../util/message-of.ts";

/** Lines that come at about the same time are told together. */
const gatherMs = 300;
const maxLines = 20;
const maxLineLength = 500;

export type LineWatch = { add(bytes: Uint8Array): void; end(): void };

export type LineTelling = {
  readonly matching: (lines: readonly string[]) => readonly string[];
  readonly tell: (lines: readonly string[]) => void;
  /** Looking at lines failed, and no more of them are looked at. */
  readonly giveUp: (why: string) => void;
};

/** Tells of the lines a program prints that match, while it runs. */
export function watchLines({ matching, tell, giveUp }: LineTelling): LineWatch {
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
  let hasFailed = false;
  const look = (lines: readonly string[]): void => {
    const filled = lines.filter((line) => line !== "");
    if (hasFailed || filled.length === 0) return;
    try {
      for (const line of matching(filled)) {
        if (found.length < maxLines) found.push(line.slice(0, maxLineLength));
        else omitted++;
        timer ??= setTimeout(flush, gatherMs);
      }
    } catch (error) {
      hasFailed = true;
      giveUp(messageOf(error));
    }
  };
  return {
    add(bytes) {
      const lines = (rest + decoder.write(Buffer.from(bytes))).split("\n");
      rest = (lines.pop() ?? "").slice(-10 * maxLineLength);
      look(lines.map((line) => line.replace(/\r$/, "")));
    },
    end() {
      look([rest]);
      clearTimeout(timer);
      flush();
    },
  };
}
