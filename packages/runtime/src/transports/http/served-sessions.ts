import { lastChanges } from "../../hosting/last-changes.ts";
import type { HeldSession, HostedSummary, SessionHost } from "../../hosting/session-host.ts";
import type { CommandSummary } from "../../commands/command.ts";
import { toMessages } from "../../journal/transcript.ts";
import type { ReadOptions, SessionStore } from "../../journal/store.ts";
import type { Message, UserMessage } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import type { InteractiveSession } from "../../session/interactive-session.ts";
import type { SubmitOptions } from "../../session/prompts/inbox.ts";
import type { AcceptedPrompt } from "../../session/prompts/session-turns.ts";
import type { Trajectory } from "../atif/atif.ts";
import { Audiences, type Followed } from "./audiences.ts";
import { type Client, may } from "./client.ts";
import { ClientQuotas } from "./client-quotas.ts";
import { commandsOf, modelNamesOf, modeOf } from "./folder-facts.ts";
import type { Watcher } from "./session-channel.ts";
import type { StoredState } from "./stored-state.ts";
import type { SessionRecords } from "./session-records.ts";
import {
  checkMode,
  checkModel,
  checkWish,
  type OwnMode,
  type ServedDefaults,
  type SessionWish,
  toRequest,
} from "./session-wish.ts";

export type ServedOptions = {
  readonly host: SessionHost;
  readonly records: SessionRecords;
  readonly defaults: ServedDefaults;
  /** Folders in which sessions may work. */
  readonly roots: readonly string[];
  /** How long a question waits while nobody is connected who may answer. */
  readonly permissionWaitMs: number;
  readonly maxReplay: number;
  /** Takes a session out of the store, with what belongs to it. */
  readonly remove?: ((id: string) => Promise<void>) | undefined;
  readonly warn: (line: string) => void;
};

type Begun = { readonly held: HeldSession; readonly isNew: boolean };
type Copy = { readonly id: string; readonly at: number | undefined; readonly name: string | undefined };

/** The sessions of the server as its clients see them: each sees its own, and what its token gives. */
export class ServedSessions {
  readonly #options: ServedOptions;
  readonly #store: SessionStore;
  readonly #audiences: Audiences;
  readonly #quotas = new ClientQuotas();
  /** By id: what is being begun. */
  readonly #beginning = new Map<string, Promise<unknown>>();

  constructor(options: ServedOptions) {
    this.#options = options;
    const { store } = options.host;
    if (!store) throw new RuntimeError("usage", "A server needs a host whose sessions are stored");
    this.#store = store;
    const { permissionWaitMs, maxReplay, warn } = options;
    this.#audiences = new Audiences({ store, permissionWaitMs, maxReplay, warn });
  }

  /** Open ones, and prompts that have no outcome yet. */
  get counts(): { readonly open: number; readonly prompts: number; readonly watchers: number } {
    return { open: this.#options.host.size, prompts: this.#promptsOf(), watchers: this.#audiences.watchers };
  }

  get isDraining(): boolean {
    return this.#quotas.isDraining;
  }

  /** With an id that exists already and is the client's own, that session: whoever asks twice gets one. */
  async create(client: Client, wish: SessionWish, id: string): Promise<Begun> {
    return await this.#oneByOne(id, () => this.#create(client, wish, id));
  }

  async fork(client: Client, from: string, copy: Copy): Promise<Begun> {
    return await this.#oneByOne(copy.id, () => this.#fork(client, from, copy));
  }

  /** Whoever asks for the same id at the same time waits, and finds what the first has begun. */
  async #oneByOne<T>(id: string, begin: () => Promise<T>): Promise<T> {
    const before = this.#beginning.get(id)?.catch(() => {}); // told to whoever asked
    const own = before ? before.then(begin) : begin();
    this.#beginning.set(id, own);
    try {
      return await own;
    } finally {
      if (this.#beginning.get(id) === own) this.#beginning.delete(id);
    }
  }

  async #create(client: Client, wish: SessionWish, id: string): Promise<Begun> {
    const known = this.#options.records.get(id);
    if (known) return { held: await this.hold(client, id), isNew: false };
    return await this.#withRoom(client, () => this.#createNew(client, wish, id));
  }

  async #createNew(client: Client, wish: SessionWish, id: string): Promise<Begun> {
    const { host, records, roots, defaults } = this.#options;
    const checked = checkWish(wish, client, { roots, defaults });
    const own = await this.#ownMode(checked.cwd);
    checkMode(checked.permissionMode, client, own);
    records.add({ id, owner: client.name, wish: checked }); // before it exists: after a crash nobody else sees it
    try {
      const held = await host.create({ ...toRequest(checked, defaults, own), session: { type: "new", id } });
      return { held: this.#audiences.follow(held), isNew: true };
    } catch (error) {
      records.remove(id);
      throw error;
    }
  }

  async #fork(client: Client, from: string, copy: Copy): Promise<Begun> {
    await this.#checkSeen(client, from);
    if (this.#options.records.get(copy.id)) return { held: await this.hold(client, copy.id), isNew: false };
    return await this.#withRoom(client, () => this.#forkNew(client, from, copy));
  }

