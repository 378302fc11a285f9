import type { BilledCall } from "../model/ledger.ts";
import { addUsage, noUsage, type ModelRef, type Usage } from "../protocol/content.ts";
import type { AgentEvent } from "../protocol/events.ts";
import { textOf } from "../protocol/content.ts";
import { cut, finishReason, messageContent, outputParts, providerAttributes, usageAttributes } from "./gen-ai.ts";
import { OpenSpan } from "./open-span.ts";
import type { Attributes, Measure, Span, SpanEvent, TraceParent } from "./span.ts";
import { spanIdOf, traceIdOf } from "./trace-ids.ts";

export type TraceOptions = {
  /** Whose work a turn is part of. */
  readonly parent?: TraceParent | undefined;
  /** US dollars; null when nobody knows. */
  readonly priceOf: (call: BilledCall) => number | null;
  /** Words, arguments and results are told too. */
  readonly withContent?: boolean | undefined;
  readonly agent?: string | undefined;
};

/** An agent at work: a turn of the conversation, or a subagent. */
type Invocation = { readonly span: OpenSpan; usage: Usage; costUsd: number | null };
type Answer = AgentEvent<"message.ended" | "side-call.ended">;

/** Spans of what a session tells: an agent is invoked, and within that models are asked and tools run; a subagent is another agent within a tool. */
export class TraceBuilder {
  readonly #options: TraceOptions;
  #turn: Invocation | undefined;
  #model: ModelRef = { provider: "", id: "" };
  #system = "";
  readonly #tasks = new Map<string, Invocation>();
  readonly #calls = new Map<string, OpenSpan>();
  /** Failed tries of an answer that is still to come, by who asked. */
  readonly #retries = new Map<string | undefined, SpanEvent[]>();
  readonly #used = new Set<string>();
  /** When the turn's latest request can have begun at the earliest: nothing tells of one that gets no answer. */
  #askedMs = 0;
  #measures: Measure[] = [];

  constructor(options: TraceOptions) {
    this.#options = options;
  }

  /** The spans that are over with this. */
  push(event: AgentEvent): Span[] {
    const spans = this.#take(event);
    if (event.taskId === undefined && event.type !== "retry.scheduled" && event.type !== "fallback.used")
      this.#askedMs = Date.parse(event.at);
    return spans;
  }

