import type { JsonValue } from "./content.ts";
import type { ErrorData } from "./errors.ts";

/**
 * `max-turns` counts the conversation's own requests, `max-requests` everything asked for one prompt. `hook`: a hook said that the turn is
 * to end, or did not let the prompt in. `loop`: the model made the same call with the same result again and again.
 */
export type StopLimit = "max-turns" | "max-requests" | "max-budget" | "hook" | "loop";
/** `superseded`: a prompt that could not wait took its place. */
export type CancelCause = "abort" | "superseded" | "signal" | "output-closed" | "deadline";

/**
 * How a turn went: the one value that exit code, result frame and stored record are derived from.
 * `Structured` is what the answer was asked for in, where somebody gave a schema for it. `text` is the last thing the model said in the turn, also when it did not end well.
 */
export type Outcome<Structured = JsonValue> = Shown &
  /** `structured` is there when the session was given a schema, and fits it. */

  /** `endedByHook`: a hook that is asked at the end said that nothing is to come after it. */
  (
    | { type: "completed"; text: string; structured?: Structured; endedByHook?: true }
    /** `reason` is a hook's own, or says which call went round in circles. `deferred`: a hook has put off this call, and the turn with it. */
    | { type: "stopped"; limit: StopLimit; text: string; reason?: string; deferred?: DeferredCall }
    /** `answered`: the answer was there, and is `text`; what was cut short is the wait for tasks. */
    | { type: "cancelled"; cause: CancelCause; text: string; answered?: { readonly structured?: JsonValue } }
    | { type: "failed"; error: ErrorData; text: string }
  );

export type DeferredCall = { readonly callId: string; readonly name: string; readonly input: JsonValue };

/** `masked` is there in an outcome that is shown: where a mask stands in the place of a secret, in sentences. */
type Shown = { readonly masked?: readonly string[] };

/** Is `text` what was asked for? */
export function hasAnswer(outcome: Outcome<unknown>): boolean {
  return outcome.type === "completed" || (outcome.type === "cancelled" && outcome.answered !== undefined);
}
