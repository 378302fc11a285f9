import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { launcher } from "./launcher.ts";
import { answerUsd, type BatchScene, openBatchScene } from "./batch-scene.ts";
import { findEngine, freePort, startEngineNodes } from "./engine-nodes.ts";
import { createRandom, Tally } from "./report.ts";

export type FleetTorture = {
  readonly command: string;
  readonly project: string;
  readonly tasks: number;
  readonly workers: number;
  readonly seed: number;
};

const steps = 2;
const atOnce = 12;
/** Between two kills of workers. */
const calmMs = 3_000;

/** Batches whose workers are killed every few seconds: here in processes, on one engine that is killed twice, and on three nodes of which one dies. */
export const fleetKinds = ["embedded", "engine", "nodes"] as const;

export async function killFleet(kind: (typeof fleetKinds)[number], torture: FleetTorture): Promise<Tally> {
  if (kind === "embedded") return await killProcesses(torture);
  findEngine(torture.project);
  return kind === "engine" ? await killWorkersAndEngine(torture) : await killNode(torture);
}

async function killProcesses({ command, tasks, workers, seed }: FleetTorture): Promise<Tally> {
  const tally = new Tally("fleets, embedded");
  await withScene(async (scene) => {
    const out = join(scene.folder, "out");
    const flags = ["--processes", String(workers)];
    await runHeld({ command, tasks, seed, scene, tally, out, flags, victims: childrenOf });
  });
  return tally;
}

async function killWorkersAndEngine({ command, project, tasks, workers, seed }: FleetTorture): Promise<Tally> {
  const tally = new Tally(`fleets, an engine and ${workers} workers`);
  await withScene(async (scene) => {
    const place = join(scene.folder, "fleet");
    const { env } = scene;
    const up = spawn(process.execPath, [command, "fleet", "up", "--folder", place, "--workers", String(workers)], {
      cwd: join(project, "test/fleet"), // where the engine's package is
      env,
      stdio: ["ignore", "ignore", openSync(join(scene.folder, "up.log"), "a")],
    });
    const state = (): FleetFile => JSON.parse(readFileSync(join(place, "fleet.json"), "utf8"));
    try {
      const { ingress, admin, store } = await eventually(state);
      const out = join(scene.folder, "out");
      const flags = ["--engine", "restate", "--ingress", ingress, "--admin", admin, "--store", store];
      const engineKills = [tasks / 5, tasks / 2];
      const onProgress = (done: number): void => {
        if (engineKills[0] === undefined || done < engineKills[0]) return;
        engineKills.shift();
        const engine = childrenOf(up.pid ?? 0).find((pid) => pid === state().enginePid);
        if (engine !== undefined && end(engine)) tally.count("kills of the engine");
      };
      const victims = (): number[] => childrenOf(up.pid ?? 0).filter((pid) => pid !== state().enginePid);
      await runHeld({ command, tasks, seed, scene, tally, out, flags, victims, onProgress });
      if (up.exitCode !== null || up.signalCode !== null)
        tally.violate(`fleet up ended by itself: ${readFileSync(join(scene.folder, "up.log"), "utf8").slice(-2_000)}`);
    } finally {
      await stop(up);
    }
  });
  return tally;
}

type FleetFile = { ingress: string; admin: string; store: string; enginePid: number };

async function killNode({ command, project, tasks, workers, seed }: FleetTorture): Promise<Tally> {
  const tally = new Tally(`fleets, three engine nodes and ${workers} workers`);
  await withScene(async (scene) => {
    const nodes = await startEngineNodes(findEngine(project), { folder: join(scene.folder, "engine"), count: 3 });
    const [first, , last] = nodes;
    if (!first || !last) throw new Error("There are three nodes");
    const store = join(scene.folder, "store");
    const flags = ["--engine", "restate", "--ingress", first.ingress, "--admin", first.admin, "--store", store];
    const ports = ["--port", String(await freePort()), "--side-port", String(await freePort())];
    const worker = spawn(
      process.execPath,
      [command, "worker", ...flags, ...ports, "--processes", String(workers), "--folder", join(scene.folder, "work")],
      { cwd: scene.folder, env: scene.env, stdio: ["ignore", "pipe", "ignore"] },
    );
    try {
      await once(worker.stdout, "data"); // the engine knows them
      let isKilled = false;
      const onProgress = (done: number): void => {
        if (isKilled || done < tasks / 2) return;
        isKilled = true;
        last.kill();
        tally.count("kills of one node of three");
      };
      const victims = (): number[] => childrenOf(worker.pid ?? 0);
      await runHeld({ command, tasks, seed, scene, tally, out: join(scene.folder, "out"), flags, victims, onProgress });
    } finally {
      await stop(worker);
      for (const node of nodes) node.kill();
    }
  });
  return tally;
}

