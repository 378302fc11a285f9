import { addUsage, callsOf, isJsonObject, noUsage, textOf, type Usage, type UserMessage } from "../../protocol/content.ts";
import type { AgentEvent, EventEnvelope } from "../../protocol/events.ts";
import type { PermissionRequest } from "../../session/session-view.ts";
import { toCallResult } from "./call-result.ts";
import { type CallDescription, describeCall } from "./describe-call.ts";
import { toNotices } from "./notices.ts";
import { TaskUpdates } from "./task-updates.ts";
import type { ContentBlock, PermissionQuestion, PlanEntry, SessionUpdate, ToolCallContent } from "./wire.ts";
import { defined } from "../../util/defined.ts";
import { builtinFacts } from "../../tools/builtin/facts.ts";

type ModelCall = AgentEvent<"message.ended" | "side-call.ended">;

export type UpdatesOptions = {
  readonly cwd: string;
  /** What an answer cost in US dollars; null when nobody knows its price. */
  readonly price: (call: ModelCall) => number | null;
  /** Kinds of updates that a client must have asked for. */
  readonly shows: { readonly notices: boolean; readonly compactions: boolean };
};

type Call = CallDescription & { readonly toolCallId: string; readonly name: string; readonly input: unknown };
/** An answer while it comes. `part` changes when what was said of it is void. */
type Answer = { readonly messageId: string; part: number; text: boolean; thought: boolean; readonly calls: Set<string> };

/** From what happens in a session to what its client is told, event by event. */
export class SessionUpdates {
  readonly #options: UpdatesOptions;
  #cwd: string;
  readonly #calls = new Map<string, Call>();
  /** Where the client shows what the programs of calls print. */
  readonly #terminals = new Map<string, string>();
  #answer: Answer | undefined;
  /** Calls of the last answer that have not ended. */
  readonly #open = new Set<string>();
  #context: { used: number; size: number } | undefined;
  #costUsd: number | null = 0;
  #usage: Usage = noUsage;
  #hasNewUsage = false;
  /** The turn runs a command: what it answers is said by nobody but its end. */
  #isCommand = false;
  readonly #tasks = new TaskUpdates();

  constructor(options: UpdatesOptions) {
    this.#options = options;
    this.#cwd = options.cwd;
  }

