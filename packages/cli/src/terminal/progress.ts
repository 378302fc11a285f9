import type { AgentEvent, InteractiveSession, ToolState } from "@outrider/runtime";
import { terminalText } from "./terminal-text.ts";

export type ProgressOptions = { readonly stream: NodeJS.WriteStream; readonly animated: boolean; readonly verbose: boolean };

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const tickMs = 100;
const toldTypes = ["retry.scheduled", "warning.raised", "session.started"] as const;
type ToldType = (typeof toldTypes)[number];

/** Tells a person at the terminal what is going on: a line per finished tool, and one moving line at the bottom. */
export function startProgress(session: InteractiveSession, options: ProgressOptions): { stop(): void } {
  const { stream } = options;
  const startedAt = Date.now();
  let tokens = 0;
  let frame = 0;
  let painted = false;
  let stopped = false;

  const clear = (): void => {
    if (painted) stream.write("\r\x1b[2K");
    painted = false;
  };
  const say = (line: string): void => {
    clear();
    stream.write(`${clip(terminalText(line).replaceAll("\n", " "), stream)}\n`);
  };
  const paint = (): void => {
    frame = (frame + 1) % frames.length;
    const elapsed = Math.round((Date.now() - startedAt) / 1000);
    const counted = tokens > 0 ? ` · ${formatCount(tokens)} tokens` : "";
    clear();
    stream.write(clip(`${frames[frame]} ${activity(session)} · ${elapsed} s${counted}`, stream));
    painted = true;
  };

  session.on("tool_end", (state) => say(toolLine(state)));
  session.on("context_update", (state) => {
    tokens = state.usedTokens;
  });
  void follow(session, (event) => {
    if (event.type === "retry.scheduled")
      say(
        `… trying again in ${Math.ceil(event.delayMs / 1000)} s (${event.attempt}/${event.maxRetries}): ${event.error.message}`,
      );
    if (event.type === "warning.raised") say(`! ${event.message}`);
    if (options.verbose && event.type === "session.started")
      say(`session ${event.sessionId} · ${event.model.id} · ${event.permissionMode}`);
  });
  const timer = options.animated ? setInterval(paint, tickMs) : undefined;
  timer?.unref();
  const stop = (): void => {
    if (stopped) return;
    stopped = true;
    clearInterval(timer);
    clear();
  };
  // Before the answer is printed: on a terminal it stands where the moving line was.
  session.on("thinking", (isThinking) => {
    if (!isThinking) stop();
  });
  return { stop };
}

/** Progress is a nicety: a reader that falls behind simply stops telling. */
async function follow(session: InteractiveSession, tell: (event: AgentEvent<ToldType>) => void): Promise<void> {
  try {
    for await (const event of session.events({ types: toldTypes })) tell(event);
  } catch {
    return;
  }
}

function activity(session: InteractiveSession): string {
  const running = session.getActiveTools();
  const [first] = running;
  if (!first) return session.getStreamingText() ? "answering" : "thinking";
  return running.length === 1 ? `${first.toolName} ${oneLine(first.firstArg)}` : `${running.length} tools`;
}

export function toolLine(state: ToolState): string {
  const mark = state.result === "success" ? "✓" : state.result === "denied" ? "⊘" : "✗";
  const note = state.result === "denied" ? " (not permitted)" : "";
  return `${mark} ${state.toolName} ${oneLine(state.firstArg)}${note}`;
}

/** What a model wrote must not move the cursor or rewrite what stands above. */
function oneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  return text.replace(/[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]+/g, " ").trim();
}

function clip(line: string, stream: NodeJS.WriteStream): string {
  const width = (stream.columns || 100) - 1;
  return line.length > width ? `${line.slice(0, width - 1)}…` : line;
}

function formatCount(count: number): string {
  return count < 1000 ? String(count) : `${(count / 1000).toFixed(1)}k`;
}
