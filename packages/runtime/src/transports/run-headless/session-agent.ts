import { type AssistantMessage, callsOf, type ToolResultPart } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import type { InteractiveSession } from "../../session/interactive-session.ts";
import { outcomeError } from "../../session/session-view.ts";
import type { CallPrice } from "../atif/write/call-price.ts";
import type { TrajectoryEvent } from "../atif/lines/trajectory-events.ts";
import type { ModelMessage, RunnableAgent } from "./runnable-agent.ts";

/** A session as an agent: each stream is a whole turn, with a step for each time the model is asked. It keeps its own history. */
export function toRunnableAgent(session: InteractiveSession<unknown>, options: { priceOf?: CallPrice } = {}): RunnableAgent {
  return {
    async stream({ messages, abortSignal }) {
      const prompt = lastPrompt(messages);
      await session.open(); // what makes a session impossible is told before anything starts
      const events = session.events({ types: toldTypes, tasks: false, whenFull: "wait", capacity: 256 });
      const turn = session.submit(prompt);
      const stop = (): void => session.abort();
      if (abortSignal?.aborted) stop();
      abortSignal?.addEventListener("abort", stop, { once: true });
      const done = turn.finally(() => abortSignal?.removeEventListener("abort", stop));
      done.catch(() => {}); // told by the stream
      return {
        fullStream: toParts(events, done, options.priceOf),
        finishReason: done.then(() => "stop"),
        response: done.then(({ text }) => ({ messages: [{ role: "assistant", content: text }] })),
      };
    },
  };
}

function lastPrompt(messages: readonly ModelMessage[]): string {
  const content = messages.findLast((message) => message.role === "user")?.content;
  if (typeof content === "string") return content;
  const parts = Array.isArray(content)
    ? content.flatMap((part: { text?: unknown }) => (typeof part.text === "string" ? [part.text] : []))
    : [];
  if (parts.length === 0)
    throw new RuntimeError("usage", "There is no prompt: give initialUserMessage, or a history that ends with one");
  return parts.join("");
}

const toldTypes = [
  "message.ended",
  "tool.ended",
  "permission.requested",
  "permission.resolved",
  "compaction.started",
  "compaction.ended",
  "turn.ended",
] as const;

/** The parts the AI SDK would give. Words come with the whole message: what a failed attempt had said is void. */
async function* toParts(
  events: AsyncIterable<AgentEvent<(typeof toldTypes)[number]>>,
  turn: Promise<Outcome<unknown>>,
  priceOf: CallPrice | undefined,
): AsyncGenerator<unknown> {
  let open = 0;
  let ending: unknown;
  for await (const event of events) {
    switch (event.type) {
      case "message.ended":
        yield* messageParts(event.message);
        open = callsOf(event.message).length;
        ending = finishStep(event, priceOf);
        if (open === 0) yield ending;
        break;
      case "tool.ended":
        if (event.status === "denied") yield { type: "tool-output-denied", toolCallId: event.callId, toolName: event.name };
        yield { type: "tool-result", toolCallId: event.callId, toolName: event.name, output: textOf(event.result) };
        if (--open === 0) yield ending;
        break;
      case "permission.requested":
        yield {
          type: "tool-approval-request",
          toolCall: { toolCallId: event.callId, toolName: event.tool, reason: event.reason },
        };
        break;
      case "permission.resolved":
        if (event.decision === "allow")
          yield { type: "tool-approval-response", toolCallId: event.callId, approved: true, reason: event.reason };
        break;
      case "compaction.started":
      case "compaction.ended":
        yield { type: "trajectory-event", event: toCompaction(event) };
        break;
      case "turn.ended":
        return endOf(await turn);
    }
  }
  endOf(await turn);
}

function endOf(outcome: Outcome<unknown>): void {
  if (outcome.type === "completed") return;
  if (outcome.type === "cancelled") throw new RuntimeError("closed", "The turn was interrupted");
  throw outcomeError(outcome);
}

function* messageParts(message: AssistantMessage): Generator<unknown> {
  for (const part of message.content) {
    if (part.type === "text") yield { type: "text-delta", text: part.text };
    if (part.type === "reasoning") yield { type: "reasoning-delta", text: part.text };
    if (part.type === "tool-call") yield { type: "tool-call", toolCallId: part.callId, toolName: part.name, input: part.input };
  }
}

function finishStep(event: AgentEvent<"message.ended">, priceOf: CallPrice | undefined): unknown {
  const { inputTokens, outputTokens, cacheReadTokens } = event.message.usage;
  const costUsd = priceOf?.(event) ?? null;
  const isCounted = inputTokens > 0 || outputTokens > 0;
  const usage = { inputTokens, outputTokens, cachedInputTokens: cacheReadTokens, ...(costUsd !== null && { costUsd }) };
  return { type: "finish-step", finishReason: event.message.finish, ...(isCounted && { usage }) };
}

function toCompaction(event: AgentEvent<"compaction.started" | "compaction.ended">): TrajectoryEvent {
  const common = { type: "compaction", timestamp: event.at, strategy: event.trigger } as const;
  if (event.type === "compaction.started") return { ...common, event: "start", tokensBefore: event.usedTokens, blocking: true };
  const { result, preTokens, durationMs } = event;
  const after = result.type === "compacted" ? { tokensAfter: result.postTokens } : { reason: result.type };
  return { ...common, event: "complete", tokensBefore: preTokens, durationMs, blocking: false, ...after };
}

function textOf({ content }: ToolResultPart): string {
  return content.map((part) => (part.type === "text" ? part.text : `[image ${part.mediaType}]`)).join("\n");
}
