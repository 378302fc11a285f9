import type { CancelCause } from "../protocol/outcome.ts";
import type { Emit } from "../protocol/events.ts";
import type { OpenSession } from "./create-session.ts";
import type { EventHub } from "./events/event-hub.ts";
import { tellStopped } from "./events/tell-stopped.ts";
import { takeSnapshot } from "./files/take-snapshot.ts";
import { endHooks } from "./prompts/end-hooks.ts";
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
  /** As far as hooks are concerned, the session had begun. */
  readonly begun: boolean;
  /** Why the session was aborted, if it was. */
  readonly cancelled: CancelCause | undefined;
  /** A machine elsewhere, of which a stored session remembers how it was left. */
  readonly remembered: SessionOptions["sandboxClient"];
};

/** Ends what an idle session holds: hooks, processes, files nobody named. Its journal says so and is closed. */
export async function endSession({ session, hub, reason, begun, cancelled, remembered }: SessionEnding): Promise<void> {
  const { hooks } = session.deps;
  const hurried = cancelled !== undefined && cancelled !== "abort";
  const emit: Emit = (event) => hub.emit(event);
  if (hooks) await endHooks(hooks, { reason, begun, hurried, emit });
  const sandboxSnapshotId = await takeSnapshot(remembered, emit);
  await session.workspace.close();
  session.temporary?.remove();
  tellStopped(session.workspace, emit);
  hub.emit({ type: "session.ended", reason, ...(sandboxSnapshotId !== undefined && { sandboxSnapshotId }) });
  await hub.flush().catch(() => {}); // every reader has already been told
  hub.close();
  await session.journal.close();
}
