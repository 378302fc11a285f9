import { toMessages } from "../journal/transcript.ts";
import { type Cassette, type Places, portable, type RecordedCall, toCassette, withoutDate } from "../model/replay.ts";
import { RuntimeError } from "../protocol/errors.ts";
import type { AgentEvent } from "../protocol/events.ts";

/** A session's journal as a recording: every request can be told from the events before its answer. */
export function toRecording(events: readonly AgentEvent[], places: Places): Cassette {
  const calls: RecordedCall[] = [];
  let started: AgentEvent<"session.started"> | undefined;
  for (const [index, event] of events.entries()) {
    if (event.type === "session.started") started = event;
    if (event.type !== "message.ended" || event.message.finish === "interrupted") continue;
    if (!started) throw new RuntimeError("config", "The journal does not begin with its session");
    const request = {
      model: event.requestedModel,
      system: withoutDate(started.system),
      tools: started.toolDefinitions,
      messages: toMessages(events.slice(0, index)),
    };
    calls.push(portable({ request, answer: event.message }, places));
  }
  return toCassette(started?.model.provider ?? "recorded", calls);
}
