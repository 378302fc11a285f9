import type { DurableBackend } from "../durable/durable.ts";
import { RunCancelled, StepFailed } from "../durable/durable.ts";
import type { Ended } from "./restate-context.ts";
import { RestateApi, type RestateAddress } from "./restate-api.ts";
import { defaultService } from "./restate-worker.ts";

export type RestateBackendOptions = RestateAddress & {
  readonly service?: string | undefined;
  /** Whose runs they are: a tenant may have a limit of its own. */
  readonly tenant?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Told when the engine has not answered for long; it is waited for. */
  readonly onAway?: ((line: string) => void) | undefined;
};

/** Runs in the workers of an engine. Closing it leaves them running: whoever asks for one again joins it. */
export function createRestateBackend({
  ingress,
  admin,
  service = defaultService,
  tenant,
  signal,
  onAway,
}: RestateBackendOptions): DurableBackend {
  const api = new RestateApi({ ingress, admin }, undefined, onAway);
  const leaving = new AbortController();
  const waiting = signal ? AbortSignal.any([signal, leaving.signal]) : leaving.signal;
  return {
    async run(run, runId, input) {
      await api.send(service, runId, { run: run.name, input, ...(tenant !== undefined && { tenant }) }, waiting);
      const ended = (await api.attach(service, runId, waiting)) as unknown as Ended; // what the worker's handler answers
      if (ended.type === "ended") return ended.value as never; // the type is the caller's promise
      if (ended.failure.name === "RunCancelled") throw new RunCancelled(runId);
      throw new StepFailed(ended.failure);
    },
    async answer(runId, name, approval) {
      const answer = { name, approval: { ...approval, value: approval.value ?? null } };
      await api.call({ service, key: runId, handler: "answer" }, answer);
    },
    async cancel(runId) {
      await api.cancel(service, runId);
    },
    async close() {
      leaving.abort();
    },
  };
}
