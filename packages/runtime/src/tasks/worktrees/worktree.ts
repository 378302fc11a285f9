/** A second checkout of a repository in which an agent works, on a branch of its own. */
export type Worktree = {
  readonly name: string;
  /** Absolute. */
  readonly path: string;
  readonly branch: string;
  /** The commit it began with. */
  readonly base: string;
};

export type Commit = { readonly id: string; readonly subject: string };

/** What is in a worktree that was not there when it was made. All empty: it can go without a loss. */
export type WorktreeWork = {
  /** Tracked files that were changed, added to the index or deleted. */
  readonly changed: number;
  readonly untracked: number;
  /** Ignored files: what a build left, but also what nobody has a second copy of. */
  readonly ignored: number;
  /** Those between the base and HEAD, newest first; at most a hundred. */
  readonly commits: readonly Commit[];
  /** Ids of commits that no branch of it leads to any more: only its reflog knows them. */
  readonly dropped: readonly string[];
  /** What else is not as it was made, in words. */
  readonly odd: readonly string[];
};

export const noWork: WorktreeWork = { changed: 0, untracked: 0, ignored: 0, commits: [], dropped: [], odd: [] };

/** Where worktrees are, below the top of the repository. */
export const worktreesFolder = ".outrider/worktrees";

export function isUntouched(work: WorktreeWork): boolean {
  return work.commits.length === 0 && isSettled(work);
}

/** All that was done is in its commits. */
export function isSettled({ changed, untracked, ignored, dropped, odd }: WorktreeWork): boolean {
  return changed + untracked + ignored + dropped.length + odd.length === 0;
}

/** For people: `2 commits, 1 changed file`. */
export function describeWork({ changed, untracked, ignored, commits, dropped, odd }: WorktreeWork): string {
  const parts = [
    counted(commits.length, "commit"),
    counted(changed, "changed file"),
    counted(untracked, "untracked file"),
    counted(ignored, "ignored file"),
    counted(dropped.length, "dropped commit"),
    ...odd,
  ].filter((part) => part !== "");
  return parts.join(", ") || "no changes";
}

function counted(count: number, what: string): string {
  return count === 0 ? "" : `${count} ${what}${count === 1 ? "" : "s"}`;
}
