import type { SessionStore, SessionSummary } from "../journal/store.ts";
import { RuntimeError, toRuntimeError } from "../protocol/errors.ts";
import { checkValue, place, text } from "../protocol/kinds.ts";
import type { InteractiveSession } from "../session/interactive-session.ts";
import { isTerminal } from "../tasks/background/task-status.ts";
import { defined } from "../util/defined.ts";
import { randomUuid } from "../util/unique-ids.ts";
import { checkHostOptions, checkRequest } from "./check-options.ts";
import { CheckedSession } from "./checked-session.ts";
import { type OpenedSession, type Opening, openSession, type ServerConnections } from "./open-session.ts";
import { type GivenServers, toServerFiles } from "./given-servers.ts";
import type { ServerPlan } from "./plan-servers.ts";
import { planSession, type SessionPlan, userStore } from "./plan-session.ts";
import type { KeptChange, SessionRequest } from "./session-request.ts";
import { SharedProviders } from "./shared-providers.ts";
import { SharedServers } from "./shared-servers.ts";
import { type Surroundings, surroundingsOf } from "./surroundings.ts";

export type SessionHostOptions = {
  /** What holds for every session where its own request says nothing. */
  readonly defaults?: Omit<HostedRequest, "opening"> | undefined;
  /** Where settings, trust, journals and checkpoints of the user are; `OUTRIDER_HOME`, else `~/.outrider`. */
  readonly outriderHome?: string | undefined;
  /** Those of this process when absent. */
  readonly around?: Surroundings | undefined;
  /** Hears what no session's events tell. */
  readonly warn?: ((line: string) => void) | undefined;
  /** How many may be open at once; 1,000 when absent. One more takes the place of the stored session that nobody has used for longest. */
  readonly maxSessions?: number | undefined;
  /** A stored session that nobody uses for this long is closed, and opened again when somebody does; ten minutes when absent. */
  readonly idleMs?: number | undefined;
};

/** What a front end adds to a plan. */
export type HostedOpening = Omit<Opening, "warn" | "create">;

/** What opens a session: a request, and what its front end adds. */
export type HostedRequest = Omit<SessionRequest, "mcpServers"> & {
  /** MCP servers by name, as `.mcp.json` has them; or a list of such files, each with where it was written. */
  readonly mcpServers?: GivenServers | undefined;
  readonly opening?: HostedOpening | undefined;
};

/** A session in use. While somebody holds it, it is not closed for idleness. */
export interface HeldSession {
  readonly id: string;
  readonly session: InteractiveSession;
  readonly plan: SessionPlan;
  readonly answers: OpenedSession["answers"];
  /** The caller does not use the session any more. */
  release(): void;
}

export type HostedSummary = SessionSummary & { readonly state: "working" | "open" | "stored" };

type Opened = { readonly plan: SessionPlan; readonly hosted: OpenedSession };

type Entry = {
  readonly request: HostedRequest;
  readonly opened: Promise<Opened>;
  /** Once it is open. */
  session: InteractiveSession | undefined;
  holders: number;
  idle: NodeJS.Timeout | undefined;
  closing: Promise<void> | undefined;
};

const defaultSessions = 1_000;
const defaultIdleMs = 10 * 60_000;

/**
 * The sessions of one process. They share providers, MCP servers and the store, and nothing else: no folder, no variables, no signals of the
 * process. What ends the process is somebody else's to decide; `shutdown` ends all sessions in their own way first.
 */
export class SessionHost {
  readonly store: SessionStore | undefined;
  readonly #options: SessionHostOptions;
  readonly #around: Surroundings;
  readonly #providers = new SharedProviders();
  readonly #servers = new SharedServers();
  readonly #entries = new Map<string, Entry>();
  /** How sessions were asked for that were closed in the meantime. */
  readonly #requests = new Map<string, HostedRequest>();
  #ended: Promise<void> | undefined;

