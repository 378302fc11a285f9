import { historyText } from "../context/history-text.ts";
import { summaryIn, toSummaryRequest } from "../context/summarize.ts";
import { summarySteps } from "../context/summary-steps.ts";
import { Transcript } from "../journal/transcript.ts";
import { createPortable, type Places } from "../model/portable.ts";
import { type Cassette, type RecordedCall, toCassette, withoutMachine } from "../model/replay.ts";
import type { AssistantMessage } from "../protocol/content.ts";
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
  const transcript = new Transcript();
  let started = first;
  let contextWindow = 200_000;
  let summary: SummaryCalls | undefined;
  for (const event of events) {
    if (event.type === "session.started") started = event;
    if (event.type === "context.updated") contextWindow = event.maxTokens;
    if (event.type === "compaction.started") summary = new SummaryCalls(transcript, event);
    if (event.type === "side-call.ended" && event.purpose === "compaction" && summary) {
      const { model, system, tools, messages } = toSummaryRequest({ model: started.model.id }, summary.next(event.message));
      calls.push({ request: portable.from({ model, system, tools, messages }), answer: portable.from(event.message) });
    }
    if (event.type === "message.ended" && event.message.finish !== "interrupted") {
      const request = portable.from({
        model: started.model.id, // what the session asked for, whoever stood in for it
        system: withoutMachine(started.system),
        tools: started.toolDefinitions,
        messages: transcript.messages,
      });
      calls.push({ request, answer: portable.from(event.message) });
    }
    transcript.apply(event);
  }
  return toCassette({ name: first.model.provider, contextWindow }, calls, first.version);
}

/** The questions a summary was made with, told again from the answers. */
class SummaryCalls {
  readonly #steps: Generator<string, string, string>;
  #question: string;

  constructor(transcript: Transcript, event: AgentEvent<"compaction.started">) {
    const { replaced, chunkTokens, summaryTokens, focus } = event;
    const pieces = historyText(transcript.messages.slice(0, replaced), transcript.hasSummary);
    this.#steps = summarySteps({ pieces, chunkTokens, summaryTokens, focus });
    this.#question = this.#steps.next().value;
  }

  /** The question this was the answer to. */
  next(answer: AssistantMessage): string {
    const question = this.#question;
    try {
      this.#question = this.#steps.next(summaryIn(answer)).value;
    } catch {
      // No summary came of it then either, and nothing more was asked.
    }
    return question;
  }
}
