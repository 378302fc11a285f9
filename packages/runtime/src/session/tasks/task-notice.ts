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

type DueNotice = {
  readonly taskId: string;
  readonly label: string;
  /** Milliseconds since 1970. */
  readonly dueAt: number;
  readonly missed: number;
  readonly instruction: string;
};

/** What the model is told when the time of a schedule has come. */
export function toDueNotice({ taskId, label, dueAt, missed, instruction }: DueNotice): string {
  const times = missed === 1 ? "once" : `${missed} times`;
  const late = missed > 0 ? `; it was missed ${times} before` : "";
  const summary = `The schedule ${JSON.stringify(label)} was due at ${new Date(dueAt).toISOString()}${late}`;
  return [...head(taskId), "<status>due</status>", `<summary>${plain(summary)}</summary>`, foot, plain(instruction)].join("\n");
}

/** What the model is told of lines it waits for, while the program goes on. */
export function toLinesNotice(taskId: string, lines: readonly string[], instruction: string | undefined): string {
  const summary = `It printed ${lines.length === 1 ? "a line" : `${lines.length} lines`} that you wait for`;
  return [
    ...[...head(taskId), "<status>running</status>", `<summary>${summary}</summary>`],
    ...["<event>", ...lines.map(plain), "</event>", foot],
    ...(instruction === undefined ? [] : [plain(instruction)]),
  ].join("\n");
}

/** What the model is told when lines it waits for cannot be looked for. */
export function toUnwatchedNotice(taskId: string, why: string): string {
  const summary = `Its lines are watched no longer: ${why}`;
  return [...head(taskId), "<status>running</status>", `<summary>${plain(summary)}</summary>`, foot].join("\n");
}

const foot = "</task-notification>";
const head = (taskId: string): string[] => ["<task-notification>", `<task-id>${taskId}</task-id>`];

/** For people and models, in one sentence. */
export function summaryOf({ kind, label, status, result, error, timeoutReason }: BackgroundTaskState): string {
  const name = `${names[kind]} ${JSON.stringify(label)}`;
  const exitCode = result?.exitCode;
  if (status === "completed") return exitCode === undefined ? `${name} completed` : `${name} completed (exit code ${exitCode})`;
  if (status === "cancelled") return `${name} was stopped: ${error?.message ?? "nobody said why"}`;
  if (timeoutReason === undefined && exitCode !== undefined) return `${name} failed with exit code ${exitCode}`;
  return `${name} failed: ${error?.message ?? "nobody knows why"}`;
}

const names = { agent: "The agent", process: "Background command", scheduled: "The schedule" };

/** What a task says cannot end the notice about it, nor pass for words of ours. */
function plain(text: string): string {
  return text.replace(/<(\/?)(?=task-notification|result|summary|event|status|task-id|system-reminder)/gi, "&lt;$1");
}
