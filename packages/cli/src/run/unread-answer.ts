import { lstatSync, readlinkSync } from "node:fs";

const ownerRead = 0o400;

/**
 * Says where an answer is that nobody can read. Where stdout was closed (`>&-`), Node has put /dev/null in its place, open for reading and
 * writing, as libraries do for an output they ignore: the two cannot be told apart. A shell's `> /dev/null` is open for writing only.
 */
export function tellUnread(sessionId: string, complain: (line: string) => void): void {
  if (!isDiscarded("/proc/self/fd/1")) return;
  complain(`stdout is closed or ignored: the answer is only in the session ${sessionId} (${showAnswer(sessionId)})`);
}

/** Of an answer of which stdout has taken nothing, or only a part. */
export function tellUnwritten(sessionId: string, { why, isKept }: { why: string; isKept: boolean }): string {
  return `stdout cannot be written: ${why}${isKept ? `\nWhat there is of the answer is in the session ${sessionId} (${showAnswer(sessionId)})` : ""}`;
}

function showAnswer(sessionId: string): string {
  return `outrider sessions export ${sessionId} --format markdown`;
}

function isDiscarded(descriptor: string): boolean {
  try {
    return readlinkSync(descriptor) === "/dev/null" && (lstatSync(descriptor).mode & ownerRead) !== 0;
  } catch {
    return false; // not Linux
  }
}
