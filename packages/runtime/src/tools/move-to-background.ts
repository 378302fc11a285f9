import type { OutputChunk, RunCommand, RunResult } from "../workspace/workspace.ts";
import type { BashInput } from "./builtin/bash.ts";
import { startInBackground } from "./run-in-background.ts";
import type { ToolContext, ToolOutput } from "./tool.ts";

export type MovedRun = { readonly end: "moved"; readonly answer: ToolOutput };

/** Of what it printed before: enough to know what it is about. */
const keptBytes = 1024 * 1024;

/** Runs a command to its end; one that takes longer than its limit becomes a task, with what it has printed so far. */
export async function runMovable(
  { timeoutMs, signal, input: _, ...command }: RunCommand,
  input: BashInput,
  context: ToolContext,
): Promise<RunResult | MovedRun> {
  let earlier: OutputChunk[] = [];
  let bytes = 0;
  let tell = (chunk: OutputChunk): void | Promise<void> => {
    earlier.push(chunk);
    bytes += chunk.bytes.length;
    while (bytes > keptBytes && earlier.length > 1) bytes -= earlier.shift()?.bytes.length ?? 0;
    return command.onOutput?.(chunk);
  };
  const process = await context.workspace.start({ ...command, onOutput: (chunk) => tell(chunk) });
  const onAbort = (): void => void process.kill();
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<"late">((resolve) => {
    timer = setTimeout(() => resolve("late"), timeoutMs);
  });
  const first = await Promise.race([process.ended, late]).finally(() => {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  });
  if (first !== "late") return first;
  const { timeout: __, ...asked } = input;
  const answer = await startInBackground(asked, {
    ...{ context, directory: command.cwd ?? context.workspace.root, script: "", env: {} },
    notices: [`The command takes longer than ${timeoutMs} ms, and goes on in the background.`],
    drop: () => void process.kill(),
    adopt: async ({ onOutput }) => {
      const before = earlier;
      earlier = [];
      tell = onOutput;
      for (const chunk of before) await onOutput(chunk);
      return process;
    },
  });
  return { end: "moved", answer };
}
