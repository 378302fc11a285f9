import type { HeldSession } from "../../hosting/session-host.ts";
import type { Answer } from "../../permissions/gate.ts";
import { textOf, type Usage } from "../../protocol/content.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import type { PermissionRequest } from "../../session/session-view.ts";
import { randomUuid } from "../../util/unique-ids.ts";
import { describeCall, oneLine } from "../acp/describe-call.ts";

/** What became of a prompt so far. */
export type RunNews =
  | { readonly type: "ended"; readonly outcome: Outcome; readonly usage: Usage | undefined }
  | { readonly type: "asked"; readonly questions: readonly PermissionRequest[] }
  | { readonly type: "left" };

export type Following = {
  readonly signal: AbortSignal;
  readonly onProgress: (line: string) => void;
};

/** How long a question waits for a client that does not come back with an answer. */
const patienceMs = 10 * 60_000;

const nobodyAnswered = "Nobody answered the question in time.";

/** One prompt on its way: it goes on whether somebody waits for it or not. */
export class AgentRun {
  /** Whoever knows it may answer the questions of this run. */
  readonly token: string = randomUuid();
  readonly sessionId: string;
  readonly #held: HeldSession;
  /** Else somebody else answers them. */
  readonly #hearsQuestions: boolean;
  readonly #questions = new Map<string, PermissionRequest>();
  readonly #over = new AbortController();
  readonly #followers = new Set<(line: string) => void>();
  #turnId = "";
  #wake: (() => void)[] = [];
  #ended: RunNews | undefined;
  #usage: Usage | undefined;
  #patience: NodeJS.Timeout | undefined;

  private constructor(held: HeldSession, hearsQuestions: boolean) {
    this.#held = held;
    this.#hearsQuestions = hearsQuestions;
    this.sessionId = held.id;
  }

  /** Resolves when the prompt is on record. The session is released when its turn has ended. */
  static async start(
    held: HeldSession,
    prompt: string,
    { hearsQuestions = true }: { readonly hearsQuestions?: boolean } = {},
  ): Promise<AgentRun> {
    const run = new AgentRun(held, hearsQuestions);
    const types = ["permission.requested", "permission.resolved", "tool.started", "message.ended", "turn.ended"] as const;
    const events = held.session.events({ types, signal: run.#over.signal, whenFull: "wait" });
    try {
      const accepted = await held.session.accept(prompt);
      run.#turnId = accepted.id;
      void run.#read(events);
      void accepted.outcome.then(
        (outcome) => run.#end(held.session.shown(outcome)),
        (error: unknown) => run.#end(failure(error)),
      );
      return run;
    } catch (error) {
      run.#over.abort();
      held.release();
      throw error;
    }
  }

  get questions(): readonly PermissionRequest[] {
    return [...this.#questions.values()];
  }

  get isOver(): boolean {
    return this.#ended !== undefined;
  }

  /** Until it has ended, asks something, or the follower leaves. */
  async follow({ signal, onProgress }: Following): Promise<RunNews> {
    this.#followers.add(onProgress);
    clearTimeout(this.#patience);
    const leave = (): void => this.#wakeAll();
    signal.addEventListener("abort", leave);
    try {
      for (;;) {
        if (this.#ended) return this.#ended;
        if (signal.aborted) return { type: "left" };
        if (this.#questions.size > 0) return { type: "asked", questions: this.questions };
        await new Promise<void>((resolve) => this.#wake.push(resolve));
      }
    } finally {
      signal.removeEventListener("abort", leave);
      this.#followers.delete(onProgress);
      this.#beginPatience();
    }
  }

  answer(requestId: string, answer: Answer): void {
    this.#questions.delete(requestId);
    try {
      this.#held.session.answerPermission(requestId, answer);
    } catch {
      // Somebody else was faster, or the turn has ended.
    }
  }

  /** All that goes on in the session. */
  cancel(): void {
    this.#held.session.abort();
  }

  /** Whoever asked has left: this prompt, and nobody else's. */
  withdraw(): void {
    void this.#held.session.withdraw(this.#turnId).catch(() => {}); // a store that failed is told by the outcome
  }

  async #read(events: AsyncIterable<AgentEvent>): Promise<void> {
    const { session, plan } = this.#held;
    for await (const event of events) {
      switch (event.type) {
        case "permission.requested": {
          const question = this.#hearsQuestions ? session.openPermission(event) : undefined;
          if (question) this.#questions.set(question.requestId, question);
          this.#wakeAll();
          break;
        }
        case "permission.resolved":
          this.#questions.delete(event.requestId);
          break;
        case "tool.started":
          this.#tell(describeCall(event.name, event.input, plan.options.cwd).title);
          break;
        case "message.ended":
          this.#tell(oneLine(textOf(event.message.content)));
          break;
        case "turn.ended":
          if (event.turnId === this.#turnId) this.#usage = event.usage;
      }
    }
  }

  #tell(line: string): void {
    if (line !== "") for (const follower of this.#followers) follower(line);
  }

  #end(outcome: Outcome): void {
    this.#ended = { type: "ended", outcome, usage: this.#usage };
    clearTimeout(this.#patience);
    this.#over.abort();
    this.#held.release();
    this.#wakeAll();
  }

  /** A question that nobody comes back for is answered with no. */
  #beginPatience(): void {
    if (this.#ended || this.#followers.size > 0) return;
    clearTimeout(this.#patience);
    this.#patience = setTimeout(() => {
      for (const requestId of this.#questions.keys()) this.answer(requestId, { decision: "deny", message: nobodyAnswered });
      this.#beginPatience();
    }, patienceMs);
    this.#patience.unref();
  }

  #wakeAll(): void {
    const waiting = this.#wake;
    this.#wake = [];
    for (const wake of waiting) wake();
  }
}

function failure(error: unknown): Outcome {
  const message = error instanceof Error ? error.message : String(error);
  return { type: "failed", error: { code: "closed", message, retryable: true }, text: "" };
}
