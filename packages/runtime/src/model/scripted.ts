import {
  type AssistantMessage,
  type AssistantPart,
  type FinishReason,
  noUsage,
  type ToolCallPart,
  type Usage,
} from "../protocol/content.ts";
import { type ErrorCode, type ErrorData, RuntimeError } from "../protocol/errors.ts";
import {
  action,
  anyText,
  checkOptions,
  checkValue,
  count as countKind,
  either,
  fields as fieldsKind,
  flag as flagKind,
  type Kind,
  listOf,
  needed,
  place,
  shape,
  text as textKind,
} from "../protocol/kinds.ts";
import { nearest } from "../util/nearest.ts";
import { sleep } from "../util/sleep.ts";
import type { ModelEvent, ModelRequest, Provider } from "./model.ts";
import { isRecord } from "../util/is-record.ts";
import { defined } from "../util/defined.ts";

export type ScriptedCall = {
  readonly name: string;
  readonly input?: unknown;
  readonly callId?: string;
  readonly malformedInput?: string;
};

/** One answer, made up in advance. */
export type ScriptedReply = {
  readonly reasoning?: string;
  readonly text?: string;
  readonly calls?: readonly ScriptedCall[];
  /** `tool-calls` when there are calls, else `stop`. */
  readonly finish?: FinishReason;
  /** What is left out is 0: a script uses no tokens. */
  readonly usage?: Partial<Usage>;
  /** Before the first word. */
  readonly delayMs?: number;
  /** Fails like this after what was said. */
  readonly fail?: Pick<ErrorData, "code" | "message"> & Partial<ErrorData>;
  /** Says its words and then nothing more, until it is aborted. */
  readonly hang?: boolean;
};

export type ScriptStep = ScriptedReply | ((request: ModelRequest, index: number) => ScriptedReply | Promise<ScriptedReply>);

export type ScriptedOptions = {
  readonly name?: string;
  readonly model?: string;
  readonly contextWindow?: number;
  readonly nativeSchema?: boolean;
  /** Between two words, for people who watch. */
  readonly deltaDelayMs?: number;
};

const optionKinds: Readonly<Record<keyof ScriptedOptions, Kind>> = {
  name: textKind,
  model: textKind,
  contextWindow: countKind,
  nativeSchema: flagKind,
  deltaDelayMs: place,
};

const replyKinds: Readonly<Record<keyof ScriptedReply, Kind>> = {
  reasoning: anyText,
  text: anyText,
  calls: listOf(shape({ name: needed(anyText) }, "a call with a name"), "a list of calls"),
  finish: anyText,
  usage: fieldsKind,
  delayMs: place,
  fail: shape({ code: needed(textKind), message: needed(anyText) }, "an object with code and message"),
  hang: flagKind,
};

/** A model that says what it was told to say, in order, and remembers what it was asked. */
export function createScriptedProvider(
  replies: readonly ScriptStep[],
  options: ScriptedOptions = {},
): Provider & { readonly requests: readonly ModelRequest[] } {
  checkOptions("createScriptedProvider", options, optionKinds);
  checkReplies(replies);
  const requests: ModelRequest[] = [];
  const name = options.name ?? "scripted";
  return {
    name,
    model: options.model ?? "scripted",
    contextWindow: options.contextWindow ?? 200_000,
    nativeSchema: options.nativeSchema ?? false,
    requests,
    stream(request, { signal }) {
      const index = requests.push({ ...request, messages: [...request.messages] }) - 1; // messages themselves never change
      return play({
        step: replies[index],
        index,
        total: replies.length,
        request,
        signal,
        name,
        deltaDelayMs: options.deltaDelayMs ?? 0,
      });
    },
  };
}

/** A function says what it answers when it is asked. */
function checkReplies(replies: unknown): void {
  checkValue(
    "replies",
    replies,
    listOf(either("a reply, or a function that answers one", fieldsKind, action), "a list of replies"),
  );
  for (const [index, reply] of (replies as readonly unknown[]).entries()) // just checked
    if (typeof reply !== "function") checkOptions(`reply ${index + 1}`, reply, replyKinds);
}

