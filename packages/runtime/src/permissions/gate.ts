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
  /**
   * With a yes: do not ask about exactly this again. Of a tool that does not say what a call is about (`access`), it covers every
   * call. The `reason` of `permission.decided` says what is covered.
   */
  readonly remember?: GrantScope;
};

declare const live: unique symbol;

/** The input of a call as it would be run, secrets included: never one that was read from the record. */
export type LiveInput = JsonObject & { readonly [live]: true };

/** A call somebody has to say yes or no to, with what it really says. */
export type Question = {
  readonly requestId: string;
  readonly callId: string;
  readonly tool: string;
  readonly input: LiveInput;
  readonly reason: string;
  /** A rule that would allow exactly this. */
  readonly rule?: string | undefined;
  /** A PreToolUse hook wants it to be asked. */
  readonly by?: "hook" | undefined;
  /** The file that needs the permission, where it is one. */
  readonly path?: string | undefined;
  /** It would not be asked in this mode. */
  readonly mode?: "acceptEdits" | undefined;
};

/** Nobody can answer it, and why: whoever asked decides alone. */
export type Unanswered = { readonly unanswered: string };

type Waiting = {
  readonly question: Question;
  readonly signal: AbortSignal;
  readonly settle: (answer: Answer | Unanswered) => void;
};

/**
 * Questions waiting for a person. That there is one is an event, whose input is masked like all that is stored; what it is about is
 * read here, by whoever answers.
 */
export class PermissionGate {
  readonly #waiting = new Map<string, Waiting>();

  /** Rejects with the signal's reason when the turn is aborted first. */
  ask(question: Question, signal: AbortSignal): Promise<Answer | Unanswered> {
    const { requestId } = question;
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiting.delete(requestId);
        reject(signal.reason);
      };
      signal.addEventListener("abort", onAbort);
      const settle: Waiting["settle"] = (answer) => {
        signal.removeEventListener("abort", onAbort);
        this.#waiting.delete(requestId);
        resolve(answer);
      };
      this.#waiting.set(requestId, { question, signal, settle });
    });
  }

  /** All that wait for an answer, the oldest first. */
  get open(): Question[] {
    return [...this.#waiting.values()].map(({ question }) => question);
  }

  /** Undefined when nobody waits for an answer to it any more. */
  question(requestId: string): Question | undefined {
    return this.#waiting.get(requestId)?.question;
  }

  /** Aborts when nobody waits for an answer any more because the work that asked was stopped; aborted already where nobody does. */
  signal(requestId: string): AbortSignal {
    return this.#waiting.get(requestId)?.signal ?? AbortSignal.abort();
  }

  /** Whoever would have answered cannot; nothing happens when somebody has answered already. */
  giveUp(requestId: string, unanswered: string): void {
    this.#waiting.get(requestId)?.settle({ unanswered });
  }

  /** Programs without types answer too: what is neither a yes nor a no is refused, and the question stays open. */
  answer(requestId: string, answer: Answer | Answer["decision"]): void {
    const waiting = this.#waiting.get(requestId);
    if (!waiting) throw new RuntimeError("not-found", `There is no open permission request ${requestId}`);
    const given: unknown = typeof answer === "string" ? answer : Object(answer).decision;
    if (given !== "allow" && given !== "deny")
      throw new RuntimeError("usage", `A permission request is answered with allow or deny, not with ${JSON.stringify(answer)}`, {
        hint: 'Give "allow", "deny", or { decision: "allow" | "deny", … }',
      });
    waiting.settle(typeof answer === "string" ? { decision: given } : answer);
  }
}