  async #forkNew(client: Client, from: string, { id, at, name }: Copy): Promise<Begun> {
    const { host, records, roots, defaults } = this.#options;
    // What somebody else was given for the original is no matter of course for this client.
    const known = records.get(from)?.wish;
    const cwd = known?.cwd ?? (await host.list()).find((one) => one.id === from)?.cwd;
    const { permissionMode = known?.permissionMode } = await lastChanges(this.#store, from);
    const wish = checkWish({ ...known, cwd, name, permissionMode }, client, { roots, defaults });
    const own = await this.#ownMode(wish.cwd);
    checkMode(wish.permissionMode, client, own);
    records.add({ id, owner: client.name, wish });
    try {
      const held = await host.fork(from, { ...toRequest(wish, defaults, own), id, at });
      return { held: this.#audiences.follow(held), isNew: true };
    } catch (error) {
      records.remove(id);
      throw error;
    }
  }

  /** Those the client sees, the latest first. */
  async list(client: Client): Promise<HostedSummary[]> {
    return (await this.#options.host.list()).filter(({ id }) => this.#sees(client, id));
  }

  /** Opens it where it is not open. The caller releases it. */
  async hold(client: Client, id: string): Promise<HeldSession> {
    await this.#checkSeen(client, id);
    this.#quotas.checkOpen();
    const { host, records, defaults } = this.#options;
    if (await host.opened(id)) return this.#audiences.follow(await host.open(id));
    const wish = records.get(id)?.wish ?? {};
    const request = toRequest(wish, defaults, await this.#ownMode(wish.cwd));
    return this.#audiences.follow(await host.open(id, request));
  }

  /** May this client put the session into this mode, and have it ask this model? */
  async checkChange(
    client: Client,
    id: string,
    { permissionMode, model }: Pick<SessionWish, "permissionMode" | "model">,
  ): Promise<void> {
    await this.#checkSeen(client, id);
    checkModel(model, client, this.#options.defaults);
    checkMode(permissionMode, client, await this.#ownMode(this.#options.records.get(id)?.wish.cwd));
  }

  async #ownMode(cwd: string | undefined): Promise<OwnMode> {
    const { host, defaults } = this.#options;
    return await modeOf(host, cwd, defaults.options?.permissions?.mayBypass ?? false);
  }

  /** Does something with an open session, and lets go of it. */
  async with<T>(client: Client, id: string, work: (session: InteractiveSession) => Promise<T> | T): Promise<T> {
    const held = await this.hold(client, id);
    try {
      return await work(held.session);
    } finally {
      held.release();
    }
  }

  /** The session where it is open; a look at it opens nothing. Refused with `not-found` where the client sees none of this id. */
  async look(client: Client, id: string): Promise<Followed | undefined> {
    await this.#checkSeen(client, id);
    const session = await this.#options.host.opened(id);
    const served = this.#audiences.of(id);
    return session && served?.session === session ? served : undefined;
  }

  async messages(client: Client, id: string): Promise<Message[]> {
    const served = await this.look(client, id);
    return served ? served.session.getMessages() : toMessages(await this.#store.read(id));
  }

  async has(client: Client, id: string): Promise<boolean> {
    return this.#sees(client, id) && (await this.#store.has(id));
  }

  /** All that is stored of it, or what of it is wanted. */
  async read(client: Client, id: string, options?: ReadOptions): Promise<AgentEvent[]> {
    await this.#checkSeen(client, id);
    return await this.#store.read(id, options);
  }

  /** What a prompt that begins with a slash may start, in the first folder of the client. */
  async commands(client: Client): Promise<readonly CommandSummary[]> {
    const { host, roots, defaults, warn } = this.#options;
    return await commandsOf(host, checkWish({}, client, { roots, defaults }).cwd, warn);
  }

  /** What a client may name beside models, in its first folder. */
  async modelNames(client: Client): Promise<string[]> {
    if (!may(client, "drive")) return [];
    const { host, roots, defaults } = this.#options;
    return await modelNamesOf(host, checkWish({}, client, { roots, defaults }).cwd);
  }

  /** All that is stored of it as ATIF, with what it cost; undefined before its first step. */
  async trajectory(client: Client, id: string): Promise<Trajectory | undefined> {
    await this.look(client, id);
    const [{ toTrajectory }, { loadCallPrice }] = await Promise.all([
      import("../atif/write/trajectory.ts"),
      import("../atif/write/call-price.ts"),
    ]);
    return toTrajectory(await this.#store.read(id), { priceOf: await loadCallPrice(undefined) });
  }

  /** What holds for a session now. Of servers only names: their variables and headers are nobody's business. */
  async settings(client: Client, id: string): Promise<object> {
    const held = await this.hold(client, id);
    try {
      const { facts } = await held.session.controls();
      const skills = held.session.listSkills().map(({ name, description }) => ({ name, description }));
      const mcpServers = [...held.plan.servers.configs].map(([name, { type }]) => ({ name, type }));
      return { ...facts, skills, mcpServers };
    } finally {
      held.release();
    }
  }

  /** A prompt on record. Its session is held until its turn has ended. */
  async accept(
    client: Client,
    id: string,
    {
      message,
      begun,
      ...options
    }: SubmitOptions & { readonly message: UserMessage; readonly begun?: (session: InteractiveSession) => void },
  ): Promise<{ readonly prompt: AcceptedPrompt; readonly session: InteractiveSession }> {
    const held = await this.holdForPrompt(client, id);
    try {
      begun?.(held.session);
      const prompt = await held.session.accept(message, options);
      const end = (): void => held.release();
      prompt.outcome.then(end, end);
      return { prompt, session: held.session };
    } catch (error) {
      held.release();
      throw error;
    }
  }

  /** To give it a prompt: that is counted as one of the client's until the session is released. */
  async holdForPrompt(client: Client, id: string): Promise<HeldSession> {
    await this.#checkSeen(client, id);
    return await this.#withPrompt(client, () => this.hold(client, id));
  }

  /** The same for a new one. */
  async createForPrompt(client: Client, wish: SessionWish, id: string): Promise<HeldSession> {
    return await this.#withPrompt(client, async () => (await this.create(client, wish, id)).held);
  }

  async #withPrompt(client: Client, hold: () => Promise<HeldSession>): Promise<HeldSession> {
    const end = this.beginPrompt(client);
    try {
      const held = await hold();
      const release = (): void => {
        end();
        held.release();
      };
      return { ...held, release };
    } catch (error) {
      end();
      throw error;
    }
  }

  /** One more prompt of this client is at work, whosever session it is for; answers how to say that it is over. */
  beginPrompt(client: Client): () => void {
    return this.#quotas.beginPrompt(client);
  }

  async rename(client: Client, id: string, name: string): Promise<void> {
    const served = await this.look(client, id);
    if (served) await served.session.setName(name);
    else await this.#store.rename(id, name);
  }

  async remove(client: Client, id: string): Promise<void> {
    await this.#checkSeen(client, id);
    const { host, records, remove = (one) => host.remove(one) } = this.#options;
    await host.close(id);
    if (await this.#store.has(id)) await remove(id);
    host.forget(id);
    records.remove(id);
    this.#audiences.end(id, new RuntimeError("not-found", `Session ${id} was removed`));
  }

  /** Tells the watcher what happens in the session, also after it was closed and opened again, until the signal comes. */
  async watch(
    client: Client,
    id: string,
    { watcher, after, signal }: { watcher: Watcher; after: number | undefined; signal: AbortSignal },
  ): Promise<void> {
    const served = await this.look(client, id);
    const now = served?.session.storedSeq ?? (after === undefined ? (await this.stored(client, id)).seq : 0);
    if (signal.aborted) return;
    await this.#audiences.watch(id, { watcher, after, signal, now, goAway: this.attend(client, id) });
  }

  /** No new prompts; those at work go on. */
  drain(): void {
    this.#quotas.drain();
  }

  /** Everybody who watches is told why nothing more comes. */
  end(reason: RuntimeError): void {
    this.#audiences.endAll(reason);
  }

  /** Of a session that the client sees and that is not open. */
  async stored(client: Client, id: string): Promise<StoredState> {
    await this.#checkSeen(client, id);
    const { toStoredState } = await import("./stored-state.ts");
    return toStoredState(await this.#store.read(id));
  }

  /** The client hears of questions from here on: they wait for it, where it may answer. Answers how to say that it has gone. */
  attend(client: Client, id: string): () => void {
    return may(client, "approve") ? this.#audiences.attend(id) : () => {};
  }

  /** Prompts without an outcome. */
  #promptsOf(): number {
    let count = 0;
    for (const [, { session }] of this.#audiences.open) {
      count += (session.isExecuting() ? 1 : 0) + session.inbox.filter(({ isHeld }) => !isHeld).length;
    }
    return count;
  }

  /** Seen by nobody as something that is not theirs: it is not there. */
  async #checkSeen(client: Client, id: string): Promise<void> {
    if (this.#sees(client, id) && (this.#options.records.get(id) || (await this.#store.has(id)))) return;
    throw new RuntimeError("not-found", `There is no session ${id}`);
  }

  #sees(client: Client, id: string): boolean {
    if (client.sessions) return client.sessions.includes(id);
    const owner = this.#options.records.get(id)?.owner;
    if (owner === undefined) return may(client, "admin"); // begun elsewhere: it is the user's
    return may(client, "admin") || owner === client.name || (client.of?.includes(owner) ?? false);
  }

  async #withRoom(client: Client, begin: () => Promise<Begun>): Promise<Begun> {
    const owned = (): number =>
      this.#audiences.open.filter(([id]) => this.#options.records.get(id)?.owner === client.name).length;
    return await this.#quotas.withRoom(client, owned, begin);
  }
}
