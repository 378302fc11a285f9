import { callsOf, type ToolCallPart, type ToolResultPart, type Usage } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import type { AgentEvent, SkillActivation } from "../protocol/events.ts";
import type { LiveInput, Question } from "../permissions/gate.ts";
import type { StoredEvents } from "../journal/store.ts";
import type { Outcome } from "../protocol/outcome.ts";
import {
  type CompactionReport,
  type ContextState,
  endedTool,
  type HistoryEntry,
  startedTool,
  summarize,
  type ToolState,
  toContextState,
  type UsageSnapshot,
} from "./past/history.ts";
import type { BackgroundTaskEvent } from "../tasks/background/task-contract.ts";
import type { BackgroundJobGroupEvent } from "../protocol/job-group.ts";
import type { ExecutionWorkspaceSnapshot } from "../tasks/background/execution-entries.ts";
import { toGroupEvent, toTaskEvent } from "./tasks/task-event.ts";
import { defined } from "../util/defined.ts";

export type ExecutionResult = {
  readonly response: string;
  readonly history: readonly HistoryEntry[];
  readonly toolSummaries: readonly ToolState[];
  readonly contextState: ContextState;
  readonly usage?: UsageSnapshot;
};

/** A question that waits for an answer. */
export type PermissionRequest = {
  requestId: string;
  toolCallId: string;
  toolName: string;
  /** As it would be run, secrets included: events and records have it masked. */
  input: LiveInput;
  reason: string;
  /** The subagent that asks; absent when it is the session itself. */
  taskId?: string;
  /** A rule that would allow exactly this. */
  rule?: string;
  /** A PreToolUse hook wants it to be asked. */
  by?: "hook";
  /** The file that needs the permission, where it is one. */
  path?: string;
  /** It would not be asked in this mode. */
  mode?: "acceptEdits";
};

/** What somebody who answers is asked; undefined when nobody waits for an answer any more. */
export function toPermissionRequest(question: Question | undefined, taskId: string | undefined): PermissionRequest | undefined {
  if (!question) return undefined;
  const { requestId, callId: toolCallId, tool: toolName, input, reason, rule, by, path, mode } = question;
  return { ...{ requestId, toolCallId, toolName, input, reason }, ...defined({ rule, by, path, mode, taskId }) };
}

/** What an InteractiveSession tells its listeners. */
export interface SessionEvents {
  text_delta: (delta: string) => void;
  tool_start: (state: ToolState) => void;
  tool_end: (state: ToolState) => void;
  thinking: (isThinking: boolean) => void;
  complete: (result: ExecutionResult) => void;
  error: (error: Error) => void;
  context_update: (state: ContextState) => void;
  /** Older messages gave way to a summary. */
  compact: (report: CompactionReport) => void;
  interrupted: (result: ExecutionResult) => void;
  /** A skill begins to be used, or has been. */
  skill_activation: (activation: SkillActivation) => void;
  permission_request: (request: PermissionRequest) => void;
  /** Work beside the conversation has begun, gone on or ended. */
  background_task_event: (event: BackgroundTaskEvent) => void;
  /** Tasks that belong together: there is such a group, one more of them has ended, or it is over. */
  background_job_group_event: (event: BackgroundJobGroupEvent) => void;
  /** Something has begun, gone on or ended: what goes on now. */
  execution_workspace_event: (snapshot: ExecutionWorkspaceSnapshot) => void;
}

export type SessionEventName = keyof SessionEvents;
export type Notify = <N extends SessionEventName>(name: N, ...args: Parameters<SessionEvents[N]>) => void;

/** How many entries of the history a compaction leaves. */
const keptHistory = 2_000;

/** The session as a client shows it, folded from its events: history, running tools, the text so far, the context window. */
export class SessionView {
  #history: HistoryEntry[] = [];
  /** Entries from before the session was opened, until somebody looks. */
  #past: StoredEvents | undefined;
  #lastSeq = 0;
  #entriesOfSeq = 0;
  readonly #running = new Map<string, ToolState>();
  #calls = new Map<string, ToolCallPart>();
  #turnTools: ToolState[] = [];
  #results: ToolResultPart[] = [];
  streamingText = "";
  contextState: ContextState;
  name: string | undefined;
  lastCompaction: CompactionReport | undefined;

