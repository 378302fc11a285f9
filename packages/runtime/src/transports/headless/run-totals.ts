import { addUsage, callsOf, isJsonObject, noUsage, textOf, type Usage } from "../../protocol/content.ts";
import type { AgentEvent, Denial, SessionFacts, WorktreeFacts } from "../../protocol/events.ts";
import { ignoredWords } from "../../protocol/ignored-words.ts";
import { ownText } from "../../protocol/own-content.ts";
import { toHookInput } from "../../tools/hook-input.ts";
import { toStopReason } from "./stop-reason.ts";
import { toWorktreeFacts } from "./worktree-field.ts";
import { SubagentStats } from "./subagent-stats.ts";
import { TaskFrames } from "./task-frames.ts";
import { defined } from "../../util/defined.ts";

export type ModelCall = AgentEvent<"message.ended" | "side-call.ended">;

type Ended = {
  readonly event: AgentEvent<"tool.ended">;
  readonly input: unknown;
  readonly decision: AgentEvent<"permission.decided"> | undefined;
};

/** What the frames of one run need to know of the events before them. A turn counts for itself; what calls cost adds up over all of them. */
export class RunTotals {
  facts: SessionFacts | undefined;
  ended: AgentEvent<"turn.ended"> | undefined;
  stopReason: string | null = null;
  toolCalls = 0;
  /** Of the conversation in this turn; subagents have their own. */
  usage: Usage = noUsage;
  denials: Denial[] = [];
  /** Of the session's opening and of this turn, each once. */
  readonly warnings: Set<string> = new Set();
  /** Where the conversation works, if that is a worktree of its own. */
  worktree: WorktreeFacts | undefined;
  /** When the turn began, by the session's clock. */
  startedAt: string | undefined;
  /** The command that the turn runs instead of asking a model. */
  command: string | undefined;
  /** What was typed behind its name. */
  commandArgs = "";
  /** The tasks whose end began the turn; nobody asked for it then. */
  tasksTold: readonly string[] | undefined;
  /** Its first answer of the conversation. */
  first: AgentEvent<"message.ended"> | undefined;
  /** When the conversation last went on by more than a word. */
  lastAt: string | undefined;
  readonly tasks: TaskFrames = new TaskFrames();
  readonly subagents: SubagentStats = new SubagentStats();
  /** The run of each task that has begun. */
  readonly #runIds = new Map<string, string>();
  /** Calls of the conversation that have no result yet. */
  openCalls = 0;
  /** The model has said something in this turn. */
  answered = false;
  /** Where an abort would have found the turn: between two words, or in a tool. */
  abortedDuring: "streaming" | "tools" = "streaming";
  /** Since they were last taken, without what was said in them. */
  #calls: ModelCall[] = [];
  readonly #inputs = new Map<string, unknown>();
  readonly #decisions = new Map<string, AgentEvent<"permission.decided">>();

  #ended: Ended | undefined;

  apply(event: AgentEvent): void {
    this.tasks.apply(event);
    this.subagents.apply(event);
    if (event.taskId === undefined) this.lastAt = event.at;
    if (event.type === "session.started") this.facts = event;
    else if (event.type === "session.changed" && this.facts) this.facts = { ...this.facts, ...changesIn(event) };
    else if (event.type === "turn.started" && event.taskId === undefined) this.#beginTurn(event);
    else if (event.type === "turn.ended" && event.taskId === undefined) this.ended = event;
    else if (event.type === "message.ended") this.#applyMessage(event);
    else if (event.type === "side-call.ended") this.#applyCall(event);
    else if (event.type === "tool.started") this.#inputs.set(keyOf(event, event.callId), event.input);
    else if (event.type === "permission.decided") this.#decisions.set(keyOf(event, event.callId), event);
    else if (event.type === "tool.ended") this.#applyTool(event);
    else if (event.type === "warning.raised") this.warnings.add(event.message);
    else if (event.type === "settings.ignored") this.warnings.add(ignoredWords(event));
    else if (event.type === "background.created") this.#noteRun(event);
    else if (event.type === "worktree.inspected" && event.taskId === undefined) this.worktree = toWorktreeFacts(event);
  }

