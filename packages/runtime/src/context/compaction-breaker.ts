/** After this many failures in a row nothing is tried for a while: a provider that cannot summarise is not asked at every step. */
const failuresToOpen = 3;
const cooldownMs = 60_000;

/** Stops compaction that keeps failing. Closes by itself, with a clean record, when the time is up. */
export class CompactionBreaker {
  readonly #now: () => number;
  #failures = 0;
  #openedAt: number | undefined;

  /** `now` is milliseconds since 1970, so that a resumed session still knows. */
  constructor(now: () => number) {
    this.#now = now;
  }

  get failures(): number {
    return this.#failures;
  }

  isOpen(): boolean {
    if (this.#openedAt === undefined) return false;
    if (this.#now() - this.#openedAt < cooldownMs) return true;
    this.succeeded();
    return false;
  }

  failed(at: number = this.#now()): void {
    this.#failures++;
    if (this.#failures >= failuresToOpen) this.#openedAt = at;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#openedAt = undefined;
  }
}
