import type { AgentEvent } from "../../protocol/events.ts";
import type { Outcome, StopLimit } from "../../protocol/outcome.ts";
import type { SessionUpdate } from "./wire.ts";

/** What is no part of the conversation and worth knowing: only for clients that have a place for it. */
export function toNotices(
  event: AgentEvent,
  shows: { readonly notices: boolean; readonly compactions: boolean },
): SessionUpdate[] {
  if (event.taskId !== undefined) return [];
  if (event.type === "compaction.started" || event.type === "compaction.ended")
    return shows.compactions ? [toCompaction(event)] : [];
  if (!shows.notices) return [];
  switch (event.type) {
    case "warning.raised":
      return [{ sessionUpdate: "notice", severity: "warning", title: event.message }];
    case "worktree.inspected":
      return [{ sessionUpdate: "notice", severity: "info", title: event.summary }];
    case "settings.ignored":
      return [
        {
          sessionUpdate: "notice",
          severity: "warning",
          title: "Settings of a project that is not trusted do not count",
          description: `${event.items.join(", ")}. ${event.hint}`,
        },
      ];
    case "retry.scheduled":
      return [{ sessionUpdate: "notice", severity: "info", title: `The model is asked again: ${event.error.message}` }];
    case "fallback.used":
      return [
        {
          sessionUpdate: "notice",
          severity: "warning",
          title: `${event.to} is asked instead of ${event.from}: ${event.error.message}`,
        },
      ];
    case "turn.ended":
      return event.outcome.type === "stopped" ? stopNotice(event.outcome) : [];
    default:
      return [];
  }
}

/** What `max_turn_requests` alone does not tell. */
function stopNotice({ limit, reason }: Outcome & { type: "stopped" }): SessionUpdate[] {
  const titles: Partial<Record<StopLimit, string>> = {
    "max-budget": "The budget is spent",
    "max-requests": "No more models may be asked for this prompt",
    loop: `Stopped going round in circles: ${reason ?? "the same call had the same result again and again"}`,
  };
  const title = titles[limit];
  return title === undefined ? [] : [{ sessionUpdate: "notice", severity: "warning", title }];
}

function toCompaction(event: AgentEvent<"compaction.started" | "compaction.ended">): SessionUpdate {
  const update = { sessionUpdate: "compaction_update", compactionId: event.compactionId } as const;
  if (event.type === "compaction.started") return { ...update, status: "in_progress" };
  const { result } = event;
  switch (result.type) {
    case "compacted":
      return { ...update, status: "completed", summary: [{ type: "text", text: result.summary }] };
    case "cancelled":
      return { ...update, status: "cancelled" };
    case "refused":
      return { ...update, status: "cancelled", error: result.reason };
    case "failed":
      return { ...update, status: "failed", error: result.error.message };
  }
}
