import type { BackgroundTaskState } from "../protocol/background-task.ts";
import type { BackgroundTasks, TaskNews, TaskWait } from "../tasks/task.ts";
import type { TaskOutputInput } from "./builtin/task-tools.ts";
import { createLineTest, isExpression } from "./line-test.ts";
import { toTerminalText } from "./terminal-text.ts";
import { taskInputsOf, type TaskText } from "./task-inputs.ts";
import { type ToolContext, ToolFailure, type ToolOutput } from "./tool.ts";

const defaultWaitMs = 30_000;

export async function showTaskOutput(
  { task_id: id, block = true, timeout = defaultWaitMs, until = "end", filter }: TaskOutputInput,
  { signal }: ToolContext,
  tasks: BackgroundTasks,
): Promise<ToolOutput> {
  const shows = filter === undefined ? undefined : createLineTest(filter, "filter");
  const news = await tasks.news(id, { until: block ? toWait(until) : "now", timeoutMs: timeout, signal });
  if (news.because === "aborted") throw new ToolFailure(`Interrupted while waiting for ${id}, which goes on.`);
  const text = toTerminalText(news.text).replace(/\n+$/, "");
  const lines = shows ? shows(text.split("\n")) : undefined;
  const shown = lines ? lines.join("\n") : text;
  const odd = [until, filter].filter((pattern) => pattern !== undefined && !isExpression(pattern));
  const notes = odd.map((pattern) => `(${JSON.stringify(pattern)} is no regular expression: it was looked for as it is.)`);
  const whole = [
    ...notes,
    headOf(news, { timeout, isWaiting: block, isEmpty: shown === "" }),
    ...(shown === "" ? [] : [shown]),
  ].join("\n");
  return { content: [{ type: "text", text: whole }] };
}

export async function writeToTask(piece: TaskText, { memory }: ToolContext, tasks: BackgroundTasks): Promise<ToolOutput> {
  const { task_id: id, input } = piece;
  if (!(await taskInputsOf(memory).write(piece, () => tasks.send(id, input))))
    throw new ToolFailure(`Not written: something else was written to ${id} meanwhile. Write it again if it still fits.`);
  return { content: [{ type: "text", text: `Written to ${id}. TaskOutput shows what it answers.` }] };
}

export async function stopTask(named: string, tasks: BackgroundTasks): Promise<ToolOutput> {
  const before = tasks.get(named);
  const { id } = before;
  const task = await tasks.stop(id, "The model stopped it");
  const words =
    before.completedAt === undefined
      ? `${id} was stopped, with every process it had started.`
      : `${id} had ended already: ${howIs(task)}.`;
  return { content: [{ type: "text", text: words }] };
}

function toWait(until: string): TaskWait["until"] {
  if (until === "end" || until === "output") return until;
  const matching = createLineTest(until, "until");
  return (lines) => matching(lines).length > 0;
}

function headOf(
  { task, because, omittedBytes }: TaskNews,
  { timeout, isWaiting, isEmpty }: { readonly timeout: number; readonly isWaiting: boolean; readonly isEmpty: boolean },
): string {
  const waited = isWaiting && because === "timeout" ? ` after waiting ${timeout} ms` : "";
  const where = task.logPath === undefined ? "" : `; all of it is in ${task.logPath}`;
  const left = omittedBytes > 0 ? ` The first ${omittedBytes} bytes of it are left out${where}.` : "";
  return `${task.id} ${howIs(task)}${waited}.${isEmpty ? " It printed nothing new." : ` New output:${left}`}`;
}

function howIs(task: BackgroundTaskState): string {
  const { status, startedAt, completedAt, result, error, timeoutReason } = task;
  const end = completedAt === undefined ? Date.now() : Date.parse(completedAt);
  const seconds = startedAt === undefined ? 0 : Math.max(0, Math.round((end - Date.parse(startedAt)) / 100) / 10);
  switch (status) {
    case "queued":
      return "waits for others to end";
    case "completed":
      return `completed after ${seconds} s${result?.exitCode === undefined ? "" : ` with exit code ${result.exitCode}`}`;
    case "failed":
      return result?.exitCode !== undefined && timeoutReason === undefined
        ? `failed after ${seconds} s with exit code ${result.exitCode}`
        : `failed after ${seconds} s: ${error?.message ?? "nobody knows why"}`;
    case "cancelled":
      return `was stopped after ${seconds} s: ${error?.message ?? "nobody said why"}`;
    case "waiting_permission":
      return `has waited for a permission since it began ${seconds} s ago`;
    case "sleeping":
      return `sleeps until ${task.nextFireAt ?? "its time"}`;
    case "paused":
      return "is paused";
    default:
      return `has been running for ${seconds} s`;
  }
}
