import type { Workspace } from "../../workspace/workspace.ts";
import type { Git } from "./git.ts";
import { inspectWorktree } from "./inspect-worktree.ts";
import { isSettled, isUntouched, type Worktree, type WorktreeWork } from "./worktree.ts";

export type SettledWorktree = Worktree &
  (
    | { readonly status: "removed" }
    /** `problem`: it holds nothing of its own and could still not be removed. */
    | { readonly status: "kept"; readonly work: WorktreeWork; readonly problem?: string }
  );

type Place = {
  readonly machine: Pick<Workspace, "readDirectory">;
  readonly git: Git;
  /** The user's own checkout. */
  readonly top: string;
};

/** Work there is over: it goes if nothing was done in it, else it stays, unlocked, for whoever wants it. */
export async function settleWorktree(place: Place, worktree: Worktree): Promise<SettledWorktree> {
  return await removeIf(isUntouched, place, worktree);
}

/** Removes it also when its commits are on another branch by now. */
export async function collectWorktree(place: Place, worktree: Worktree): Promise<SettledWorktree> {
  return await removeIf(isSettled, place, worktree);
}

async function removeIf(
  mayGo: (work: WorktreeWork) => boolean,
  { machine, git, top }: Place,
  worktree: Worktree,
): Promise<SettledWorktree> {
  const work = await inspectWorktree(machine, git, worktree);
  await git(top, ["worktree", "unlock", worktree.path]);
  const kept = { ...worktree, status: "kept" as const, work };
  if (!mayGo(work)) return kept;
  const head = await git(worktree.path, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
  const tip = head.text;
  if (!head.ok || !(await isElsewhere(git, { top, tip, branch: worktree.branch })))
    return { ...kept, problem: `no other branch has its commit ${tip.slice(0, 12)}` };
  // Git refuses to remove what is not clean, and to delete a branch that has moved on since.
  const { ok, complaint } = await git(top, ["worktree", "remove", worktree.path]);
  if (!ok) return { ...kept, problem: complaint };
  await git(top, ["update-ref", "-d", `refs/heads/${worktree.branch}`, tip]);
  return { ...worktree, status: "removed" };
}

async function isElsewhere(git: Git, { top, tip, branch }: { top: string; tip: string; branch: string }): Promise<boolean> {
  const places = ["refs/heads", "refs/remotes", "refs/tags"];
  const { ok, text } = await git(top, ["for-each-ref", `--contains=${tip}`, "--format=%(refname)", ...places]);
  // Not on another branch of ours: two that hold the same commit could each go because of the other.
  const isOurs = (name: string): boolean => name === `refs/heads/${branch}` || /^refs\/heads\/outrider[/-]/.test(name);
  if (ok && text.split("\n").some((name) => name !== "" && !isOurs(name))) return true;
  return (await git(top, ["merge-base", "--is-ancestor", tip, "HEAD"])).ok; // a HEAD that is on no branch
}
