import { randomUUID } from "node:crypto";
import type { JsonValue } from "@outrider/runtime";
import type { WorkflowContext } from "@restatedev/restate-sdk";
import {
  type Approval,
  type DurableContext,
  type DurableRun,
  type KeptFailure,
  OutcomeUnknown,
  RunCancelled,
  RunSuspended,
  StepFailed,
  type StepAttempt,
  type StepOptions,
  toKeptFailure,
} from "../durable/durable.ts";
import type { RestateSdk } from "./load-sdk.ts";
import { asksPrefix } from "./restate-api.ts";
import { tenantsName } from "./tenant-object.ts";

/** What a run, a step or a child ended with. Failures are values here: the engine would lose their names and try again. */
export type Ended =
  | { readonly type: "ended"; readonly value: JsonValue }
  | { readonly type: "failed"; readonly failure: KeptFailure };

/** It was begun by a worker that is gone. */
type Unknown = { readonly type: "unknown" };

export type ContextGround = {
  readonly sdk: RestateSdk;
  readonly service: string;
  readonly runId: string;
  /** The worker ends now. */
  readonly leaving: AbortSignal;
  /** The worker begins no more steps. */
  readonly isDraining: () => boolean;
};

/** The durable interface on one of the engine's workflows. */
export class RestateContext implements DurableContext {
  readonly runId: string;
  readonly signal: AbortSignal;
  readonly #engine: WorkflowContext;
  readonly #ground: ContextGround;
  readonly #ending = new AbortController();
  /** An earlier worker has had this run, and nothing was done here yet: it may have begun what comes next. */
  #isTakenOver = false;

  constructor(engine: WorkflowContext, ground: ContextGround) {
    this.#engine = engine;
    this.#ground = ground;
    this.runId = ground.runId;
    this.signal = AbortSignal.any([ground.leaving, this.#ending.signal, engine.request().attemptCompletedSignal]);
  }

  /** The first thing of a run. */
  async begin(): Promise<void> {
    this.#isTakenOver = !(await this.#isFirst("begun"));
  }

  async step<T extends JsonValue>(
    name: string,
    work: (attempt: StepAttempt) => Promise<T>,
    { policy = "retry" }: StepOptions = {},
  ): Promise<T> {
    const isMine = policy === "retry" || (await this.#isFirst(`${name}:begins`));
    const attempted = async (): Promise<Ended> => {
      const { signal } = this;
      if (this.#ground.isDraining()) throw new RunSuspended(this.runId);
      const attempt = this.#isTakenOver ? 2 : 1;
      this.#isTakenOver = false;
      try {
        const value = await work({ idempotencyKey: `${this.runId}/${name}`, attempt, signal });
        return { type: "ended", value: value ?? null };
      } catch (error) {
        if (error instanceof RunSuspended || signal.aborted) throw error; // not failed: done again, here or elsewhere
        return { type: "failed", failure: toKeptFailure(error) };
      }
    };
    // What is asked of the engine is the same in every attempt; only what has no result yet is decided here.
    const end = await this.#run<Ended | Unknown>(name, async () => (isMine ? await attempted() : { type: "unknown" }));
    if (end.type !== "unknown") return toValue<T>(end);
    if (policy === "ask" && (await this.approval(`step:${name}`)).approved)
      return toValue<T>(await this.#run(`${name}:again`, attempted));
    throw new OutcomeUnknown(name);
  }

  async sleep(name: string, ms: number): Promise<void> {
    await this.#cancellable(this.#engine.sleep(ms, name));
  }

  async approval(name: string, asks?: JsonValue): Promise<Approval> {
    const key = `${asksPrefix}${name}`;
    if (asks !== undefined) this.#engine.set(key, asks);
    const approval = await this.#cancellable(this.#engine.promise<Approval>(name).get());
    if (asks !== undefined) this.#engine.clear(key);
    return approval;
  }

  /** Waits for a place among the runs of a tenant: it is kept, whatever happens to workers, until `leave`. */
  async enter(tenant: string): Promise<void> {
    const { id, promise } = this.#engine.awakeable<null>();
    this.#tellTenant(tenant, "enter", { runId: this.runId, call: id });
    await this.#cancellable(promise);
  }

  leave(tenant: string): void {
    this.#tellTenant(tenant, "leave", { runId: this.runId });
  }

  #tellTenant(tenant: string, method: "enter" | "leave", parameter: object): void {
    const { sdk, service } = this.#ground;
    const inputSerde = sdk.serde.json as never; // the engine's own JSON
    this.#engine.genericSend({ service: tenantsName(service), key: tenant, method, parameter, inputSerde });
  }

  async child<I extends JsonValue, O extends JsonValue>(name: string, run: DurableRun<I, O>, input: I): Promise<O> {
    const { sdk, service } = this.#ground;
    const called = this.#engine.genericCall<JsonValue, Ended>({
      service,
      method: "run",
      key: `${this.runId}/${name}`,
      parameter: { run: run.name, input },
      inputSerde: sdk.serde.json as never, // the engine's own JSON
      outputSerde: sdk.serde.json as never,
    });
    return toValue<O>(await this.#cancellable(called));
  }

  /** Whether this worker, in this attempt, is the one that wrote the mark. */
  async #isFirst(mark: string): Promise<boolean> {
    const mine = randomUUID();
    return (await this.#run(mark, async () => mine)) === mine;
  }

  async #run<T>(name: string, action: () => Promise<T>): Promise<T> {
    return await this.#cancellable(this.#engine.run(name, action, { initialRetryInterval: 50, maxRetryInterval: 5_000 }));
  }

  /** The engine leaves promises of an attempt that has failed open for ever: whoever waits for one has to be told that it is over. */
  async #cancellable<T>(promise: Promise<T>): Promise<T> {
    const over = this.#engine.request().attemptCompletedSignal;
    if (over.aborted) throw new RunSuspended(this.runId);
    let onOver = (): void => {};
    const isOver = new Promise<never>((_, reject) => {
      onOver = () => reject(new RunSuspended(this.runId));
      over.addEventListener("abort", onOver, { once: true });
    });
    try {
      return await Promise.race([promise, isOver]);
    } catch (error) {
      if (!(error instanceof this.#ground.sdk.CancelledError)) throw error;
      this.#ending.abort(new RunCancelled(this.runId));
      throw new RunCancelled(this.runId);
    } finally {
      over.removeEventListener("abort", onOver);
    }
  }
}

function toValue<T extends JsonValue>(end: Ended): T {
  if (end.type === "failed") throw new StepFailed(end.failure);
  return end.value as T; // what `work` answered, here or in another worker
}
