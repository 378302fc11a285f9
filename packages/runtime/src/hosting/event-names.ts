import type { EventType } from "../protocol/events.ts";
import { type Kind, oneOf } from "../protocol/kinds.ts";
import type { SessionEventName } from "../session/session-view.ts";

const listenerNames: Readonly<Record<SessionEventName, true>> = {
  text_delta: true,
  tool_start: true,
  tool_end: true,
  thinking: true,
  complete: true,
  error: true,
  context_update: true,
  compact: true,
  interrupted: true,
  skill_activation: true,
  permission_request: true,
  background_task_event: true,
  background_job_group_event: true,
  execution_workspace_event: true,
};

/** What a listener can be added for; the compiler holds the list to be complete. */
export const eventNameKind: Kind = oneOf(Object.keys(listenerNames));

const eventTypes: Readonly<Record<EventType, true>> = {
  "session.started": true,
  "session.named": true,
  "session.rewound": true,
  "prompt.accepted": true,
  "prompt.cancelled": true,
  "turn.started": true,
  "session.changed": true,
  "input.added": true,
  "references.read": true,
  "context.referenced": true,
  "text.delta": true,
  "reasoning.delta": true,
  "tool-input.delta": true,
  "retry.scheduled": true,
  "fallback.used": true,
  "message.ended": true,
  "tool.started": true,
  "tool.progress": true,
  "tool.ended": true,
  "permission.requested": true,
  "permission.resolved": true,
  "permission.decided": true,
  "hook.started": true,
  "hook.ended": true,
  "settings.ignored": true,
  "context.updated": true,
  "context.cleared": true,
  "parts.refused": true,
  "compaction.started": true,
  "compaction.ended": true,
  "task.started": true,
  "task.ended": true,
  "background.created": true,
  "background.started": true,
  "background.updated": true,
  "background.ended": true,
  "background.closed": true,
  "group.created": true,
  "group.updated": true,
  "group.ended": true,
  "background.delta": true,
  "background.activity": true,
  "side-call.ended": true,
  "checkpoint.skipped": true,
  "checkpoint.restored": true,
  "step.imported": true,
  "worktree.inspected": true,
  "skill.activated": true,
  "interaction.requested": true,
  "interaction.resolved": true,
  "memory.noted": true,
  "warning.raised": true,
  "turn.ended": true,
  "session.ended": true,
};

/** What `events()` can be asked for; the compiler holds this list to be complete too. */
export const eventTypeKind: Kind = oneOf(Object.keys(eventTypes));

export function isEventType(text: string): boolean {
  return Object.hasOwn(eventTypes, text);
}
