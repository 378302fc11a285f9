import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type FleetState, readFleet } from "@outrider/fleet/restate";
import { start } from "../e2e/command.ts";

export type UpFleet = {
  readonly folder: string;
  /** As it is now: processes change when they are killed. */
  state(): FleetState;
  /** The flags of a batch that runs on it. */
  readonly flags: readonly string[];
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
    state,
    flags: ["--engine", "restate", "--ingress", ingress, "--admin", admin, "--store", store],
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
