import type { Checkpoints } from "../checkpoints/checkpoints.ts";
import type { ChangeKeeper } from "../engine/kept-changes.ts";
import { toRuntimeError } from "../protocol/errors.ts";

export type TurnKeeper = ChangeKeeper & {
  /** Answers what a person should know when the turn's record could not be ended. */
  end(): Promise<string | undefined>;
};

/**
 * Checkpoints of a session, opened by its first change of a file: most sessions only look. Commands before that are noted with the turn
 * they are in; in a session that already has checkpoints they are noted at once.
 */
export class TurnCheckpoints {
  readonly #load: () => Promise<Checkpoints>;
  readonly #mayHaveSome: boolean;
  #opened: Promise<Checkpoints> | undefined;

  constructor(load: () => Promise<Checkpoints>, { resumed }: { resumed: boolean }) {
    this.#load = load;
    this.#mayHaveSome = resumed;
  }

  forTurn(turn: { turnId: string; prompt: string }): TurnKeeper {
    const commands: { callId: string; command: string }[] = [];
    let begun: Promise<Checkpoints> | undefined;
    const notesAtOnce = (): boolean => this.#mayHaveSome || this.#opened !== undefined;
    const begin = async (): Promise<Checkpoints> => {
      this.#opened ??= this.#load();
      const checkpoints = await this.#opened;
      checkpoints.beginTurn(turn);
      for (const { callId, command } of commands.splice(0)) await checkpoints.noteUncovered(callId, command);
      return checkpoints;
    };
    const open = (): Promise<Checkpoints> => {
      begun ??= begin();
      return begun;
    };
    return {
      protect: async (path, content, write) => await (await open()).protect(path, content, write),
      async noteUncovered(callId, command) {
        if (notesAtOnce()) await (await open()).noteUncovered(callId, command);
        else commands.push({ callId, command });
      },
      end: async () => {
        try {
          await (await begun)?.endTurn();
          return undefined;
        } catch (error) {
          return `The turn's checkpoint is not complete: ${toRuntimeError(error).message}`;
        }
      },
    };
  }
}
