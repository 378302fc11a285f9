import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { devNull } from "node:os";
import { join } from "node:path";
import { makeFolder } from "@outrider/runtime/host";
import { StoreFailed } from "./object-store.ts";

export type RunGit = (...words: readonly string[]) => Promise<string>;

/**
 * git with a repository of our own that has the folder as its working tree. The configuration of a checkout that is there is never read, so
 * nothing that the agent wrote there (hooks, filters, monitors) is started.
 */
export async function openPrivateGit(gitFolder: string, tree: string): Promise<RunGit> {
  const env = {
    PATH: "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin",
    HOME: gitFolder,
    LC_ALL: "C",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: devNull,
    GIT_DIR: gitFolder,
    GIT_WORK_TREE: tree,
    GIT_AUTHOR_NAME: "outrider",
    GIT_AUTHOR_EMAIL: "outrider@localhost",
    GIT_COMMITTER_NAME: "outrider",
    GIT_COMMITTER_EMAIL: "outrider@localhost",
    GIT_AUTHOR_DATE: "@0 +0000",
    GIT_COMMITTER_DATE: "@0 +0000",
  };
  const settings = ["core.hooksPath=/dev/null", "core.autocrlf=false", "core.fsmonitor=false", "gc.auto=0", "core.bare=false"];
  const git: RunGit = (...words) =>
    new Promise((resolve, reject) => {
      const args = [...settings.flatMap((setting) => ["-c", setting]), ...words];
      execFile("git", args, { cwd: tree, env, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
        if (!error) return resolve(stdout.trimEnd());
        const complaint = stderr.trim().split("\n").at(-1) || error.message;
        reject(new StoreFailed(`git ${words[0]} of ${tree} failed: ${complaint}`, { cause: error }));
      });
    });
  makeFolder(gitFolder);
  if (!existsSync(join(gitFolder, "HEAD"))) await git("init", "--quiet");
  return git;
}
