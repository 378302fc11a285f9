import type { Answer } from "../permissions/gate.ts";
import type { JsonValue, UserMessage } from "../protocol/content.ts";
import type { AgentEvent, EventType, PromptMode } from "../protocol/events.ts";
import {
  abortSignal,
  action,
  anyText,
  checkOptions,
  checkValue,
  count,
  either,
  fields,
  flag,
  type Kind,
  listOf,
  needed,
  oneOf,
  place,
  shape,
  text,
} from "../protocol/kinds.ts";
import type { Outcome } from "../protocol/outcome.ts";
import type { SubscribeOptions } from "../session/events/event-hub.ts";
import { InteractiveSession as Session } from "../session/interactive-session.ts";
import type { SubmitOptions } from "../session/prompts/inbox.ts";
import type { AcceptedPrompt } from "../session/prompts/session-turns.ts";
import type { SessionEventName, SessionEvents } from "../session/session-view.ts";
import { isRecord } from "../util/is-record.ts";
import { eventNameKind, eventTypeKind } from "./event-names.ts";

/** A session in the hands of a program, which may have no types: what it says wrongly is told in its own words at the call. */
export class CheckedSession<Structured = JsonValue> extends Session<Structured> {
  override async submit(
    input: string | UserMessage,
    options?: string | SubmitOptions,
    rawInput?: string,
  ): Promise<Outcome<Structured>> {
    checkPrompt(input, typeof options === "object" ? options : { displayInput: options, rawInput });
    return await super.submit(input, options, rawInput);
  }

  override async accept(input: string | UserMessage, options: SubmitOptions = {}): Promise<AcceptedPrompt<Structured>> {
    checkPrompt(input, options);
    return await super.accept(input, options);
  }

  override on<N extends SessionEventName>(name: N, listener: SessionEvents[N]): this {
    checkValue("The name of an event", name, eventNameKind);
    checkValue("A listener", listener, action);
    return super.on(name, listener);
  }

  override events<T extends EventType = EventType>(options: SubscribeOptions<T> = {}): AsyncIterable<AgentEvent<T>> {
    checkOptions("events", options, subscribeKinds);
    return super.events(options);
  }

  override answerPermission(requestId: string, answer: Answer | Answer["decision"]): void {
    if (typeof answer === "object") checkOptions("The answer", answer, answerKinds);
    super.answerPermission(requestId, answer);
  }
}

function checkPrompt(input: unknown, options: unknown): void {
  checkValue("The prompt", input, promptKind);
  checkOptions("The options of a prompt", options, submitKinds);
}

const textPart = shape({ text: needed(anyText) }, "");
const imagePart = shape({ mediaType: needed(text), data: needed(anyText), url: text }, "");
const part: Kind = (value) => {
  if (isRecord(value) && value["type"] === "text") return textPart(value);
  if (isRecord(value) && value["type"] === "image") return imagePart(value);
  return { at: "", wanted: 'a part { type: "text", text } or { type: "image", mediaType, data }', value };
};
const message = shape({ role: needed(oneOf(["user"])), content: needed(listOf(part, "a list of parts")) }, "");
const promptKind: Kind = (value) => {
  if (typeof value === "string") return undefined;
  return isRecord(value) && "role" in value ? message(value) : { at: "", wanted: "a text or a message of the user", value };
};

const submitKinds: Readonly<Record<keyof SubmitOptions, Kind>> = {
  mode: oneOf(["queue", "steer", "now"] satisfies PromptMode[]),
  key: text,
  id: text,
  displayInput: anyText,
  rawInput: anyText,
  maxTurns: count,
};

const subscribeKinds: Readonly<Record<keyof SubscribeOptions, Kind>> = {
  after: place,
  types: listOf(eventTypeKind, "a list of types of events"),
  tasks: either("true, false or a list of task ids", flag, listOf(text, "")),
  capacity: count,
  whenFull: oneOf(["drop", "wait"]),
  signal: abortSignal,
};

const answerKinds: Readonly<Record<keyof Answer, Kind>> = {
  decision: oneOf(["allow", "deny"]),
  message: anyText,
  updatedInput: fields,
  interrupt: flag,
  remember: oneOf(["session", "project"]),
};
