import type { BackgroundTaskMetadata } from "../../protocol/background-task.ts";
import { defined } from "../../util/defined.ts";
import { BackgroundTaskError } from "../background/task-error.ts";
import type {
  PreparedSubagentWorktree,
  SubagentJobHandle,
  SubagentJobResult,
  SubagentJobStart,
  SubagentRunner,
  SubagentWorktreeAdapter,
} from "./subagent-contract.ts";

export type WorktreeSubagentRunnerOptions = {
  readonly runner: SubagentRunner;
  readonly adapter: SubagentWorktreeAdapter;
  /** After it was made and before the agent begins. An answer is an objection: the job fails with it. */
  readonly onCreate?: ((worktree: PreparedSubagentWorktree) => Promise<string | undefined>) | undefined;
  readonly onRemove?: ((worktree: PreparedSubagentWorktree) => Promise<void>) | undefined;
};

/** Gives each job that asks for `isolation: "worktree"` a checkout of its own, and hands all others on as they are. */
export class WorktreeSubagentRunner implements SubagentRunner {
  readonly #options: WorktreeSubagentRunnerOptions;

  constructor(options: WorktreeSubagentRunnerOptions) {
    this.#options = options;
  }

  start(job: SubagentJobStart): SubagentJobHandle {
    if (job.request.isolation !== "worktree") return this.#options.runner.start(job);
    return new IsolatedJob(job, this.#options);
  }
}

export function createWorktreeSubagentRunner(options: WorktreeSubagentRunnerOptions): WorktreeSubagentRunner {
  return new WorktreeSubagentRunner(options);
}

/** Its inner job begins when there is a worktree for it. */
class IsolatedJob implements SubagentJobHandle {
  readonly jobId: string;
  readonly result: Promise<SubagentJobResult>;
  readonly #options: WorktreeSubagentRunnerOptions;
  #inner: SubagentJobHandle | undefined;
  #cancelled: string | undefined;

  constructor(job: SubagentJobStart, options: WorktreeSubagentRunnerOptions) {
    this.jobId = job.jobId;
    this.#options = options;
    this.result = this.#run(job);
    this.result.catch(() => {}); // whoever waits for it is told
  }

  get pid(): number | undefined {
    return this.#inner?.pid;
  }

  get logPath(): string | undefined {
    return this.#inner?.logPath;
  }

  get transcriptPath(): string | undefined {
    return this.#inner?.transcriptPath;
  }

  async cancel(reason = "It was cancelled"): Promise<void> {
    this.#cancelled = reason;
    await this.#inner?.cancel(reason);
    await this.result.catch(() => {}); // its worktree is settled then
  }

  async send(prompt: string): Promise<void> {
    if (!this.#inner?.send) throw new BackgroundTaskError("validation", `Job ${this.jobId} takes no messages`);
    await this.#inner.send(prompt);
  }

  async readLog(
    ...[cursor]: Parameters<NonNullable<SubagentJobHandle["readLog"]>>
  ): ReturnType<NonNullable<SubagentJobHandle["readLog"]>> {
    return (await this.#inner?.readLog?.(cursor)) ?? { taskId: this.jobId, lines: [], nextCursor: cursor ?? { offset: 0 } };
  }

  answerPermission(requestId: string, isAllowed: boolean): void {
    this.#inner?.answerPermission?.(requestId, isAllowed);
  }

  async #run(job: SubagentJobStart): Promise<SubagentJobResult> {
    const { adapter, runner, onCreate } = this.#options;
    const worktree = await adapter.prepare({ jobId: job.jobId, cwd: job.request.cwd });
    let result: SubagentJobResult;
    try {
      const objection = await onCreate?.(worktree);
      if (objection !== undefined) throw new BackgroundTaskError("permission", `No worktree for this job: ${objection}`);
      if (this.#cancelled !== undefined) throw new BackgroundTaskError("runner", this.#cancelled);
      const { worktreePath, branchName } = worktree;
      this.#inner = runner.start({ ...job, request: { ...job.request, cwd: worktreePath, worktreePath, branchName } });
      result = await this.#inner.result;
    } catch (error) {
      const left = await this.#settle(worktree);
      if (left.worktreePath === undefined) throw error;
      const { message, ...rest } = toError(error);
      throw new BackgroundTaskError(rest.category, `${message}. ${left.worktreeNextAction}`, { cause: error });
    }
    return { ...result, metadata: { ...result.metadata, ...(await this.#settle(worktree)) } };
  }

  /** Once per job: removes it if nothing was done in it, and else says where the work is. */
  async #settle(worktree: PreparedSubagentWorktree): Promise<BackgroundTaskMetadata> {
    const { adapter, onRemove } = this.#options;
    const { worktreePath, branchName, baseRevision, parentStatus } = worktree;
    const found = await adapter.inspect(worktree);
    if (found.clean) {
      await adapter.remove(worktree);
      await onRemove?.(worktree);
      return {};
    }
    return {
      ...{ worktreePath, branchName, worktreeStatus: found.status, worktreeNextAction: found.nextAction },
      ...defined({ worktreeBaseRevision: baseRevision, parentWorktreeStatus: parentStatus }),
    };
  }
}

function toError(error: unknown): { category: BackgroundTaskError["category"]; message: string } {
  if (error instanceof BackgroundTaskError) return error;
  return { category: "runner", message: error instanceof Error ? error.message : String(error) };
}
