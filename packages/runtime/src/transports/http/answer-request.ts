import type { IncomingMessage, ServerResponse } from "node:http";
import { checkInput } from "../../tools/input.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { Client } from "./client.ts";
import { EventStream } from "./event-stream.ts";
import { findRoute, type FoundRoute } from "./find-route.ts";
import { isForeign } from "./foreign-requests.ts";
import { checkCaller, corsHeaders, type GateOptions } from "./gatekeeper.ts";
import { letIn, type ServerRules } from "./let-in.ts";
import { toOpenApi } from "./openapi.ts";
import { HttpProblem, toProblem } from "./problem.ts";
import { isRecord } from "../../util/is-record.ts";
import { readBody } from "./read-body.ts";
import type { Answer, Exchange, Route, ServerParts } from "./route.ts";
import { routes } from "./routes/routes.ts";

export type Answering = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly parts: ServerParts;
  readonly rules: ServerRules;
};

/** One request to its answer. Never rejects. */
export async function answerRequest(answering: Answering): Promise<void> {
  const { request, response, parts, rules } = answering;
  const { operation = "none", answer } = await work(answering);
  if (answer && !response.headersSent) send(request, response, { answer, cors: corsHeaders(request, rules.gate.origins) });
  parts.metrics.answered(operation, answer?.status ?? 200);
  if (!request.complete) request.resume(); // what was not wanted is not kept
}

/** Without an answer there is a stream. */
async function work({
  request,
  response,
  parts,
  rules,
}: Answering): Promise<{ operation?: string; answer?: Answer | undefined }> {
  let operation: string | undefined;
  try {
    checkCaller(request, rules.gate);
    const [path = "", search = ""] = (request.url ?? "").split(/\?(.*)/s); // as it is: nothing in it is resolved
    const query = new URLSearchParams(search);
    if (request.method === "OPTIONS") return { operation: "preflight", answer: preflight(request, rules.gate) };
    if (isForeign(path)) {
      operation = "dialect";
      const client = letIn(request, { scope: "drive" }, { tokens: parts.tokens, rules });
      lease(client, response, { rules, stream: () => undefined });
      const body = await readBody(request, rules.bodyBytes);
      const headers = { ...safeHeaders, ...corsHeaders(request, rules.gate.origins) };
      await parts.foreign.answer({ request, response, client, path, body, headers });
      return { operation };
    }
    const { route, params } = findAny(request.method ?? "", path);
    operation = route.operationId;
    const client = letIn(request, route, { tokens: parts.tokens, rules });
    let stream: EventStream | undefined;
    lease(client, response, { rules, stream: () => stream });
    checkQuery(route, query);
    const body = await readRouteBody(request, route, rules.bodyBytes);
    const key = keyOf(request, route, { client, params, body, rules });
    const openStream = (): EventStream => {
      stream = new EventStream({
        response,
        headers: { ...safeHeaders, ...corsHeaders(request, rules.gate.origins) },
        heartbeatMs: rules.heartbeatMs,
        maxBufferedBytes: rules.bufferedBytes,
      });
      if (request.method === "HEAD") stream.end(); // what it would be is said; nothing of it comes
      return stream;
    };
    const answer = await route.handle({ ...parts, request, response, client, params, query, body, key, openStream });
    return { operation, answer };
  } catch (error) {
    if (response.headersSent) {
      response.destroy();
      return { ...(operation !== undefined && { operation }) };
    }
    const { status, headers, body } = toProblem(error);
    if (status >= 500) rules.warn(`${operation ?? request.method}: ${error instanceof Error ? error.message : String(error)}`);
    return { ...(operation !== undefined && { operation }), answer: { status, headers, body } };
  }
}

/** Whoever waits for an answer or reads a stream does so only as long as the token counts. What was begun goes on. */
function lease(
  client: Client,
  response: ServerResponse,
  { rules, stream }: { readonly rules: ServerRules; readonly stream: () => EventStream | undefined },
): void {
  if (client.digest === "") return; // everybody may ask
  const { release } = rules.leases.take(client, () => {
    const open = stream();
    if (open) open.end(new RuntimeError("closed", "The token of this connection counts no longer"));
    else response.destroy();
  });
  response.once("close", release);
  if (response.destroyed) release();
}

const openApiRoute: Route = {
  method: "GET",
  path: "/openapi.json",
  operationId: "openapi",
  summary: "This document",
  scope: undefined,
  answers: { 200: { description: "OpenAPI 3.1", schema: { type: "object" } } },
  handle: async ({ version }) => ({ status: 200, body: openApiDocument(version) }),
};

const allRoutes: readonly Route[] = [...routes, openApiRoute];

/** The document of all routes. */
function openApiDocument(version: string): object {
  return toOpenApi(allRoutes, version);
}

