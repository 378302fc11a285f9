import { randomUuid } from "../../../util/unique-ids.ts";
import { HttpProblem } from "../problem.ts";
import type { Route } from "../route.ts";
import * as schemas from "../schemas.ts";

/** The server itself. */
export const serverRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/healthz",
    operationId: "health",
    summary: "The process answers",
    scope: undefined,
    answers: { 200: { description: "It does", schema: schemas.health } },
    handle: async () => ({ status: 200, body: { status: "ok" } }),
  },
  {
    method: "GET",
    path: "/readyz",
    operationId: "ready",
    summary: "New work is taken",
    scope: undefined,
    answers: {
      200: { description: "It is", schema: schemas.health },
      503: { description: "The server is ending", schema: schemas.health },
    },
    handle: async ({ sessions }) =>
      sessions.isDraining ? { status: 503, body: { status: "ending" } } : { status: 200, body: { status: "ready" } },
  },
  {
    method: "GET",
    path: "/metrics",
    operationId: "metrics",
    summary: "Numbers for Prometheus",
    scope: "view",
    answers: { 200: { description: "Prometheus text", mediaType: "text/plain" } },
    handle: async ({ metrics }) => ({
      status: 200,
      body: metrics.text,
      headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" },
    }),
  },
  {
    method: "GET",
    path: "/v1/client",
    operationId: "getClient",
    summary: "Who this token stands for",
    scope: "view",
    answers: { 200: { description: "Name and scopes", schema: schemas.whoami } },
    handle: async ({ client: { name, scopes, roots, sessions, limits }, version }) => ({
      status: 200,
      body: { name, scopes: [...scopes], roots, sessions, limits, version },
    }),
  },
  {
    method: "POST",
    path: "/v1/sessions/{id}/share",
    operationId: "shareSession",
    summary: "A token that may look at this session alone, for a time",
    scope: "drive",
    body: schemas.shareWish,
    isBodyOptional: true,
    answers: { 201: { description: "The token, which is shown once", schema: schemas.share } },
    async handle({ sessions, tokens, client, params: { id = "" }, body }) {
      const { expiresInSeconds = 24 * 60 * 60 } = (body ?? {}) as { expiresInSeconds?: number }; // it fits the schema
      await sessions.look(client, id);
      if (client.sessions) throw new HttpProblem("forbidden", "A share is not shared on");
      const name = `share-${randomUuid()}`;
      const expiresAt = new Date(Date.now() + expiresInSeconds * 1000).toISOString();
      const token = tokens.add({ name, scopes: ["view"], sessions: [id], expiresAt, by: client.digest });
      return { status: 201, body: { token, name, expiresAt } };
    },
  },
];
