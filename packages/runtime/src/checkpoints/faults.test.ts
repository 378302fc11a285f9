import assert from "node:assert/strict";
import fs, { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { describe, it } from "node:test";
import { RuntimeError } from "../protocol/errors.ts";
import { type CheckpointBench, createBench } from "../../../../test/support/checkpoint-bench.ts";
import { beforeEachChange } from "../../../../test/support/faulty-fs.ts";

/** Fails the `at`-th change of files, and every one after it for as long as `lasting`. */
async function withFault(fault: { at: number; code: string; lasting: boolean }, work: () => Promise<unknown>) {
  let count = 0;
  const stop = await beforeEachChange((operation) => {
    if (operation === "rmdir") return; // an empty folder may stay behind
    count++;
    // What frees space works on a full disk.
    const frees = ["rm", "unlink", "rmdir", "ftruncateSync", "truncate"].includes(operation);
    if (count === fault.at || (fault.lasting && count > fault.at && !frees))
      throw Object.assign(new Error(`${fault.code}: injected into ${operation}`), { code: fault.code });
  });
  try {
    await work();
    return { count, error: undefined };
  } catch (error) {
    return { count, error };
  } finally {
    stop();
  }
}

async function prepare(): Promise<CheckpointBench> {
  const bench = createBench({ sync: true });
  bench.userWrites("a.txt", "0");
  bench.userWrites("gone/b.txt", "0");
  await bench.turn("t1", { "a.txt": "1", "gone/b.txt": "1", "new/c.txt": "1", "d.txt": "1" });
  return bench;
}

function strayFiles(bench: CheckpointBench): string[] {
  return readdirSync(bench.project, { recursive: true, encoding: "utf8" }).filter((name) => name.includes(".outrider"));
}

describe("a disk that fails", () => {
  for (const [code, lasting] of [
    ["ENOSPC", true],
    ["EIO", false],
  ] as const) {
    it(`CK010: ${code} at any point of a capture ${lasting ? "and ever after" : "once"}: the file is changed with a copy kept, or not at all`, async () => {
      let points = 0;
      for (let at = 1; ; at++) {
        const bench = createBench({ sync: true });
        bench.userWrites("a.txt", "0");
        bench.checkpoints.beginTurn({ turnId: "t1", prompt: "go" });
        let written = false;
        const { error, count } = await withFault({ at, code, lasting }, () =>
          bench.checkpoints.protect(bench.path("a.txt"), "1", async () => {
            written = true;
          }),
        );
        if (written) bench.userWrites("a.txt", "1");
        await bench.checkpoints.endTurn();
        if (error) assert.ok(error instanceof RuntimeError && error.code === "storage-failed", String(error));
        if (written) {
          const { type } = await bench.checkpoints.rollbackThrough("t1");
          assert.deepEqual([type, bench.read("a.txt")], ["restored", "0"], `fault ${at}`);
        }
        bench.remove();
        if (count < at) break;
        points++;
      }
      assert.ok(points >= 8, `only ${points} points`);
    });

    it(`${code} at any point of a restore ${lasting ? "and ever after" : "once"}: all files or none, and a second run gets there`, async () => {
      let points = 0;
      const told = new Set<string>();
      for (let at = 1; ; at++) {
        const bench = await prepare();
        const before = bench.tree();
        const fault = await withFault({ at, code, lasting }, () => bench.checkpoints.rollbackThrough("t1"));
        const after = bench.tree();
        const halfway = fault.error instanceof RuntimeError && fault.error.message.includes("half way");
        if (fault.error instanceof RuntimeError) told.add(`${fault.error.message.split(": ")[0]}. ${fault.error.hint ?? ""}`);
        if (fault.error && !halfway) {
          assert.ok(fault.error instanceof RuntimeError && fault.error.code === "storage-failed", String(fault.error));
          // The last record may be what failed: then all files are restored, or all are as before.
          const states = [JSON.stringify(before), restoredTree];
          assert.ok(states.includes(JSON.stringify(after)), `fault ${at}: ${JSON.stringify(after)}`);
        }
        const again = await bench.checkpoints.rollbackThrough("t1");
        assert.ok(["restored", "unchanged"].includes(again.type), `fault ${at}: ${again.type}`);
        const isUndone = fault.error instanceof RuntimeError && fault.error.message.includes("files are as they were");
        if (isUndone) assert.equal(again.recovered, undefined, `fault ${at}: there is nothing to bring to its end`);
        assert.deepEqual([JSON.stringify(bench.tree()), strayFiles(bench)], [restoredTree, []], `fault ${at}`);
        bench.remove();
        if (fault.count < at) break;
        points++;
      }
      assert.ok(points >= 20, `only ${points} points`);
      const ends = [...told].filter((words) => words.startsWith("The rollback was stopped"));
      const halfWay =
        "The rollback was stopped half way. The next restore or rollback of this session brings it to its end; nothing is lost";
      const undone = "The rollback was stopped and the files are as they were. ";
      assert.deepEqual(ends, lasting ? [halfWay] : [undone, halfWay]);
    });
  }
});

describe("a file that cannot be read", () => {
  it("cannot be kept, and is therefore not changed", async () => {
    const bench = createBench();
    bench.userWrites("a.txt", "0");
    const { open } = fs.promises;
    Reflect.set(fs.promises, "open", (...args: Parameters<typeof open>) =>
      args[0] === bench.path("a.txt") ? Promise.reject(Object.assign(new Error("EACCES"), { code: "EACCES" })) : open(...args),
    );
    syncBuiltinESMExports();
    try {
      bench.checkpoints.beginTurn({ turnId: "t1", prompt: "go" });
      await assert.rejects(bench.agentWrites("a.txt", "1"), {
        code: "storage-failed",
        message: /cannot be read, so it cannot be kept/,
      });
    } finally {
      Reflect.set(fs.promises, "open", open);
      syncBuiltinESMExports();
    }
    assert.equal(bench.read("a.txt"), "0");
    await bench.checkpoints.endTurn();
    bench.remove();
  });
});

describe("a dry run", () => {
  it("leaves a restore that was cut off as it is", async () => {
    for (let at = 1; ; at++) {
      const bench = await prepare();
      const { error } = await withFault({ at, code: "ENOSPC", lasting: true }, () => bench.checkpoints.rollbackThrough("t1"));
      const isHalfWay = error instanceof RuntimeError && error.message.includes("half way");
      const before = bench.tree();
      const { recovered } = await bench.checkpoints.rollbackThrough("t1", { dryRun: true });
      assert.deepEqual([recovered, bench.tree()], [undefined, before]);
      if (isHalfWay) assert.equal((await bench.checkpoints.rollbackThrough("t1")).recovered?.how, "complete");
      bench.remove();
      if (isHalfWay) break;
    }
  });
});

describe("somebody else at work", () => {
  it("stops a restore that finds a file changed since it was planned, with what the user wrote in its place", async () => {
    const ends = new Set<string>();
    for (let at = 1; ; at++) {
      const bench = await prepare();
      let count = 0;
      const stop = await beforeEachChange(() => {
        count++;
        if (count === at) writeFileSync(bench.path("a.txt"), "the user's");
      });
      const end = await bench.checkpoints.rollbackThrough("t1").then(
        ({ type }) => type,
        (error: RuntimeError) => (error.code === "busy" && error.retryable ? "busy" : `${error.code}, for good`),
      );
      stop();
      const isKept = bench.read("a.txt") === "the user's";
      if (["refused", "busy"].includes(end)) assert.ok(isKept, `change ${at}: ${end}, and ${bench.read("a.txt")}`);
      ends.add(end);
      bench.remove();
      if (count < at) break;
    }
    assert.ok(ends.has("refused") && ends.has("busy") && ends.has("restored"), [...ends].join());
  });

  it("lets nobody change a file once another process has taken the session over", async (test) => {
    test.mock.timers.enable({ apis: ["Date"], now: Date.now() });
    const bench = createBench();
    bench.userWrites("a.txt", "0");
    bench.checkpoints.beginTurn({ turnId: "t1", prompt: "go" });
    await bench.agentWrites("a.txt", "1");
    const lock = join(bench.directory, "s1.lock");
    writeFileSync(lock, JSON.stringify({ ...JSON.parse(readFileSync(lock, "utf8")), token: "other" }));
    test.mock.timers.tick(11_000); // longer than an owner believes in its lock without looking
    await assert.rejects(bench.agentWrites("b.txt", "1"), { code: "session-locked" });
    assert.equal(existsSync(bench.path("b.txt")), false);
    bench.remove();
  });
});

const restoredTree = JSON.stringify({ "a.txt": "644 MA==", gone: "folder", "gone/b.txt": "644 MA==" });
