import {
  type AssistantMessage,
  callsOf,
  type Message,
  type ToolCallPart,
  type ToolMessage,
  type ToolResultPart,
  userText,
} from "../protocol/content.ts";
import type { AgentEvent, AgentEvents, CompactionResult, EventBody, EventEnvelope, EventType } from "../protocol/events.ts";
import { setPartsAside } from "../protocol/refused-parts.ts";
import type { Masked } from "../util/masked.ts";
import { type ConversationType, conversationTypes } from "./conversation-types.ts";
import { standingEvents } from "./standing-events.ts";

/** Pure projection: the stored events are the session; messages are only a way of reading them. With a `taskId`, those of that subagent. */
export function toMessages(events: Iterable<RecordedEvent>, taskId?: string): Message[] {
  const transcript = new Transcript(taskId);
  for (const event of standingEvents(events)) transcript.apply(event as AgentEvent); // on record, whatever of its envelope is told here
  return transcript.messages;
}

type RecordedEvent<T extends EventType = EventType> = EventBody<T> & Partial<Pick<EventEnvelope, "taskId" | "at" | "seq">>;
const types: ReadonlySet<EventType> = new Set<EventType>(conversationTypes);

/** A transcript as JSON. */
export type TranscriptState = {
  readonly messages: readonly Message[];
  readonly prompt?: number | undefined;
  readonly measuredFrom: number;
  readonly hasSummary: boolean;
  /** Of the calls whose results stand at `index`. */
  readonly open?:
    | {
        readonly index: number;
        readonly results: readonly (readonly [string, ToolResultPart])[];
        readonly started: readonly (readonly [string, string])[];
      }
    | undefined;
};

type OpenCalls = {
  readonly index: number;
  readonly message: AssistantMessage;
  readonly results: Map<string, ToolResultPart>;
  /** When each was started, and what became of its processes. */
  readonly started: Map<string, string>;
};

/**
 * The same projection, event by event: it holds what the model would see next, and nothing that compaction took away.
 * Results stand in the order of their calls, whichever finished first, so that a resumed request is byte for byte
 * the one that would have been sent. A call that was cut off has a result saying how far it had come.
 * It is about one conversation: the session's own, or that of one subagent.
 */
export class Transcript {
  readonly #taskId: string | undefined;
  #messages: Message[] = [];
  #open: OpenCalls | undefined;
  /** Calls have gone on since their message was made: it is made again when somebody looks. */
  #isStale = false;
  #prompt: number | undefined;
  #measuredFrom = 0;
  #hasSummary = false;

  constructor(taskId?: string) {
    this.#taskId = taskId;
  }

  /** A new list each time; the messages themselves are shared and never change. Events were masked before they were stored. */
  get messages(): Masked<Message>[] {
    this.#refresh();
    return [...this.#messages] as Masked<Message>[]; // `apply` takes nothing else
  }

  /** Where the last prompt stands among the messages. */
  get prompt(): number | undefined {
    return this.#prompt;
  }

  /** Answers before this index counted the tokens of a context that is no more. */
  get measuredFrom(): number {
    return this.#measuredFrom;
  }

  /** The first message is a summary of what was there before. */
  get hasSummary(): boolean {
    return this.#hasSummary;
  }

  get state(): TranscriptState {
    const { messages } = this;
    const { index, results, started } = this.#open ?? {};
    const open = index === undefined ? undefined : { index, results: [...(results ?? [])], started: [...(started ?? [])] };
    return { messages, prompt: this.#prompt, measuredFrom: this.#measuredFrom, hasSummary: this.#hasSummary, open };
  }

  /** Goes on where another one stood. */
  restore({ messages, prompt, measuredFrom, hasSummary, open }: TranscriptState): void {
    this.#messages = [...messages];
    this.#prompt = prompt;
    this.#measuredFrom = measuredFrom;
    this.#hasSummary = hasSummary;
    const message = open && messages[open.index - 1];
    if (open && message?.role === "assistant")
      this.#open = { index: open.index, message, results: new Map(open.results), started: new Map(open.started) };
  }

  apply(event: AgentEvent | Masked<RecordedEvent>): void {
    if (event.taskId === this.#taskId && isOfConversation(event)) this.#apply(event);
  }

  #apply(event: RecordedEvent<ConversationType>): void {
    switch (event.type) {
      case "task.started":
        this.#prompt = this.#messages.push(userText(event.prompt)) - 1;
        return;
      case "turn.started":
        if (event.command !== undefined) return;
        this.#prompt = this.#messages.push(event.input) - 1;
        return;
      case "input.added":
        this.#messages.push(event.input);
        return;
      case "message.ended":
        return this.#applyAnswer(event.message);
      case "tool.started":
        this.#open?.started.set(
          event.callId,
          `${event.at ?? "a time that is not known"}${processNotes[event.processes ?? "none"]}`,
        );
        this.#isStale = true;
        return;
      case "tool.ended":
        this.#open?.results.set(event.callId, event.result);
        this.#isStale = true;
        return;
      case "context.cleared":
        this.#refresh();
        this.#messages = clearResults(this.#messages, event);
        return this.#close();
      case "parts.refused":
        this.#refresh();
        this.#messages = setPartsAside(this.#messages, event);
        this.#open = undefined;
        return;
      case "compaction.ended":
        if (event.result.type === "compacted") this.#compact(event.result);
    }
  }

  #applyAnswer(message: AssistantMessage): void {
    this.#refresh();
    this.#messages.push(message);
    this.#open = undefined;
    if (callsOf(message).length === 0) return;
    this.#open = { index: this.#messages.length, message, results: new Map(), started: new Map() };
    this.#messages.push(nothingYet); // its place; what stands there is made when somebody looks
    this.#isStale = true;
  }

