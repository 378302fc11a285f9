import type { ToldLimits } from "./rate-headers.ts";

/** What a provider lets through in a minute; undefined: nobody knows a limit. */
export type Rate = { readonly requests?: number | undefined; readonly tokens?: number | undefined };

type Spent = { readonly at: number; readonly tokens: number };

type State = {
  rate: { requests: number | undefined; tokens: number | undefined };
  /** What was given, or said by the provider: no rate grows beyond it. */
  ceiling: { requests: number | undefined; tokens: number | undefined };
  /** What was let through in the last minute. */
  spent: Spent[];
  /** Requests that were let through and have no answer yet. */
  flying: { requests: number; tokens: number };
  /** What is left until a moment, as the provider said last. */
  room: { requests?: Room; tokens?: Room };
  pausedUntil: number;
  /** When the rate was last found to be too high; it is tried a little higher from then on. */
  learnedAt: number | undefined;
};

type Room = { left: number; readonly limit: number; readonly until: number };

const kinds = ["requests", "tokens"] as const;
type Kind = (typeof kinds)[number];

const minuteMs = 60_000;
/** Below what was let through when the provider complained. */
const backOff = 0.8;
/** Per minute without a complaint. */
const recovery = 1.1;

/**
 * Requests and tokens per minute, provider by provider. A rate is given, or learned: a provider that complains is left alone as long as it asks,
 * and gets from then on a fifth less than what it was sent in the minute before; each minute without a complaint a tenth more. What it says of its
 * limits in good answers holds too, so that it has no reason to complain.
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
    const wanted = { requests: 1, tokens };
    const waits = kinds.flatMap((kind) => [
      this.#waitFor(state, now, kind, wanted[kind]),
      waitForRoom(state.room[kind], now, wanted[kind]),
    ]);
    const wait = Math.max(...waits);
    if (wait > 0) return wait;
    state.spent.push({ at: now, tokens });
    for (const kind of kinds) {
      state.flying[kind] += wanted[kind];
      const room = state.room[kind];
      if (room) room.left -= wanted[kind];
    }
    return 0;
  }

  /** A request has ended. `real` is what it took, where that is known. */
  ended(provider: string, expected: number, real?: number | undefined): void {
    const { spent, flying } = this.#of(provider);
    flying.requests = Math.max(0, flying.requests - 1);
    flying.tokens = Math.max(0, flying.tokens - expected);
    if (real === undefined) return;
    const index = spent.findIndex(({ tokens }) => tokens === expected);
    const found = spent[index];
    if (found) spent[index] = { ...found, tokens: real };
  }

  /** What the provider said of its limits in an answer. What is under way may not be counted in it yet. */
  told(provider: string, limits: ToldLimits): void {
    const now = this.#now();
    const state = this.#of(provider);
    for (const kind of kinds) {
      const told = limits[kind];
      if (!told) continue;
      state.room[kind] = { left: told.remaining - state.flying[kind], limit: told.limit, until: now + told.resetMs };
      if (told.resetMs > minuteMs) continue; // of a day, perhaps: what is left of it counts, no rate comes of it
      state.ceiling[kind] = Math.min(this.#givenTo(provider)[kind] ?? told.limit, told.limit);
      const isBelow = kind === "requests" && state.learnedAt !== undefined; // since it complained; it comes up by and by
      state.rate[kind] = isBelow ? Math.min(state.rate[kind] ?? told.limit, state.ceiling[kind]) : state.ceiling[kind];
    }
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
    const { requests, tokens } = this.#givenTo(provider);
    const state: State = {
      rate: { requests, tokens },
      ceiling: { requests, tokens },
      spent: [],
      flying: { requests: 0, tokens: 0 },
      room: {},
      pausedUntil: 0,
      learnedAt: undefined,
    };
    this.#states.set(provider, state);
    return state;
  }

  #givenTo(provider: string): Rate {
    return this.#given.get(provider) ?? this.#given.get("*") ?? {};
  }

  #forget(state: State, now: number): void {
    const first = state.spent.findIndex(({ at }) => at > now - minuteMs);
    state.spent.splice(0, first === -1 ? state.spent.length : first);
    if (state.learnedAt === undefined || state.rate.requests === undefined) return;
    const minutes = Math.floor((now - state.learnedAt) / minuteMs);
    if (minutes < 1) return;
    state.rate.requests = Math.min(Math.ceil(state.rate.requests * recovery ** minutes), state.ceiling.requests ?? Infinity);
    state.learnedAt += minutes * minuteMs;
  }

  /** Until so much of the last minute is forgotten that there is room. A request above the whole limit goes when nothing else does. */
  #waitFor(state: State, now: number, kind: Kind, wanted: number): number {
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

/** Until the provider has room again, when it said that there is not enough. One that wants more than all there ever is waits for all. */
function waitForRoom(room: Room | undefined, now: number, wanted: number): number {
  if (!room || room.until <= now || room.left >= Math.min(wanted, room.limit)) return 0;
  return room.until - now;
}
