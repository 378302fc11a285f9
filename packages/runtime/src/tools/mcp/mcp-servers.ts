import type { JsonObject } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import { defined } from "../../util/defined.ts";
import type { Tool } from "../tool.ts";
import { callServerTool } from "./call-server.ts";
import type { ClientAbilities, ReachOptions } from "./reach-options.ts";
import type { McpServerConfig, McpServerConfigs } from "./server-config.ts";
import { toServerName } from "./server-config.ts";
import type { FilledPrompt, ServerPrompt } from "./server-prompt.ts";
import { getPrompt } from "./server-prompts.ts";
import { readResource, type ResourceServer, resourceTools } from "./server-resources.ts";
import { withToolSearch } from "../tool-search.ts";
import { type ConnectionOptions, ServerConnection } from "./server-connection.ts";
import type { McpServerState } from "./server-state.ts";
import { toToolName } from "./server-tool.ts";
import { toToolOutput } from "./tool-result.ts";

/** What a tool answers, and what of it is for programs. */
export type ServerAnswer = { readonly text: string; readonly structuredContent?: JsonObject };

export type McpOptions = Omit<ReachOptions, "roots"> &
  Partial<Pick<ClientAbilities, "roots">> & {
    /** How long a server may take until its tools are known. */
    readonly connectTimeoutMs?: number | undefined;
    readonly callTimeoutMs?: number | undefined;
    /** How long to wait before each new try to reach a server that went away; then it is given up. */
    readonly retryDelaysMs?: readonly number[] | undefined;
    /** Told what of a server's list is left out, each once. */
    readonly warn?: ((message: string) => void) | undefined;
    readonly onState?: ((state: McpServerState) => void) | undefined;
    /** Servers may offer other tools later, and may go away: `tools` is then another list. */
    readonly onToolsChanged?: (() => void) | undefined;
    /** Tools that take more tokens than this of every request are named only, and loaded on demand. */
    readonly toolSearchTokens?: number | undefined;
    /** Characters of a result where neither the configuration nor the server says how many. */
    readonly outputLimit?: number | undefined;
  };

const defaultConnectMs = 10_000;
const defaultCallMs = 10 * 60_000;
const defaultSearchTokens = 10_000;
const defaultRetryDelaysMs = [500, 2_000, 5_000, 15_000, 30_000];

/** The servers of one session. One that fails or hangs costs a bounded wait and its own tools, nothing else. */
export class McpServers {
  readonly #options: McpOptions;
  readonly #connections = new Map<string, ServerConnection>();
  readonly #warned = new Set<string>();

  constructor(options: McpOptions) {
    this.#options = options;
  }

