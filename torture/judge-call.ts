/** One call to the outside: what the journal says of it, what the model was told, and how often the outside saw it. */
export type SeenCall = {
  readonly isStarted: boolean;
  /** As the journal has it; absent: no end was stored. */
  readonly status: string | undefined;
  readonly told: string | undefined;
  readonly effects: number;
};

/** `unknown`: it may have had its effect or not, and the model was told so. */
export type Verdict = { readonly type: "done" | "not-run" | "unknown" } | { readonly type: "lie"; readonly text: string };

/**
 * A call that ended had its effect once. One that was cut off, by a stop or by a death, had it once or not at all: the model is told that,
 * never that the call was done. One whose start was never stored had none.
 */
export function judgeCall({ isStarted, status, told = "", effects }: SeenCall): Verdict {
  const lie = (text: string): Verdict => ({ type: "lie", text: `${text}: ${effects} effects, told ${JSON.stringify(told)}` });
  if (effects > 1) return lie("made twice");
  if (status !== undefined && status !== "interrupted")
    return effects === 1 && told.includes("done") ? { type: "done" } : lie(`ended (${status}) without its effect, or untold`);
  if (!isStarted) return effects === 0 && told.startsWith("Not run") ? { type: "not-run" } : lie("not started");
  return /Interrupted|Outcome unknown/.test(told) ? { type: "unknown" } : lie("cut off, which the model was not told");
}
