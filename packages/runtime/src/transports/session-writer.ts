import type { UserMessage } from "../protocol/content.ts";
import { RuntimeError, toRuntimeError } from "../protocol/errors.ts";
import type { AgentEvent } from "../protocol/events.ts";
import type { Outcome } from "../protocol/outcome.ts";
import type { InteractiveSession } from "../session/interactive-session.ts";
import { randomUuid } from "../util/unique-ids.ts";

type WrittenSession = Pick<InteractiveSession<unknown>, "events" | "submit" | "hasTurn" | "lastSeq">;

/**
 * The one way from a session to an output, whatever the output is: it hands over every event in order, from its making on, and knows when all
 * of a prompt is written. The session waits for a slow output.
 */
export class SessionWriter {
  /** Resolves when nothing more comes, with what kept it from reading on, if anything did. */
  readonly over: Promise<RuntimeError | undefined>;
  readonly #session: WrittenSession;
  readonly #events: AsyncIterator<AgentEvent>;
  readonly #onWritten = new Map<string, () => void>();
  readonly #onEvent = new Set<() => void>();
  #seq = 0;

  /** Listens from here on. `write` is waited for before the next event is handed over. */
  constructor(session: WrittenSession, write: (event: AgentEvent) => void | Promise<void>) {
    this.#session = session;
    this.#events = session.events({ whenFull: "wait", capacity: 256 })[Symbol.asyncIterator]();
    this.over = this.#follow(write);
  }

  /** One prompt to its end: everything of it is written then. Never rejects; what could not be written has not completed. */
  async run(prompt: string | UserMessage): Promise<Outcome<unknown>> {
    const id = randomUuid();
    const written = new Promise<undefined>((resolve) => this.#onWritten.set(id, () => resolve(undefined)));
    const outcome = await this.#session.submit(prompt, { id }).catch(toFailure);
    // A turn that could not be recorded has no last event: the stream ends with it.
    const problem = this.#session.hasTurn(id) ? await Promise.race([written, this.#ended()]) : undefined;
    this.#onWritten.delete(id);
    return problem && outcome.type === "completed" ? { ...toFailure(problem), text: outcome.text } : outcome;
  }

  /** Resolves when all that has happened so far is written. */
  async caughtUp(): Promise<void> {
    const { lastSeq } = this.#session;
    while (this.#seq < lastSeq) {
      const next = new Promise<undefined>((resolve) => this.#onEvent.add(() => resolve(undefined)));
      if (await Promise.race([next, this.#ended()])) return;
    }
  }

  /** Reads no more. */
  close(): void {
    void this.#events.return?.();
  }

  #tellAll(): void {
    for (const resolve of this.#onEvent) resolve();
    this.#onEvent.clear();
  }

  async #ended(): Promise<RuntimeError> {
    return (await this.over) ?? new RuntimeError("internal", "The event stream ended before the turn did");
  }

  async #follow(write: (event: AgentEvent) => void | Promise<void>): Promise<RuntimeError | undefined> {
    try {
      for (let next = await this.#events.next(); !next.done; next = await this.#events.next()) {
        const event = next.value;
        const writing = write(event);
        if (writing) await writing; // most of thousands of deltas are written by now
        this.#seq = event.seq;
        if (this.#onEvent.size > 0) this.#tellAll();
        if (event.type === "turn.ended" && event.taskId === undefined) this.#onWritten.get(event.turnId ?? "")?.();
      }
      return undefined;
    } catch (error) {
      return toRuntimeError(error);
    }
  }
}

export function toFailure(error: unknown): Outcome & { type: "failed" } {
  return { type: "failed", error: toRuntimeError(error).toJSON(), text: "" };
}
