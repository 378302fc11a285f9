import { RuntimeError } from "../protocol/errors.ts";
import { messageOf } from "../util/message-of.ts";
import type { SandboxClient } from "./sandbox-client.ts";

/** Brings another machine back to a state that was kept. A session does not go on where its files are others than it believes. */
export async function restoreSandbox(client: SandboxClient, snapshotId: string): Promise<void> {
  try {
    await client.restore?.(snapshotId);
  } catch (error) {
    if (error instanceof RuntimeError) throw error;
    throw new RuntimeError("not-found", `The sandbox cannot be brought back to its state ${snapshotId}: ${messageOf(error)}`, {
      cause: error,
      hint: "A copy of the session (forkSession) begins in a fresh sandbox; sandboxSnapshotId names another state",
    });
  }
}
