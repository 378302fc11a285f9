import { forkOrigin } from "../../../journal/summary.ts";
import { compactMessages } from "../../../journal/transcript.ts";
import { textOf } from "../../../protocol/content.ts";
import type { AgentEvent, CompactionResult } from "../../../protocol/events.ts";
import { toAnswerStep, toErrorExtra, toMetrics, toOutcomeExtra, toResult } from "./answer-step.ts";
import type { Extra, FinalMetrics, Step, Trajectory, TrajectoryAgent } from "../atif.ts";
import type { CallPrice } from "./call-price.ts";
import { isRecord } from "../../../util/is-record.ts";
import { MediaFiles } from "../media-files.ts";
import { toNamedStep } from "./imported-step.ts";
import { OpenCalls } from "./open-calls.ts";
import { toRunNote } from "./run-notes.ts";
import { taskOf, toOwnEvent } from "./subagent-events.ts";
import { Totals } from "./totals.ts";
import { defined } from "../../../util/defined.ts";

export type BuilderOptions = {
  /** The one the events belong to when absent. */
  readonly sessionId?: string | undefined;
  /** Without it no cost is known. */
  readonly priceOf?: CallPrice | undefined;
  /** Events up to this one are history that another document tells: their steps are marked as copied and cost nothing here. */
  readonly copiedThrough?: number | undefined;
};

/**
 * A trajectory in the making, event by event: whenever it is asked for, it is whole and valid as far as the run has come.
 * Ephemeral events change nothing.
 */
export class TrajectoryBuilder {
  readonly media: MediaFiles;
  /** Steps, also of subagents, that will never change again: their text need not be made twice. */
  readonly settled: WeakSet<Step>;
  readonly #options: BuilderOptions;
  readonly #steps: Step[] = [];
  readonly #totals = new Totals();
  readonly #notes: Extra[] = [];
  readonly #subagents = new Map<string, TrajectoryBuilder>();
  readonly #name: string;
  #agent: TrajectoryAgent;
  #sessionId: string | undefined;
  #system: string | undefined;
  #copiedThrough: number;
  #forkedFrom: Extra = {};
  /** What a journal holds before its first session was taken from somebody else's trajectory. */
  #isImported = true;
  /** Its steps are told as they were; what was made of them for a model is not told again. */
  #hasToldSteps = false;
  #calls: OpenCalls | undefined;
  #attempts: Extra = {};
  #sideMetrics: Extra[] = [];
  #end: Extra = {};

  constructor(
    options: BuilderOptions = {},
    part: { name: string; media: MediaFiles; settled: WeakSet<Step> } = {
      name: "outrider",
      media: new MediaFiles(),
      settled: new WeakSet(),
    },
  ) {
    this.#options = options;
    this.#copiedThrough = options.copiedThrough ?? 0;
    this.#sessionId = options.sessionId;
    this.#name = part.name;
    this.media = part.media;
    this.settled = part.settled;
    this.#agent = { name: this.#name, version: "unknown" };
  }

  /** True when there is something new to be written down: a step, all results of one, or an end. */
  apply(event: AgentEvent): boolean {
    const task = taskOf(event);
    if (task !== undefined) return this.#subagents.get(task)?.apply(toOwnEvent(event)) ?? false;
    this.#sessionId ??= event.sessionId;
    const note = toRunNote(event);
    if (note) this.#notes.push(note);
    return this.#applyOwn(event);
  }

