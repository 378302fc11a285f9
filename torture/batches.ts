import { spawn } from "node:child_process";
import { join } from "node:path";
import { launcher } from "./launcher.ts";
import { openBatchScene } from "./batch-scene.ts";
import { createRandom, Tally } from "./report.ts";

const tasks = 40;
const steps = 3;
const atOnce = 4;

/** A batch that is ended with SIGKILL at so many random moments: one result per task, and no call that had ended is made again. */
export async function killBatches({ command, kills, seed }: { command: string; kills: number; seed: number }): Promise<Tally> {
  const tally = new Tally("batches");
  const random = createRandom(seed);
  let killed = 0;
  let batches = 0;
  while (killed < kills && batches < kills * 2) {
    batches++;
    killed += await killBatch({ command, most: Math.min(15, kills - killed), random, tally });
  }
  tally.count("kills", killed);
  tally.count(`batches of ${tasks} tasks`, batches);
  return tally;
}

type Round = {
  readonly command: string;
  readonly most: number;
  readonly random: (below: number) => number;
  readonly tally: Tally;
};

async function killBatch({ command, most, random, tally }: Round): Promise<number> {
  const scene = await openBatchScene({ steps, delayMs: 50 });
  const { folder, env } = scene;
  const out = join(folder, "out");
  const flags = ["--out", out, "--concurrency", String(atOnce), "--quiet", ...(random(2) === 0 ? ["--processes", "2"] : [])];
  const first = [command, "batch", scene.tasks(tasks), ...flags];
  let killed = 0;
  try {
    let isBegun = false;
    for (let round = 0; round < most * 4 + 4; round++) {
      const args = isBegun ? [command, "batch", "--resume", ...flags] : first;
      isBegun = true;
      const child = spawn(launcher, args, { cwd: folder, env, stdio: "ignore" });
      const timer = killed < most ? setTimeout(() => child.kill("SIGKILL"), 300 + random(2_500)) : undefined;
      const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
      clearTimeout(timer);
      if (code === null) killed++;
      else if (code === 66)
        isBegun = false; // killed before there was a batch
      else break;
    }
    scene.judge(out, tasks, tally);
    return killed;
  } finally {
    await scene.close();
  }
}
