import type { AssistantMessage, JsonValue, Message, ToolDefinition } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { redact } from "./http-error.ts";
import type { ModelEvent, ModelRequest, Provider } from "./model.ts";

/** What was asked, as far as it is compared, and what was answered. */
export type RecordedCall = {
  readonly request: { model: string; system: string; tools: readonly ToolDefinition[]; messages: readonly Message[] };
  readonly answer: AssistantMessage;
};

/** Texts that differ from machine to machine, with the words that stand for them in a recording: `{"{{cwd}}": "/home/me/project"}`. */
export type Places = Readonly<Record<string, string>>;

export type Cassette = {
  readonly format: "outrider-cassette";
  readonly version: 1;
  readonly provider: string;
  readonly calls: readonly RecordedCall[];
};

export type ReplayOptions = {
  readonly places: Places;
  /** Goes on with the recorded answer although the request differs; each difference is told. */
  readonly lenient?: boolean;
  readonly onDifference?: (difference: string) => void;
};

/** A model that answers from a recording, in order, and compares what it is asked with what was asked then. */
export function createReplayProvider(cassette: Cassette, options: ReplayOptions): Provider & { readonly remaining: number } {
  let next = 0;
  return {
    name: cassette.provider,
    model: cassette.calls[0]?.request.model ?? "recorded",
    contextWindow: 200_000,
    nativeSchema: false,
    get remaining() {
      return cassette.calls.length - next;
    },
    async *stream(request) {
      const number = ++next;
      const call = cassette.calls[number - 1];
      if (!call) {
        throw new RuntimeError(
          "replay-mismatch",
          `The recording has ${cassette.calls.length} answers, but the model was asked a ${number}th time`,
        );
      }
      const difference = compareRequests(call.request, toRecordedRequest(request, options.places));
      if (difference !== undefined) {
        const message = `Request ${number} differs from the recorded one:\n${difference}`;
        if (!options.lenient)
          throw new RuntimeError("replay-mismatch", message, { hint: "Record it anew, or go on with --replay-lenient" });
        options.onDifference?.(message);
      }
      yield* play(substitute(call.answer, invert(options.places)));
    },
  };
}

/** Passes every call on and keeps it, free of keys and of what differs from machine to machine. */
export function withRecorder(
  provider: Provider,
  recorder: { readonly places: Places; add(call: RecordedCall): Promise<void> },
): Provider {
  return {
    ...provider,
    async *stream(request: ModelRequest, options: { signal: AbortSignal }): AsyncGenerator<ModelEvent> {
      for await (const event of provider.stream(request, options)) {
        if (event.type === "finished") {
          const answer = portable(event.message, recorder.places);
          await recorder.add({ request: toRecordedRequest(request, recorder.places), answer });
        }
        yield event;
      }
    },
  };
}

export function toCassette(provider: string, calls: readonly RecordedCall[]): Cassette {
  return { format: "outrider-cassette", version: 1, provider, calls };
}

export function parseCassette(value: unknown): Cassette {
  const cassette = value as Partial<Cassette> | null; // checked below, field by field
  if (cassette?.format !== "outrider-cassette") throw new RuntimeError("config", "This is no Outrider recording");
  if (cassette.version !== 1) throw new RuntimeError("config", `This recording has version ${cassette.version}; 1 is known`);
  const whole =
    Array.isArray(cassette.calls) &&
    cassette.calls.every((call) => Array.isArray(call?.request?.messages) && Array.isArray(call?.answer?.content));
  if (!whole || typeof cassette.provider !== "string")
    throw new RuntimeError("config", "This recording is damaged: its calls are not whole");
  return cassette as Cassette;
}

/** A journal's own calls are compared the same way as a portable recording's. */
export function portable<T>(value: T, places: Places): T {
  return redactAll(substitute(value, places));
}

function toRecordedRequest({ model, system, tools, messages }: ModelRequest, places: Places): RecordedCall["request"] {
  return portable({ model, system: withoutDate(system), tools, messages }, places);
}

/** The prompt's date is another one tomorrow; nobody means to compare it. */
export function withoutDate(system: string): string {
  return system.replace(/^Date: \d{4}-\d{2}-\d{2}$/m, "Date: {{date}}");
}

async function* play(message: AssistantMessage): AsyncGenerator<ModelEvent> {
  for (const part of message.content) {
    if (part.type === "reasoning" && part.text) yield { type: "reasoning.delta", text: part.text };
    if (part.type === "text" && part.text) yield { type: "text.delta", text: part.text };
    if (part.type === "tool-call")
      yield { type: "tool-input.delta", callId: part.callId, name: part.name, json: JSON.stringify(part.input) };
  }
  yield { type: "finished", message };
}

const maxDifferences = 5;

/** Undefined when they are the same; else the first places where they differ, with what stood there and what stands there now. */
export function compareRequests(recorded: RecordedCall["request"], now: RecordedCall["request"]): string | undefined {
  const differences: string[] = [];
  compare(toJson(recorded), toJson(now), { at: "", found: differences });
  if (differences.length === 0) return undefined;
  const shown = differences.slice(0, maxDifferences);
  if (differences.length > shown.length) shown.push(`  … and ${differences.length - shown.length} more`);
  return shown.join("\n");
}

function compare(a: JsonValue | undefined, b: JsonValue | undefined, { at, found }: { at: string; found: string[] }): void {
  if (a === b) return;
  if (isContainer(a) && isContainer(b) && Array.isArray(a) === Array.isArray(b)) {
    for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
      const place = Array.isArray(a) ? `${at}[${key}]` : `${at}${at && "."}${key}`;
      compare(a[key], b[key], { at: place, found });
    }
    return;
  }
  found.push(`  ${at}\n    recorded: ${excerpt(a, b)}\n    now:      ${excerpt(b, a)}`);
}

function isContainer(value: JsonValue | undefined): value is { [key: string]: JsonValue } {
  return typeof value === "object" && value !== null;
}

/** The neighbourhood of the first character that differs. */
function excerpt(value: JsonValue | undefined, other: JsonValue | undefined): string {
  if (value === undefined) return "(nothing)";
  if (typeof value !== "string" || typeof other !== "string") return cut(JSON.stringify(value), 0);
  let same = 0;
  while (same < value.length && value[same] === other[same]) same++;
  return cut(JSON.stringify(value), Math.max(0, same - 30));
}

function cut(text: string, from: number): string {
  const end = from + 120;
  return `${from > 0 ? "…" : ""}${text.slice(from, end)}${text.length > end ? "…" : ""}`;
}

function toJson(value: unknown): JsonValue {
  return JSON.parse(JSON.stringify(value)) as JsonValue; // drops what JSON does not know, as a stored recording has
}

function invert(places: Places): Places {
  return Object.fromEntries(Object.entries(places).map(([word, text]) => [text, word]));
}

/** Every string in a value, with texts replaced; the longest first, since a home is the beginning of what lies in it. */
function substitute<T>(value: T, replacements: Places): T {
  const pairs = Object.entries(replacements)
    .map(([to, from]) => [from, to] as const)
    .filter(([from]) => from.length > 1)
    .sort(([a], [b]) => b.length - a.length);
  return mapStrings(value, (text) => pairs.reduce((replaced, [from, to]) => replaced.replaceAll(from, to), text));
}

function redactAll<T>(value: T): T {
  return mapStrings(value, (text) => redact(text));
}

function mapStrings<T>(value: T, change: (text: string) => string): T {
  if (typeof value === "string") return change(value) as T; // a string stays a string
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, change)) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapStrings(item, change)])) as T;
}
