import { rm } from "node:fs/promises";
import { join } from "node:path";
import { RuntimeError, type SessionStore } from "@outrider/runtime";

/**
 * Removes a session's journal and the long outputs of its tools; answers why not, if not. Copies of changed files stay with the
 * checkpoints, and decisions about its calls in the audit log, which have ends of their own.
 */
export async function removeSession(
  { store, home }: { store: SessionStore; home: string },
  id: string,
): Promise<string | undefined> {
  try {
    await store.remove(id);
    await rm(join(home, "overflow", id), { recursive: true, force: true });
    return undefined;
  } catch (error) {
    if (error instanceof RuntimeError && error.code === "session-locked") return error.message;
    throw error;
  }
}