  readonly #keepsHistory: boolean;

  /** Whoever only wants to be notified does not keep the history of a long session. */
  constructor(contextWindow: number, { keepsHistory = true }: { readonly keepsHistory?: boolean } = {}) {
    this.contextState = toContextState(0, contextWindow);
    this.#keepsHistory = keepsHistory;
  }

  /** Calls that had begun before the first event. */
  adopt(running: readonly ToolState[]): void {
    for (const state of running) this.#running.set(state.toolCallId, state);
  }

  /** Where a resumed session stands. Its history is put together when it is asked for: most runs never do. */
  resume(stored: StoredEvents): void {
    this.#past = stored;
    this.name = stored.last("session.named")?.name;
    const context = stored.last("context.updated", isOwn);
    if (context) this.contextState = toContextState(context.usedTokens, context.maxTokens);
  }

  get history(): readonly HistoryEntry[] {
    if (this.#past) {
      const earlier = new SessionView(this.contextState.maxTokens);
      for (const event of this.#past) earlier.apply(event, () => {});
      this.#past = undefined;
      this.#history = [...earlier.#history, ...this.#history];
    }
    return this.#history;
  }

  get activeTools(): ToolState[] {
    return [...this.#running.values()];
  }

  apply(event: AgentEvent, notify: Notify): void {
    if (!isOwn(event)) return; // of a subagent's work the call that started it is shown
    const task = toTaskEvent(event);
    if (task) return notify("background_task_event", task);
    const group = toGroupEvent(event);
    if (group) return notify("background_job_group_event", group);
    switch (event.type) {
      case "turn.started":
        this.#turnTools = [];
        this.streamingText = "";
        this.#add(event, {
          category: "chat",
          type: "user",
          data: { ...event.input, ...defined({ displayInput: event.displayInput }) },
        });
        return notify("thinking", true);
      case "references.read": {
        const { references } = event;
        return this.#add(event, { category: "event", type: "prompt-file-reference", data: { references } });
      }
      case "input.added":
        if (event.origin === "file") return; // the event before says what it is
        return this.#add(event, { category: "chat", type: "user", data: event.input });
      case "text.delta":
        this.streamingText += event.text;
        return notify("text_delta", event.text);
      case "retry.scheduled":
      case "fallback.used":
        this.streamingText = "";
        return;
      case "message.ended":
        this.streamingText = "";
        this.#calls = new Map(callsOf(event.message).map((call) => [call.callId, call]));
        this.#results = [];
        return this.#add(event, { category: "chat", type: "assistant", data: event.message });
      case "tool.started":
        return this.#startTool(event, startedTool(event), notify);
      case "tool.ended":
        return this.#endTool(event, notify);
      case "context.updated":
        this.contextState = toContextState(event.usedTokens, event.maxTokens);
        return notify("context_update", this.contextState);
      case "checkpoint.restored": {
        const { checkpointId, kind, target, files, leftAlone, commandCount } = event;
        const data = { checkpointId, kind, target, files, leftAlone, commandCount };
        return this.#add(event, { category: "event", type: "checkpoint-restored", data });
      }
      case "skill.activated": {
        const { seq: _seq, at: _at, sessionId: _session, turnId: _turn, type: _type, ...data } = event;
        if (event.status === "started") this.#add(event, { category: "event", type: "skill-activation", data });
        return notify("skill_activation", data);
      }
      case "compaction.ended":
        return this.#compact(event, notify);
      case "session.named":
        this.name = event.name;
        return;
      case "turn.ended":
        return this.#endTurn(event, notify);
    }
  }

