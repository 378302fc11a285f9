import { sleep } from "../../util/sleep.ts";
import { inertGitScript } from "../../workspace/inert-git.ts";
import type { Workspace } from "../../workspace/workspace.ts";

export type GitAnswer = {
  readonly ok: boolean;
  /** What it printed, without the last line feed. */
  readonly text: string;
  /** The last line of what it complained about. */
  readonly complaint: string;
};

/** Runs one git command in a folder. Never rejects: a git that is missing or too slow has not answered well. */
export type Git = (folder: string, words: readonly string[], use?: GitUse) => Promise<GitAnswer>;

export type GitUse = {
  /** With the user's own configuration and hooks. For what the user has asked for by name. */
  readonly asUser?: boolean;
};

const timeoutMs = 120_000;
const maxText = 16 * 1024 * 1024;

/** A hook of git starts programs with these set; git would then work on that repository, whatever folder it is given. */
const misleading =
  "unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_COMMON_DIR GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_NAMESPACE GIT_PREFIX\n";

/** A deleted branch and a removed worktree take their reflog along, so there must be one while they live. */
const keepReflog = { GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "core.logAllRefUpdates", GIT_CONFIG_VALUE_0: "true" };

/** Starts no program that the repository names: its hooks, filters and monitors stay out of it, unless it is to be as the user. */
export function createGit(workspace: Pick<Workspace, "run">, signal: AbortSignal): Git {
  return async (folder, words, use = {}) => {
    for (let attempt = 1; ; attempt++) {
      const answer = await runGit({ workspace, signal }, { folder, words, use });
      if (answer.ok || use.asUser || attempt === attempts || signal.aborted || !passing.test(answer.complaint)) return answer;
      await sleep(attempt * 20, signal).catch(() => {}); // then it is not tried any more
    }
  };
}

/**
 * What git says when another git makes or removes a worktree of the same repository at this moment: it looks at all of them, also at one that is half made,
 * and gives up before it has done anything.
 */
const passing = /failed to read .*commondir|Invalid path .*\/worktrees\/|could not create (leading )?director.*worktrees/;
const attempts = 12;

type GitPlace = { readonly workspace: Pick<Workspace, "run">; readonly signal: AbortSignal };
type GitCall = { readonly folder: string; readonly words: readonly string[]; readonly use: GitUse };

async function runGit({ workspace, signal }: GitPlace, { folder, words, use: { asUser = false } }: GitCall): Promise<GitAnswer> {
  const script = `${misleading}${asUser ? 'exec git "$@"' : inertGitScript}`;
  let text = "";
  let complaint = "";
  try {
    const result = await workspace.run({
      file: "sh",
      args: ["-c", script, "git", ...words],
      cwd: folder,
      env: asUser ? {} : { ...keepReflog, LC_ALL: "C" },
      timeoutMs,
      signal,
      unboxed: true,
      onOutput: ({ stream, bytes }) => {
        const piece = Buffer.from(bytes).toString("utf8");
        if (stream === "stdout") text = (text + piece).slice(0, maxText);
        else complaint = (complaint + piece).slice(-4_000);
      },
    });
    const ok = result.end === "exit" && result.exitCode === 0;
    return { ok, text: text.replace(/\n$/, ""), complaint: ok ? "" : lastLine(complaint) || `git ended with ${result.end}` };
  } catch (error) {
    return { ok: false, text: "", complaint: error instanceof Error ? error.message : String(error) };
  }
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1)?.trim() ?? "";
}
