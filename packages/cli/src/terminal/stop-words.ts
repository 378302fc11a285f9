import type { Outcome } from "@outrider/runtime";
import type { FlagValues } from "../flags/flags.ts";
import { spokenDuration } from "../flags/numbers.ts";

/** Why a run ended before its answer, with the flag or the signal that said so. */
export function stopWords(
  outcome: Outcome & { type: "stopped" | "cancelled" },
  { flags, signal }: { readonly flags: FlagValues; readonly signal: NodeJS.Signals | undefined },
): string {
  if (outcome.type === "cancelled") {
    if (outcome.cause === "deadline") return `stopped: ${spokenDuration(flags.deadline)} have passed (--deadline)`;
    return signal ? `stopped by ${signal} before the end` : "stopped before the end";
  }
  if (outcome.deferred) return `${outcome.reason}; go on with --resume when it may be made`;
  if (outcome.limit === "hook") return `stopped by a hook: ${outcome.reason ?? "it gave no reason"}`;
  if (outcome.limit === "loop")
    return `stopped: ${outcome.reason ?? "the same call had the same result again and again"} (--loop-stop)`;
  if (outcome.limit === "max-requests")
    return `stopped: no more models may be asked for this prompt (--max-requests)${outcome.reason ? `: ${outcome.reason}` : ""}`;
  if (outcome.limit === "max-turns")
    return `stopped: the model was asked ${flags["max-turns"] === "1" ? "once" : `${flags["max-turns"]} times`} (--max-turns)`;
  return `stopped: more than ${flags["max-budget-usd"]} dollars are spent (--max-budget-usd)`;
}
