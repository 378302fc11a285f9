import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { BackgroundTaskResult } from "../../protocol/background-task.ts";
import { BackgroundTaskManager, type BackgroundTaskManagerOptions } from "./background-task-manager.ts";
import type { AgentTaskRequest, BackgroundTaskEvent, BackgroundTaskRunner, BackgroundTaskStart } from "./task-contract.ts";
import type { TaskClock } from "./task-watch.ts";

/** Time that goes on when it is told to. */
class ManualClock implements TaskClock {
  #now = 0;
  #timers: { at: number; callback: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#now + ms, callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  pass(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const next = this.#timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      this.#timers = this.#timers.filter((other) => other !== next);
      this.#now = next.at;
      next.callback();
    }
    this.#now = end;
  }
}

type Job = BackgroundTaskStart & {
  finish(output?: string): void;
  fail(error: Error): void;
  cancelled: string | undefined;
};

/** A runner whose tasks do what the test says. */
function setup(options: Partial<BackgroundTaskManagerOptions> = {}) {
  const jobs: Job[] = [];
  const clock = new ManualClock();
  const runner: BackgroundTaskRunner<AgentTaskRequest> = {
    kind: "agent",
    start(start) {
      let finish: Job["finish"] = () => {};
      let fail: Job["fail"] = () => {};
      const result = new Promise<BackgroundTaskResult>((resolve, reject) => {
        finish = (output = "done") => resolve({ taskId: start.taskId, kind: "agent", output });
        fail = reject;
      });
      const job: Job = { ...start, finish, fail, cancelled: undefined };
      jobs.push(job);
      return {
        result,
        async cancel(reason = "") {
          job.cancelled = reason;
        },
      };
    },
  };
  const manager = new BackgroundTaskManager({ runners: [runner], clock, ...options });
  const told: BackgroundTaskEvent[] = [];
  manager.subscribe((event) => told.push(event));
  return { manager, jobs, clock, told, types: () => told.map(({ type }) => type.replace("background_task_", "")) };
}

const request = (more: Partial<AgentTaskRequest> = {}): AgentTaskRequest => ({
  ...{ kind: "agent", label: "look", mode: "background", parentSessionId: "s", depth: 1, cwd: "/", agentType: "general-purpose" },
  ...{ prompt: "Look.", permissionPolicy: "inherit-allowlist" },
  ...more,
});
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const at = <T>(list: readonly T[], index: number): T => list[index] ?? assert.fail(`nothing at ${index}`);

