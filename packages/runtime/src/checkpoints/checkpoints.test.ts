import assert from "node:assert/strict";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { RuntimeError } from "../protocol/errors.ts";
import { type CheckpointBench, createBench } from "../../../../test/support/checkpoint-bench.ts";
import type { RestoreResult } from "./restore.ts";

let bench: CheckpointBench;
beforeEach(() => {
  bench = createBench();
});
afterEach(() => bench.remove());

/** What a result says, without the states of every file. */
function outline({ type, plan }: RestoreResult) {
  const lines = (list: readonly { shown: string; reason: string }[]) => list.map(({ shown, reason }) => `${shown}: ${reason}`);
  return {
    type,
    undone: plan.checkpoints,
    changes: plan.changes.map(({ action, shown }) => `${action} ${shown}`),
    conflicts: lines(plan.conflicts),
    obstacles: lines(plan.obstacles),
    uncovered: lines(plan.uncovered),
  };
}
const quiet = { conflicts: [], obstacles: [], uncovered: [] };

describe("going back", () => {
  it("puts a file that was edited twice in a turn back to before the first edit, and takes away what the turn created", async () => {
    bench.userWrites("a.txt", "one");
    const before = bench.tree();
    bench.checkpoints.beginTurn({ turnId: "t1", prompt: "go" });
    await bench.agentWrites("a.txt", "two");
    await bench.agentWrites("a.txt", "three");
    await bench.agentWrites("src/deep/new.txt", "new");
    await bench.checkpoints.endTurn();
    assert.deepEqual(outline(await bench.checkpoints.rollbackThrough("t1")), {
      type: "restored",
      undone: ["turn-0001"],
      changes: ["write a.txt", "delete src/deep/new.txt"],
      ...quiet,
    });
    assert.deepEqual(bench.tree(), before);
  });

  it("undoes what came after a checkpoint with restore, and the checkpoint too with rollback", async () => {
    bench.userWrites("a.txt", "0");
    await bench.turn("t1", { "a.txt": "1" });
    await bench.turn("t2", { "a.txt": "2" });
    await bench.turn("t3", { "a.txt": "3" });
    await bench.checkpoints.restoreTo("turn-0002");
    assert.equal(bench.read("a.txt"), "2");
    await bench.checkpoints.rollbackThrough("turn-0002");
    assert.equal(bench.read("a.txt"), "1");
    assert.deepEqual(
      (await bench.checkpoints.list()).map(({ id, target }) => [id, target]),
      [
        ["turn-0001", undefined],
        ["turn-0002", undefined],
        ["turn-0003", undefined],
        ["restore-0004", "turn-0002"],
        ["rollback-0005", "turn-0002"],
      ],
    );
  });

  it("undoes a restore like any other change", async () => {
    bench.userWrites("a.txt", "0");
    await bench.turn("t1", { "a.txt": "1", "new.txt": "n" });
    chmodSync(bench.path("new.txt"), 0o755);
    const after = bench.tree();
    await bench.checkpoints.rollbackThrough("t1");
    assert.deepEqual(Object.keys(bench.tree()), ["a.txt"]);
    assert.deepEqual(outline(await bench.checkpoints.rollbackThrough("rollback-0002")), {
      type: "restored",
      undone: ["rollback-0002"],
      changes: ["write a.txt", "create new.txt"],
      ...quiet,
    });
    assert.deepEqual(bench.tree(), after);
    const last = await bench.checkpoints.restoreTo("t1");
    assert.deepEqual([last.type, last.recovered], ["unchanged", undefined], "there is nothing left to bring to its end");
  });

  it("gets the exact content of a turn that was left for another way", async () => {
    bench.userWrites("a.txt", "0");
    await bench.turn("t1", { "a.txt": "1" });
    await bench.turn("t2", { "a.txt": "2", "only-2.txt": "x" });
    const second = bench.tree();
    await bench.checkpoints.restoreTo("t1");
    await bench.turn("t3", { "a.txt": "3", "only-3.txt": "y" });
    assert.equal((await bench.checkpoints.restoreTo("t2")).type, "restored");
    assert.deepEqual(bench.tree(), second);
  });

  it("goes back over a turn that a crash cut off", async () => {
    bench.userWrites("a.txt", "0");
    bench.checkpoints.beginTurn({ turnId: "t1", prompt: "go" });
    await bench.agentWrites("a.txt", "1");
    // The write is announced and done, but the process ends before it can say so.
    await bench.checkpoints.capture(bench.path("a.txt"), "2");
    writeFileSync(bench.path("a.txt"), "2");
    await bench.checkpoints.capture(bench.path("b.txt"), "never written");
    rmSync(join(bench.directory, "s1.lock"));
    const later = bench.reopen();
    assert.deepEqual(outline(await later.rollbackThrough("t1")), {
      type: "restored",
      undone: ["turn-0001"],
      changes: ["write a.txt"],
      ...quiet,
    });
    assert.equal(bench.read("a.txt"), "0");
  });

  it("finds a checkpoint by id, number, turn or user message, and says what there is otherwise", async () => {
    await assert.rejects(bench.checkpoints.inspect("x"), {
      code: "not-found",
      message: 'There is no checkpoint "x". The session has none',
      hint: undefined,
    });
    bench.checkpoints.beginTurn({ turnId: "t1", prompt: "go", userMessageId: "m1" });
    await bench.checkpoints.endTurn();
    for (const name of ["turn-0001", "1", "t1", "m1"]) {
      assert.equal((await bench.checkpoints.inspect(name)).checkpoint.id, "turn-0001");
    }
    await assert.rejects(bench.checkpoints.inspect("turn-0002"), (error: RuntimeError) => {
      assert.deepEqual(
        [error.code, error.message, error.hint],
        ["not-found", 'There is no checkpoint "turn-0002". There are 1, from turn-0001 to turn-0001', "Did you mean turn-0001?"],
      );
      return true;
    });
  });

  it("takes away the folder that an earlier restore made, when that is rolled back", async () => {
    await bench.turn("t1", { "new/c.txt": "1" });
    const written = bench.tree();
    await bench.checkpoints.rollbackThrough("t1");
    assert.deepEqual(bench.tree(), {});
    await bench.checkpoints.rollbackThrough("2");
    assert.deepEqual(bench.tree(), written);
    await bench.checkpoints.rollbackThrough("3");
    assert.deepEqual(bench.tree(), {});
  });

  it("does nothing, and records nothing, when there is nothing to undo", async () => {
    await bench.turn("t1", {});
    assert.equal((await bench.checkpoints.restoreTo("t1")).type, "unchanged");
    assert.equal((await bench.checkpoints.list()).length, 1);
  });

  it("shows with a dry run what it would do, also while a turn runs, and does not do it", async () => {
    bench.userWrites("a.txt", "0");
    bench.checkpoints.beginTurn({ turnId: "t1", prompt: "go" });
    await bench.agentWrites("a.txt", "1");
    assert.deepEqual(outline(await bench.checkpoints.rollbackThrough("t1", { dryRun: true })), {
      type: "planned",
      undone: ["turn-0001"],
      changes: ["write a.txt"],
      ...quiet,
    });
    await assert.rejects(bench.checkpoints.rollbackThrough("t1"), { code: "busy" });
    await assert.rejects(bench.reopen().rollbackThrough("t1"), { code: "session-locked" });
    assert.equal(bench.read("a.txt"), "1");
    await bench.checkpoints.endTurn();
    assert.equal((await bench.reopen().rollbackThrough("t1")).type, "restored");
  });

  it("asks whoever may forbid it first, with every path it would change, and changes nothing then", async () => {
    bench.userWrites("a.txt", "0");
    const { checkpoints } = bench;
    checkpoints.beginTurn({ turnId: "t1", prompt: "go" });
    await bench.agentWrites("a.txt", "1");
    await bench.agentWrites("new.txt", "1");
    await checkpoints.endTurn();
    const before = bench.tree();
    const asked: (readonly string[])[] = [];
    const mayChange = async (paths: readonly string[]): Promise<void> => {
      asked.push(paths);
      throw new Error("may not");
    };
    for (const dryRun of [true, false]) {
      const going = checkpoints.rollbackThrough("t1", { mayChange, dryRun });
      await (dryRun ? going : assert.rejects(going, /^Error: may not$/));
    }
    assert.deepEqual(asked, [[bench.path("a.txt"), bench.path("new.txt")]]);
    assert.deepEqual([bench.tree(), (await checkpoints.list()).length], [before, 1]);
  });

  it("keeps a change made after its turn as a checkpoint of its own, and gives the lock back", async () => {
    bench.userWrites("a.txt", "0");
    await bench.turn("t1", { "a.txt": "1" });
    await bench.agentWrites("a.txt", "2");
    assert.equal((await bench.reopen().restoreTo("t1")).type, "restored");
    assert.deepEqual(
      [bench.read("a.txt"), (await bench.checkpoints.list()).map(({ id }) => id)],
      ["1", ["turn-0001", "background-0002", "restore-0003"]],
    );
  });
});

