import type { JsonValue } from "@outrider/runtime";

/**
 * What becomes of a step that was started and has no result, because the process died in the middle of it:
 * `retry` runs it again, `ask` waits for an approval named `step:NAME` first, `fail` throws `OutcomeUnknown` into the run.
 */
export type StepPolicy = "retry" | "ask" | "fail";

export type StepOptions = {
  /** `retry` when absent. */
  readonly policy?: StepPolicy | undefined;
};

export type StepAttempt = {
  /** The same for every attempt of the step: for services that take such a key. */
  readonly idempotencyKey: string;
  /** Above 1: an earlier attempt was started, and nobody knows how far it came. */
  readonly attempt: number;
  /** The run is cancelled, or the process is about to end. */
  readonly signal: AbortSignal;
};

export type Approval = {
  readonly approved: boolean;
  /** What the answer says beside yes or no. */
  readonly value?: JsonValue | undefined;
};

/**
 * What a run is given. A run is a function that does the same steps under the same names whenever it is called with the same input: after a
 * crash it is called again, and what has a result is not done again. Names are unique within a run.
 */
export interface DurableContext {
  readonly runId: string;
  readonly signal: AbortSignal;
  /** Runs `work` once and keeps its result, also if that is a failure. Its result is JSON; `undefined` comes back as `null`. */
  step<T extends JsonValue>(name: string, work: (attempt: StepAttempt) => Promise<T>, options?: StepOptions): Promise<T>;
  /** Until `ms` after it was first called, whatever happens to the process meanwhile. */
  sleep(name: string, ms: number): Promise<void>;
  /** Until somebody answers: `DurableBackend.answer`, from any process. `asks` is for people who look what is asked. */
  approval(name: string, asks?: JsonValue): Promise<Approval>;
  /** Another run, to its end. Its id is `RUN/NAME`. */
  child<I extends JsonValue, O extends JsonValue>(name: string, run: DurableRun<I, O>, input: I): Promise<O>;
}

/** A kind of run. Engines find it by its name after a crash. */
export interface DurableRun<I extends JsonValue = JsonValue, O extends JsonValue = JsonValue> {
  readonly name: string;
  run(context: DurableContext, input: I): Promise<O>;
}

/** Keeps runs and carries them on. The same cases of `durableConformance` hold for each of them. */
export interface DurableBackend {
  /**
   * A run to its end. The id is its key: a run that has ended answers what it ended with, one that was cut off goes on after its last finished
   * step, and one that runs is joined.
   */
  run<I extends JsonValue, O extends JsonValue>(run: DurableRun<I, O>, runId: string, input: I): Promise<O>;
  /** Answers an approval, before or after it is asked for; the first answer counts. */
  answer(runId: string, name: string, approval: Approval): Promise<void>;
  /** The run ends with `RunCancelled` at its next step. */
  cancel(runId: string): Promise<void>;
  /** Lets runs stop at the next step, without an end: they go on when somebody runs them again. */
  close(): Promise<void>;
}

/** A step of policy `fail` was started and has no result. */
export class OutcomeUnknown extends Error {
  readonly step: string;
  constructor(step: string) {
    super(`Step ${step} was started and has no result: its outcome is unknown`);
    this.name = "OutcomeUnknown";
    this.step = step;
  }
}

export class RunCancelled extends Error {
  constructor(runId: string) {
    super(`Run ${runId} is cancelled`);
    this.name = "RunCancelled";
  }
}

/** The process stops working on the run, which has not ended. A step that throws it is done again when the run goes on. */
export class RunSuspended extends Error {
  constructor(runId: string) {
    super(`Run ${runId} is suspended`);
    this.name = "RunSuspended";
  }
}

/** A failure of a step or a run, as it is kept. */
export type KeptFailure = { readonly name: string; readonly message: string; readonly code?: string | undefined };

/** A step or a child that failed, also in an earlier process. */
export class StepFailed extends Error {
  readonly failure: KeptFailure;
  constructor(failure: KeptFailure) {
    super(failure.message);
    this.name = "StepFailed";
    this.failure = failure;
  }
}

export function toKeptFailure(error: unknown): KeptFailure {
  if (error instanceof StepFailed) return error.failure;
  const { name = "Error", message = String(error), code } = Object(error);
  return { name: String(name), message: String(message), ...(typeof code === "string" && { code }) };
}
