import { RuntimeError } from "../../../protocol/errors.ts";
import { bearerOf } from "../gatekeeper.ts";
import { HttpProblem } from "../problem.ts";
import type { Route } from "../route.ts";
import * as schemas from "../schemas.ts";
import { listForPage } from "./page-list.ts";

/** The page as it is sent, and what a browser may do with it. */
export type PageDocument = { readonly html: string; readonly policy: string };

/** What the page in a browser needs beside everybody else's routes. */
export const pageRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/",
    operationId: "getPage",
    summary: "A page to watch and drive sessions with",
    scope: undefined,
    answers: { 200: { description: "The page, with everything in it", mediaType: "text/html" } },
    async handle({ page }) {
      if (!page) throw new RuntimeError("not-found", "There is nothing at this address");
      const { html, policy } = await page();
      return {
        status: 200,
        body: html,
        headers: {
          "content-type": "text/html; charset=utf-8",
          "content-security-policy": policy,
          "x-frame-options": "DENY",
          "cross-origin-opener-policy": "same-origin",
          "permissions-policy": "camera=(), geolocation=(), microphone=()",
        },
      };
    },
  },
  {
    method: "POST",
    path: "/v1/page/login",
    operationId: "openPageLogin",
    summary: "Lets the page in from here on with a cookie and a key instead of the token",
    scope: "view",
    answers: { 201: { description: "The key; the cookie is in Set-Cookie", schema: schemas.anything("PageLogin") } },
    async handle({ logins, request }) {
      const token = bearerOf(request);
      if (token === undefined) throw new HttpProblem("unauthorized", "The page signs in with a token");
      const { setCookie, ...login } = logins.open(token, request);
      return { status: 201, body: login, headers: { "set-cookie": setCookie } };
    },
  },
  {
    method: "DELETE",
    path: "/v1/page/login",
    operationId: "closePageLogin",
    summary: "Signs the page out",
    scope: "view",
    answers: { 204: { description: "Cookie and key count no more" } },
    async handle({ logins, request }) {
      const setCookie = logins.close(request);
      return { status: 204, ...(setCookie !== undefined && { headers: { "set-cookie": setCookie } }) };
    },
  },
  {
    method: "GET",
    path: "/v1/page/sessions",
    operationId: "listForPage",
    summary: "The latest sessions with what each of them waits for, or how it ended",
    scope: "view",
    answers: { 200: { description: "At most 200, the latest first", schema: schemas.listOf("sessions") } },
    handle: async ({ sessions, client }) => ({ status: 200, body: { sessions: await listForPage(sessions, client) } }),
  },
  {
    method: "GET",
    path: "/v1/sessions/{id}/costs",
    operationId: "listCosts",
    summary: "What each answer cost in US dollars, by the number of its event; null where nobody knows the price",
    scope: "view",
    query: [{ name: "after", schema: { type: "integer", minimum: 0 }, description: "Only of events after this one." }],
    answers: { 200: { description: "Numbers by event", schema: schemas.anything("Costs") } },
    async handle({ sessions, client, params: { id = "" }, query }) {
      const { loadCallPrice } = await import("../../atif/write/call-price.ts");
      const priceOf = await loadCallPrice();
      const events = await sessions.read(client, id, {
        after: Number(query.get("after") ?? 0),
        types: ["message.ended", "side-call.ended"],
      });
      const costs = events.flatMap((event) =>
        event.type === "message.ended" || event.type === "side-call.ended" ? [[String(event.seq), priceOf(event)] as const] : [],
      );
      return { status: 200, body: { costs: Object.fromEntries(costs) } };
    },
  },
];
