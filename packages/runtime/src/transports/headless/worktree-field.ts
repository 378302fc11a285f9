import type { AgentEvent, WorktreeFacts } from "../../protocol/events.ts";

/** The event without its envelope: a result says it as it is. */
export function toWorktreeFacts(event: AgentEvent<"worktree.inspected">): WorktreeFacts {
  const { name, path, branch, base, status, commits, changed, untracked, ignored, parentChanges, summary } = event;
  return { name, path, branch, base, status, commits, changed, untracked, ignored, parentChanges, summary };
}
