import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { inspectRepository, type LookAt, readConfig } from "./git-repository.ts";

const lookAt: LookAt = async (path) => {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return undefined;
  return stat.isDirectory() ? "folder" : { text: readFileSync(path, "utf8") };
};

function inFolder(body: (folder: string) => Promise<void>): () => Promise<void> {
  return async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "outrider-repository-")));
    try {
      await body(folder);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };
}

const git = (folder: string, ...args: string[]): string =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: folder, encoding: "utf8", stdio: "pipe" });

describe("inspectRepository", () => {
  it(
    "finds nothing that runs in a repository as git makes it, from any folder of it",
    inFolder(async (folder) => {
      git(folder, "init", "-q");
      git(folder, "remote", "add", "origin", "https://example.com/x.git");
      git(folder, "config", "branch.main.remote", "origin");
      mkdirSync(join(folder, "a/b"), { recursive: true });
      assert.deepEqual(await inspectRepository(join(folder, "a/b"), lookAt), {
        directory: join(folder, ".git"),
        executor: undefined,
      });
    }),
  );

  it(
    "names the key that makes real git run a program while it only looks",
    inFolder(async (folder) => {
      git(folder, "init", "-q");
      writeFileSync(join(folder, "evil.sh"), `#!/bin/sh\ntouch ${join(folder, "pwned")}\n`);
      chmodSync(join(folder, "evil.sh"), 0o755);
      git(folder, "config", "core.fsmonitor", join(folder, "evil.sh"));
      git(folder, "status");
      assert.equal(existsSync(join(folder, "pwned")), true, "the danger is real");
      assert.deepEqual(await inspectRepository(folder, lookAt), {
        directory: join(folder, ".git"),
        executor: `core.fsmonitor in ${join(folder, ".git/config")}`,
      });
    }),
  );

  it(
    "sees a bare repository that lies in a folder of the project",
    inFolder(async (folder) => {
      git(folder, "init", "-q");
      const planted = join(folder, "docs");
      git(folder, "init", "-q", "--bare", "docs");
      git(planted, "config", "core.fsmonitor", "./run-me");
      assert.deepEqual(await inspectRepository(planted, lookAt), {
        directory: planted,
        executor: `core.fsmonitor in ${join(planted, "config")}`,
      });
    }),
  );

  it(
    "follows a worktree to the repository it belongs to, and included files",
    inFolder(async (folder) => {
      const main = join(folder, "main");
      mkdirSync(main);
      git(main, "init", "-q");
      git(main, "commit", "-q", "--allow-empty", "-m", "x");
      git(main, "worktree", "add", "-q", "../tree");
      writeFileSync(join(folder, "more"), "[diff]\n\texternal = ./run-me\n");
      git(main, "config", "include.path", join(folder, "more"));
      const { executor } = await inspectRepository(join(folder, "tree"), lookAt);
      assert.equal(executor, `diff.external in ${join(folder, "more")}`);
    }),
  );

  it(
    "minds a folder of hooks only for the hook that looking runs",
    inFolder(async (folder) => {
      git(folder, "init", "-q");
      git(folder, "config", "core.hooksPath", ".husky/_");
      mkdirSync(join(folder, ".husky/_"), { recursive: true });
      writeFileSync(join(folder, ".husky/_/pre-commit"), "");
      assert.equal((await inspectRepository(folder, lookAt)).executor, undefined);
      writeFileSync(join(folder, ".husky/_/post-index-change"), "");
      assert.equal((await inspectRepository(folder, lookAt)).executor, join(folder, ".husky/_/post-index-change"));
    }),
  );

  it(
    "answers for a folder without a repository",
    inFolder(async (folder) => {
      assert.deepEqual(await inspectRepository(folder, lookAt), { directory: undefined, executor: undefined });
    }),
  );
});

describe("readConfig", () => {
  const executors: [string, string | undefined][] = [
    ["[core]\n\tpager = less\n", "core.pager"],
    ["[CORE]\n\tFsMonitor = ./x\n", "core.fsmonitor"],
    ["[core]\n\tfsmonitor = true\n", undefined],
    ['[diff "x"]\n\ttextconv = ./x\n', "diff.*.textconv"],
    ['[filter "lfs"]\n\tclean = ./x\n', "filter.*.clean"],
    ["[core] fsmonitor = ./x\n", "a line that is not understood (before any section)"],
    ["[user]\n\tname = a \\\n[core]\n", "a line that is not understood (user)"],
    ['[remote "origin"]\n\tpromisor = true\n', "remote.promisor"],
    ["[alias]\n\tst = !x\n", "alias.st"],
    ['[include]\n\tpath = "~/x"\n', "include.path"],
    ['[http "https://example.com/"]\n\textraheader = AUTHORIZATION: basic x\n', undefined],
  ];
  for (const [config, expected] of executors)
    it(`${expected ? "distrusts" : "accepts"} ${JSON.stringify(config)}`, () => {
      assert.equal(readConfig(config).executor, expected);
    });
});
