import { changesIn } from "../../hosting/last-changes.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import type { PermissionMode } from "../../protocol/permission.ts";
import { heldPrompts } from "../../session/prompts/held-prompts.ts";
import type { WaitingPrompt } from "../../session/prompts/session-turns.ts";

/** What a session that is not open goes on with. */
export type StoredState = {
  /** The number of its last event. */
  readonly seq: number;
  /** The prompts that were accepted and have not begun. */
  readonly waiting: readonly WaitingPrompt[];
  readonly permissionMode: PermissionMode | undefined;
  readonly model: string | undefined;
};

export function toStoredState(events: readonly AgentEvent[]): StoredState {
  const started = events.findLast((event) => event.type === "session.started");
  const { permissionMode, model } = changesIn(events.filter((event) => event.type === "session.changed"));
  return {
    seq: events.at(-1)?.seq ?? 0,
    waiting: heldPrompts(events),
    permissionMode: permissionMode ?? started?.permissionMode,
    model: (model ?? started?.model)?.id,
  };
}
