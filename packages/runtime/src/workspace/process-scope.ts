import { RuntimeError } from "../protocol/errors.ts";
import { randomUuid } from "../util/unique-ids.ts";
import { runProcess } from "./process.ts";
import { endProcesses, findProcesses, isAlive, type ProcessList } from "./process-sweep.ts";
import type { RunCommand, RunResult } from "./workspace.ts";

const variable = "OUTRIDER_PROCESS_SCOPE";

/** Everything one workspace starts, so that all of it can be ended. */
export class ProcessScope {
  readonly #env: Readonly<Record<string, string>>;
  readonly #id: string = randomUuid();
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  #started = 0;
  /** Left in the background by programs that ended. */
  #leftovers: ProcessList = new Map();

  constructor(env: Readonly<Record<string, string>>) {
    this.#env = env;
  }

  async run(command: RunCommand & { cwd: string }): Promise<RunResult> {
    if (this.#closing.signal.aborted) throw new RuntimeError("closed", "The workspace is closed: it starts no more programs.");
    const mark = `${this.#id}/${++this.#started};`;
    // Marks add up: a program that itself runs a workspace passes ours on to everything it starts.
    const env = { ...this.#env, ...command.env, [variable]: `${this.#env[variable] ?? ""}${mark}` };
    const running = runProcess(command, { env, mark, cwd: command.cwd, closing: this.#closing.signal });
    this.#running.add(running);
    try {
      const { result, group } = await running;
      if (group > 0 && isAlive(-group)) this.#leftovers = new Map([...this.#leftovers, ...findProcesses({ mark, group })]);
      return result;
    } finally {
      this.#running.delete(running);
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#running);
    if (this.#started === 0) return;
    await endProcesses({ mark: `${this.#id}/`, known: this.#leftovers });
  }
}
