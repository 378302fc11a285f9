import type { Client, Transport } from "@modelcontextprotocol/client";
import { defined } from "../../util/defined.ts";
import { untilAborted } from "../../util/until-aborted.ts";
import type { Tool } from "../tool.ts";
import { listServerTools } from "./call-server.ts";
import { failureOf, httpStatusOf } from "./connect-failure.ts";
import { toTool } from "./mcp-tool.ts";
import type { ReachOptions } from "./reach-options.ts";
import { listAgain } from "./list-again.ts";
import { reachServer, Unreachable } from "./reach-server.ts";
import { maxOutputLimit, type McpServerConfig } from "./server-config.ts";
import type { ServerPrompt } from "./server-prompt.ts";
import { listPrompts } from "./server-prompts.ts";
import { idleState, type McpServerState } from "./server-state.ts";
import { toToolNames } from "./server-tool.ts";
import { withDeadline } from "./with-deadline.ts";

/** What a connection needs of those who hold it. */
export type ConnectionOptions = ReachOptions & {
  readonly connectTimeoutMs: number;
  readonly callTimeoutMs: number;
  /** Characters of a result where neither the configuration nor the server says how many; that of every tool when absent. */
  readonly outputLimit?: number | undefined;
  /** How long to wait before each new try to reach a server that went away. */
  readonly retryDelaysMs: readonly number[];
  readonly warn: (message: string) => void;
  readonly onState: (state: McpServerState) => void;
  readonly onToolsChanged: () => void;
};

/** How long a server has to stay for its earlier ends to be forgotten. */
const steadyMs = 60_000;
const goodbyeMs = 1_000;
/** How long prompts are waited for, without which a session does as well. */
const promptsMs = 3_000;

/**
 * One server, from its first word to its last. When it goes away by itself it is reached again, a few times and with growing pauses; calls
 * that come meanwhile try at once. Its tools stay until it is given up, so that a short outage changes nothing for a model.
 */
export class ServerConnection {
  readonly config: McpServerConfig;
  /** Came while the session lived, and may be taken away again. */
  added: boolean;
  state: McpServerState;
  tools: readonly Tool[] = [];
  prompts: readonly ServerPrompt[] = [];
  readonly #options: ConnectionOptions;
  readonly #stop = new AbortController();
  #client: Client | undefined;
  #transport: Transport | undefined;
  /** The try that is under way, or waits for its time. Never rejects. */
  #trying: Promise<void> | undefined;
  #tryNow: () => void = () => {};
  #ends = 0;
  #since = 0;

  constructor(name: string, config: McpServerConfig, { added, ...options }: ConnectionOptions & { added: boolean }) {
    this.config = config;
    this.added = added;
    this.state = idleState(name, config);
    this.#options = options;
  }

  /** Resolves when the server is connected or has failed. */
  async open(): Promise<void> {
    this.#report(this.state);
    if (this.config.disabled) return;
    this.#trying = this.#establish().catch((error: unknown) => this.#giveUp(error));
    await this.#trying;
  }

