import type { SessionDeps, TurnDeps } from "../../engine/deps.ts";
import { useTool } from "../../engine/use-tool.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import { BackgroundTaskError } from "../../tasks/background/task-error.ts";
import type { BackgroundTasks } from "../../tasks/task.ts";
import { taskInputTool } from "../../tools/builtin/task-tools.ts";
import { ToolFailure } from "../../tools/tool.ts";

type InputDeps = SessionDeps &
  Pick<TurnDeps, "emit" | "flush" | "signal"> & { readonly background: () => Promise<BackgroundTasks> };

/** Somebody beside the model writes to a command: rules, mode, hooks, questions and the audit log are the same for both. */
export async function writeInput(
  { taskId, input }: { readonly taskId: string; readonly input: string },
  { background, ...deps }: InputDeps,
): Promise<void> {
  const { name } = taskInputTool;
  const start = (): never => {
    throw new ToolFailure("No agent is started here");
  };
  const own = { ...deps, tools: new Map([...deps.tools, [name, taskInputTool]]), tasks: { start, background } };
  const { status, text, reason } = await useTool(own, name, { task_id: taskId, input });
  if (status === "ok") return;
  if (status === "denied")
    throw new RuntimeError("usage", `Nothing was written to ${taskId}: ${reason ?? text}`, {
      hint: "A rule that allows it for TaskInput or Bash, an answer to the permission question, or another mode lets it be written",
    });
  throw new BackgroundTaskError("process", text);
}
