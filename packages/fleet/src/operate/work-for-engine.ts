import type { AgentEvent } from "@outrider/runtime";
import { claimProcess } from "@outrider/runtime/host";
import type { RestateWorker } from "../restate/restate-worker.ts";
import { RunDesk } from "./run-desk.ts";
import { serveTasks } from "./serve-tasks.ts";
import type { FromProcess, ToProcess } from "./workers.ts";

/** The life of a worker process: serves the engine until it is told to end, or until the process that started it has ended. */
export function workForEngine(): void {
  claimProcess();
  let worker: RestateWorker | undefined;
  const send = (message: FromProcess): void => void process.send?.(message, undefined, undefined, () => {});
  // A signal from the terminal comes to the whole group: the process that started us says what is to be done.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => {});
  process.on("disconnect", () => process.exit(1));
  const desk = new RunDesk();
  const watching = new Watching(desk, send);
  desk.onMove = (runId, isHere) => send({ type: "moved", runId, isHere });
  let told = desk.counts();
  const telling = setInterval(() => {
    if (desk.counts() === told) return;
    told = desk.counts();
    send({ type: "counts", counts: told });
  }, 500);
  telling.unref();
  const serve = async ({ settings, around }: Extract<ToProcess, { type: "serve" }>): Promise<void> => {
    worker = await serveTasks(settings, around, { desk, warn: (line) => send({ type: "warning", line }) });
    send({ type: "ready", port: worker.port });
  };
  process.on("message", (value) => {
    const message = value as ToProcess; // only the process that started us writes here
    switch (message.type) {
      case "serve":
        return void serve(message).catch((error: unknown) => {
          send({ type: "warning", line: String(error) });
          setImmediate(() => process.exit(1));
        });
      case "watch":
        return watching.add(message.runId);
      case "unwatch":
        return watching.remove(message.runId);
      case "close":
        return void Promise.resolve(worker?.close(message.graceMs)).finally(() => process.exit(0));
    }
  });
  send({ type: "hello" });
}

/** Runs of this process that somebody wants to hear. */
class Watching {
  readonly #stops = new Map<string, () => void>();
  readonly #desk: RunDesk;
  readonly #send: (message: FromProcess) => void;

  constructor(desk: RunDesk, send: (message: FromProcess) => void) {
    this.#desk = desk;
    this.#send = send;
  }

  add(runId: string): void {
    if (this.#stops.has(runId)) return;
    const tell = (event: AgentEvent): void => this.#send({ type: "event", runId, event });
    const stop = this.#desk.watch(runId, tell, () => this.#stops.delete(runId));
    if (stop) this.#stops.set(runId, stop);
  }

  remove(runId: string): void {
    this.#stops.get(runId)?.();
    this.#stops.delete(runId);
  }
}