  /** Resolves when every server is connected or has failed. */
  async connect(configs: McpServerConfigs): Promise<void> {
    await Promise.all([...configs].map(([name, config]) => this.#connect(name, config)));
  }

  /**
   * What the servers offer: their tools, those that read their resources, and where all of that is too much to be shown with every request,
   * the one that loads them.
   */
  get tools(): Tool[] {
    const own = [...this.#connections.values()].flatMap(({ tools, config }) =>
      config.alwaysLoad ? tools.map((tool) => ({ ...tool, alwaysShown: true as const })) : tools,
    );
    const all = [...own, ...resourceTools(() => this.#having("resources"))];
    return withToolSearch(all, this.#options.toolSearchTokens ?? defaultSearchTokens);
  }

  /** The prompts of all servers that have some, as they told them last. */
  get prompts(): ServerPrompt[] {
    return [...this.#connections.values()].flatMap(({ prompts }) => prompts);
  }

  /** A prompt by its command, filled in. Rejects when there is none, or when the server refuses the values. */
  async getPrompt(command: string, values: Readonly<Record<string, string>>, signal: AbortSignal): Promise<FilledPrompt> {
    const prompt = this.prompts.find((one) => one.command === command);
    const server = prompt && this.#having("prompts").find(({ name }) => name === prompt.server);
    if (!server) throw new RuntimeError("not-found", `The prompt ${command} is not there`);
    return await getPrompt(server, { name: prompt.name, values, signal });
  }

  /** What a resource holds, as its server gives it. */
  async readResource(server: string, uri: string, signal: AbortSignal): Promise<JsonObject[]> {
    const found = this.#having("resources").find(({ name }) => name === server);
    if (!found) throw new RuntimeError("not-found", `${server} is not connected, or has no resources`);
    return await readResource(found, uri, signal);
  }

  #having(what: "resources" | "prompts"): ResourceServer[] {
    return [...this.#connections.values()].flatMap((connection) => {
      const { state } = connection;
      return state[what]
        ? [{ name: state.name, use: (work, signal) => connection.use(work, signal) } satisfies ResourceServer]
        : [];
    });
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

  /** Makes these the servers whose names begin like that. One that stays the same is kept. */
  async replaceOf(prefix: string, configs: McpServerConfigs): Promise<void> {
    const isSame = (name: string): boolean =>
      JSON.stringify(this.#connections.get(name)?.config) === JSON.stringify(configs.get(name));
    const gone = [...this.#connections.keys()].filter((name) => name.startsWith(prefix) && !isSame(name));
    await Promise.all(gone.map((name) => this.#disconnect(name)));
    const fresh = [...configs].filter(([name]) => !this.#connections.has(name));
    await Promise.all(fresh.map(([name, config]) => this.#connect(name, config)));
    if (gone.length + fresh.length > 0) this.#options.onToolsChanged?.();
  }

  /** False for a server that is not known. */
  async reconnect(name: string): Promise<boolean> {
    const connection = this.#connections.get(name);
    if (!connection) return false;
    const { disabled: _, ...config } = connection.config;
    await this.#disconnect(name);
    await this.#connect(name, config, connection);
    return true;
  }

  /** Switches a server off, or on again. False for one that is not known. */
  async toggle(name: string, enabled: boolean): Promise<boolean> {
    const connection = this.#connections.get(name);
    if (!connection) return false;
    if (enabled) return connection.state.status === "connected" || (await this.reconnect(name));
    await this.#disconnect(name);
    await this.#connect(name, { ...connection.config, disabled: true }, connection);
    return true;
  }

  /** The text of what a tool answers outside of a turn. */
  async call(toolName: string, input: JsonObject, signal: AbortSignal): Promise<string> {
    return (await this.answer(toolName, input, signal)).text;
  }

  /** Calls a tool outside of a turn. Rejects when there is none, or when it answers with an error. */
  async answer(toolName: string, input: JsonObject, signal: AbortSignal): Promise<ServerAnswer> {
    for (const connection of this.#connections.values()) {
      const offer = connection.state.offers[connection.tools.findIndex(({ name }) => name === toolName)];
      if (!offer) continue;
      const params = { name: offer.name, arguments: input };
      const result = await connection.use(async (client) => await callServerTool(client, params, { signal }), signal);
      const { content, isError, details } = toToolOutput(result);
      const text = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
      if (isError) throw new Error(text || `${toolName} answered with an error`);
      return { text, ...defined({ structuredContent: details?.structuredContent }) };
    }
    throw new Error(`${toolName} is not there any more`);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#connections.keys()].map((name) => this.#disconnect(name)));
  }

  async #connect(name: string, config: McpServerConfig, { added = false }: { added?: boolean } = {}): Promise<void> {
    const twin = [...this.#connections.keys()].find((other) => toServerName(other) === toServerName(name));
    if (twin !== undefined)
      throw new RuntimeError("config", `The MCP servers ${twin} and ${name} would give their tools the same names`);
    const connection = new ServerConnection(name, config, { ...this.#connectionOptions(), added });
    this.#connections.set(name, connection);
    await connection.open();
  }

  #connectionOptions(): ConnectionOptions {
    const {
      roots,
      connectTimeoutMs,
      callTimeoutMs,
      retryDelaysMs,
      toolSearchTokens: _,
      warn,
      onState,
      onToolsChanged,
      ...ways
    } = this.#options;
    return {
      ...ways,
      roots: roots ?? [ways.cwd],
      connectTimeoutMs: connectTimeoutMs ?? defaultConnectMs,
      callTimeoutMs: callTimeoutMs ?? defaultCallMs,
      retryDelaysMs: retryDelaysMs ?? defaultRetryDelaysMs,
      warn: (message) => this.#warnOnce(message),
      onState: (state) => onState?.(state),
      onToolsChanged: () => onToolsChanged?.(),
    };
  }

  async #disconnect(name: string): Promise<void> {
    const connection = this.#connections.get(name);
    this.#connections.delete(name);
    await connection?.close();
  }

  #warnOnce(message: string): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    this.#options.warn?.(message);
  }
}
