import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toStoredEvents } from "../../journal/stored-events.ts";
import type { BackgroundTaskState } from "../../protocol/background-task.ts";
import { noUsage, userText } from "../../protocol/content.ts";
import type { AgentEvent, EventBody } from "../../protocol/events.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import { lastNumber, recoverTasks } from "./recover-tasks.ts";

const at = "2026-11-17T00:00:00.000Z";
const restart = "2026-11-17T01:00:00.000Z";

/** A journal that was cut off behind these. */
function journal(...bodies: EventBody[]) {
  return toStoredEvents(bodies.map((body, index): AgentEvent => ({ ...body, seq: index + 1, at, sessionId: "s" })));
}

function task(id: string, change: Partial<BackgroundTaskState> = {}): BackgroundTaskState {
  const kind = id.startsWith("agent") ? "agent" : "process";
  const fields = { id, kind, label: id, mode: "background", parentSessionId: "s", depth: 1, cwd: "/", updatedAt: at } as const;
  return { ...fields, status: "running", unread: false, ...change };
}

const created = (id: string, change?: Partial<BackgroundTaskState>): EventBody => ({
  type: "background.created",
  task: task(id, change),
});
const ended = (id: string): EventBody => ({ type: "background.ended", task: task(id, { status: "completed", unread: true }) });
const agentEnded = (taskId: string, outcome: Outcome): EventBody => ({
  ...{ type: "task.ended", taskId, callId: "c", outcome, usage: { ...noUsage }, modelCalls: 2, durationMs: 7 },
});
const short = ({ id, status, timeoutReason, result, error }: BackgroundTaskState) =>
  [id, status, timeoutReason ?? result?.output ?? error?.message].filter(Boolean).join(" ");

describe("what a killed process leaves of its tasks", () => {
  it("is an end the model was not told, and none that a turn or its input tells", () => {
    const told: EventBody[] = [
      { type: "turn.started", input: userText("go"), tasks: ["process_1"] },
      { type: "input.added", input: userText("and"), origin: "task", tasks: ["process_2"] },
    ];
    const ends = [ended("process_1"), ended("process_2"), ended("process_3")];
    const past = journal(created("process_1"), created("process_2"), created("process_3"), ...ends, ...told);
    const { untold, ended: stale, asleep } = recoverTasks(past, restart);
    assert.deepEqual([untold.map(short), stale, asleep], [["process_3 completed"], [], []]);
  });

  it("is stale, but for an agent whose end is on record: that ended as it did", () => {
    const past = journal(
      ...["agent_1", "agent_2", "agent_3", "process_4"].map((id) => created(id)),
      agentEnded("agent_1", { type: "completed", text: "Seven." }),
      agentEnded("agent_2", { type: "failed", text: "", error: { code: "provider-auth", message: "No key", retryable: false } }),
    );
    const { ended: over, untold } = recoverTasks(past, restart);
    assert.deepEqual(over.map(short), [
      "agent_1 completed Seven.",
      "agent_2 failed The subagent failed: No key (provider-auth). It had said nothing yet.",
      "agent_3 failed stale_worker",
      "process_4 failed stale_worker",
    ]);
    assert.deepEqual(
      over.map(({ unread, completedAt }) => [unread, completedAt]),
      [at, at, restart, restart].map((when) => [true, when]),
    );
    assert.deepEqual(untold, []);
  });

  it("is stale where the agent had gone on since that end", () => {
    const first = [created("agent_1"), agentEnded("agent_1", { type: "completed", text: "Seven." }), ended("agent_1")];
    const past = journal(...first, { type: "background.closed", id: "agent_1" }, created("agent_1"));
    assert.deepEqual(recoverTasks(past, restart).ended.map(short), ["agent_1 failed stale_worker"]);
  });

  it("is looked for only behind the place where nothing was open: what was over by then stays over", () => {
    const over: EventBody = { type: "background.ended", task: task("process_1", { status: "completed" }), idle: true };
    const marked: EventBody = { type: "background.updated", task: task("process_2", { status: "completed" }), idle: true };
    const early = [created("process_1"), over, created("process_2"), ended("process_2"), marked];
    const late = [created("process_3"), ended("process_3"), created("process_4")];
    const { untold, ended: stale } = recoverTasks(journal(...early, ...late), restart);
    assert.deepEqual([untold.map(short), stale.map(short)], [["process_3 completed"], ["process_4 failed stale_worker"]]);
    assert.deepEqual(recoverTasks(journal(...early), restart), { untold: [], ended: [], asleep: [] });
  });

  it("is a schedule that goes on; what had come and was not told of comes again, what was told of does not", () => {
    const once = { cronExpression: "0 9 * * *", recurring: false };
    const schedule = (id: string, change: Partial<BackgroundTaskState>): BackgroundTaskState =>
      task(id, { kind: "scheduled", schedule: { cronExpression: "every 10m" }, ...change });
    const due = "2026-11-17T00:30:00.000Z";
    const hadCome = (id: string, change: Partial<BackgroundTaskState> = {}): EventBody[] => [
      { type: "background.created", task: schedule(id, { ...change, status: "queued" }) },
      { type: "background.started", task: schedule(id, change) },
      { type: "background.updated", task: schedule(id, { ...change, status: "sleeping", nextFireAt: due }) },
      { type: "background.updated", task: schedule(id, change) },
    ];
    const past = journal(
      ...[...hadCome("scheduled_1"), ...hadCome("scheduled_2"), ...hadCome("scheduled_3", { schedule: once })],
      ...[...hadCome("scheduled_4", { schedule: once }), ...hadCome("scheduled_5")],
      { type: "background.started", task: schedule("scheduled_6", { schedule: once }) },
      { type: "turn.started", input: userText("due"), tasks: ["scheduled_2", "scheduled_4"] },
      created("process_7", { parentTaskId: "scheduled_5", status: "completed" }),
    );
    const { asleep, ended: over } = recoverTasks(past, restart);
    assert.deepEqual(
      asleep.map(({ id, nextFireAt }) => [id, nextFireAt]),
      [
        ["scheduled_1", due],
        ["scheduled_2", undefined],
        ["scheduled_3", due],
        ["scheduled_5", undefined],
        ["scheduled_6", undefined],
      ],
    );
    assert.deepEqual(over.map(short), ["scheduled_4 completed It came once"]);
    assert.deepEqual(
      over.map(({ unread }) => unread),
      [false],
    );
  });

  it("are names that nothing else gets, also where an earlier agent went on last", () => {
    const goesOn = created("agent_1", { metadata: { agentId: "agent_1" } });
    assert.equal(lastNumber(journal(created("agent_1"), created("process_2"), goesOn)), 2);
  });
});
