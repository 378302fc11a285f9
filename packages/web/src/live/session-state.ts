import type { AgentEvent } from "@outrider/runtime";
import { RunReducer } from "../model/from-events.ts";
import type { Call, RunModel, Step } from "../model/run-model.ts";
import type { LiveTask, Question, Todo, Waiting } from "./live-types.ts";

/** The answer that is being written. */
export type Draft = { readonly messageId: string; readonly text: string; readonly reasoning: string; readonly tool?: string };

/** As `GET /v1/sessions/{id}` answers. */
export type Snapshot = {
  readonly storedSeq: number;
  readonly state: "working" | "open" | "stored";
  readonly questions: readonly Question[];
  readonly waiting: readonly { readonly id: string; readonly isHeld: boolean; readonly input: Parts }[];
};
type Parts = { readonly content: readonly { readonly type: string; readonly text?: string }[] };

/** What a page shows of an open session beside its steps. All of it follows from events; a snapshot sets right what a crash has left open. */
export class SessionState {
  readonly #reducer = new RunReducer({ priceOf: () => undefined });
  readonly #questions = new Map<string, Question>();
  readonly #queue = new Map<string, Waiting>();
  readonly #tasks = new Map<string, LiveTask>();
  draft: Draft | undefined;
  todos: readonly Todo[] = [];
  context: { readonly usedTokens: number; readonly maxTokens: number } | undefined;
  model: { readonly id: string; readonly provider: string } | undefined;
  mode: string | undefined;
  isWorking = false;
  turnBegan = 0;
  /** The last stored event. */
  seq = 0;
  /** The last event with a cost. */
  answered = 0;

