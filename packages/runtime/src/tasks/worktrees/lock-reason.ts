const mark = "outrider ";

/** Why git is not to remove a worktree: somebody of ours works there. `owner` tells later whether that is still so. */
export function lockReason(owner: string): string {
  return `${mark}${owner}`;
}

/** The owner of a lock of ours; undefined for a lock that somebody else made. */
export function ownerIn(reason: string): string | undefined {
  return reason.startsWith(mark) ? reason.slice(mark.length) : undefined;
}
