import type { InteractiveSession } from "../../session/interactive-session.ts";
import type { AgentEvent } from "../../protocol/events.ts";

export type Question = AgentEvent<"permission.requested"> | AgentEvent<"interaction.requested">;

export type QuestionOptions = {
  /** How long a question waits while nobody is there who may answer it. */
  readonly waitMs: number;
  readonly isAttended: () => boolean;
};

/**
 * What a session waits to be told. A question stays open as long as somebody is connected who may answer it, and for a while after; then the
 * answer is no. Nothing is ever done because nobody was there.
 */
export class OpenQuestions {
  readonly #session: InteractiveSession;
  readonly #options: QuestionOptions;
  readonly #open = new Map<string, { readonly question: Question; timer: NodeJS.Timeout | undefined }>();

  constructor(session: InteractiveSession, options: QuestionOptions) {
    this.#session = session;
    this.#options = options;
  }

  get all(): Question[] {
    return [...this.#open.values()].flatMap(({ question }) => (this.#isOpen(question) ? [question] : []));
  }

  follow(event: AgentEvent): void {
    switch (event.type) {
      case "permission.requested":
        return this.#add(event.requestId, event);
      case "interaction.requested":
        return this.#add(event.interactionId, event);
      case "permission.resolved":
        return this.#forget(event.requestId);
      case "interaction.resolved":
        return this.#forget(event.interactionId);
      case "turn.ended": // a question of a task may outlive it; one of the turn itself is gone when that was cancelled
        for (const [id, { question }] of [...this.#open]) if (!this.#isOpen(question)) this.#forget(id);
    }
  }

  /** The session is closed: nobody waits any more. */
  close(): void {
    for (const id of [...this.#open.keys()]) this.#forget(id);
  }

  /** Somebody who may answer has come, or gone. */
  attendanceChanged(): void {
    for (const [id, { timer }] of this.#open) {
      clearTimeout(timer);
      if (!this.#options.isAttended()) this.#startTimer(id);
    }
  }

  #add(id: string, question: Question): void {
    this.#open.set(id, { question, timer: undefined });
    if (!this.#options.isAttended()) this.#startTimer(id);
  }

  #startTimer(id: string): void {
    const open = this.#open.get(id);
    if (!open) return;
    clearTimeout(open.timer);
    open.timer = setTimeout(() => this.#refuse(id), this.#options.waitMs);
    open.timer.unref();
  }

  #refuse(id: string): void {
    const question = this.#open.get(id)?.question;
    this.#forget(id);
    if (!question || !this.#isOpen(question)) return;
    if (question.type === "interaction.requested") this.#session.answerInteraction(id);
    else this.#session.answerPermission(id, { decision: "deny", message: "Nobody who may allow it is connected" });
  }

  #isOpen(question: Question): boolean {
    return question.type === "interaction.requested" || this.#session.openPermission(question) !== undefined;
  }

  #forget(id: string): void {
    clearTimeout(this.#open.get(id)?.timer);
    this.#open.delete(id);
  }
}
