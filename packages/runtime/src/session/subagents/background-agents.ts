import { existsSync } from "node:fs";
import type { BackgroundTaskState } from "../../protocol/background-task.ts";
import { userText } from "../../protocol/content.ts";
import type { AgentEvent, EventBody } from "../../protocol/events.ts";
import { toRunId } from "../../tasks/background/run-id.ts";
import type { AgentTaskRequest } from "../../tasks/background/task-contract.ts";
import { isTerminal } from "../../tasks/background/task-status.ts";
import type { AgentTasks, ResumeSpec, StartedTask, TaskSpec } from "../../tasks/task.ts";
import { ToolFailure } from "../../tools/tool.ts";
import { defined } from "../../util/defined.ts";
import type { TaskRegistry } from "../tasks/task-registry.ts";
import { startAgentTask } from "./agent-task.ts";
import type { Subagents, TurnPlace } from "./subagents.ts";

type AddedInput = Omit<EventBody<"input.added">, "type">;

/** What running agents of a session were told and have not heard yet, and by which names they are known. */
export class AgentInboxes {
  readonly #waiting = new Map<string, { readonly inputs: AddedInput[]; listener?: () => void }>();
  readonly #ids = new Map<string, string>();

  open(taskId: string): { take(): readonly AddedInput[]; listen(listener: () => void): void; close(): void } {
    const waiting: { readonly inputs: AddedInput[]; listener?: () => void } = { inputs: [] };
    this.#waiting.set(taskId, waiting);
    return {
      take: () => waiting.inputs.splice(0),
      listen(listener) {
        waiting.listener = listener;
      },
      close: () => void this.#waiting.delete(taskId),
    };
  }

  /** False where nobody reads it any more. */
  put(taskId: string, text: string): boolean {
    const waiting = this.#waiting.get(taskId);
    waiting?.inputs.push({ input: userText(text), origin: "parent" });
    waiting?.listener?.();
    return waiting !== undefined;
  }

  introduce(taskId: string, name: string | undefined): void {
    if (name !== undefined) this.#ids.set(name, taskId);
  }

  idOf(named: string): string {
    return this.#ids.get(named) ?? named;
  }
}

export type BackgroundAgentsOptions = {
  readonly subagents: Subagents;
  readonly place: TurnPlace;
  readonly inboxes: AgentInboxes;
  readonly registry: TaskRegistry;
};

/** Agents on the session's list of tasks: the turn that starts one does not wait for it, and its end is told like that of a command. */
export class BackgroundAgents implements AgentTasks {
  readonly #options: BackgroundAgentsOptions;

  constructor(options: BackgroundAgentsOptions) {
    this.#options = options;
  }

  async startInBackground(spec: TaskSpec): Promise<BackgroundTaskState> {
    return await this.#spawn(spec, {});
  }

  async resume(spec: ResumeSpec): Promise<StartedTask> {
    const { subagents, place } = this.#options;
    const { taskId, goesOn, past } = await this.#find(spec);
    this.#refuseRunning(taskId);
    this.#forget(taskId);
    return subagents.start({ taskId, spec: goesOn, past }, place);
  }

  async resumeInBackground(spec: ResumeSpec): Promise<BackgroundTaskState> {
    const { taskId, goesOn, past } = await this.#find(spec);
    this.#refuseRunning(taskId);
    this.#forget(taskId);
    return await this.#spawn(goesOn, { taskId, past });
  }

  async send(spec: ResumeSpec): ReturnType<AgentTasks["send"]> {
    const { inboxes, registry } = this.#options;
    const taskId = inboxes.idOf(spec.agentId);
    const task = registry.manager.get(taskId);
    if (task?.kind === "process") throw new ToolFailure(`${taskId} is a command. TaskInput writes to its standard input.`);
    if (task && !isTerminal(task.status) && inboxes.put(taskId, spec.prompt)) return { how: "heard", task };
    return { how: "resumed", task: await this.resumeInBackground(spec) };
  }

