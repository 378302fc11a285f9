import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { describe, it } from "node:test";
import { type CheckpointBench, createBench } from "../../../../test/support/checkpoint-bench.ts";
import { createCheckpoints } from "./checkpoints.ts";
import { beforeEachChange } from "../../../../test/support/faulty-fs.ts";

// This file is also the program that is killed: it restores, and ends itself before its n-th change of a file.
const [directory, killAt] = (process.env["OUTRIDER_KILLED_RESTORE"] ?? "").split("|");
if (directory && killAt) await restoreAndDie(directory, Number(killAt));
else describeKills();

async function restoreAndDie(directory: string, killAt: number): Promise<void> {
  let count = 0;
  await beforeEachChange(() => {
    count++;
    if (count === killAt) process.kill(process.pid, "SIGKILL");
  });
  await createCheckpoints({ directory, sessionId: "s1", sync: false }).rollbackThrough("t1");
}

function describeKills(): void {
  describe("a restore that is killed", () => {
    for (const [how, then] of [
      ["completes on the second run", (bench) => bench.checkpoints.rollbackThrough("t1")],
      ["can be undone", (bench) => bench.checkpoints.recover("undo")],
      [
        "is left as it is when the next turn starts, and can still be gone back over",
        (bench) => bench.turn("t2", { "a.txt": "2" }),
      ],
    ] satisfies [string, (bench: CheckpointBench) => Promise<unknown>][]) {
      it(how, { timeout: 240_000 }, async () => {
        const kills: boolean[] = [];
        for (let at = 1; at < 200; at += 4) {
          const bench = await prepare();
          const before = bench.tree();
          const killed = kill(bench.directory, at);
          kills.push(killed);
          const half = bench.tree();
          await then(bench);
          const fate = { at, half: Object.keys(half), stray: strayFiles(bench.project) };
          assert.deepEqual(fate.stray, [], JSON.stringify(fate));
          if (how.startsWith("completes")) assert.deepEqual(bench.tree(), restoredTree, JSON.stringify(fate));
          if (how.startsWith("can be undone") && killed) assert.deepEqual(bench.tree(), before, JSON.stringify(fate));
          if (how.startsWith("is left")) {
            assert.equal((await bench.checkpoints.rollbackThrough("t2")).type, "restored");
            assert.equal((await bench.checkpoints.rollbackThrough("t1")).type === "refused", false, JSON.stringify(fate));
            assert.deepEqual(bench.tree(), restoredTree, JSON.stringify(fate));
          }
          bench.remove();
          if (!killed) break;
        }
        assert.ok(kills.length > 5 && kills.at(-1) === false, "every point of the restore is a point of its end");
      });
    }
  });
}

async function prepare(): Promise<CheckpointBench> {
  const bench = createBench();
  bench.userWrites("a.txt", "0");
  bench.userWrites("b/b.txt", "0");
  await bench.turn("t1", { "a.txt": "1", "b/b.txt": "1", "new/c.txt": "1" });
  rmSync(bench.path("b"), { recursive: true });
  bench.userWrites("b/b.txt", "1");
  return bench;
}

function kill(directory: string, at: number): boolean {
  const env = { ...process.env, OUTRIDER_KILLED_RESTORE: `${directory}|${at}` };
  const { signal, status, stderr } = spawnSync(process.execPath, [process.argv[1] ?? ""], { env, encoding: "utf8" });
  assert.ok(signal === "SIGKILL" || status === 0, stderr);
  return signal === "SIGKILL";
}

function strayFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.includes(".outrider"));
}

const restoredTree = {
  "a.txt": "644 MA==",
  b: "folder",
  "b/b.txt": "644 MA==",
};