describe("what somebody else did in between", () => {
  const changed = async (result: Promise<RestoreResult>) => {
    const { type, conflicts } = outline(await result);
    return { type, conflicts };
  };

  it("is not overwritten after the last turn, and nothing else is done either", async () => {
    bench.userWrites("a.txt", "0");
    await bench.turn("t1", { "a.txt": "1", "b.txt": "agent's" });
    bench.userWrites("a.txt", "mine");
    const before = bench.tree();
    assert.deepEqual(await changed(bench.checkpoints.rollbackThrough("t1")), {
      type: "refused",
      conflicts: ["a.txt: it was changed since turn-0001"],
    });
    assert.deepEqual(bench.tree(), before);
  });

  it("is not overwritten between two turns or in the middle of one", async () => {
    bench.userWrites("a.txt", "0");
    bench.userWrites("b.txt", "0");
    await bench.turn("t1", { "a.txt": "1" });
    bench.userWrites("a.txt", "mine");
    bench.checkpoints.beginTurn({ turnId: "t2", prompt: "go" });
    await bench.agentWrites("a.txt", "mine and 2");
    await bench.agentWrites("b.txt", "1");
    bench.userWrites("b.txt", "my b");
    await bench.agentWrites("b.txt", "my b and 2");
    await bench.checkpoints.endTurn();
    assert.deepEqual(await changed(bench.checkpoints.rollbackThrough("t1")), {
      type: "refused",
      conflicts: [
        "a.txt: it was changed by somebody else between turn-0001 and turn-0002",
        "b.txt: it was changed by somebody else during turn-0002",
      ],
    });
  });

  it("stays in what is restored where it came before the turns that are undone", async () => {
    bench.userWrites("a.txt", "0");
    await bench.turn("t1", { "a.txt": "1" });
    bench.userWrites("a.txt", "mine");
    await bench.turn("t2", { "a.txt": "2" });
    assert.equal((await bench.checkpoints.restoreTo("t1")).type, "restored");
    assert.equal(bench.read("a.txt"), "mine");
  });

  it("is seen where size and time of change are the same as before", async () => {
    const { checkpoints } = bench;
    await bench.turn("t1", { "a.txt": "agent" });
    const { atime, mtime } = statSync(bench.path("a.txt"));
    bench.userWrites("a.txt", "users");
    utimesSync(bench.path("a.txt"), atime, mtime);
    const result = await checkpoints.rollbackThrough("t1");
    assert.deepEqual(
      [result.type, result.plan.conflicts.map(({ shown }) => shown), bench.read("a.txt")],
      ["refused", ["a.txt"], "users"],
    );
  });

  it("is that of another session too, and each session undoes its own", async () => {
    const other = bench.reopen({ sessionId: "s2" });
    bench.userWrites("shared.txt", "0");
    await bench.turn("t1", { "shared.txt": "first", "own.txt": "1" });
    other.beginTurn({ turnId: "u1", prompt: "go" });
    await other.protect(bench.path("shared.txt"), "second", async () => bench.userWrites("shared.txt", "second"));
    await other.endTurn();
    const refused = await bench.checkpoints.rollbackThrough("t1");
    assert.deepEqual([refused.type, refused.plan.conflicts.map(({ shown }) => shown)], ["refused", ["shared.txt"]]);
    assert.equal((await other.rollbackThrough("u1")).type, "restored");
    assert.equal((await bench.checkpoints.rollbackThrough("t1")).type, "restored");
    assert.equal(bench.read("shared.txt"), "0");
  });

  it("is overwritten with force, and can be had back", async () => {
    bench.userWrites("a.txt", "0");
    await bench.turn("t1", { "a.txt": "1" });
    bench.userWrites("a.txt", "mine");
    assert.equal((await bench.checkpoints.rollbackThrough("t1", { force: true })).type, "restored");
    assert.equal(bench.read("a.txt"), "0");
    assert.equal((await bench.checkpoints.rollbackThrough("rollback-0002")).type, "restored");
    assert.equal(bench.read("a.txt"), "mine");
  });

  it("is seen when it is a removal, and a file renamed by its user is left where it is", async () => {
    bench.userWrites("a.txt", "0");
    await bench.turn("t1", { "a.txt": "1", "new.txt": "agent's" });
    rmSync(bench.path("a.txt"));
    renameSync(bench.path("new.txt"), bench.path("kept.txt"));
    assert.deepEqual(await changed(bench.checkpoints.rollbackThrough("t1")), {
      type: "refused",
      conflicts: ["a.txt: it was removed or renamed since turn-0001"],
    });
    await bench.checkpoints.rollbackThrough("t1", { force: true });
    assert.deepEqual([bench.read("a.txt"), bench.read("kept.txt")], ["0", "agent's"]);
  });

  it("is no hindrance when it is what would be restored anyway", async () => {
    bench.userWrites("a.txt", "0");
    await bench.turn("t1", { "a.txt": "1" });
    bench.userWrites("a.txt", "0");
    assert.equal((await bench.checkpoints.rollbackThrough("t1")).type, "unchanged");
  });

  it("CK004: keeps files of the user in a folder the agent made", async () => {
    await bench.turn("t1", { "made/agent.txt": "a", "empty/agent.txt": "b" });
    bench.userWrites("made/user.txt", "mine");
    assert.deepEqual(outline(await bench.checkpoints.rollbackThrough("t1")), {
      type: "restored",
      undone: ["turn-0001"],
      changes: ["delete made/agent.txt", "delete empty/agent.txt"],
      ...quiet,
    });
    assert.deepEqual(Object.keys(bench.tree()), ["made", "made/user.txt"]);
  });

  it("does not follow a file or a folder that has become a link", async () => {
    bench.userWrites("a.txt", "0");
    bench.userWrites("src/b.txt", "0");
    const elsewhere = join(bench.directory, "..", "elsewhere");
    mkdirSync(elsewhere, { recursive: true });
    writeFileSync(join(elsewhere, "b.txt"), "1");
    writeFileSync(join(elsewhere, "target"), "secret");
    await bench.turn("t1", { "a.txt": "1", "src/b.txt": "1" });
    rmSync(bench.path("a.txt"));
    symlinkSync(join(elsewhere, "target"), bench.path("a.txt"));
    rmSync(bench.path("src"), { recursive: true });
    symlinkSync(elsewhere, bench.path("src"));
    assert.deepEqual(outline(await bench.checkpoints.rollbackThrough("t1")), {
      type: "refused",
      undone: ["turn-0001"],
      changes: ["write a.txt"],
      conflicts: ["a.txt: it was changed since turn-0001: it is a symbolic link now"],
      obstacles: [`src/b.txt: ${bench.path("src")} is a symbolic link now`],
      uncovered: [],
    });
    await bench.checkpoints.rollbackThrough("t1", { force: true });
    assert.deepEqual(
      [bench.read("a.txt"), readFileSync(join(elsewhere, "target"), "utf8"), readFileSync(join(elsewhere, "b.txt"), "utf8")],
      ["0", "secret", "1"],
    );
    await bench.checkpoints.rollbackThrough("rollback-0002");
    assert.equal(bench.tree()["a.txt"], `-> ${join(elsewhere, "target")}`);
  });

  it("does not remove a folder that took a file's place, not even with force", async () => {
    await bench.turn("t1", { "a.txt": "1", "b.txt": "1" });
    rmSync(bench.path("a.txt"));
    bench.userWrites("a.txt/inside.txt", "mine");
    assert.deepEqual(outline(await bench.checkpoints.rollbackThrough("t1", { force: true })), {
      type: "restored",
      undone: ["turn-0001"],
      changes: ["delete b.txt"],
      conflicts: [],
      obstacles: ["a.txt: it is a folder now"],
      uncovered: [],
    });
    assert.equal(bench.read("a.txt/inside.txt"), "mine");
  });

  it("keeps permission bits the user changed, and removes a file whose bits alone changed", async () => {
    bench.userWrites("tool.sh", "0");
    chmodSync(bench.path("tool.sh"), 0o644);
    await bench.turn("t1", { "tool.sh": "1", "new.sh": "1" });
    chmodSync(bench.path("tool.sh"), 0o755);
    chmodSync(bench.path("new.sh"), 0o755);
    assert.equal((await bench.checkpoints.rollbackThrough("t1")).type, "restored");
    assert.deepEqual(bench.tree(), { "tool.sh": `755 ${Buffer.from("0").toString("base64")}` });
  });
});

