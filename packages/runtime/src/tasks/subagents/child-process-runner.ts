import type { ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { BackgroundTaskLogCursor } from "../background/task-contract.ts";
import { BackgroundTaskError } from "../background/task-error.ts";
import { JobLog } from "./job-log.ts";
import type { SubagentJobHandle, SubagentJobResult, SubagentJobStart, SubagentRunner } from "./subagent-contract.ts";
import type { FromWorker, ToWorker } from "./worker-messages.ts";

export type ChildProcessSubagentRunnerOptions = {
  /** A module that calls `serveSubagentWorker` with the runner that does the work there. */
  readonly module: string | URL;
  /** The variables of the processes; those of this one when absent. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Options of Node. */
  readonly execArgv?: readonly string[] | undefined;
  /** How long a process may take to end by itself; 5,000 when absent. */
  readonly graceMs?: number | undefined;
};

const defaultGraceMs = 5_000;

/** Each agent in a process of its own: what it does to its memory or its main thread is no matter of this one. */
export function createChildProcessSubagentRunner(options: ChildProcessSubagentRunnerOptions): SubagentRunner {
  return { start: (job) => new ProcessJob(job, options) };
}

class ProcessJob implements SubagentJobHandle {
  readonly jobId: string;
  readonly pid: number | undefined;
  readonly result: Promise<SubagentJobResult>;
  readonly #child: ChildProcess;
  readonly #log: JobLog;
  readonly #graceMs: number;
  readonly #gone: Promise<void>;
  readonly #sent = new Map<number, (problem: string | undefined) => void>();
  #sentCount = 0;
  #complaints = "";

  constructor({ jobId, request, emit }: SubagentJobStart, options: ChildProcessSubagentRunnerOptions) {
    const { fork } = process.getBuiltinModule("node:child_process");
    const { module, env, execArgv, graceMs = defaultGraceMs } = options;
    this.jobId = jobId;
    this.#graceMs = graceMs;
    this.#log = new JobLog(jobId);
    this.#child = fork(module instanceof URL ? fileURLToPath(module) : module, [], {
      stdio: ["ignore", "ignore", "pipe", "ipc"],
      detached: true, // it leads a group, so that nothing it starts is left
      ...(env && { env: { ...env } }),
      ...(execArgv && { execArgv: [...execArgv] }),
    });
    this.pid = this.#child.pid;
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#complaints = (this.#complaints + text).slice(-2_000);
    });
    this.#gone = new Promise((resolve) => {
      this.#child.once("close", () => resolve());
      this.#child.once("error", () => resolve());
    });
    this.#child.once("exit", () => this.#dropPipes());
    this.result = new Promise((resolve, reject) => {
      this.#child.on("message", (message: FromWorker) => {
        switch (message.type) {
          case "ready":
            return this.#say({ type: "start", jobId, request });
          case "event":
            this.#log.hear(message.event);
            return emit?.(message.event);
          case "result":
            this.#log.end("completed");
            return resolve(message.result);
          case "failed": {
            const { category, message: words, recoverable } = message.error;
            this.#log.end(`failed: ${words}`);
            return reject(new BackgroundTaskError(category, words, { recoverable }));
          }
          case "sent":
            return this.#sent.get(message.id)?.(message.problem);
        }
      });
      void this.#gone.then(() => {
        this.#sweep();
        const words = this.#howItEnded();
        this.#log.end(`failed: ${words}`);
        for (const settle of this.#sent.values()) settle("Its process has ended");
        reject(new BackgroundTaskError("crash", words));
      });
    });
    this.result.then(
      () => this.#leave(),
      () => this.#leave(),
    );
  }

  async cancel(reason?: string): Promise<void> {
    this.#say({ type: "cancel", reason });
    await this.#leave();
  }

  /** While it works. Resolves when the agent has it. */
  async send(prompt: string): Promise<void> {
    const id = ++this.#sentCount;
    const problem = await new Promise<string | undefined>((resolve) => {
      this.#sent.set(id, resolve);
      if (!this.#say({ type: "send", id, prompt })) resolve("Its process has ended");
    });
    this.#sent.delete(id);
    if (problem !== undefined) throw new BackgroundTaskError("validation", `Job ${this.jobId} was not told: ${problem}`);
  }

  readLog(cursor?: BackgroundTaskLogCursor): ReturnType<JobLog["page"]> {
    return this.#log.page(cursor);
  }

  answerPermission(requestId: string, isAllowed: boolean): void {
    this.#say({ type: "answer", requestId, isAllowed });
  }

  #howItEnded(): string {
    const { exitCode, signalCode } = this.#child;
    const how = exitCode === null ? `by ${signalCode ?? "an unknown cause"}` : `with code ${exitCode}`;
    const said = this.#complaints.trim().split("\n").at(-1) ?? "";
    return `The process of the agent ended ${how}${said === "" ? "" : `: ${said}`}`;
  }

  #say(message: ToWorker): boolean {
    if (!this.#child.connected) return false;
    this.#child.send(message, () => {}); // that it is gone is told by its end
    return true;
  }

  /** Settles when nothing of it is left. */
  async #leave(): Promise<void> {
    this.#say({ type: "leave" });
    const timer = setTimeout(() => this.#sweep(), this.#graceMs);
    await this.#gone;
    clearTimeout(timer);
  }

  /** What it started may hold its pipes open, also outside its group: nobody waits for that. */
  #dropPipes(): void {
    this.#sweep();
    const timer = setTimeout(() => this.#child.stderr?.destroy(), this.#graceMs);
    void this.#gone.then(() => clearTimeout(timer));
  }

  #sweep(): void {
    if (this.pid === undefined) return;
    try {
      process.kill(-this.pid, "SIGKILL");
    } catch {
      // Nothing of its group is left.
    }
  }
}
