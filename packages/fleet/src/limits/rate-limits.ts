/** What a provider lets through in a minute; undefined: nobody knows a limit. */
export type Rate = { readonly requests?: number | undefined; readonly tokens?: number | undefined };

type Spent = { readonly at: number; readonly tokens: number };

type State = {
  rate: { requests: number | undefined; tokens: number | undefined };
  /** What was let through in the last minute. */
  spent: Spent[];
  pausedUntil: number;
  /** When the rate was last found to be too high; it is tried a little higher from then on. */
  learnedAt: number | undefined;
};

const minuteMs = 60_000;
/** Below what was let through when the provider complained. */
const backOff = 0.8;
/** Per minute without a complaint. */
const recovery = 1.1;

/**
 * Requests and tokens per minute, provider by provider. A rate is given, or learned: a provider that complains is left alone as long as it asks,
 * and gets from then on a fifth less than what it was sent in the minute before; each minute without a complaint a tenth more.
 */
export class RateLimits {
  readonly #states = new Map<string, State>();
  readonly #given: ReadonlyMap<string, Rate>;
  readonly #now: () => number;

  constructor(given: ReadonlyMap<string, Rate> = new Map(), now: () => number = Date.now) {
    this.#given = given;
    this.#now = now;
  }

  /** 0 when the request may go, and then it counts; else how long to wait before asking again. */
  take(provider: string, tokens: number): number {
    const now = this.#now();
    const state = this.#of(provider);
    if (state.pausedUntil > now) return state.pausedUntil - now;
    this.#forget(state, now);
    const waits = [this.#waitFor(state, now, "requests", 1), this.#waitFor(state, now, "tokens", tokens)];
    const wait = Math.max(...waits);
    if (wait === 0) state.spent.push({ at: now, tokens });
    return wait;
  }

  /** What it really took. */
  correct(provider: string, expected: number, real: number): void {
    const { spent } = this.#of(provider);
    const index = spent.findIndex(({ tokens }) => tokens === expected);
    const found = spent[index];
    if (found) spent[index] = { ...found, tokens: real };
  }

  throttled(provider: string, waitMs: number): void {
    const now = this.#now();
    const state = this.#of(provider);
    if (state.pausedUntil <= now) {
      this.#forget(state, now);
      const seen = Math.max(1, Math.floor(state.spent.length * backOff));
      state.rate.requests = Math.min(state.rate.requests ?? seen, seen);
      state.learnedAt = now;
    }
    state.pausedUntil = Math.max(state.pausedUntil, now + waitMs);
  }

  /** The rates that hold now. */
  get rates(): ReadonlyMap<string, Rate> {
    return new Map([...this.#states].map(([name, { rate }]) => [name, { ...rate }]));
  }

  #of(provider: string): State {
    const known = this.#states.get(provider);
    if (known) return known;
    const { requests, tokens } = this.#given.get(provider) ?? this.#given.get("*") ?? {};
    const state: State = { rate: { requests, tokens }, spent: [], pausedUntil: 0, learnedAt: undefined };
    this.#states.set(provider, state);
    return state;
  }

  #forget(state: State, now: number): void {
    const first = state.spent.findIndex(({ at }) => at > now - minuteMs);
    state.spent.splice(0, first === -1 ? state.spent.length : first);
    if (state.learnedAt === undefined || state.rate.requests === undefined) return;
    const minutes = Math.floor((now - state.learnedAt) / minuteMs);
    if (minutes < 1) return;
    state.rate.requests = Math.ceil(state.rate.requests * recovery ** minutes);
    state.learnedAt += minutes * minuteMs;
  }

  /** Until so much of the last minute is forgotten that there is room. A request above the whole limit goes when nothing else does. */
  #waitFor(state: State, now: number, kind: "requests" | "tokens", wanted: number): number {
    const limit = state.rate[kind];
    if (limit === undefined) return 0;
    const costs = state.spent.map(({ at, tokens }) => ({ at, cost: kind === "requests" ? 1 : tokens }));
    let used = costs.reduce((sum, { cost }) => sum + cost, 0);
    for (const { at, cost } of [{ at: now - minuteMs, cost: 0 }, ...costs]) {
      used -= cost;
      if (used + wanted <= limit || used <= 0) return Math.max(0, at + minuteMs - now);
    }
    return 0;
  }
}
