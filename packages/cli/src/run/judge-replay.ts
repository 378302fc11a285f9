import { type Outcome, RuntimeError } from "@outrider/runtime";

/** A run that ends before its recording took another course. */
export function replayJudge(
  replay: { readonly remaining: number },
  lenient: boolean,
  warn: (line: string) => void,
): (outcome: Outcome) => Outcome {
  return (outcome) => {
    if (outcome.type !== "completed" || replay.remaining === 0) return outcome;
    const message = `The run ended, and the recording holds ${replay.remaining} more ${replay.remaining === 1 ? "answer" : "answers"}`;
    if (!lenient) return { type: "failed", error: new RuntimeError("replay-mismatch", message).toJSON(), text: outcome.text };
    warn(message);
    return outcome;
  };
}
