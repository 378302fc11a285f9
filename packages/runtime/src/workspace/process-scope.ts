import { closeSync } from "node:fs";
import { randomUuid } from "../util/unique-ids.ts";
import { type Guarded, guardProcesses, ownMark } from "./process-guard.ts";
import { type LocalProcess, startProcess } from "./process.ts";
import { commandLines, endProcesses, findProcesses, killAtExit, type ProcessList, type SweepTarget } from "./process-sweep.ts";
import { tokenDescriptor } from "./process-token.ts";
import { closedWorkspace } from "./run-to-end.ts";
import type { SpareShell } from "./spare-shell.ts";
import type { PlacedCommand } from "./waiting-shell.ts";

/** Holds the marks of everything a program is a part of. */
export const scopeVariable = "OUTRIDER_PROCESS_SCOPE";

/** Everything one workspace starts, so that all of it can be ended. */
export class ProcessScope {
  readonly #id: string = `${ownMark()}.${randomUuid()}`;
  readonly #running = new Set<LocalProcess>();
  /** What is about to run. Found by `close` before it is known here, it would pass for something that a program left behind. */
  readonly #starting = new Set<Promise<LocalProcess>>();
  #isClosed = false;
  #started = 0;
  #guarding: Promise<Guarded> | undefined;
  #guarded: Guarded | undefined;
  #token: { readonly descriptor: number; readonly path: string } | undefined;
  #forget: () => void = () => {};
  /** The command lines of what `close` found in the background. */
  stopped: readonly string[] = [];
  /** Left in the background by programs that ended. */
  #leftovers: ProcessList = new Map();
  #spare: SpareShell | undefined;

  /** `env` is all the program gets. */
  async start(command: PlacedCommand): Promise<LocalProcess> {
    if (this.#isClosed) throw closedWorkspace();
    const starting = this.#launch(command);
    this.#starting.add(starting);
    try {
      return await starting;
    } finally {
      this.#starting.delete(starting);
    }
  }

  async #launch(command: PlacedCommand): Promise<LocalProcess> {
    this.#guarding ??= this.#begin();
    this.#guarded = await this.#guarding;
    const program = (await this.#spare?.take(command)) ?? (await this.#spawn(command));
    this.#running.add(program);
    const forget = (): void => {
      this.#running.delete(program);
      if (program.left().size > 0) this.#leftovers = new Map([...this.#leftovers, ...program.left()]);
    };
    program.ended.then(forget, forget);
    if (command.isRepeated && process.platform === "linux") await this.#expectAnother(command, program);
    if (this.#isClosed) await program.kill();
    return program;
  }

  async #expectAnother(command: PlacedCommand, program: LocalProcess): Promise<void> {
    const { SpareShell } = await import("./spare-shell.ts");
    this.#spare ??= new SpareShell((another) => this.#spawn(another));
    const raise = (): void => this.#spare?.raiseSoon(command);
    program.ended.then(raise, raise);
  }

  async #spawn(command: PlacedCommand): Promise<LocalProcess> {
    const mark = `${this.#id}/${++this.#started};`;
    // Marks add up: a program that itself runs a workspace passes ours on to everything it starts.
    const env = { ...command.env, [scopeVariable]: `${command.env[scopeVariable] ?? ""}${mark}` };
    const token = this.#token && { from: this.#token.descriptor, to: tokenDescriptor };
    return await startProcess(command, { env, mark, cwd: command.cwd, token });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#starting);
    await this.#spare?.retire();
    const running = [...this.#running];
    await Promise.allSettled(running.map((program) => program.kill()));
    await Promise.allSettled(running.map((program) => program.ended));
    const guarded = await this.#guarding;
    if (!guarded) return;
    const everything = this.#everything();
    const alive = findProcesses(everything);
    if (this.stopped.length === 0) this.stopped = commandLines(alive);
    await endProcesses(everything, { alive });
    this.#forget();
    guarded.release();
    if (this.#token) closeSync(this.#token.descriptor);
    this.#token = undefined;
  }

  async #begin(): Promise<Guarded> {
    this.#forget = killAtExit(() => this.#everything());
    if (process.platform === "linux") this.#token = (await import("./open-token.ts")).openToken(this.#id);
    return await guardProcesses();
  }

  #everything(): SweepTarget {
    const token = this.#token && { descriptor: tokenDescriptor, path: this.#token.path };
    return { mark: `${this.#id}/`, token, limit: this.#guarded?.limitIfLast(), known: this.#leftovers };
  }
}
