import assert from "node:assert/strict";
import type { JsonValue } from "@outrider/runtime";
import type { DurableBackend, DurableContext, DurableRun } from "./durable.ts";

/** How a test gets at a backend. All backends that a harness opens share what is kept. */
export interface DurableHarness {
  /** A worker that knows these runs. */
  open(runs: readonly DurableRun[]): Promise<DurableBackend>;
  /** The worker dies now: nothing it does from here on is kept, nothing is said to anybody. What it kept stays. */
  kill(backend: DurableBackend): Promise<void>;
}

export type DurableCase = { readonly name: string; run(harness: DurableHarness): Promise<void> };

/** What every backend must do. `kill` takes the place of a process that dies; run ids are new in every case. */
export const durableConformance: readonly DurableCase[] = [
  {
    name: "keeps the result of a step, and answers a run that has ended with what it ended with",
    async run(harness) {
      const counts = new Counts();
      const run = define("sum", async (context, input) => {
        const one = await context.step("one", async () => counts.add("one"));
        const two = await context.step("two", async () => counts.add("two"));
        return { input, one, two };
      });
      const id = runId();
      const first = await harness.open([run]);
      const ended = { input: { a: [1, "x", null] }, one: 1, two: 1 };
      assert.deepEqual(await first.run(run, id, { a: [1, "x", null] }), ended);
      await first.close();
      const second = await harness.open([run]);
      assert.deepEqual(await second.run(run, id, { a: [1, "x", null] }), ended);
      assert.deepEqual(counts.all, { one: 1, two: 1 });
      await second.close();
    },
  },
  {
    name: "repeats only the step in flight after a worker died, with the same key and a higher attempt",
    async run(harness) {
      const counts = new Counts();
      const keys: string[] = [];
      const attempts: number[] = [];
      const reached = new Gate();
      let dies = true;
      const run = define("killed", async (context) => {
        await context.step("before", async () => counts.add("before"));
        await context.step("middle", async ({ idempotencyKey, attempt }) => {
          keys.push(idempotencyKey);
          attempts.push(attempt);
          counts.add("middle");
          if (dies) {
            reached.open();
            return await never();
          }
          return "done";
        });
        return await context.step("after", async () => counts.add("after"));
      });
      const id = runId();
      const first = await harness.open([run]);
      void first.run(run, id, null).catch(() => {});
      await reached.opened;
      await harness.kill(first);
      dies = false;
      const second = await harness.open([run]);
      assert.equal(await second.run(run, id, null), 1);
      assert.deepEqual(counts.all, { before: 1, middle: 2, after: 1 });
      assert.equal(new Set(keys).size, 1);
      assert.ok((attempts[1] ?? 0) > (attempts[0] ?? 0), `attempts ${attempts}`);
      await second.close();
    },
  },
  {
    name: "tells that the outcome of a step of policy `fail` is unknown, and does not run it again",
    async run(harness) {
      const counts = new Counts();
      const reached = new Gate();
      const pay = async (): Promise<JsonValue> => {
        counts.add("pay");
        reached.open();
        return await never();
      };
      const run = define("unknown", async (context) => {
        try {
          await context.step("pay", pay, { policy: "fail" });
          return "paid";
        } catch (error) {
          return `${Object(error).failure?.name ?? Object(error).name}`;
        }
      });
      const id = runId();
      const first = await harness.open([run]);
      void first.run(run, id, null).catch(() => {});
      await reached.opened;
      await harness.kill(first);
      const second = await harness.open([run]);
      assert.equal(await second.run(run, id, null), "OutcomeUnknown");
      assert.deepEqual(counts.all, { pay: 1 });
      await second.close();
    },
  },
  {
    name: "asks before it runs a step of policy `ask` again",
    async run(harness) {
      const counts = new Counts();
      const reached = new Gate();
      let dies = true;
      const run = define("asked", async (context) => {
        const pay = async (): Promise<JsonValue> => {
          counts.add("pay");
          if (!dies) return "paid";
          reached.open();
          return await never();
        };
        return await context.step("pay", pay, { policy: "ask" });
      });
      const id = runId();
      const first = await harness.open([run]);
      void first.run(run, id, null).catch(() => {});
      await reached.opened;
      await harness.kill(first);
      dies = false;
      const second = await harness.open([run]);
      const ended = second.run(run, id, null);
      await pause(300);
      assert.deepEqual(counts.all, { pay: 1 });
      await second.answer(id, "step:pay", { approved: true });
      assert.equal(await ended, "paid");
      assert.deepEqual(counts.all, { pay: 2 });
      await second.close();
    },
  },
  {
    name: "keeps the failure of a step, and that of a run",
    async run(harness) {
      const counts = new Counts();
      const run = define("failing", async (context) => {
        await context.step("bad", async () => {
          counts.add("bad");
          throw new RangeError("no such luck");
        });
        return null;
      });
      const id = runId();
      const first = await harness.open([run]);
      await assert.rejects(first.run(run, id, null), /no such luck/);
      await assert.rejects(first.run(run, id, null), /no such luck/);
      assert.deepEqual(counts.all, { bad: 1 });
      await first.close();
    },
  },
  {
    name: "waits for an answer, also for one that was given before it was asked for, and in another worker's time",
    async run(harness) {
      const asked = new Gate();
      const run = define("approved", async (context) => {
        await context.step("begin", async () => asked.open());
        const early = await context.approval("early");
        const late = await context.approval("late");
        return { early: early.approved, late: late.approved, value: late.value ?? null };
      });
      const id = runId();
      const first = await harness.open([run]);
      const cut = first.run(run, id, null).catch(() => {});
      await asked.opened;
      await first.answer(id, "early", { approved: true });
      await pause(300);
      await harness.kill(first);
      const second = await harness.open([run]);
      const ended = second.run(run, id, null);
      await second.answer(id, "late", { approved: false, value: { why: "no" } });
      assert.deepEqual(await ended, { early: true, late: false, value: { why: "no" } });
      await second.close();
      void cut;
    },
  },
  {
    name: "sleeps until a point in time, not for a time after each crash",
    async run(harness) {
      const begun = new Gate();
      const run = define("sleeping", async (context) => {
        const from = await context.step("begin", async () => begun.open() ?? Date.now());
        await context.sleep("nap", 1_000);
        return await context.step("end", async () => Date.now() - from);
      });
      const id = runId();
      const first = await harness.open([run]);
      void first.run(run, id, null).catch(() => {});
      await begun.opened;
      await pause(200);
      await harness.kill(first);
      await pause(1_500);
      const second = await harness.open([run]);
      const from = Date.now();
      const slept = Number(await second.run(run, id, null));
      assert.ok(slept >= 990, `slept ${slept} ms`);
      assert.ok(Date.now() - from < slept, "what was left of the sleep is over already");
      await second.close();
    },
  },
  {
    name: "runs a child once, and answers its result after a crash of the parent",
    async run(harness) {
      const counts = new Counts();
      const reached = new Gate();
      let dies = true;
      const half = define("half", async (context, input) => {
        counts.add("child");
        return await context.step("half", async () => Number(input) / 2);
      });
      const run = define("parent", async (context) => {
        const value = await context.child("first", half, 42);
        await context.step("after", async () => {
          if (!dies) return null;
          reached.open();
          return await never();
        });
        return value;
      });
      const id = runId();
      const first = await harness.open([run, half]);
      void first.run(run, id, null).catch(() => {});
      await reached.opened;
      await harness.kill(first);
      dies = false;
      const second = await harness.open([run, half]);
      assert.equal(await second.run(run, id, null), 21);
      assert.equal(await second.run(half, `${id}/first`, 42), 21);
      assert.deepEqual(counts.all, { child: 1 });
      await second.close();
    },
  },
  {
    name: "joins a run that runs instead of running it twice",
    async run(harness) {
      const counts = new Counts();
      const go = new Gate();
      const run = define("joined", async (context) => {
        return await context.step("one", async () => await go.opened.then(() => counts.add("one")));
      });
      const id = runId();
      const backend = await harness.open([run]);
      const both = [backend.run(run, id, null), backend.run(run, id, null)];
      await pause(100);
      go.open();
      assert.deepEqual(await Promise.all(both), [1, 1]);
      await backend.close();
    },
  },
  {
    name: "ends a run that is cancelled, whoever cancels it",
    async run(harness) {
      const counts = new Counts();
      const begun = new Gate();
      const run = define("cancelled", async (context) => {
        await context.step("one", async () => begun.open() ?? counts.add("one"));
        await context.approval("never");
        return await context.step("two", async () => counts.add("two"));
      });
      const id = runId();
      const backend = await harness.open([run]);
      const ended = backend.run(run, id, null);
      await begun.opened;
      await backend.cancel(id);
      await assert.rejects(ended);
      await assert.rejects(backend.run(run, id, null));
      assert.deepEqual(counts.all, { one: 1 });
      await backend.close();
    },
  },
];

function define<I extends JsonValue>(
  name: string,
  run: (context: DurableContext, input: I) => Promise<JsonValue>,
): DurableRun<I, JsonValue> & DurableRun {
  return { name: `conformance-${name}`, run } as DurableRun<I, JsonValue> & DurableRun; // kits hand runs of any input to `open`
}

let ids = 0;
function runId(): string {
  return `case-${process.pid}-${Date.now().toString(36)}-${++ids}`;
}

class Counts {
  readonly all: Record<string, number> = {};
  add(name: string): number {
    const count = (this.all[name] ?? 0) + 1;
    this.all[name] = count;
    return count;
  }
}

class Gate {
  #resolve: () => void = () => {};
  readonly opened: Promise<void> = new Promise((resolve) => {
    this.#resolve = resolve;
  });

  open(): null {
    this.#resolve();
    return null;
  }
}

async function never(): Promise<never> {
  return await new Promise<never>(() => {});
}

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}
