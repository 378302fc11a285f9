import { RuntimeError } from "../protocol/errors.ts";
import type { ToolOutput } from "../tools/tool.ts";
import { fingerprint } from "../util/fingerprint.ts";

/** How often the same call may have the same result before the model is told, and before its turn ends; 0 for never. */
export type LoopLimits = { readonly noteAt: number; readonly stopAt: number };

export type GivenLimits = { readonly [K in keyof LoopLimits]?: LoopLimits[K] | undefined };

const defaults: LoopLimits = { noteAt: 3, stopAt: 6 };

/** Throws a `config` error for a limit that would end every turn, or none. */
export function toLoopLimits(limits: GivenLimits = {}): LoopLimits {
  for (const [name, value] of Object.entries(limits)) {
    if (value !== undefined && value !== 0 && !(Number.isSafeInteger(value) && value >= 2))
      throw new RuntimeError("config", `loops.${name} is a whole number of at least 2, or 0 for never, not ${value}`);
  }
  return { noteAt: limits.noteAt ?? defaults.noteAt, stopAt: limits.stopAt ?? defaults.stopAt };
}

/** A call that has ended. */
export type EndedCall = {
  /** Of the tool, as it is offered. */
  readonly name: string;
  /** What of its input makes it this call; of one that could not be read, its text. */
  readonly essence: unknown;
  /** There is such a tool, and the input fits it. */
  readonly isUsable: boolean;
  readonly content: ToolOutput["content"];
  /** It was run, and may have changed what other calls see. Else it was refused, which nothing but a rule changes. */
  readonly ran: boolean;
  readonly changes: boolean;
};

export type Verdict = { readonly note?: string; readonly stop?: string };

type Seen = { result: string; count: number; at: number; change: number; memory: number };

/** A call that comes back after so many others is no circle. */
const maxDistance = 50;
/** So often in a row lost memories excuse a call that was made before. */
const maxForgotten = 3;
/** So many in a row that cannot be run are one circle, however they differ. */
const maxUnusable = 20;
/** So many times the limits, answers in a row whose calls all failed are a circle: what comes next is another try of a kind that is no use. */
const fruitlessFactor = 5;

/**
 * Finds calls that go round in circles: the same tool, the same input (whatever the order of its keys) and the same result, however many
 * others lie between; many in a row that cannot be run at all; and many answers in a row that only hold calls that are denied or fail. It
 * begins to count anew when the result is another one, when a call that was never made before may have changed something, when too many
 * others were made in between, when a person says something, and, a few times, when the model no longer knows its earlier calls.
 */
export class RepeatedCalls {
  readonly #limits: LoopLimits;
  readonly #seen = new Map<string, Seen>();
  #calls = 0;
  #changes = 0;
  #forgotten = 0;
  #memory = 0;
  #unusable = 0;
  #fruitless = 0;

  constructor(limits: LoopLimits) {
    this.#limits = limits;
  }

  observe({ name, essence, isUsable, content, ran, changes }: EndedCall): Verdict {
    const { noteAt, stopAt } = this.#limits;
    this.#unusable = isUsable ? 0 : this.#unusable + 1;
    const key = fingerprint([name, isUsable, essence]);
    const result = fingerprint(content);
    const before = this.#seen.get(key);
    if (ran && changes && !before) {
      this.#changes++;
      this.#forgotten = 0;
    }
    const at = ++this.#calls;
    const isSame =
      before?.result === result &&
      before.memory === this.#memory &&
      at - before.at <= maxDistance &&
      (!ran || before.change === this.#changes);
    const count = isSame ? before.count + 1 : 1;
    this.#seen.set(key, { result, count, at, change: this.#changes, memory: this.#memory });
    if (stopAt > 0 && count >= stopAt)
      return { stop: `${name} was called ${count} times with the same input and the same result` };
    if (stopAt > 0 && this.#unusable >= maxUnusable)
      return { stop: `${this.#unusable} calls in a row could not be run: there was no such tool, or the input did not fit it` };
    return noteAt > 0 && count >= noteAt ? { note: noteOf(count, stopAt) } : {};
  }

  /** All calls of an answer have ended. The note is given once: what it asks for is another way, or an end. */
  endAnswer(results: readonly { readonly isError?: boolean | undefined }[]): Verdict {
    const { noteAt, stopAt } = this.#limits;
    this.#fruitless = results.every(({ isError }) => isError) ? this.#fruitless + 1 : 0;
    if (stopAt > 0 && this.#fruitless >= fruitlessFactor * stopAt)
      return { stop: `all calls of ${this.#fruitless} answers in a row were denied or failed` };
    return noteAt > 0 && this.#fruitless === fruitlessFactor * noteAt ? { note: fruitlessNote(this.#fruitless, stopAt) } : {};
  }

  /** The model was told something new by a person. */
  restart(): void {
    this.#memory++;
    this.#unusable = 0;
    this.#fruitless = 0;
    this.#forgotten = 0;
  }

  /** The model does not know its calls any more. A provider can bring that about: it excuses nothing for ever. */
  forget(): void {
    if (this.#forgotten++ < maxForgotten) this.#memory++;
  }
}

function fruitlessNote(count: number, stopAt: number): string {
  const end = stopAt > 0 ? ` The turn ends when that is so for ${fruitlessFactor * stopAt} answers in a row.` : "";
  return `[All calls of your last ${count} answers were denied or failed. More of the same kind will not help: try something that you know is allowed and works, or give your final answer and say what is in the way.${end}]`;
}

function noteOf(count: number, stopAt: number): string {
  const end = stopAt > 0 ? ` The turn ends when it has happened ${stopAt} times.` : "";
  return `[You have made this call ${count} times with the same input, and its result was the same each time. Making it again will not change that: try something else, or give your final answer and say what is in the way.${end}]`;
}
