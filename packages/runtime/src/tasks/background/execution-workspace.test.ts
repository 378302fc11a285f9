import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { BackgroundTaskState, BackgroundTaskStatus } from "../../protocol/background-task.ts";
import type { BackgroundJobGroupState } from "../../protocol/job-group.ts";
import { type ExecutionWorkspaceEntry, filterExecutionWorkspaceEntries } from "./execution-entries.ts";
import { type ExecutionOrigin, originToMetadata } from "./execution-origin.ts";
import { createExecutionWorkspaceSnapshot } from "./execution-workspace.ts";

const base: BackgroundTaskState = {
  ...{ id: "t1", kind: "process", label: "serve", status: "running", mode: "background", parentSessionId: "s", depth: 1 },
  ...{ cwd: "/", updatedAt: "2026-01-01T00:00:02.000Z", startedAt: "2026-01-01T00:00:01.000Z", unread: false },
};
const task = (more: Partial<BackgroundTaskState>): BackgroundTaskState => ({ ...base, ...more });

function shown(tasks: readonly BackgroundTaskState[], groups: readonly BackgroundJobGroupState[] = [], isActive = false) {
  return createExecutionWorkspaceSnapshot({ sessionId: "s", isActive, updatedAt: "", tasks, groups });
}

describe("the execution workspace", () => {
  const table: readonly (readonly [Partial<BackgroundTaskState>, string])[] = [
    [{ status: "queued" }, "queued none default select,cancel,wait"],
    [{ status: "running", logPath: "/l" }, "running none default select,cancel,send,read_log,wait"],
    [{ status: "running", kind: "scheduled" }, "running none default select,cancel,wait"],
    [{ status: "waiting_permission" }, "waiting_input permission default select,cancel,wait"],
    [{ status: "sleeping", kind: "scheduled" }, "sleeping none default select,cancel,wait"],
    [{ status: "completed", unread: true }, "completed unread default select,close"],
    [{ status: "completed" }, "completed completed collapsed select,close"],
    [{ status: "completed", worktreeStatus: "kept" }, "completed completed default select,close"],
    [
      { status: "completed", result: { taskId: "t1", kind: "process", output: "", exitCode: 1 } },
      "completed failed default select,close",
    ],
    [{ status: "failed", transcriptPath: "/t" }, "failed failed default select,read_log,close"],
    [{ status: "cancelled" }, "cancelled none default select,close"],
  ];
  for (const [state, expected] of table)
    it(`shows ${JSON.stringify(state)} as ${expected}`, () => {
      const entry = shown([task(state)]).entries[1];
      assert.equal([entry?.status, entry?.attention, entry?.visibility, entry?.controls.join(",")].join(" "), expected);
    });

  it("has the conversation first, then what began first, then by name; groups name their tasks' entries", () => {
    const group: BackgroundJobGroupState = {
      ...{ id: "group_1", parentSessionId: "s", waitPolicy: "wait_all", status: "running", taskIds: ["b"], results: [] },
      ...{ createdAt: "2026-01-01T00:00:00.500Z", updatedAt: "" },
    };
    const late = "2026-01-01T00:00:09.000Z";
    const waiting: BackgroundTaskState = { ...task({ id: "q", status: "queued" }) };
    delete (waiting as { startedAt?: string }).startedAt;
    const { entries } = shown([waiting, task({ id: "c", startedAt: late }), task({ id: "b" }), task({ id: "a" })], [group], true);
    assert.deepEqual(
      entries.map(({ id, groupId }) => [id, groupId]),
      [
        ["main", undefined],
        ["group:group_1", undefined],
        ["task:a", undefined],
        ["task:b", "group:group_1"],
        ["task:c", undefined],
        ["task:q", undefined],
      ],
    );
    assert.deepEqual([entries[0]?.status, entries[1]?.preview], ["active", "0 of 1 ended"]);
  });

  it("keeps where work came from with the task", () => {
    const origin: ExecutionOrigin = { kind: "slash_command", sessionId: "s", turnId: "t", commandName: "agent" };
    const [, entry] = shown([task({ metadata: { ...originToMetadata(origin), other: 1 } })]).entries;
    assert.deepEqual(entry?.origin, origin);
    assert.deepEqual(shown([task({})]).entries[1]?.origin, { kind: "system", sessionId: "s" });
  });

  it("lists by kind, visibility and attention", () => {
    const snapshot = shown([task({ id: "a", status: "failed" }), task({ id: "b", status: "completed" })]);
    const ids = (entries: readonly ExecutionWorkspaceEntry[]): string => entries.map(({ id }) => id).join();
    assert.equal(ids(filterExecutionWorkspaceEntries(snapshot)), "main,task:a,task:b");
    assert.equal(ids(filterExecutionWorkspaceEntries(snapshot, { kind: "background_task", visibility: "default" })), "task:a");
    assert.equal(ids(filterExecutionWorkspaceEntries(snapshot, { attention: "completed" })), "task:b");
  });

  it("holds for whatever tasks there are: main first, sorted, controls by status, nothing changed", () => {
    const statuses: BackgroundTaskStatus[] = [
      "queued",
      "running",
      "waiting_permission",
      "sleeping",
      "paused",
      "completed",
      "failed",
      "cancelled",
    ];
    const time = fc.integer({ min: 0, max: 5 }).map((second) => `2026-01-01T00:00:0${second}.000Z`);
    const tasks = fc.uniqueArray(
      fc.record({
        id: fc.string({ minLength: 1, maxLength: 3 }),
        status: fc.constantFrom(...statuses),
        startedAt: time,
        unread: fc.boolean(),
        label: fc.string(),
      }),
      { selector: ({ id }) => id, maxLength: 12 },
    );
    fc.assert(
      fc.property(tasks, fc.boolean(), (made, isActive) => {
        const states = made.map((one) => Object.freeze(task(one)));
        const before = JSON.stringify(states);
        const { entries } = shown(states, [], isActive);
        assert.equal(entries[0]?.kind, "main_thread");
        assert.equal(entries.length, states.length + 1);
        const rest = entries.slice(1);
        for (const [at, entry] of rest.entries()) {
          const next = rest[at + 1];
          if (next)
            assert.ok(`${entry.startedAt} ${entry.id}` <= `${next.startedAt} ${next.id}` || entry.startedAt !== next.startedAt);
          if (next) assert.ok((entry.startedAt ?? "") <= (next.startedAt ?? ""));
          const isOver = ["completed", "failed", "cancelled"].includes(entry.status);
          assert.equal(entry.controls.includes("close"), isOver);
          assert.equal(entry.controls.includes("cancel"), !isOver);
          if (entry.visibility === "collapsed") assert.ok(entry.status === "completed" && !entry.unread);
        }
        assert.equal(JSON.stringify(states), before);
      }),
      { numRuns: 10_000, seed: 15 },
    );
  });
});