  #startTool(event: AgentEvent, state: ToolState, notify: Notify): void {
    this.#running.set(state.toolCallId, state);
    this.#add(event, { category: "event", type: "tool-start", data: state });
    notify("tool_start", state);
  }

  #endTool(event: AgentEvent<"tool.ended">, notify: Notify): void {
    const call = this.#calls.get(event.callId);
    // A refused call never started, but a front end that shows calls sees each one begin and end.
    if (!this.#running.has(event.callId)) this.#startTool(event, startedTool({ ...event, input: call?.input }), notify);
    const started = this.#running.get(event.callId) ?? startedTool({ ...event, input: call?.input });
    const state = endedTool(event, started);
    this.#running.delete(event.callId);
    this.#turnTools.push(state);
    this.#add(event, { category: "event", type: "tool-end", data: state });
    notify("tool_end", state);
    this.#results.push(event.result);
    if (this.#results.length === this.#calls.size) this.#addToolMessage(event);
  }

  #addToolMessage(event: AgentEvent): void {
    const byId = new Map(this.#results.map((result) => [result.callId, result]));
    const content = [...this.#calls.keys()].flatMap((callId) => byId.get(callId) ?? []);
    this.#add(event, { category: "chat", type: "tool", data: { role: "tool", content } });
  }

  #compact(event: AgentEvent<"compaction.ended">, notify: Notify): void {
    const { trigger, preTokens, durationMs, result } = event;
    if (result.type !== "compacted") return;
    const report: CompactionReport = { trigger, preTokens, postTokens: result.postTokens, durationMs, summary: result.summary };
    this.#history = this.history.slice(-keptHistory); // a session of any length stays small; the journal has the rest
    this.#add(event, { category: "event", type: "compaction", data: report });
    this.lastCompaction = report;
    notify("compact", report);
  }

  #endTurn(event: AgentEvent<"turn.ended">, notify: Notify): void {
    if (this.#turnTools.length > 0) {
      const data = { summary: summarize(this.#turnTools), tools: this.#turnTools };
      this.#add(event, { category: "event", type: "tool-summary", data });
    }
    const usage = toSnapshot(event.usage, this.contextState);
    if (usage) this.#add(event, { category: "event", type: "usage-summary", data: usage });
    this.streamingText = "";
    notify("thinking", false);
    const last = this.#history.at(-1)?.id;
    const historyThen = (): HistoryEntry[] => this.history.slice(0, this.history.findLastIndex(({ id }) => id === last) + 1);
    const result: ExecutionResult = {
      response: event.outcome.text,
      get history() {
        return historyThen(); // few look, and it may be long
      },
      toolSummaries: this.#turnTools,
      contextState: this.contextState,
      ...defined({ usage }),
    };
    if (event.outcome.type === "completed") return notify("complete", result);
    if (event.outcome.type === "cancelled") return notify("interrupted", result);
    notify("error", outcomeError(event.outcome));
  }

  #add(event: AgentEvent, entry: EntryBody): void {
    if (!this.#keepsHistory) return;
    this.#entriesOfSeq = event.seq === this.#lastSeq ? this.#entriesOfSeq + 1 : 0;
    this.#lastSeq = event.seq;
    this.#history.push({ id: `${event.seq}-${this.#entriesOfSeq}`, timestamp: new Date(event.at), ...entry });
  }
}

function isOwn({ taskId }: AgentEvent): boolean {
  return taskId === undefined;
}

type WithoutEnvelope<Entry> = Entry extends unknown ? Omit<Entry, "id" | "timestamp"> : never;
type EntryBody = WithoutEnvelope<HistoryEntry>;

export function outcomeError(outcome: Outcome & { type: "failed" | "stopped" }): RuntimeError {
  if (outcome.type === "failed") {
    const { code, message, trace } = outcome.error;
    // What is left of the causes after they were stored and masked: their words and stacks.
    const cause = trace === undefined ? undefined : Object.assign(new Error(trace.split("\n", 1)[0]), { stack: trace });
    return new RuntimeError(code, message, { ...outcome.error, cause });
  }
  const { limit, reason } = outcome;
  return new RuntimeError("limit-reached", `Stopped: the limit was reached (${limit})${reason ? `: ${reason}` : ""}`);
}

function toSnapshot(usage: Usage, context: ContextState): UsageSnapshot | undefined {
  const totalTokens = usage.inputTokens + usage.outputTokens;
  if (totalTokens === 0) return undefined;
  return {
    kind: "exact",
    scope: "turn",
    totalTokens,
    promptTokens: usage.inputTokens,
    completionTokens: usage.outputTokens,
    contextUsedTokens: context.usedTokens,
    contextMaxTokens: context.maxTokens,
    contextUsedPercentage: context.usedPercentage,
    costStatus: "unknown",
  };
}
