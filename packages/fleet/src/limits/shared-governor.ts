import { setTimeout as delay } from "node:timers/promises";
import { budgetSpent } from "./batch-governor.ts";
import type { Governor, RequestEnd, RequestFacts } from "./governor.ts";
import type { Rate } from "./rate-limits.ts";

/** The limits of one batch, kept in one place for all workers. JSON. */
export type SharedLimits = {
  readonly maxBudgetUsd?: number | undefined;
  readonly rates?: Readonly<Record<string, Rate>> | undefined;
  readonly spentUsd: number;
  /** When the next request to a provider is due: milliseconds since 1970. */
  readonly dueAt: Readonly<Record<string, number>>;
};

export const noLimits: SharedLimits = { spentUsd: 0, dueAt: {} };

export type Admission = { readonly type: "go"; readonly waitMs: number } | { readonly type: "spent" };

/** Pure: requests are spaced as the rates want it, so that no minute has more of them than it may. */
export function admitShared(
  limits: SharedLimits,
  { provider, tokens }: RequestFacts,
  now: number,
): { limits: SharedLimits; admission: Admission } {
  const { maxBudgetUsd, spentUsd, rates = {}, dueAt } = limits;
  if (maxBudgetUsd !== undefined && spentUsd >= maxBudgetUsd) return { limits, admission: { type: "spent" } };
  const rate = rates[provider] ?? rates["*"];
  const space = Math.max(rate?.requests ? 60_000 / rate.requests : 0, rate?.tokens ? (tokens * 60_000) / rate.tokens : 0);
  const at = Math.max(now, dueAt[provider] ?? 0);
  return {
    limits: space === 0 && at === now ? limits : { ...limits, dueAt: { ...dueAt, [provider]: at + space } },
    admission: { type: "go", waitMs: at - now },
  };
}

export function endShared(limits: SharedLimits, { costUsd }: Pick<RequestEnd, "costUsd">): SharedLimits {
  return costUsd ? { ...limits, spentUsd: limits.spentUsd + costUsd } : limits;
}

export function throttleShared(limits: SharedLimits, provider: string, until: number): SharedLimits {
  return { ...limits, dueAt: { ...limits.dueAt, [provider]: Math.max(limits.dueAt[provider] ?? 0, until) } };
}

export type AskShared = (handler: "admit" | "ended" | "throttled", body: object) => Promise<unknown>;

/** Asks whoever keeps the limits before each request. */
export function createSharedGovernor(ask: AskShared, warn: (line: string) => void): Governor {
  const tell = (handler: "ended" | "throttled", body: object): void => {
    ask(handler, body).catch((error: unknown) => warn(`The fleet's limits were not told: ${String(error)}`));
  };
  return {
    async admit(request, signal) {
      const admission = (await ask("admit", request)) as Admission; // what `admitShared` answers
      signal.throwIfAborted();
      if (admission.type === "spent") throw budgetSpent();
      if (admission.waitMs > 0) await delay(admission.waitMs, undefined, { signal });
    },
    ended: (end) => void (end.costUsd && tell("ended", { costUsd: end.costUsd })),
    throttled: (provider, waitMs) => tell("throttled", { provider, waitMs }),
  };
}
