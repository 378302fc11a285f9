import type { AssistantPart, Usage } from "../../packages/runtime/src/protocol/content.ts";
import type { AgentEvent, EventBody, EventType, ToolDetails, ToolStatus } from "../../packages/runtime/src/protocol/events.ts";
import { SessionUpdates, type UpdatesOptions } from "../../packages/runtime/src/transports/acp/session-updates.ts";
import type { SessionUpdate } from "../../packages/runtime/src/transports/acp/wire.ts";

/** Events as sessions have them, for tests of what clients are told. */

export const usage: Usage = { inputTokens: 100, outputTokens: 20, cacheReadTokens: 40, cacheWriteTokens: 0, reasoningTokens: 5 };
const model = { provider: "anthropic", id: "m" };
export const none: UpdatesOptions["shows"] = { notices: false, compactions: false };

export function encoder(shows: UpdatesOptions["shows"] = none, price: () => number | null = () => 0.25): SessionUpdates {
  return new SessionUpdates({ cwd: "/project", price, shows });
}

export function event<T extends EventType>(body: EventBody<T>, taskId?: string): AgentEvent {
  const envelope = { seq: 1, at: "2026-01-02T03:04:05.000Z", sessionId: "s", turnId: "t" };
  return { ...envelope, ...(taskId !== undefined && { taskId }), ...body } as AgentEvent; // the body is one of the union's
}

export function answer(messageId: string, content: AssistantPart[], taskId?: string): AgentEvent {
  const message = { role: "assistant" as const, content, model, finish: "stop" as const, usage };
  return event({ type: "message.ended", messageId, message, durationMs: 1, requestedModel: "m" }, taskId);
}

export function callPart(callId: string, name: string, input: unknown): AssistantPart {
  return { type: "tool-call", callId, name, input };
}

export function ended(
  callId: string,
  name: string,
  more: { text: string; status?: ToolStatus; details?: ToolDetails },
): AgentEvent {
  const { text, status = "ok", details } = more;
  const content = [{ type: "text" as const, text }];
  const result = { type: "tool-result" as const, callId, name, content, isError: status !== "ok" };
  return event({ type: "tool.ended", callId, name, status, result, durationMs: 1, ...(details && { details }) });
}

export const turnEnded: AgentEvent = event({
  type: "turn.ended",
  outcome: { type: "completed", text: "" },
  usage,
  modelCalls: 1,
  durationMs: 1,
  modelDurationMs: 1,
});

export function encodeAll(updates: SessionUpdates, events: readonly AgentEvent[]): SessionUpdate[] {
  return events.flatMap((one) => updates.encode(one));
}