  /** What is told when it happens. */
  encode(event: AgentEvent): SessionUpdate[] {
    switch (event.type) {
      case "text.delta":
        return event.taskId === undefined ? this.#chunk(event.messageId, "text", event.text) : [];
      case "reasoning.delta":
        return event.taskId === undefined ? this.#chunk(event.messageId, "thought", event.text) : [];
      case "tool-input.delta":
        return event.taskId === undefined ? this.#foresee(event) : [];
      case "retry.scheduled":
      case "fallback.used":
        return [...this.#takeBack(event), ...toNotices(event, this.#options.shows)];
      case "message.ended":
        return this.#endAnswer(event);
      case "turn.started":
        if (event.taskId === undefined) this.#isCommand = event.command !== undefined;
        return [];
      case "side-call.ended":
        this.#count(event);
        return [];
      case "tool.started":
        return this.#startCall(event);
      case "tool.progress":
        return this.#tellProgress(event);
      case "tool.ended":
        return this.#endCall(event);
      case "context.updated":
        if (event.taskId === undefined) this.#context = { used: event.usedTokens, size: event.maxTokens };
        return [];
      case "session.named":
        return [{ sessionUpdate: "session_info_update", title: event.name, updatedAt: event.at }];
      case "turn.ended":
        if (event.taskId !== undefined) return [];
        return [
          ...this.#failOpenCalls(),
          ...this.#sayResult(event),
          ...toNotices(event, this.#options.shows),
          ...this.#tellUsage(),
        ];
      default:
        return [...this.#tasks.encode(event), ...toNotices(event, this.#options.shows)];
    }
  }

  /** What is told of it when a stored session is shown again. */
  encodeStored(event: AgentEvent): SessionUpdate[] {
    if (event.type === "session.started") this.#cwd = event.cwd;
    const updates = this.encode(event);
    if (event.type === "turn.started") return event.taskId === undefined ? toUserChunks(event.input, event.turnId) : [];
    return updates.filter(({ sessionUpdate }) => !unstored.has(sessionUpdate));
  }

  /** What is stored has been shown, and from here on the session works where it is now. */
  endStored(): SessionUpdate[] {
    this.#cwd = this.#options.cwd;
    this.#usage = noUsage;
    this.#hasNewUsage = this.#context !== undefined;
    return this.#tellUsage();
  }

  /** The client itself shows what the program of a call prints, from here on and after its end. */
  showTerminal(callId: string, terminalId: string): SessionUpdate[] {
    this.#terminals.set(callId, terminalId);
    const known = [...this.#calls.keys()].filter((id) => id === callId || id.endsWith(`:${callId}`));
    return known.map((toolCallId) => ({ sessionUpdate: "tool_call_update", toolCallId, ...this.#terminalOf(callId) }));
  }

  /** What all models were given and gave since the last time this was asked. */
  takeUsage(): Usage {
    const usage = this.#usage;
    this.#usage = noUsage;
    return usage;
  }

  /** A call as a permission question shows it: as it would be run. */
  describe(request: PermissionRequest): PermissionQuestion["toolCall"] {
    const { toolCallId, toolName, input, reason } = request;
    return {
      toolCallId: idOf(request, toolCallId),
      name: toolName,
      ...describeCall(toolName, input, this.#cwd),
      status: "pending",
      rawInput: input,
      _meta: { outrider: { reason } },
    };
  }

  #sayResult({ outcome }: AgentEvent<"turn.ended">): SessionUpdate[] {
    if (!this.#isCommand || outcome.type !== "completed") return [];
    return [{ sessionUpdate: "agent_message_chunk", content: { type: "text", text: outcome.text } }];
  }

  #chunk(messageId: string, kind: "text" | "thought", text: string): SessionUpdate[] {
    if (text === "") return [];
    const answer = this.#answerOf(messageId);
    const isAgain = answer.part > 0 && !answer[kind];
    answer[kind] = true;
    const sessionUpdate = kind === "text" ? "agent_message_chunk" : "agent_thought_chunk";
    const id = answer.part === 0 ? messageId : `${messageId}-${answer.part + 1}`;
    return [{ sessionUpdate, content: { type: "text", text: isAgain ? `\n\n${text}` : text }, messageId: id }];
  }

  #answerOf(messageId: string): Answer {
    if (this.#answer?.messageId !== messageId)
      this.#answer = { messageId, part: 0, text: false, thought: false, calls: new Set() };
    return this.#answer;
  }

  /** A long input takes its time: that there will be a call is told with its first piece. */
  #foresee(event: AgentEvent<"tool-input.delta">): SessionUpdate[] {
    const { calls } = this.#answerOf(event.messageId);
    if (calls.has(event.callId)) return [];
    calls.add(event.callId);
    return this.#announce(event, { ...event, input: {} });
  }

  /** Words that were said cannot be unsaid: what comes now is another message, and calls that will not be made have failed. */
  #takeBack(event: AgentEvent<"retry.scheduled" | "fallback.used">): SessionUpdate[] {
    if (event.taskId !== undefined) return [];
    const answer = this.#answerOf(event.messageId);
    const said = answer.text || answer.thought;
    this.#answer = { ...answer, part: answer.part + (said ? 1 : 0), text: false, thought: false, calls: new Set() };
    return [...answer.calls].flatMap((callId) => {
      const call = this.#calls.get(idOf(event, callId));
      if (!call) return [];
      this.#calls.delete(call.toolCallId);
      return [{ sessionUpdate: "tool_call_update", toolCallId: call.toolCallId, status: "failed" } as const];
    });
  }

  #endAnswer(event: AgentEvent<"message.ended">): SessionUpdate[] {
    const { message, messageId, taskId } = event;
    this.#count(event);
    const announced = callsOf(message).flatMap((call) => this.#announce(event, call));
    if (taskId !== undefined) return announced;
    const { text, thought } = this.#answerOf(messageId);
    const words = thought ? "" : message.content.flatMap((part) => (part.type === "reasoning" ? [part.text] : [])).join("\n\n");
    const said = text ? "" : textOf(message.content);
    for (const { callId } of callsOf(message)) this.#open.add(callId);
    return [
      ...this.#chunk(messageId, "thought", words),
      ...this.#chunk(messageId, "text", said),
      ...announced,
      ...(this.#open.size === 0 ? this.#tellUsage() : []),
    ];
  }

  #announce(event: EventEnvelope, { callId, name, input }: { callId: string; name: string; input: unknown }): SessionUpdate[] {
    const toolCallId = idOf(event, callId);
    const known = this.#calls.get(toolCallId);
    const call: Call = { toolCallId, name, input, ...describeCall(name, input, this.#cwd) };
    this.#calls.set(toolCallId, call);
    const { input: rawInput, ...description } = call;
    if (known) return [{ sessionUpdate: "tool_call_update", ...description, rawInput }];
    const meta = event.taskId === undefined ? {} : { _meta: { outrider: { taskId: event.taskId } } };
    return [{ sessionUpdate: "tool_call", ...description, status: "pending", rawInput, ...meta }];
  }

  /** A hook or the user may have changed what the model asked for. */
  #startCall(event: AgentEvent<"tool.started">): SessionUpdate[] {
    const { callId, input } = event;
    const toolCallId = idOf(event, callId);
    const known = this.#calls.get(toolCallId);
    const isSame = known !== undefined && JSON.stringify(known.input) === JSON.stringify(input);
    return [
      ...(isSame ? [] : this.#announce(event, event)),
      { sessionUpdate: "tool_call_update", toolCallId, status: "in_progress", ...this.#terminalOf(callId) },
    ];
  }

  #terminalOf(callId: string): { content?: ToolCallContent[] } {
    const terminalId = this.#terminals.get(callId);
    return terminalId === undefined ? {} : { content: [{ type: "terminal", terminalId }] };
  }

  /** The latest of what a call says of itself; its result takes the place of that. */
  #tellProgress(event: AgentEvent<"tool.progress">): SessionUpdate[] {
    const toolCallId = idOf(event, event.callId);
    if (event.text === "" || !this.#calls.has(toolCallId) || this.#terminals.has(event.callId)) return [];
    const content = { type: "text", text: event.text } as const;
    return [{ sessionUpdate: "tool_call_update", toolCallId, content: [{ type: "content", content }] }];
  }

  #endCall(event: AgentEvent<"tool.ended">): SessionUpdate[] {
    const toolCallId = idOf(event, event.callId);
    const announced = this.#calls.has(toolCallId) ? [] : this.#announce(event, { ...event, input: {} });
    const call = this.#calls.get(toolCallId);
    this.#calls.delete(toolCallId);
    if (event.taskId === undefined) this.#open.delete(event.callId);
    const { title, kind, input } = call ?? { title: event.name, kind: "other" as const, input: {} };
    const result = { ...toCallResult(event, { input, cwd: this.#cwd }), ...this.#terminalOf(event.callId) };
    this.#terminals.delete(event.callId);
    return [
      ...announced,
      { sessionUpdate: "tool_call_update", toolCallId, title, kind, ...result },
      ...(event.taskId === undefined ? toPlan(event, input) : []),
      // Some clients take it for the end of a step: what the step's calls answered comes before it.
      ...(this.#open.size === 0 && event.taskId === undefined ? this.#tellUsage() : []),
    ];
  }

  /** An answer that was cut off leaves calls behind that will never be made. */
  #failOpenCalls(): SessionUpdate[] {
    const left = [...this.#calls.keys()];
    this.#calls.clear();
    this.#terminals.clear();
    return left.map((toolCallId) => ({ sessionUpdate: "tool_call_update", toolCallId, status: "failed" }));
  }

  #count(event: ModelCall): void {
    this.#usage = addUsage(this.#usage, event.message.usage);
    if (event.message.finish !== "interrupted") {
      const price = this.#options.price(event);
      this.#costUsd = price === null || this.#costUsd === null ? null : this.#costUsd + price;
    }
    this.#hasNewUsage = true;
  }

  #tellUsage(): SessionUpdate[] {
    this.#open.clear();
    if (!this.#context || !this.#hasNewUsage) return [];
    this.#hasNewUsage = false;
    const cost = this.#costUsd === null ? {} : { cost: { amount: roundedUsd(this.#costUsd), currency: "USD" } };
    return [{ sessionUpdate: "usage_update", ...this.#context, ...cost }];
  }
}

/** Not a part of what was said and done. */
const unstored: ReadonlySet<SessionUpdate["sessionUpdate"]> = new Set(["usage_update", "notice", "compaction_update"]);

/** Providers that number their calls give subagents the same ids. */
function idOf({ taskId }: Pick<EventEnvelope, "taskId">, callId: string): string {
  return taskId === undefined ? callId : `${taskId}:${callId}`;
}

function toUserChunks({ content }: UserMessage, messageId: string | undefined): SessionUpdate[] {
  const toBlock = (part: UserMessage["content"][number]): ContentBlock =>
    part.type === "text" ? { type: "text", text: part.text } : { type: "image", data: part.data, mimeType: part.mediaType };
  return content.map((part) => ({
    sessionUpdate: "user_message_chunk",
    content: toBlock(part),
    ...defined({ messageId }),
  }));
}

function toPlan({ name, status }: AgentEvent<"tool.ended">, input: unknown): SessionUpdate[] {
  const field = builtinFacts(name)?.fields?.plan;
  const todos = field !== undefined && status === "ok" && isJsonObject(input) ? input[field] : undefined;
  if (!Array.isArray(todos)) return [];
  const entries = todos.flatMap((todo): PlanEntry[] => {
    if (!isJsonObject(todo) || typeof todo["content"] !== "string") return [];
    const { content, status: how } = todo;
    const known = how === "completed" || how === "in_progress" ? how : "pending";
    return [{ content, priority: "medium", status: known }];
  });
  return [{ sessionUpdate: "plan", entries }];
}

/** Sums of prices have long tails that nobody pays. */
function roundedUsd(amount: number): number {
  return Math.round(amount * 1e8) / 1e8;
}
