import { realpathSync } from "node:fs";
import { isAbsolute } from "node:path";
import { RuntimeError } from "../../protocol/errors.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import { randomUuid } from "../../util/unique-ids.ts";
import type { AcpClient, AcpHost, SessionWish } from "./acp-host.ts";
import { AcpSession } from "./acp-session.ts";
import type { EditorCapabilities } from "./client-editor.ts";
import type { UpdatesOptions } from "./session-updates.ts";
import type { ConfigOption, ContentBlock, McpServer, PromptResponse, SessionInfo, SessionModes } from "./wire.ts";

type Place = {
  readonly cwd: string;
  readonly additionalDirectories?: readonly string[];
  readonly mcpServers?: readonly McpServer[];
};
type SessionState = { modes: SessionModes; configOptions: ConfigOption[] };

/** How many sessions one answer to `session/list` holds. */
const pageSize = 50;
/** Nobody looks at more at once, and each holds a journal open. */
const maxSessions = 64;

/** The requests of the protocol, whatever carries them. */
export class AcpAgent {
  readonly #host: AcpHost;
  readonly #client: AcpClient;
  readonly #sessions = new Map<string, AcpSession>();
  #shows: UpdatesOptions["shows"] = { notices: false, compactions: false };
  #can: EditorCapabilities = {};
  #closing: Promise<void> | undefined;

  constructor(host: AcpHost, client: AcpClient) {
    this.#host = host;
    this.#client = client;
  }

