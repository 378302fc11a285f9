import type { ContextUse } from "../commands/command.ts";
import { createMemoryStore } from "../journal/memory-store.ts";
import { Transcript } from "../journal/transcript.ts";
import { type Answer, PermissionGate } from "../permissions/gate.ts";
import type { JsonValue, Message, UserMessage } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { type AgentEvent, type EventType, isEphemeral } from "../protocol/events.ts";
import type { CancelCause, Outcome } from "../protocol/outcome.ts";
import type { Masked } from "../util/masked.ts";
import { createRedactor, type Redactor } from "../util/redact.ts";
import { createIdSeries } from "../util/unique-ids.ts";
import { TypedCommands } from "./commands/typed-commands.ts";
import type { CompleteOptions } from "./complete-options.ts";
import { endReasons, endSession, type ShutdownOptions } from "./end-session.ts";
import { EventHub, type SubscribeOptions } from "./events/event-hub.ts";
import { Listeners, reportListener } from "./events/listeners.ts";
import { StructuredOutcomes } from "./events/structured-outcomes.ts";
import type { EditCheckpoints } from "./files/edit-checkpoints.ts";
import type { CompactionReport, ContextState, HistoryEntry, ToolState } from "./past/history.ts";
import type { InboxPrompt, SubmitOptions } from "./prompts/inbox.ts";
import { SessionTurns, type AcceptedPrompt, type WaitingPrompt } from "./prompts/session-turns.ts";
import type { SessionControls } from "./session-controls.ts";
import { SessionOpening } from "./session-opening.ts";
import type { SessionOptions } from "./session-options.ts";
import { tellCancelledEarly, tellListeners, tellUnrecordable, type Told } from "./events/tell-listeners.ts";
import {
  type PermissionRequest,
  type SessionEventName,
  type SessionEvents,
  SessionView,
  toPermissionRequest,
} from "./session-view.ts";
import { SessionTasks } from "./tasks/session-tasks.ts";
import type { TransportAdapter } from "./transport-adapter.ts";

/** A conversation with one agent. One turn at a time, the other prompts wait; everything it does comes out of `events()`. */
export class InteractiveSession<Structured = JsonValue> {
  readonly id: string;
  readonly #isStored: boolean;
  readonly #redactor: Redactor;
  readonly #hub: EventHub;
  readonly #view: SessionView;
  readonly #listeners = new Listeners<SessionEvents>((name, error) =>
    reportListener(name, error, (event) => !this.#closing && this.#hub.emit(event)),
  );
  /** Made once: thousands of deltas are told. */
  readonly #told: Told;
  readonly #gate = new PermissionGate();
  readonly #transcript = new Transcript();
  readonly #structured = new StructuredOutcomes(() => this.#opening.options.outputSchema);
  readonly #opening: SessionOpening;
  readonly #leaving = new AbortController();
  readonly #tasks: SessionTasks;
  readonly #turns: SessionTurns;
  #hooksEnded: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  readonly #typed: TypedCommands;
  #cancelled: CancelCause | undefined;

