/** So many in a minute, all at once or one by one; for each key by itself. */
export class RateLimit {
  readonly #perMinute: number;
  readonly #now: () => number;
  readonly #buckets = new Map<string, { left: number; at: number }>();

  constructor(perMinute: number, now: () => number = Date.now) {
    this.#perMinute = perMinute;
    this.#now = now;
  }

  /** Undefined when it may go on, else in how many milliseconds it may. `cost` 0 only asks. */
  take(key: string, cost = 1): number | undefined {
    const now = this.#now();
    const { left, at } = this.#buckets.get(key) ?? { left: this.#perMinute, at: now };
    const filled = Math.min(this.#perMinute, left + ((now - at) * this.#perMinute) / 60_000);
    if (filled < 1) return Math.ceil(((1 - filled) * 60_000) / this.#perMinute);
    this.#buckets.set(key, { left: filled - cost, at: now });
    if (this.#buckets.size > mostKeys) this.#forgetFull(now);
    return undefined;
  }

  /** Whoever has not come for a minute starts anew anyway. */
  #forgetFull(now: number): void {
    for (const [key, { at }] of this.#buckets) if (now - at >= 60_000) this.#buckets.delete(key);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > mostKeys && oldest !== undefined) this.#buckets.delete(oldest);
  }
}

const mostKeys = 10_000;
