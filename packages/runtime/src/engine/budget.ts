import type { AssistantMessage } from "../protocol/content.ts";

/** Spending of one session against a limit, call by call. Shared with whatever else the session pays for. */
export interface Budget {
  readonly limitUsd: number;
  /** Books an answer. Exactly the limit is not above it. */
  spend(message: AssistantMessage, requestedModel: string): "within" | "exceeded";
}

export type PriceCall = (message: AssistantMessage, requestedModel: string) => number | null;

/** A call of unknown price is booked as nothing: whoever sets a limit has been asked about that before the start. */
export function createBudget(limitUsd: number, price: PriceCall): Budget {
  let spentUsd = 0;
  return {
    limitUsd,
    spend(message, requestedModel) {
      spentUsd += price(message, requestedModel) ?? 0;
      // Sums of decimal prices differ from their decimal sum by far less than a millionth of a cent.
      return spentUsd > limitUsd + 1e-10 ? "exceeded" : "within";
    },
  };
}
