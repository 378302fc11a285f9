import type { RequestEnd, RequestFacts } from "./governor.ts";
import type { ToldLimits } from "./rate-headers.ts";
import type { Rate } from "./rate-limits.ts";

/** Limits of a batch or of a whole fleet, kept in one place for all workers. JSON. */
export type SharedLimits = {
  readonly maxBudgetUsd?: number | undefined;
  readonly rates?: Readonly<Record<string, Rate>> | undefined;
  readonly spentUsd: number;
  /** By provider. */
  readonly paces: Readonly<Record<string, Pace>>;
};

/** How requests to a provider follow each other. Times are milliseconds since 1970. */
type Pace = {
  /** The next request is due then. */
  readonly dueAt: number;
  readonly pausedUntil: number;
  /** What the provider has said or shown that it lets through in a minute. */
  readonly learned: Rate;
  /** When it last complained; it is tried a little more from then on. */
  readonly complainedAt?: number | undefined;
  /** How many requests went in the minute that began at `minute`, and in the one before. */
  readonly minute: number;
  readonly sent: number;
  readonly sentBefore: number;
};

export const noLimits: SharedLimits = { spentUsd: 0, paces: {} };

export type Admission = { readonly type: "go"; readonly waitMs: number } | { readonly type: "spent" };

const minuteMs = 60_000;
const backOff = 0.8;
const recovery = 1.1;

/** Whether anything is to be asked before a request. */
export function isLimited({ maxBudgetUsd, rates = {}, paces }: SharedLimits): boolean {
  const isPaced = Object.values(paces).some(({ learned }) => learned.requests !== undefined || learned.tokens !== undefined);
  return maxBudgetUsd !== undefined || Object.keys(rates).length > 0 || isPaced;
}

/** Sums of prices have a rounding error: ten times half a cent is a little less than five cents. */
const roundingUsd = 1e-9;

export function isSpent({ maxBudgetUsd, spentUsd }: Pick<SharedLimits, "maxBudgetUsd" | "spentUsd">): boolean {
  return maxBudgetUsd !== undefined && spentUsd >= maxBudgetUsd - roundingUsd;
}

/** Requests are spaced as the rates want it, so that no minute has more of them than it may. */
export function admitShared(
  limits: SharedLimits,
  { provider, tokens }: Pick<RequestFacts, "provider" | "tokens">,
  now: number,
): { limits: SharedLimits; admission: Admission } {
  if (isSpent(limits)) return { limits, admission: { type: "spent" } };
  const pace = counted(paceOf(limits, provider), now);
  const given = limits.rates?.[provider] ?? limits.rates?.["*"] ?? {};
  const requests = least(given.requests, recovered(pace, now));
  const perMinute = least(given.tokens, pace.learned.tokens);
  const space = Math.max(requests ? minuteMs / requests : 0, perMinute ? (tokens * minuteMs) / perMinute : 0);
  const at = Math.max(now, pace.dueAt, pace.pausedUntil);
  return {
    limits: withPace(limits, provider, { ...pace, dueAt: at + space }),
    admission: { type: "go", waitMs: at - now },
  };
}

export function endShared(limits: SharedLimits, { costUsd }: Pick<RequestEnd, "costUsd">): SharedLimits {
  return costUsd ? { ...limits, spentUsd: limits.spentUsd + costUsd } : limits;
}

/** The provider complained: it is left alone, and gets from then on a fifth less than what it was sent in a minute. */
export function throttleShared(limits: SharedLimits, told: { provider: string; waitMs: number }, now: number): SharedLimits {
  const pace = counted(paceOf(limits, told.provider), now);
  const pausedUntil = Math.max(pace.pausedUntil, now + told.waitMs);
  if (pace.pausedUntil > now) return withPace(limits, told.provider, { ...pace, pausedUntil }); // one of those that were under way
  const seen = Math.max(1, Math.floor(Math.max(pace.sent, pace.sentBefore) * backOff));
  const learned = { ...pace.learned, requests: least(recovered(pace, now), seen) };
  return withPace(limits, told.provider, { ...pace, pausedUntil, learned, complainedAt: now });
}

/** What the provider says of itself in a good answer. */
export function tellShared(limits: SharedLimits, provider: string, told: ToldLimits, now: number): SharedLimits {
  const pace = paceOf(limits, provider);
  const all = [told.requests, told.tokens].flatMap((one) => one ?? []);
  const empty = all.filter(({ remaining }) => remaining === 0).map(({ resetMs }) => now + resetMs);
  const ofMinute = (one: ToldLimits["requests"]): number | undefined => (one && one.resetMs <= minuteMs ? one.limit : undefined);
  const learned = {
    requests: pace.complainedAt === undefined ? (ofMinute(told.requests) ?? pace.learned.requests) : pace.learned.requests,
    tokens: ofMinute(told.tokens) ?? pace.learned.tokens,
  };
  return withPace(limits, provider, { ...pace, learned, pausedUntil: Math.max(pace.pausedUntil, ...empty) });
}

function paceOf({ paces }: SharedLimits, provider: string): Pace {
  return paces[provider] ?? { dueAt: 0, pausedUntil: 0, learned: {}, minute: 0, sent: 0, sentBefore: 0 };
}

function withPace(limits: SharedLimits, provider: string, pace: Pace): SharedLimits {
  return { ...limits, paces: { ...limits.paces, [provider]: pace } };
}

function counted(pace: Pace, now: number): Pace {
  const age = now - pace.minute;
  if (age < minuteMs) return { ...pace, sent: pace.sent + 1 };
  return { ...pace, minute: now, sent: 1, sentBefore: age < 2 * minuteMs ? pace.sent : 0 };
}

function recovered({ learned, complainedAt }: Pace, now: number): number | undefined {
  if (learned.requests === undefined || complainedAt === undefined) return learned.requests;
  return Math.ceil(learned.requests * recovery ** Math.floor((now - complainedAt) / minuteMs));
}

function least(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : b === undefined ? a : Math.min(a, b);
}
