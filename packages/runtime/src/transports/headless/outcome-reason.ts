import type { Outcome } from "../../protocol/outcome.ts";

/** Why a run did not complete, in one sentence; a hook's own words where it gave some. */
export function reasonOf(outcome: Outcome): string {
  switch (outcome.type) {
    case "completed":
      return "";
    case "failed":
      return outcome.error.message;
    case "cancelled":
      return outcome.cause === "deadline" ? "Stopped at the deadline" : "Stopped before the end";
    case "stopped":
      if (outcome.limit === "hook") return outcome.reason ? `Stopped by a hook: ${outcome.reason}` : "Stopped by a hook";
      return outcome.limit === "max-turns" ? "Stopped: the limit of model calls is reached" : "Stopped: the budget is spent";
  }
}
