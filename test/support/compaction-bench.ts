import { Transcript } from "../../packages/runtime/src/journal/transcript.ts";
import type { Budget } from "../../packages/runtime/src/model/budget.ts";
import { RequestLedger } from "../../packages/runtime/src/model/request-ledger.ts";
import { createScriptedProvider, type ScriptStep } from "../../packages/runtime/src/model/scripted.ts";
import {
  type AssistantMessage,
  type Message,
  noUsage,
  type ToolCallPart,
  userText,
} from "../../packages/runtime/src/protocol/content.ts";
import type { EventBody } from "../../packages/runtime/src/protocol/events.ts";
import { createRedactor } from "../../packages/runtime/src/util/redact.ts";
import type { CompactionSettings } from "../../packages/runtime/src/context/compaction-limits.ts";
import { Compactor, type CompactorDeps, type ContextFit } from "../../packages/runtime/src/context/compactor.ts";
import { builtinFacts } from "../../packages/runtime/src/tools/builtin/facts.ts";

export type CompactionBench = {
  readonly events: EventBody[];
  readonly requests: readonly { system: string; tools: readonly unknown[]; messages: readonly Message[]; model: string }[];
  readonly compactor: Compactor;
  readonly abort: AbortController;
  /** Milliseconds since 1970, as the compactor sees them. */
  readonly time: { now: number };
  record(...events: EventBody[]): void;
  /** A new prompt: the messages as a turn would get them, and what fits them. */
  turn(): { fit: ContextFit; messages: Message[] };
};

export type BenchOptions = Partial<Omit<CompactorDeps, "settings">> & {
  readonly settings?: Partial<CompactionSettings>;
  readonly window?: number;
  readonly system?: string;
  readonly budget?: Budget;
};

/** A compactor on a scripted model, and a journal in memory; for tests. */
export function createCompactionBench(replies: readonly ScriptStep[], options: BenchOptions = {}): CompactionBench {
  const { window = 10_000, settings, system = "system", budget, ...deps } = options;
  const provider = createScriptedProvider(replies, { contextWindow: window });
  const events: EventBody[] = [];
  const transcript = new Transcript();
  const redactor = deps.redactor ?? createRedactor();
  const time = { now: 1_000_000 };
  const abort = new AbortController();
  let id = 0;
  const record = (...bodies: EventBody[]): void => {
    for (const body of bodies) {
      events.push(body);
      transcript.apply(redactor.value(body));
    }
  };
  const ledger = new RequestLedger({ maxRequests: 10_000, budget });
  const compactor = new Compactor({
    provider: ledger.count(provider),
    request: { model: "scripted", system, tools: [] },
    contextWindow: async () => window,
    now: () => time.now,
    clock: () => time.now,
    newId: () => `id-${++id}`,
    readText: undefined,
    factsOf: builtinFacts,
    hooks: undefined,
    redactor,
    ...deps,
    settings: { threshold: 0.835, ...settings },
  });
  return {
    events,
    requests: provider.requests,
    compactor,
    abort,
    time,
    record,
    turn: () => ({
      messages: transcript.messages,
      fit: compactor.fit({
        emit: record,
        signal: abort.signal,
        transcript: { prompt: transcript.prompt, measuredFrom: transcript.measuredFrom, hasSummary: transcript.hasSummary },
      }),
    }),
  };
}

export function prompt(text: string): EventBody {
  return { type: "turn.started", input: userText(text) };
}

/** An answer of the model; `tokens` is what the provider counted for its request. */
export function answer(text: string, tokens = 0, calls: readonly ToolCallPart[] = []): EventBody<"message.ended"> {
  const message: AssistantMessage = {
    role: "assistant",
    content: [...(text ? [{ type: "text", text } as const] : []), ...calls],
    model: { provider: "scripted", id: "scripted" },
    finish: calls.length > 0 ? "tool-calls" : "stop",
    usage: { ...noUsage, inputTokens: tokens },
  };
  return { type: "message.ended", messageId: "m", message, durationMs: 0, requestedModel: "scripted" };
}

/** A call and its result, as the journal has them. */
export function toolStep(callId: string, call: { name: string; input: unknown; result: string; tokens?: number }): EventBody[] {
  const { name, input, result } = call;
  return [
    answer("", call.tokens, [{ type: "tool-call", callId, name, input }]),
    { type: "tool.started", callId, name, input },
    {
      type: "tool.ended",
      callId,
      name,
      status: "ok",
      result: { type: "tool-result", callId, name, content: [{ type: "text", text: result }], isError: false },
      durationMs: 0,
    },
  ];
}
