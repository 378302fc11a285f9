import type { JsonValue, Message } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { checkOptions, checkValue, text as words } from "../protocol/kinds.ts";
import type { AgentEvent } from "../protocol/events.ts";
import type { Outcome } from "../protocol/outcome.ts";
import { outcomeError, type SessionEvents } from "../session/session-view.ts";
import { checkQueryOptions } from "./check-options.ts";
import { askKinds } from "./option-kinds.ts";
import { InteractiveSession, type InteractiveSessionOptions } from "./interactive-session.ts";

export type QueryOptions<Structured = JsonValue> = Omit<InteractiveSessionOptions<Structured>, "cwd"> & {
  /** The process's own when absent. */
  readonly cwd?: string | undefined;
  readonly onTextDelta?: ((delta: string) => void) | undefined;
  /** Told when older messages gave way to a summary. */
  readonly onCompact?: SessionEvents["compact"] | undefined;
};

export type AskOptions = {
  /** Interrupts the query. */
  readonly signal?: AbortSignal | undefined;
};

/** How a query went, whatever came of it. */
export type QueryResult<Structured = JsonValue> = {
  readonly outcome: Outcome<Structured>;
  readonly sessionId: string;
  readonly messages: readonly Message[];
  /** Of the whole conversation. */
  readonly usage: AgentEvent<"turn.ended">["usage"] | undefined;
  readonly durationMs: number;
};

/** Asks; each call is a session of its own. */
export interface Query<Structured = JsonValue> {
  /** The answer; anything but a complete one rejects. */
  (prompt: string, options?: AskOptions): Promise<string>;
  /** The same. */
  text(prompt: string, options?: AskOptions): Promise<string>;
  /** All there is to know; a session that cannot be opened has failed. */
  result(prompt: string, options?: AskOptions): Promise<QueryResult<Structured>>;
}

/** A prompt in, the answer out. */
export function createQuery<Structured = JsonValue>(options: QueryOptions<Structured>): Query<Structured> {
  checkQueryOptions(options);
  const result: Query<Structured>["result"] = async (prompt, asked = {}) => {
    checkValue("prompt", prompt, words);
    checkOptions("query", asked, askKinds);
    return await ask(options, { prompt, signal: asked.signal });
  };
  const text: Query["text"] = async (prompt, asked) => toText((await result(prompt, asked)).outcome, asked?.signal);
  return Object.assign((prompt: string, asked?: AskOptions) => text(prompt, asked), { text, result });
}

async function ask<Structured>(
  { onTextDelta, onCompact, ...options }: QueryOptions<Structured>,
  { prompt, signal }: { readonly prompt: string; readonly signal: AbortSignal | undefined },
): Promise<QueryResult<Structured>> {
  const session = new InteractiveSession({ ...options, cwd: options.cwd ?? process.cwd() });
  if (onCompact) session.on("compact", onCompact);
  if (onTextDelta) session.on("text_delta", onTextDelta);
  const stop = (): void => session.abort();
  if (signal?.aborted)
    return {
      outcome: { type: "cancelled", cause: "abort", text: "" },
      sessionId: session.id,
      messages: [],
      usage: undefined,
      durationMs: 0,
    };
  try {
    const ending = lastTurn(session.events({ types: ["turn.ended"], tasks: false }));
    signal?.addEventListener("abort", stop, { once: true });
    const outcome = await session.submit(prompt);
    const { usage, durationMs = 0 } = (await ending) ?? {};
    return { outcome, sessionId: session.id, messages: session.getMessages(), usage, durationMs };
  } finally {
    signal?.removeEventListener("abort", stop);
    await session.shutdown({ reason: "other" });
  }
}

async function lastTurn(ends: AsyncIterable<AgentEvent<"turn.ended">>): Promise<AgentEvent<"turn.ended"> | undefined> {
  try {
    for await (const end of ends) return end;
  } catch {
    // The outcome says what became of the session.
  }
  return undefined;
}

function toText(outcome: Outcome<unknown>, signal: AbortSignal | undefined): string {
  if (outcome.type === "completed") return outcome.text;
  if (outcome.type === "cancelled") throw new RuntimeError("closed", "The query was interrupted", { cause: signal?.reason });
  throw outcomeError(outcome);
}
