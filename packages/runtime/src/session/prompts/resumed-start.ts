import type { ResumedFacts } from "../../hooks/hook.ts";
import type { StoredEvents } from "../../journal/store.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import { defined } from "../../util/defined.ts";

/** What SessionStart hooks are told of a conversation that goes on: whether it is a copy that nobody has used yet, and what it holds. */
export function resumedStart(events: StoredEvents, now: number): { source: "resume" | "fork"; resumed?: ResumedFacts } {
  const [start] = events.of("session.started");
  const copied = start?.forkedFrom?.seq;
  const isFresh = copied !== undefined && [...events.ofAfter(copied, "turn.started")].length === 0;
  const last = events.last("message.ended", ({ taskId }) => taskId === undefined);
  return { source: isFresh ? "fork" : "resume", ...defined({ resumed: last && factsOf(last, now) }) };
}

function factsOf({ at, message: { usage } }: AgentEvent<"message.ended">, now: number): ResumedFacts {
  return {
    secondsSinceAnswer: Math.max(0, Math.round((now - Date.parse(at)) / 1000)),
    contextTokens: usage.inputTokens + usage.outputTokens,
  };
}
