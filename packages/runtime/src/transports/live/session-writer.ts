import type { AgentEvent } from "../../protocol/events.ts";
import { type RuntimeError, toRuntimeError } from "../../protocol/errors.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import type { UserMessage } from "../../protocol/content.ts";
import type { InteractiveSession } from "../../session/interactive-session.ts";
import type { LineOutput } from "../headless/line-output.ts";
import type { OutputFormat, ShownOutcome } from "../headless/output-format.ts";

export type WriterOptions = {
  readonly session: InteractiveSession;
  readonly format: OutputFormat;
  readonly output: LineOutput;
  /** After the first words on a turn, and before any other. */
  readonly onTurnStarted: () => void;
  /** Before the last words on it. */
  readonly onTurnEnded: () => void;
  /** Beside the output, such as a file in another layout. Must not throw. */
  readonly alsoTo?: ((event: AgentEvent) => void) | undefined;
};

/** The one reader of a session that writes: from its opening to its end, so that what happens between two prompts is not lost. */
export class SessionWriter {
  readonly #options: WriterOptions;
  readonly #over: Promise<RuntimeError | undefined>;
  #turnWritten: () => void = () => {};
  #stopped = false;

  constructor(options: WriterOptions) {
    this.#options = options;
    const { session, output } = options;
    this.#over = this.#write(session.events({ whenFull: "wait", capacity: 256 }));
    output.onClosed(() => session.abort("output-closed"));
  }

  /** One prompt to its end; the end is written exactly once. Never rejects. */
  async run(prompt: UserMessage, id: string): Promise<ShownOutcome> {
    const { session, format, output } = this.#options;
    const written = new Promise<undefined>((resolve) => {
      this.#turnWritten = () => resolve(undefined);
    });
    const outcome = await session
      .submit(prompt, { id })
      .catch((error: unknown): Outcome => ({ type: "failed", error: toRuntimeError(error).toJSON(), text: "" }));
    // A turn that could not be recorded has no last event: the stream ends with it.
    const problem = await Promise.race([written, this.#over]);
    const told: Outcome =
      problem && outcome.type === "completed" ? { type: "failed", error: problem.toJSON(), text: outcome.text } : outcome;
    const honest = session.shown(format.judge?.(told) ?? told);
    output.write(await format.end(honest));
    await output.drain();
    return output.closed && honest.type === "completed"
      ? session.shown({ type: "cancelled", cause: "output-closed", text: honest.text })
      : honest;
  }

  /** The last words are said: what the session still tells while it is shut down is not for the output. */
  stop(): void {
    this.#stopped = true;
  }

  /** Answers what kept it from reading on, if anything did. */
  async #write(events: AsyncIterable<AgentEvent>): Promise<RuntimeError | undefined> {
    const { format, output, alsoTo, onTurnStarted, onTurnEnded } = this.#options;
    try {
      for await (const event of events) {
        if (event.type === "turn.ended") onTurnEnded();
        alsoTo?.(event);
        const text = format.event(event);
        if (text && !this.#stopped) output.write(text);
        if (event.type === "turn.started") onTurnStarted();
        if (output.full) await output.drain();
        if (event.type === "turn.ended") this.#turnWritten();
      }
      return undefined;
    } catch (error) {
      return toRuntimeError(error);
    }
  }
}