  get questions(): Question[] {
    return [...this.#questions.values()];
  }

  get queue(): Waiting[] {
    return [...this.#queue.values()];
  }

  get tasks(): LiveTask[] {
    return [...this.#tasks.values()];
  }

  run(): RunModel {
    const run = this.#reducer.model();
    return this.isWorking
      ? { ...run, steps: run.steps.map((step, at) => (at === lastAnswer(run.steps) ? withQueued(step) : step)) }
      : run;
  }

  cost(seq: number, costUsd: number | null): void {
    this.#reducer.cost(seq, costUsd);
  }

  settle({ storedSeq, state, questions, waiting }: Snapshot): void {
    const open = new Set(questions.map(questionId));
    for (const [id, { seq }] of this.#questions) if (seq <= storedSeq && !open.has(id)) this.#questions.delete(id);
    for (const question of questions) this.#questions.set(questionId(question), question);
    if (state !== "working" && this.seq <= storedSeq) this.isWorking = false;
    if (!this.isWorking) this.draft = undefined;
    const waits = new Set(waiting.map(({ id }) => id));
    for (const id of this.#queue.keys()) if (!waits.has(id)) this.#queue.delete(id);
    for (const { id, isHeld, input } of waiting) this.#queue.set(id, { id, isHeld, text: textIn(input) });
    if (state === "stored")
      for (const [id, task] of this.#tasks) if (task.state === "running" || task.state === "queued") this.#tasks.delete(id);
  }

  push(event: AgentEvent, isStored: boolean): void {
    if (isStored) this.seq = event.seq;
    if (event.type === "text.delta" || event.type === "reasoning.delta" || event.type === "tool-input.delta") {
      if (event.taskId === undefined) this.#write(event);
      return;
    }
    this.#reducer.push(event);
    this.#take(event);
  }

  #write(event: AgentEvent<"text.delta" | "reasoning.delta" | "tool-input.delta">): void {
    const { messageId } = event;
    const before: Draft = this.draft?.messageId === messageId ? this.draft : { messageId, text: "", reasoning: "" };
    if (event.type === "text.delta") this.draft = { ...before, text: before.text + event.text };
    else if (event.type === "reasoning.delta") this.draft = { ...before, reasoning: before.reasoning + event.text };
    else this.draft = { ...before, tool: event.name };
  }

  #take(event: AgentEvent): void {
    const isOwn = event.taskId === undefined;
    switch (event.type) {
      case "session.started":
        this.model = event.model;
        this.mode = event.permissionMode;
        return;
      case "session.changed":
        this.model = event.model ?? this.model;
        this.mode = event.permissionMode ?? this.mode;
        return;
      case "context.updated":
        if (isOwn) this.context = { usedTokens: event.usedTokens, maxTokens: event.maxTokens };
        return;
      case "prompt.accepted":
        this.#queue.set(event.promptId, { id: event.promptId, text: event.displayInput ?? textIn(event.input), isHeld: false });
        return;
      case "prompt.cancelled":
        this.#queue.delete(event.promptId);
        return;
      case "input.added":
        if (event.promptId !== undefined) this.#queue.delete(event.promptId);
        return;
      case "turn.started":
        if (!isOwn) return;
        if (event.turnId !== undefined) this.#queue.delete(event.turnId);
        this.isWorking = true;
        this.turnBegan = Date.parse(event.at);
        this.draft = undefined;
        return;
      case "turn.ended":
        if (!isOwn) return;
        this.isWorking = false;
        this.draft = undefined;
        for (const [id, { taskId }] of this.#questions) if (taskId === undefined) this.#questions.delete(id);
        return;
      case "retry.scheduled":
        if (isOwn) this.draft = undefined;
        return;
      case "message.ended":
        this.answered = event.seq;
        if (isOwn) this.draft = undefined;
        return;
      case "side-call.ended":
        this.answered = event.seq;
        return;
      case "tool.started":
        if (isOwn) this.todos = todosIn(event.input) ?? this.todos;
        return;
      case "permission.requested":
        this.#questions.set(event.requestId, event);
        return;
      case "permission.resolved":
        this.#questions.delete(event.requestId);
        return;
      case "interaction.requested":
        this.#questions.set(event.interactionId, event);
        return;
      case "interaction.resolved":
        this.#questions.delete(event.interactionId);
        return;
      default:
        this.#takeTask(event);
    }
  }

  #takeTask(event: AgentEvent): void {
    switch (event.type) {
      case "task.started":
        if (!this.#tasks.has(event.taskId))
          this.#tasks.set(event.taskId, {
            ...{ id: event.taskId, label: event.description || event.agent, kind: "subagent", state: "running" },
            ...{ note: event.agent, hasLog: event.background === true },
          });
        return;
      case "task.ended": {
        for (const [id, { taskId }] of this.#questions) if (taskId === event.taskId) this.#questions.delete(id);
        const task = this.#tasks.get(event.taskId);
        const state = ({ completed: "ok", failed: "error", stopped: "stopped", cancelled: "stopped" } as const)[
          event.outcome.type
        ];
        if (task) this.#tasks.set(event.taskId, { ...task, state, note: seconds(event.durationMs) });
        return;
      }
      case "background.created":
      case "background.started":
      case "background.updated":
      case "background.ended": {
        const { id, label, kind, status, currentAction, commandPreview, error } = event.task;
        this.#tasks.set(id, {
          ...{ id, label: commandPreview ?? label, kind: kind === "agent" ? "subagent" : kind, state: taskStates[status] },
          ...{ note: error?.message ?? currentAction ?? status.replace("_", " "), hasLog: true },
        });
        return;
      }
      case "background.closed":
        this.#tasks.delete(event.id);
    }
  }
}

const taskStates = {
  queued: "queued",
  sleeping: "queued",
  paused: "queued",
  running: "running",
  waiting_permission: "running",
  completed: "ok",
  failed: "error",
  cancelled: "stopped",
} as const;

export function questionId(question: Question): string {
  return question.type === "permission.requested" ? question.requestId : question.interactionId;
}

function lastAnswer(steps: readonly Step[]): number {
  return steps.findLastIndex(({ kind }) => kind === "answer");
}

/** A call of the running turn that has not begun is not lost: it waits for the others. */
function withQueued(step: Step): Step {
  const calls = step.calls.map((call): Call => (call.status === "unknown" ? { ...call, status: "queued" } : call));
  return { ...step, calls };
}

function textIn({ content }: Parts): string {
  return content.map(({ type, text = "" }) => (type === "text" ? text : `[${type}]`)).join("\n");
}

function todosIn(input: unknown): Todo[] | undefined {
  const todos = (input as { todos?: unknown } | null)?.todos;
  if (!Array.isArray(todos)) return undefined;
  const isTodo = (one: unknown): one is Todo =>
    typeof one === "object" && one !== null && "content" in one && typeof one.content === "string" && "status" in one;
  return todos.every(isTodo) ? todos : undefined;
}

function seconds(ms: number): string {
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.floor(ms / 60_000)} m ${Math.round((ms % 60_000) / 1000)} s`;
}