/** Checks replies that were read from JSON: a list, or an object with a list of `replies`. */
export function parseScript(value: unknown): ScriptedReply[] {
  const replies = isRecord(value) && "replies" in value ? value["replies"] : value;
  if (!Array.isArray(replies))
    throw new RuntimeError("config", 'A script is a list of replies, or an object with a list of "replies"');
  return replies.map((reply: unknown, index) => {
    check(reply, `reply ${index + 1}`, replyFields);
    return reply as ScriptedReply; // every field was checked above
  });
}

type Scene = {
  step: ScriptStep | undefined;
  index: number;
  total: number;
  request: ModelRequest;
  signal: AbortSignal;
  name: string;
  deltaDelayMs: number;
};

async function* play(scene: Scene): AsyncGenerator<ModelEvent> {
  const { step, index, total, request, signal } = scene;
  if (!step) {
    const size = total === 1 ? "1 reply" : `${total} replies`;
    throw new RuntimeError("config", `The script has ${size}, but reply ${index + 1} was asked for`, {
      hint: "Add a reply to the script",
    });
  }
  const reply = typeof step === "function" ? await step(request, index) : step;
  signal.throwIfAborted();
  if (reply.delayMs) await sleep(reply.delayMs, signal);
  const calls = toCalls(reply, index);
  for (const event of toDeltas(reply, calls)) {
    if (scene.deltaDelayMs > 0) await sleep(scene.deltaDelayMs, signal);
    signal.throwIfAborted();
    yield event;
  }
  if (reply.hang) await untilAborted(signal);
  if (reply.fail) throw new RuntimeError(reply.fail.code, reply.fail.message, reply.fail);
  yield { type: "finished", message: toMessage(reply, calls, { provider: scene.name, id: request.model }) };
}

/** The calls of a reply with their ids; `index` is the reply's place in the script. */
export function toCalls(reply: ScriptedReply, index: number): ToolCallPart[] {
  return (reply.calls ?? []).map((call, position) => ({
    type: "tool-call",
    callId: call.callId ?? `call_${index + 1}_${position + 1}`,
    name: call.name,
    input: call.malformedInput === undefined ? (call.input ?? {}) : {},
    ...defined({ malformedInput: call.malformedInput }),
  }));
}

/** Word by word, each with the white space after it. */
export function toWords(text: string): string[] {
  return text.match(/\S*\s+|\S+$/g) ?? [];
}

export function finishOf(reply: ScriptedReply): FinishReason {
  return reply.finish ?? (reply.calls && reply.calls.length > 0 ? "tool-calls" : "stop");
}

function* toDeltas(reply: ScriptedReply, calls: readonly ToolCallPart[]): Generator<ModelEvent> {
  for (const text of toWords(reply.reasoning ?? "")) yield { type: "reasoning.delta", text };
  for (const text of toWords(reply.text ?? "")) yield { type: "text.delta", text };
  for (const { callId, name, input, malformedInput } of calls) {
    yield { type: "tool-input.delta", callId, name, json: malformedInput ?? JSON.stringify(input) };
  }
}

function toMessage(reply: ScriptedReply, calls: ToolCallPart[], model: AssistantMessage["model"]): AssistantMessage {
  const content: AssistantPart[] = [];
  if (reply.reasoning) content.push({ type: "reasoning", text: reply.reasoning });
  if (reply.text) content.push({ type: "text", text: reply.text });
  return {
    role: "assistant",
    content: [...content, ...calls],
    model,
    finish: finishOf(reply),
    usage: { ...noUsage, ...reply.usage },
  };
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abort = (): void => {
      clearInterval(timer);
      reject(signal.reason);
    };
    // A promise alone would not keep the process alive, and a hanging request does.
    const timer = setInterval(() => {}, 60_000);
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort, { once: true });
  });
}

