import cluster, { type Worker } from "node:cluster";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Surroundings } from "@outrider/runtime/host";
import { RestateApi } from "../restate/restate-api.ts";
import { freePort } from "../util/free-port.ts";
import { fleetStatus } from "./fleet-status.ts";
import { type FromDesk, ProcessesDesk, type ToDesk } from "./processes-desk.ts";
import { type Desk, RunDesk } from "./run-desk.ts";
import { type ServeSettings, serveTasks } from "./serve-tasks.ts";
import { openSideServer, type SideServer } from "./side-server.ts";

export type WorkersOptions = ServeSettings & {
  /** Above 1: so many child processes share the port; one that dies is replaced. */
  readonly processes: number;
  /** Where the engine finds the workers: what stands before them all. */
  readonly advertise?: string | undefined;
  /** Health, figures and runs as they go are shown here; any free port when 0, nowhere when absent. */
  readonly sidePort?: number | undefined;
  readonly around: Surroundings;
  readonly warn: (line: string) => void;
};

export interface Workers {
  readonly port: number;
  /** Where they show what they do. */
  readonly side?: string | undefined;
  pids(): number[];
  close(graceMs: number): Promise<void>;
}

export type ToProcess =
  | { readonly type: "serve"; readonly settings: ServeSettings; readonly around: Surroundings }
  | { readonly type: "close"; readonly graceMs: number }
  | ToDesk;
export type FromProcess =
  | FromDesk
  | { readonly type: "hello" }
  | { readonly type: "ready"; readonly port: number }
  | { readonly type: "warning"; readonly line: string };

/** Workers of an engine in this process or in children of it. The engine knows them when this resolves. */
export async function openWorkers(options: WorkersOptions): Promise<Workers> {
  const { processes, advertise, ingress, admin, host, sidePort } = options;
  const workers = processes > 1 ? await openProcesses(options) : await openHere(options);
  const shown = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  let isTaking = false;
  const side = sidePort === undefined ? undefined : await openSide(workers.desk, () => isTaking, { ...options, sidePort });
  const api = new RestateApi({ ingress, admin });
  try {
    await api.register(advertise ?? `http://${shown}:${workers.port}`);
  } catch (error) {
    await side?.close();
    await workers.close(0);
    throw error;
  }
  isTaking = true;
  return {
    port: workers.port,
    side: side && `http://${shown}:${side.port}`,
    pids: workers.pids,
    async close(graceMs) {
      isTaking = false;
      await workers.close(graceMs);
      await side?.close();
    },
  };
}

type OpenedWorkers = Workers & { readonly desk: Desk };

async function openSide(
  desk: Desk,
  isTaking: () => boolean,
  { ingress, admin, service, host, sidePort }: WorkersOptions & { sidePort: number },
): Promise<SideServer> {
  const api = new RestateApi({ ingress, admin }, 2_000);
  return await openSideServer({
    desk,
    host,
    port: sidePort,
    isReady: async () => isTaking() && (await api.isHealthy()),
    waiting: async () => (await fleetStatus({ ingress, admin }, service)).waiting,
  });
}

async function openHere({ around, warn, ...settings }: WorkersOptions): Promise<OpenedWorkers> {
  const desk = new RunDesk();
  const worker = await serveTasks(settings, around, { desk, warn });
  return { port: worker.port, desk, pids: () => [process.pid], close: (graceMs) => worker.close(graceMs) };
}

async function openProcesses({ processes, around, warn, ...rest }: WorkersOptions): Promise<OpenedWorkers> {
  const { ingress, admin, service, store, folder, host } = rest;
  const port = rest.port === 0 ? await freePort() : rest.port; // the same for all: that is how they share it
  let isClosing = false;
  const living = new Set<Worker>();
  const desk = new ProcessesDesk();
  cluster.schedulingPolicy = cluster.SCHED_RR;
  cluster.setupPrimary({ exec: fileURLToPath(new URL("./engine-worker.js", import.meta.url)), args: [] });
  const begin = async (): Promise<void> => {
    const worker = cluster.fork();
    living.add(worker);
    const gone = (): void => {
      if (!living.delete(worker)) return;
      desk.close(worker.id);
      if (!isClosing) void replace();
    };
    worker.once("exit", gone);
    // Of a process that was never started there is no exit. Of one that was killed it follows: until then, what it is told fails, connections too.
    worker.on("error", () => void (worker.process.pid === undefined && gone()));
    desk.open(worker.id, (message) => void (worker.isConnected() && worker.send(message)));
    const settings: ServeSettings = { ingress, admin, service, store, folder, host, port };
    await new Promise<void>((resolve, reject) => {
      worker.on("message", (message: FromProcess) => {
        if (message.type === "warning") return warn(message.line);
        // Only now: what is sent to a process that does not listen yet is lost.
        if (message.type === "hello") return void worker.send({ type: "serve", settings, around } satisfies ToProcess);
        if (message.type === "ready") return resolve();
        desk.hear(worker.id, message);
      });
      worker.once("exit", (code) => reject(new Error(`A worker process ended with ${code} before it was ready`)));
      worker.once("error", (error: Error) => void (worker.process.pid === undefined && reject(error)));
    });
  };
  const replace = async (): Promise<void> => {
    await delay(100);
    if (!isClosing) await begin().catch((error: unknown) => warn(String(error)));
  };
  await Promise.all(Array.from({ length: processes }, begin));
  return {
    port,
    desk,
    pids: () => [...living].flatMap((worker) => worker.process.pid ?? []),
    async close(graceMs) {
      isClosing = true;
      const ends = [...living].map((worker) => new Promise((resolve) => worker.once("exit", resolve)));
      for (const worker of living) if (worker.isConnected()) worker.send({ type: "close", graceMs } satisfies ToProcess);
      await Promise.race([Promise.all(ends), delay(graceMs + 10_000, undefined, { ref: false })]);
      for (const worker of living) worker.process.kill("SIGKILL");
    },
  };
}
