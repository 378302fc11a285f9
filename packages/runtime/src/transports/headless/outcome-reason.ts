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
      return stopReason(outcome);
  }
}

function stopReason({ limit, reason }: Outcome & { type: "stopped" }): string {
  switch (limit) {
    case "hook":
      return reason ? `Stopped by a hook: ${reason}` : "Stopped by a hook";
    case "loop":
      return `Stopped going round in circles: ${reason ?? "the same call had the same result again and again"}`;
    case "max-turns":
      return "Stopped: the limit of model calls is reached";
    case "max-requests":
      return `Stopped: the ceiling of model requests is reached${reason ? `: ${reason}` : ""}`;
    case "max-budget":
      return "Stopped: the budget is spent";
  }
}
