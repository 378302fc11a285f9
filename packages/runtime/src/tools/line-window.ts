import type { ToolContext } from "./tool.ts";
import { ToolFailure } from "./tool.ts";

export type LineWindow = {
  readonly lines: readonly string[];
  /** The file goes on behind the window. */
  readonly more: boolean;
  /** How many lines the file has, if its end was seen. */
  readonly total: number | undefined;
};

export type WindowWanted = {
  readonly path: string;
  readonly offset: number;
  readonly limit: number;
  readonly maxCharacters: number;
};

const timeoutMs = 60_000;
/** Of one line; the rest is read over, not kept. */
const maxLineBytes = 8 * 1024;

/** Some lines of a file that is too large to be loaded: it is read past, and what is not shown is not kept. */
export async function readLineWindow(wanted: WindowWanted, { workspace, signal }: ToolContext): Promise<LineWindow> {
  const collector = collectLines(wanted);
  const enough = new AbortController();
  const result = await workspace.run({
    file: "cat",
    args: ["--", wanted.path],
    cwd: workspace.root,
    timeoutMs,
    signal: AbortSignal.any([signal, enough.signal]),
    onOutput({ stream, bytes }) {
      if (stream === "stdout" && collector.take(bytes) === "full") enough.abort();
    },
  });
  signal.throwIfAborted();
  if (collector.isBinary()) throw new ToolFailure("The file is binary and cannot be shown as text.");
  if (result.end === "timeout")
    throw new ToolFailure(`Line ${wanted.offset} was not reached within ${timeoutMs / 1000} seconds. Use Grep.`);
  if (!enough.signal.aborted && !(result.end === "exit" && result.exitCode === 0))
    throw new ToolFailure("The file could not be read.");
  return collector.finish();
}

function collectLines({ offset, limit, maxCharacters }: WindowWanted) {
  const lines: string[] = [];
  let size = 0;
  let number = 1;
  let isFull = false;
  let seen = 0;
  let binary = false;
  let kept: Uint8Array[] = [];
  let keptBytes = 0;
  let lineBytes = 0;

  const keep = (bytes: Uint8Array): void => {
    lineBytes += bytes.length;
    if (number < offset || keptBytes >= maxLineBytes) return;
    const part = Uint8Array.from(bytes.subarray(0, maxLineBytes - keptBytes)); // a copy: the buffer is used again
    kept.push(part);
    keptBytes += part.length;
  };
  const closeLine = (): void => {
    if (number >= offset && !isFull) {
      const text = new TextDecoder().decode(Buffer.concat(kept)).replace(/\r$/, "");
      const line = lineBytes > maxLineBytes ? `${text.slice(0, 1900)}… [line cut: it has ${lineBytes} bytes]` : text;
      isFull = lines.length > 0 && size + line.length > maxCharacters;
      if (!isFull) {
        lines.push(line);
        size += line.length + 8;
      }
    }
    number++;
    kept = [];
    keptBytes = 0;
    lineBytes = 0;
  };

  return {
    isBinary: () => binary,
    take(bytes: Uint8Array): "full" | "more" {
      if (seen < 8192 && bytes.subarray(0, 8192 - seen).includes(0)) binary = true;
      seen += bytes.length;
      let start = 0;
      while (start < bytes.length) {
        if (lines.length >= limit) isFull = true;
        const newline = bytes.indexOf(10, start);
        if (newline === -1 || isFull) break;
        keep(bytes.subarray(start, newline));
        closeLine();
        start = newline + 1;
      }
      if (isFull || binary) return "full";
      keep(bytes.subarray(start));
      return "more";
    },
    finish(): LineWindow {
      if (!isFull && lineBytes > 0) closeLine();
      return { lines, more: isFull, total: isFull ? undefined : number - 1 };
    },
  };
}
