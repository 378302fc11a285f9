import type { BackgroundTaskState } from "../../protocol/background-task.ts";
import { checkValue, having, kind } from "../../protocol/kinds.ts";
import { defined } from "../../util/defined.ts";
import { isRecord } from "../../util/is-record.ts";
import { BackgroundTaskManager } from "../background/background-task-manager.ts";
import type { BackgroundTaskListFilter, BackgroundTaskLogCursor, BackgroundTaskLogPage } from "../background/task-contract.ts";
import { BackgroundTaskError } from "../background/task-error.ts";
import type { SubagentJobResult, SubagentJobState, SubagentRunner, SubagentSpawnRequest } from "./subagent-contract.ts";
import { toTaskRequest, toTaskRunner } from "./task-runner.ts";

export type SubagentManagerOptions =
  | {
      readonly runner: SubagentRunner;
      /** How many work at the same time; the others wait in their order. 4 when absent. */
      readonly maxConcurrent?: number | undefined;
    }
  /** One that has a runner for agents: other tasks count with them. */
  | { readonly backgroundTaskManager: BackgroundTaskManager };

/** Agents on a list of tasks. It makes no providers, sessions, processes or worktrees: those are the runner's. */
export class SubagentManager {
  readonly #manager: BackgroundTaskManager;

  constructor(options: SubagentManagerOptions) {
    checkValue("SubagentManager", options, kind("given an object", isRecord));
    if ("backgroundTaskManager" in options)
      checkValue(
        "backgroundTaskManager",
        options.backgroundTaskManager,
        having(["spawn", "subscribe"], "a BackgroundTaskManager"),
      );
    else checkValue("runner", options.runner, having(["start"], "a runner, such as createInProcessSubagentRunner makes"));
    this.#manager =
      "backgroundTaskManager" in options
        ? options.backgroundTaskManager
        : new BackgroundTaskManager({
            runners: [toTaskRunner(options.runner)],
            newId: newIds(),
            ...defined({ maxConcurrent: options.maxConcurrent }),
          });
  }

  /** Resolves when it works, waits for others, or could not be started; its state says which. */
  async spawn(request: SubagentSpawnRequest): Promise<SubagentJobState> {
    return toJob(await this.#manager.spawn(toTaskRequest(request)));
  }

  /** Its result; rejects when it failed or was cancelled. */
  async wait(jobId: string): Promise<SubagentJobResult> {
    this.#find(jobId);
    const { output, usage, metadata } = await this.#manager.wait(jobId);
    return { jobId, output, ...defined({ usage, metadata }) };
  }

  /** In the order in which they were made. */
  list(filter: Omit<BackgroundTaskListFilter, "kind"> = {}): SubagentJobState[] {
    return this.#manager.list({ ...filter, kind: "agent" }).map(toJob);
  }

  get(jobId: string): SubagentJobState | undefined {
    const task = this.#manager.get(jobId);
    return task?.kind === "agent" ? toJob(task) : undefined;
  }

  /** Resolves when nothing of it is left. One that has ended stays as it is. */
  async cancel(jobId: string, reason?: string): Promise<void> {
    this.#find(jobId);
    await this.#manager.cancel(jobId, reason);
  }

  /** Forgets a job that has ended. */
  close(jobId: string): void {
    this.#find(jobId);
    this.#manager.close(jobId);
  }

  /** Tells an agent something more, where its runner can. */
  async send(jobId: string, prompt: string): Promise<void> {
    this.#find(jobId);
    await this.#manager.send(jobId, prompt);
  }

  async readLog(jobId: string, cursor?: BackgroundTaskLogCursor): Promise<BackgroundTaskLogPage> {
    this.#find(jobId);
    return await this.#manager.readLog(jobId, cursor);
  }

  /** Cancels everything, and resolves when nothing of it is left. */
  async shutdown(reason?: string): Promise<void> {
    await this.#manager.shutdown(reason);
  }

  getBackgroundTaskManager(): BackgroundTaskManager {
    return this.#manager;
  }

  #find(jobId: string): void {
    if (!this.get(jobId)) throw new BackgroundTaskError("validation", `Unknown subagent job: ${jobId}`);
  }
}

function toJob(task: BackgroundTaskState): SubagentJobState {
  return { ...task, type: task.agentType ?? "" };
}

function newIds(): () => string {
  let last = 0;
  return () => `agent_${++last}`;
}
