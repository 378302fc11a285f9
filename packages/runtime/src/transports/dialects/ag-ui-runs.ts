import type { PermissionRequest } from "../../session/session-view.ts";
import { AgUiEvents, type AgUiRequest, decodeAgUiRequest } from "./ag-ui.ts";
import { toInterrupt, toPermissionAnswers } from "./ag-ui-interrupts.ts";
import { type DialectTurn, type LeftTurn, runTurn } from "./run-turn.ts";
import type { DialectHost } from "./serve-dialects.ts";
import { streamEvents } from "./sse-response.ts";

/** A run that has ended with questions, while its turn waits for the answers. */
type Paused = {
  readonly turn: LeftTurn;
  readonly questions: readonly PermissionRequest[];
  /** The client is not waited for any more. */
  readonly leave: () => void;
};

/** How long a turn waits for a client that was asked something; after that it is as if nobody were there. */
const patienceMs = 10 * 60_000;

/** The runs of AG-UI's clients. A run that has to ask ends, and the next run of its thread brings the answers. */
export class AgUiRuns {
  readonly #now: () => number;
  readonly #paused = new Map<string, Paused>();

  constructor(now: () => number) {
    this.#now = now;
  }

  async answer(host: DialectHost, body: unknown, signal: AbortSignal): Promise<Response> {
    const wanted = decodeAgUiRequest(body);
    const events = new AgUiEvents(wanted);
    const paused = this.#paused.get(wanted.threadId);
    if (!paused) {
      if (wanted.resume) return refuse(events, "Nothing waits for these answers any more");
    } else if (wanted.resume || openOf(paused).length > 0) {
      const turn = this.#goOn(paused, wanted, signal);
      if (!turn) return refuse(events, "There must be one answer for each open interrupt, in the form that it asks for");
      return streamEvents(this.#tell(turn, { events, host, signal }), { cancel: turn.cancel });
    } else this.#forget(wanted.threadId, paused); // somebody else has answered, and the client begins anew
    const turn = await begin(host, wanted, signal);
    return streamEvents(this.#tell(turn, { events, host, signal }), { cancel: turn.cancel });
  }

  /** Undefined where the answers are not those that were asked for: nothing has happened then. What somebody else has answered needs none. */
  #goOn(paused: Paused, { threadId, resume = [] }: AgUiRequest, signal: AbortSignal): DialectTurn | undefined {
    const answers = toPermissionAnswers(openOf(paused), resume);
    if (!answers) return undefined;
    const turn = paused.turn.rejoin(signal);
    this.#paused.delete(threadId);
    paused.leave();
    for (const [requestId, answer] of answers) turn.held.session.answerPermission(requestId, answer);
    return turn;
  }

  async *#tell(turn: DialectTurn, { events, host, signal }: Telling): AsyncGenerator<object> {
    let goAway = host.answers?.attend(turn.sessionId);
    try {
      yield events.start();
      for await (const piece of turn.pieces) {
        if (piece.type !== "asked") {
          yield* events.of(piece);
          continue;
        }
        const questions = goAway && !signal.aborted ? turn.held.session.openPermissions() : [];
        if (questions.length === 0) continue;
        if (goAway) this.#pause(events.threadId, { turn: turn.leave(), questions, goAway });
        goAway = undefined; // it stays until the answers come
        const expiresAt = new Date(this.#now() + patienceMs).toISOString();
        yield events.interrupted(questions.map((question) => toInterrupt(question, expiresAt)));
        return;
      }
    } finally {
      goAway?.();
    }
  }

  /** The client counts as somebody who answers until its questions are answered or its time is over. */
  #pause(threadId: string, { turn, questions, goAway }: Pausing): void {
    const over = new AbortController();
    const leave = (): void => {
      over.abort();
      clearTimeout(patience);
      goAway();
    };
    const paused: Paused = { turn, questions, leave };
    const patience = setTimeout(() => this.#forget(threadId, paused), patienceMs);
    patience.unref();
    this.#paused.set(threadId, paused);
    const resolved = turn.held.session.events({ types: ["permission.resolved"], signal: over.signal });
    void untilAnswered(paused, resolved).finally(goAway);
  }

  #forget(threadId: string, paused: Paused): void {
    if (this.#paused.get(threadId) === paused) this.#paused.delete(threadId);
    paused.leave();
    paused.turn.held.release();
  }
}

/** Its questions that nobody has answered yet. */
function openOf({ turn, questions }: Paused): PermissionRequest[] {
  const open = new Set(turn.held.session.openPermissions().map(({ requestId }) => requestId));
  return questions.filter(({ requestId }) => open.has(requestId));
}

/** Never rejects. */
async function untilAnswered(paused: Paused, resolved: AsyncIterable<unknown>): Promise<void> {
  try {
    for await (const _ of resolved) if (openOf(paused).length === 0) return;
  } catch {
    // Whoever reads the turn is told.
  }
}

type Telling = { readonly events: AgUiEvents; readonly host: DialectHost; readonly signal: AbortSignal };
type Pausing = {
  readonly turn: LeftTurn;
  readonly questions: readonly PermissionRequest[];
  readonly goAway: () => void;
};

async function begin(host: DialectHost, { threadId, toMessage }: AgUiRequest, signal: AbortSignal): Promise<DialectTurn> {
  const held = await host.open({ sessionId: threadId });
  try {
    return await runTurn(held, toMessage(held.session.getMessages().length > 0), signal);
  } catch (error) {
    held.release();
    throw error;
  }
}

function refuse(events: AgUiEvents, message: string): Response {
  return streamEvents([events.failed({ code: "usage", message })], { cancel: () => {} });
}