describe("fidelity", () => {
  it("CK007: restores mode, CRLF, binary and empty files to the byte", async () => {
    bench.userWrites("run.sh", "#!/bin/sh\n");
    chmodSync(bench.path("run.sh"), 0o750);
    bench.userWrites("crlf.txt", "a\r\nb\r\n");
    bench.userWrites(
      "binary",
      Uint8Array.from({ length: 70_000 }, (_, index) => (index * 7) % 256),
    );
    bench.userWrites("empty", "");
    bench.userWrites("read-only", "x");
    chmodSync(bench.path("read-only"), 0o444);
    const before = bench.tree();
    await bench.turn("t1", { "run.sh": "1", "crlf.txt": "a\nb\n", binary: "text", empty: "full", "read-only": "y" });
    await bench.checkpoints.rollbackThrough("t1");
    assert.deepEqual(bench.tree(), before);
  });

  it("CK007: restores a symbolic link and a mode that a tool changed", async () => {
    bench.userWrites("file", "x");
    chmodSync(bench.path("file"), 0o600);
    symlinkSync("somewhere", bench.path("link"));
    const before = bench.tree();
    bench.checkpoints.beginTurn({ turnId: "t1", prompt: "go" });
    await bench.checkpoints.capture(bench.path("link"));
    rmSync(bench.path("link"));
    await bench.checkpoints.recordWritten(bench.path("link"));
    await bench.checkpoints.capture(bench.path("file"));
    chmodSync(bench.path("file"), 0o644);
    await bench.checkpoints.recordWritten(bench.path("file"));
    await bench.checkpoints.endTurn();
    const { type, changes } = outline(await bench.checkpoints.rollbackThrough("t1"));
    assert.deepEqual([type, changes], ["restored", ["link link", "mode file"]]);
    assert.deepEqual(bench.tree(), before);
  });

  it("CK007: changes a file that is too large to keep, and lists it as not covered", async () => {
    const small = bench.reopen({ maxFileBytes: 1000 });
    bench.userWrites("large", "x".repeat(1001));
    small.beginTurn({ turnId: "t1", prompt: "go" });
    const captured = [await small.capture(bench.path("large"), "1")];
    bench.userWrites("large", "1");
    captured.push(await small.capture(bench.path("large"), "2"));
    bench.userWrites("large", "2");
    await small.endTurn();
    assert.deepEqual(captured, [
      { covered: false, checkpointId: "turn-0001", reason: "too-large" },
      { covered: false, checkpointId: "turn-0001", reason: "too-large" },
    ]);
    assert.deepEqual(outline(await small.rollbackThrough("t1")), {
      type: "unchanged",
      undone: ["turn-0001"],
      changes: [],
      conflicts: [],
      obstacles: [],
      uncovered: ["large: it was too large to keep (1001 bytes)"],
    });
    assert.deepEqual((await small.inspect("t1")).files, [
      {
        path: bench.path("large"),
        shown: "large",
        before: { kind: "uncovered", reason: "too-large", size: 1001 },
        available: false,
        reason: "it was too large to keep (1001 bytes)",
      },
    ]);
  });

  it("does not overwrite, not even with force, what grew too large to be kept", async () => {
    const small = bench.reopen({ maxFileBytes: 1000 });
    small.beginTurn({ turnId: "t1", prompt: "go" });
    await small.protect(bench.path("a"), "1", async () => bench.userWrites("a", "1"));
    await small.endTurn();
    bench.userWrites("a", "x".repeat(2000));
    const { type, obstacles } = outline(await small.rollbackThrough("t1", { force: true }));
    assert.deepEqual([type, obstacles], ["unchanged", ["a: it is very large now, so no copy of it could be kept"]]);
    assert.equal(bench.read("a").length, 2000);
  });

  it("keeps no pipe, and does not wait for one", async () => {
    process.getBuiltinModule("node:child_process").execFileSync("mkfifo", [bench.path("pipe")]);
    bench.checkpoints.beginTurn({ turnId: "t1", prompt: "go" });
    assert.deepEqual(await bench.checkpoints.capture(bench.path("pipe")), {
      covered: false,
      checkpointId: "turn-0001",
      reason: "special",
    });
    await bench.checkpoints.endTurn();
  });

  it("says which copies are gone, and restores nothing then", async () => {
    bench.userWrites("a.txt", "0");
    await bench.turn("t1", { "a.txt": "1" });
    rmSync(join(bench.directory, "s1", "blobs"), { recursive: true });
    const { type, obstacles } = outline(await bench.checkpoints.rollbackThrough("t1"));
    assert.deepEqual([type, obstacles], ["refused", ["a.txt: the kept copy is gone or damaged"]]);
    assert.equal((await bench.checkpoints.inspect("t1")).files[0]?.available, false);
  });

  it("puts nothing back from a copy that is not what was kept", async () => {
    bench.userWrites("a.txt", "zero");
    bench.userWrites("b.txt", "zero b");
    await bench.turn("t1", { "a.txt": "one", "b.txt": "one" });
    const blobs = join(bench.directory, "s1", "blobs");
    for (const name of readdirSync(blobs)) {
      if (readFileSync(join(blobs, name), "utf8") === "zero b") writeFileSync(join(blobs, name), "hero b");
    }
    const before = bench.tree();
    await assert.rejects(bench.checkpoints.rollbackThrough("t1"), /as they were: The kept copy .* is damaged or gone/);
    assert.deepEqual(bench.tree(), before);
  });
});

