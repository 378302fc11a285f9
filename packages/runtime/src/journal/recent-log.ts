import { statSync } from "node:fs";
import { type Recovered, recover } from "./recover.ts";

/** What a file was like when it was read. */
type Recent = { readonly path: string; readonly stamp: string; readonly log: WeakRef<Recovered> };

/**
 * The log that was read or written last. A fork is read for its name, for the copy, and the copy when it is opened: a long log is not
 * read again while it has not changed. Held loosely, so that it costs no memory for long.
 */
export class RecentLog {
  #recent: Recent | undefined;

  async recover(path: string): Promise<Recovered> {
    const stamp = stampOf(path); // before the look: what comes meanwhile makes it another file
    const { path: known, stamp: then, log } = this.#recent ?? {};
    const recovered = known === path && then === stamp ? log?.deref() : undefined;
    if (recovered) return recovered;
    const read = await recover(path);
    this.remember(path, read, stamp);
    return read;
  }

  /** What was just written to its end. */
  remember(path: string, log: Recovered, stamp: string | undefined = stampOf(path)): void {
    this.#recent = stamp === undefined ? undefined : { path, stamp, log: new WeakRef(log) };
  }
}

function stampOf(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false, bigint: true });
  return stat && [stat.dev, stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(" ");
}
