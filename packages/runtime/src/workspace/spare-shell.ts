import type { LocalProcess } from "./process.ts";
import { canWait, type PlacedCommand, startWaitingShell, type WaitingShell } from "./waiting-shell.ts";

/** Models mostly answer sooner, and a session that nobody uses shall hold no process. */
const keptMs = 60_000;
/** After a command: the next request to the model is on its way by then. */
const raiseAfterMs = 2;

/** The shell of the next command, made while the model thinks about what the last one said. */
export class SpareShell {
  readonly #start: (command: PlacedCommand) => Promise<LocalProcess>;
  #waiting: Promise<WaitingShell | undefined> | undefined;
  #raising: NodeJS.Timeout | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** One could not be used: this bash cannot wait, or the machine has no room. */
  #isGivenUp = false;
  #isRetired = false;
  /** Shells that are going. */
  readonly #leaving = new Set<Promise<void>>();

  constructor(start: (command: PlacedCommand) => Promise<LocalProcess>) {
    this.#start = start;
  }

  /** The command, in the shell that waits. Undefined when there is none for it. */
  async take(command: PlacedCommand): Promise<LocalProcess | undefined> {
    clearTimeout(this.#raising);
    if (!canWait(command)) return undefined;
    const shell = await this.#release();
    const program = shell?.fits(command) ? await shell.take(command) : undefined;
    if (shell && !program) {
      this.#isGivenUp = shell.fits(command);
      this.#discard(shell);
    }
    return program;
  }

  /** After a command: the next one is probably like it. */
  raiseSoon(command: PlacedCommand): void {
    if (this.#isRetired || this.#isGivenUp || !canWait(command)) return;
    clearTimeout(this.#raising);
    this.#raising = setTimeout(() => {
      this.#waiting ??= startWaitingShell(command, this.#start).catch(() => {
        this.#isGivenUp = true;
        return undefined;
      });
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => void this.#release().then((shell) => this.#discard(shell)), keptMs);
      this.#timer.unref();
    }, raiseAfterMs);
    this.#raising.unref();
  }

  /** Nothing waits any more, and nothing is made to. */
  async retire(): Promise<void> {
    this.#isRetired = true;
    clearTimeout(this.#raising);
    this.#discard(await this.#release());
    await Promise.all(this.#leaving);
  }

  async #release(): Promise<WaitingShell | undefined> {
    clearTimeout(this.#timer);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    return await waiting;
  }

  #discard(shell: WaitingShell | undefined): void {
    if (!shell) return;
    const leaving = shell.discard().finally(() => this.#leaving.delete(leaving));
    this.#leaving.add(leaving);
  }
}
