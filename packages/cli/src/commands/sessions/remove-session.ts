import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { RuntimeError, type SessionStore } from "@outrider/runtime";

/** Why something stays. `isInUse`: it is meant to, for now. */
export type Kept = { readonly reason: string; readonly isInUse: boolean };

/**
 * Removes a session's journal, the long outputs of its tools and the copy of it for other programs; answers why not, if not, so that one
 * that cannot go keeps no other from going. Copies of changed files stay with the checkpoints, and decisions about its calls in the audit
 * log, which have ends of their own.
 */
export async function removeSession(
  { store, home }: { store: SessionStore; home: string },
  id: string,
): Promise<Kept | undefined> {
  try {
    const copy = await copyOf(store, id).catch(() => undefined); // one that cannot be read can still go
    await store.remove(id);
    if (copy !== undefined)
      for (const path of [copy, copy.slice(0, -".jsonl".length)]) await rm(path, { recursive: true, force: true });
    await rm(join(home, "overflow", id), { recursive: true, force: true });
    return undefined;
  } catch (error) {
    return toKept(error);
  }
}

export function toKept(error: unknown): Kept {
  const reason = error instanceof Error ? error.message : String(error);
  return { reason, isInUse: error instanceof RuntimeError && error.code === "session-locked" };
}

/** The copy that was kept for programs which look for sessions of Claude Code; one that such a program began stays theirs. */
async function copyOf(store: SessionStore, id: string): Promise<string | undefined> {
  const events = await store.read(id);
  if (events.some(({ importedAs }) => importedAs !== undefined)) return undefined;
  const path = events.findLast((event) => event.type === "session.started")?.transcriptPath;
  return path !== undefined && basename(path) === `${id}.jsonl` ? path : undefined;
}
