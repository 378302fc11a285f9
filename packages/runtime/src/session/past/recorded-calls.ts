import { historyText } from "../../context/history-text.ts";
import { summaryIn, toSummaryRequest } from "../../context/summarize.ts";
import { summarySteps } from "../../context/summary-steps.ts";
import { standingEvents } from "../../journal/standing-events.ts";
import { Transcript } from "../../journal/transcript.ts";
import { createPortable, type Places } from "../../model/portable.ts";
import { type Cassette, type RecordedCall, toCassette, withoutMachine } from "../../model/replay.ts";
import type { AssistantMessage, ToolDefinition } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { AgentEvent } from "../../protocol/events.ts";

/**
 * A session's journal as a recording: every request can be told from the events before its answer.
 * `placesOf` is asked for the folder the session worked in, which need not be the one it is replayed in.
 */
export function toRecording(events: readonly AgentEvent[], placesOf: (cwd: string) => Places): Cassette {
  const first = events.find((event) => event.type === "session.started");
  if (!first) throw new RuntimeError("config", "This is no whole journal: it does not say how its session started");
  const portable = createPortable({ places: placesOf(first.cwd) });
  const calls: RecordedCall[] = [];
  const talks = new Map<string | undefined, Conversation>();
  let started = first;
  let contextWindow = 200_000;
  for (const [index, event] of events.entries()) {
    if (event.type === "session.rewound") talks.set(undefined, Conversation.of(standingEvents(events.slice(0, index + 1))));
    if (event.type === "session.started") started = event;
    if (event.type === "context.updated" && event.taskId === undefined) contextWindow = event.maxTokens;
    const talk = talks.get(event.taskId) ?? new Conversation(event.taskId);
    talks.set(event.taskId, talk);
    const call = talk.callEndedBy(event, started);
    if (call) calls.push({ request: portable.from(call.request), answer: portable.from(call.answer) });
    talk.apply(event);
  }
  return toCassette({ name: first.model.provider, contextWindow }, calls, first.version);
}

/** The session's own, or that of one subagent: each has its messages, its prompt and its tools. */
class Conversation {
  readonly #transcript: Transcript;
  #task: AgentEvent<"task.started"> | undefined;
  #summary: SummaryCalls | undefined;

  constructor(taskId: string | undefined) {
    this.#transcript = new Transcript(taskId);
  }

  /** The session's own, as it stands after these. */
  static of(events: readonly AgentEvent[]): Conversation {
    const talk = new Conversation(undefined);
    for (const event of events) if (event.taskId === undefined) talk.apply(event);
    return talk;
  }

  /** An answer with what it was the answer to; undefined for every other event. */
  callEndedBy(event: AgentEvent, started: AgentEvent<"session.started">): RecordedCall | undefined {
    const asked = this.#task ?? started;
    const model = asked.model.id; // the model that was asked for, also where another one answered
    if (event.type === "side-call.ended" && event.purpose === "compaction" && this.#summary) {
      const { system, tools, messages } = toSummaryRequest({ model }, this.#summary.next(event.message));
      return { request: { model, system, tools, messages }, answer: event.message };
    }
    if (event.type !== "message.ended" || event.message.finish === "interrupted") return undefined;
    const tools = this.#task ? toolsOf(this.#task, started) : started.toolDefinitions;
    const request = { model, system: withoutMachine(asked.system), tools, messages: this.#transcript.messages };
    return { request, answer: event.message };
  }

  apply(event: AgentEvent): void {
    if (event.type === "task.started") this.#task = event;
    if (event.type === "compaction.started") this.#summary = new SummaryCalls(this.#transcript, event);
    this.#transcript.apply(event);
  }
}

function toolsOf(task: AgentEvent<"task.started">, { toolDefinitions }: AgentEvent<"session.started">): ToolDefinition[] {
  return task.tools.flatMap((name) => toolDefinitions.find((tool) => tool.name === name) ?? []);
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
