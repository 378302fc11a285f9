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
import type { AgentStarter, TaskRegistry } from "../tasks/task-registry.ts";
import { startAgentTask } from "./agent-task.ts";
import type { Subagents, TurnPlace } from "./subagents.ts";

type AddedInput = Omit<EventBody<"input.added">, "type">;

type Inbox = { readonly inputs: AddedInput[]; listener?: () => void };

/** What agents of a session were told and have not heard yet, and by which names they are known. */
export class AgentInboxes {
  readonly #waiting = new Map<string, Inbox>();
  readonly #ids = new Map<string, string>();

  /** From now on it can be told something; it hears it when it works. */
  open(taskId: string): void {
    this.#waiting.set(taskId, { inputs: [] });
  }

  of(taskId: string): { take(): readonly AddedInput[]; listen(listener: () => void): void } {
    const inbox = this.#waiting.get(taskId);
    return {
      take: () => inbox?.inputs.splice(0) ?? [],
      listen(listener) {
        if (inbox) inbox.listener = listener;
      },
    };
  }

  close(taskId: string): void {
    this.#waiting.delete(taskId);
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

type FoundAgent = { readonly taskId: string; readonly goesOn: TaskSpec; readonly past: readonly AgentEvent[] };

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
    const found = await this.#find(spec);
    this.#refuseRunning(found.taskId);
    return await this.#goOn(found);
  }

  async send(spec: ResumeSpec): ReturnType<AgentTasks["send"]> {
    const { inboxes, registry, subagents } = this.#options;
    const taskId = inboxes.idOf(spec.agentId);
    if (registry.manager.get(taskId)?.kind === "process")
      throw new ToolFailure(`${taskId} is a command. TaskInput writes to its standard input.`);
    const heard = await this.#tell(taskId, spec.prompt);
    if (heard) return { how: "heard", task: heard };
    const found = await this.#find(spec);
    if (subagents.isRunning(found.taskId)) this.#refuseRunning(found.taskId);
    const late = await this.#tell(found.taskId, spec.prompt); // somebody else may have had it go on meanwhile
    return late ? { how: "heard", task: late } : { how: "resumed", task: await this.#goOn(found) };
  }

  /** Undefined where it has ended. One that is just ending, and hears nothing any more, is waited for. */
  async #tell(taskId: string, text: string): Promise<BackgroundTaskState | undefined> {
    const { inboxes, registry } = this.#options;
    const task = registry.manager.get(taskId);
    if (!task || isTerminal(task.status)) return undefined;
    if (inboxes.put(taskId, text)) return task;
    await registry.manager.wait(taskId).catch(() => {}); // however it ends
    return undefined;
  }

  #goOn({ taskId, goesOn, past }: FoundAgent): Promise<BackgroundTaskState> {
    this.#forget(taskId);
    return this.#spawn(goesOn, { taskId, past });
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
    const start: AgentStarter["start"] = async (given, files) => {
      const id = given.taskId;
      const { gate, redactor } = place.deps;
      const inbox = { ...inboxes.of(id), close: () => inboxes.close(id) };
      const send = async (text: string): Promise<void> => void (await this.send({ callId, agentId: id, prompt: text }));
      try {
        return await startAgentTask({ start: given, files, inbox, gate, redactor, send }, (signal, beside) =>
          subagents.runTo(signal, { taskId: id, spec, past, runId, beside }, place),
        );
      } catch (error) {
        inbox.close();
        throw error;
      }
    };
    const named = (id: string): void => {
      inboxes.open(id);
      inboxes.introduce(id, name);
    };
    const task = await registry.startAgent(request, { named, start });
    if (task.status === "failed") throw new ToolFailure(task.error?.message ?? "The agent could not be started.");
    return task;
  }

  /** What an agent was and did, by the record. */
  async #find(spec: ResumeSpec): Promise<FoundAgent> {
    const { place, inboxes, subagents } = this.#options;
    if (!subagents.areOnRecord) throw new ToolFailure("Agents do not go on here once they have ended. Start another one.");
    const events = await place.readEvents();
    const named = events.findLast((event) => event.type === "task.started" && event.name === spec.agentId);
    const taskId = named?.taskId ?? inboxes.idOf(spec.agentId);
    const past = events.filter((event) => event.taskId === taskId);
    const started = past.findLast((event) => event.type === "task.started");
    if (!started && this.#options.registry.manager.get(taskId)?.kind === "agent")
      throw new ToolFailure(`${taskId} was ended before it had begun: it knows nothing. Start another one.`);
    if (!started) throw new ToolFailure(`There is no agent ${JSON.stringify(spec.agentId)}. ${agentsIn(events)}`);
    const agent = place.agents.find(({ name }) => name === started.agent);
    if (!agent)
      throw new ToolFailure(
        `${taskId} was an agent ${JSON.stringify(started.agent)}, which is not there any more. Start another one.`,
      );
    const worktree = past.findLast((event) => event.type === "worktree.inspected");
    const isThere = worktree !== undefined && existsSync(worktree.path);
    const name = past.flatMap((event) => (event.type === "task.started" && event.name !== undefined ? [event.name] : [])).at(-1);
    const { callId, prompt, description = started.description } = spec;
    return {
      taskId,
      past,
      goesOn: {
        ...{ callId, agent, prompt, description, model: started.model.id, name },
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
