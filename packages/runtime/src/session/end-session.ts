import { toStorageFailure } from "../journal/storage-failure.ts";
import type { CancelCause } from "../protocol/outcome.ts";
import type { Emit } from "../protocol/events.ts";
import type { OpenSession } from "./create-session.ts";
import type { EventHub } from "./events/event-hub.ts";
import { tellStopped } from "./events/tell-stopped.ts";
import { takeSnapshot } from "./files/take-snapshot.ts";
import type { SessionOptions } from "./session-options.ts";

export type ShutdownOptions = {
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly waiting?: "cancel" | "keep" | undefined;
};

/** What SessionEnd hooks and the record are told when nobody gives a reason. */
export const endReasons: Record<CancelCause, string> = {
  abort: "other",
  superseded: "other",
  signal: "terminated",
  deadline: "deadline",
  "output-closed": "output_closed",
};

export type SessionEnding = {
  readonly session: OpenSession;
  readonly hub: EventHub;
  readonly reason: string;
  /** SessionEnd hooks, and an end of those in the background; once. */
  readonly endHooks: () => Promise<void>;
  /** A machine elsewhere, of which a stored session remembers how it was left. */
  readonly remembered: SessionOptions["sandboxClient"];
};

/** Ends what an idle session holds: hooks, processes, files nobody named. Its journal says so and is closed. */
export async function endSession({ session, hub, reason, endHooks, remembered }: SessionEnding): Promise<void> {
  const emit: Emit = (event) => hub.emit(event);
  await endHooks();
  const sandboxSnapshotId = await takeSnapshot(remembered, emit);
  await session.workspace.close();
  session.temporary.remove();
  tellStopped(session.workspace, emit);
  hub.emit({ type: "session.ended", reason, ...(sandboxSnapshotId !== undefined && { sandboxSnapshotId }) });
  await hub.flush().catch(() => {}); // every reader has already been told
  hub.close();
  await session.journal.close().catch((error: unknown) => {
    throw toStorageFailure("close", "the journal", error);
  });
}
