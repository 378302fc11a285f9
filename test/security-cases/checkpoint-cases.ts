import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type CheckpointBench, createBench } from "../support/checkpoint-bench.ts";
import { createGit } from "../../packages/runtime/src/tasks/worktrees/git.ts";
import { prepareWorktree } from "../../packages/runtime/src/tasks/worktrees/prepare-worktree.ts";
import { settleWorktree } from "../../packages/runtime/src/tasks/worktrees/settle-worktree.ts";
import { toWorktreeFacts } from "../../packages/runtime/src/tasks/worktrees/worktree-facts.ts";
import { createLocalWorkspace } from "../../packages/runtime/src/workspace/local.ts";
import type { CaseTable } from "./case-table.ts";

export const checkpointCases: CaseTable = {
  async CK001(_one, test) {
    const bench = benchFor(test);
    const git = gitIn(bench.project);
    git("init", "-q", "-b", "main");
    bench.userWrites("kept.txt", "committed\n");
    git("add", ".");
    git("-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-qm", "one");
    bench.userWrites("kept.txt", "uncommitted\n");
    bench.userWrites("staged.txt", "staged\n");
    git("add", "staged.txt");
    const state = (): string =>
      [git("status", "--porcelain=v2"), git("stash", "list"), git("rev-parse", "HEAD"), git("ls-files", "-s")].join();
    const before = state();
    await bench.turn("t1", { "kept.txt": "agent\n" });
    bench.userWrites("kept.txt", "uncommitted\n");
    assert.equal(state(), before, "index, stash, HEAD and work tree are as they were");
  },

  async CK003(_one, test) {
    const bench = benchFor(test);
    gitIn(bench.project)("init", "-q"); // and nobody's name in it
    bench.userWrites("untracked.txt", "mine\n");
    bench.userWrites("a.txt", "before\n");
    await bench.turn("t1", { "a.txt": "after\n" });
    const [checkpoint] = await bench.checkpoints.list();
    await bench.checkpoints.rollbackThrough(checkpoint?.id ?? "");
    assert.deepEqual([bench.read("a.txt"), bench.read("untracked.txt")], ["before\n", "mine\n"]);
  },

  async CK004(_one, test) {
    const bench = benchFor(test);
    await bench.turn("t1", { "agent.txt": "made by the agent\n" });
    bench.userWrites("mine.txt", "made by the user\n");
    const [checkpoint] = await bench.checkpoints.list();
    await bench.checkpoints.rollbackThrough(checkpoint?.id ?? "");
    assert.deepEqual([existsSync(bench.path("agent.txt")), bench.read("mine.txt")], [false, "made by the user\n"]);
  },

  async CK005(_one, test) {
    const bench = benchFor(test);
    bench.userWrites("a.txt", "before\n");
    await bench.turn("t1", { "a.txt": "after\n" });
    const outside = join(bench.project, "..", ".bashrc");
    writeFileSync(outside, "# mine\n");
    let changed = 0;
    for (const name of readdirSync(bench.directory, { recursive: true, encoding: "utf8" })) {
      const path = join(bench.directory, name);
      if (!statSync(path).isFile()) continue;
      const text = readFileSync(path, "utf8");
      const tampered = text.replaceAll(bench.path("a.txt"), outside).replaceAll('"a.txt"', '"../.bashrc"');
      if (tampered === text) continue;
      writeFileSync(path, tampered);
      changed++;
    }
    assert.ok(changed > 0, "there was something to tamper with");
    const again = bench.reopen();
    const restored = await again
      .list()
      .then(async ([checkpoint]) => again.rollbackThrough(checkpoint?.id ?? "none"))
      .catch(() => undefined);
    assert.equal(readFileSync(outside, "utf8"), "# mine\n", JSON.stringify(restored));
  },

  async CK007(_one, test) {
    const bench = benchFor(test);
    const files: Record<string, string | Uint8Array> = {
      "crlf.txt": "one\r\ntwo\r\n",
      "binary.bin": Uint8Array.from([0, 255, 13, 10, 0]),
      "empty.txt": "",
      "run.sh": "#!/bin/sh\n",
    };
    for (const [name, content] of Object.entries(files)) bench.userWrites(name, content);
    chmodSync(bench.path("run.sh"), 0o755);
    symlinkSync("crlf.txt", bench.path("link"));
    const before = bench.tree();
    await bench.turn("t1", Object.fromEntries(Object.keys(files).map((name) => [name, "changed\n"])));
    assert.notDeepEqual(bench.tree(), before);
    const [checkpoint] = await bench.checkpoints.list();
    await bench.checkpoints.rollbackThrough(checkpoint?.id ?? "");
    assert.deepEqual(bench.tree(), before);
  },

  async CK010(_one, test) {
    const bench = benchFor(test);
    bench.userWrites("a.txt", "before\n");
    // A file where the store wants its folder: nothing can be kept, as on a full disk.
    const checkpoints = bench.reopen({ directory: bench.path("a.txt") });
    checkpoints.beginTurn({ turnId: "t1", prompt: "go" });
    let written = false;
    await assert.rejects(
      checkpoints.protect(bench.path("a.txt"), "after\n", async () => {
        written = true;
      }),
    );
    assert.deepEqual([written, bench.read("a.txt")], [false, "before\n"]);
  },

  async CK011(_one, test) {
    const bench = benchFor(test);
    const git = gitIn(bench.project);
    bench.userWrites("a.txt", "before\n");
    const commit = ["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm"];
    git("init", "-q", "-b", "main");
    git("add", "-A");
    git(...commit, "first");
    const { signal } = new AbortController();
    const env = { PATH: process.env["PATH"] ?? "", HOME: bench.project };
    const workspace = createLocalWorkspace({ root: bench.project, env, overflowDirectory: bench.path("overflow") });
    const made = await prepareWorktree(workspace, { owner: "test", newId: () => "00c0ffee", signal });
    writeFileSync(join(made.path, "a.txt"), "after\n");
    git("-C", made.path, ...commit, "unmerged", "a.txt");
    const place = { machine: workspace, git: createGit(workspace, signal), top: made.top };
    const settled = await settleWorktree(place, made);
    assert.equal(settled.status, "kept");
    assert.match(git("log", "-1", "--format=%s", made.branch), /^unmerged$/m);
    assert.match(toWorktreeFacts(made, settled.work).summary, new RegExp(made.path));
  },
};

function benchFor(test: TestContext): CheckpointBench {
  const bench = createBench();
  test.after(() => bench.remove());
  return bench;
}

function gitIn(folder: string): (...args: string[]) => string {
  const env = {
    PATH: process.env["PATH"] ?? "/usr/bin:/bin",
    HOME: folder,
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_SYSTEM: "/dev/null",
  };
  return (...args) => execFileSync("git", ["-C", folder, ...args], { env, encoding: "utf8" });
}