  #take(event: AgentEvent): Span[] {
    const atMs = Date.parse(event.at);
    switch (event.type) {
      case "session.started":
        this.#model = event.model;
        this.#system = event.system;
        return [];
      case "turn.started":
        return this.#beginTurn(event, atMs);
      case "turn.ended":
        return event.taskId === undefined ? this.#endTurn(event, atMs) : [];
      case "message.ended":
      case "side-call.ended":
        return this.#endAnswer(event, atMs);
      case "retry.scheduled":
        this.#noteRetry(event, "retry", { attempt: event.attempt, delay_ms: event.delayMs });
        return [];
      case "fallback.used":
        this.#noteRetry(event, "fallback", { from: event.from, to: event.to });
        return [];
      case "tool.started":
        this.#beginCall(event, atMs);
        return [];
      case "tool.ended":
        return this.#endCall(event, atMs);
      case "permission.requested":
      case "permission.resolved":
        this.#notePermission(event, atMs);
        return [];
      case "task.started":
        this.#beginTask(event, atMs);
        return [];
      case "task.ended":
        return this.#endTask(event, atMs);
      default:
        return [];
    }
  }

  /** What was counted since the last time. */
  takeMeasures(): Measure[] {
    const measures = this.#measures;
    this.#measures = [];
    return measures;
  }

  /** Nothing more comes: what is still open was cut off. */
  end(atMs: number): Span[] {
    const open = [...this.#calls.values(), ...[...this.#tasks.values(), this.#turn].flatMap((one) => one?.span ?? [])];
    this.#calls.clear();
    this.#tasks.clear();
    this.#turn = undefined;
    for (const span of open) span.add({ "error.type": "interrupted" });
    return open.map((span) => span.end(atMs, "It was cut off"));
  }

  /** Where a call of a tool stands in the trace, also before it has begun. */
  placeOf(sessionId: string, callId: string, taskId: string | undefined): Omit<TraceParent, "isSampled"> {
    const { traceId } = (this.#scope(taskId) ?? this.#turn)?.span.start ?? { traceId: traceIdOf(sessionId, "") };
    return { traceId, spanId: spanIdOf(sessionId, "call", taskId ?? "", callId) };
  }

  #beginTurn(event: AgentEvent<"turn.started">, startMs: number): Span[] {
    const { sessionId, turnId = String(event.seq) } = event;
    const before = this.#turn ? [this.#turn.span.end(startMs, "It was cut off")] : [];
    const { parent, agent = "outrider", withContent } = this.#options;
    const span = new OpenSpan({
      traceId: parent?.traceId ?? traceIdOf(sessionId, turnId),
      spanId: this.#unique("turn", sessionId, turnId),
      parentSpanId: parent?.spanId,
      name: `invoke_agent ${agent}`,
      kind: "internal",
      startMs,
      attributes: { ...this.#agentAttributes(agent, sessionId), ...providerAttributes(this.#model) },
    });
    if (withContent)
      span.add({
        "gen_ai.system_instructions": cut(JSON.stringify([{ type: "text", content: this.#system }])),
        "gen_ai.input.messages": messageContent("user", [{ type: "text", content: textOf(event.input.content) }]),
      });
    this.#turn = { span, usage: noUsage, costUsd: 0 };
    return before;
  }

  #endTurn(event: AgentEvent<"turn.ended">, atMs: number): Span[] {
    const { outcome } = event;
    const turn = this.#turn;
    if (!turn) return [];
    this.#turn = undefined;
    const unanswered = this.#endUnanswered(event, turn, atMs);
    turn.span.note(...this.#takeRetries(undefined));
    if (this.#options.withContent)
      turn.span.add({ "gen_ai.output.messages": messageContent("assistant", [{ type: "text", content: outcome.text }]) });
    return [...unanswered, this.#endInvocation(turn, outcome, atMs)];
  }

  /** The request at which a turn failed, with its tries. */
  #endUnanswered({ outcome, sessionId, seq }: AgentEvent<"turn.ended">, { span: turn }: Invocation, atMs: number): Span[] {
    if (outcome.type !== "failed" || !outcome.error.code.startsWith("provider-")) return [];
    const model = this.#model;
    const span = new OpenSpan({
      traceId: turn.start.traceId,
      spanId: this.#unique("unanswered", sessionId, seq),
      parentSpanId: turn.start.spanId,
      name: `chat ${model.id}`,
      kind: "client",
      startMs: Math.min(this.#askedMs, atMs),
      attributes: {
        "gen_ai.operation.name": "chat",
        ...providerAttributes(model),
        "gen_ai.conversation.id": sessionId,
        "error.type": outcome.error.code,
      },
    });
    span.note(...this.#takeRetries(undefined));
    return [span.end(atMs, outcome.error.message)];
  }

  #endInvocation({ span, usage, costUsd }: Invocation, outcome: AgentEvent<"turn.ended">["outcome"], atMs: number): Span {
    span.add({ ...usageAttributes(usage), "outrider.outcome": outcome.type, ...costAttribute(costUsd) });
    if (outcome.type === "completed") return span.end(atMs);
    const type = outcome.type === "failed" ? outcome.error.code : outcome.type === "stopped" ? outcome.limit : outcome.cause;
    span.add({ "error.type": type });
    return span.end(atMs, outcome.type === "failed" ? outcome.error.message : `${outcome.type}: ${type}`);
  }

  #endAnswer(event: Answer, atMs: number): Span[] {
    const { message, requestedModel, durationMs, sessionId, taskId } = event;
    const scope = this.#scope(taskId);
    const costUsd = this.#options.priceOf(event);
    if (scope) {
      scope.usage = addUsage(scope.usage, message.usage);
      scope.costUsd = scope.costUsd === null || costUsd === null ? null : scope.costUsd + costUsd;
    }
    const { provider, id } = message.model;
    const firstMs = event.type === "message.ended" ? event.firstTokenMs : undefined;
    const common = {
      "gen_ai.operation.name": "chat",
      ...providerAttributes({ provider, id: requestedModel }),
      "gen_ai.response.model": id,
    };
    const finish = finishReason(message.finish);
    const span = new OpenSpan({
      traceId: scope?.span.start.traceId ?? traceIdOf(sessionId, ""),
      spanId: this.#unique("answer", sessionId, event.seq),
      parentSpanId: scope?.span.start.spanId,
      name: `chat ${requestedModel}`,
      kind: "client",
      startMs: atMs - durationMs,
      attributes: {
        ...common,
        "gen_ai.conversation.id": sessionId,
        "gen_ai.response.finish_reasons": [finish],
        ...(firstMs !== undefined && { "gen_ai.response.time_to_first_chunk": { double: firstMs / 1000 } }),
        ...usageAttributes(message.usage),
        ...costAttribute(costUsd),
        ...(event.type === "side-call.ended" && { "outrider.purpose": event.purpose }),
      },
    });
    if (this.#options.withContent)
      span.add({ "gen_ai.output.messages": messageContent("assistant", outputParts(message.content), finish) });
    if (event.type === "message.ended") span.note(...this.#takeRetries(taskId));
    this.#measure(event, { common, costUsd, firstMs });
    return [span.end(atMs)];
  }

  #measure(
    { message: { usage }, durationMs }: Answer,
    { common, costUsd, firstMs }: { common: Attributes; costUsd: number | null; firstMs: number | undefined },
  ): void {
    const add = (metric: Measure["metric"], value: number, more: Attributes = {}): void =>
      void this.#measures.push({ metric, value, attributes: { ...common, ...more } });
    add("gen_ai.client.token.usage", usage.inputTokens, { "gen_ai.token.type": "input" });
    add("gen_ai.client.token.usage", usage.outputTokens, { "gen_ai.token.type": "output" });
    add("gen_ai.client.operation.duration", durationMs / 1000);
    if (firstMs !== undefined) add("gen_ai.client.operation.time_to_first_chunk", firstMs / 1000);
    if (costUsd !== null) add("outrider.cost", costUsd);
  }

  #noteRetry(event: AgentEvent<"retry.scheduled" | "fallback.used">, name: string, attributes: Attributes): void {
    const told = this.#retries.get(event.taskId) ?? [];
    const error = { "error.type": event.error.code, "exception.message": event.error.message };
    told.push({ name, atMs: Date.parse(event.at), attributes: { ...attributes, ...error } });
    this.#retries.set(event.taskId, told);
  }

  #takeRetries(taskId: string | undefined): SpanEvent[] {
    const told = this.#retries.get(taskId) ?? [];
    this.#retries.delete(taskId);
    return told;
  }

  #beginCall(event: AgentEvent<"tool.started">, startMs: number): OpenSpan {
    const span = this.#openCall(event, startMs);
    if (this.#options.withContent) span.add({ "gen_ai.tool.call.arguments": cut(JSON.stringify(event.input) ?? "") });
    this.#calls.set(callKey(event), span);
    return span;
  }

  #openCall(event: AgentEvent<"tool.started" | "tool.ended">, startMs: number): OpenSpan {
    const { sessionId, taskId, callId, name } = event;
    const scope = this.#scope(taskId);
    return new OpenSpan({
      traceId: scope?.span.start.traceId ?? traceIdOf(sessionId, ""),
      spanId: this.#unique(sessionId, "call", taskId ?? "", callId),
      parentSpanId: scope?.span.start.spanId,
      name: `execute_tool ${name}`,
      kind: "internal",
      startMs,
      attributes: {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.call.id": callId,
        "gen_ai.tool.type": "function",
        "gen_ai.conversation.id": sessionId,
      },
    });
  }

  /** One that was refused has never begun. */
  #endCall(event: AgentEvent<"tool.ended">, atMs: number): Span[] {
    const span = this.#calls.get(callKey(event)) ?? this.#openCall(event, atMs - event.durationMs);
    this.#calls.delete(callKey(event));
    if (this.#options.withContent) span.add({ "gen_ai.tool.call.result": cut(textOf(event.result.content)) });
    if (event.status === "ok") return [span.end(atMs)];
    span.add({ "error.type": event.status });
    return [span.end(atMs, `The call was ${event.status === "error" ? "not successful" : event.status}`)];
  }

  /** Asked before the call begins: told on the agent's span, as there is none of the call yet. */
  #notePermission(event: AgentEvent<"permission.requested" | "permission.resolved">, atMs: number): void {
    const decided: Attributes = event.type === "permission.resolved" ? { decision: event.decision, by: event.by } : {};
    const attributes = { "gen_ai.tool.call.id": event.callId, ...decided };
    this.#scope(event.taskId)?.span.note({ name: event.type, atMs, attributes });
  }

  #beginTask(event: AgentEvent<"task.started">, startMs: number): void {
    const { sessionId, taskId, callId, agent, model, runId = "" } = event;
    const [call] = [...this.#calls].flatMap(([key, span]) => (key.endsWith(`\n${callId}`) ? [span] : []));
    const above = call?.start ?? this.#turn?.span.start;
    const span = new OpenSpan({
      traceId: above?.traceId ?? traceIdOf(sessionId, ""),
      spanId: this.#unique(sessionId, "task", taskId, runId),
      parentSpanId: above?.spanId,
      name: `invoke_agent ${agent}`,
      kind: "internal",
      startMs,
      attributes: { ...this.#agentAttributes(agent, sessionId), "gen_ai.agent.id": taskId, ...providerAttributes(model) },
    });
    if (this.#options.withContent)
      span.add({ "gen_ai.input.messages": messageContent("user", [{ type: "text", content: event.prompt }]) });
    this.#tasks.set(taskId, { span, usage: noUsage, costUsd: 0 });
  }

  #endTask(event: AgentEvent<"task.ended">, atMs: number): Span[] {
    const task = this.#tasks.get(event.taskId);
    if (!task) return [];
    this.#tasks.delete(event.taskId);
    task.span.note(...this.#takeRetries(event.taskId));
    return [this.#endInvocation(task, event.outcome, atMs)];
  }

  #agentAttributes(agent: string, sessionId: string): Attributes {
    return { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": agent, "gen_ai.conversation.id": sessionId };
  }

  #scope(taskId: string | undefined): Invocation | undefined {
    return taskId === undefined ? this.#turn : (this.#tasks.get(taskId) ?? this.#turn);
  }

  /** Providers that number their calls give the same names again. */
  #unique(...names: readonly (string | number)[]): string {
    let id = spanIdOf(...names);
    for (let again = 2; this.#used.has(id); again++) id = spanIdOf(...names, again);
    this.#used.add(id);
    return id;
  }
}

function callKey({ taskId, callId }: { readonly taskId?: string | undefined; readonly callId: string }): string {
  return `${taskId ?? ""}\n${callId}`;
}

function costAttribute(costUsd: number | null): Attributes {
  return costUsd === null ? {} : { "outrider.cost_usd": { double: costUsd } };
}
