import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { type CheckpointBench, createBench, describeTree } from "../../../../test/support/checkpoint-bench.ts";
import { expireCheckpoints } from "./expire.ts";

let bench: CheckpointBench;
beforeEach(() => {
  bench = createBench();
});
afterEach(() => bench.remove());

const person = ["-c", "user.name=A", "-c", "user.email=a@example.com"];

function git(...args: string[]): string {
  // A repository of its own, whatever is configured on the machine.
  const env = { PATH: process.env["PATH"] ?? "", GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null", HOME: "/" };
  return execFileSync("git", args, { cwd: bench.project, encoding: "utf8", env, stdio: ["ignore", "pipe", "pipe"] });
}

describe("checkpoints in a git repository", () => {
  it("CK001: leave index, HEAD, stash, refs and uncommitted work to the byte as they were", async () => {
    git("init", "-q", "-b", "main");
    bench.userWrites("a.txt", "committed");
    git("add", ".");
    git(...person, "commit", "-qm", "first");
    bench.userWrites("a.txt", "stashed");
    git(...person, "stash");
    bench.userWrites("staged.txt", "staged");
    git("add", "staged.txt");
    bench.userWrites("a.txt", "uncommitted");
    bench.userWrites("untracked.txt", "untracked");
    const before = describeTree(bench.project);
    await bench.turn("t1", { "a.txt": "agent", "new/agent.txt": "agent" });
    await bench.checkpoints.inspect("t1");
    assert.equal((await bench.checkpoints.rollbackThrough("t1")).type, "restored");
    assert.deepEqual(describeTree(bench.project), before);
  });

  it("CK001: keep a commit the user made in between, and do not take its files back without force", async () => {
    git("init", "-q", "-b", "main");
    bench.userWrites("a.txt", "0");
    await bench.turn("t1", { "a.txt": "agent" });
    bench.userWrites("a.txt", "agent and user");
    git("add", ".");
    git(...person, "commit", "-qm", "mine");
    const before = describeTree(bench.project);
    assert.equal((await bench.checkpoints.rollbackThrough("t1")).type, "refused");
    assert.deepEqual(describeTree(bench.project), before);
    await bench.checkpoints.rollbackThrough("t1", { force: true });
    assert.deepEqual([bench.read("a.txt"), git("show", "HEAD:a.txt")], ["0", "agent and user"]);
  });

  it("CK003: work where git knows no name and address, and never delete untracked files", async () => {
    git("init", "-q", "-b", "main");
    bench.userWrites("untracked.txt", "mine");
    bench.userWrites("other/untracked.txt", "mine too");
    await bench.turn("t1", { "untracked.txt": "agent's", "made.txt": "agent's" });
    assert.equal((await bench.checkpoints.rollbackThrough("t1")).type, "restored");
    assert.deepEqual(Object.keys(describeTree(bench.project, [".git"])), ["other", "other/untracked.txt", "untracked.txt"]);
    assert.equal(bench.read("untracked.txt"), "mine");
  });

  it("CK001: never put anything into git's own folder, whatever a tool wrote there", async () => {
    git("init", "-q", "-b", "main");
    bench.checkpoints.beginTurn({ turnId: "t1", prompt: "go" });
    const captured = await bench.checkpoints.capture(bench.path(".git/config"), "changed");
    writeFileSync(bench.path(".git/config"), "changed");
    await bench.checkpoints.endTurn();
    const { type, plan } = await bench.checkpoints.rollbackThrough("t1", { force: true });
    assert.deepEqual(
      [captured, type, plan.uncovered.map(({ shown, reason }) => `${shown}: ${reason}`), bench.read(".git/config")],
      [
        { covered: false, checkpointId: "turn-0001", reason: "git" },
        "unchanged",
        [".git/config: it is in git's own folder, which checkpoints never touch"],
        "changed",
      ],
    );
  });

  it("CK011: leave a worktree and the commits on its branch when checkpoints are cleaned up", async () => {
    git("init", "-q", "-b", "main");
    git(...person, "commit", "-q", "--allow-empty", "-m", "first");
    const worktree = join(bench.directory, "..", "worktree");
    git("worktree", "add", "-q", "-b", "side", worktree);
    const inWorktree = bench.reopen({ root: worktree });
    inWorktree.beginTurn({ turnId: "t1", prompt: "go" });
    await inWorktree.protect(join(worktree, "work.txt"), "work", async () => writeFileSync(join(worktree, "work.txt"), "work"));
    await inWorktree.endTurn();
    git("-C", worktree, "add", ".");
    git(...person, "-C", worktree, "commit", "-qm", "unmerged");
    const tip = git("rev-parse", "side");
    await expireCheckpoints({ directory: bench.directory, keepDays: 0 });
    assert.deepEqual(
      [readdirSync(bench.directory), existsSync(join(worktree, "work.txt")), git("rev-parse", "side")],
      [[], true, tip],
    );
  });
});