  /** `complete` adds to the options what takes time to find out, once, when the session is opened. */
  constructor(options: SessionOptions, complete?: CompleteOptions) {
    const newId = options.newId ?? createIdSeries();
    this.id = options.resumeSessionId ?? options.sessionId ?? newId();
    const store = options.sessionStore ?? createMemoryStore();
    this.#isStored = options.sessionStore !== undefined;
    this.#redactor = options.redactor ?? createRedactor({ env: process.env });
    const isNew = options.resumeSessionId === undefined;
    const given = { ...options, ...(isNew && { sessionId: this.id }), sessionStore: store, redactor: this.#redactor };
    this.#opening = new SessionOpening(given, complete, {
      ...{ session: this, leaving: this.#leaving.signal, newId, gate: this.#gate, transcript: this.#transcript },
      ...{ hub: () => this.#hub, view: () => this.#view, turns: () => this.#turns, tasks: () => this.#tasks },
    });
    this.#view = new SessionView(options.provider.contextWindow);
    this.#told = {
      ...{ view: this.#view, listeners: this.#listeners, gate: this.#gate },
      isRead: (event) => this.#hub.isRead(event),
      openPermission: (asked) => this.openPermission(asked),
      snapshot: () => this.getExecutionWorkspaceSnapshot(),
    };
    this.#hub = new EventHub({
      sessionId: this.id,
      store,
      now: options.now ?? Date.now,
      onEvent: (event) => this.#follow(event),
      onFault: (error) => this.#turns.inbox.stop(error),
      redactor: this.#redactor,
    });
    this.#tasks = new SessionTasks({
      sessionId: this.id,
      emit: (event) => this.#hub.emit(event),
      flush: () => this.#hub.flush(),
      now: options.now ?? Date.now,
      open: () => this.#opening.open(),
      opening: () => this.#opening.begun,
      isIdle: () => this.#turns.inbox.isIdle,
      ...{ gate: this.#gate, options: () => this.#opening.options },
      emitOf: (event, taskId) => this.#hub.emit(event, undefined, taskId),
      title: () => this.#view.name,
      history: () => this.#view.history,
      isActive: () => this.#turns.inbox.isBusy,
      wake: (notice) => !this.#closing && this.#cancelled === undefined && this.#turns.tell(notice),
      cancelled: () => this.#cancelled,
    });
    this.#turns = new SessionTurns({
      sessionId: this.id,
      store,
      ...{ newId, hub: this.#hub, transcript: this.#transcript },
      options: () => this.#opening.options,
      open: () => this.#opening.open(),
      opensSlowly: complete !== undefined,
      leaving: this.#leaving.signal,
      work: () => this.#tasks.work,
      onTurnEnded: () => this.#tasks.change(),
      commandGround: () => this.#typed.ground(),
      lastCompaction: () => this.#view.lastCompaction,
      onCancelledEarly: () => tellCancelledEarly(this.#told),
      unrecordable: (thrown, text) => tellUnrecordable(thrown, text, { hub: this.#hub, listeners: this.#listeners }),
    });
    this.#typed = new TypedCommands({
      session: this,
      options: () => this.#opening.options,
      ...{ hub: this.#hub, turns: this.#turns, transcript: this.#transcript, newId },
      answersInteractions: options.answersInteractions ?? false,
      open: () => this.#opening.open(),
    });
  }

  /** Opens the journal and puts the session together; the first prompt does so by itself. Rejects when that is impossible. */
  async open(): Promise<void> {
    await this.#opening.open();
  }

  /**
   * Hands in a prompt; resolves with how its turn went, with the answer as the model gave it. While a turn runs, prompts wait for its end, or
   * join or end it, as their `mode` says; with too many of them another one is refused with `busy`.
   * `displayInput` is what people are shown instead of `input`; `rawInput` is what the user typed, kept for hooks.
   */
  async submit(input: string | UserMessage, options?: string | SubmitOptions, rawInput?: string): Promise<Outcome<Structured>> {
    const given = typeof options === "object" ? options : { displayInput: options, rawInput };
    return await this.#structured.of<Structured>(await this.#take(input, given, false).outcome);
  }

  /** The same for whoever must know that the prompt is safe: resolves as soon as it is on record, and rejects when it was not accepted. */
  async accept(input: string | UserMessage, options: SubmitOptions = {}): Promise<AcceptedPrompt<Structured>> {
    const prompt = this.#take(input, options, true);
    await prompt.recorded;
    const { id, repeats, isOver = false } = prompt;
    const outcome = prompt.outcome.then((ended) => this.#structured.of<Structured>(ended));
    outcome.catch(() => {}); // whoever waits for it is told
    return { id: repeats ?? id, isRepeated: repeats !== undefined, isOver, outcome };
  }

  /** Prompts that are accepted and have not begun, in the order in which they will. */
  get inbox(): WaitingPrompt[] {
    return this.#turns.waiting;
  }

  /** Has a turn of this name begun? */
  hasTurn(turnId: string): boolean {
    return this.#turns.has(turnId);
  }

  /** Takes back a prompt that waits; resolves when that is on record. False when it does not wait: it has begun, or there is none. */
  async cancelPrompt(id: string): Promise<boolean> {
    await this.#opening.begun?.catch(() => {}); // then nothing waits that could be cancelled
    const isCancelled = this.#turns.inbox.cancel(id);
    await this.#hub.flush();
    return isCancelled;
  }

  /** Takes a prompt back wherever it is: one that waits never begins, and the turn of one that runs ends. Nothing happens to anybody else's. */
  async withdraw(id: string): Promise<void> {
    const { inbox } = this.#turns;
    if ((await this.cancelPrompt(id)) || !inbox.isRunning(id)) return;
    if (inbox.waiting.some(({ isHeld }) => !isHeld)) this.interrupt();
    else this.abort(); // what it has left in the background wakes nobody
  }

  /** Lets prompts go on that an earlier process had accepted: they are held until somebody says so. All of them, or one. */
  async goOn(id?: string): Promise<void> {
    await this.#opening.open();
    this.#turns.inbox.release(id);
  }

  /** What `submit` resolved with, for others to read: masked, with `masked` saying where. */
  shown(outcome: Outcome<unknown>): Masked<Outcome> {
    return this.#structured.shown(outcome, this.#redactor);
  }

  /** For hosts that change the model, the permission mode or the tools while the session lives. */
  async controls(): Promise<SessionControls> {
    return await this.#opening.controls();
  }

  /** Stops the running turn and drops what waits. `interrupted` fires when it has stopped. */
  abort(cause: CancelCause = "abort"): void {
    this.#turns.inbox.cancelAll(cause);
    this.#cancelled = cause;
    this.#turns.inbox.interrupt(cause);
    this.#tasks.change();
  }

  /** Stops the running turn; the next prompt begins. */
  interrupt(cause: CancelCause = "abort"): void {
    this.#turns.inbox.interrupt(cause);
  }

  /**
   * Summarises the older part of the conversation now; `instructions` say what to dwell on. Undefined when there is nothing to summarise.
   * Takes the place of a turn: refused with `busy` while one runs, and stopped by `abort`.
   */
  async compact(instructions?: string): Promise<CompactionReport | undefined> {
    if (this.#closing) throw new RuntimeError("closed", "The session is shut down");
    return await this.#turns.compact(instructions);
  }

  /** The prompts of the session with the files each of them changed. */
  readonly listEditCheckpoints: EditCheckpoints["list"] = async () => await (await this.#checkpoints()).list();
  /** The files a prompt changed, and what going back would do. */
  readonly inspectEditCheckpoint: EditCheckpoints["inspect"] = async (id) => await (await this.#checkpoints()).inspect(id);
  /** Puts the files as the checkpoint left them. Refused with `busy` while a turn runs; what others changed in between stays without `force`. */
  readonly restoreEditCheckpoint: EditCheckpoints["restore"] = async (id, options) =>
    await (await this.#checkpoints()).restore(id, options);
  /** The same, and undoes the checkpoint itself too. */
  readonly rollbackEditCheckpoint: EditCheckpoints["rollback"] = async (id, options) =>
    await (await this.#checkpoints()).rollback(id, options);

  /** At which share of the context window older messages give way to a summary; `false` never. */
  async getAutoCompactThreshold(): Promise<number | false> {
    return (await this.#opening.open()).compaction.threshold;
  }

  async setAutoCompactThreshold(threshold: number | false): Promise<void> {
    await (await this.#opening.open()).compaction.setThreshold(threshold);
  }

  /** Ends one task or subagent, known from its `background.created` or `task.started`; the turn goes on without it. False when no such one runs. */
  readonly stopTask: SessionTasks["stop"] = (taskId) => this.#tasks.stop(taskId);
  /** Work that goes on beside the conversation, and what has ended of it since the session was opened here. */
  readonly listBackgroundTasks: SessionTasks["list"] = (filter) => this.#tasks.list(filter);
  readonly getBackgroundTask: SessionTasks["get"] = (taskId) => this.#tasks.get(taskId);
  /** Resolves when nothing of it is left. The model hears of it. */
  readonly cancelBackgroundTask: SessionTasks["cancel"] = (taskId, reason) => this.#tasks.cancel(taskId, reason);
  /** Forgets a task that has ended. */
  readonly closeBackgroundTask: SessionTasks["close"] = (taskId) => this.#tasks.close(taskId);
  /** To the standard input of a program: judged like what the model writes, and rejected where it is refused. */
  readonly sendBackgroundTask: SessionTasks["send"] = (taskId, input) => this.#tasks.send(taskId, input);
  /** A page of what a task printed; the next one begins at `nextCursor`. */
  readonly readBackgroundTaskLog: SessionTasks["readLog"] = (taskId, cursor) => this.#tasks.readLog(taskId, cursor);
  /** A schedule does not come until it is resumed; what was due meanwhile is not missed. */
  readonly pauseBackgroundTask: SessionTasks["pause"] = (taskId) => this.#tasks.pause(taskId);
  readonly resumeBackgroundTask: SessionTasks["resume"] = (taskId) => this.#tasks.resume(taskId);
  /** Tasks that belong together, and when that is over; they are there already. */
  readonly createBackgroundJobGroup: SessionTasks["createGroup"] = (request) => this.#tasks.createGroup(request);
  readonly listBackgroundJobGroups: SessionTasks["listGroups"] = () => this.#tasks.listGroups();
  readonly getBackgroundJobGroup: SessionTasks["getGroup"] = (groupId) => this.#tasks.getGroup(groupId);
  /** Resolves when the group is over. */
  readonly waitBackgroundJobGroup: SessionTasks["waitGroup"] = (groupId) => this.#tasks.waitGroup(groupId);
  /** Ends a group whatever its tasks do; they go on. */
  readonly completeBackgroundJobGroup: SessionTasks["completeGroup"] = (groupId) => this.#tasks.completeGroup(groupId);
  readonly summarizeBackgroundJobGroup: SessionTasks["summarizeGroup"] = (group) => this.#tasks.summarizeGroup(group);
  /** The conversation, its tasks and their groups as somebody would show them. */
  readonly getExecutionWorkspaceSnapshot: SessionTasks["snapshot"] = () => this.#tasks.snapshot();
  readonly listExecutionWorkspaceEntries: SessionTasks["entries"] = (filter) => this.#tasks.entries(filter);
  readonly getExecutionWorkspaceEntry: SessionTasks["entry"] = (id) => this.#tasks.entry(id);
  /** What is to be seen of one entry, 80 records at once. */
  readonly readExecutionWorkspaceDetail: SessionTasks["detail"] = (id, cursor) => this.#tasks.detail(id, cursor);
  /** Starts tasks and groups whose entries say for whom they are. */
  readonly createExecutionWorkspaceTaskSpawner: SessionTasks["spawner"] = (origin) => this.#tasks.spawner(origin);
  /**
   * For whoever is about to end the session: resolves when no task is open any more and no turn runs, at a ceiling with what was left stopped,
   * or when the session is aborted.
   */
  readonly finishBackgroundTasks: SessionTasks["finish"] = (ceilings) => this.#tasks.finish(ceilings);

  /** Drops the prompts that wait; each `submit` resolves as cancelled. */
  cancelQueue(): void {
    this.#turns.inbox.cancelAll("abort");
  }

  /**
   * Ends everything: no new prompts, the turn aborted, processes ended, the journal complete and closed. Prompts that wait are cancelled, or
   * kept for whoever opens the session next.
   */
  async shutdown({ reason, waiting = "cancel" }: ShutdownOptions = {}): Promise<void> {
    this.#closing ??= this.#close(reason ?? endReasons[this.#cancelled ?? "abort"], waiting);
    await this.#closing;
  }

  /** Runs the hooks of the session's end now and ends those in the background, so that a reader can still be told of them. Prompts come before it. */
  async finishHooks(): Promise<void> {
    await this.#endHooks(endReasons[this.#cancelled ?? "abort"]);
  }

  /** Runs a command for its result, without a turn; null when there is none of that name. */
  readonly executeCommand: TypedCommands["execute"] = (name, args) => this.#typed.execute(name, args);
  /** Answers an `interaction.requested`; without a value it is cancelled. False when nobody waits for it any more. */
  readonly answerInteraction: TypedCommands["answer"] = (interactionId, value) => this.#typed.answer(interactionId, value);
  /** Puts a skill to work: for `user` as a prompt of its own, for `model` its text is the result. */
  readonly executeSkillCommandByName: TypedCommands["executeSkill"] = (name, args, how) =>
    this.#typed.executeSkill(name, args, how);
  /** What a prompt that begins with a slash may start. */
  readonly listCommands: TypedCommands["list"] = () => this.#typed.list();
  /** The skills in files that people may use, with what they say about themselves; commands are not among them. */
  readonly listSkills: TypedCommands["skills"] = () => this.#typed.skills();
  /** Looks for skills and commands in files again: what people may type is up to date then. What the model was told stays as it is. */
  readonly reloadSkills: TypedCommands["reload"] = () => this.#typed.reload();
  /** Looks for plugins again, and for more that are named now; between two turns, which it waits for unless it is urgent. */
  readonly reloadPlugins: TypedCommands["reloadPlugins"] = (more, isUrgent) => this.#typed.reloadPlugins(more, isUrgent);

  /** What a `permission.requested` of `events()` asks about, with the real input of the call; undefined when nobody waits for an answer any more. */
  openPermission({ requestId, taskId }: AgentEvent<"permission.requested">): PermissionRequest | undefined {
    return toPermissionRequest(this.#gate.question(requestId), taskId);
  }

  /** All questions that wait for an answer, for whoever comes after they were asked. */
  openPermissions(): PermissionRequest[] {
    return this.#gate.open.flatMap((question) => toPermissionRequest(question, undefined) ?? []);
  }

  /** Answers an open `permission_request`, with a word or with all that can be said to it. */
  answerPermission(requestId: string, answer: Answer | Answer["decision"]): void {
    this.#gate.answer(requestId, answer);
  }

  /** Of a question that an agent beside the turns asks: aborts when that agent is stopped. Undefined for all others, which end with their turn. */
  signalBeside({ requestId, taskId }: Pick<PermissionRequest, "requestId" | "taskId">): AbortSignal | undefined {
    return taskId !== undefined && this.getBackgroundTask(taskId) ? this.#gate.signal(requestId) : undefined;
  }

  /** Everything that happens, or what of it is wanted, from this call on; with `after`, stored events first. */
  events<T extends EventType = EventType>(options: SubscribeOptions<T> = {}): AsyncIterable<AgentEvent<T>> {
    return this.#hub.subscribe(options);
  }

  /** The number of the last event. */
  get lastSeq(): number {
    return this.#hub.seq;
  }

  /** The number of the last event that is stored: whoever has seen it goes on with `events({ after })`, in another process too. */
  get storedSeq(): number {
    return this.#hub.storedSeq;
  }

  /** What happened before the session was opened here: the stored events of these types, none when it is new. */
  async past<T extends EventType>(...types: readonly T[]): Promise<Iterable<AgentEvent<T>>> {
    const session = await this.#opening.begun?.catch(() => undefined);
    return session?.journal.events.of(...types) ?? [];
  }

  on<N extends SessionEventName>(name: N, listener: SessionEvents[N]): this {
    this.#listeners.add(name, listener);
    return this;
  }

  off<N extends SessionEventName>(name: N, listener: SessionEvents[N]): this {
    this.#listeners.delete(name, listener);
    return this;
  }

  attachTransport(transport: TransportAdapter): void {
    transport.attach(this);
  }

  /** Is it shut down, or about to be? */
  isClosed(): boolean {
    return this.#closing !== undefined;
  }

  isExecuting(): boolean {
    return this.#turns.inbox.isBusy;
  }

  /** The next prompt that waits. */
  getPendingPrompt(): string | null {
    const [next] = this.#turns.inbox.waiting;
    return next ? (next.displayInput ?? next.input) : null;
  }

  readonly getMessages = (): Message[] => this.#transcript.messages;
  readonly getFullHistory = (): HistoryEntry[] => [...this.#view.history];
  readonly getContextState = (): ContextState => this.#view.contextState;
  /** What the next request would be made of, part by part. */
  readonly getContextUse = (): Promise<ContextUse> => this.#turns.contextUse();
  readonly getStreamingText = (): string => this.#view.streamingText;
  readonly getActiveTools = (): ToolState[] => this.#view.activeTools;
  readonly getName = (): string | undefined => this.#view.name;

  async setName(name: string): Promise<void> {
    await this.#opening.open();
    this.#hub.emit({ type: "session.named", name });
    await this.#hub.flush();
  }

  /** Where the journal is, once the session is open and if it is on disk. */
  async journalLocation(): Promise<string | undefined> {
    return (await this.#opening.open()).journal.location;
  }

  async #checkpoints(): Promise<EditCheckpoints> {
    return (await this.controls()).checkpoints;
  }

  #take(input: string | UserMessage, options: SubmitOptions, wantsReceipt: boolean): InboxPrompt {
    if (this.#closing) throw new RuntimeError("closed", "The session is shut down");
    this.#cancelled = undefined;
    return this.#turns.take(input, options, wantsReceipt);
  }

  #follow(event: AgentEvent): void {
    if (!isEphemeral(event.type)) this.#transcript.apply(event);
    tellListeners(event, this.#told);
  }

  async #close(reason: string, waiting: "cancel" | "keep"): Promise<void> {
    const { inbox } = this.#turns;
    if (waiting === "keep") inbox.keepAll();
    else inbox.cancelAll("abort");
    inbox.interrupt("abort");
    this.#leaving.abort();
    await inbox.idle();
    const session = await this.#opening.begun?.catch(() => undefined);
    if (!session) {
      await this.#opening.close();
      return this.#hub.close();
    }
    await this.#tasks.shutdown("The session was shut down");
    await endSession({
      ...{ session, reason, hub: this.#hub, endHooks: () => this.#endHooks(reason) },
      remembered: this.#isStored ? this.#opening.options.sandboxClient : undefined,
    });
    await this.#opening.close();
  }

  async #endHooks(reason: string): Promise<void> {
    const session = await this.#opening.begun?.catch(() => undefined);
    const { hooks } = session?.deps ?? {};
    if (!hooks) return;
    const { endHooks } = await import("./prompts/end-hooks.ts");
    const [cancelled, { begun }] = [this.#cancelled, this.#turns.beginning];
    this.#hooksEnded ??= endHooks(hooks, { reason, begun, cancelled, emit: (event) => this.#hub.emit(event) });
    await this.#hooksEnded;
  }
}
