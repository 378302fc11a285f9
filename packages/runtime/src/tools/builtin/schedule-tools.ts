import { defineTool, type Tool } from "../tool.ts";
import { scheduleFacts } from "./facts.ts";

export type CronCreateInput = { cron: string; prompt: string; recurring?: boolean };
export type CronDeleteInput = { id: string };
export type WakeupInput = { delaySeconds?: number; reason?: string; prompt?: string; stop?: boolean };

const nothing = async (): Promise<{ kind: "note"; resources: [] }> => ({ kind: "note", resources: [] });

/** For sessions that stay open: what the model wants to be told later. */
export function createScheduleTools(): Tool[] {
  return [cronCreateTool, cronListTool, cronDeleteTool, scheduleWakeupTool];
}

const cronCreateTool = defineTool<CronCreateInput>({
  name: "CronCreate",
  description: [
    "Plans a prompt that you are given later, again and again or once. It comes when nothing else runs, as long as the session is open;",
    "what was missed is told with it. CronList shows what is planned, CronDelete ends it.",
  ].join(" "),
  inputSchema: {
    type: "object",
    properties: {
      cron: {
        type: "string",
        minLength: 1,
        description: "Five fields of cron in local time (0 9 * * 1-5), every 10m, or a moment such as 2026-11-16T18:30:00Z",
      },
      prompt: { type: "string", minLength: 1, description: "What you are told to do then" },
      recurring: { type: "boolean", description: "false: it comes once" },
    },
    required: ["cron", "prompt"],
    additionalProperties: false,
  },
  forgives: { names: { schedule: "cron", expression: "cron", instruction: "prompt" }, needed: [] },
  concurrent: true,
  facts: scheduleFacts,
  access: nothing,
  async execute(input, context) {
    return await (await import("../run-schedule-tools.ts")).createCron(input, context);
  },
});

const cronListTool = defineTool<Record<string, never>>({
  name: "CronList",
  description: "Lists what is planned with CronCreate and ScheduleWakeup: its id, when it comes next, and its prompt.",
  inputSchema: { type: "object", properties: {}, additionalProperties: false },
  concurrent: true,
  facts: scheduleFacts,
  access: nothing,
  async execute(_, context) {
    return await (await import("../run-schedule-tools.ts")).listCrons(context);
  },
});

const cronDeleteTool = defineTool<CronDeleteInput>({
  name: "CronDelete",
  description: "Ends what was planned with CronCreate.",
  inputSchema: {
    type: "object",
    properties: { id: { type: "string", minLength: 1, description: "As CronCreate answered it" } },
    required: ["id"],
    additionalProperties: false,
  },
  forgives: { names: { task_id: "id", cron_id: "id" }, needed: [] },
  concurrent: true,
  facts: scheduleFacts,
  access: nothing,
  async execute({ id }, context) {
    return await (await import("../run-schedule-tools.ts")).deleteCron(id, context);
  },
});

const scheduleWakeupTool = defineTool<WakeupInput>({
  name: "ScheduleWakeup",
  description:
    "Wakes you once after a time, to look again at something that takes long. End your turn after it. You are told when background tasks end: do not wait for those with it.",
  inputSchema: {
    type: "object",
    properties: {
      delaySeconds: { type: "number", minimum: 1, maximum: 3600, description: "How long from now; at most an hour" },
      reason: { type: "string", description: "Why, in a few words" },
      prompt: { type: "string", description: "What you are told to do then" },
      stop: { type: "boolean", description: "true: take back every wake-up that has not come" },
    },
    additionalProperties: false,
  },
  forgives: { names: { delay_seconds: "delaySeconds", seconds: "delaySeconds" }, needed: [] },
  concurrent: true,
  facts: scheduleFacts,
  access: nothing,
  async execute(input, context) {
    return await (await import("../run-schedule-tools.ts")).scheduleWakeup(input, context);
  },
});