type Check = (value: unknown, where: string) => void;

const text: Check = (value, where) => {
  if (typeof value !== "string") throw wrong(where, "must be a text");
};
const flag: Check = (value, where) => {
  if (typeof value !== "boolean") throw wrong(where, "must be true or false");
};
const count: Check = (value, where) => {
  if (typeof value !== "number" || !Number.isFinite(value) || value < 0) throw wrong(where, "must be a number, 0 or more");
};
const object: Check = (value, where) => {
  if (!isRecord(value)) throw wrong(where, "must be an object");
};
const oneOf = (allowed: readonly string[]): Check => {
  return (value, where) => {
    if (typeof value === "string" && allowed.includes(value)) return;
    throw wrong(where, `must be one of ${allowed.join(", ")}`);
  };
};

type Fields = Readonly<Record<string, { check: Check; required?: true }>>;

// `satisfies` ties these lists to the types: a name that is not (or no longer) one of them does not compile.
const finishReasons = {
  stop: 0,
  "stop-sequence": 0,
  length: 0,
  "tool-calls": 0,
  paused: 0,
  refusal: 0,
  "content-filter": 0,
  "context-overflow": 0,
  interrupted: 0,
  other: 0,
} satisfies Record<FinishReason, 0>;
/** What a reply may fail with; docs/testing-pipelines.md lists them. */
export const scriptedFailures: readonly ErrorCode[] = [
  "config",
  "provider-auth",
  "provider-rate-limit",
  "provider-overloaded",
  "provider-bad-request",
  "provider-unavailable",
  "provider-timeout",
  "provider-protocol",
  "context-overflow",
  "internal",
];

const callFields: Fields = {
  name: { check: text, required: true },
  input: { check: object },
  callId: { check: text },
  malformedInput: { check: text },
};
const usageFields = {
  inputTokens: { check: count },
  outputTokens: { check: count },
  cacheReadTokens: { check: count },
  cacheWriteTokens: { check: count },
  reasoningTokens: { check: count },
} satisfies Record<keyof Usage, { check: Check }>;
const failFields: Fields = {
  code: { check: oneOf(scriptedFailures), required: true },
  message: { check: text, required: true },
  retryable: { check: flag },
  retryAfterMs: { check: count },
  httpStatus: { check: count },
  hint: { check: text },
};
const replyFields = {
  reasoning: { check: text },
  text: { check: text },
  calls: { check: checkCalls },
  finish: { check: oneOf(Object.keys(finishReasons)) },
  usage: { check: (value, where) => check(value, where, usageFields) },
  delayMs: { check: count },
  fail: { check: (value, where) => check(value, where, failFields) },
  hang: { check: flag },
} satisfies Record<keyof ScriptedReply, { check: Check }>;

function checkCalls(value: unknown, where: string): void {
  if (!Array.isArray(value)) throw wrong(where, "must be a list of calls");
  value.forEach((call: unknown, index) => {
    check(call, `${where}[${index}]`, callFields);
  });
}

function check(value: unknown, where: string, fields: Fields): void {
  if (!isRecord(value)) throw wrong(where, "must be an object");
  for (const [name, entry] of Object.entries(value)) {
    const field = fields[name];
    if (!field) throw unknownField(name, where, Object.keys(fields));
    field.check(entry, `${where}.${name}`);
  }
  for (const [name, { required }] of Object.entries(fields)) {
    if (required && !(name in value)) throw wrong(where, `needs "${name}"`);
  }
}

function unknownField(name: string, where: string, known: readonly string[]): RuntimeError {
  const guess = nearest(name, known);
  return wrong(where, `has no field "${name}"${guess ? `; did you mean "${guess}"?` : ` (it has ${known.join(", ")})`}`);
}

function wrong(where: string, what: string): RuntimeError {
  return new RuntimeError("config", `${where} ${what}`);
}
