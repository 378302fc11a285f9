import type { JsonValue } from "../../protocol/content.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import type { InteractiveSession } from "../../session/interactive-session.ts";
import type { WorkCeilings } from "../../session/tasks/finish-work.ts";
import type { LineOutput } from "./line-output.ts";
import type { OutputFormat } from "./output-format.ts";

export type TurnTarget = {
  readonly format: OutputFormat;
  readonly output: LineOutput;
  judge?(outcome: Outcome<unknown>): Outcome<unknown>;
  readonly eachTurn?: boolean | undefined;
  readonly ceilings?: WorkCeilings | undefined;
};

/** A run whose prompt is answered while tasks still work: it goes on until they have ended and the model has heard of them, or a ceiling is reached. */
export class TaskTurns {
  readonly #session: InteractiveSession<unknown>;
  readonly #target: TurnTarget;
  /** Results that are not to be written while an agent works: whoever reads one may take it for the last. */
  #held = "";
  #last: Outcome<unknown> | undefined;
  /** The last turn's result is still to be made: what happens until then belongs into it. */
  #isOpen = false;

  constructor(session: InteractiveSession<unknown>, target: TurnTarget) {
    this.#session = session;
    this.#target = target;
  }

  /** How the last turn went, as its result says or is to say. `written`: resolves when all that has happened is written. */
  async finish(written: () => Promise<void>): Promise<Outcome<unknown> | undefined> {
    const { cancelled } = await this.#session.finishBackgroundTasks(this.#target.ceilings);
    await written();
    if (this.#held !== "") this.#target.output.write(this.#held);
    const last = this.#last;
    // A result that is written already stays the only one of its turn; what was stopped since has a warning of its own.
    if (!cancelled || this.isWritten || last?.type !== "completed") return last;
    return { type: "cancelled", cause: cancelled, text: last.text, ...answerIn(last) };
  }

  /** The last turn has its result. */
  get isWritten(): boolean {
    return this.#target.eachTurn === true && !this.#isOpen;
  }

  /** The next turn, before anything of it is told. */
  async begins(): Promise<void> {
    if (this.#isOpen) await this.#end();
  }

  /** The prompt's own turn, or one that a task began. */
  async ended(outcome: Outcome<unknown>): Promise<void> {
    this.#last = outcome;
    if (!this.#target.eachTurn) return;
    this.#isOpen = true;
    const isAgentAtWork = this.#session
      .listBackgroundTasks({ kind: "agent" })
      .some(({ completedAt }) => completedAt === undefined);
    if (isAgentAtWork) return;
    await this.#end();
    this.#target.output.write(this.#held);
    this.#held = "";
  }

  async #end(): Promise<void> {
    const { format, judge } = this.#target;
    const outcome = this.#last;
    this.#isOpen = false;
    if (outcome) this.#held += await format.end(this.#session.shown(judge?.(outcome) ?? outcome));
  }
}

/** Whoever does not want to wait for tasks has an answer all the same. */
function answerIn(last: Outcome<unknown> & { type: "completed" }): Pick<Outcome & { type: "cancelled" }, "answered"> {
  return { answered: last.structured === undefined ? {} : { structured: last.structured as JsonValue } }; // as the model gave it
}