describe("BackgroundTaskManager", () => {
  it("tells a task from its making to its end", async () => {
    const { manager, jobs, types } = setup();
    const { id, status } = await manager.spawn(request());
    assert.deepEqual([id, status], ["task_1", "running"]);
    at(jobs, 0).finish("found");
    assert.equal((await manager.wait(id)).output, "found");
    assert.deepEqual(types(), ["created", "started", "completed"]);
    const state = manager.get(id);
    assert.deepEqual([state?.status, state?.unread, state?.promptPreview], ["completed", true, "Look."]);
    manager.markRead(id);
    assert.equal(manager.get(id)?.unread, false);
  });

  it("goes on whatever a listener throws, and warns of it once", async (t) => {
    const { manager, jobs, types } = setup({ maxConcurrent: 1 });
    const warn = t.mock.method(process, "emitWarning", () => {});
    manager.subscribe(({ type }) => {
      throw new Error(`no ${type}`);
    });
    manager.subscribe(async () => await Promise.reject(new Error("late")));
    const [first, second] = [await manager.spawn(request()), await manager.spawn(request())];
    at(jobs, 0).finish("one");
    assert.equal((await manager.wait(first.id)).output, "one");
    await settled();
    at(jobs, 1).finish("two");
    assert.equal((await manager.wait(second.id)).output, "two");
    assert.deepEqual(types(), ["created", "started", "created", "completed", "started", "completed"]);
    const warned = warn.mock.calls.map(({ arguments: [message] }) => String(message).split("\n")[0]);
    assert.deepEqual(warned, [
      'A listener of "BackgroundTaskManager" has thrown: Error: no background_task_created',
      'A listener of "BackgroundTaskManager" has thrown: Error: late',
    ]);
  });

  it("runs so many at once and the others in their order", async () => {
    const { manager, jobs } = setup({ maxConcurrent: 2 });
    for (const label of ["a", "b", "c", "d"]) await manager.spawn(request({ label }));
    const statuses = () => manager.list().map(({ status }) => status);
    assert.deepEqual(statuses(), ["running", "running", "queued", "queued"]);
    at(jobs, 1).finish();
    await settled();
    assert.deepEqual(statuses(), ["running", "completed", "running", "queued"]);
    at(jobs, 0).fail(new Error("no"));
    await settled();
    assert.deepEqual(
      jobs.map(({ request: { label } }) => label),
      ["a", "b", "c", "d"],
    );
    assert.deepEqual(
      manager.list({ status: "failed" }).map(({ error }) => error),
      [{ category: "runner", message: "no", recoverable: false }],
    );
  });

  it("has room for a thousand that wait, and ends all of them", async () => {
    const { manager, jobs, told } = setup({ maxConcurrent: 1 });
    for (let count = 0; count < 1_000; count++) await manager.spawn(request());
    await manager.shutdown();
    assert.deepEqual([jobs.length, manager.list({ status: "cancelled" }).length], [1, 1_000]);
    assert.equal(told.filter(({ type }) => type === "background_task_cancelled").length, 1_000);
    await assert.rejects(manager.spawn(request()), { category: "runner" });
  });

  it("refuses what is too deep, and what nobody can run", async () => {
    const { manager } = setup();
    await assert.rejects(manager.spawn(request({ depth: 2 })), { category: "capacity" });
    const scheduled = { ...request(), kind: "scheduled" as const, cronExpression: "* * * * *" };
    await assert.rejects(manager.spawn(scheduled), { category: "validation" });
  });

  it("never starts what was cancelled while it waited, and lets go of what runs", async () => {
    const { manager, jobs } = setup({ maxConcurrent: 1 });
    await manager.spawn(request());
    const waiting = await manager.spawn(request());
    await manager.cancel(waiting.id, "not wanted");
    await manager.cancel("task_1", "enough");
    await settled();
    assert.deepEqual([jobs.length, jobs[0]?.cancelled], [1, "enough"]);
    await assert.rejects(manager.wait(waiting.id), { message: "not wanted" });
  });

  it("lets go of a task that was cancelled while it was being started, and is not done before", async () => {
    const said: string[] = [];
    const runner: BackgroundTaskRunner<AgentTaskRequest> = {
      kind: "agent",
      start: ({ signal }) =>
        new Promise((resolve) => {
          const cancel = async (reason = ""): Promise<void> => void said.push(reason);
          signal.addEventListener("abort", () => setImmediate(() => resolve({ result: new Promise(() => {}), cancel })));
        }),
    };
    const manager = new BackgroundTaskManager({ runners: [runner] });
    const spawning = manager.spawn(request());
    await settled();
    await manager.cancel("task_1", "changed my mind");
    assert.deepEqual([manager.get("task_1")?.status, said], ["cancelled", ["changed my mind"]]);
    await spawning;
    const other = manager.spawn(request());
    await settled();
    await manager.shutdown("closing");
    await other;
    assert.deepEqual([manager.get("task_2")?.status, said], ["cancelled", ["changed my mind", "closing"]]);
  });

  it("starts nothing before what it is about to do is on record", async () => {
    const { manager, jobs } = setup({ recorded: () => Promise.reject(new Error("disk full")) });
    const { status } = await manager.spawn(request());
    assert.deepEqual([status, jobs.length], ["failed", 0]);
  });

  it("forgets only what has ended", async () => {
    const { manager, jobs, types } = setup();
    await manager.spawn(request());
    assert.throws(() => manager.close("task_1"), { message: "Cannot close active background task" });
    at(jobs, 0).finish();
    await manager.wait("task_1");
    manager.close("task_1");
    assert.deepEqual([manager.get("task_1"), types().at(-1)], [undefined, "closed"]);
    assert.throws(() => manager.close("task_1"), { message: "Unknown background task: task_1" });
  });

  it("waits for permission as long as it takes, and goes on or fails with the answer", async () => {
    const { manager, jobs, clock } = setup();
    for (const isAllowed of [true, false]) {
      const { id } = await manager.spawn(request());
      const ask = { type: "background_task_permission_request", requestId: "r", toolName: "Write" } as const;
      at(jobs, jobs.length - 1).emit(ask);
      clock.pass(1_000_000);
      assert.equal(manager.get(id)?.status, "waiting_permission");
      manager.answerPermission(id, "r", isAllowed);
      assert.equal(manager.get(id)?.status, isAllowed ? "running" : "failed");
    }
    assert.throws(() => manager.answerPermission("task_1", "r", true), { category: "validation" });
  });

  it("waits for the answers to all its questions, each by its own name", async () => {
    const { manager, jobs, told } = setup();
    const { id } = await manager.spawn(request());
    for (const requestId of ["one", "two"])
      at(jobs, 0).emit({ type: "background_task_permission_request", requestId, toolName: "Write" });
    manager.answerPermission(id, "one", true);
    assert.equal(manager.get(id)?.status, "waiting_permission");
    for (const answered of ["one", "three"])
      assert.throws(() => manager.answerPermission(id, answered, true), { category: "validation" });
    manager.answerPermission(id, "two", true);
    assert.equal(manager.get(id)?.status, "running");
    const asked = told.flatMap((event) => ("requestId" in event ? [`${event.type.slice(27)} ${event.requestId}`] : []));
    assert.deepEqual(asked, ["request one", "request two", "resolved one", "resolved two"]);
  });

  it("goes on when its runner was given the answer, also where that says nothing of it", async () => {
    const answers: unknown[] = [];
    const runner: BackgroundTaskRunner<AgentTaskRequest> = {
      kind: "agent",
      start({ emit }) {
        emit({ type: "background_task_permission_request", requestId: "r", toolName: "Write" });
        const answerPermission = (...answer: unknown[]): void => void answers.push(answer);
        return { result: new Promise(() => {}), cancel: async () => {}, answerPermission };
      },
    };
    const clock = new ManualClock();
    const manager = new BackgroundTaskManager({ runners: [runner], clock });
    const { id } = await manager.spawn(request());
    clock.pass(1_000_000); // it asked before it had begun: its silence is not its own
    manager.answerPermission(id, "r", false);
    assert.deepEqual([manager.get(id)?.status, answers], ["running", [["r", false]]]);
    clock.pass(240_000);
    assert.equal(manager.get(id)?.timeoutReason, "idle");
  });

  it("fails a task whose runner answers what is no result", async () => {
    for (const answer of [undefined, { taskId: "t", kind: "agent", output: "x", metadata: { call: () => {} } }]) {
      const result = Promise.resolve(answer as unknown as BackgroundTaskResult);
      const runner = { kind: "agent", start: () => ({ result, cancel: async () => {} }) } as const;
      const manager = new BackgroundTaskManager({ runners: [runner] });
      await assert.rejects(
        manager.spawn(request()).then(({ id }) => manager.wait(id)),
        { category: "runner" },
      );
    }
  });

  it("tells what a task does, with its id, and nothing after its end", async () => {
    const { manager, jobs, told } = setup();
    const { id } = await manager.spawn(request());
    const { emit, finish } = at(jobs, 0);
    emit({ type: "background_task_tool_start", toolName: "Read", firstArg: "a.ts" });
    assert.equal(manager.get(id)?.currentAction, "Read a.ts");
    emit({ type: "background_task_tool_end", toolName: "Read", success: true });
    assert.equal(manager.get(id)?.currentAction, undefined);
    emit({ type: "background_task_tool_end", toolName: "Read", success: false, error: "gone" });
    assert.equal(manager.get(id)?.currentAction, "gone");
    emit({ type: "background_task_text_delta", delta: "Hm." });
    assert.deepEqual(told.at(-1), { type: "background_task_text_delta", delta: "Hm.", taskId: id });
    finish();
    await manager.wait(id);
    const count = told.length;
    emit({ type: "background_task_text_delta", delta: "late" });
    assert.equal(told.length, count);
  });

  it("gives nobody a way to change a task by its state", async () => {
    const { manager } = setup();
    const state = await manager.spawn(request({ metadata: { origin: "test" } }));
    assert.throws(() => Object.assign(state, { status: "completed" }), TypeError);
    assert.throws(() => Object.assign(state.metadata ?? {}, { origin: "x" }), TypeError);
  });

  it("fails a task that is woken by its own failure", async () => {
    const { manager, jobs } = setup();
    const { id } = await manager.spawn(request());
    at(jobs, 0).emit({ type: "background_task_sleeping" });
    assert.equal(manager.get(id)?.status, "sleeping");
    at(jobs, 0).fail(new Error("died asleep"));
    await assert.rejects(manager.wait(id), { message: "died asleep" });
  });

  it("lists ten thousand that have ended in no time", async () => {
    const { manager, jobs } = setup({ maxConcurrent: 10_000 });
    for (let count = 0; count < 10_000; count++) {
      await manager.spawn(request());
      at(jobs, count).finish();
    }
    await settled();
    const took = (): number => {
      const before = performance.now();
      assert.equal(manager.list().length, 10_000);
      assert.equal(manager.list({ status: "running" }).length, 0);
      return performance.now() - before;
    };
    assert.ok(Math.min(...Array.from({ length: 20 }, took)) < 50); // the machine may be busy with something else
  });
});

