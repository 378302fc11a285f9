import type { BackgroundTaskTimeoutReason } from "../../protocol/background-task.ts";
import { RepeatedSentences } from "./repeated-sentences.ts";
import type { BackgroundTaskRequest } from "./task-contract.ts";

/** Time, as tests may want to make it. */
export interface TaskClock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls back once, unless the answered function was called before. Does not keep the process alive. */
  after(ms: number, callback: () => void): () => void;
}

export const systemClock: TaskClock = {
  now: () => Date.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, Math.min(ms, 2 ** 31 - 1)).unref();
    return () => clearTimeout(timer);
  },
};

export type Overrun = { readonly reason: BackgroundTaskTimeoutReason; readonly message: string };

const agentLimits = { idleMs: 240_000, bytes: 256_000, deltas: 20_000, window: 800, threshold: 8 };

/** Watches one running task, and says once when it has gone too far. A task that is quiet costs nothing: there is a timer at most per limit. */
export class TaskWatch {
  readonly #clock: TaskClock;
  readonly #onOverrun: (overrun: Overrun) => void;
  readonly #idleMs: number;
  readonly #text: { readonly bytes: number; readonly deltas: number; readonly sentences: RepeatedSentences } | undefined;
  #lastActivity: number;
  #bytes = 0;
  #deltas = 0;
  #cancelIdle: () => void = () => {};
  #cancelRuntime: () => void = () => {};

  constructor(request: BackgroundTaskRequest, clock: TaskClock, onOverrun: (overrun: Overrun) => void) {
    this.#clock = clock;
    this.#onOverrun = onOverrun;
    this.#lastActivity = clock.now();
    const isAgent = request.kind === "agent";
    this.#idleMs = request.idleTimeoutMs ?? request.timeoutMs ?? (isAgent ? agentLimits.idleMs : 0);
    this.#text = isAgent
      ? {
          bytes: request.outputLimitBytes ?? agentLimits.bytes,
          deltas: request.maxTextDeltas ?? agentLimits.deltas,
          sentences: new RepeatedSentences({
            window: request.repetitionWindow ?? agentLimits.window,
            threshold: request.repetitionThreshold ?? agentLimits.threshold,
          }),
        }
      : undefined;
    const { maxRuntimeMs = 0 } = request;
    if (maxRuntimeMs > 0)
      this.#cancelRuntime = clock.after(maxRuntimeMs, () =>
        this.#overrun("max_runtime", `It ran for more than ${maxRuntimeMs} ms, its limit`),
      );
    this.resume();
  }

  /** Something was heard of the task. */
  touch(): void {
    this.#lastActivity = this.#clock.now();
  }

  text(delta: string): void {
    this.touch();
    if (!this.#text) return;
    this.#bytes += Buffer.byteLength(delta);
    this.#deltas++;
    if (this.#bytes > this.#text.bytes) this.#overrun("output_limit", `It said more than ${this.#text.bytes} bytes, its limit`);
    else if (this.#deltas > this.#text.deltas)
      this.#overrun("output_limit", `It spoke more than ${this.#text.deltas} times, its limit`);
    else if (this.#text.sentences.add(delta)) this.#overrun("repetition", "It said the same sentence again and again");
  }

  /** While it waits for a person, its silence is not its own. */
  pause(): void {
    this.#cancelIdle();
  }

  resume(): void {
    this.touch();
    this.#cancelIdle();
    this.#arm(this.#idleMs);
  }

  stop(): void {
    this.#cancelIdle();
    this.#cancelRuntime();
  }

  #arm(ms: number): void {
    if (this.#idleMs <= 0) return;
    this.#cancelIdle = this.#clock.after(ms, () => {
      const left = this.#lastActivity + this.#idleMs - this.#clock.now();
      if (left > 0) this.#arm(left);
      else this.#overrun("idle", `Nothing was heard of it for ${this.#idleMs} ms`);
    });
  }

  #overrun(reason: BackgroundTaskTimeoutReason, message: string): void {
    this.stop();
    this.#onOverrun({ reason, message });
  }
}
