import type { WorktreeFacts } from "../../protocol/events.ts";
import { describeWork, isUntouched, type Worktree, type WorktreeWork } from "./worktree.ts";

/** What everybody is told about a worktree and what is in it. */
export function toWorktreeFacts(
  { name, path, branch, base, parentChanges }: Worktree & { readonly parentChanges: number },
  work: WorktreeWork,
): WorktreeFacts {
  const { commits, changed, untracked, ignored } = work;
  const isKept = !isUntouched(work);
  const missing = parentChanges === 0 ? "" : ` ${parentChanges} files that are changed in your own checkout were not in it.`;
  const summary = isKept
    ? `The work is in the worktree ${path} on the branch ${branch}: ${describeWork(work)}. outrider worktrees merge ${name}${changed + untracked > 0 ? " --commit MESSAGE" : ""} brings it into your checkout.${missing}`
    : `Nothing was changed in the worktree ${path}: it goes with its branch.${missing}`;
  const facts = { name, path, branch, base, commits, changed, untracked, ignored, parentChanges, summary };
  return { ...facts, status: isKept ? "kept" : "unchanged" };
}
