import { toMessages } from "../journal/transcript.ts";
import { createPortable, type Places } from "../model/portable.ts";
import { type Cassette, type RecordedCall, toCassette, withoutMachine } from "../model/replay.ts";
import { RuntimeError } from "../protocol/errors.ts";
import type { AgentEvent } from "../protocol/events.ts";

/**
 * A session's journal as a recording: every request can be told from the events before its answer.
 * `placesOf` is asked for the folder the session worked in, which need not be the one it is replayed in.
 */
export function toRecording(events: readonly AgentEvent[], placesOf: (cwd: string) => Places): Cassette {
  const first = events.find((event) => event.type === "session.started");
  if (!first) throw new RuntimeError("config", "This is no whole journal: it does not say how its session started");
  const portable = createPortable({ places: placesOf(first.cwd) });
  const calls: RecordedCall[] = [];
  let started = first;
  let contextWindow = 200_000;
  for (const [index, event] of events.entries()) {
    if (event.type === "session.started") started = event;
    if (event.type === "context.updated") contextWindow = event.maxTokens;
    if (event.type !== "message.ended" || event.message.finish === "interrupted") continue;
    const request = portable.from({
      model: started.model.id, // what the session asked for, whoever stood in for it
      system: withoutMachine(started.system),
      tools: started.toolDefinitions,
      messages: toMessages(events.slice(0, index)),
    });
    calls.push({ request, answer: portable.from(event.message) });
  }
  return toCassette({ name: first.model.provider, contextWindow }, calls, first.version);
}
