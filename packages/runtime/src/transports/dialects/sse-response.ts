import { type ErrorCode, toRuntimeError } from "../../protocol/errors.ts";
import { HttpProblem, toProblem } from "../http/problem.ts";
import type { DialectTurn } from "./run-turn.ts";
import type { Piece } from "./turn-pieces.ts";

export type StreamOptions = {
  readonly headers?: Readonly<Record<string, string>>;
  /** What stands in the last line. */
  readonly last?: string;
  /** Each event has its type as its name, too. */
  readonly isNamed?: boolean;
};

/** The pieces of a turn as server-sent events, made when they are asked for. A client that leaves ends the turn. */
export function stream(turn: DialectTurn, encode: (piece: Piece) => readonly object[], options: StreamOptions): Response {
  return streamEvents(encodeAll(turn.pieces, encode), { ...options, cancel: turn.cancel });
}

async function* encodeAll(pieces: AsyncIterable<Piece>, encode: (piece: Piece) => readonly object[]): AsyncGenerator<object> {
  for await (const piece of pieces) yield* encode(piece);
}

/** Any events; `cancel` hears that the client has left before their end. */
export function streamEvents(
  source: AsyncIterable<object> | Iterable<object>,
  options: StreamOptions & { readonly cancel: () => void },
): Response {
  const events = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
  const bytes = new TextEncoder();
  const toLines = (event: object): string => {
    const name = options.isNamed && "type" in event ? `event: ${String(event.type)}\n` : "";
    return `${name}data: ${JSON.stringify(event)}\n\n`;
  };
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await events.next();
      if (!done) return controller.enqueue(bytes.encode(toLines(value)));
      if (options.last !== undefined) controller.enqueue(bytes.encode(`data: ${options.last}\n\n`));
      controller.close();
    },
    async cancel() {
      options.cancel();
      for (let next = await events.next(); !next.done; ) next = await events.next(); // to its end, which releases the session
    },
  });
  const headers = { "content-type": "text/event-stream", "cache-control": "no-cache", "x-accel-buffering": "no" };
  return new Response(body, { headers: { ...headers, ...options.headers } });
}

export function json(
  value: unknown,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): Response {
  return new Response(JSON.stringify(value), { status, headers: { "content-type": "application/json", ...headers } });
}

const statuses: Partial<Record<ErrorCode, number>> = {
  ...{ usage: 400, config: 400, "no-input": 400, "not-found": 404, busy: 409, "session-locked": 409, "limit-reached": 429 },
  ...{ closed: 503, "context-overflow": 400, "storage-failed": 507, "provider-timeout": 504 },
};

type Failure = { readonly code: string; readonly message: string; readonly status: number };

function toFailure(thrown: unknown): Failure {
  const { code, message } = toRuntimeError(thrown);
  return { code, message, status: statuses[code] ?? (/^(?:provider|model|output)-/.test(code) ? 502 : 500) };
}

/** The server's own no, such as to a token that may not. */
function toRefusal(thrown: HttpProblem): Failure {
  return { code: thrown.code, message: thrown.message, status: toProblem(thrown).status };
}

/** As clients of these interfaces read it. */
export function problem(thrown: unknown, more: Readonly<Record<string, string>> = {}): Response {
  const { code, message, status } = thrown instanceof HttpProblem ? toRefusal(thrown) : toFailure(thrown);
  const type = status < 500 ? "invalid_request_error" : "server_error";
  const headers = { ...more, ...((status === 429 || status === 503) && { "retry-after": status === 429 ? "1" : "5" }) };
  return json({ error: { message, code, type, param: null } }, { status, headers });
}