  /** Undefined before there is anything to tell. */
  toTrajectory(label: string, trajectoryId?: string): Trajectory | undefined {
    if (this.#steps.length === 0) return undefined;
    const subagents = [...this.#subagents].flatMap(([id, builder]) => builder.toTrajectory(label, id) ?? []);
    const metrics = subagents.flatMap(({ final_metrics: own }): FinalMetrics[] => (own ? [own] : []));
    const extra: Extra = { ...this.#end, ...(this.#notes.length > 0 && { events: this.#notes }) };
    return {
      schema_version: label,
      ...defined({ session_id: this.#sessionId, trajectory_id: trajectoryId }),
      agent: this.#agent,
      steps: this.#steps,
      final_metrics: this.#totals.toFinalMetrics(this.#steps, metrics),
      ...(Object.keys(extra).length > 0 && { extra }),
      ...(subagents.length > 0 && { subagent_trajectories: subagents }),
    };
  }

  #applyOwn(event: AgentEvent): boolean {
    if (this.#isImported && this.#hasToldSteps && event.type !== "session.started" && event.type !== "step.imported")
      return false;
    switch (event.type) {
      case "step.imported":
        this.#hasToldSteps = true;
        return this.#addTold(event);
      case "session.started":
        return this.#describeAgent(event);
      case "turn.started":
        return this.#addPrompt(event);
      case "input.added":
        return this.#addInjection(event);
      case "retry.scheduled": {
        const retry = { attempt: event.attempt, delay_ms: event.delayMs, error: toErrorExtra(event.error) };
        this.#attempts = { ...this.#attempts, retries: [...((this.#attempts["retries"] as Extra[] | undefined) ?? []), retry] }; // ours, set here alone
        return false;
      }
      case "fallback.used":
        this.#attempts = { ...this.#attempts, fallback: { from: event.from, to: event.to, error: toErrorExtra(event.error) } };
        return false;
      case "message.ended":
        return this.#addAnswer(event);
      case "permission.decided": {
        const { effect, by, reason, rule, source } = event;
        const permission = { effect, by, reason, ...defined({ rule, source }) };
        this.#calls?.note(event.callId, { permission });
        return false;
      }
      case "tool.started":
        this.#calls?.start(event);
        return false;
      case "tool.ended":
        this.#calls?.answer(event.callId, toResult(event, this.media));
        return this.#calls?.complete ?? false;
      case "side-call.ended":
        return this.#addSideCall(event);
      case "context.cleared":
        return this.#addPruning(event);
      case "compaction.ended":
        return event.result.type === "compacted" ? this.#addCompaction(event, event.result) : false;
      case "turn.ended":
        return this.#endTurn(event);
      case "session.changed":
        return this.#changeAgent(event);
      case "task.started":
        return this.#startTask(event);
      case "task.ended":
        return this.#endTask(event);
      default:
        return false;
    }
  }

  #describeAgent(event: AgentEvent<"session.started">): boolean {
    this.#isImported = false;
    const origin = forkOrigin(event);
    if (origin) {
      this.#copiedThrough = Math.max(this.#copiedThrough, origin.seq);
      this.#forkedFrom = { forked_from: { session_id: origin.sessionId, seq: origin.seq } };
    }
    this.#agent = {
      name: this.#name,
      version: event.version,
      model_name: event.model.id,
      tool_definitions: event.toolDefinitions.map(({ name, description, inputSchema }) => ({
        type: "function",
        function: { name, description, parameters: inputSchema },
      })),
      extra: {
        provider: event.model.provider,
        cwd: event.cwd,
        permission_mode: event.permissionMode,
        ...defined({ sandbox: event.sandbox }),
        ...this.#forkedFrom,
      },
    };
    if (event.system === "" || event.system === this.#system) return false;
    this.#system = event.system;
    return this.#add(event, { source: "system", message: event.system, extra: { system_prompt: true } });
  }

  #addPrompt(event: AgentEvent<"turn.started">): boolean {
    this.#end = {};
    this.#calls?.close(); // a run that was killed did not
    const message = this.media.toContent(event.input.content);
    if (event.tasks) return this.#add(event, { source: "system", message, extra: { origin: "task" } }); // nobody typed it
    const extra = event.displayInput === undefined ? {} : { extra: { display_input: event.displayInput } };
    return this.#add(event, { source: "user", message, ...extra });
  }

  #addInjection(event: AgentEvent<"input.added">): boolean {
    const message = this.media.toContent(event.input.content);
    if (event.origin === "user") return this.#add(event, { source: "user", message });
    const context_management = { type: "injection", boundary: "append" };
    return this.#add(event, { source: "system", message, extra: { origin: event.origin, context_management } });
  }

  #addAnswer(event: AgentEvent<"message.ended">): boolean {
    this.#calls?.close();
    const costUsd = this.#options.priceOf?.(event) ?? null;
    const { extra, metrics, ...step } = toAnswerStep(event, costUsd);
    const copied = this.#isCopied(event);
    if (!copied) this.#totals.addCost(event.message.usage, costUsd);
    this.#add(event, { ...step, ...(metrics && !copied && { metrics }), extra: { ...extra, ...this.#attempts } });
    this.#attempts = {};
    if (this.#calls) this.settled.add(this.#calls.step);
    const added = this.#steps.at(-1);
    this.#calls = added?.tool_calls ? new OpenCalls(added, event) : undefined;
    return true;
  }

  #addSideCall(event: AgentEvent<"side-call.ended">): boolean {
    if (this.#isCopied(event)) return false;
    const costUsd = this.#options.priceOf?.(event) ?? null;
    this.#totals.addSideCall(event.message.usage, costUsd);
    const metrics = toMetrics(event.message.usage, costUsd);
    if (event.purpose === "compaction") this.#sideMetrics.push({ model_name: event.message.model.id, ...defined({ metrics }) });
    return false;
  }

  #addPruning(event: AgentEvent<"context.cleared">): boolean {
    const { through, results, preTokens, postTokens } = event;
    return this.#add(event, {
      source: "system",
      message: "Old tool results removed from the context",
      extra: {
        context_management: { type: "pruning", boundary: "truncate", tokens_before: preTokens, tokens_after: postTokens },
        pruned: { through_message: through, results: results.map(({ callId, note }) => ({ tool_call_id: callId, note })) },
      },
    });
  }

  /** What came before stays in the document; `replaced_messages` tells which of it the model no longer sees. */
  #addCompaction(event: AgentEvent<"compaction.ended">, result: CompactionResult & { type: "compacted" }): boolean {
    const { prompt, ...whole } = result;
    const context = compactMessages([], whole).map((message) => textOf(message.content));
    const side = this.#sideMetrics;
    this.#sideMetrics = [];
    return this.#add(event, {
      source: "system",
      message: "Context compaction performed",
      observation: { results: [{ content: context.join("\n\n") }] },
      extra: {
        context_management: {
          type: "compaction",
          boundary: "replace",
          trigger: event.trigger,
          tokens_before: event.preTokens,
          tokens_after: result.postTokens,
          duration_ms: event.durationMs,
          replaced_messages: result.replaced,
          ...defined({ kept_prompt: prompt }),
        },
        ...(side.length > 0 && { calls: side }),
      },
    });
  }

  #endTurn({ outcome }: AgentEvent<"turn.ended" | "task.ended">): boolean {
    this.#calls?.close();
    const extra = toOutcomeExtra(outcome);
    const last = this.#steps.at(-1);
    if (last && (outcome.type !== "completed" || Object.keys(this.#attempts).length > 0))
      last.extra = { ...last.extra, ...this.#attempts, ...(outcome.type !== "completed" && { outcome: extra }) };
    this.#attempts = {};
    const structured =
      outcome.type === "completed" && outcome.structured !== undefined ? { structured_output: outcome.structured } : {};
    this.#end = { outcome: extra, ...structured };
    return true;
  }

  #changeAgent({ model, permissionMode }: AgentEvent<"session.changed">): boolean {
    const extra = {
      ...this.#agent.extra,
      ...(model && { provider: model.provider }),
      ...defined({ permission_mode: permissionMode }),
    };
    this.#agent = { ...this.#agent, ...(model && { model_name: model.id }), extra };
    return false;
  }

  /** A trajectory of its own: what it was told, and then what it does. */
  #startTask(event: AgentEvent<"task.started">): boolean {
    const { taskId, callId, agent, model, system, tools, permissionMode, prompt } = event;
    const { priceOf } = this.#options;
    const known = this.#subagents.get(taskId);
    if (known) {
      // It goes on with what it knew.
      this.#calls?.refer(callId, { trajectory_id: taskId, ...defined({ session_id: this.#sessionId }) });
      return known.#add(event, { source: "user", message: prompt });
    }
    const child = new TrajectoryBuilder(
      { priceOf, copiedThrough: this.#copiedThrough },
      { name: agent, media: this.media, settled: this.settled },
    );
    child.#sessionId = this.#sessionId;
    child.#isImported = this.#isImported;
    child.#agent = {
      name: agent,
      version: this.#agent.version,
      model_name: model.id,
      tool_definitions: (this.#agent.tool_definitions ?? []).filter((tool) => tools.includes(toolName(tool))),
      extra: { provider: model.provider, permission_mode: permissionMode, description: event.description },
    };
    if (system !== "") child.#add(event, { source: "system", message: system, extra: { system_prompt: true } });
    child.#add(event, { source: "user", message: prompt });
    this.#subagents.set(taskId, child);
    this.#calls?.refer(callId, { trajectory_id: taskId, ...defined({ session_id: this.#sessionId }) });
    return true;
  }

  #endTask(event: AgentEvent<"task.ended">): boolean {
    const child = this.#subagents.get(event.taskId);
    return child ? child.#endTurn(event) : false;
  }

  #addTold({ step }: AgentEvent<"step.imported">): boolean {
    this.#steps.push({ step_id: this.#steps.length + 1, ...toCopied(toNamedStep(step, this.media)) });
    return true;
  }

  #add(event: AgentEvent, step: Omit<Step, "step_id">): boolean {
    const note = this.#isCopied(event) ? toCopied(step) : {};
    const last = this.#steps.at(-1);
    if (last && last !== this.#calls?.step) this.settled.add(last);
    this.#steps.push({ step_id: this.#steps.length + 1, timestamp: event.at, ...step, ...note });
    return true;
  }

  #isCopied(event: AgentEvent): boolean {
    return this.#isImported || event.seq <= this.#copiedThrough;
  }
}

function toCopied<T extends Omit<Step, "step_id">>(step: T): T {
  return { ...step, is_copied_context: true, extra: { note: "Told by an earlier trajectory", ...step.extra } };
}

function toolName(definition: Record<string, unknown>): string {
  const { function: declared } = definition;
  return isRecord(declared) ? String(declared["name"]) : "";
}
