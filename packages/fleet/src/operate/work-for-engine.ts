import { claimProcess } from "@outrider/runtime/host";
import type { RestateWorker } from "../restate/restate-worker.ts";
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
  const serve = async ({ settings, around }: Extract<ToProcess, { type: "serve" }>): Promise<void> => {
    worker = await serveTasks(settings, around, (line) => send({ type: "warning", line }));
    send({ type: "ready", port: worker.port });
  };
  process.on("message", (value) => {
    const message = value as ToProcess; // only the process that started us writes here
    if (message.type === "close") return void Promise.resolve(worker?.close(message.graceMs)).finally(() => process.exit(0));
    serve(message).catch((error: unknown) => {
      send({ type: "warning", line: String(error) });
      setImmediate(() => process.exit(1));
    });
  });
  send({ type: "hello" });
}
