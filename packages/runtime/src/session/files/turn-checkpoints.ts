import type { Checkpoints } from "../../checkpoints/checkpoints.ts";
import type { PastTurn } from "../../checkpoints/recorder.ts";
import type { ChangeKeeper } from "../../engine/kept-changes.ts";
import type { StoredEvents } from "../../journal/store.ts";
import { textOf } from "../../protocol/content.ts";
import { RuntimeError, toRuntimeError } from "../../protocol/errors.ts";
import type { FactsOf } from "../../protocol/tool-facts.ts";
import { isRecord } from "../../util/is-record.ts";

/** The turns of a journal after the last one that changed a file, which is on record itself; with the commands they ran. */
export function turnsSinceChange(events: StoredEvents, factsOf: FactsOf): PastTurn[] {
  let turns: (PastTurn & { commands: { callId: string; command: string }[] })[] = [];
  for (const event of events.of("turn.started", "tool.started")) {
    if (event.type === "turn.started") {
      const prompt = event.displayInput ?? textOf(event.input.content);
      if (event.turnId !== undefined) turns.push({ turnId: event.turnId, prompt, at: event.at, commands: [] });
      continue;
    }
    const facts = factsOf(event.name);
    if (facts?.kind === "edit") turns = [];
    if (facts?.kind === "run")
      turns.at(-1)?.commands.push({ callId: event.callId, command: commandIn(event.input, facts.fields?.command) });
  }
  return turns;
}

function commandIn(input: unknown, field: string | undefined): string {
  return isRecord(input) && field !== undefined && field in input ? String(input[field]) : "";
}

export type TurnKeeper = ChangeKeeper & {
  /** Answers what a person should know when the turn's record could not be ended. */
  end(): Promise<string | undefined>;
};

/**
 * Checkpoints of a session, opened by its first change of a file: most sessions only look. Turns before that, and their commands, are
 * on record from then on, so that every prompt can be named as the one to go back to. In a session that goes on, commands are noted at once.
 */
export class TurnCheckpoints {
  readonly #load: () => Promise<Checkpoints>;
  readonly #past: () => Iterable<PastTurn>;
  readonly #resumed: boolean;
  /** Turns that ended without a change before the checkpoints were opened. */
  readonly #ended: PastTurn[] = [];
  #opened: Promise<Checkpoints> | undefined;
  #inTurn = false;

  /** `past`: the turns of the session before it was opened this time; asked for once, when something is to be kept. */
  constructor(load: () => Promise<Checkpoints>, { resumed, past }: { resumed: boolean; past: () => Iterable<PastTurn> }) {
    this.#load = load;
    this.#past = past;
    this.#resumed = resumed;
  }

  /** For looking back and going back, with every turn on record. Refused while a turn runs, unless somebody only wants to look. */
  async history(use: "look" | "change"): Promise<Checkpoints> {
    if (use === "change" && this.#inTurn)
      throw new RuntimeError("busy", "Files cannot be restored while a turn is running", { retryable: true });
    return await this.#open();
  }

  forTurn(turn: { turnId: string; prompt: string }): TurnKeeper {
    const commands: { callId: string; command: string }[] = [];
    let begun: Promise<Checkpoints> | undefined;
    this.#inTurn = true;
    const begin = async (): Promise<Checkpoints> => {
      const checkpoints = await this.#open();
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
      noteUncovered: async (callId, command) => {
        if (this.#resumed || this.#opened) await (await open()).noteUncovered(callId, command);
        else commands.push({ callId, command });
      },
      end: async () => {
        this.#inTurn = false;
        try {
          if (begun) await (await begun).endTurn();
          else if (this.#opened) await (await this.#opened).noteTurns([turn]);
          else this.#ended.push({ ...turn, commands });
          return undefined;
        } catch (error) {
          return `The turn's checkpoint is not complete: ${toRuntimeError(error).message}`;
        }
      },
    };
  }

  /** For work that goes on beside the turns: what it changes during one belongs to that one, and else to itself. */
  beside(): ChangeKeeper {
    return {
      protect: async (path, content, write) => await (await this.#open()).protect(path, content, write),
      noteUncovered: async (callId, command) => {
        if (this.#resumed || this.#opened) await (await this.#open()).noteUncovered(callId, command);
      },
    };
  }

  #open(): Promise<Checkpoints> {
    this.#opened ??= this.#openOnce();
    return this.#opened;
  }

  async #openOnce(): Promise<Checkpoints> {
    const checkpoints = await this.#load();
    const turns = [...this.#past(), ...this.#ended.splice(0)];
    if (turns.length > 0) await checkpoints.noteTurns(turns);
    return checkpoints;
  }
}
