import { createLocalWorkspace } from "../../workspace/local.ts";
import { randomUuid } from "../../util/unique-ids.ts";
import { createGit } from "../worktrees/git.ts";
import { inspectWorktree } from "../worktrees/inspect-worktree.ts";
import { type PreparedWorktree, planWorktree } from "../worktrees/prepare-worktree.ts";
import { settleWorktree } from "../worktrees/settle-worktree.ts";
import { isUntouched } from "../worktrees/worktree.ts";
import { toWorktreeFacts } from "../worktrees/worktree-facts.ts";
import type { PreparedSubagentWorktree, SubagentWorktreeAdapter } from "./subagent-contract.ts";

export type GitWorktreeAdapterOptions = {
  /** What git finds in its environment. */
  readonly env: Readonly<Record<string, string>>;
  /** For what git prints too much of. */
  readonly overflowDirectory: string;
  /** Who works there: others leave it alone while that process lives. */
  readonly owner: string;
};

type Made = PreparedWorktree & { readonly top: string };

/** Worktrees of git below `.outrider/worktrees`, from HEAD, on branches of their own. Only what is untouched is ever removed. */
export function createGitWorktreeAdapter({ env, overflowDirectory, owner }: GitWorktreeAdapterOptions): SubagentWorktreeAdapter {
  const made = new WeakMap<PreparedSubagentWorktree, Made>();
  const machineAt = (root: string) => createLocalWorkspace({ root, env: { ...env }, overflowDirectory });
  const { signal } = new AbortController(); // each git has a time limit of its own
  const at = async <T>(
    worktree: PreparedSubagentWorktree,
    use: (found: Made, machine: ReturnType<typeof machineAt>, git: ReturnType<typeof createGit>) => Promise<T>,
  ): Promise<T> => {
    const found = made.get(worktree);
    if (!found) throw new Error(`${worktree.worktreePath} is no worktree of this adapter`);
    const machine = machineAt(found.top);
    try {
      return await use(found, machine, createGit(machine, signal));
    } finally {
      await machine.close();
    }
  };
  return {
    async prepare({ jobId, cwd }) {
      const machine = machineAt(cwd);
      try {
        const newId = (): string => randomUuid().replaceAll("-", "");
        const plan = await planWorktree(machine, { prefix: jobId, owner, newId, signal });
        const ready = await plan.make();
        const { cwd: worktreePath, branch: branchName, base: baseRevision, parentChanges } = ready;
        const parentStatus = parentChanges === 0 ? undefined : `${parentChanges} changed files are not in it`;
        const worktree = { worktreePath, branchName, baseRevision, parentStatus };
        made.set(worktree, { ...ready, top: plan.top });
        return worktree;
      } finally {
        await machine.close();
      }
    },
    inspect: async (worktree) =>
      await at(worktree, async (found, machine, git) => {
        const work = await inspectWorktree(machine, git, found);
        if (isUntouched(work)) return { clean: true };
        return { clean: false, status: "kept", nextAction: toWorktreeFacts(found, work).summary };
      }),
    remove: async (worktree) =>
      await at(worktree, async (found, machine, git) => void (await settleWorktree({ machine, git, top: found.top }, found))),
  };
}
