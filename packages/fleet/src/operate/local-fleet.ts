import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { makeFolder } from "@outrider/runtime/host";
import { RuntimeError } from "@outrider/runtime";
import type { Surroundings } from "@outrider/runtime/host";
import type { RestateAddress } from "../restate/restate-api.ts";
import { type RestateServer, startRestateServer } from "../restate/restate-server.ts";
import { isFree } from "../util/free-port.ts";
import { startOf } from "../util/process-start.ts";
import { openWorkers } from "./workers.ts";

/** A fleet of this machine, as others find it in its folder. */
export type FleetState = RestateAddress & {
  readonly pid: number;
  /** Of both processes: their ids may be those of others by now. */
  readonly started: string;
  readonly enginePid: number;
  readonly engineStarted: string;
  readonly workers: readonly number[];
  readonly store: string;
  /** Where the workers show what they do. */
  readonly side?: string | undefined;
  readonly ports: Ports;
};

type Ports = RestateServer["ports"] & {
  /** Runs that have begun are given to this one for ever. Earlier versions did not keep it. */
  readonly workers?: number | undefined;
};

export type FleetUpOptions = {
  /** Everything of the fleet is in here, and stays when it ends. */
  readonly folder: string;
  readonly workers: number;
  /** A folder of the fleet when absent. */
  readonly store?: string | undefined;
  /** Where the engine's package is looked for. */
  readonly from: readonly string[];
  readonly around: Surroundings;
  /** Aborted: it is drained and ends. */
  readonly signal: AbortSignal;
  readonly graceMs: number;
  readonly onUp: (state: FleetState) => void;
  readonly warn: (line: string) => void;
};

/** With the start of its process, by which it is told from a later one of the same id. */
type Engine = RestateServer & { readonly started: string };

const stateFile = "fleet.json";
const portsFile = "ports.json";

/** An engine and workers, until the signal. An engine that dies is started again; so are workers. */
export async function runFleet(options: FleetUpOptions): Promise<void> {
  const folder = resolve(options.folder);
  const { around, signal, warn, from } = options;
  const before = readFleet(folder);
  if (before && isUp(before)) throw new RuntimeError("busy", `The fleet of ${folder} is up already (process ${before.pid})`);
  if (before) await stopEngine(before);
  makeFolder(folder);
  const env = { PATH: around.env["PATH"] };
  const startEngine = async (ports: RestateServer["ports"] | undefined): Promise<Engine> => {
    const server = await startRestateServer({ folder: join(folder, "engine"), from, env, ports });
    return { ...server, started: startOf(server.process.pid ?? 0) ?? "" };
  };
  const known = before?.ports ?? readPorts(folder);
  let engine = await startEngine(known);
  const store = options.store ?? join(folder, "store");
  const serving = {
    ingress: engine.ingress,
    admin: engine.admin,
    store,
    folder: join(folder, "work"),
    host: "127.0.0.1",
    port: await portOfWorkers(known?.workers, warn),
  };
  const workers = await openWorkers({ ...serving, processes: options.workers, sidePort: 0, around, warn }).catch(
    async (error: unknown) => {
      await engine.stop();
      throw error;
    },
  );
  const tell = (): FleetState => {
    const { ingress, admin } = engine;
    const ports = { ...engine.ports, workers: workers.port };
    const enginePid = engine.process.pid ?? 0;
    const own = { pid: process.pid, started: startOf(process.pid) ?? "", enginePid, engineStarted: engine.started };
    const state = { ...own, workers: workers.pids(), ingress, admin, ports, store, side: workers.side };
    const path = join(folder, stateFile);
    writeFileSync(`${path}.new`, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
    renameSync(`${path}.new`, path); // whoever looks sees all of it
    return state;
  };
  options.onUp(tell());
  try {
    while (!signal.aborted) {
      await delay(300, undefined, { signal }).catch(() => {});
      if (signal.aborted) break;
      if (engine.process.exitCode !== null || engine.process.signalCode !== null) {
        warn("The engine has ended; it is started again");
        const again = await startEngine(engine.ports).catch((error: unknown) => void warn(String(error)));
        if (!again) continue;
        engine = again;
      }
      tell();
    }
  } finally {
    await workers.close(options.graceMs);
    await engine.stop();
    rmSync(join(folder, stateFile), { force: true });
    writeFileSync(join(folder, portsFile), JSON.stringify({ ...engine.ports, workers: workers.port }));
  }
}

/** Where it was up before: a batch that is resumed finds it there. */
function readPorts(folder: string): Ports | undefined {
  const path = join(folder, portsFile);
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Ports) : undefined; // of our own writing
}

/** The one they had before; 0 for any. */
async function portOfWorkers(known: number | undefined, warn: FleetUpOptions["warn"]): Promise<number> {
  if (known === undefined) return 0;
  if (await isFree(known)) return known;
  warn(
    `Another program has port ${known} of the workers: runs that have begun wait until outrider worker --port ${known} serves them`,
  );
  return 0;
}

export function readFleet(folder: string): FleetState | undefined {
  const path = join(folder, stateFile);
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as FleetState) : undefined; // of our own writing
}

/** Lets a fleet of this machine finish its steps and end. What has not ended goes on when it is up again. */
export async function drainFleet(folder: string): Promise<boolean> {
  const state = readFleet(resolve(folder));
  if (!state || !isUp(state)) return false;
  process.kill(state.pid, "SIGTERM");
  for (let rounds = 0; isUp(state) && rounds < 1_200; rounds++) await delay(100);
  return true;
}

/** The engine of a fleet that was killed lives on, and has the ports and the disk. */
async function stopEngine({ enginePid, engineStarted }: FleetState): Promise<void> {
  for (let rounds = 0; startOf(enginePid) === engineStarted && rounds < 600; rounds++) {
    if (rounds % 300 === 0) process.kill(enginePid, rounds === 0 ? "SIGTERM" : "SIGKILL");
    await delay(100);
  }
}

function isUp({ pid, started }: FleetState): boolean {
  return startOf(pid) === started;
}
