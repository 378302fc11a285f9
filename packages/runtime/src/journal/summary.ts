import { type ImagePart, type TextPart, textOf } from "../protocol/content.ts";
import type { AgentEvent, EventType } from "../protocol/events.ts";
import type { ForkOrigin, SessionSummary } from "./store.ts";

/** A summary in the making: everything but the size, which only the store knows. */
export type SummaryDraft = Omit<SessionSummary, "bytes">;

const promptLength = 200;

/** Pure projection, one event at a time; undefined before the first. */
export function addToSummary(draft: SummaryDraft | undefined, id: string, event: AgentEvent): SummaryDraft {
  const summary = touchSummary(draft, id, event.at);
  switch (event.type) {
    case "session.started": {
      summary.cwd = event.cwd;
      const origin = forkOrigin(event);
      if (origin) summary.forkedFrom = origin;
      break;
    }
    case "session.named":
      summary.name = event.name;
      break;
    case "turn.started":
      summary.turns++;
      if (summary.prompt === "") summary.prompt = toPrompt(event.displayInput ?? promptText(event.input.content));
      break;
    case "session.ended":
      summary.ended = event.reason;
      break;
  }
  return summary;
}

/** The types of events that tell a summary more than when they happened. */
export const telling: ReadonlySet<string> = new Set<EventType>([
  "session.started",
  "session.named",
  "turn.started",
  "session.ended",
]);

/** Something happened: the session was used then, and has not ended yet. */
export function touchSummary(draft: SummaryDraft | undefined, id: string, at: string): SummaryDraft {
  const summary = draft ?? { id, cwd: "", createdAt: at, updatedAt: at, prompt: "", turns: 0 };
  summary.updatedAt = at;
  delete summary.ended;
  return summary;
}

/** Where a forked session comes from; written by `fork` into the first event that starts the session. */
export function forkOrigin(event: AgentEvent<"session.started">): ForkOrigin | undefined {
  return event.forkedFrom;
}

/** The events of a fork: the same with the new session's id, and a note of where they come from. */
export function forkEvents(events: readonly AgentEvent[], sourceId: string, newId: string): AgentEvent[] {
  const origin: ForkOrigin = { sessionId: sourceId, seq: events.at(-1)?.seq ?? 0 };
  const start = events.find((event) => event.type === "session.started");
  return events.map((event) => forkEvent(event, newId, event === start ? origin : undefined));
}

export function forkEvent(event: AgentEvent, newId: string, origin: ForkOrigin | undefined): AgentEvent {
  return Object.assign({}, event, { sessionId: newId }, origin ? { forkedFrom: origin } : {});
}

/** Without reading a long text back: its beginning is enough, and a reference to it is no text. */
function promptText(content: readonly (TextPart | ImagePart)[]): string {
  return textOf(content.filter((part) => part.type !== "text" || typeof part.text === "string"));
}

function toPrompt(text: string): string {
  const line = text
    .slice(0, promptLength * 4)
    .replace(/\s+/g, " ")
    .trim();
  return line.length > promptLength ? `${line.slice(0, promptLength - 1)}…` : line;
}
