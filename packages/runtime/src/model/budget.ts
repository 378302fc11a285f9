import type { AssistantMessage } from "../protocol/content.ts";

/** Spending of one session against a limit, call by call. Shared with whatever else the session pays for. */
export interface Budget {
  readonly limitUsd: number;
  /** Books an answer. Exactly the limit is not above it. */
  spend(message: AssistantMessage, requestedModel: string): "within" | "exceeded";
  /** More than the limit is spent: nothing may be asked any more. */
  exceeded(): boolean;
  remainingUsd(): number;
  /** What an answer would cost; null when nobody knows. */
  readonly price: PriceCall;
}

export type PriceCall = (message: Pick<AssistantMessage, "model" | "usage">, requestedModel: string) => number | null;

/** A call of unknown price is booked as nothing: the user who set a limit agreed to that before the start. */
export function createBudget(limitUsd: number, price: PriceCall): Budget {
  let spentUsd = 0;
  // Sums of decimal prices differ from their decimal sum by far less than a millionth of a cent.
  const exceeded = (): boolean => spentUsd > limitUsd + 1e-10;
  return {
    limitUsd,
    price,
    exceeded,
    remainingUsd: () => limitUsd - spentUsd,
    spend(message, requestedModel) {
      spentUsd += price(message, requestedModel) ?? 0;
      return exceeded() ? "exceeded" : "within";
    },
  };
}
