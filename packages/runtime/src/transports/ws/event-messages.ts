import { toRuntimeError } from "../../protocol/errors.ts";
import { type AgentEvent, isEphemeral } from "../../protocol/events.ts";
import type { ContextState, HistoryEntry, ToolState } from "../../session/past/history.ts";
import { type ExecutionResult, type PermissionRequest, SessionView } from "../../session/session-view.ts";
import { defined } from "../../util/defined.ts";
import type { ServerEvent, ServerEvents, TurnResult } from "./messages.ts";

export type EventMessagesOptions = {
  /** Where the session stands before the first event. */
  readonly state: ContextState;
  readonly runningTools: readonly ToolState[];
  /** What is on record of the session for people, read when a turn has ended. */
  readonly history: () => readonly HistoryEntry[];
  /** A result has all of it, and not only its own turn. */
  readonly wholeHistory: boolean;
  /** The question with its real input, for whoever may answer; undefined for whoever may not, or when nobody waits any more. */
  readonly openPermission: (event: AgentEvent<"permission.requested">) => PermissionRequest | undefined;
};

/** The events of a session as messages of the WebSocket protocol. What a subagent does is told by the call that started it, and by its questions. */
export class EventMessages {
  readonly #options: EventMessagesOptions;
  readonly #view: SessionView;
  #body: ServerEvent[] = [];
  /** The end of the turn before, as far as it was seen here: not every turn leaves an entry that ends it. */
  #turnEnd = 0;

  constructor(options: EventMessagesOptions) {
    this.#options = options;
    this.#view = new SessionView(options.state.maxTokens, { keepsHistory: false });
    this.#view.contextState = options.state;
    this.#view.adopt(options.runningTools);
  }

  of(event: AgentEvent): ServerEvent[] {
    this.#body = [];
    if (event.taskId === undefined) this.#tellOwn(event);
    this.#tellQuestions(event);
    this.#tellSession(event);
    if (event.type === "turn.ended" && event.taskId === undefined) this.#turnEnd = event.seq;
    const turn = defined({ turnId: event.turnId });
    const last = this.#body.length - 1;
    const isStored = !isEphemeral(event.type);
    return this.#body.map((message, at) => ({ ...message, ...turn, ...(isStored && at === last && { seq: event.seq }) }));
  }

