import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ModelServer } from "../packages/runtime/src/testing/model-server.ts";
import { Tally } from "./report.ts";
import { closeScene, openScene, type Programs, readSession, runCommand, wrongEnd } from "./runs.ts";

/** Many runs on one home at the same time. */
export async function crowdHome(options: {
  programs: Programs;
  server: ModelServer;
  runs: number;
  rounds: number;
}): Promise<Tally> {
  const { programs, server, runs, rounds } = options;
  const tally = new Tally("parallel runs on one home");
  const folder = mkdtempSync(join(tmpdir(), "outrider-torture-home-"));
  const home = join(folder, "home");
  try {
    for (let round = 0; round < rounds; round++) {
      const scenes = Array.from({ length: runs }, () => openScene({ url: server.url, steps: 3, home }));
      await Promise.all(
        scenes.map(async (scene) => {
          const ended = await runCommand(programs, scene);
          const wrong =
            ended.code === 0 ? wrongEnd(scene, await readSession(scene)) : `exit ${ended.code}: ${ended.stderr.slice(0, 300)}`;
          if (wrong) tally.violate(`${scene.sessionId}: ${wrong}`);
          tally.count("runs");
        }),
      );
      for (const scene of scenes) closeScene(scene);
      tally.count("rounds");
    }
    const left = readdirSync(join(home, "sessions")).filter((name) => !name.endsWith(".jsonl"));
    if (left.length > 0) tally.violate(`left behind: ${left.join(", ")}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return tally;
}
