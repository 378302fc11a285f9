import type { HeldSession } from "../../hosting/session-host.ts";
import type { UserMessage } from "../../protocol/content.ts";
import { type AgentEvent, isEphemeral } from "../../protocol/events.ts";
import { type Piece, TurnPieces } from "./turn-pieces.ts";

export type DialectTurn = {
  readonly sessionId: string;
  readonly turnId: string;
  readonly held: HeldSession;
  /** To be read once, to the end of the turn or as far as somebody wants. */
  readonly pieces: AsyncIterable<Piece>;
  /** Whoever asked is gone: the turn ends, or never begins. The turns of others go on. */
  cancel(): void;
  /** The session stays held when no more pieces are read: the turn is gone on with later, by the one that is answered here. */
  leave(): LeftTurn;
};

/** A turn that goes on while nobody reads it. */
export type LeftTurn = {
  readonly held: HeldSession;
  /** What has happened since then, and what happens. */
  rejoin(signal?: AbortSignal): DialectTurn;
};

/**
 * Gives a session a prompt and answers the pieces of its turn; the session is released when that has ended. Rejects when it was not accepted.
 * The signal is that of whoever asked.
 */
export async function runTurn(held: HeldSession, message: UserMessage, signal?: AbortSignal): Promise<DialectTurn> {
  const leaving = new AbortController();
  const events = held.session.events({ signal: leaving.signal, whenFull: "wait" });
  try {
    const { id: turnId } = await held.session.accept(message);
    return readTurn(held, { turn: new TurnPieces(turnId), turnId, events, leaving, signal });
  } catch (error) {
    leaving.abort();
    held.release();
    throw error;
  }
}

type Reading = {
  readonly turn: TurnPieces;
  readonly turnId: string;
  readonly events: AsyncIterable<AgentEvent>;
  readonly leaving: AbortController;
  readonly signal: AbortSignal | undefined;
};

function readTurn(held: HeldSession, { turn, turnId, events, leaving, signal }: Reading): DialectTurn {
  let seen = held.session.lastSeq;
  let isLeft = false;
  const cancel = (): void => void held.session.withdraw(turnId).catch(() => {}); // a store that failed is told to whoever reads
  signal?.addEventListener("abort", cancel, { once: true });
  if (signal?.aborted) cancel();
  const rejoin = (by: AbortSignal | undefined): DialectTurn => {
    const again = new AbortController();
    const since = held.session.events({ after: seen, signal: again.signal, whenFull: "wait" });
    return readTurn(held, { turn, turnId, events: since, leaving: again, signal: by });
  };
  return {
    ...{ sessionId: held.id, turnId, held, pieces: read(), cancel },
    leave() {
      isLeft = true;
      return { held, rejoin };
    },
  };

  async function* read(): AsyncGenerator<Piece> {
    try {
      for await (const event of events) {
        if (!isEphemeral(event.type)) seen = event.seq;
        for (const piece of turn.of(event)) {
          yield piece;
          if (piece.type === "turn-end") return;
        }
      }
    } finally {
      signal?.removeEventListener("abort", cancel);
      leaving.abort();
      if (!isLeft) held.release();
    }
  }
}