type Held = Pick<FleetTorture, "command" | "tasks" | "seed"> & {
  readonly scene: BatchScene;
  readonly tally: Tally;
  readonly out: string;
  readonly flags: readonly string[];
  /** Children of a living process: the ids of others are nobody's any more, or somebody else's. */
  readonly victims: (batch: number) => readonly number[];
  readonly onProgress?: (done: number) => void;
};

/** First with half of the money it takes, then with enough; workers die all the time. */
async function runHeld({ command, tasks, seed, scene, tally, out, flags, victims, onProgress = () => {} }: Held): Promise<void> {
  const random = createRandom(seed);
  const whole = tasks * (steps + 1) * answerUsd;
  const rpm = 60_000;
  const held = ["--out", out, "--concurrency", String(atOnce), "--rpm", String(rpm), "--quiet", ...flags];
  const file = scene.tasks(tasks, { model: "claude-haiku-4-5" });
  const runs = [
    ["batch", file, "--max-budget", String(whole / 2), ...held],
    ["batch", "--resume", "--max-budget", String(whole * 2), ...held],
  ];
  for (const [at, words] of runs.entries()) {
    const batch = spawn(launcher, [command, ...words], { cwd: scene.folder, env: scene.env, stdio: "ignore" });
    const ended = once(batch, "close");
    let isOver = false;
    void ended.then(() => {
      isOver = true;
    });
    for (let rounds = 0; !isOver && rounds < 2_000; rounds++) {
      await Promise.race([ended, delay(calmMs / 2 + random(calmMs))]);
      if (isOver) break;
      onProgress(scene.done(out));
      const living = victims(batch.pid ?? 0);
      const victim = living[random(living.length)];
      if (victim !== undefined && end(victim)) tally.count("kills of workers");
    }
    const [code] = await ended;
    if (code !== (at === 0 ? 137 : 0)) tally.violate(`${words[0]} ${words[1]} ended with ${code}`);
    // What a killed worker had asked and nobody heard the answer of is in no budget.
    const most = whole / 2 / answerUsd + atOnce + scene.repeated();
    if (at === 0 && scene.asked.length > most)
      tally.violate(
        `${scene.asked.length} requests of ${answerUsd} for a budget of ${whole / 2}, ${scene.repeated()} of them again`,
      );
  }
  const most = busiestMinute(scene.asked);
  if (most > rpm + atOnce) tally.violate(`${most} requests in a minute, ${rpm} were allowed`);
  tally.count("requests", scene.asked.length);
  tally.count("requests whose answer came to nobody", scene.repeated());
  tally.count("requests in the busiest minute", most);
  scene.judge(out, tasks, tally);
}

function busiestMinute(asked: readonly number[]): number {
  let most = 0;
  let from = 0;
  for (const [at, time] of asked.entries()) {
    while ((asked[from] ?? 0) <= time - 60_000) from++;
    most = Math.max(most, at - from + 1);
  }
  return most;
}

async function withScene(work: (scene: BatchScene) => Promise<void>): Promise<void> {
  const scene = await openBatchScene({ steps, delayMs: 20 });
  try {
    await work(scene);
  } finally {
    await scene.close();
  }
}

async function eventually<T>(look: () => T): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return look();
    } catch (error) {
      if (tries > 300) throw error;
      await delay(200);
    }
  }
}

/** SIGKILL; false when it was replaced a moment ago. */
function end(pid: number): boolean {
  try {
    process.kill(pid, "SIGKILL");
    return true;
  } catch {
    return false;
  }
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), 60_000);
  await ended;
  clearTimeout(timer);
}
