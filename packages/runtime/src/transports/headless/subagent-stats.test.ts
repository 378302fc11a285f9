import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AgentEvent } from "../../protocol/events.ts";
import { SubagentStats } from "./subagent-stats.ts";

const event = (body: object): AgentEvent => ({ seq: 1, at: "", sessionId: "s", ...body }) as AgentEvent; // as far as the counts read it
const asks = (callId: string, input: object): AgentEvent =>
  event({ type: "message.ended", message: { role: "assistant", content: [{ type: "tool-call", callId, name: "Task", input }] } });
const starts = (callId: string, more: object = {}): AgentEvent =>
  event({ type: "task.started", callId, taskId: `t-${callId}`, agent: "helper", ...more });
const ends = (callId: string, type: string): AgentEvent =>
  event({ type: "task.ended", callId, taskId: `t-${callId}`, outcome: { type } });
const over = (status: string, more: object = {}): AgentEvent =>
  event({ type: "background.ended", task: { kind: "agent", status }, ...more });

describe("counts of subagents", () => {
  it("tell how each was asked for, where it worked and how it ended", () => {
    const stats = new SubagentStats();
    const background = { background: true };
    const told = [
      asks("1", { run_in_background: true }),
      starts("1", background),
      ends("1", "completed"),
      over("completed"),
      asks("2", { run_in_background: false }),
      starts("2"),
      ends("2", "failed"),
      asks("3", {}),
      starts("3", { agent: "other" }),
      ends("3", "cancelled"),
      starts("4", background),
      over("cancelled", { by: "model" }),
      ends("4", "cancelled"),
      starts("5", background),
      over("cancelled", { by: "run" }),
      ends("5", "cancelled"),
      starts("6", background),
      ends("6", "stopped"),
      over("failed"),
      event({ type: "background.ended", task: { kind: "process", status: "completed" } }),
    ];
    for (const one of told) stats.apply(one);
    assert.deepEqual(stats.fields, {
      spawned: 6,
      requested: { background: 1, foreground: 1, unset: 4 },
      started_in_background: 4,
      max_depth: 1,
      spawned_by_subagents: 0,
      completed: 1,
      failed: 2,
      killed: { parent: 1, user: 1, system: 1 },
      refused: { depth_limit: 0, concurrency_limit: 0, budget: 0 },
      by_type: { helper: 5, other: 1 },
    });
  });

  it("know how one was asked for that had to wait until its call was answered", () => {
    const stats = new SubagentStats();
    const answered = event({ type: "tool.ended", callId: "1", name: "Task", status: "ok" });
    for (const one of [asks("1", { run_in_background: true }), answered, starts("1", { background: true })]) stats.apply(one);
    assert.deepEqual(stats.fields["requested"], { background: 1, foreground: 0, unset: 0 });
  });

  it("are all zero where there was none", () => {
    const { spawned, max_depth, by_type } = new SubagentStats().fields;
    assert.deepEqual({ spawned, max_depth, by_type }, { spawned: 0, max_depth: 0, by_type: {} });
  });
});