describe("the watch over a task", () => {
  const say = (job: Job, delta: string): void => job.emit({ type: "background_task_text_delta", delta });

  it("ends one of which nothing is heard for 240 seconds", async () => {
    const { manager, jobs, clock } = setup();
    const { id } = await manager.spawn(request());
    clock.pass(239_000);
    say(at(jobs, 0), "still here");
    clock.pass(239_999);
    assert.equal(manager.get(id)?.status, "running");
    clock.pass(1);
    const { status, timeoutReason, error } = manager.get(id) ?? {};
    assert.deepEqual([status, timeoutReason, error?.category], ["failed", "idle", "timeout"]);
    assert.equal(jobs[0]?.cancelled !== undefined, true);
  });

  it("ends one that runs too long, whatever it says", async () => {
    const { manager, jobs, clock } = setup();
    const { id } = await manager.spawn(request({ maxRuntimeMs: 10_000 }));
    for (let second = 0; second < 10; second++) {
      clock.pass(1_000);
      say(at(jobs, 0), "work");
    }
    assert.equal(manager.get(id)?.timeoutReason, "max_runtime");
  });

  const cases: readonly [string, string[], string | undefined][] = [
    ["256,000 bytes are let through", ["x".repeat(256_000)], undefined],
    ["256,001 bytes end it", ["x".repeat(256_000), "x"], "output_limit"],
    ["20,001 pieces end it", Array(20_001).fill("x"), "output_limit"],
    ["the rules of a table do not end it", Array(100).fill("|"), undefined],
    ["equal rows of a table do not end it", Array(100).fill("| --- | --- | --- |\n"), undefined],
    ["closing braces and short words do not end it", Array(40).fill("}\nDone.\n"), undefined],
    ["a sentence said seven times does not end it", Array(7).fill("Let me try that again. "), undefined],
    ["a sentence said eight times ends it", Array(8).fill("Let me try that again. "), "repetition"],
    ["the same in single letters ends it", [..."Let me try that again. ".repeat(8)], "repetition"],
    ["a long sentence said eight times ends it", Array(8).fill(`${"I will now look at the file ".repeat(10)}.\n`), "repetition"],
    ["many different sentences do not", Array.from({ length: 500 }, (_, at) => `This is sentence number ${at}. `), undefined],
  ];
  for (const [name, deltas, reason] of cases)
    it(name, async () => {
      const { manager, jobs } = setup();
      const { id } = await manager.spawn(request());
      for (const delta of deltas) say(at(jobs, 0), delta);
      assert.equal(manager.get(id)?.timeoutReason, reason);
    });
});