  /** There is one version so far: a client that speaks another one is told so, and leaves. */
  initialize({ clientCapabilities: can }: { clientCapabilities?: ClientCapabilities | undefined }): InitializeAnswer {
    this.#shows = { notices: Boolean(can?.session?.notices), compactions: Boolean(can?.session?.compaction) };
    this.#can = can ?? {};
    const isStored = this.#host.store !== undefined;
    return {
      protocolVersion: 1,
      agentInfo: { name: "outrider", title: "Outrider", version: this.#host.version },
      agentCapabilities: {
        loadSession: isStored,
        promptCapabilities: { image: true, audio: false, embeddedContext: true },
        mcpCapabilities: { http: true, sse: true },
        sessionCapabilities: {
          close: {},
          additionalDirectories: {},
          ...(isStored && { list: {}, resume: {}, delete: {}, fork: {} }),
        },
      },
      authMethods: [{ id: keyMethod, name: "API key of a model provider", description: keyAdvice }],
    };
  }

  /** Keys are never taken over the wire: whether there is one by now is looked up. */
  async authenticate(methodId: string): Promise<void> {
    if (methodId !== keyMethod)
      throw new RuntimeError("usage", `There is no way ${JSON.stringify(methodId)} to authenticate; there is ${keyMethod}`);
    await this.#host.checkKey();
  }

  async newSession(place: Place): Promise<SessionState & { sessionId: string }> {
    const session = await this.#open(toWish(place));
    this.#announceSoon(session);
    return { sessionId: session.id, ...session.state };
  }

  /** Shows what is stored before it answers. */
  async loadSession({ sessionId, ...place }: Place & { sessionId: string }): Promise<SessionState> {
    const { session, events } = await this.#reopen(sessionId, place);
    await session.replay(events);
    this.#announceSoon(session);
    return session.state;
  }

  async resumeSession({ sessionId, ...place }: Place & { sessionId: string }): Promise<SessionState> {
    const { session, events } = await this.#reopen(sessionId, place);
    session.countStored(events);
    this.#announceSoon(session);
    return session.state;
  }

  /** A copy to go on with; the original stays as it is, and may be at work meanwhile. */
  async forkSession({ sessionId, ...place }: Place & { sessionId: string }): Promise<SessionState & { sessionId: string }> {
    const store = this.#requireStore();
    if (!isStoredId(sessionId) || !(await store.has(sessionId))) throw unknownSession(sessionId);
    const wish = toWish(place);
    const copy = randomUuid();
    await store.fork(sessionId, copy);
    const session = await this.#open({ ...wish, resume: copy });
    session.countStored(await store.read(copy));
    this.#announceSoon(session);
    return { sessionId: session.id, ...session.state };
  }

  /** The latest first. The cursor is the last session of the page before. */
  async listSessions(wish: {
    cwd?: string | null;
    cursor?: string | null;
  }): Promise<{ sessions: SessionInfo[]; nextCursor?: string }> {
    const folder = wish.cwd ? realPath(wish.cwd) : undefined;
    const stored = await this.#requireStore().summaries();
    const summaries = stored.filter(({ cwd, turns }) => turns > 0 && (folder === undefined || cwd === folder));
    const start = wish.cursor ? summaries.findIndex(({ id }) => id === wish.cursor) + 1 : 0;
    if (wish.cursor && start === 0) throw new RuntimeError("usage", "The cursor is of no page of this list");
    const page = summaries.slice(start, start + pageSize);
    const last = page.at(-1);
    return {
      sessions: page.map(({ id, cwd, name, prompt, updatedAt }) => ({ sessionId: id, cwd, title: name ?? prompt, updatedAt })),
      ...(last && start + pageSize < summaries.length && { nextCursor: last.id }),
    };
  }

  async prompt(wish: { sessionId: string; prompt: readonly ContentBlock[] }, signal: AbortSignal): Promise<PromptResponse> {
    return await this.#session(wish.sessionId).prompt(wish.prompt, signal);
  }

  /** Said of a session that is not there, it has nothing to say. */
  cancel(sessionId: string): void {
    this.#sessions.get(sessionId)?.cancel();
  }

  async setMode({ sessionId, modeId }: { sessionId: string; modeId: string }): Promise<void> {
    await this.#session(sessionId).setMode(modeId);
  }

  async setConfigOption(wish: {
    sessionId: string;
    configId: string;
    value: unknown;
  }): Promise<{ configOptions: ConfigOption[] }> {
    return { configOptions: await this.#session(wish.sessionId).setOption(wish.configId, wish.value) };
  }

  async closeSession(sessionId: string): Promise<void> {
    const session = this.#session(sessionId);
    this.#sessions.delete(sessionId);
    await session.close();
  }

  async deleteSession(sessionId: string): Promise<void> {
    const store = this.#requireStore();
    if (this.#sessions.has(sessionId)) await this.closeSession(sessionId);
    if (!(await store.has(sessionId))) throw unknownSession(sessionId);
    await this.#host.removeSession(sessionId);
  }

  /** Ends every session in its own way; prompts that run are answered as cancelled. */
  async close(reason: "abort" | "signal" = "abort"): Promise<void> {
    this.#closing ??= this.#closeAll(reason);
    await this.#closing;
  }

  async #closeAll(reason: "abort" | "signal"): Promise<void> {
    const sessions = [...this.#sessions.values()];
    this.#sessions.clear();
    await Promise.all(sessions.map((session) => session.close(reason)));
    await this.#host.close?.();
  }

  async #open(wish: SessionWish): Promise<AcpSession> {
    if (this.#sessions.size >= maxSessions)
      throw new RuntimeError("limit-reached", `There are ${maxSessions} sessions already`, {
        hint: "Close one with session/close",
      });
    const plan = await this.#host.plan(wish);
    const { warn } = this.#host;
    const session = new AcpSession(plan, { client: this.#client, shows: this.#shows, can: this.#can, warn });
    if (this.#closing || this.#sessions.has(session.id)) {
      await session.close();
      throw this.#closing
        ? new RuntimeError("closed", "The agent is ending")
        : new RuntimeError("busy", "This session is being opened", { retryable: true });
    }
    this.#sessions.set(session.id, session);
    return session;
  }

  async #reopen(sessionId: string, place: Place): Promise<{ session: AcpSession; events: AgentEvent[] }> {
    const store = this.#requireStore();
    const known = this.#sessions.get(sessionId);
    if (known?.busy) throw new RuntimeError("busy", "A prompt of this session is being worked on", { retryable: true });
    if (!isStoredId(sessionId)) throw unknownSession(sessionId);
    if (known) await this.closeSession(sessionId);
    const events = await store.read(sessionId);
    if (events.length === 0) throw unknownSession(sessionId);
    return { session: await this.#open({ ...toWish(place), resume: sessionId }), events };
  }

  #session(sessionId: string): AcpSession {
    const session = this.#sessions.get(sessionId);
    if (session) return session;
    throw unknownSession(sessionId);
  }

  #requireStore(): NonNullable<AcpHost["store"]> {
    if (this.#host.store) return this.#host.store;
    throw new RuntimeError("usage", "Nothing is stored here", { hint: "Start the agent without --no-session-persistence" });
  }

  /** Clients know of a session when they have read its id: what is told of it comes after the answer. */
  #announceSoon(session: AcpSession): void {
    setImmediate(() => void session.announceCommands());
  }
}

const keyMethod = "provider-key";
const keyAdvice =
  "Give the agent a key in its environment (ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, …), or set up a provider in a terminal with: outrider providers add";

export type ClientCapabilities = EditorCapabilities & { session?: { notices?: unknown; compaction?: unknown } | null };

export type InitializeAnswer = {
  protocolVersion: number;
  agentInfo: { name: string; title: string; version: string };
  agentCapabilities: {
    loadSession: boolean;
    promptCapabilities: { image: boolean; audio: boolean; embeddedContext: boolean };
    mcpCapabilities: { http: boolean; sse: boolean };
    sessionCapabilities: {
      close: object;
      additionalDirectories: object;
      list?: object;
      resume?: object;
      delete?: object;
      /** Not stable in the protocol yet. */
      fork?: object;
    };
  };
  authMethods: { id: string; name: string; description: string }[];
};

function toWish({ cwd, additionalDirectories = [], mcpServers = [] }: Place): SessionWish {
  for (const path of [cwd, ...additionalDirectories])
    if (!isAbsolute(path)) throw new RuntimeError("usage", `${JSON.stringify(path)} is no absolute path`);
  return { cwd, additionalDirectories, mcpServers };
}

function isStoredId(sessionId: string): boolean {
  return /^[A-Za-z0-9][\w-]*$/.test(sessionId);
}

function unknownSession(sessionId: string): RuntimeError {
  return new RuntimeError("not-found", `There is no session ${JSON.stringify(sessionId.slice(0, 200))}`);
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // its sessions outlast a folder
  }
}
