import { HttpProblem } from "../problem.ts";
import type { Exchange, Route } from "../route.ts";
import * as schemas from "../schemas.ts";
import { filterOf, wantedTypes } from "./event-filter.ts";
import { sessionView } from "./session-view.ts";

/** What happens, as it happens. */
export const watchRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/v1/sessions/{id}/events",
    operationId: "watchSession",
    summary: "What happens in a session, as server-sent events; after a position, first what is stored since then",
    scope: "view",
    query: [
      {
        name: "after",
        schema: { type: "integer", minimum: 0 },
        description: "The last event that is known; Last-Event-ID says the same. From now on when both are absent.",
      },
      wantedTypes,
      { name: "deltas", schema: { enum: ["true", "false"] }, description: "false: only what is stored." },
    ],
    answers: {
      200: { description: "Events without end. Those with an id are stored", mediaType: "text/event-stream" },
    },
    async handle(exchange) {
      const {
        sessions,
        client,
        params: { id = "" },
      } = exchange;
      const after = positionOf(exchange);
      const isWanted = filterOf(exchange.query);
      await sessions.look(client, id); // refused before the stream begins
      const stream = exchange.openStream();
      await sessions.watch(client, id, {
        after,
        signal: stream.left,
        watcher: {
          tell: (told) => (isWanted?.(told.event) === false ? undefined : stream.tell(told)),
          tellAll: (batch) => {
            if (!isWanted) return stream.tellAll(batch);
            for (const told of batch.all) if (isWanted(told.event)) void stream.tell(told);
          },
          resync: async () => {
            const session = await sessionView(sessions, client, id);
            stream.say({ type: "resync", sessionId: id, session, messages: await sessions.messages(client, id) });
            return Number(session["storedSeq"]);
          },
          end: (reason) => stream.end(reason),
        },
      });
      return undefined;
    },
  },
  {
    method: "GET",
    path: "/v1/ws",
    operationId: "openSocket",
    summary: "A WebSocket that carries any number of sessions, in the messages of docs/ws.md",
    scope: "view",
    answers: {
      101: { description: "Messages in both directions. The token may also come as the subprotocol outrider.token.TOKEN" },
      426: { description: "The request did not ask for a WebSocket", schema: schemas.problem },
    },
    async handle() {
      throw new HttpProblem("upgrade-required", "This address is a WebSocket", {
        headers: { upgrade: "websocket", connection: "upgrade" },
      });
    },
  },
];

function positionOf({ query, request }: Exchange): number | undefined {
  const header = request.headers["last-event-id"];
  const given = (Array.isArray(header) ? header[0] : header) ?? query.get("after") ?? undefined; // a browser that comes back knows better
  if (given === undefined) return undefined;
  const position = Number(given);
  if (!/^\d+$/.test(given) || !Number.isSafeInteger(position))
    throw new HttpProblem("bad-request", "A position is the number of an event");
  return position;
}