  /** Works with the server; once more when it has forgotten us in the meantime, and so has done nothing. */
  async use<T>(work: (client: Client) => Promise<T>, signal: AbortSignal): Promise<T> {
    const client = await this.#living(signal);
    try {
      return await work(client);
    } catch (error) {
      if (!this.#hasForgottenUs(error)) throw error;
      if (this.#client === client) {
        this.#client = undefined;
        this.#trying = this.#establish().then(
          () => this.#options.onToolsChanged(),
          (failure: unknown) => this.#giveUp(failure),
        );
      }
      return await work(await this.#living(signal));
    }
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#tryNow();
    await this.#trying;
    const client = this.#client;
    this.#client = undefined;
    if (!client) return;
    client.onclose = () => {};
    await sayGoodbye(this.#transport);
    await client.close().catch(() => {}); // it goes away either way
  }

  async #living(signal: AbortSignal): Promise<Client> {
    if (!this.#client && this.#trying) {
      this.#tryNow();
      await untilAborted(this.#trying, signal);
    }
    if (this.#client) return this.#client;
    throw new Error(this.state.error ?? "the server is not connected");
  }

  /** A session of HTTP has an end, and a server that was started anew knows none of the old ones. */
  #hasForgottenUs(error: unknown): boolean {
    const { sessionId } = Object(this.#transport) as { sessionId?: unknown };
    const status = httpStatusOf(error);
    return !this.#stop.signal.aborted && typeof sessionId === "string" && (status === 404 || status === 400);
  }

  async #establish(): Promise<void> {
    const { name } = this.state;
    const timeout = this.#options.connectTimeoutMs;
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(timeout)]);
    const { client, transport } = await reachServer(name, this.config, { options: this.#options, timeout, signal });
    try {
      const capabilities = client.getServerCapabilities();
      await Promise.all([
        capabilities?.tools && withDeadline(this.#listTools(client), { signal, timeout }),
        capabilities?.prompts && this.#listPrompts(client),
      ]);
      this.#stop.signal.throwIfAborted();
      await this.#listen(client);
    } catch (error) {
      await client.close().catch(() => {}); // the first failure is the one to tell
      throw error;
    }
    this.#client = client;
    this.#transport = transport;
    this.#trying = undefined;
    this.#since = performance.now();
    client.onclose = () => this.#lose(client);
    const { error: _, ...state } = this.state;
    const serverInfo = client.getServerVersion();
    const capabilities = client.getServerCapabilities();
    this.#report({
      ...state,
      status: "connected",
      ...(serverInfo && { serverInfo: { name: serverInfo.name, version: serverInfo.version } }),
      ...defined({ instructions: client.getInstructions(), protocolVersion: client.getNegotiatedProtocolVersion() }),
      ...(capabilities?.resources && { resources: true }),
      ...(capabilities?.prompts && { prompts: true }),
    });
  }

  async #listTools(client: Client): Promise<void> {
    const { name } = this.state;
    const { connectTimeoutMs: timeout, callTimeoutMs, warn } = this.#options;
    const { tools, notes } = await listServerTools(client, { timeout, signal: this.#stop.signal });
    for (const note of notes) warn(`MCP server ${name}: ${note}`);
    const { toolLimits = {}, outputLimit: usual } = this.config;
    const names = toToolNames(
      name,
      tools.map((tool) => tool.name),
    );
    this.tools = tools.map((tool, index) => {
      const own = Object.hasOwn(toolLimits, tool.name) ? toolLimits[tool.name] : undefined;
      const limitMs = own?.callTimeoutMs ?? this.config.callTimeoutMs;
      const wanted = own?.outputLimit ?? usual ?? tool.outputLimit ?? this.#options.outputLimit;
      const outputLimit = wanted === undefined ? undefined : Math.min(wanted, maxOutputLimit);
      const limits = { timeoutMs: limitMs ?? callTimeoutMs, limitMs, outputLimit };
      const owner = { name: this.state.name, source: this.state.source ?? "dynamic" };
      return toTool({ tool, name: names[index] ?? tool.name, server: this, owner, ...limits });
    });
    const offers = tools.map(({ name, description, annotations }) => ({ name, annotations, ...defined({ description }) }));
    this.state = { ...this.state, tools: this.tools.map((tool) => tool.name), offers };
  }

  /** A server that does not tell its prompts, or not soon, has none. */
  async #listPrompts(client: Client): Promise<void> {
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(promptsMs)]);
    const asked = { name: this.state.name, use: async <T>(work: (own: Client) => Promise<T>) => await work(client) };
    this.prompts = await listPrompts(asked, signal).catch(() => []);
  }

  /** Hears of changes: in the newer protocol a server tells only those who have asked for it. */
  async #listen(client: Client): Promise<void> {
    const { onToolsChanged } = this.#options;
    const { signal } = this.#stop;
    const toolsAgain = listAgain(async () => {
      await this.#listTools(client).catch(() => {}); // the old list stays
      onToolsChanged();
    }, signal);
    const promptsAgain = listAgain(() => this.#listPrompts(client), signal);
    client.setNotificationHandler("notifications/tools/list_changed", async () => toolsAgain());
    client.setNotificationHandler("notifications/prompts/list_changed", async () => promptsAgain());
    if (client.getProtocolEra() !== "modern") return;
    const { tools, prompts } = client.getServerCapabilities() ?? {};
    const filter = {
      ...(tools?.listChanged && { toolsListChanged: true }),
      ...(prompts?.listChanged && { promptsListChanged: true }),
    };
    const { connectTimeoutMs: timeout } = this.#options;
    if (Object.keys(filter).length > 0) await client.listen(filter, { timeout, signal }).catch(() => {}); // it works without news
  }

  #lose(client: Client): void {
    if (this.#client !== client || this.#stop.signal.aborted) return;
    this.#client = undefined;
    if (performance.now() - this.#since > steadyMs) this.#ends = 0;
    if (this.config.type === "sdk") return this.#giveUp(new Error("The connection was closed"));
    this.#tryLater(new Error("The connection was closed"));
  }

  #tryLater(error: unknown): void {
    const delay = this.#options.retryDelaysMs[this.#ends++];
    if (delay === undefined || this.#stop.signal.aborted) return this.#giveUp(error);
    const { error: reason } = failureOfEither(error);
    this.#report({ ...this.state, status: "pending", error: `${reason}; it is tried again` });
    this.#trying = this.#pause(delay).then(async () => {
      if (this.#stop.signal.aborted) return;
      await this.#establish().then(
        () => this.#options.onToolsChanged(),
        (failure: unknown) => this.#tryLater(failure),
      );
    });
  }

  /** Keeps no program alive: nobody waits for it, and whoever does ends it with `#tryNow`. */
  async #pause(delayMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, delayMs);
      timer.unref();
      this.#tryNow = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#tryNow = () => {};
  }

  #giveUp(error: unknown): void {
    const hadTools = this.tools.length > 0;
    this.tools = [];
    this.#trying = undefined;
    this.#report({ ...this.state, ...failureOfEither(error), tools: [], offers: [] });
    if (hadTools) this.#options.onToolsChanged();
  }

  #report(state: McpServerState): void {
    this.state = state;
    if (!this.#stop.signal.aborted) this.#options.onState(state);
  }
}

function failureOfEither(error: unknown): ReturnType<typeof failureOf> {
  return error instanceof Unreachable ? error.failure : failureOf(error);
}

/** A server that keeps something for us may let it go. */
async function sayGoodbye(transport: Transport | undefined): Promise<void> {
  const { terminateSession } = Object(transport) as { terminateSession?: () => Promise<void> }; // of the transport over HTTP alone
  if (!terminateSession) return;
  await untilAborted(terminateSession.call(transport), AbortSignal.timeout(goodbyeMs)).catch(() => {}); // it forgets us in time
}
