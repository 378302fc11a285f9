import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeTree, replaceFile } from "../test/support/checkpoint-bench.ts";
import { createCheckpoints } from "../packages/runtime/src/checkpoints/checkpoints.ts";
import { type CheckpointScript, git, playScript } from "./checkpoint-script.ts";
import { Tally } from "./report.ts";

/**
 * Random sessions of an agent and a user who work on the same files of a git repository, with restores at random.
 * After each restore: no byte of the user's is gone, git's folder is as it was, no temporary file is left.
 * Then restores are killed before one of their changes, and completed or undone.
 */
export async function tortureCheckpoints(options: { scripts: number; kills: number; seed: number }): Promise<Tally[]> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "outrider-torture-checkpoints-")));
  try {
    return [await playScripts(folder, options), await killRestores(folder, options)];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function playScripts(folder: string, { scripts, seed }: { scripts: number; seed: number }): Promise<Tally> {
  const tally = new Tally("checkpoints beside a user");
  const template = join(folder, "template");
  makeRepository(template);
  for (let index = 0; index < scripts; index++) {
    const place = join(folder, "script");
    const script: CheckpointScript = { seed: seed * 1_000_003 + index, place, template, count: (what) => tally.count(what) };
    try {
      await playScript(script);
    } catch (error) {
      tally.violate(`script of seed ${script.seed}: ${error instanceof Error ? error.message : error}`);
    }
    tally.count("scripts");
    rmSync(place, { recursive: true, force: true });
  }
  return tally;
}

/** Without hooks and samples, so that all of git's folder can be compared again and again. */
function makeRepository(path: string): void {
  mkdirSync(path);
  git(path, "init", "-q", "-b", "main", "--template=");
  git(path, "config", "user.name", "A");
  git(path, "config", "user.email", "a@example.com");
  git(path, "config", "gc.auto", "0");
}

/** The files must be as if the restore had never been killed, or had never run. */
async function killRestores(folder: string, { kills, seed }: { kills: number; seed: number }): Promise<Tally> {
  const tally = new Tally("restores killed and run again");
  const place = join(folder, "killed");
  const child = await buildChild(folder);
  const tree = (): string => JSON.stringify(describeTree(join(place, "project")));
  await prepareRestore(place);
  const before = tree();
  const changes = Number(restoreInChild({ child, place, killAt: 0 }).stdout);
  const expected = tree();
  if (changes <= 10 || before === expected) tally.violate("the restore that is killed does nothing");

  for (let index = 0; index < kills; index++) {
    // Each point twice in a row: once to be undone, once to be completed.
    const killAt = 1 + ((seed + Math.floor(index / 2) * 37) % changes);
    const expect = (found: string, wanted: string, when: string): void => {
      if (found !== wanted) tally.violate(`killed at ${killAt} of ${changes}, ${when}: ${found}`);
    };
    rmSync(place, { recursive: true });
    await prepareRestore(place);
    const { signal, stderr } = restoreInChild({ child, place, killAt });
    if (signal !== "SIGKILL") tally.violate(`not killed at ${killAt}: ${stderr}`);
    tally.count("kills");
    const half = tree();
    if (half !== before && half !== expected) tally.count("between two files");

    const checkpoints = createCheckpoints({ directory: join(place, "checkpoints"), sessionId: "s1", sync: false });
    if (index % 2 === 0) {
      const recovery = await checkpoints.recover("undo");
      if (recovery) tally.count("undone");
      expect(tree(), recovery ? before : half, "undone");
    }
    const again = await checkpoints.rollbackThrough("t1");
    if (again.recovered) tally.count("completed");
    expect(tree(), expected, `restored again (${again.type})`);
  }
  return tally;
}

/** A turn that changed, created and emptied files in several folders. */
async function prepareRestore(place: string): Promise<void> {
  const project = join(place, "project");
  mkdirSync(join(project, "src"), { recursive: true });
  const checkpoints = createCheckpoints({ directory: join(place, "checkpoints"), sessionId: "s1", root: project, sync: false });
  for (const name of ["a", "b", "src/c", "src/d"]) replaceFile(join(project, name), `the user's ${name}`);
  checkpoints.beginTurn({ turnId: "t1", prompt: "go" });
  for (const name of ["a", "src/c", "src/d", "new", "made/deep/e", "made/f"]) {
    const path = join(project, name);
    await checkpoints.protect(path, `the agent's ${name}`, async () => replaceFile(path, `the agent's ${name}`));
  }
  await checkpoints.endTurn();
}

async function buildChild(folder: string): Promise<string> {
  const { build } = await import("esbuild");
  const outfile = join(folder, "restore.mjs");
  const entry = join(process.env["OUTRIDER_ROOT"] ?? process.cwd(), "torture/restore-and-die.ts");
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    logLevel: "error",
  });
  return outfile;
}

function restoreInChild({ child, place, killAt }: { child: string; place: string; killAt: number }) {
  return spawnSync(process.execPath, [child, join(place, "checkpoints"), String(killAt)], { encoding: "utf8" });
}