  /** What listeners of the session hear, in the same order. */
  #tellOwn(event: AgentEvent): void {
    this.#view.apply(event, (name: string, ...args: readonly unknown[]) => {
      const made = toMessage(name, args[0]);
      if (!made) return;
      if (made.type !== "complete" && made.type !== "interrupted") return void this.#body.push(made);
      this.#body.push({ ...made, result: this.#resultOf(made.result, event.seq) });
    });
  }

  #tellQuestions(event: AgentEvent): void {
    switch (event.type) {
      case "permission.requested": {
        const { requestId, callId: toolCallId, tool: toolName, input, reason, rule, taskId } = event;
        const live = this.#options.openPermission(event)?.input;
        return this.#push("permission_request", {
          ...{ requestId, toolCallId, toolName, input: live ?? input, reason },
          ...defined({ rule, taskId }),
        });
      }
      case "permission.resolved": {
        const { requestId, decision: resolution, by } = event;
        return this.#push("prompt_resolved", { requestId, kind: "permission", resolution, by });
      }
      case "interaction.requested": {
        const { interactionId: requestId, command, prompt } = event;
        return this.#push("ask_request", { requestId, command, prompt });
      }
      case "interaction.resolved": {
        const { interactionId: requestId, status: resolution } = event;
        return this.#push("prompt_resolved", { requestId, kind: "ask", resolution });
      }
    }
  }

  /** What the seed's clients do not know of, and may pass over. */
  #tellSession(event: AgentEvent): void {
    if (event.taskId !== undefined) return;
    switch (event.type) {
      case "turn.started":
        return this.#push("user_message", { message: event.input, ...defined({ displayInput: event.displayInput }) });
      case "input.added":
        if (event.origin === "user") this.#push("user_message", { message: event.input });
        return;
      case "message.ended":
        return this.#push("message_end", { messageId: event.messageId, message: event.message });
      case "retry.scheduled":
      case "fallback.used":
        return this.#push("message_void", { messageId: event.messageId });
      case "prompt.accepted": {
        const { promptId, mode, input: message, displayInput } = event;
        return this.#push("prompt_queued", { promptId, mode, message, ...defined({ displayInput }) });
      }
      case "prompt.cancelled":
        return this.#push("prompt_cancelled", { promptId: event.promptId });
      case "session.started": {
        const { cwd, model, permissionMode, resumed } = event;
        return this.#push("session_started", { cwd, model, permissionMode, resumed });
      }
      case "session.named":
        return this.#push("session_renamed", { name: event.name });
      case "session.rewound":
        return this.#push("history_cleared", { to: event.to });
      case "warning.raised":
        return this.#push("warning", { message: event.message });
      case "session.ended":
        return this.#push("session_ended", { reason: event.reason });
    }
  }

  #push<T extends keyof ServerEvents>(type: T, body: ServerEvents[T]): void {
    this.#body.push({ type, ...body } as ServerEvent); // the body of its type
  }

  /** A client may have come in the middle of a turn: the session knows all of it, from behind the end of the turn before. */
  #resultOf({ history: _, toolSummaries, ...result }: TurnResult, endSeq: number): TurnResult {
    const all = this.#options.history();
    const start = Math.max(this.#turnEnd, endOfTurnBefore(all, endSeq - 1));
    const turn = all.filter((entry) => seqOf(entry) > start && seqOf(entry) <= endSeq);
    const summary = turn.findLast((entry) => entry.type === "tool-summary");
    return {
      ...result,
      toolSummaries: summary?.type === "tool-summary" ? summary.data.tools : toolSummaries,
      history: this.#options.wholeHistory ? all : turn,
    };
  }
}

function toMessage(name: string, value: unknown): ServerEvent | undefined {
  switch (name) {
    case "text_delta":
      return { type: name, delta: value as string };
    case "thinking":
      return { type: name, isThinking: value as boolean };
    case "tool_start":
    case "tool_end":
      return { type: name, state: value as ToolState };
    case "complete":
    case "interrupted":
      return { type: name, result: value as ExecutionResult };
    case "error":
      return toErrorMessage(value);
    case "context_update":
      return { type: name, state: value as ContextState };
    case "compact":
      return { type: name, report: value as ServerEvents["compact"]["report"] };
    case "skill_activation":
      return { type: name, activation: value as ServerEvents["skill_activation"]["activation"] };
    case "background_task_event":
      return { type: name, event: value as ServerEvents["background_task_event"]["event"] };
    case "background_job_group_event":
      return { type: name, event: value as ServerEvents["background_job_group_event"]["event"] };
    default:
      return undefined;
  }
}

export function toErrorMessage(thrown: unknown): ServerEvent & { type: "error" } {
  const { message, code, retryable, hint } = toRuntimeError(thrown);
  return { type: "error", message, code, retryable, ...defined({ hint }) };
}

/** The number of the last event up to `seq` that ended a turn; 0 where there is none. */
export function endOfTurnBefore(history: readonly HistoryEntry[], seq: number): number {
  const end = history.findLast((entry) => isTurnEnd(entry) && seqOf(entry) <= seq);
  return end ? seqOf(end) : 0;
}

/** A turn that asked no model and used no tool leaves none of these: then it counts to the next one. */
function isTurnEnd({ type }: HistoryEntry): boolean {
  return type === "usage-summary" || type === "tool-summary";
}

function seqOf({ id }: HistoryEntry): number {
  return Number.parseInt(id, 10);
}
