import type { OutputFormat } from "@outrider/runtime/host";
import { Narrator, toCount } from "./narrator.ts";
import { createPaint } from "./paint.ts";
import { createStatusLine } from "./status-line.ts";
import { clip } from "./text-width.ts";

export type ProgressOptions = {
  readonly stream: NodeJS.WriteStream;
  /** The last line moves. */
  readonly animated: boolean;
  readonly coloured: boolean;
  readonly verbose: boolean;
};

export interface Progress {
  /** The same output: what happens is told before it says anything, and the moving line is gone when it does. */
  watch(format: OutputFormat): OutputFormat;
  stop(): void;
}

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const tickMs = 100;
const usualColumns = 100;

/** Tells a person at the terminal what is going on, and what just now in one moving line at the bottom. */
export function startProgress({ stream, animated, coloured, verbose }: ProgressOptions): Progress {
  const columns = (): number => stream.columns || usualColumns;
  const narrator = new Narrator({ paint: createPaint(coloured), columns, verbose });
  const startedAt = Date.now();
  let tokens = 0;
  let frame = 0;
  let stopped = false;
  const line = createStatusLine(stream, columns);
  const say = (lines: readonly string[]): void => {
    if (lines.length === 0) return;
    line.clear();
    stream.write(lines.map((said) => `${said}\n`).join(""));
  };
  const paint = (): void => {
    frame = (frame + 1) % frames.length;
    const elapsed = Math.round((Date.now() - startedAt) / 1000);
    const counted = tokens > 0 ? ` · ${toCount(tokens)} tokens` : "";
    const about = clip(narrator.activity, Math.max(10, columns() - 24));
    line.paint(`${frames[frame]} ${about} · ${elapsed} s${counted}`);
  };
  const timer = animated ? setInterval(paint, tickMs) : undefined;
  timer?.unref();
  const stop = (): void => {
    if (stopped) return;
    stopped = true;
    clearInterval(timer);
    line.clear();
  };
  return {
    watch: (format) => ({
      ...format,
      event(event) {
        if (event.type === "context.updated" && event.taskId === undefined) tokens = event.usedTokens;
        if (!stopped) say(narrator.apply(event));
        return format.event(event);
      },
      async end(outcome) {
        stop();
        return await format.end(outcome);
      },
    }),
    stop,
  };
}