  #refresh(): void {
    if (!this.#isStale) return;
    this.#isStale = false;
    if (this.#open) this.#messages[this.#open.index] = toolMessage(this.#open);
  }

  #compact(result: CompactionResult & { type: "compacted" }): void {
    this.#refresh();
    this.#prompt = promptAfter(this.#prompt, result);
    this.#messages = compactMessages(this.#messages, result);
    this.#hasSummary = true;
    this.#close();
  }

  /** What was counted, and which place results go to, is about another list from here on. */
  #close(): void {
    this.#open = undefined;
    this.#measuredFrom = this.#messages.length;
  }
}

/** Who reads a long log asks for these alone: what is no such event must not matter here. */
function isOfConversation(event: RecordedEvent): event is RecordedEvent<ConversationType> {
  return types.has(event.type);
}

const nothingYet: ToolMessage = { role: "tool", content: [] };

/** The messages of a context after a compaction. */
export function compactMessages(messages: readonly Message[], result: CompactionResult & { type: "compacted" }): Message[] {
  const prompt = result.prompt === undefined ? undefined : messages[result.prompt];
  return [userText(replacementText(result)), ...(prompt ? [prompt] : []), ...messages.slice(result.replaced)];
}

/** Where the prompt stands after a compaction: it is never lost. */
export function promptAfter(prompt: number | undefined, result: CompactionResult & { type: "compacted" }): number | undefined {
  if (result.prompt !== undefined) return 1;
  return prompt === undefined || prompt < result.replaced ? undefined : prompt - result.replaced + 1;
}

/** The messages of a context after old results were taken out of it. */
export function clearResults(messages: readonly Message[], cleared: AgentEvents["context.cleared"]): Message[] {
  const notes = new Map(cleared.results.map(({ callId, note }) => [callId, note]));
  return messages.map((message, index) => {
    if (message.role !== "tool" || index >= cleared.through) return message;
    if (!message.content.some((part) => notes.has(part.callId))) return message;
    return { ...message, content: message.content.map((part) => withNote(part, notes.get(part.callId))) };
  });
}

function withNote(part: ToolResultPart, note: string | undefined): ToolResultPart {
  return note === undefined ? part : { ...part, content: [{ type: "text", text: note }] };
}

function replacementText({ preface, summary, kept, skills = [], files }: CompactionResult & { type: "compacted" }): string {
  const atWork = skills.map(({ name, text }) => `<skill name=${JSON.stringify(name)}>\n${text}\n</skill>`);
  const shown = files.map(({ path, text }) => `<file path=${JSON.stringify(path)}>\n${text}\n</file>`);
  return [preface, `<summary>\n${summary}\n</summary>`, ...(kept ? [kept] : []), ...atWork, ...shown].join("\n\n");
}

const processNotes = {
  none: "",
  ended: " (the processes that it had started were ended with the run)",
  "may-run": " (a process that it had started may still be running)",
};

function unfinishedResult(call: ToolCallPart, startedAt: string | undefined): ToolResultPart {
  const text =
    startedAt === undefined
      ? "Not run: the run was interrupted before this call started."
      : `Outcome unknown: this call was started at ${startedAt}, and the run ended before its result was recorded. It may have done all of its work, a part of it or nothing; it was not repeated. Check its effects before you call it again.`;
  return { type: "tool-result", callId: call.callId, name: call.name, content: [{ type: "text", text }], isError: true };
}

function toolMessage({ message, results, started }: OpenCalls): ToolMessage {
  const content = callsOf(message).map((call) => results.get(call.callId) ?? unfinishedResult(call, started.get(call.callId)));
  return { role: "tool", content };
}
