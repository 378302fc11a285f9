import { RuntimeError } from "../protocol/errors.ts";

export type Answer = "allow" | "deny";

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

  answer(requestId: string, answer: Answer): void {
    const settle = this.#waiting.get(requestId);
    if (!settle) throw new RuntimeError("not-found", `There is no open permission request ${requestId}`);
    settle(answer);
  }
}
