import type { AgentEvent } from "../protocol/events.ts";

type Told = AgentEvent<"tool.ended" | "context.cleared" | "compaction.ended">;

/** The instruction files that the session's own conversation still shows beside results, and with which call each of them came. */
export function shownInstructions(events: Iterable<Told>): { path: string; callId: string }[] {
  let shown: { path: string; callId: string }[] = [];
  for (const event of events) {
    if (event.taskId !== undefined) continue;
    if (event.type === "tool.ended")
      for (const { path } of event.details?.instructions ?? []) shown.push({ path, callId: event.callId });
    else if (event.type === "context.cleared") {
      const gone = new Set(event.results.map(({ callId }) => callId));
      shown = shown.filter(({ callId }) => !gone.has(callId));
    } else if (event.result.type === "compacted") shown = [];
  }
  return shown;
}
