import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { HeldSession } from "../../hosting/session-host.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import { randomUuid } from "../../util/unique-ids.ts";
import type { Dialects, OpenWish } from "../dialects/serve-dialects.ts";
import { type Client, may } from "./client.ts";
import { McpRequests } from "./mcp-requests.ts";
import type { ServedSessions } from "./served-sessions.ts";

const paths =
  /^\/(?:mcp|v1\/(?:chat\/completions|responses|ag-ui|a2a)|v1\/sessions\/[\w-]+\/chat(?:(?:\/[^/]+)?\/stream)?|\.well-known\/agent-card\.json)$/;
/** Whoever reads nothing for so long is gone. */
const stallMs = 30_000;
/** Of a request, what a dialect looks at. */
const passedHeaders = ["content-type", "x-session-id"] as const;

/** Is it one of the formats of others? */
export function isForeign(path: string): boolean {
  return paths.test(path);
}

export type ForeignRequest = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly client: Client;
  readonly path: string;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
};

type ForeignParts = {
  readonly sessions: ServedSessions;
  readonly version: string;
  /** Something before the server does TLS. */
  readonly isBehindProxy: boolean;
  readonly warn: (line: string) => void;
};

/** How the client has called the server: its own addresses are told it in the same way. */
function schemeOf({ headers, socket }: IncomingMessage, isBehindProxy: boolean): string {
  if ("encrypted" in socket && socket.encrypted) return "https";
  if (!isBehindProxy) return "http";
  const forwarded = String(headers["x-forwarded-proto"] ?? "https")
    .split(",")
    .at(-1)
    ?.trim();
  return forwarded === "http" ? "http" : "https";
}

/** Requests in the formats of others, over the sessions of whoever sends them. */
export class ForeignRequests {
  readonly #parts: ForeignParts;
  /** By name: the tasks that one began another does not see. */
  readonly #dialects = new Map<string, Promise<Dialects>>();

  readonly #mcp: McpRequests;

  constructor(parts: ForeignParts) {
    this.#parts = parts;
    this.#mcp = new McpRequests(parts);
  }

  async close(): Promise<void> {
    await this.#mcp.close();
  }

  async answer(asked: ForeignRequest): Promise<void> {
    const { request, response, path, headers } = asked;
    const gone = new AbortController(); // a client that hangs up takes back what it asked for
    response.once("close", () => gone.abort());
    if (response.destroyed) gone.abort();
    const { signal } = gone;
    const answer = path === "/mcp" ? await this.#answerMcp(asked, signal) : await this.#answerDialect(asked, signal);
    if (!answer) throw new RuntimeError("not-found", `There is no ${request.method} ${path}`);
    response.writeHead(answer.status, { ...headers, ...Object.fromEntries(answer.headers) });
    if (answer.body) await pass(answer.body, response);
    response.end();
  }

  async #answerMcp({ request, client, body }: ForeignRequest, signal: AbortSignal): Promise<Response> {
    return await this.#mcp.answer(client, request, { body, signal });
  }

  async #answerDialect({ request, client, path, body }: ForeignRequest, signal: AbortSignal): Promise<Response | undefined> {
    const { sessions, version, isBehindProxy } = this.#parts;
    const scheme = schemeOf(request, isBehindProxy);
    const dialects = await this.#dialectsOf(client);
    const given = passedHeaders.flatMap((name) => {
      const value = request.headers[name];
      return typeof value === "string" ? [[name, value] as [string, string]] : [];
    });
    const asked = new Request(new URL(path, `${scheme}://${request.headers.host ?? "localhost"}`), {
      method: request.method ?? "GET",
      headers: given,
      signal,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return await dialects.fetch(asked, {
      ...{ version, isGuarded: true },
      answers: may(client, "approve") ? { attend: (id) => sessions.attend(client, id) } : undefined,
      open: (wish) => openSession(sessions, client, wish),
    });
  }

  #dialectsOf(client: Client): Promise<Dialects> {
    const known = this.#dialects.get(client.name);
    if (known) return known;
    const made = import("../dialects/serve-dialects.ts").then(({ createDialects }) => createDialects());
    this.#dialects.set(client.name, made);
    return made;
  }
}

/** The client's session of this id; a new one where there is none. */
async function openSession(
  sessions: ServedSessions,
  client: Client,
  { sessionId, model, afterTurn }: OpenWish,
): Promise<HeldSession> {
  const { toModelChoice, isSessionName, placeToCopy } = await import("../dialects/dialect-host.ts");
  if (sessionId !== undefined && !isSessionName(sessionId))
    throw new RuntimeError("usage", "A session is named with letters, digits, - and _");
  const wish = toModelChoice(model);
  if (sessionId === undefined) return await sessions.createForPrompt(client, wish, randomUuid());
  if (afterTurn !== undefined) {
    const at = placeToCopy(await sessions.read(client, sessionId, { types: ["turn.started", "turn.ended"] }), afterTurn);
    if (at === undefined) return await sessions.holdForPrompt(client, sessionId);
    const { held } = await sessions.fork(client, sessionId, { id: randomUuid(), at, name: undefined });
    return await sessions.holdForPrompt(client, held.id).finally(() => held.release());
  }
  try {
    return await sessions.holdForPrompt(client, sessionId);
  } catch (error) {
    if (!(error instanceof RuntimeError) || error.code !== "not-found") throw error;
    return await sessions.createForPrompt(client, wish, sessionId);
  }
}

/** To the socket no faster than it is read. A reader that leaves ends what it asked for. */
async function pass(body: ReadableStream<Uint8Array>, response: ServerResponse): Promise<void> {
  const reader = body.getReader();
  const gone = new AbortController();
  const leave = (): void => {
    gone.abort();
    reader.cancel().catch(() => {}); // nothing is left to say to whoever left
  };
  response.once("close", leave);
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      if (gone.signal.aborted) return;
      if (!response.write(next.value))
        await once(response, "drain", { signal: AbortSignal.any([gone.signal, AbortSignal.timeout(stallMs)]) });
    }
  } catch {
    response.destroy();
  } finally {
    response.off("close", leave);
    await reader.cancel().catch(() => {});
  }
}
