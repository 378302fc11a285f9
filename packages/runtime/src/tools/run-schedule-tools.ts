import type { BackgroundTaskState } from "../protocol/background-task.ts";
import type { JsonObject } from "../protocol/content.ts";
import type { BackgroundTasks } from "../tasks/task.ts";
import type { CronCreateInput, WakeupInput } from "./builtin/schedule-tools.ts";
import { type ToolContext, ToolFailure, type ToolOutput } from "./tool.ts";

/** What a wake-up is known by among schedules. */
const wakeUp = "wake-up";
const wakeUpMark = "wakeUp";

export async function createCron({ cron, prompt, recurring = true }: CronCreateInput, context: ToolContext): Promise<ToolOutput> {
  const tasks = await backgroundOf(context);
  const label = firstLine(prompt);
  const spec = { callId: context.callId, label, cronExpression: cron, recurring, instruction: prompt };
  const task = await tasks.schedule({ ...spec, cwd: context.workspace.root });
  const { id, nextFireAt, schedule } = task;
  const words = `Planned as ${id}; it comes ${schedule?.recurring ? "next" : "once"} at ${nextFireAt ?? "no known time"}.`;
  const { cron: _, prompt: __, ...told } = toJob(task);
  return say(words, told);
}

export async function listCrons(context: ToolContext): Promise<ToolOutput> {
  const planned = open(await backgroundOf(context));
  const words = planned.length === 0 ? "Nothing is planned." : planned.map(lineOf).join("\n");
  return say(words, { jobs: planned.map(toJob) });
}

export async function deleteCron(id: string, context: ToolContext): Promise<ToolOutput> {
  const tasks = await backgroundOf(context);
  const planned = open(tasks);
  if (!planned.some((task) => task.id === id)) {
    const there = planned.length === 0 ? "Nothing is planned." : `There are: ${planned.map((task) => task.id).join(", ")}.`;
    throw new ToolFailure(`${JSON.stringify(id)} is not planned. ${there}`);
  }
  await tasks.stop(id, "The model ended it");
  return say(`${id} does not come any more.`, { id });
}

export async function scheduleWakeup(input: WakeupInput, context: ToolContext): Promise<ToolOutput> {
  const { delaySeconds, reason, prompt, stop = false } = input;
  const tasks = await backgroundOf(context);
  if (stop) {
    const waiting = open(tasks).filter(isWakeUp);
    await Promise.all(waiting.map(({ id }) => tasks.stop(id, "The model took it back")));
    return say(waiting.length === 0 ? "No wake-up was planned." : `Taken back: ${waiting.map(({ id }) => id).join(", ")}.`);
  }
  if (delaySeconds === undefined) throw new ToolFailure("delaySeconds says when: it is missing.");
  const at = new Date(Date.now() + delaySeconds * 1000).toISOString();
  const spec = { callId: context.callId, label: reason?.trim() || wakeUp, cronExpression: at, recurring: false };
  const instruction = prompt ?? `You wanted to be woken now${reason === undefined ? "" : `: ${reason}`}.`;
  const more = { instruction, cwd: context.workspace.root, metadata: { [wakeUpMark]: true } };
  const { id } = await tasks.schedule({ ...spec, ...more });
  return say(`You are woken at ${at} as ${id}. End your turn.`);
}

function open(tasks: BackgroundTasks): BackgroundTaskState[] {
  return tasks.list().filter(({ kind, completedAt }) => kind === "scheduled" && completedAt === undefined);
}

/** And none that CronCreate planned for a moment. */
function isWakeUp({ metadata }: BackgroundTaskState): boolean {
  return metadata?.[wakeUpMark] === true;
}

function lineOf({ id, schedule, status, nextFireAt }: BackgroundTaskState): string {
  const when = status === "paused" ? "is paused" : nextFireAt === undefined ? "is due now" : `comes next at ${nextFireAt}`;
  const how = schedule?.recurring === false ? "once" : schedule?.cronExpression;
  return `${id} (${how}) ${when}: ${firstLine(schedule?.agentInstruction ?? schedule?.command ?? "")}`;
}

function firstLine(text: string): string {
  const [line = ""] = text.trim().split("\n");
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}

/** As programs know planned prompts from Claude Code. They are kept with the session. */
function toJob({ id, schedule, nextFireAt }: BackgroundTaskState): JsonObject {
  const { cronExpression: cron = "", agentInstruction: prompt = "", recurring = true } = schedule ?? {};
  const when = nextFireAt === undefined ? {} : { nextFireAt: Date.parse(nextFireAt) };
  return { id, cron, humanSchedule: cron, prompt, recurring, durable: true, ...when };
}

function say(text: string, told?: JsonObject): ToolOutput {
  return { content: [{ type: "text", text }], ...(told && { details: { told } }) };
}

async function backgroundOf({ tasks }: ToolContext): Promise<BackgroundTasks> {
  if (!tasks?.background) throw new ToolFailure("Nothing can be planned here.");
  return await tasks.background();
}