describe("what is not covered", () => {
  it("names the shell commands of the turns that are undone", async () => {
    bench.userWrites("a.txt", "0");
    bench.checkpoints.beginTurn({ turnId: "t1", prompt: "go" });
    await bench.checkpoints.noteUncovered("call-1", "npm install");
    await bench.agentWrites("a.txt", "1");
    await bench.checkpoints.endTurn();
    await bench.turn("t2", { "a.txt": "2" });
    const first = await bench.checkpoints.inspect("t1");
    assert.deepEqual(
      [first.checkpoint.commandCount, first.commands, first.rollback.commands, first.restore.commands],
      [1, [{ callId: "call-1", command: "npm install" }], [{ callId: "call-1", command: "npm install" }], []],
    );
  });

  it("names none when commands run in a worktree or sandbox", async () => {
    const isolated = bench.reopen({ isolation: "worktree" });
    isolated.beginTurn({ turnId: "t1", prompt: "go" });
    await isolated.noteUncovered("call-1", "npm install");
    await isolated.endTurn();
    assert.equal((await isolated.inspect("t1")).checkpoint.commandCount, 0);
  });

  it("stores prompts and commands shortened and without secrets", async () => {
    const careful = bench.reopen({ redact: (text) => text.replaceAll("hunter2", "[redacted]") });
    careful.beginTurn({ turnId: "t1", prompt: `${"x".repeat(195)}hunter2` });
    await careful.noteUncovered("call-1", "login hunter2");
    await careful.endTurn();
    const log = readFileSync(join(bench.directory, "s1", "log.jsonl"), "utf8");
    assert.deepEqual([log.includes("hunter"), (await careful.list())[0]?.prompt?.length], [false, 201]);
  });
});