function findAny(method: string, path: string): FoundRoute {
  return findRoute(allRoutes, method, path);
}

function checkQuery({ query = [] }: Route, given: URLSearchParams): void {
  for (const name of given.keys())
    if (!query.some((parameter) => parameter.name === name))
      throw new HttpProblem("bad-request", `There is no parameter ${name}`);
  for (const { name, schema } of query) {
    const text = given.get(name);
    if (text === null) continue;
    const isNumber = schema["type"] === "integer";
    const number = Number(text);
    const { minimum, maximum, enum: allowed } = schema;
    const isFit = isNumber
      ? /^\d+$/.test(text) &&
        (minimum === undefined || number >= Number(minimum)) &&
        (maximum === undefined || number <= Number(maximum))
      : text !== "" && (!Array.isArray(allowed) || allowed.includes(text));
    if (!isFit) throw new HttpProblem("bad-request", `${name} is not what it should be: ${JSON.stringify(schema)}`);
  }
}

/** Bytes that may come where no body is taken: there are clients that send an empty object. */
const mostOfNone = 1_000;

async function readRouteBody(
  request: IncomingMessage,
  { body: schema, isBodyOptional }: Route,
  maxBytes: number,
): Promise<unknown> {
  const body = await readBody(request, schema ? maxBytes : Math.min(maxBytes, mostOfNone));
  if (!schema) {
    if (body !== undefined && !(isRecord(body) && Object.keys(body).length === 0))
      throw new HttpProblem("bad-request", "This takes no body");
    return undefined;
  }
  if (body === undefined && isBodyOptional) return undefined;
  const checked = await checkInput(schema, body);
  if (!checked.ok) throw new RuntimeError("usage", checked.message);
  return body;
}

function keyOf(
  { headers }: IncomingMessage,
  { keyed }: Route,
  { client, params, body, rules }: Pick<Exchange, "client" | "params" | "body"> & { readonly rules: ServerRules },
): string | undefined {
  const key = headers["idempotency-key"];
  if (!keyed || key === undefined) return undefined;
  if (typeof key !== "string" || key === "" || key.length > 255)
    throw new HttpProblem("bad-request", "An Idempotency-Key has 1 to 255 characters");
  rules.keys.check(client.name, key, keyed({ params, body }));
  return key;
}

/** Pages that may call are told so; it is checked again with the request itself. */
function preflight(request: IncomingMessage, { origins }: GateOptions): Answer {
  if (request.headers.origin === undefined || !origins.has(request.headers.origin))
    throw new HttpProblem("method-not-allowed", "There is nothing to ask for first");
  return {
    status: 204,
    headers: {
      "access-control-allow-methods": "GET, POST, PATCH, PUT, DELETE",
      "access-control-allow-headers": wantedHeaders(request),
      "access-control-max-age": "600",
    },
  };
}

const usualHeaders = "authorization, content-type, idempotency-key, last-event-id, if-none-match, x-session-id";

/** Clients of other formats have headers of their own. A page that may call the server may send what it likes. */
function wantedHeaders({ headers }: IncomingMessage): string {
  const wanted = headers["access-control-request-headers"];
  return typeof wanted === "string" && /^[\w-]+(?:\s*,\s*[\w-]+)*$/.test(wanted) ? wanted : usualHeaders;
}

/** Nothing of this is for a browser to guess at, to keep or to frame. */
const safeHeaders: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "cache-control": "no-cache, private",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
};

type Sending = { readonly answer: Answer; readonly cors: Readonly<Record<string, string>> };

/** What is looked at again and has not changed is not sent again. */
function send(request: IncomingMessage, response: ServerResponse, { answer, cors }: Sending): void {
  const { status, body, headers = {} } = answer;
  const text = body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body);
  const isLook = request.method === "GET" || request.method === "HEAD";
  const tag = isLook && status === 200 && text !== undefined ? tagOf(text) : undefined;
  const tags = (request.headers["if-none-match"] ?? "").split(",").map((one) => one.trim().replace(/^W\//, "")); // a proxy that compresses weakens them
  if (tag !== undefined && (tags.includes(tag) || tags.includes("*"))) {
    response.writeHead(304, { ...safeHeaders, ...cors, etag: tag });
    response.end();
    return;
  }
  response.writeHead(status, {
    ...safeHeaders,
    ...(text !== undefined && { "content-type": "application/json", "content-length": String(Buffer.byteLength(text)) }),
    ...(tag !== undefined && { etag: tag }),
    ...cors,
    ...headers,
  });
  response.end(text);
}

function tagOf(text: string): string {
  return `"${process.getBuiltinModule("node:crypto").createHash("sha256").update(text).digest("base64url").slice(0, 22)}"`;
}
