/** When in the line something happens: after everything whose `at` is smaller than `until`. */
export type Moment = {
  readonly at: number;
  until: number;
  /** It may come more than once. */
  again: boolean;
};

/** The moments of one line, in the order in which its text names them. */
export class Moments {
  readonly #all: Moment[] = [];

  next(): Moment {
    const moment = { at: this.#all.length, until: this.#all.length, again: false };
    this.#all.push(moment);
    return moment;
  }

  count(): number {
    return this.#all.length;
  }

  /** The moments from this one on run at the same time, or again: each of them may come after every other. */
  mix(from: number, again: boolean): void {
    for (const moment of this.#all.slice(from)) {
      moment.until = Math.max(moment.until, this.#all.length);
      moment.again ||= again;
    }
  }

  /** The moments from this one on may come as late as they like. */
  detach(from: number): void {
    for (const moment of this.#all.slice(from)) moment.until = Number.POSITIVE_INFINITY;
  }
}
