import type { Usage } from "@outrider/runtime";
import type { ToldLimits } from "./rate-headers.ts";

/** A request that is about to be made. `tokens` is what it is expected to take, in and out. */
export type RequestFacts = { readonly provider: string; readonly model: string; readonly tokens: number };

/** What became of one. */
export type RequestEnd = RequestFacts & {
  readonly usage: Usage | undefined;
  readonly costUsd: number | null;
  /** What the provider said of its limits. */
  readonly told?: ToldLimits | undefined;
};

/** Asked before every request of every run: all of them share budget and rates. */
export interface Governor {
  /** Resolves when the request may be made; rejects with `limit-reached` when none may be made any more. */
  admit(request: RequestFacts, signal: AbortSignal): Promise<void>;
  /** The answer is given out when this resolves: what was paid for is on record first, also of a worker that dies then. */
  ended(request: RequestEnd, signal: AbortSignal): Promise<void> | void;
  /** The provider said that this was too much, and how long it wants to be left alone. */
  throttled(provider: string, waitMs: number): void;
}
