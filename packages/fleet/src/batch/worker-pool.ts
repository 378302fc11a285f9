import { type ChildProcess, fork } from "node:child_process";
import { type KeptFailure, RunSuspended, StepFailed, toKeptFailure } from "../durable/durable.ts";
import type { TaskResult } from "../run/task-result.ts";
import { runIdOf, type TaskRunInput } from "../run/task-run.ts";
import type { Executor, ExecutorGround } from "./executor.ts";
import type { FromWorker, ToWorker } from "./worker-messages.ts";

export type WorkersOptions = ExecutorGround & {
  readonly processes: number;
  readonly onWorker: (pid: number) => void;
};

type Job = {
  readonly input: TaskRunInput;
  readonly resolve: (result: TaskResult) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Runs in child processes. One that dies is replaced, and its runs go on in another from their journals. Budget and rates are kept here: a
 * worker asks before each request.
 */
export function openWorkers(options: WorkersOptions): Executor {
  const workers: Worker[] = [];
  let isClosing = false;
  let jobs = 0;
  const least = (): Worker => {
    workers.splice(0, workers.length, ...workers.filter(({ isGone }) => !isGone));
    if (workers.length < options.processes) workers.push(new Worker(options));
    return workers.reduce((best, worker) => (worker.load < best.load ? worker : best));
  };
  const run = async (input: TaskRunInput): Promise<TaskResult> => {
    for (let tries = 0; ; tries++) {
      if (isClosing) throw new RunSuspended(runIdOf(input));
      try {
        return await least().run(++jobs, input);
      } catch (error) {
        // The run is as it was on disk: whoever takes it up goes on there. One that ends its process again and again is given up.
        if (!(error instanceof WorkerGone) || isClosing)
          throw error instanceof WorkerGone ? new RunSuspended(runIdOf(input)) : error;
        if (tries >= 20)
          throw new StepFailed({ name: "WorkerGone", code: "internal", message: "Its worker process ended 20 times" });
      }
    }
  };
  return {
    run,
    cancel: async (input) => {
      for (const worker of workers) worker.cancel(input);
    },
    async close() {
      isClosing = true;
      await Promise.all(workers.map((worker) => worker.close()));
    },
  };
}

/** `outrider batch WORD` is a worker, for a process that started it so. */
const workerWord = "--as-worker-of-parent";

class WorkerGone extends Error {}

class Worker {
  readonly #options: WorkersOptions;
  readonly #child: ChildProcess;
  readonly #jobs = new Map<number, Job>();
  readonly #ended = new AbortController();

  constructor(options: WorkersOptions) {
    this.#options = options;
    // Keys come by message: the kernel shows the variables of a process to all others of the user.
    const env = Object.fromEntries(
      ["PATH", "HOME", "TMPDIR", "LANG"].flatMap((name) => (options.around.env[name] ? [[name, options.around.env[name]]] : [])),
    );
    // The standalone command has no files beside it: it is the worker itself.
    const [program, words] =
      import.meta.url === "standalone:" ? ["batch", [workerWord]] : [new URL("./worker.js", import.meta.url), []];
    this.#child = fork(program, words, {
      env,
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      serialization: "advanced",
    });
    if (this.#child.pid !== undefined) options.onWorker(this.#child.pid);
    this.#child.on("message", (message) => this.#hear(message as FromWorker)); // only our own worker writes here
    this.#child.on("error", () => this.#gone());
    this.#child.on("exit", () => this.#gone());
    this.#send({ type: "open", settings: options.settings, around: options.around });
  }

  get isGone(): boolean {
    return this.#ended.signal.aborted;
  }

  get load(): number {
    return this.#jobs.size;
  }

  async run(id: number, input: TaskRunInput): Promise<TaskResult> {
    return await new Promise<TaskResult>((resolve, reject) => {
      this.#jobs.set(id, { input, resolve, reject });
      this.#send({ type: "run", id, input });
    });
  }

  cancel(input: TaskRunInput): void {
    this.#send({ type: "cancel", input });
  }

  /** In its own way; a worker that takes longer is ended. */
  async close(): Promise<void> {
    if (this.isGone) return;
    this.#send({ type: "close" });
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), 10_000);
    await new Promise<void>((resolve) => this.#ended.signal.addEventListener("abort", () => resolve(), { once: true }));
    clearTimeout(timer);
  }

  #send(message: ToWorker): void {
    if (this.#child.connected) this.#child.send(message, () => {}); // a worker that is gone tells so by its end
  }

  #hear(message: FromWorker): void {
    const { governor, warn, onQuestion } = this.#options;
    switch (message.type) {
      case "done":
        this.#jobs.get(message.id)?.resolve(message.result);
        return void this.#jobs.delete(message.id);
      case "failed":
        this.#jobs.get(message.id)?.reject(toError(message.failure));
        return void this.#jobs.delete(message.id);
      case "admit":
        return this.#admit(message);
      case "ended":
        return void governor.ended(message.request, this.#ended.signal);
      case "throttled":
        return governor.throttled(message.provider, message.waitMs);
      case "question":
        return onQuestion(message.question);
      case "warning":
        return warn(message.line);
    }
  }

  #admit({ id, request }: Extract<FromWorker, { type: "admit" }>): void {
    this.#options.governor.admit(request, this.#ended.signal).then(
      () => this.#send({ type: "admitted", id }),
      (error: unknown) => this.#send({ type: "admitted", id, refusal: toKeptFailure(error) }),
    );
  }

  #gone(): void {
    if (this.isGone) return;
    this.#ended.abort();
    for (const { reject } of this.#jobs.values()) reject(new WorkerGone("The worker process ended"));
    this.#jobs.clear();
  }
}

function toError(failure: KeptFailure): Error {
  return failure.name === "RunSuspended" ? new RunSuspended(failure.message) : new StepFailed(failure);
}
