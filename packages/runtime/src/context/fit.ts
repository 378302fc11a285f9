import type { Transcript } from "../journal/transcript.ts";
import type { ModelRequest } from "../model/model.ts";
import type { Message, Usage } from "../protocol/content.ts";
import { limitsOf } from "./compaction-limits.ts";
import { TokenCount } from "./token-count.ts";

/** What a turn asks for room in its context. The messages are changed in place; what was changed is on record. */
export interface Fit {
  /** Before each request. `changed`: what was said earlier is there in other words. Rejects with `context-overflow` when nothing is gained any more. */
  makeRoom(messages: Message[]): Promise<"ready" | "changed" | "limit-reached">;
  /** After a provider refused a request as too long; rejects when there is nothing to be done. */
  afterOverflow(messages: Message[], overflow: Overflow): Promise<"changed" | "limit-reached">;
  /** What summaries have used so far. */
  usage(): Usage;
}

/** `again`: the request before it was refused too, and room has been made since. */
export type Overflow = { readonly cause: unknown; readonly again: boolean };

export type FitOptions = {
  readonly threshold: number | false;
  readonly request: Omit<ModelRequest, "messages">;
  readonly contextWindow: () => Promise<number>;
  readonly transcript: Pick<Transcript, "measuredFrom">;
  /** Loads the rest, when room has to be made. */
  readonly open: () => Promise<Pick<Fit, "makeRoom" | "afterOverflow">>;
  readonly usage: () => Usage;
};

/** The part of compaction that every request needs is a count; most turns never load more. */
export function fitOnDemand(options: FitOptions): Fit {
  let fit: Pick<Fit, "makeRoom" | "afterOverflow"> | undefined;
  let count: TokenCount | undefined;
  return {
    async makeRoom(messages) {
      // A prompt alone cannot be made smaller, and nobody should wait for a count before the first request.
      if (options.threshold === false || messages.length < 3) return "ready";
      if (!fit) {
        count ??= new TokenCount(options.request, options.transcript.measuredFrom);
        const { limit } = limitsOf(await options.contextWindow(), options.threshold, options.request);
        if (count.atMost(messages) < limit || count.used(messages) < limit) return "ready";
        fit = await options.open();
      }
      return await fit.makeRoom(messages);
    },
    async afterOverflow(messages, overflow) {
      fit ??= await options.open();
      return await fit.afterOverflow(messages, overflow);
    },
    usage: options.usage,
  };
}
