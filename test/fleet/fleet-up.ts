import { type ChildProcess, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type FleetState, readFleet } from "@outrider/fleet/restate";
import { start } from "../e2e/command.ts";

export type UpFleet = {
  readonly folder: string;
  /** The command. */
  readonly child: ChildProcess;
  /** As it is now: processes change when they are killed. */
  state(): FleetState;
  /** Its processes that live at this moment: children of the command, told by the system. An id from a file may be somebody else's by now. */
  children(): { readonly engine: readonly number[]; readonly workers: readonly number[] };
  /** The flags of a batch that runs on it. */
  readonly flags: readonly string[];
  /** Resolves when the command has complained of this. */
  heard(words: RegExp): Promise<void>;
  down(): Promise<void>;
  /** SIGKILL for the command alone. */
  kill(): Promise<void>;
};

/** `outrider fleet up` in a folder, with the engine's package of this suite. */
export async function upFleet(
  folder: string,
  { workers, env }: { workers: number; env: Record<string, string> },
): Promise<UpFleet> {
  const cwd = join(process.env.OUTRIDER_ROOT ?? "", "test/fleet"); // where the engine's package is
  const fleet = start(["fleet", "up", "--folder", folder, "--workers", String(workers)], { env, cwd });
  let said = "";
  fleet.child.stderr.on("data", (text: string) => {
    said += text;
  });
  const ended = once(fleet.child, "exit").then(() => "ended" as const);
  for (let tries = 0; !readFleet(folder) && tries < 600; tries++) {
    if ((await Promise.race([ended, delay(100)])) === "ended")
      throw new Error(`The fleet did not start: ${(await fleet.done).stderr}`);
  }
  const state = (): FleetState => {
    const found = readFleet(folder);
    if (!found) throw new Error("The fleet is not up");
    return found;
  };
  const { ingress, admin, store } = state();
  return {
    folder,
    child: fleet.child,
    state,
    children() {
      const own = childrenOf(fleet.child);
      const { enginePid, workers: known } = state();
      return { engine: own.filter((pid) => pid === enginePid), workers: own.filter((pid) => known.includes(pid)) };
    },
    flags: ["--engine", "restate", "--ingress", ingress, "--admin", admin, "--store", store],
    async heard(words) {
      while (!words.test(said))
        if ((await Promise.race([ended, delay(50)])) === "ended") throw new Error(`The fleet has ended: ${said}`);
    },
    async down() {
      fleet.child.kill("SIGTERM");
      await fleet.done;
    },
    async kill() {
      fleet.child.kill("SIGKILL");
      await fleet.done;
    },
  };
}

/** Nobody's while it does not live: its id may be that of another process then. */
function childrenOf({ pid, exitCode, signalCode }: ChildProcess): number[] {
  if (exitCode !== null || signalCode !== null) return [];
  const rows = spawnSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" }).stdout.trim().split("\n");
  return rows
    .map((row) => row.trim().split(/\s+/).map(Number))
    .flatMap(([child, parent]) => (parent === pid && child ? [child] : []));
}
