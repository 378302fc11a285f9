import { fstatSync } from "node:fs";
import { createRedactor } from "@outrider/runtime/host";
import { peekFlag } from "../flags/args.ts";
import { terminalText } from "../terminal/terminal-text.ts";

/** Words for a person, on stderr. Where stdout is the same pipe or file (`2>&1`) and holds lines for programs, they would be no such line. */
export function say(text: string, format: string = askedFormat()): void {
  if (!isAmongFrames(format)) process.stderr.write(text);
}

/** Many a message has words of files and servers in it, which may not move a cursor. */
export function complain(message: string, format?: string): void {
  say(`outrider: ${terminalText(createRedactor({ env: process.env }).text(message))}\n`, format);
}

function askedFormat(): string {
  return peekFlag(process.argv.slice(2), "output-format") ?? "text";
}

function isAmongFrames(format: string): boolean {
  if (!["json", "stream-json", "atif-jsonl"].includes(format) || process.stderr.isTTY) return false;
  try {
    const [out, err] = [fstatSync(1), fstatSync(2)];
    return out.ino === err.ino && out.dev === err.dev;
  } catch {
    return false; // one of them is closed
  }
}
