import { lstatSync, readlinkSync } from "node:fs";

const ownerRead = 0o400;

/**
 * Says where an answer is that nobody can read. Where stdout was closed (`>&-`), Node has put /dev/null in its place, open for reading and
 * writing, as libraries do for an output they ignore: the two cannot be told apart. A shell's `> /dev/null` is open for writing only.
 */
export function tellUnread(sessionId: string, complain: (line: string) => void): void {
  if (!isDiscarded("/proc/self/fd/1")) return;
  complain(`stdout is closed or ignored: the answer is only in the session ${sessionId} (outrider sessions show ${sessionId})`);
}

function isDiscarded(descriptor: string): boolean {
  try {
    return readlinkSync(descriptor) === "/dev/null" && (lstatSync(descriptor).mode & ownerRead) !== 0;
  } catch {
    return false; // not Linux
  }
}
