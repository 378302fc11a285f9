import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BackgroundTaskManager } from "../background/background-task-manager.ts";
import type { BackgroundTaskRunner, ProcessTaskRequest, ScheduledTaskRequest } from "../background/task-contract.ts";
import type { TaskClock } from "../background/task-watch.ts";
import { nextRunOf } from "./next-run.ts";
import { createScheduledTaskRunner, type ScheduledFiring } from "./scheduled-runner.ts";

const start = Date.parse("2026-03-01T00:00:30.000Z");

/** A clock that goes where the test says; timers ring in their order. */
function handClock(): TaskClock & { goTo(time: string): Promise<void>; jumpTo(time: string): Promise<void>; timers: number } {
  let now = start;
  let timers: { at: number; callback: () => void }[] = [];
  const ring = async (until: number): Promise<void> => {
    for (;;) {
      const next = timers.filter(({ at }) => at <= until).toSorted((one, other) => one.at - other.at)[0];
      if (!next) return;
      timers = timers.filter((timer) => timer !== next);
      now = Math.max(now, next.at);
      next.callback();
      for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    }
  };
  return {
    now: () => now,
    after(ms, callback) {
      const timer = { at: now + ms, callback };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    async goTo(time) {
      await ring(Date.parse(time));
      now = Date.parse(time);
    },
    /** As a machine that slept: what was due rings when it is over. */
    async jumpTo(time) {
      now = Date.parse(time);
      await ring(now);
    },
    get timers() {
      return timers.length;
    },
  };
}

function scene(fire: (firing: ScheduledFiring) => Promise<void> | void = () => {}) {
  const clock = handClock();
  const fired: string[] = [];
  const runner = createScheduledTaskRunner({
    clock,
    fire(firing) {
      fired.push(`${new Date(clock.now()).toISOString().slice(11, 16)}${firing.missed > 0 ? ` missed ${firing.missed}` : ""}`);
      return fire(firing);
    },
  });
  const idle: BackgroundTaskRunner<ProcessTaskRequest> = {
    kind: "process",
    start: () => ({ result: new Promise(() => {}), cancel: async () => {} }),
  };
  const manager = new BackgroundTaskManager({ runners: [runner, idle], clock, maxConcurrent: 1 });
  const request = (more: Partial<ScheduledTaskRequest> = {}): ScheduledTaskRequest => ({
    ...{ kind: "scheduled", label: "tick", mode: "background", parentSessionId: "s", depth: 1, cwd: "/" },
    ...{ cronExpression: "*/5 * * * *", agentInstruction: "look", ...more },
  });
  return { clock, fired, manager, request };
}

describe("when a schedule comes next", () => {
  const table: readonly (readonly [string, string | undefined])[] = [
    ["*/5 * * * *", "2026-03-01T00:05:00.000Z"],
    ["0 12 * * 1", "2026-03-02T12:00:00.000Z"],
    ["0 0 29 2 *", "2028-02-29T00:00:00.000Z"],
    ["@hourly", "2026-03-01T01:00:00.000Z"],
    ["*/10 * * * * *", "2026-03-01T00:00:40.000Z"],
    ["every 90s", "2026-03-01T00:02:00.000Z"],
    ["every 2 h", "2026-03-01T02:00:30.000Z"],
    ["every 0.001s", "2026-03-01T00:00:31.000Z"],
    ["2020-01-01T00:00:00", undefined],
    ["0 0 30 2 *", undefined],
    ["0 0 31 * *", "2026-03-31T00:00:00.000Z"],
    ["0 0 L 2 *", "2027-02-28T00:00:00.000Z"],
    ["2026-03-01T02:00:00+01:00", "2026-03-01T01:00:00.000Z"],
    ["2026-03-01T02:00:00", "2026-03-01T02:00:00.000Z"],
  ];
  for (const [expression, expected] of table)
    it(`${expression}: ${expected ?? "never"}`, () => {
      const next = nextRunOf(expression, start);
      const local =
        expected === undefined ||
        expression.startsWith("every") ||
        expression.startsWith("*") ||
        expression === "@hourly" ||
        expression.includes("+");
      const offset = local ? 0 : new Date(start).getTimezoneOffset() * 60_000;
      assert.equal(next, expected === undefined ? undefined : Date.parse(expected) + offset);
    });

  for (const wrong of [
    "",
    "often",
    "* * *",
    "61 * * * *",
    "every day",
    "every 5 weeks",
    "every 999999999999d",
    "2026-13-45T00:00:00Z",
  ])
    it(`${JSON.stringify(wrong)} is no schedule`, () => {
      assert.throws(() => nextRunOf(wrong, start), /is no schedule .*: five fields of cron, or every 10m/);
    });
});

describe("a scheduled task", () => {
  it("sleeps, comes, and sleeps again until it is cancelled; asleep it keeps nobody from running", async () => {
    const { clock, fired, manager, request } = scene();
    const { id, status, nextFireAt } = await manager.spawn(request());
    assert.deepEqual([status, nextFireAt], ["sleeping", "2026-03-01T00:05:00.000Z"]);
    const other = await manager.spawn({ ...request(), kind: "process", command: "sleep" });
    assert.equal(other.status, "running");
    await clock.goTo("2026-03-01T00:11:00.000Z");
    assert.deepEqual(fired, ["00:05", "00:10"]);
    assert.deepEqual([manager.get(id)?.status, manager.get(id)?.nextFireAt], ["sleeping", "2026-03-01T00:15:00.000Z"]);
    await manager.cancel(id);
    await clock.goTo("2026-03-01T00:30:00.000Z");
    assert.deepEqual([fired.length, manager.get(id)?.status, clock.timers], [2, "cancelled", 0]);
  });

  it("that comes once has then ended", async () => {
    const { clock, fired, manager, request } = scene();
    const { id } = await manager.spawn(request({ recurring: false }));
    await clock.goTo("2026-03-01T01:00:00.000Z");
    assert.deepEqual([fired, manager.get(id)?.status], [["00:05"], "completed"]);
  });

  it("tells how often it was missed while the machine slept, and comes once", async () => {
    const { clock, fired, manager, request } = scene();
    await manager.spawn(request());
    await clock.jumpTo("2026-03-01T00:21:00.000Z");
    assert.deepEqual(fired, ["00:21 missed 3"]);
    await clock.goTo("2026-03-01T00:25:00.000Z");
    assert.equal(fired[1], "00:25");
  });

  it("does not come while it is paused", async () => {
    const { clock, fired, manager, request } = scene();
    const { id } = await manager.spawn(request());
    manager.pause(id);
    await clock.goTo("2026-03-01T00:12:00.000Z");
    assert.deepEqual([fired, manager.get(id)?.status], [[], "paused"]);
    manager.resume(id);
    await clock.goTo("2026-03-01T00:16:00.000Z");
    assert.deepEqual([fired, manager.get(id)?.status], [["00:15"], "sleeping"]);
    assert.throws(() => manager.resume(id), /Invalid background task transition: sleeping \+ RESUME/);
  });

  it("that is paused while it does something sleeps only when it is resumed", async () => {
    let release = (): void => {};
    const { clock, manager, request } = scene(() => new Promise((resolve) => (release = resolve)));
    const { id } = await manager.spawn(request());
    await clock.goTo("2026-03-01T00:05:00.000Z");
    assert.equal(manager.get(id)?.status, "running");
    manager.pause(id);
    release();
    await clock.goTo("2026-03-01T00:06:00.000Z");
    assert.equal(manager.get(id)?.status, "paused");
    manager.resume(id);
    assert.deepEqual([manager.get(id)?.status, clock.timers], ["sleeping", 1]);
  });

  it("that is paused while it does something leaves its place to others, and comes once though resumed before that is done", async () => {
    let release = (): void => {};
    const { clock, fired, manager, request } = scene(() => new Promise((resolve) => (release = resolve)));
    const { id } = await manager.spawn(request());
    await clock.goTo("2026-03-01T00:05:00.000Z");
    const waiting = await manager.spawn({ ...request(), kind: "process", command: "sleep" });
    assert.equal(waiting.status, "queued");
    manager.pause(id);
    assert.equal(manager.get(waiting.id)?.status, "running");
    manager.resume(id);
    release();
    await clock.goTo("2026-03-01T00:06:00.000Z");
    assert.deepEqual([manager.get(id)?.status, clock.timers], ["sleeping", 1]);
    await clock.goTo("2026-03-01T00:10:00.000Z");
    assert.deepEqual(fired, ["00:05", "00:10"]);
  });

  it("says when it comes next after it was resumed, and nothing while it is paused", async () => {
    const { clock, manager, request } = scene();
    const { id } = await manager.spawn(request());
    manager.pause(id);
    assert.equal(manager.get(id)?.nextFireAt, undefined);
    await clock.goTo("2026-03-01T00:12:00.000Z");
    manager.resume(id);
    assert.equal(manager.get(id)?.nextFireAt, "2026-03-01T00:15:00.000Z");
  });

  it("whose only time was over while it was paused has ended when it is resumed", async () => {
    const { clock, fired, manager, request } = scene();
    const { id } = await manager.spawn(request({ cronExpression: "2026-03-01T00:05:00Z" }));
    assert.equal(manager.get(id)?.schedule?.recurring, false);
    manager.pause(id);
    await clock.goTo("2026-03-01T00:12:00.000Z");
    manager.resume(id);
    const { output } = await manager.wait(id);
    assert.deepEqual([fired, manager.get(id)?.status, output], [[], "completed", "It came 0 times"]);
  });

  it("may be ended by a limit while it sleeps", async () => {
    const { clock, manager, request } = scene();
    const { id } = await manager.spawn(request({ cronExpression: "@daily", maxRuntimeMs: 60_000, idleTimeoutMs: 30_000 }));
    await clock.goTo("2026-03-01T00:10:00.000Z");
    assert.deepEqual([manager.get(id)?.status, manager.get(id)?.timeoutReason], ["failed", "max_runtime"]);
  });

  it("of an earlier process keeps the time it had, and is told what it missed", async () => {
    const rearmed = async (cronExpression: string, nextFireAt: string) => {
      const { clock, fired, manager, request } = scene();
      const state = await manager.spawn(request({ cronExpression }));
      await manager.cancel(state.id);
      manager.close(state.id);
      await manager.rearm({ ...state, nextFireAt });
      await clock.goTo("2026-03-01T01:30:00.000Z");
      return fired;
    };
    assert.deepEqual(await rearmed("every 1h", "2026-03-01T00:10:00.000Z"), ["00:10", "01:10"]);
    assert.deepEqual(await rearmed("every 1h", "2026-02-28T23:30:30.000Z"), ["01:00 missed 1"]);
    assert.deepEqual(await rearmed("2026-02-28T23:30:00Z", "2026-02-28T23:30:00.000Z"), ["00:00"]);
  });

  it("that fails at its work has failed, and what is no schedule never begins", async () => {
    const { clock, manager, request } = scene(() => Promise.reject(new Error("nobody there")));
    const { id } = await manager.spawn(request());
    await clock.goTo("2026-03-01T00:05:00.000Z");
    assert.deepEqual([manager.get(id)?.status, manager.get(id)?.error?.message], ["failed", "nobody there"]);
    const wrong = await manager.spawn(request({ cronExpression: "often" }));
    assert.deepEqual([wrong.status, wrong.error?.category], ["failed", "validation"]);
  });
});
