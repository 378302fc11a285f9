import type { IncomingMessage } from "node:http";
import type { HeldSession } from "../../hosting/session-host.ts";
import { defined } from "../../util/defined.ts";
import { randomUuid } from "../../util/unique-ids.ts";
import type { McpHost } from "../mcp-server/mcp-host.ts";
import type { McpEndpoint } from "../mcp-server/serve-mcp.ts";
import { isRecord } from "../../util/is-record.ts";
import { type Client, may } from "./client.ts";
import { rightsOf } from "./leases.ts";
import { McpCalls } from "./mcp-calls.ts";
import type { ServedSessions } from "./served-sessions.ts";

type Parts = { readonly sessions: ServedSessions; readonly version: string; readonly warn: (line: string) => void };

/** Clients whose endpoints are kept; one that comes back later gets another one. */
const mostEndpoints = 1_000;

/** Clients of the older era say in each request what they were told here. It is a name, and nothing is kept under it. */
const nameHeader = "mcp-session-id";

/** Of a request, what the protocol looks at. Tokens are none of its business. */
const passedHeaders = ["accept", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name", "last-event-id"];

/** `/mcp`: the sessions of the server for clients of the Model Context Protocol, over streamable HTTP. */
export class McpRequests {
  readonly #parts: Parts;
  /** By what their tokens give: what one began another does not see. */
  readonly #endpoints = new Map<string, Promise<McpEndpoint>>();
  readonly #calls = new McpCalls();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async answer(client: Client, request: IncomingMessage, asked: { body: unknown; signal: AbortSignal }): Promise<Response> {
    const headers = passedHeaders.flatMap((name) => {
      const value = request.headers[name];
      return typeof value === "string" ? [[name, value] as [string, string]] : [];
    });
    const name = JSON.stringify([client.digest, request.headers[nameHeader]]);
    this.#calls.takeBack(name, asked.body);
    const endpoint = await this.#endpointOf(client);
    const response = await endpoint.fetch(
      new Request(new URL("/mcp", `http://${request.headers.host ?? "localhost"}`), {
        method: request.method ?? "POST",
        headers,
        signal: this.#calls.begin(name, asked.body, asked.signal),
        ...(asked.body !== undefined && { body: JSON.stringify(asked.body) }),
      }),
    );
    if (!isRecord(asked.body) || asked.body["method"] !== "initialize" || !response.ok) return response;
    return new Response(response.body, {
      status: 200,
      headers: { ...Object.fromEntries(response.headers), [nameHeader]: randomUuid() },
    });
  }

  async close(): Promise<void> {
    const all = [...this.#endpoints.values()];
    this.#endpoints.clear();
    for (const endpoint of all) await (await endpoint).close();
  }

  #endpointOf(client: Client): Promise<McpEndpoint> {
    const key = JSON.stringify([client.digest, rightsOf(client)]);
    const known = this.#endpoints.get(key);
    if (known) return known;
    const { warn } = this.#parts;
    const made = import("../mcp-server/serve-mcp.ts").then(({ createMcpEndpoint }) =>
      createMcpEndpoint(hostFor(client, this.#parts), warn),
    );
    this.#endpoints.set(key, made);
    const [oldest] = this.#endpoints;
    if (this.#endpoints.size > mostEndpoints && oldest) {
      this.#endpoints.delete(oldest[0]);
      void oldest[1].then(({ close }) => close());
    }
    return made;
  }
}

/** What this client sees and may do, as the protocol's server wants it. */
function hostFor(client: Client, { sessions, version }: Parts): McpHost {
  /** Whoever may answer questions is there for them as long as the session is in use. */
  const attended = (held: HeldSession): HeldSession => {
    const goAway = sessions.attend(client, held.id);
    const release = (): void => {
      goAway();
      held.release();
    };
    return { ...held, release };
  };
  return {
    version,
    mayAnswer: may(client, "approve"),
    mayRemember: may(client, "admin"),
    store: {
      has: (id) => sessions.has(client, id),
      read: (id) => sessions.read(client, id),
    },
    list: () => sessions.list(client),
    async create({ cwd, model, readOnly = false }) {
      const wish = defined({ cwd, model, permissionMode: readOnly ? ("plan" as const) : undefined });
      return attended(await sessions.createForPrompt(client, wish, randomUuid()));
    },
    open: async (id) => attended(await sessions.holdForPrompt(client, id)),
    look: (id) => sessions.hold(client, id),
    commands: () => sessions.commands(client),
  };
}
