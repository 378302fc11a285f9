import type { BackgroundTaskState } from "../../protocol/background-task.ts";

/** What the model is told when tasks have ended: what each was, and how it went. What a program printed is for a tool to show. */
export function toNotice(tasks: readonly BackgroundTaskState[]): string {
  return tasks.map(noticeOf).join("\n");
}

function noticeOf(task: BackgroundTaskState): string {
  const { id, metadata, logPath, status, kind } = task;
  const callId = metadata?.["callId"];
  return [
    "<task-notification>",
    `<task-id>${id}</task-id>`,
    ...(typeof callId === "string" ? [`<tool-use-id>${callId}</tool-use-id>`] : []),
    ...(kind !== "scheduled" && logPath !== undefined ? [`<output-file>${logPath}</output-file>`] : []),
    `<status>${status === "cancelled" ? "stopped" : status}</status>`,
    `<summary>${plain(summaryOf(task))}</summary>`,
    ...(kind === "agent" ? agentLines(task) : []),
    "</task-notification>",
  ].join("\n");
}

function agentLines({ result }: BackgroundTaskState): string[] {
  return [
    "<note>SendMessage tells this agent more: it goes on with all it knows, and its end is told again.</note>",
    ...(result?.output ? [`<result>${plain(result.output)}</result>`] : []),
  ];
}

/** For people and models, in one sentence. */
export function summaryOf({ kind, label, status, result, error, timeoutReason }: BackgroundTaskState): string {
  const name = `${kind === "agent" ? "The agent" : "Background command"} ${JSON.stringify(label)}`;
  const exitCode = result?.exitCode;
  if (status === "completed") return exitCode === undefined ? `${name} completed` : `${name} completed (exit code ${exitCode})`;
  if (status === "cancelled") return `${name} was stopped: ${error?.message ?? "nobody said why"}`;
  if (timeoutReason === undefined && exitCode !== undefined) return `${name} failed with exit code ${exitCode}`;
  return `${name} failed: ${error?.message ?? "nobody knows why"}`;
}

/** What a task says cannot end the notice about it. */
function plain(text: string): string {
  return text.replace(/<(\/?)(?=task-notification|result|summary)/gi, "&lt;$1");
}
