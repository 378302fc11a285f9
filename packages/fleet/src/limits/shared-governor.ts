import { setTimeout as delay } from "node:timers/promises";
import { budgetSpent } from "./batch-governor.ts";
import type { Governor, RequestFacts } from "./governor.ts";
import type { ToldLimits } from "./rate-headers.ts";
import type { Admission } from "./shared-limits.ts";

/** Limits that somebody keeps for all workers. */
export interface SharedKeeper {
  /** Waits for a keeper that is away until the signal, as `ended` does. */
  admit(request: RequestFacts, signal: AbortSignal): Promise<Admission>;
  ended(end: { readonly costUsd: number }, signal: AbortSignal): Promise<void>;
  throttled(told: { readonly provider: string; readonly waitMs: number }): Promise<void>;
  told(told: { readonly provider: string; readonly limits: ToldLimits }): Promise<void>;
  /** Whether there is anything to ask. */
  isLimited(): Promise<boolean>;
}

export type SharedGovernorOptions = {
  readonly fleet: FleetLimits;
  /** Absent where the batch has no limits of its own. */
  readonly batch?: Pick<SharedKeeper, "admit" | "ended"> | undefined;
  readonly warn: (line: string) => void;
};

/** Asks whoever keeps the limits before each request: those of the batch, and those of the fleet where it has some. */
export function createSharedGovernor({ fleet, batch, warn }: SharedGovernorOptions): Governor {
  const owned = (told: Promise<void>): void => void told.catch((error: unknown) => warn(notTold(error)));
  const keepers = (): Pick<SharedKeeper, "admit" | "ended">[] => [
    ...(batch ? [batch] : []),
    ...(fleet.isLimited ? [fleet.keeper] : []),
  ];
  return {
    async admit(request, signal) {
      fleet.look(warn);
      let waitMs = 0;
      for (const keeper of keepers()) {
        const admission = await keeper.admit(request, signal).catch((error: unknown) => {
          signal.throwIfAborted();
          throw error;
        });
        signal.throwIfAborted();
        if (admission.type === "spent") throw budgetSpent();
        waitMs = Math.max(waitMs, admission.waitMs);
      }
      if (waitMs > 0) await delay(waitMs, undefined, { signal });
    },
    async ended({ provider, costUsd, told }, signal) {
      const untold = (error: unknown): void => {
        signal.throwIfAborted();
        warn(notTold(error));
      };
      if (costUsd) await Promise.all(keepers().map((keeper) => keeper.ended({ costUsd }, signal).catch(untold)));
      if (told && fleet.isNews(provider, told)) owned(fleet.keeper.told({ provider, limits: told }));
    },
    throttled: (provider, waitMs) => {
      fleet.complained();
      owned(fleet.keeper.throttled({ provider, waitMs }));
    },
  };
}

function notTold(error: unknown): string {
  return `The fleet's limits were not told: ${String(error)}`;
}

/** How long a worker may not know that the fleet has got limits. */
const lookMs = 5_000;

/** What this process knows of the limits of all batches. Without any, nobody is asked: a question costs as much as a step. */
export class FleetLimits {
  readonly keeper: SharedKeeper;
  #isLimited = false;
  #lookedAt = 0;
  readonly #last = new Map<string, string>();

  constructor(keeper: SharedKeeper) {
    this.keeper = keeper;
  }

  get isLimited(): boolean {
    return this.#isLimited;
  }

  look(warn: (line: string) => void): void {
    if (Date.now() - this.#lookedAt < lookMs) return;
    this.#lookedAt = Date.now();
    this.keeper.isLimited().then(
      (isLimited) => {
        this.#isLimited = isLimited;
      },
      (error: unknown) => warn(`The fleet's limits are not known: ${String(error)}`),
    );
  }

  complained(): void {
    this.#isLimited = true;
    this.#lookedAt = Date.now();
  }

  /** Whether the fleet should hear of it: of limits that are new, and of those that are nearly used up. */
  isNews(provider: string, { requests, tokens }: ToldLimits): boolean {
    const known = `${requests?.limit} ${tokens?.limit}`;
    const isNew = this.#last.get(provider) !== known;
    this.#last.set(provider, known);
    return isNew || [requests, tokens].some((one) => one !== undefined && one.remaining * 20 < one.limit);
  }
}
