import type { Client, Transport } from "@modelcontextprotocol/client";
import type { JsonObject } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { Tool } from "../tool.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import { callServerTool, listServerTools } from "./call-server.ts";
import { toTool } from "./mcp-tool.ts";
import { sameOriginFetch } from "./same-origin-fetch.ts";
import type { McpServerConfig, McpServerConfigs } from "./server-config.ts";
import { toServerName } from "./server-config.ts";
import { toToolName, toToolNames } from "./server-tool.ts";
import { StdioTransport } from "./stdio-transport.ts";
import { toToolOutput } from "./tool-result.ts";
import type { McpTransport } from "./transport.ts";
import { defined } from "../../util/defined.ts";

export type McpServerState = {
  readonly name: string;
  readonly status: "pending" | "connected" | "failed" | "needs-auth" | "disabled";
  readonly error?: string;
  readonly serverInfo?: { readonly name: string; readonly version: string };
  /** What it wants models to know of its tools, in its own words. */
  readonly instructions?: string;
  /** The names that models know them by. */
  readonly tools: readonly string[];
  /** The same in the server's own words. */
  readonly offers: readonly { readonly name: string; readonly description?: string }[];
  /** Where it was written down; `sdk` for one that lives in the host. */
  readonly source?: string;
};

export type McpOptions = {
  readonly cwd: string;
  /** What servers that are programs see, beside their own variables. */
  readonly env: Readonly<Record<string, string>>;
  /** How long a server may take until its tools are known. */
  readonly connectTimeoutMs?: number | undefined;
  readonly callTimeoutMs?: number | undefined;
  /** Answers when a server asks the user something; without it servers are told that nobody can. */
  readonly elicit?: ((server: string, request: JsonObject, signal: AbortSignal) => Promise<JsonObject>) | undefined;
  /** The way to servers that live inside the host. */
  readonly hostTransport?: ((server: string) => McpTransport) | undefined;
  /** Told what of a server's list is left out, each once. */
  readonly warn?: ((message: string) => void) | undefined;
  readonly onState?: ((state: McpServerState) => void) | undefined;
  /** Servers may offer other tools later, and may go away: `tools` is then another list. */
  readonly onToolsChanged?: (() => void) | undefined;
};

const defaultConnectMs = 10_000;
const defaultCallMs = 10 * 60_000;
const maxError = 1_000;

type Connection = {
  readonly config: McpServerConfig;
  /** Came while the session lived, by `replace`, which may take it away again. */
  added: boolean;
  state: McpServerState;
  tools: readonly Tool[];
  client: Client | undefined;
  stop: AbortController;
};

/** The servers of one session. One that fails or hangs costs a bounded wait and its own tools, nothing else. */
export class McpServers {
  readonly #options: McpOptions;
  readonly #connections = new Map<string, Connection>();
  readonly #warned = new Set<string>();

  constructor(options: McpOptions) {
    this.#options = options;
  }

