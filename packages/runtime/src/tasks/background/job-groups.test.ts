import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { BackgroundTaskState, BackgroundTaskStatus } from "../../protocol/background-task.ts";
import type { BackgroundJobGroupState, BackgroundJobWaitPolicy } from "../../protocol/job-group.ts";
import { summarizeBackgroundJobGroup } from "./group-summary.ts";
import { BackgroundJobOrchestrator } from "./job-groups.ts";
import type { BackgroundTaskEvent } from "./task-contract.ts";

/** A registry that says of its tasks what the test wants. */
function registry() {
  const states = new Map<string, BackgroundTaskState>();
  const listeners = new Set<(event: BackgroundTaskEvent) => void>();
  const tell = (event: BackgroundTaskEvent): void => {
    for (const listener of listeners) listener(event);
  };
  const set = (id: string, status: BackgroundTaskStatus, more: Partial<BackgroundTaskState> = {}): void => {
    const base = { kind: "process", label: `job ${id}`, mode: "background", parentSessionId: "s", depth: 1, cwd: "/" } as const;
    const task: BackgroundTaskState = { ...base, id, status, updatedAt: "", unread: false, ...more };
    states.set(id, task);
    tell({ type: "background_task_updated", task });
  };
  return {
    set,
    close(id: string) {
      states.delete(id);
      tell({ type: "background_task_closed", taskId: id });
    },
    tasks: {
      get: (id: string) => states.get(id),
      subscribe(listener: (event: BackgroundTaskEvent) => void) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    get listeners() {
      return listeners.size;
    },
  };
}

function scene(...ids: string[]) {
  const { set, close, tasks, ...rest } = registry();
  for (const id of ids) set(id, "running");
  const orchestrator = new BackgroundJobOrchestrator({ tasks, now: () => 0 });
  const events: string[] = [];
  orchestrator.subscribe(({ type, group }) => events.push(`${type.slice(21)} ${group.results.length}/${group.taskIds.length}`));
  const create = (waitPolicy: BackgroundJobWaitPolicy, taskIds: readonly string[] = ids): BackgroundJobGroupState =>
    orchestrator.createGroup({ parentSessionId: "s", waitPolicy, taskIds });
  return { set, close, orchestrator, events, create, rest };
}

describe("a group of background tasks", () => {
  for (const policy of ["wait_all", "detached"] as const)
    it(`is over with the last of its tasks: ${policy}`, async () => {
      const { set, orchestrator, events, create } = scene("a", "b");
      const { id } = create(policy);
      const waited = orchestrator.waitGroup(id);
      set("b", "failed", { error: { category: "process", message: "exit 1", recoverable: false } });
      set("a", "waiting_permission");
      set("a", "completed", { result: { taskId: "a", kind: "process", output: "fine\n" }, logPath: "/log/a" });
      assert.deepEqual(events, ["created 0/2", "updated 1/2", "completed 2/2"]);
      const { lines, ...counts } = summarizeBackgroundJobGroup(await waited);
      assert.deepEqual(counts, {
        groupId: "group_1",
        status: "completed",
        total: 2,
        completed: 1,
        failed: 1,
        cancelled: 0,
        pending: 0,
      });
      assert.deepEqual(lines, ["[completed] job a a: fine (output: /log/a)", "[failed] job b b: exit 1"]);
    });

  it("is over with the first of its tasks: wait_any", async () => {
    const { set, orchestrator, create } = scene("a", "b");
    const { id } = create("wait_any");
    set("b", "cancelled");
    const { pending, cancelled } = summarizeBackgroundJobGroup(await orchestrator.waitGroup(id));
    assert.deepEqual([pending, cancelled], [1, 1]);
    set("a", "completed");
    assert.equal(orchestrator.getGroup(id)?.results.length, 1, "what is over does not change");
  });

  it("is over when somebody says so: manual", async () => {
    const { set, orchestrator, events, create } = scene("a");
    const { id } = create("manual");
    set("a", "completed");
    assert.equal(orchestrator.getGroup(id)?.status, "running");
    assert.equal(orchestrator.completeGroup(id).status, "completed");
    orchestrator.completeGroup(id);
    assert.deepEqual(events, ["created 0/1", "updated 1/1", "completed 1/1"]);
  });

  it("of nothing is over at once, and none of nothing cannot be waited for", () => {
    const { create, orchestrator } = scene();
    assert.equal(orchestrator.getGroup(create("wait_all").id)?.status, "completed");
    assert.throws(() => create("wait_any"), /wait_any needs at least one task/);
  });

  it("of tasks that have ended is over at once; a task named twice counts once", () => {
    const { set, create, orchestrator } = scene("a");
    set("a", "completed");
    const { id } = create("wait_all", ["a", "a"]);
    const group = orchestrator.getGroup(id);
    assert.deepEqual([group?.status, group?.taskIds], ["completed", ["a"]]);
  });

  it("is refused for tasks and groups that nobody knows", async () => {
    const { create, orchestrator } = scene("a");
    assert.throws(() => create("wait_all", ["a", "x", "y"]), /Unknown background task: x, y/);
    await assert.rejects(orchestrator.waitGroup("group_9"), /^BackgroundTaskError: Unknown background job group: group_9$/);
    assert.throws(() => orchestrator.completeGroup("group_9"), /Unknown background job group: group_9/);
  });

  it("keeps what it was told of a task that is closed, and shortens long outputs", () => {
    const { set, close, create, orchestrator } = scene("a", "b");
    const { id } = create("wait_all");
    set("a", "completed", { result: { taskId: "a", kind: "agent", output: "x".repeat(2000) } });
    close("a");
    assert.deepEqual(
      orchestrator.getGroup(id)?.results.map(({ taskId, summary }) => [taskId, summary]),
      [["a", `${"x".repeat(1000)}...`]],
    );
  });

  it("of an earlier process comes to its end although its tasks are gone, and new names go on after its", async () => {
    const { orchestrator, create, events } = scene("a");
    const state = {
      parentSessionId: "s",
      waitPolicy: "wait_all",
      taskIds: ["gone"],
      results: [],
      createdAt: "",
      updatedAt: "",
    } as const;
    orchestrator.restoreGroup({ ...state, id: "group_7", status: "running" });
    const { results, status } = await orchestrator.waitGroup("group_7");
    assert.deepEqual([status, results[0]?.status, results[0]?.error?.category], ["completed", "failed", "crash"]);
    assert.deepEqual(events, ["completed 1/1"]);
    assert.equal(create("manual").id, "group_8");
    orchestrator.restoreGroup({ ...state, id: "group_3", status: "completed" });
    assert.equal((await orchestrator.waitGroup("group_3")).results.length, 0);
  });

  it("cannot be changed by whoever was given it, and hears nothing more once closed", () => {
    const { create, orchestrator, set, rest } = scene("a");
    const group = create("wait_all");
    assert.throws(() => (group.taskIds as string[]).push("b"), TypeError);
    assert.throws(() => ((group as { status: string }).status = "completed"), TypeError);
    orchestrator.close();
    set("a", "completed");
    assert.equal(orchestrator.getGroup(group.id)?.status, "running");
    assert.equal(rest.listeners, 0);
  });
});
