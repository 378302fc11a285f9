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
  #written: Outcome<unknown> | undefined;

  constructor(session: InteractiveSession<unknown>, target: TurnTarget) {
    this.#session = session;
    this.#target = target;
  }

  /** How the last turn went. `written`: resolves when all that has happened is written. */
  async finish(written: () => Promise<void>): Promise<Outcome<unknown> | undefined> {
    const { stopped, cancelled } = await this.#session.finishBackgroundTasks(this.#target.ceilings);
    await written();
    const last = this.#last;
    if (this.#held !== "") this.#target.output.write(this.#held);
    if (cancelled) return { type: "cancelled", cause: cancelled, text: last?.text ?? "", ...answerIn(last) };
    // What was stopped is told in a result: the last one again, with what has happened since.
    if (stopped.length > 0) this.#written = undefined;
    return last;
  }

  isWritten(outcome: Outcome<unknown>): boolean {
    return this.#target.eachTurn === true && outcome === this.#written;
  }

  /** The prompt's own turn, or one that a task began. */
  async ended(outcome: Outcome<unknown>): Promise<void> {
    const { format, output, judge, eachTurn } = this.#target;
    this.#last = outcome;
    if (!eachTurn) return;
    const text = await format.end(this.#session.shown(judge?.(outcome) ?? outcome));
    this.#written = outcome;
    this.#held += text;
    const isAgentAtWork = this.#session
      .listBackgroundTasks({ kind: "agent" })
      .some(({ completedAt }) => completedAt === undefined);
    if (isAgentAtWork) return;
    output.write(this.#held);
    this.#held = "";
  }
}

/** Whoever does not want to wait for tasks has an answer all the same. */
function answerIn(last: Outcome<unknown> | undefined): Pick<Outcome & { type: "cancelled" }, "answered"> {
  if (last?.type !== "completed") return {};
  return { answered: last.structured === undefined ? {} : { structured: last.structured as JsonValue } }; // as the model gave it
}
