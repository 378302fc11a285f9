import type { AssistantMessage, JsonObject, Message, ToolDefinition } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { checkValue, fields, having, listOf, needed, shape } from "../protocol/kinds.ts";
import type { ModelEvent, ModelRequest, Provider } from "./model.ts";
import { createPortable, type Places, type PortableOptions } from "./portable.ts";
import { differencesBetween, type RecordedRequest, sameJson } from "./request-differences.ts";

export type { Places } from "./portable.ts";

declare const OUTRIDER_VERSION: string;

/** What was asked, as far as it is compared, and what was answered. */
export type RecordedCall = { readonly request: RecordedRequest; readonly answer: AssistantMessage };

/** A recording as it is stored. It reads like the conversation: a request that goes on from the answer before holds only what is new. */
export type Cassette = {
  readonly format: "outrider-cassette";
  readonly version: 1;
  /** The version of Outrider: its prompt and its tools are a part of what was asked. */
  readonly madeWith: string;
  readonly provider: string;
  readonly contextWindow: number;
  readonly calls: readonly StoredCall[];
};

type StoredCall = {
  readonly request: {
    /** The messages follow those of the call before, and its answer; what else is absent is as it was there. */
    readonly goesOn?: true;
    readonly model?: string;
    readonly settings?: JsonObject;
    readonly system?: string;
    readonly tools?: readonly ToolDefinition[];
    readonly messages: readonly Message[];
  };
  readonly answer: AssistantMessage;
};

export type ReplayOptions = {
  readonly places: Places;
  /** Goes on with the recorded answer although the request differs; each difference is told once. */
  readonly lenient?: boolean;
  readonly onDifference?: (difference: string) => void;
};

/**
 * A model that answers from a recording and compares what it is asked with what was asked then. In order, except that of calls which
 * overlapped, such as those of subagents side by side, each gets its own answer whichever comes first now.
 */
export function createReplayProvider(cassette: Cassette, options: ReplayOptions): Provider & { readonly remaining: number } {
  checkValue("cassette", cassette, shape({ calls: needed(listOf(fields, "a list of calls")) }, "what parseCassette answers"));
  const calls = toCalls(cassette);
  const portable = createPortable(options);
  const told = new Set<string>();
  const open = [...calls];
  return {
    name: cassette.provider,
    model: calls[0]?.request.model ?? "recorded",
    contextWindow: cassette.contextWindow,
    // A provider that takes a schema itself is offered no tool to answer with.
    nativeSchema: !calls[0]?.request.tools.some((tool) => tool.name === "StructuredOutput"),
    get remaining() {
      return open.length;
    },
    async *stream(request) {
      const now = portable.from(toRecordedRequest(request));
      // Put into the words of this machine first, where two places may be one.
      const differencesFrom = (call: RecordedCall): string[] => differencesBetween(portable.from(portable.to(call.request)), now);
      const place = open.slice(0, maxOverlap).findIndex((call) => differencesFrom(call).length === 0);
      const [call] = open.splice(Math.max(place, 0), 1);
      if (!call) throw tooManyCalls(calls.length);
      const differences = differencesFrom(call).filter((difference) => !told.has(difference));
      if (differences.length > 0) {
        const message = `Request ${calls.length - open.length} differs from the recorded one (- recorded, + now):\n${list(differences)}`;
        if (!options.lenient) throw new RuntimeError("replay-mismatch", message, { hint: mismatchHint(cassette) });
        for (const difference of differences) told.add(difference);
        options.onDifference?.(message);
      }
      yield* play(portable.to(call.answer));
    },
  };
}

/** How far ahead a call is looked for that comes earlier now than it was answered then. */
const maxOverlap = 16;

/** Passes every call on and keeps it, free of keys and of what differs from machine to machine. */
export function withRecorder(
  provider: Provider,
  recorder: PortableOptions & { add(call: RecordedCall): Promise<void> },
): Provider {
  checkValue("provider", provider, having(["stream"], "a provider"));
  checkValue("recorder", recorder, having(["add"], "an object with places and add"));
  const portable = createPortable(recorder);
  return {
    name: provider.name,
    model: provider.model,
    contextWindow: provider.contextWindow,
    nativeSchema: provider.nativeSchema,
    ...(provider.fitsSchema && { fitsSchema: (schema: JsonObject) => provider.fitsSchema?.(schema) ?? true }),
    async *stream(request: ModelRequest, options: { signal: AbortSignal }): AsyncGenerator<ModelEvent> {
      for await (const event of provider.stream(request, options)) {
        if (event.type === "finished") {
          const asked = portable.from(toRecordedRequest(request));
          await recorder.add({ request: asked, answer: portable.from(event.message) });
        }
        yield event;
      }
    },
  };
}

export function toCassette(
  provider: Pick<Provider, "name" | "contextWindow">,
  calls: readonly RecordedCall[],
  madeWith: string = OUTRIDER_VERSION,
): Cassette {
  const { name, contextWindow } = provider;
  const stored = calls.map((call, index) => toStored(call, calls[index - 1]));
  return { format: "outrider-cassette", version: 1, madeWith, provider: name, contextWindow, calls: stored };
}

