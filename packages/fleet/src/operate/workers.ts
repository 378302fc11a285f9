import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Surroundings } from "@outrider/runtime/host";
import { RestateApi } from "../restate/restate-api.ts";
import { freePort } from "../util/free-port.ts";
import { type ServeSettings, serveTasks } from "./serve-tasks.ts";

export type WorkersOptions = ServeSettings & {
  /** Above 1: so many child processes share the port; one that dies is replaced. */
  readonly processes: number;
  /** Where the engine finds the workers: what stands before them all. */
  readonly advertise?: string | undefined;
  readonly around: Surroundings;
  readonly warn: (line: string) => void;
};

export interface Workers {
  readonly port: number;
  pids(): number[];
  close(graceMs: number): Promise<void>;
}

export type ToProcess =
  | { readonly type: "serve"; readonly settings: ServeSettings; readonly around: Surroundings }
  | { readonly type: "close"; readonly graceMs: number };
export type FromProcess =
  | { readonly type: "hello" }
  | { readonly type: "ready"; readonly port: number }
  | { readonly type: "warning"; readonly line: string };

/** Workers of an engine in this process or in children of it. The engine knows them when this resolves. */
export async function openWorkers(options: WorkersOptions): Promise<Workers> {
  const { processes, advertise, ingress, admin, host } = options;
  const workers = processes > 1 ? await openProcesses(options) : await openHere(options);
  const shown = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  await new RestateApi({ ingress, admin }).register(advertise ?? `http://${shown}:${workers.port}`);
  return workers;
}

async function openHere({ around, warn, ...settings }: WorkersOptions): Promise<Workers> {
  const worker = await serveTasks(settings, around, warn);
  return { port: worker.port, pids: () => [process.pid], close: (graceMs) => worker.close(graceMs) };
}

async function openProcesses({ processes, around, warn, ...rest }: WorkersOptions): Promise<Workers> {
  const { ingress, admin, service, store, folder, host } = rest;
  const port = rest.port === 0 ? await freePort() : rest.port; // the same for all: that is how they share it
  let isClosing = false;
  const living = new Set<Worker>();
  cluster.schedulingPolicy = cluster.SCHED_RR;
  cluster.setupPrimary({ exec: fileURLToPath(new URL("./engine-worker.js", import.meta.url)), args: [] });
  const begin = async (): Promise<void> => {
    const worker = cluster.fork();
    living.add(worker);
    worker.once("exit", () => {
      living.delete(worker);
      if (!isClosing) void replace();
    });
    const settings: ServeSettings = { ingress, admin, service, store, folder, host, port };
    await new Promise<void>((resolve, reject) => {
      worker.on("message", (message: FromProcess) => {
        if (message.type === "warning") return warn(message.line);
        // Only now: what is sent to a process that does not listen yet is lost.
        if (message.type === "hello") return void worker.send({ type: "serve", settings, around } satisfies ToProcess);
        resolve();
      });
      worker.once("exit", (code) => reject(new Error(`A worker process ended with ${code} before it was ready`)));
    });
  };
  const replace = async (): Promise<void> => {
    await delay(100);
    if (!isClosing) await begin().catch((error: unknown) => warn(String(error)));
  };
  await Promise.all(Array.from({ length: processes }, begin));
  return {
    port,
    pids: () => [...living].flatMap((worker) => worker.process.pid ?? []),
    async close(graceMs) {
      isClosing = true;
      const ends = [...living].map((worker) => once(worker, "exit"));
      for (const worker of living) worker.send({ type: "close", graceMs } satisfies ToProcess);
      await Promise.race([Promise.all(ends), delay(graceMs + 10_000, undefined, { ref: false })]);
      for (const worker of living) worker.process.kill("SIGKILL");
    },
  };
}
