import type { ModelServer } from "../packages/runtime/src/testing/model-server.ts";
import { createRandom, inParallel, Tally } from "./report.ts";
import {
  closeScene,
  type Fault,
  lostEvents,
  openScene,
  type Programs,
  readSession,
  runCommand,
  runResume,
  type Scene,
  wrongEnd,
} from "./runs.ts";

export type KillOptions = {
  programs: Programs;
  server: ModelServer;
  steps: number;
  /** How many boundaries of the first run, of a run that syncs always, and of a resumed one; and how many moments. */
  points: number;
  moments: number;
  seed: number;
};

type Job =
  | { type: "command"; at: number; how: string }
  | { type: "library"; at: number; how: string }
  | { type: "twice"; at: number; how: string; first: number }
  | { type: "moment"; ms: number };

/** Kills a run at boundaries between its file operations and at random moments, then goes on with the session. */
export async function killRuns(options: KillOptions): Promise<Tally[]> {
  const { programs, server, steps, points, moments } = options;
  const random = createRandom(options.seed);
  const undisturbed = await measure(options);
  const boundaries = new Tally("kill -9 at write, sync and name boundaries");
  const momentary = new Tally("kill -9 at random moments");
  const jobs: Job[] = [
    ...spread(points * 0.5, undisturbed.command, (at, how) => ({ type: "command", at, how })),
    ...spread(points * 0.3, undisturbed.library, (at, how) => ({ type: "library", at, how })),
    ...spread(points * 0.2, undisturbed.library, (at, how) => ({
      type: "twice",
      at,
      how,
      first: 5 + random(undisturbed.command - 5),
    })),
    ...Array.from({ length: moments }, (): Job => ({ type: "moment", ms: random(undisturbed.ms * 1.1) })),
  ];
  const run = async (job: Job): Promise<void> => {
    const tally = job.type === "moment" ? momentary : boundaries;
    const scene = openScene({ url: server.url, steps });
    let isDisturbed = true;
    try {
      isDisturbed = await disturb(job, { programs, scene, tally });
      await goOn({ programs, scene, tally, job: JSON.stringify(job) });
    } catch (error) {
      tally.violate(`${JSON.stringify(job)}: ${error instanceof Error ? error.message : error}`);
    } finally {
      closeScene(scene);
    }
    // Too late is no kill: once more, earlier. A boundary that this run did not have is none.
    if (job.type === "moment" && !isDisturbed) await run({ ...job, ms: job.ms * 0.8 });
  };
  await inParallel(jobs, 2, run);
  return [boundaries, momentary];
}

type Disturbance = { programs: Programs; scene: Scene; tally: Tally };

/** Whether it came in time. */
async function disturb(job: Job, { programs, scene, tally }: Disturbance): Promise<boolean> {
  const label = JSON.stringify(job);
  if (job.type === "moment") {
    const ended = await runCommand(programs, scene, { at: 0, how: "", root: "home", killAfterMs: job.ms });
    tally.count(ended.signal === "SIGKILL" ? "kills" : "runs that were over before");
    await expectAll(ended.stdout, { scene, tally, label });
    return ended.signal === "SIGKILL";
  }
  if (job.type === "twice") {
    await runCommand(programs, scene, { at: job.first, how: "half", root: "home" });
    tally.count("kills of the first run");
  }
  const fault: Fault = { at: job.at, how: job.how, root: "home" };
  const ended =
    job.type === "command"
      ? await runCommand(programs, scene, fault)
      : await runResume(programs, scene, { ...fault, sync: "always" });
  tally.count(
    ended.signal === "SIGKILL" ? (job.type === "twice" ? "kills of the resumed run" : "kills") : "runs that were over before",
  );
  if (job.type === "command") await expectAll(ended.stdout, { scene, tally, label });
  return ended.signal === "SIGKILL";
}

async function expectAll(stdout: string, { scene, tally, label }: { scene: Scene; tally: Tally; label: string }): Promise<void> {
  const lost = lostEvents(stdout, await readSession(scene));
  if (lost.length > 0) tally.violate(`${label} lost ${lost.join(", ")}`);
}

async function goOn({ programs, scene, tally, job }: Disturbance & { job: string }): Promise<void> {
  const before = await readSession(scene);
  const resumed = await runResume(programs, scene);
  if (resumed.code !== 0) return tally.violate(`${job} could not be resumed: ${resumed.stdout}${resumed.stderr.slice(0, 500)}`);
  const after = await readSession(scene);
  const kept = JSON.stringify(after.slice(0, before.length)) === JSON.stringify(before);
  if (!kept) tally.violate(`${job}: the resumed session begins otherwise`);
  const wrong = wrongEnd(scene, after);
  if (wrong) tally.violate(`${job}: ${wrong}`);
  tally.count("resumed");
}

/** How many operations a run that nobody disturbs has, and how long it takes. */
async function measure({ programs, server, steps }: KillOptions): Promise<{ command: number; library: number; ms: number }> {
  const counts: number[] = [];
  let ms = 0;
  for (const run of [
    runCommand,
    (first: Programs, scene: Scene) => runResume(first, scene, { at: 0, how: "", root: "home", sync: "always" }),
  ]) {
    const scene = openScene({ url: server.url, steps });
    const startedAt = Date.now();
    const ended = await run(programs, scene);
    ms ||= Date.now() - startedAt;
    const wrong = ended.code === 0 ? wrongEnd(scene, await readSession(scene)) : ended.stderr;
    if (wrong) throw new Error(`A run that nobody disturbed went wrong: ${wrong}`);
    counts.push(ended.operations);
    closeScene(scene);
  }
  return { command: counts[0] ?? 0, library: counts[1] ?? 0, ms };
}

/** All boundaries when there are enough points for them, else some from the whole length. */
function spread(points: number, operations: number, toJob: (at: number, how: string) => Job): Job[] {
  const all = Array.from({ length: operations }, (_, index) =>
    ["before", "half", "after"].map((how) => toJob(index + 1, how)),
  ).flat();
  const step = Math.max(1, all.length / points);
  return Array.from({ length: Math.min(all.length, Math.round(points)) }, (_, index) => all[Math.floor(index * step)]).flatMap(
    (job) => job ?? [],
  );
}
