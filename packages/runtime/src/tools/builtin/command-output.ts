import { toTerminalText } from "../terminal-text.ts";
import { joinEnds, type SavedOutput, tailOf } from "../output-limit.ts";

/** Everything a command writes to its streams, in the order in which it came, in bounded memory. */
export interface CommandOutput {
  add(chunk: { stream: "stdout" | "stderr"; bytes: Uint8Array }): void;
  /** The last `length` characters or a little less. */
  latest(length: number): string;
  /** At most `limit` characters; when that is not all, the text is saved first and the cut names the place. */
  finish(options: { limit: number; save(text: string): Promise<string> }): Promise<{ text: string } & SavedOutput>;
}

/** `keep` is how many characters from the start are kept to be saved, `tail` how many from the end are kept to be shown. */
export function createCommandOutput({ keep, tail }: { keep: number; tail: number }): CommandOutput {
  const keepMark = { ignoreBOM: true }; // "ignore" leaves a byte order mark in the text
  const decoders = { stdout: new TextDecoder("utf-8", keepMark), stderr: new TextDecoder("utf-8", keepMark) };
  const kept: string[] = [];
  let keptLength = 0;
  let end = "";
  let length = 0;

  const append = (text: string): void => {
    length += text.length;
    const room = keep - keptLength;
    if (text !== "" && room > 0) {
      kept.push(text.length > room ? text.slice(0, room) : text);
      keptLength += Math.min(text.length, room);
    }
    end += text;
    if (end.length > 2 * tail) end = end.slice(-tail); // not at every chunk: that would copy the whole tail each time
  };

  return {
    add: ({ stream, bytes }) => append(decoders[stream].decode(bytes, { stream: true })),
    latest: (size) => tailOf(end, size),
    async finish({ limit, save }) {
      append(decoders.stdout.decode() + decoders.stderr.decode()); // a character cut off by the end
      const raw = kept.join("");
      const isComplete = keptLength === length;
      const start = toTerminalText(raw);
      if (isComplete && start.length <= limit) return { text: start };
      const path = await save(raw).catch(() => undefined);
      const where = placeOf({ path, complete: isComplete, keep });
      const { text } = joinEnds(
        isComplete ? { start, end: start, length: start.length } : { start, end: toTerminalText(end), length },
        { limit, marker: (omitted) => `… ${omitted} characters omitted; ${where} …` },
      );
      return path === undefined ? { text } : { text, fullOutputPath: path, fullOutputBytes: Buffer.byteLength(raw) };
    },
  };
}

function placeOf({ path, complete, keep }: { path: string | undefined; complete: boolean; keep: number }): string {
  if (path === undefined) return "they could not be saved";
  return complete ? `the whole output is in ${path}` : `the first ${keep} characters are in ${path}, the rest is lost`;
}
