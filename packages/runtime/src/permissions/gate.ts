import type { JsonObject } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import type { GrantScope } from "./grants.ts";

/** What somebody says to a permission question. */
export type Answer = {
  readonly decision: "allow" | "deny";
  /** Read by the model when it is a no. */
  readonly message?: string;
  /** With a yes: the call as it may be made. It is checked and judged like a new one. */
  readonly updatedInput?: JsonObject;
  /** Ends the turn too. */
  readonly interrupt?: boolean;
  /** With a yes: do not ask about exactly this again. */
  readonly remember?: GrantScope;
};

/** Questions waiting for a person. A question is an event going out and a request coming back, on every transport alike. */
export class PermissionGate {
  readonly #waiting = new Map<string, (answer: Answer) => void>();

  /** Rejects with the signal's reason when the turn is aborted first. */
  ask(requestId: string, signal: AbortSignal): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiting.delete(requestId);
        reject(signal.reason);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#waiting.set(requestId, (answer) => {
        signal.removeEventListener("abort", onAbort);
        this.#waiting.delete(requestId);
        resolve(answer);
      });
    });
  }

  answer(requestId: string, answer: Answer | Answer["decision"]): void {
    const settle = this.#waiting.get(requestId);
    if (!settle) throw new RuntimeError("not-found", `There is no open permission request ${requestId}`);
    settle(typeof answer === "string" ? { decision: answer } : answer);
  }
}
