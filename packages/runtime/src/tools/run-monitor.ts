import { isAbsolute, join } from "node:path";
import { commandScript, unattended } from "./run-bash.ts";
import type { MonitorInput } from "./builtin/monitor.ts";
import { isExpression } from "./line-test.ts";
import { type ToolContext, ToolFailure, type ToolOutput } from "./tool.ts";
import { placeIn } from "./working-directory.ts";

const defaultMs = 300_000;
/** Every line that is not empty. */
const anyLine = ".";

/** Starts something that watches, and wakes the model by what it prints. */
export async function startMonitor(
  { description, command, path, pattern, timeout_ms: maxRuntimeMs = defaultMs }: MonitorInput,
  context: ToolContext,
): Promise<ToolOutput> {
  const { workspace, callId, tasks, memory } = context;
  if (!tasks?.background) throw new ToolFailure("Nothing can be watched here.");
  if (pattern !== undefined && !isExpression(pattern))
    throw new ToolFailure(`${JSON.stringify(pattern)} is no regular expression, so that nothing would ever match.`);
  const background = await tasks.background();
  const cwd = placeIn(memory, workspace).directory;
  const base = { callId, label: description.trim() || "watch", cwd, maxRuntimeMs, matchPattern: pattern ?? anyLine };
  if (path !== undefined && !workspace.watch) throw new ToolFailure("Files cannot be watched here; watch them with a command.");
  const script = command === undefined ? "" : await commandScript(command, context);
  const watched = path === undefined ? "" : await workspace.resolve(isAbsolute(path) ? path : join(cwd, path));
  const task = await background.startProcess({
    ...base,
    command: command ?? `watch ${watched}`,
    start: async (hooks) =>
      command === undefined && workspace.watch
        ? await workspace.watch(watched, hooks.onOutput)
        : await workspace.start({
            ...{ file: "bash", args: ["-c", script], cwd, env: { ...unattended, PWD: cwd } },
            ownTemporary: true,
            ...hooks,
          }),
  });
  if (task.status === "failed") throw new ToolFailure(`It cannot be watched: ${task.error?.message ?? "nobody knows why"}`);
  const what = command === undefined ? `changes of ${watched}` : "what it prints";
  return {
    content: [
      {
        type: "text",
        text: `${task.id} watches. You are told of ${what} for ${maxRuntimeMs / 1000} s; go on, or end your turn.`,
      },
    ],
    details: { backgroundTaskId: task.id, told: { taskId: task.id, timeoutMs: maxRuntimeMs, persistent: false } },
  };
}
