import type { BackgroundTaskState } from "../protocol/background-task.ts";
import type { ProcessSpec } from "../tasks/task.ts";
import { type ToolContext, ToolFailure, type ToolOutput } from "./tool.ts";

export type BackgroundCommand = {
  readonly context: ToolContext;
  readonly directory: string;
  /** What bash is to run. */
  readonly script: string;
  readonly env: Readonly<Record<string, string>>;
  readonly notices: readonly string[];
  /** It runs already. */
  readonly adopt?: ProcessSpec["start"] | undefined;
  /** Ends what runs already, where it is not adopted. */
  readonly drop?: ProcessSpec["drop"];
};

/** Starts a command that goes on after its call, where and as the call was allowed to run it. */
export async function startInBackground(
  { command, description, timeout }: { readonly command: string; readonly description?: string; readonly timeout?: number },
  { context, directory, script, env, notices, adopt, drop }: BackgroundCommand,
): Promise<ToolOutput> {
  const { workspace, callId, tasks } = context;
  if (!tasks?.background)
    throw new ToolFailure("Nothing can run in the background here. Run the command without run_in_background.");
  const background = await tasks.background();
  const task = await background.startProcess({
    callId,
    command,
    label: description?.trim() || firstLine(command),
    cwd: directory,
    maxRuntimeMs: timeout,
    drop,
    start: (hooks) =>
      adopt?.(hooks) ??
      workspace.start({
        ...{ file: "bash", args: ["-c", script], cwd: directory, env: { ...env, PWD: directory } },
        ownTemporary: true,
        ...hooks,
      }),
  });
  if (task.status === "failed")
    throw new ToolFailure(`The command could not be started: ${task.error?.message ?? "nobody knows why"}`);
  const words = howItIs(task, adopt !== undefined);
  const how = `TaskOutput with task_id ${JSON.stringify(task.id)} shows what it prints, and can wait for it.`;
  return {
    content: [{ type: "text", text: [...notices, `${words} ${how}`].join("\n") }],
    details: { backgroundTaskId: task.id },
  };
}

function howItIs({ id, status }: BackgroundTaskState, runsAlready: boolean): string {
  if (status !== "queued") return `The command runs in the background as the task ${id}. You are told when it ends.`;
  return runsAlready
    ? `It is the task ${id}: what it prints can be seen when one of the others has ended, of which there are too many. You are told when it ends.`
    : `The command waits as the task ${id}: too many others run. It begins when one of them ends.`;
}

function firstLine(command: string): string {
  const [line = ""] = command.trim().split("\n");
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}
