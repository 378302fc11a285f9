import type { HeldSession } from "../../hosting/session-host.ts";
import type { UserMessage } from "../../protocol/content.ts";
import { type Piece, TurnPieces } from "./turn-pieces.ts";

export type DialectTurn = {
  readonly sessionId: string;
  readonly turnId: string;
  readonly pieces: AsyncIterable<Piece>;
  /** Whoever asked is gone: the turn ends, or never begins. The turns of others go on. */
  cancel(): void;
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
    signal?.addEventListener("abort", cancel, { once: true });
    if (signal?.aborted) cancel();
    return { sessionId: held.id, turnId, pieces: read(), cancel };

    function cancel(): void {
      void held.session.withdraw(turnId).catch(() => {}); // a store that failed is told to whoever reads
    }

    async function* read(): AsyncGenerator<Piece> {
      const turn = new TurnPieces(turnId);
      try {
        for await (const event of events)
          for (const piece of turn.of(event)) {
            yield piece;
            if (piece.type === "turn-end") return;
          }
      } finally {
        signal?.removeEventListener("abort", cancel);
        leaving.abort();
        held.release();
      }
    }
  } catch (error) {
    leaving.abort();
    held.release();
    throw error;
  }
}
