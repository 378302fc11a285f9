import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeTree, replaceFile } from "../packages/runtime/src/checkpoints/checkpoint-bench.ts";
import { createCheckpoints } from "../packages/runtime/src/checkpoints/checkpoints.ts";
import { type CheckpointScript, git, playScript } from "./checkpoint-script.ts";

/**
 * Random sessions of an agent and a user who work on the same files of a git repository, with restores at random.
 * After each restore: no byte of the user's is gone, git's folder is as it was, no temporary file is left.
 */
export async function run({
  short,
  seed = 1,
}: {
  short: boolean;
  seed?: number;
}): Promise<{ name: string; counts: Record<string, number> }> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "outrider-torture-checkpoints-")));
  const counts: Record<string, number> = {};
  const count = (what: string, by = 1): void => {
    counts[what] = (counts[what] ?? 0) + by;
  };
  try {
    const template = join(folder, "template");
    makeRepository(template);
    const scripts = short ? 150 : 5000;
    for (let index = 0; index < scripts; index++) {
      const place = join(folder, "script");
      const script: CheckpointScript = { seed: seed * 1_000_003 + index, place, template, count };
      try {
        await playScript(script);
      } catch (error) {
        throw new Error(`Checkpoint script with seed ${script.seed} failed`, { cause: error });
      }
      count("scripts");
      rmSync(place, { recursive: true, force: true });
    }
    await killRestores({ folder, kills: short ? 12 : 500, seed, count });
    return { name: "checkpoints", counts };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Without hooks and samples, so that all of git's folder can be compared again and again. */
function makeRepository(path: string): void {
  mkdirSync(path);
  git(path, "init", "-q", "-b", "main", "--template=");
  git(path, "config", "user.name", "A");
  git(path, "config", "user.email", "a@example.com");
  git(path, "config", "gc.auto", "0");
}

type Kills = { folder: string; kills: number; seed: number; count: (what: string, by?: number) => void };

/** Ends a process that restores before one of its changes, then recovers: the files must be as if it had never been killed, or had never run. */
async function killRestores({ folder, kills, seed, count }: Kills): Promise<void> {
  const place = join(folder, "killed");
  const child = await buildChild(folder);
  const tree = (): string => JSON.stringify(describeTree(join(place, "project")));
  await prepareRestore(place);
  const before = tree();
  const changes = Number(restoreInChild({ child, place, killAt: 0 }).stdout);
  const expected = tree();
  assert.ok(changes > 10 && before !== expected, "the restore that is killed does something");

  for (let index = 0; index < kills; index++) {
    // Each point twice in a row: once to be undone, once to be completed.
    const killAt = 1 + ((seed + Math.floor(index / 2) * 37) % changes);
    rmSync(place, { recursive: true });
    await prepareRestore(place);
    assert.equal(tree(), before);
    const { signal, stderr } = restoreInChild({ child, place, killAt });
    assert.equal(signal, "SIGKILL", stderr);
    count("restores killed");
    const half = tree();
    if (half !== before && half !== expected) count("restores killed between two files");

    const checkpoints = createCheckpoints({ directory: join(place, "checkpoints"), sessionId: "s1", sync: false });
    if (index % 2 === 0) {
      const recovery = await checkpoints.recover("undo");
      if (recovery) count("killed restores undone");
      assert.equal(tree(), recovery ? before : half, `kill at ${killAt}, undone`);
    }
    const again = await checkpoints.rollbackThrough("t1");
    assert.notEqual(again.type, "refused", `kill at ${killAt}`);
    if (again.recovered) count("killed restores completed");
    assert.equal(tree(), expected, `kill at ${killAt}, restored again`);
  }
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
