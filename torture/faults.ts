import type { ModelServer } from "../packages/runtime/src/testing/model-server.ts";
import { inParallel, Tally } from "./report.ts";
import { closeScene, framesIn, openScene, type Programs, readSession, runCommand, runResume, wrongEnd } from "./runs.ts";

const codes = ["ENOSPC", "EIO", "EMFILE"];

/** Lets the disk fail from some operation on: one typed result, a log that is valid, and a session that can be gone on with. */
export async function breakDisks(options: {
  programs: Programs;
  server: ModelServer;
  steps: number;
  points: number;
}): Promise<Tally> {
  const { programs, server, steps, points } = options;
  const tally = new Tally("ENOSPC, EIO and EMFILE from an operation on");
  const probe = openScene({ url: server.url, steps });
  const { operations } = await runCommand(programs, probe, { at: 0, how: "", root: "sessions" });
  closeScene(probe);
  const jobs = Array.from({ length: points }, (_, index) => ({
    at: 1 + Math.floor((index / points) * operations),
    how: codes[index % codes.length] ?? "EIO",
  }));
  await inParallel(jobs, 2, async (job) => {
    const label = JSON.stringify(job);
    const scene = openScene({ url: server.url, steps });
    try {
      const ended = await runCommand(programs, scene, { ...job, root: "sessions" });
      const results = framesIn(ended.stdout).filter(({ type }) => type === "result");
      const [result] = results;
      if (results.length !== 1)
        tally.violate(`${label}: ${results.length} results, exit ${ended.code}; ${ended.stderr.slice(0, 200)}`);
      else if (ended.code === 0) {
        // Nothing that the run needed has failed; then it must be whole.
        const wrong = wrongEnd(scene, await readSession(scene));
        if (wrong || result?.is_error) tally.violate(`${label}: exit 0, but ${wrong ?? "the result is an error"}`);
        tally.count("not needed any more");
      } else {
        const code = result?.error?.code;
        if (code !== "storage-failed" || !result?.is_error)
          tally.violate(`${label}: exit ${ended.code} with ${JSON.stringify(result)}`);
        tally.count("typed results");
      }
      const resumed = await runResume(programs, scene);
      const wrong =
        resumed.code === 0 ? wrongEnd(scene, await readSession(scene)) : resumed.stdout + resumed.stderr.slice(0, 300);
      if (wrong) tally.violate(`${label}: resumed, but ${wrong}`);
    } catch (error) {
      tally.violate(`${label}: ${error instanceof Error ? error.message : error}`);
    } finally {
      closeScene(scene);
    }
  });
  tally.count("points", points);
  return tally;
}
