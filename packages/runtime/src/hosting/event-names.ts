import { type Kind, oneOf } from "../protocol/kinds.ts";
import type { SessionEventName } from "../session/session-view.ts";

const names: Readonly<Record<SessionEventName, true>> = {
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
export const eventNameKind: Kind = oneOf(Object.keys(names));
