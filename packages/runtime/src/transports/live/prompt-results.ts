import type { Outcome } from "../../protocol/outcome.ts";
import type { OutputFormat, ShownOutcome } from "../headless/output-format.ts";
import type { LiveOptions } from "./live-options.ts";
import type { LivePrompt } from "./live-prompts.ts";

type PromptResultsOptions = Pick<LiveOptions, "early" | "output"> & {
  /** The session's, or the one for the time before there is a session. */
  readonly format: () => Promise<OutputFormat>;
  readonly shown: (outcome: Outcome) => ShownOutcome;
};

type Named = Pick<LivePrompt, "uuid">;

/** Writes the results of messages, one for each. */
export class PromptResults {
  readonly #options: PromptResultsOptions;
  #told: Named | undefined;
  /** How the last message went that has its result. */
  last: ShownOutcome | undefined;

  constructor(options: PromptResultsOptions) {
    this.#options = options;
  }

  /** The message whose result is written right now, when that is not the turn's. */
  get told(): Named | undefined {
    return this.#told;
  }

  async write(outcome: Outcome, prompt?: Named): Promise<void> {
    const { output, format, shown } = this.#options;
    output.write(await this.#encode(await format(), shown(outcome), prompt));
    await output.drain();
  }

  /** The result of a message that had no turn: nothing of another turn is in it. `then` is told before it is drained. */
  async writeNotRun(ending: Outcome, uuid: string | undefined, then?: () => void): Promise<void> {
    const { early, output, shown } = this.#options;
    const outcome = shown(ending);
    this.last = outcome;
    output.write(await this.#encode(early, outcome, { uuid }));
    then?.();
    await output.drain();
  }

  /** Encoders look at once whose result it is, before they wait for anything. */
  #encode(format: OutputFormat, outcome: ShownOutcome, prompt: Named | undefined): Promise<string> {
    this.#told = prompt;
    const text = format.end(outcome);
    this.#told = undefined;
    return text;
  }
}
