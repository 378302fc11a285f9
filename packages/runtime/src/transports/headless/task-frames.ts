import { toClaudeUsage } from "./claude-usage.ts";
import { addUsage, callsOf, noUsage, type ToolCallPart, type Usage } from "../../protocol/content.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import type { Outcome } from "../../protocol/outcome.ts";

type Task = {
  readonly started: AgentEvent<"task.started">;
  usage: Usage;
  toolUses: number;
  outcome?: Outcome;
  durationMs?: number;
  readonly tools: Set<string>;
  worktree?: { readonly path: string; readonly branch: string };
};

export type TaskFrame = { readonly subtype: string; readonly [field: string]: unknown };

/** What frames say about subagents: whose they are, that one has begun, how far it is, how it ended. */
export class TaskFrames {
  readonly #tasks = new Map<string, Task>();
  readonly #byCall = new Map<string, Task>();
  /** The call that started an agent first: what it does belongs there, also when another call has it go on. */
  readonly #firstCalls = new Map<string, string>();

  apply(event: AgentEvent): void {
    if (event.taskId === undefined) return;
    if (event.type === "task.started") {
      const task = { started: event, usage: { ...noUsage }, toolUses: 0, tools: new Set<string>() };
      this.#tasks.set(event.taskId, task);
      this.#byCall.set(event.callId, task);
      if (!this.#firstCalls.has(event.taskId)) this.#firstCalls.set(event.taskId, event.callId);
      return;
    }
    const task = this.#tasks.get(event.taskId);
    if (!task) return;
    if (event.type === "message.ended" || event.type === "side-call.ended")
      task.usage = addUsage(task.usage, event.message.usage);
    if (event.type === "message.ended") task.toolUses += callsOf(event.message).length;
    if (event.type === "message.ended") for (const { name } of callsOf(event.message)) task.tools.add(name);
    if (event.type === "worktree.inspected" && event.status === "kept")
      task.worktree = { path: event.path, branch: event.branch };
    if (event.type !== "task.ended") return;
    task.outcome = event.outcome;
    task.durationMs = event.durationMs;
    this.#tasks.delete(event.taskId);
  }

  /** On frames of the conversation: whose part of it they are. */
  marksOf({ taskId }: AgentEvent): Record<string, unknown> {
    const task = taskId === undefined ? undefined : this.#tasks.get(taskId);
    if (!task) return { parent_tool_use_id: null };
    const { callId, agent, description } = task.started;
    const parent = this.#firstCalls.get(task.started.taskId) ?? callId;
    return { parent_tool_use_id: parent, agent_id: taskId, subagent_type: agent, task_description: description };
  }

  /** On all other frames. */
  agentOf({ taskId }: AgentEvent): Record<string, unknown> {
    return taskId === undefined ? {} : { agent_id: taskId };
  }

  frames(event: AgentEvent): TaskFrame[] {
    switch (event.type) {
      case "task.started":
        return [toStarted(event)];
      case "message.ended":
        return this.#progress(event);
      case "task.ended":
        return this.#ended(event);
      default:
        return [];
    }
  }

  /** What the call that started a subagent tells beside its words; undefined for every other call. */
  resultOf(callId: string): Record<string, unknown> | undefined {
    const task = this.#byCall.get(callId);
    if (task?.started.background) return toLaunched(task.started);
    if (!task?.outcome) return undefined;
    const { taskId, agent, prompt, model } = task.started;
    return {
      status: statusOf(task.outcome),
      prompt,
      content: [{ type: "text", text: task.outcome.text }],
      agentId: taskId,
      agentType: agent,
      resolvedModel: model.id,
      totalDurationMs: task.durationMs ?? 0,
      totalTokens: totalTokens(task.usage),
      totalToolUseCount: task.toolUses,
      usage: toClaudeUsage(task.usage),
      ...(task.tools.size > 0 && { toolsUsed: [...task.tools] }),
      ...(task.worktree && { worktreePath: task.worktree.path, worktreeBranch: task.worktree.branch }),
    };
  }

  #progress(event: AgentEvent<"message.ended">): TaskFrame[] {
    const task = event.taskId === undefined ? undefined : this.#tasks.get(event.taskId);
    const call = callsOf(event.message).at(-1);
    if (!task || !call) return [];
    const durationMs = Math.max(0, Date.parse(event.at) - Date.parse(task.started.at));
    return [
      {
        subtype: "task_progress",
        ...idsOf(task.started),
        description: `Running ${describe(call)}`,
        subagent_type: task.started.agent,
        usage: toTaskUsage(task, durationMs),
        last_tool_name: call.name,
      },
    ];
  }

  #ended(event: AgentEvent<"task.ended">): TaskFrame[] {
    const task = this.#byCall.get(event.callId);
    if (!task) return [];
    const status = statusOf(event.outcome);
    return [
      {
        subtype: "task_updated",
        ...runOf(task.started),
        patch: {
          ...{ status: toTaskState(status), end_time: Date.parse(event.at) },
          ...(event.outcome.type === "failed" && { error: event.outcome.error.message }),
        },
      },
      {
        subtype: "task_notification",
        ...idsOf(task.started),
        status,
        output_file: task.started.outputFile ?? "", // else what it did is in the journal, with everything else
        summary: summaryOf(event.outcome),
        usage: toTaskUsage(task, event.durationMs),
      },
    ];
  }
}

function toStarted(event: AgentEvent<"task.started">): TaskFrame {
  const { description, agent, prompt, background = false } = event;
  return {
    subtype: "task_started",
    ...idsOf(event),
    description,
    subagent_type: agent,
    is_backgrounded: background,
    spawn_depth: 1,
    task_type: "local_agent",
    prompt,
  };
}

/** What the call tells that did not wait for its agent. */
function toLaunched({ taskId, description, model, prompt, outputFile }: AgentEvent<"task.started">): Record<string, unknown> {
  return {
    ...{ isAsync: true, status: "async_launched", agentId: taskId, description, resolvedModel: model.id, prompt },
    ...(outputFile !== undefined && { outputFile, canReadOutputFile: true }),
    canContinueAgent: true,
  };
}

function idsOf(event: AgentEvent<"task.started">): Record<string, unknown> {
  return { ...runOf(event), tool_use_id: event.callId };
}

function runOf({ taskId, runId }: AgentEvent<"task.started">): Record<string, unknown> {
  return { task_id: taskId, ...(runId !== undefined && { run_id: runId }) };
}

function toTaskUsage({ usage, toolUses }: Task, durationMs: number): Record<string, unknown> {
  return { total_tokens: totalTokens(usage), tool_uses: toolUses, duration_ms: durationMs };
}

function totalTokens({ inputTokens, outputTokens }: Usage): number {
  return inputTokens + outputTokens;
}

function statusOf({ type }: Outcome): "completed" | "failed" | "stopped" {
  return type === "completed" || type === "failed" ? type : "stopped";
}

/** A task's state and the notice of its end have a word each for one that was stopped. */
export function toTaskState<S extends string>(status: S): S | "killed" {
  return status === "stopped" ? "killed" : status;
}

function summaryOf(outcome: Outcome): string {
  return outcome.type === "failed" ? outcome.error.message : outcome.text;
}

function describe({ name, input }: ToolCallPart): string {
  const said = typeof input === "object" && input !== null && "description" in input ? input.description : undefined;
  return typeof said === "string" && said !== "" ? said : name;
}
