import type { HeldSession } from "../../../hosting/session-host.ts";
import { RuntimeError } from "../../../protocol/errors.ts";
import type { JsonObject } from "../../../protocol/content.ts";
import { randomUuid } from "../../../util/unique-ids.ts";
import type { Answer, Exchange, Route } from "../route.ts";
import * as schemas from "../schemas.ts";
import type { SessionWish } from "../session-wish.ts";
import { sessionView } from "./session-view.ts";

/** Sessions: begin, find, look at, name, copy, remove. */
export const sessionRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/v1/sessions",
    operationId: "createSession",
    summary: "Begins a session",
    scope: "drive",
    body: schemas.sessionWish,
    isBodyOptional: true,
    keyed: ({ body }) => ({ place: ["session"], what: body ?? {} }),
    answers: {
      201: { description: "It is open", schema: schemas.session },
      200: { description: "The key was given before: that session", schema: schemas.session },
    },
    async handle(exchange) {
      const { sessions, client, body, key } = exchange;
      const wish = (body ?? {}) as SessionWish; // it fits the schema
      const id = key === undefined ? randomUuid() : idOfKey(["session", client.name, key]);
      return await begun(exchange, await sessions.create(client, wish, id));
    },
  },
  {
    method: "GET",
    path: "/v1/sessions",
    operationId: "listSessions",
    summary: "The sessions of this token, the latest first",
    scope: "view",
    query: [
      { name: "limit", schema: { type: "integer", minimum: 1, maximum: 1000 }, description: "How many; 100 when absent." },
      { name: "before", schema: schemas.text, description: "Those after this id in the list: where the last page ended." },
    ],
    answers: {
      200: {
        description: "A page",
        schema: {
          title: "SessionPage",
          type: "object",
          properties: { sessions: schemas.list(schemas.sessionSummary), next: { type: "string" } },
          required: ["sessions"],
        },
      },
    },
    async handle({ sessions, client, query }) {
      const limit = Number(query.get("limit") ?? 100);
      const all = await sessions.list(client);
      const before = query.get("before");
      const start = before === null ? 0 : all.findIndex(({ id }) => id === before) + 1;
      if (before !== null && start === 0)
        throw new RuntimeError("not-found", `There is no session ${before}: begin with the first page`);
      const page = all.slice(start, start + limit);
      const last = page.at(-1);
      const hasMore = last !== undefined && start + limit < all.length;
      return { status: 200, body: { sessions: page.map(({ bytes: _, ...shown }) => shown), ...(hasMore && { next: last.id }) } };
    },
  },
  {
    method: "GET",
    path: "/v1/sessions/{id}",
    operationId: "getSession",
    summary: "A session as it is now; one that is not open stays so",
    scope: "view",
    answers: { 200: { description: "The session", schema: schemas.session } },
    async handle({ sessions, client, params }) {
      return { status: 200, body: await sessionView(sessions, client, params["id"] ?? "") };
    },
  },
  {
    method: "PATCH",
    path: "/v1/sessions/{id}",
    operationId: "renameSession",
    summary: "Gives a session a name",
    scope: "drive",
    body: schemas.rename,
    answers: { 200: { description: "The session", schema: schemas.session } },
    async handle({ sessions, client, params: { id = "" }, body }) {
      await sessions.rename(client, id, (body as { name: string }).name); // it fits the schema
      return { status: 200, body: await sessionView(sessions, client, id) };
    },
  },
  {
    method: "DELETE",
    path: "/v1/sessions/{id}",
    operationId: "deleteSession",
    summary: "Ends a session and removes it from the store",
    scope: "drive",
    answers: { 204: { description: "It is gone" } },
    async handle({ sessions, client, params }) {
      await sessions.remove(client, params["id"] ?? "");
      return { status: 204 };
    },
  },
  {
    method: "POST",
    path: "/v1/sessions/{id}/fork",
    operationId: "forkSession",
    summary: "A copy that goes on by itself",
    scope: "drive",
    body: schemas.forkWish,
    isBodyOptional: true,
    keyed: ({ params: { id = "" }, body }) => ({ place: ["fork", id], what: body ?? {} }),
    answers: {
      201: { description: "The copy", schema: schemas.session },
      200: { description: "The key was given before: that copy", schema: schemas.session },
    },
    async handle(exchange) {
      const { sessions, client, body, key, params } = exchange;
      const from = params["id"] ?? "";
      const { at, name } = (body ?? {}) as { at?: number; name?: string }; // it fits the schema
      const id = key === undefined ? randomUuid() : idOfKey(["fork", client.name, from, key]);
      return await begun(exchange, await sessions.fork(client, from, { id, at, name }));
    },
  },
  {
    method: "GET",
    path: "/v1/sessions/{id}/messages",
    operationId: "listMessages",
    summary: "The conversation as the model sees it",
    scope: "view",
    answers: {
      200: {
        description: "All messages",
        schema: {
          title: "Messages",
          type: "object",
          properties: { messages: schemas.list(schemas.message) },
          required: ["messages"],
        },
      },
    },
    async handle({ sessions, client, params }) {
      return { status: 200, body: { messages: await sessions.messages(client, params["id"] ?? "") } };
    },
  },
];

/** Nobody holds it by that: it stays open until it has been idle. */
async function begun(exchange: Exchange, { held, isNew }: { held: HeldSession; isNew: boolean }): Promise<Answer> {
  const { sessions, client } = exchange;
  try {
    const body: JsonObject = await sessionView(sessions, client, held.id);
    return { status: isNew ? 201 : 200, body, headers: { location: `/v1/sessions/${held.id}` } };
  } finally {
    held.release();
  }
}

/** The same key is the same session, in every process of this server to come. */
function idOfKey(parts: readonly string[]): string {
  const digest = process.getBuiltinModule("node:crypto").createHash("sha256").update(JSON.stringify(parts)).digest("hex");
  const variant = ((Number.parseInt(digest.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `8${digest.slice(13, 16)}`,
    variant + digest.slice(17, 20),
    digest.slice(20, 32),
  ].join("-");
}