  /** Resolves when every server is connected or has failed. */
  async connect(configs: McpServerConfigs): Promise<void> {
    await Promise.all([...configs].map(([name, config]) => this.#connect(name, config)));
  }

  get tools(): Tool[] {
    return [...this.#connections.values()].flatMap(({ tools }) => tools);
  }

  /** Rules that those who wrote the servers down want, by what they do. */
  get rules(): { readonly ask: string[]; readonly deny: string[] } {
    const all = [...this.#connections].flatMap(([name, { config, state }]) =>
      (config.policies ?? []).map(({ tool, effect }) => {
        const known = state.tools[state.offers.findIndex((offer) => offer.name === tool)];
        return { effect, rule: known ?? toToolName(name, tool) };
      }),
    );
    const of = (wanted: "ask" | "deny"): string[] => all.flatMap(({ effect, rule }) => (effect === wanted ? [rule] : []));
    return { ask: of("ask"), deny: of("deny") };
  }

  get states(): McpServerState[] {
    return [...this.#connections.values()].map(({ state }) => state);
  }

  /**
   * Makes these the servers that were added while the session lives, and those that live in the host. One that stays the same is kept;
   * the servers the session began with are left alone unless they are named.
   */
  async replace(configs: McpServerConfigs): Promise<{ added: string[]; removed: string[]; errors: Record<string, string> }> {
    const isSame = (name: string): boolean =>
      JSON.stringify(this.#connections.get(name)?.config) === JSON.stringify(configs.get(name));
    const removed = [...this.#connections]
      .filter(([name, { added, config }]) => !configs.has(name) && (added || config.type === "sdk"))
      .map(([name]) => name);
    const added = [...configs].filter(([name]) => !isSame(name));
    for (const name of configs.keys()) {
      const connection = this.#connections.get(name);
      if (connection) connection.added = true;
    }
    const changed = added.map(([name]) => name).filter((name) => this.#connections.has(name));
    await Promise.all([...removed, ...changed].map((name) => this.#disconnect(name)));
    await Promise.all(added.map(([name, config]) => this.#connect(name, config, { added: true })));
    const failed = this.states.filter(({ name, error }) => configs.has(name) && error !== undefined);
    return {
      added: added.map(([name]) => name),
      removed,
      errors: Object.fromEntries(failed.map(({ name, error }) => [name, error ?? ""])),
    };
  }

  /** False for a server that is not known. */
  async reconnect(name: string): Promise<boolean> {
    const connection = this.#connections.get(name);
    if (!connection) return false;
    await this.#disconnect(name);
    await this.#connect(name, connection.config, connection);
    return true;
  }

  /** Switches a server off, or on again. False for one that is not known. */
  async toggle(name: string, enabled: boolean): Promise<boolean> {
    const connection = this.#connections.get(name);
    if (!connection) return false;
    if (enabled) return connection.state.status === "connected" || (await this.reconnect(name));
    await this.#disconnect(name);
    const { config, added } = connection;
    const off: Connection = { ...newConnection(name, config, added), state: { ...idle(name, config), status: "disabled" } };
    this.#connections.set(name, off);
    this.#report(off, off.state);
    return true;
  }

  /** Calls a tool outside of a turn; answers its text. Rejects when there is none, or when it answers with an error. */
  async call(toolName: string, input: JsonObject, signal: AbortSignal): Promise<string> {
    for (const { client, state, tools } of this.#connections.values()) {
      const offer = state.offers[tools.findIndex(({ name }) => name === toolName)];
      if (!client || !offer) continue;
      const result = await callServerTool(client, { name: offer.name, arguments: input }, { signal });
      const { content, isError } = toToolOutput(result);
      const text = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
      if (isError) throw new Error(text || `${toolName} answered with an error`);
      return text;
    }
    throw new Error(`${toolName} is not there any more`);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#connections.keys()].map((name) => this.#disconnect(name)));
  }

  async #connect(name: string, config: McpServerConfig, { added = false }: { added?: boolean } = {}): Promise<void> {
    const connection = newConnection(name, config, added);
    const twin = [...this.#connections.keys()].find((other) => toServerName(other) === toServerName(name));
    if (twin !== undefined)
      throw new RuntimeError("config", `The MCP servers ${twin} and ${name} would give their tools the same names`);
    this.#connections.set(name, connection);
    this.#report(connection, connection.state);
    let transport: Transport | undefined;
    try {
      transport = await this.#transportOf(name, config);
      await this.#introduce(connection, transport);
    } catch (error) {
      const program = transport instanceof StdioTransport ? transport : undefined;
      await program?.settled();
      const trouble = program?.trouble;
      await transport?.close().catch(() => {}); // the first failure is the one to tell
      this.#report(connection, { ...connection.state, ...failureOf(error, trouble), tools: [], offers: [] });
    }
  }

  async #introduce(connection: Connection, transport: Transport): Promise<void> {
    const { name } = connection.state;
    const client = await this.#createClient(name);
    connection.client = client;
    const timeout = this.#options.connectTimeoutMs ?? defaultConnectMs;
    const signal = AbortSignal.any([connection.stop.signal, AbortSignal.timeout(timeout)]);
    await withDeadline(client.connect(transport, { timeout, signal }), { signal, timeout });
    const listTools = async (): Promise<void> => {
      const { tools, notes } = await listServerTools(client, { timeout, signal: connection.stop.signal });
      for (const note of notes) this.#warnOnce(`MCP server ${name}: ${note}`);
      const limitMs = connection.config.callTimeoutMs;
      const timeoutMs = limitMs ?? this.#options.callTimeoutMs ?? defaultCallMs;
      const names = toToolNames(
        name,
        tools.map((tool) => tool.name),
      );
      connection.tools = tools.map((tool, index) =>
        toTool({ tool, name: names[index] ?? tool.name, client, timeoutMs, limitMs }),
      );
      const offers = tools.map(({ name, description }) => ({ name, ...defined({ description }) }));
      connection.state = { ...connection.state, tools: connection.tools.map((tool) => tool.name), offers };
    };
    if (client.getServerCapabilities()?.tools) await withDeadline(listTools(), { signal, timeout });
    client.setNotificationHandler("notifications/tools/list_changed", async () => {
      await listTools().catch(() => {}); // the old list stays
      this.#options.onToolsChanged?.();
    });
    client.onclose = () => {
      connection.tools = [];
      const error = "The connection was closed";
      this.#report(connection, { ...connection.state, status: "failed", error, tools: [], offers: [] });
      this.#options.onToolsChanged?.();
    };
    const serverInfo = client.getServerVersion();
    this.#report(connection, {
      ...connection.state,
      status: "connected",
      ...(serverInfo && { serverInfo: { name: serverInfo.name, version: serverInfo.version } }),
      ...defined({ instructions: client.getInstructions() }),
    });
  }

  async #createClient(server: string): Promise<Client> {
    const { Client, outputValidator } = await import("./official-client.ts");
    const { elicit } = this.#options;
    const client = new Client(
      { name: "outrider", version: OUTRIDER_VERSION },
      { capabilities: elicit ? { elicitation: { form: {} } } : {}, jsonSchemaValidator: outputValidator },
    );
    if (elicit)
      client.setRequestHandler("elicitation/create", async (request, context) => {
        const answer = await elicit(server, request.params as unknown as JsonObject, context.mcpReq.signal);
        return answer as { action: "accept" | "decline" | "cancel" }; // the client checks it before it is sent
      });
    return client;
  }

  async #transportOf(name: string, config: McpServerConfig): Promise<Transport> {
    const { cwd, env, hostTransport } = this.#options;
    switch (config.type) {
      case "stdio":
        return new StdioTransport({ ...config, cwd, env: { ...env, ...config.env } });
      case "http":
      case "sse": {
        const { SSEClientTransport, StreamableHTTPClientTransport } = await import("./official-client.ts");
        const Chosen = config.type === "sse" ? SSEClientTransport : StreamableHTTPClientTransport;
        return new Chosen(new URL(config.url), {
          requestInit: { headers: config.headers },
          fetch: boundedFetch(sameOriginFetch),
        });
      }
      case "sdk":
        if (!hostTransport) throw new Error("there is no host that could hold this server");
        return hostTransport(name);
      case "broken":
        throw new Error(config.problem);
    }
  }

  async #disconnect(name: string): Promise<void> {
    const connection = this.#connections.get(name);
    this.#connections.delete(name);
    if (!connection) return;
    connection.stop.abort();
    if (connection.client) connection.client.onclose = () => {};
    await connection.client?.close().catch(() => {}); // it goes away either way
  }

  #warnOnce(message: string): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    this.#options.warn?.(message);
  }

  #report(connection: Connection, state: McpServerState): void {
    connection.state = state;
    if (this.#connections.get(state.name) === connection) this.#options.onState?.(state);
  }
}

declare const OUTRIDER_VERSION: string;

function newConnection(name: string, config: McpServerConfig, added: boolean): Connection {
  return { config, added, state: idle(name, config), tools: [], client: undefined, stop: new AbortController() };
}

function idle(name: string, config: McpServerConfig): McpServerState {
  const source = config.type === "sdk" ? "sdk" : config.source;
  return { name, status: "pending", tools: [], offers: [], ...defined({ source }) };
}

async function withDeadline<T>(work: Promise<T>, { signal, timeout }: { signal: AbortSignal; timeout: number }): Promise<T> {
  let onAbort = (): void => {};
  const tooLate = new Error(`it did not answer within ${timeout} ms`);
  const late = new Promise<never>((_, reject) => {
    onAbort = () => reject(tooLate);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
  // The package has a clock of its own, which may be the first on a machine that is busy.
  const told = work.catch((error: unknown) => {
    throw Object(error).code === "REQUEST_TIMEOUT" ? tooLate : error;
  });
  told.catch(() => {}); // told once, by the race
  return await Promise.race([told, late]).finally(() => signal.removeEventListener("abort", onAbort));
}

function failureOf(error: unknown, trouble: string | undefined): { status: "failed" | "needs-auth"; error: string } {
  const { message, cause } = error instanceof Error ? error : new Error(String(error));
  const { name, status } = Object(error) as { name?: string; status?: number }; // the package's errors of HTTP have a status
  const reason = [
    ...(status === undefined ? [] : [`HTTP ${status}`]),
    message,
    ...(cause instanceof Error && cause.message !== "" ? [cause.message] : []),
  ].join(": ");
  const refused = status === 401 || /\b401\b|unauthorized/i.test(`${name} ${message}`); // not every refusal has one
  return { status: refused ? "needs-auth" : "failed", error: clip(trouble === undefined ? reason : `${reason} (${trouble})`) };
}

/** A server may answer with a whole page. */
function clip(text: string): string {
  return text.length > maxError ? `${text.slice(0, maxError)}…` : text;
}