describe("the store", () => {
  it("is outside of the project, for its owner only", async () => {
    await bench.turn("t1", { "a.txt": "1" });
    await bench.turn("t2", { "a.txt": "2" });
    const folder = join(bench.directory, "s1");
    const modes = ["", "log.jsonl", "blobs"].map((name) => (lstatSync(join(folder, name)).mode & 0o777).toString(8));
    assert.deepEqual([modes, Object.keys(bench.tree())], [["700", "600", "700"], ["a.txt"]]);
  });

  it("refuses a session id that is a path", () => {
    assert.throws(() => bench.reopen({ sessionId: "../evil" }), { code: "usage" });
  });

  it("refuses a path that is not written out to its end", async () => {
    bench.checkpoints.beginTurn({ turnId: "t1", prompt: "go" });
    await assert.rejects(bench.checkpoints.capture("a.txt"), { code: "usage" });
    await assert.rejects(bench.checkpoints.capture(`${bench.project}/src/../a.txt`), { code: "usage" });
    await bench.checkpoints.endTurn();
  });

  it("CK010: does not change the file when its copy cannot be kept", async () => {
    bench.userWrites("a.txt", "0");
    await bench.turn("t0", {});
    rmSync(join(bench.directory, "s1", "blobs"), { recursive: true, force: true });
    writeFileSync(join(bench.directory, "s1", "blobs"), "no folder");
    bench.checkpoints.beginTurn({ turnId: "t1", prompt: "go" });
    await assert.rejects(bench.agentWrites("a.txt", "1"), { code: "storage-failed" });
    await bench.checkpoints.endTurn();
    assert.equal(bench.read("a.txt"), "0");
  });

  it("forgets a line that a crash tore, and goes on after it", async () => {
    bench.userWrites("a.txt", "0");
    await bench.turn("t1", { "a.txt": "1" });
    const log = join(bench.directory, "s1", "log.jsonl");
    writeFileSync(log, '{"type":"link","n":2,"pa', { flag: "a" });
    assert.equal((await bench.checkpoints.list()).length, 1);
    await bench.turn("t2", { "a.txt": "2" });
    assert.equal((await bench.checkpoints.rollbackThrough("t1")).type, "restored");
    assert.equal(bench.read("a.txt"), "0");
  });

  it("forgets a long line that a crash tore, too", async () => {
    bench.userWrites("a.txt", "0");
    await bench.turn("t1", { "a.txt": "1" });
    const log = join(bench.directory, "s1", "log.jsonl");
    writeFileSync(log, `{"type":"link","path":"${"x".repeat(10_000)}`, { flag: "a" });
    await bench.turn("t2", { "a.txt": "2" });
    const { type, plan } = await bench.checkpoints.rollbackThrough("t1");
    assert.deepEqual([type, plan.damaged, bench.read("a.txt")], ["restored", 0, "0"]);
  });

  for (const [what, evil] of [
    ["climbs out", "../../.bashrc"],
    ["climbs out of the project", "/project/../../.bashrc"],
  ]) {
    it(`CK005: refuses a tampered entry whose path ${what}, with or without a right sum`, async () => {
      bench.userWrites("a.txt", "0");
      await bench.turn("t1", { "a.txt": "1" });
      const log = join(bench.directory, "s1", "log.jsonl");
      const text = readFileSync(log, "utf8");
      const tampered = text.replaceAll(bench.path("a.txt"), evil ?? "");
      assert.notEqual(tampered, text);
      for (const line of [tampered, tampered.split("\n").map(sealed).join("\n")]) {
        writeFileSync(log, line);
        const { type, plan } = await bench.checkpoints.rollbackThrough("t1");
        assert.deepEqual([type, plan.damaged, plan.changes], ["refused", 2, []]);
      }
      assert.equal(bench.read("a.txt"), "1");
    });
  }
});

/** A forger would make the sum fit. */
function sealed(line: string): string {
  const cut = line.lastIndexOf(',"sum":');
  if (cut === -1) return line;
  const json = `${line.slice(0, cut)}}`;
  const { createHash } = process.getBuiltinModule("node:crypto");
  return `${json.slice(0, -1)},"sum":"${createHash("sha256").update(json).digest("hex").slice(0, 16)}"}`;
}
