import type { HookEventName } from "../protocol/events.ts";

const names = {
  PreToolUse: 0,
  PostToolUse: 0,
  PostToolUseFailure: 0,
  PostToolBatch: 0,
  UserPromptSubmit: 0,
  UserPromptExpansion: 0,
  Setup: 0,
  SessionStart: 0,
  SessionEnd: 0,
  Stop: 0,
  StopFailure: 0,
  InstructionsLoaded: 0,
  SubagentStart: 0,
  SubagentStop: 0,
  PreCompact: 0,
  PostCompact: 0,
  PermissionRequest: 0,
  Notification: 0,
  WorktreeCreate: 0,
  WorktreeRemove: 0,
  TaskCreated: 0,
  TaskCompleted: 0,
  Elicitation: 0,
  ElicitationResult: 0,
  CwdChanged: 0,
} satisfies Record<HookEventName, 0>;

/** As settings files write them. */
export const hookEventNames: readonly string[] = Object.keys(names);

export function isHookEvent(name: string): name is HookEventName {
  return Object.hasOwn(names, name);
}