  #refuseRunning(taskId: string): void {
    const { registry, subagents } = this.#options;
    const task = registry.manager.get(taskId);
    if (subagents.isRunning(taskId) || (task && !isTerminal(task.status)))
      throw new ToolFailure(`The agent ${taskId} is still at work. SendMessage tells it something; TaskStop ends it.`);
  }

  /** An agent that works again is a task that begins again, under the same id. */
  #forget(taskId: string): void {
    const { manager } = this.#options.registry;
    if (!manager.get(taskId)) return;
    manager.markRead(taskId);
    manager.close(taskId);
  }

  async #spawn(
    spec: TaskSpec,
    { taskId, past }: { taskId?: string | undefined; past?: readonly AgentEvent[] | undefined },
  ): Promise<BackgroundTaskState> {
    const { subagents, place, inboxes, registry } = this.#options;
    const { agent, prompt, description, model, callId, name } = spec;
    const runId = toRunId(Date.now(), place.deps.newId());
    const isolation = spec.isolation ?? agent.isolation;
    const request: AgentTaskRequest = {
      ...{ kind: "agent", agentType: agent.name, prompt, label: description, mode: "background", depth: 1 },
      ...{ parentSessionId: registry.sessionId, cwd: spec.root ?? place.deps.workspace.root, permissionPolicy: "prompt" },
      ...defined({ model, isolation }),
      metadata: { callId, runId, ...defined({ name, agentId: taskId }) },
    };
    const task = await registry.startAgent(request, async (start, files) => {
      const inbox = inboxes.open(start.taskId);
      try {
        const { gate, redactor } = place.deps;
        const send = async (text: string): Promise<void> =>
          void (await this.send({ callId, agentId: start.taskId, prompt: text }));
        return await startAgentTask({ start, files, inbox, gate, redactor, send }, (signal, beside) =>
          subagents.runTo(signal, { taskId: start.taskId, spec, past, runId, beside }, place),
        );
      } catch (error) {
        inbox.close();
        throw error;
      }
    });
    if (task.status === "failed") throw new ToolFailure(task.error?.message ?? "The agent could not be started.");
    inboxes.introduce(task.id, name);
    return task;
  }

  /** What an agent was and did, by the record. */
  async #find(spec: ResumeSpec): Promise<{ taskId: string; goesOn: TaskSpec; past: readonly AgentEvent[] }> {
    const { place, inboxes, subagents } = this.#options;
    if (!subagents.areOnRecord) throw new ToolFailure("Agents do not go on here once they have ended. Start another one.");
    const events = await place.readEvents();
    const named = events.findLast((event) => event.type === "task.started" && event.name === spec.agentId);
    const taskId = named?.taskId ?? inboxes.idOf(spec.agentId);
    const past = events.filter((event) => event.taskId === taskId);
    const started = past.findLast((event) => event.type === "task.started");
    if (!started) throw new ToolFailure(`There is no agent ${JSON.stringify(spec.agentId)}. ${agentsIn(events)}`);
    const agent = place.agents.find(({ name }) => name === started.agent);
    if (!agent)
      throw new ToolFailure(
        `${taskId} was an agent ${JSON.stringify(started.agent)}, which is not there any more. Start another one.`,
      );
    const worktree = past.findLast((event) => event.type === "worktree.inspected");
    const isThere = worktree !== undefined && existsSync(worktree.path);
    const { callId, prompt, description = started.description } = spec;
    return {
      taskId,
      past,
      goesOn: {
        ...{ callId, agent, prompt, description, model: started.model.id },
        ...(isThere && { root: worktree.path }),
      },
    };
  }
}

function agentsIn(events: readonly AgentEvent[]): string {
  const known = new Map(events.flatMap((event) => (event.type === "task.started" ? [[event.taskId, event.agent]] : [])));
  const names = [...known].slice(-10).map(([id, agent]) => `${id} (${agent})`);
  return names.length > 0 ? `There are: ${names.join(", ")}.` : "None was started in this session.";
}
