import { setTimeout as delay } from "node:timers/promises";
import type { JsonValue } from "@outrider/runtime";
import {
  type Approval,
  type DurableBackend,
  type DurableContext,
  type DurableRun,
  OutcomeUnknown,
  RunCancelled,
  RunSuspended,
  StepFailed,
  type StepOptions,
  type StepAttempt,
  toKeptFailure,
} from "./durable.ts";
import { RunFile, tellRun } from "./run-file.ts";

export type LocalBackendOptions = {
  /** One journal per run is kept here. One process at a time carries a run on; any may answer and cancel. */
  readonly folder: string;
  /** How often answers and cancellations of other processes are looked for; 200 ms when absent. */
  readonly pollMs?: number | undefined;
};

/** Runs in this process, with a journal of start and end of each step on disk. */
export function createLocalBackend({ folder, pollMs = 200 }: LocalBackendOptions): DurableBackend {
  const running = new Map<string, Promise<JsonValue>>();
  const leaving = new AbortController();

  const carryOn = async (run: DurableRun, runId: string, input: JsonValue): Promise<JsonValue> => {
    const file = new RunFile(folder, runId);
    try {
      const ended = file.end;
      if (ended?.type === "ended") return ended.value;
      if (ended?.type === "ended-badly") throw new StepFailed(ended.failure);
      if (!file.isBegun) await file.write({ type: "run", run: run.name, input });
      const context = new LocalContext({ runId, file, leaving: leaving.signal, pollMs, start });
      try {
        const value = toJson(await run.run(context, input));
        await file.write({ type: "ended", value });
        return value;
      } catch (error) {
        if (error instanceof RunSuspended || (leaving.signal.aborted && !file.isCancelled)) throw new RunSuspended(runId);
        await file.write({ type: "ended-badly", failure: toKeptFailure(error) });
        throw error;
      } finally {
        context.close();
      }
    } finally {
      file.close();
    }
  };

  const start = (run: DurableRun, runId: string, input: JsonValue): Promise<JsonValue> => {
    if (leaving.signal.aborted) return Promise.reject(new RunSuspended(runId));
    const known = running.get(runId);
    if (known) return known;
    const begun = carryOn(run, runId, input).finally(() => running.delete(runId));
    running.set(runId, begun);
    return begun;
  };

  return {
    // The types of a run's input and result are the caller's promise: both are kept as JSON.
    run: (run, runId, input) => start(run as unknown as DurableRun, runId, input) as Promise<never>,
    answer: async (runId, name, approval) => tellRun(folder, runId, { type: "answer", name, approval }),
    cancel: async (runId) => tellRun(folder, runId, { type: "cancel" }),
    async close() {
      leaving.abort();
      await Promise.allSettled(running.values());
    },
  };
}

type Ground = {
  readonly runId: string;
  readonly file: RunFile;
  readonly leaving: AbortSignal;
  readonly pollMs: number;
  readonly start: (run: DurableRun, runId: string, input: JsonValue) => Promise<JsonValue>;
};

class LocalContext implements DurableContext {
  readonly runId: string;
  readonly #ground: Ground;
  readonly #ending = new AbortController();
  readonly #watch: NodeJS.Timeout;

  constructor(ground: Ground) {
    this.#ground = ground;
    this.runId = ground.runId;
    this.#watch = setInterval(() => {
      if (ground.file.isCancelled) this.#ending.abort(new RunCancelled(ground.runId));
    }, ground.pollMs);
    this.#watch.unref();
  }

  get signal(): AbortSignal {
    return AbortSignal.any([this.#ground.leaving, this.#ending.signal]);
  }

  async step<T extends JsonValue>(
    name: string,
    work: (attempt: StepAttempt) => Promise<T>,
    { policy = "retry" }: StepOptions = {},
  ): Promise<T> {
    const { file, runId } = this.#ground;
    const state = file.step(name);
    if (state.type === "done") return state.value as T; // what `work` answered, in this process or an earlier one
    if (state.type === "failed") throw new StepFailed(state.failure);
    this.#check();
    if (state.type === "started" && policy !== "retry") await this.#settleUnknown(name, policy);
    const attempt = state.type === "started" ? state.attempt + 1 : 1;
    await file.write({ type: "started", step: name, attempt });
    const { signal } = this;
    try {
      const value = toJson(await work({ idempotencyKey: `${runId}/${name}`, attempt, signal }));
      await file.write({ type: "done", step: name, value });
      return value as T;
    } catch (error) {
      this.#check(); // a step that was stopped has not failed: it is done again
      if (error instanceof RunSuspended) throw error;
      await file.write({ type: "failed", step: name, failure: toKeptFailure(error) });
      throw error;
    }
  }

  async sleep(name: string, ms: number): Promise<void> {
    const { file } = this.#ground;
    let until = file.wakesAt(name);
    if (until === undefined) {
      until = Date.now() + ms;
      await file.write({ type: "sleeping", step: name, until });
    }
    const rest = until - Date.now();
    if (rest > 0) await delay(rest, undefined, { signal: this.signal }).catch(() => this.#check());
    this.#check();
  }

  async approval(name: string): Promise<Approval> {
    const { file, pollMs } = this.#ground;
    while (true) {
      const answer = file.answerTo(name);
      if (answer) return answer;
      this.#check();
      await delay(pollMs, undefined, { signal: this.signal }).catch(() => {});
    }
  }

  async child<I extends JsonValue, O extends JsonValue>(name: string, run: DurableRun<I, O>, input: I): Promise<O> {
    this.#check();
    return (await this.#ground.start(run as unknown as DurableRun, `${this.runId}/${name}`, input)) as O; // as `run` of the backend
  }

  close(): void {
    clearInterval(this.#watch);
  }

  async #settleUnknown(name: string, policy: "ask" | "fail"): Promise<void> {
    if (policy === "ask" && (await this.approval(`step:${name}`)).approved) return;
    const failure = new OutcomeUnknown(name);
    await this.#ground.file.write({ type: "failed", step: name, failure: toKeptFailure(failure) });
    throw failure;
  }

  #check(): void {
    const { file, leaving, runId } = this.#ground;
    if (file.isCancelled) throw new RunCancelled(runId);
    if (leaving.aborted) throw new RunSuspended(runId);
  }
}

function toJson(value: JsonValue | undefined): JsonValue {
  return value === undefined ? null : (JSON.parse(JSON.stringify(value)) as JsonValue); // the same now as after a crash
}