  constructor(options: SessionHostOptions = {}) {
    checkHostOptions(options);
    this.#options = options;
    const around = options.around ?? surroundingsOf();
    this.#around = { ...around, outriderHome: options.outriderHome ?? around.outriderHome };
    const { persistent, options: own } = options.defaults ?? {};
    this.store = own?.sessionStore ?? (persistent === false ? undefined : userStore(this.#around, undefined));
  }

  /** Everything a session needs, with what it shares; nothing is started yet. For front ends that open it later, with `openPlan`. */
  async plan(request: Omit<HostedRequest, "opening">): Promise<SessionPlan> {
    this.#check(request);
    const { defaults = {}, warn = () => {} } = this.#options;
    const store = request.options?.sessionStore ?? (request.persistent === false ? undefined : this.store);
    const options = { ...defaults.options, ...defined(request.options ?? {}), sessionStore: store };
    const { mcpServers, ...whole } = { ...defaults, ...defined(request), options };
    return await planSession(
      { ...whole, mcpServers: toServerFiles(mcpServers) },
      { around: this.#around, warn, providers: this.#providers },
    );
  }

  /** Begins to connect the servers of a plan, or joins those of another session. */
  beginServers(plan: SessionPlan, more?: ServerPlan["configs"]): ServerConnections {
    const { servers } = plan;
    const { warn = () => {} } = this.#options;
    const whole = more ? { ...plan, servers: { ...servers, configs: new Map([...servers.configs, ...more]) } } : plan;
    return this.#servers.begin(whole, { warn });
  }

  /** The session of a plan. Its journal is opened with its first prompt, or by `session.open()`. */
  async openPlan(plan: SessionPlan, opening: HostedOpening = {}): Promise<HeldSession> {
    const { sessionId: id } = plan;
    await this.#forgetClosed(id);
    if (this.#entries.has(id)) throw new RuntimeError("busy", `Session ${id} is open already`, { retryable: true });
    return await this.#hold(id, { ...plan.request, opening }, () => this.#openPlanned(plan, opening));
  }

  /** The session of this id where it is open; by that nobody uses it. */
  async opened(id: string): Promise<InteractiveSession | undefined> {
    const entry = this.#entries.get(id);
    if (!entry || entry.closing) return undefined;
    return (await entry.opened.catch(() => undefined))?.hosted.session;
  }

  /** How many are open. */
  get size(): number {
    return this.#entries.size;
  }

  /** A new session. */
  async create(request: HostedRequest = {}): Promise<HeldSession> {
    this.#check(request);
    const { session = { type: "new", id: randomUuid() } } = request;
    if (typeof session === "function" || session.type !== "new")
      throw new RuntimeError("usage", "A session that exists is opened or forked, not created");
    const id = session.id ?? randomUuid();
    this.#refuseOpen(id);
    return await this.#hold(id, { ...request, session: { ...session, id } });
  }

  /** The session of this id: the one that is open, else the stored one. `request` says how, where it is not open. */
  async open(id: string, request?: HostedRequest): Promise<HeldSession> {
    checkValue("id", id, text);
    if (request !== undefined) this.#check(request);
    await this.#forgetClosed(id);
    const entry = this.#entries.get(id);
    if (entry && !entry.closing) return await this.#hold(id, entry.request);
    await entry?.closing;
    const wanted = { ...(request ?? this.#requests.get(id)), keepsChanges: keptUnless(request) };
    const cwd = wanted.cwd ?? this.#options.defaults?.cwd ?? (await this.#folderOf(id));
    return await this.#hold(id, { ...wanted, cwd, session: { type: "resume", id } });
  }

  /** A copy of a session, up to an event where one is named; the original may be open meanwhile. */
  async fork(
    from: string,
    { at, id = randomUuid(), ...request }: HostedRequest & { at?: number | undefined; id?: string | undefined } = {},
  ): Promise<HeldSession> {
    checkValue("from", from, text);
    checkValue("id", id, text);
    if (at !== undefined) checkValue("at", at, place);
    this.#check(request);
    const wanted = {
      ...{ ...this.#requests.get(from), ...this.#entries.get(from)?.request, ...request },
      keepsChanges: keptUnless(request),
    };
    const cwd = wanted.cwd ?? this.#options.defaults?.cwd ?? (await this.#folderOf(from));
    this.#refuseOpen(id);
    return await this.#hold(id, { ...wanted, cwd, session: { type: "fork", from, id, at } });
  }

  #check(request: unknown): void {
    checkRequest(request, this.#options.defaults?.options);
  }

  #refuseOpen(id: string): void {
    if (this.#entries.has(id)) throw new RuntimeError("usage", `Session ${id} exists already`);
  }

  /** All sessions that are stored, the latest first, and what they are doing. */
  async list(): Promise<HostedSummary[]> {
    const summaries = (await this.store?.summaries()) ?? [];
    return await Promise.all(summaries.map(async (summary) => ({ ...summary, state: await this.#stateOf(summary.id) })));
  }

  /** Ends a session in its own way; it stays in the store. Nothing happens where it is not open. */
  async close(id: string): Promise<void> {
    const entry = this.#entries.get(id);
    if (entry) await this.#close(id, entry);
  }

  /** Ends a session and removes it from the store. Rejects with `not-found` where there is none of this id. */
  async remove(id: string): Promise<void> {
    checkValue("id", id, text);
    const wasOpen = (await this.#entries.get(id)?.opened.catch(() => undefined)) !== undefined; // one that failed to open never was
    await this.close(id);
    this.#requests.delete(id);
    if (await this.store?.has(id)) await this.store?.remove(id);
    else if (!wasOpen) throw new RuntimeError("not-found", `There is no session ${id}`);
  }

  /** Nothing of a closed session is kept any more: it was taken out of the store by the caller. */
  forget(id: string): void {
    this.#requests.delete(id);
  }

  /** Ends all of them, and what they shared. No session is opened from here on. */
  async shutdown(): Promise<void> {
    this.#ended ??= this.#closeAll();
    await this.#ended;
  }

  async #closeAll(): Promise<void> {
    await Promise.all([...this.#entries].map(([id, entry]) => this.#close(id, entry)));
    await this.#providers.close();
  }

  async #hold(id: string, request: HostedRequest, open: () => Promise<Opened> = () => this.#open(request)): Promise<HeldSession> {
    if (this.#ended) throw new RuntimeError("closed", "The host is ending");
    const entry = this.#entries.get(id) ?? this.#begin(id, request, open);
    entry.holders++;
    clearTimeout(entry.idle);
    try {
      const { plan, hosted } = await entry.opened;
      entry.session = hosted.session;
      let isHeld = true;
      const release = (): void => {
        if (isHeld) this.#release(id, entry);
        isHeld = false;
      };
      return { id, session: hosted.session, plan, answers: hosted.answers, release };
    } catch (error) {
      if (this.#entries.get(id) === entry) this.#entries.delete(id);
      throw error;
    }
  }

  /** A user of a session may shut it down without telling the host. */
  async #forgetClosed(id: string): Promise<void> {
    const entry = this.#entries.get(id);
    const opened = await entry?.opened.catch(() => undefined);
    if (entry && opened?.hosted.session.isClosed()) await this.#close(id, entry);
  }

  #begin(id: string, request: HostedRequest, open: () => Promise<Opened>): Entry {
    const room = this.#makeRoom();
    const opened = room ? room.then(open) : open();
    const entry: Entry = { request, opened, session: undefined, holders: 0, idle: undefined, closing: undefined };
    this.#entries.set(id, entry);
    return entry;
  }

  /** Where there is none, the session that was released first is closed; throws when none can be. One that is being closed takes no room. */
  #makeRoom(): Promise<void> | undefined {
    const { maxSessions = defaultSessions } = this.#options;
    const open = [...this.#entries].filter(([, { closing }]) => !closing);
    if (open.length < maxSessions) return undefined;
    const [id, entry] = open.find(([, other]) => this.#isUnused(other)) ?? [];
    if (id !== undefined && entry) return this.#close(id, entry).catch(this.#toldUnclosed(id));
    throw new RuntimeError("limit-reached", `There are ${maxSessions} sessions open already`, {
      retryable: true,
      hint: "Close one, or let the host hold more (maxSessions)",
    });
  }

  /** Nobody holds it, nothing goes on in it, and it can be opened again. */
  #isUnused({ holders, session, request }: Entry): boolean {
    if (holders > 0 || !session || !this.store || request.persistent === false) return false;
    return !session.isExecuting() && session.listBackgroundTasks().every(({ status }) => isTerminal(status));
  }

  async #open({ opening, ...request }: HostedRequest): Promise<Opened> {
    const plan = await this.plan(request);
    await plan.begin();
    const opened = await this.#openPlanned(plan, opening);
    try {
      await opened.hosted.session.open();
    } catch (error) {
      await opened.hosted.close();
      throw error;
    }
    return opened;
  }

  async #openPlanned(plan: SessionPlan, opening: HostedOpening | undefined): Promise<Opened> {
    const { warn = () => {} } = this.#options;
    const whole: Opening = { ...opening, warn, create: (options) => new CheckedSession(options) };
    if (opening?.servers) return { plan, hosted: await openSession(plan, whole) };
    const servers = this.beginServers(plan);
    try {
      const { close, ...hosted } = await openSession(plan, { ...whole, servers });
      return { plan, hosted: { ...hosted, close: () => close().finally(() => servers.close()) } };
    } catch (error) {
      await servers.close();
      throw error;
    }
  }

  #release(id: string, entry: Entry): void {
    entry.holders--;
    if (entry.holders > 0 || entry.closing || !this.store) return;
    this.#entries.delete(id);
    this.#entries.set(id, entry); // the last in their order is the last that was used
    const { idleMs = defaultIdleMs } = this.#options;
    entry.idle = setTimeout(() => void this.#closeIdle(id, entry).catch(this.#toldUnclosed(id)), idleMs);
    entry.idle.unref();
  }

  #toldUnclosed(id: string): (error: unknown) => void {
    return (error) => this.#options.warn?.(`Session ${id} could not be closed: ${toRuntimeError(error).message}`);
  }

  /** A turn that runs is not idle, though nobody watches it. */
  async #closeIdle(id: string, entry: Entry): Promise<void> {
    const { session } = (await entry.opened).hosted;
    if (entry.holders > 0 || entry.closing) return;
    if (session.isExecuting()) {
      entry.holders++;
      this.#release(id, entry);
      return;
    }
    await this.#close(id, entry);
  }

  async #close(id: string, entry: Entry): Promise<void> {
    clearTimeout(entry.idle);
    entry.closing ??= (async () => {
      const opened = await entry.opened.catch(() => undefined);
      await opened?.hosted.close();
      if (this.#entries.get(id) === entry) this.#entries.delete(id);
      this.#remember(id, entry.request);
    })();
    await entry.closing;
  }

  /** Bounded: a host that lives for months forgets how the oldest were asked for, and opens them as the defaults say. */
  #remember(id: string, { session: _, ...request }: HostedRequest): void {
    this.#requests.delete(id);
    this.#requests.set(id, request);
    const [oldest] = this.#requests.keys();
    if (this.#requests.size > rememberedRequests && oldest !== undefined) this.#requests.delete(oldest);
  }

  async #stateOf(id: string): Promise<HostedSummary["state"]> {
    const entry = this.#entries.get(id);
    const opened = await entry?.opened.catch(() => undefined);
    if (!opened) return "stored";
    return opened.hosted.session.isExecuting() ? "working" : "open";
  }

  async #folderOf(id: string): Promise<string | undefined> {
    return (await this.store?.summaries())?.find((summary) => summary.id === id)?.cwd;
  }
}

/** What a session was changed to holds when it is opened again, unless whoever opens it says otherwise. */
function keptUnless({ keepsChanges, options, model, provider }: HostedRequest = {}): readonly KeptChange[] {
  if (keepsChanges) return keepsChanges;
  return [
    ...(options?.permissionMode === undefined ? (["permissionMode"] as const) : []),
    ...(model === undefined && provider === undefined ? (["model"] as const) : []),
  ];
}

const rememberedRequests = 10_000;