  /** The run whose end began the turn. */
  get runTold(): string | undefined {
    return this.tasksTold?.map((id) => this.#runIds.get(id)).find((runId) => runId !== undefined);
  }

  #noteRun({ task: { id, metadata } }: AgentEvent<"background.created">): void {
    if (typeof metadata?.["runId"] === "string") this.#runIds.set(id, metadata["runId"]);
  }

  /** The model calls since the last time, subagents' and side calls too. */
  takeCalls(): ModelCall[] {
    const calls = this.#calls;
    this.#calls = [];
    return calls;
  }

  /** What a call was made with: the host or a hook may have changed what the model asked for. */
  inputOf(event: AgentEvent<"tool.ended">): unknown {
    return this.#ended?.event === event ? this.#ended.input : undefined;
  }

  /** The verdict on a call that has ended just now. */
  decisionOn(event: AgentEvent<"tool.ended">): AgentEvent<"permission.decided"> | undefined {
    return this.#ended?.event === event ? this.#ended.decision : undefined;
  }

  #beginTurn({ at, tasks, command, input }: AgentEvent<"turn.started">): void {
    this.tasksTold = tasks;
    this.command = command;
    this.commandArgs = command === undefined ? "" : textOf(input.content).replace(/^\s*\S+\s*/, "");
    if (this.ended) this.warnings.clear(); // those of the turn before were in its result
    this.startedAt = at;
    this.first = undefined;
    this.ended = undefined;
    this.stopReason = null;
    this.toolCalls = 0;
    this.usage = noUsage;
    this.denials = [];
    this.openCalls = 0;
    this.answered = false;
    this.abortedDuring = "streaming";
    for (const calls of [this.#inputs, this.#decisions])
      for (const key of calls.keys()) if (key.startsWith(" ")) calls.delete(key); // an agent beside the conversation goes on
  }

  #applyCall(event: ModelCall): void {
    this.#calls.push(withoutWords(event));
    if (event.taskId === undefined) this.usage = addUsage(this.usage, event.message.usage);
  }

  #applyMessage(event: AgentEvent<"message.ended">): void {
    const { message } = event;
    this.#applyCall(event);
    const calls = callsOf(message);
    for (const { callId, input } of calls) this.#inputs.set(keyOf(event, callId), input);
    if (event.taskId !== undefined) return;
    this.answered = true;
    this.first ??= withoutWords(event);
    this.stopReason = toStopReason(message);
    this.openCalls = calls.length;
  }

  #applyTool(event: AgentEvent<"tool.ended">): void {
    this.toolCalls++;
    const key = keyOf(event, event.callId);
    const input = this.#inputs.get(key);
    const decision = this.#decisions.get(key);
    this.#inputs.delete(key);
    this.#decisions.delete(key);
    this.#ended = { event, input, decision };
    if (event.taskId === undefined) this.openCalls--;
    if (event.status === "interrupted" || decision?.endsTurn) this.abortedDuring = "tools";
    if (event.status !== "denied") return;
    this.denials.push({ callId: event.callId, tool: event.name, input: this.#shown(input), reason: ownText(event) });
  }

  /** As hosts know it: a file is named by its whole path. */
  #shown(input: unknown): unknown {
    return isJsonObject(input) && this.facts ? toHookInput(input, this.facts.cwd) : input;
  }
}

/** A session may live for long; only who answered and what it took is needed at its end. */
export function withoutWords<T extends ModelCall>(event: T): T {
  return { ...event, message: { ...event.message, content: [] } };
}

function changesIn(event: AgentEvent<"session.changed">): Partial<SessionFacts> {
  const { model, permissionMode, tools, places, agents, plugins, pluginErrors } = event;
  return {
    ...(model && { model }),
    ...defined({ permissionMode, tools, places, agents, plugins, pluginErrors }),
  };
}

/** Providers that number their calls give subagents the same ids. */
function keyOf({ taskId }: AgentEvent, callId: string): string {
  return `${taskId ?? ""} ${callId}`;
}