function toStored({ request, answer }: RecordedCall, before: RecordedCall | undefined): StoredCall {
  const past = before && [...before.request.messages, before.answer];
  if (!before || !past?.every((message, index) => sameJson(message, request.messages[index]))) return { request, answer };
  const { messages, ...rest } = request;
  const changed = Object.entries(rest).filter(([name, value]) => !sameJson(value, before.request[name as keyof typeof rest])); // names of `rest`
  return { request: { goesOn: true, ...Object.fromEntries(changed), messages: messages.slice(past.length) }, answer };
}

function toCalls(cassette: Cassette): RecordedCall[] {
  const calls: RecordedCall[] = [];
  for (const { request, answer } of cassette.calls) {
    const before = request.goesOn && calls.at(-1);
    const past = before ? [...before.request.messages, before.answer] : [];
    const { goesOn: _, ...own } = request;
    const first = { model: "recorded", system: "", tools: [] };
    calls.push({ request: { ...(before ? before.request : first), ...own, messages: [...past, ...own.messages] }, answer });
  }
  return calls;
}

/** Throws a `config` error that names what is wrong. */
export function parseCassette(value: unknown): Cassette {
  const cassette = value as Partial<Cassette> | null; // checked below, field by field
  if (cassette?.format !== "outrider-cassette") throw new RuntimeError("config", "This is no Outrider recording");
  if (cassette.version !== 1)
    throw new RuntimeError("config", `This recording has version ${JSON.stringify(cassette.version)}; 1 is known here`, {
      hint: "Record it anew, or replay it with the Outrider that made it",
    });
  if (!Array.isArray(cassette.calls) || typeof cassette.provider !== "string" || typeof cassette.contextWindow !== "number")
    throw damaged("its provider, context window or list of calls is missing");
  for (const [index, call] of cassette.calls.entries()) {
    if (!isAnswer(call?.answer)) throw damaged(`call ${index + 1} has no whole answer`);
    if (!isRequest(call.request, index === 0)) throw damaged(`call ${index + 1} has no whole request`);
  }
  return cassette as Cassette; // every field was checked above
}

function damaged(what: string): RuntimeError {
  return new RuntimeError("config", `This recording is damaged: ${what}`, { hint: "Record it anew" });
}

function isAnswer(answer: Partial<AssistantMessage> | undefined): boolean {
  const { usage, model } = answer ?? {};
  const counts = usage && ["inputTokens", "outputTokens"].every((name) => typeof usage[name as keyof typeof usage] === "number");
  return typeof model?.id === "string" && typeof answer?.finish === "string" && counts === true && isContent(answer.content);
}

function isRequest(request: Partial<StoredCall["request"]> | undefined, isFirst: boolean): boolean {
  const stands = (kind: string, item: unknown): boolean =>
    item === undefined ? request?.goesOn === true : kind === "list" ? Array.isArray(item) : typeof item === kind;
  return (
    !(isFirst && request?.goesOn) &&
    stands("string", request?.model) &&
    stands("string", request?.system) &&
    stands("list", request?.tools) &&
    Array.isArray(request?.messages) &&
    request.messages.every((message) => isContent(message?.content))
  );
}

function isContent(content: unknown): boolean {
  return Array.isArray(content) && content.every((part) => typeof part?.type === "string");
}

/** What a person means to test. Not the provider's own options: they are a matter of somebody's settings. */
function toRecordedRequest(request: ModelRequest): RecordedRequest {
  const { model, system, tools, messages, options: _, ...settings } = request;
  return { model, settings: { ...settings } as JsonObject, system: withoutMachine(system), tools, messages }; // what is left is JSON
}

/** The date is another one tomorrow, machine, repository and sandbox are others in CI; nobody means to compare them. */
export function withoutMachine(system: string): string {
  return system
    .replace(/^# Environment\n.+(?:\n.+)*/m, "# Environment\n{{environment}}")
    .replace(/^# This session\n.+(?:\n.+)*/m, "# This session\n{{session}}");
}

function mismatchHint({ madeWith }: Cassette): string {
  const advice = "Record it anew, or go on with --replay-lenient";
  return madeWith === OUTRIDER_VERSION
    ? advice
    : `It was made with Outrider ${madeWith}, and this is ${OUTRIDER_VERSION}. ${advice}`;
}

function tooManyCalls(recorded: number): RuntimeError {
  const answers = recorded === 1 ? "1 answer" : `${recorded} answers`;
  return new RuntimeError("replay-mismatch", `The recording holds ${answers}, and the model was asked once more`, {
    hint: "The run takes another course than the recorded one: record it anew",
  });
}

const maxDifferences = 5;

function list(differences: readonly string[]): string {
  const more = differences.length - maxDifferences;
  return [...differences.slice(0, maxDifferences), ...(more > 0 ? [`  … and ${more} more`] : [])].join("\n");
}

async function* play(message: AssistantMessage): AsyncGenerator<ModelEvent> {
  for (const part of message.content) {
    if (part.type === "reasoning" && part.text) yield { type: "reasoning.delta", text: part.text };
    if (part.type === "text" && part.text) yield { type: "text.delta", text: part.text };
    if (part.type === "tool-call") {
      const json = part.malformedInput ?? JSON.stringify(part.input);
      yield { type: "tool-input.delta", callId: part.callId, name: part.name, json };
    }
  }
  yield { type: "finished", message };
}
