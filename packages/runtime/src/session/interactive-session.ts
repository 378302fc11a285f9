import type { CheckpointInspection, CheckpointSummary, RestoreOptions } from "../checkpoints/checkpoints.ts";
import type { RestoreResult } from "../checkpoints/restore.ts";
import type { CommandResult, CommandSummary } from "../commands/command.ts";
import type { Skill } from "../commands/skills/skill.ts";
import { followConversation } from "../journal/kept-conversation.ts";
import { Transcript } from "../journal/transcript.ts";
import { type Answer, PermissionGate } from "../permissions/gate.ts";
import type { JsonValue, Message, UserMessage } from "../protocol/content.ts";
import { RuntimeError, toRuntimeError } from "../protocol/errors.ts";
import { type AgentEvent, type Emit, type EventType, isEphemeral } from "../protocol/events.ts";
import type { CancelCause, Outcome } from "../protocol/outcome.ts";
import type { BackgroundTaskState } from "../protocol/background-task.ts";
import type { BackgroundTaskManager } from "../tasks/background/background-task-manager.ts";
import type {
  BackgroundTaskInput,
  BackgroundTaskListFilter,
  BackgroundTaskLogCursor,
  BackgroundTaskLogPage,
} from "../tasks/background/task-contract.ts";
import { BackgroundWork, type TaskNotice } from "./tasks/background-work.ts";
import type { FinishedWork, WorkCeilings } from "./tasks/finish-work.ts";
import { createMemoryStore } from "../journal/memory-store.ts";
import type { Masked } from "../util/masked.ts";
import { createRedactor, type Redactor } from "../util/redact.ts";
import { createIdSeries } from "../util/unique-ids.ts";
import { createSession, type OpenSession } from "./create-session.ts";
import type { SessionOptions } from "./session-options.ts";
import { EventHub, type SubscribeOptions } from "./events/event-hub.ts";
import type { CompactionReport, ContextState, HistoryEntry, ToolState } from "./past/history.ts";
import { Listeners } from "./events/listeners.ts";
import { CommandQuestions } from "./commands/command-questions.ts";
import type { CommandGround } from "./prompts/command-turn.ts";
import { endHooks } from "./prompts/end-hooks.ts";
import { tellOpening } from "./events/tell-opening.ts";
import { takeSnapshot } from "./files/take-snapshot.ts";
import { tellStopped } from "./events/tell-stopped.ts";
import type { InboxPrompt, SubmitOptions } from "./prompts/inbox.ts";
import { SessionTurns, type AcceptedPrompt, type WaitingPrompt } from "./prompts/session-turns.ts";
import type { SessionControls } from "./session-controls.ts";
import { toShownOutcome } from "./events/shown-outcome.ts";
import { outcomeError, type PermissionRequest, type SessionEventName, type SessionEvents, SessionView } from "./session-view.ts";

/** Something that serves a session to the outside: it encodes its events and decodes requests to it. */
export interface TransportAdapter {
  readonly name: string;
  attach(session: InteractiveSession<unknown>): void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export type ShutdownOptions = {
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly waiting?: "cancel" | "keep" | undefined;
};

/** Options that are known only when the session is opened, and what to do with what was opened for them. */
export type CompletedOptions = {
  readonly options: SessionOptions;
  /** Called when the session has ended. */
  close?(): Promise<void>;
};

export type Completing = {
  readonly session: InteractiveSession<unknown>;
  /** The session is being shut down: nothing that takes time is worth it any more. */
  readonly leaving: AbortSignal;
};

export type CompleteOptions = (options: SessionOptions, completing: Completing) => Promise<CompletedOptions>;

/** What SessionEnd hooks and the record are told when nobody gives a reason. */
const endReasons: Record<CancelCause, string> = {
  abort: "other",
  superseded: "other",
  signal: "terminated",
  deadline: "deadline",
  "output-closed": "output_closed",
};

/** A conversation with one agent. One turn at a time, the other prompts wait; everything it does comes out of `events()`. */
export class InteractiveSession<Structured = JsonValue> {
  readonly id: string;
  readonly #complete: CompleteOptions | undefined;
  readonly #isStored: boolean;
  #options: SessionOptions;
  readonly #redactor: Redactor;
  readonly #newId: () => string;
  readonly #hub: EventHub;
  readonly #view: SessionView;
  readonly #listeners = new Listeners<SessionEvents>((name, error) => this.#reportListener(name, error));
  readonly #gate = new PermissionGate();
  readonly #transcript = new Transcript();
  readonly #said = new WeakMap<Outcome<unknown>, Outcome>();
  #controls: Promise<SessionControls> | undefined;
  #opening: Promise<OpenSession> | undefined;
  #completed: CompletedOptions | undefined;
  readonly #leaving = new AbortController();
  #work: BackgroundWork | undefined;
  readonly #turns: SessionTurns;
  #closing: Promise<void> | undefined;
  readonly #questions: CommandQuestions;
  #cancelled: CancelCause | undefined;

  /** `complete` adds to the options what takes time to find out, once, when the session is opened. */
  constructor(options: SessionOptions, complete?: CompleteOptions) {
    this.#complete = complete;
    this.#newId = options.newId ?? createIdSeries();
    this.id = options.resumeSessionId ?? options.sessionId ?? this.#newId();
    const store = options.sessionStore ?? createMemoryStore();
    this.#isStored = options.sessionStore !== undefined;
    this.#redactor = options.redactor ?? createRedactor({ env: process.env });
    const isNew = options.resumeSessionId === undefined;
    this.#options = { ...options, ...(isNew && { sessionId: this.id }), sessionStore: store, redactor: this.#redactor };
    this.#questions = new CommandQuestions(options.answersInteractions ?? false);
    this.#view = new SessionView(options.provider.contextWindow);
    this.#hub = new EventHub({
      sessionId: this.id,
      store,
      now: options.now ?? Date.now,
      onEvent: (event) => this.#follow(event),
      onFault: (error) => this.#turns.inbox.stop(error),
      redactor: this.#redactor,
    });
    this.#turns = new SessionTurns({
      sessionId: this.id,
      store,
      newId: this.#newId,
      hub: this.#hub,
      transcript: this.#transcript,
      options: () => this.#options,
      open: () => this.#open(),
      opensSlowly: complete !== undefined,
      leaving: this.#leaving.signal,
      work: () => this.#workOf(),
      onTurnEnded: () => this.#work?.change(),
      commandGround: () => this.#commandGround(),
      lastCompaction: () => this.#view.lastCompaction,
      unrecordable: (thrown, text) => this.#unrecordable(thrown, text),
    });
  }

  /** Opens the journal and puts the session together; the first prompt does so by itself. Rejects when that is impossible. */
  async open(): Promise<void> {
    await this.#open();
  }

  /**
   * Hands in a prompt; resolves with how its turn went, with the answer as the model gave it. While a turn runs, prompts wait for its end, or
   * join or end it, as their `mode` says; with too many of them another one is refused with `busy`.
   * `displayInput` is what people are shown instead of `input`; `rawInput` is what the user typed, kept for hooks.
   */
  async submit(input: string | UserMessage, options?: string | SubmitOptions, rawInput?: string): Promise<Outcome<Structured>> {
    const given = typeof options === "object" ? options : { displayInput: options, rawInput };
    return await this.#toStructured(await this.#take(input, given, false).outcome);
  }

  /** The same for whoever must know that the prompt is safe: resolves as soon as it is on record, and rejects when it was not accepted. */
  async accept(input: string | UserMessage, options: SubmitOptions = {}): Promise<AcceptedPrompt<Structured>> {
    const prompt = this.#take(input, options, true);
    await prompt.recorded;
    const { id, repeats, isOver = false } = prompt;
    const outcome = prompt.outcome.then((ended) => this.#toStructured(ended));
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
    await this.#opening?.catch(() => {}); // then nothing waits that could be cancelled
    const isCancelled = this.#turns.inbox.cancel(id);
    await this.#hub.flush();
    return isCancelled;
  }

  /** Lets prompts go on that an earlier process had accepted: they are held until somebody says so. All of them, or one. */
  async goOn(id?: string): Promise<void> {
    await this.#open();
    this.#turns.inbox.release(id);
  }

  /** What `submit` resolved with, for others to read: masked, with `masked` saying where. */
  shown(outcome: Outcome<unknown>): Masked<Outcome> {
    return toShownOutcome(this.#said.get(outcome) ?? (outcome as Outcome), this.#redactor); // anything else is as the model said it
  }

  /** For hosts that change the model, the permission mode or the tools while the session lives. */
  async controls(): Promise<SessionControls> {
    this.#controls ??= this.#openControls();
    return await this.#controls;
  }

  /** Stops the running turn and drops what waits. `interrupted` fires when it has stopped. */
  abort(cause: CancelCause = "abort"): void {
    this.#turns.inbox.cancelAll(cause);
    this.#cancelled = cause;
    this.#turns.inbox.interrupt(cause);
    this.#work?.change();
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
  async listEditCheckpoints(): Promise<CheckpointSummary[]> {
    return await (await this.controls()).checkpoints.list();
  }

  /** The files a prompt changed, and what going back would do. */
  async inspectEditCheckpoint(id: string): Promise<CheckpointInspection> {
    return await (await this.controls()).checkpoints.inspect(id);
  }

  /** Puts the files as the checkpoint left them. Refused with `busy` while a turn runs; what others changed in between stays without `force`. */
  async restoreEditCheckpoint(id: string, options?: RestoreOptions): Promise<RestoreResult> {
    return await (await this.controls()).checkpoints.restore(id, options);
  }

  /** The same, and undoes the checkpoint itself too. */
  async rollbackEditCheckpoint(id: string, options?: RestoreOptions): Promise<RestoreResult> {
    return await (await this.controls()).checkpoints.rollback(id, options);
  }

  /** At which share of the context window older messages give way to a summary; `false` never. */
  async getAutoCompactThreshold(): Promise<number | false> {
    return (await this.#open()).compaction.threshold;
  }

  async setAutoCompactThreshold(threshold: number | false): Promise<void> {
    await (await this.#open()).compaction.setThreshold(threshold);
  }

  /** Ends one task or subagent, known from its `background.created` or `task.started`; the turn goes on without it. False when no such one runs. */
  async stopTask(taskId: string): Promise<boolean> {
    if ((await this.#opening)?.subagents.stop(taskId)) return true;
    if (!this.listBackgroundTasks().some(({ id, completedAt }) => id === taskId && completedAt === undefined)) return false;
    await this.cancelBackgroundTask(taskId, "Somebody stopped it");
    return true;
  }

  /** Work that goes on beside the conversation, and what has ended of it since the session was opened here. */
  listBackgroundTasks(filter?: BackgroundTaskListFilter): BackgroundTaskState[] {
    return this.#work?.registry?.manager.list(filter) ?? [];
  }

  getBackgroundTask(taskId: string): BackgroundTaskState | undefined {
    return this.#work?.registry?.manager.get(taskId);
  }

  /** Resolves when nothing of it is left. The model hears of it. */
  async cancelBackgroundTask(taskId: string, reason?: string): Promise<void> {
    await (await this.#manager()).cancel(taskId, reason);
  }

  /** Forgets a task that has ended. */
  async closeBackgroundTask(taskId: string): Promise<void> {
    (await this.#manager()).close(taskId);
  }

  /** To the standard input of a program. */
  async sendBackgroundTask(taskId: string, input: BackgroundTaskInput): Promise<void> {
    await (await this.#manager()).send(taskId, input);
  }

  /** A page of what a task printed; the next one begins at `nextCursor`. */
  async readBackgroundTaskLog(taskId: string, cursor?: BackgroundTaskLogCursor): Promise<BackgroundTaskLogPage> {
    return await (await this.#manager()).readLog(taskId, cursor);
  }

  /**
   * For whoever is about to end the session: resolves when no task is open any more and no turn runs, at a ceiling with what was left stopped,
   * or when the session is aborted.
   */
  async finishBackgroundTasks(ceilings: WorkCeilings = {}): Promise<FinishedWork> {
    const work = this.#work;
    if (!work?.registry) return { stopped: [] };
    const { finishWork } = await import("./tasks/finish-work.ts");
    const emit: Emit = (event) => this.#hub.emit(event);
    const finished = await finishWork({ work, ceilings, emit, cancelled: () => this.#cancelled });
    await this.#hub.flush().catch(() => {}); // every reader has been told
    return finished;
  }

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

  /** Runs a command for its result, without a turn; null when there is none of that name. */
  async executeCommand(name: string, args: string): Promise<CommandResult | null> {
    if (this.#closing) return this.#turns.commands.get(name) ? { success: false, message: "The session is shut down" } : null;
    return await this.#turns.executeCommand(name, args);
  }

  /** Answers an `interaction.requested`; without a value it is cancelled. False when nobody waits for it any more. */
  answerInteraction(interactionId: string, value?: string): boolean {
    return this.#questions.answer(interactionId, value);
  }

  /** Puts a skill to work: for `user` as a prompt of its own, for `model` its text is the result. */
  async executeSkillCommandByName(
    name: string,
    args: string,
    { invocationSource }: { readonly invocationSource: "user" | "model" },
  ): Promise<CommandResult> {
    const { executeSkill } = await import("./commands/command-host.ts");
    return await executeSkill(this, { name, args, invocationSource, skills: this.#turns.skills });
  }

  /** What a prompt that begins with a slash may start. */
  listCommands(): CommandSummary[] {
    return this.#turns.commands.list();
  }

  /** The skills in files that people may use, with what they say about themselves; commands are not among them. */
  listSkills(): Skill[] {
    return this.#turns.skills.typed.filter(({ kind, hasHead }) => kind === "skill" && hasHead);
  }

  /** Looks for skills and commands in files again: what people may type is up to date then. What the model was told stays as it is. */
  async reloadSkills(): Promise<Skill[]> {
    await this.#open();
    for (const message of await this.#turns.skills.reload()) this.#hub.emit({ type: "warning.raised", message });
    return this.listSkills();
  }

  /** What a `permission.requested` of `events()` asks about, with the real input of the call; undefined when nobody waits for an answer any more. */
  openPermission({ requestId, taskId }: AgentEvent<"permission.requested">): PermissionRequest | undefined {
    const question = this.#gate.question(requestId);
    if (!question) return undefined;
    const { callId: toolCallId, tool: toolName, input, reason, rule, by } = question;
    return {
      ...{ requestId, toolCallId, toolName, input, reason },
      ...(rule !== undefined && { rule }),
      ...(by !== undefined && { by }),
      ...(taskId !== undefined && { taskId }),
    };
  }

  /** Answers an open `permission_request`, with a word or with all that can be said to it. */
  answerPermission(requestId: string, answer: Answer | Answer["decision"]): void {
    this.#gate.answer(requestId, answer);
  }

  /** Everything that happens, or what of it is wanted, from this call on; with `after`, stored events first. */
  events<T extends EventType = EventType>(options: SubscribeOptions<T> = {}): AsyncIterable<AgentEvent<T>> {
    return this.#hub.subscribe(options);
  }

  /** The number of the last event. */
  get lastSeq(): number {
    return this.#hub.seq;
  }

  /** What happened before the session was opened here: the stored events of these types, none when it is new. */
  async past<T extends EventType>(...types: readonly T[]): Promise<Iterable<AgentEvent<T>>> {
    const session = await this.#opening?.catch(() => undefined);
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

  getMessages(): Message[] {
    return this.#transcript.messages;
  }

  getFullHistory(): HistoryEntry[] {
    return [...this.#view.history];
  }

  getContextState(): ContextState {
    return this.#view.contextState;
  }

  getStreamingText(): string {
    return this.#view.streamingText;
  }

  getActiveTools(): ToolState[] {
    return this.#view.activeTools;
  }

  getName(): string | undefined {
    return this.#view.name;
  }

  async setName(name: string): Promise<void> {
    await this.#open();
    this.#hub.emit({ type: "session.named", name });
    await this.#hub.flush();
  }

  /** Where the journal is, once the session is open and if it is on disk. */
  async journalLocation(): Promise<string | undefined> {
    return (await this.#open()).journal.location;
  }

  /** A library's schema may make other types of what the model said. That is for the program; what is shown and stored stays JSON. */
  async #toStructured(outcome: Outcome): Promise<Outcome<Structured>> {
    const { outputSchema } = this.#options;
    if (!outputSchema || outcome.type !== "completed" || outcome.structured === undefined) return outcome as Outcome<Structured>;
    const { toStructured } = await import("../tools/library-schema.ts");
    const made = { ...outcome, structured: (await toStructured(outputSchema, outcome.structured)) as Structured };
    this.#said.set(made, outcome);
    return made;
  }

  async #commandGround(): Promise<CommandGround> {
    const { createCommandHost, applyToSession } = await import("./commands/command-host.ts");
    const store = this.#options.sessionStore;
    const calls = async (): Promise<AgentEvent<"message.ended" | "side-call.ended">[]> => {
      await this.#hub.flush();
      const events = (await store?.read(this.id, { types: ["message.ended", "side-call.ended"] })) ?? [];
      return events.filter((event) => event.type === "message.ended" || event.type === "side-call.ended");
    };
    const ground = {
      session: this,
      options: this.#options,
      calls,
      clear: () => this.#clear(),
      contextUse: () => this.#turns.contextUse(),
    };
    return {
      host: createCommandHost(ground),
      applyEffect: (effect) => applyToSession(effect, ground),
      questions: this.#questions,
      newId: this.#newId,
    };
  }

  /** Nothing said so far is a part of the conversation any more; it stays on record. */
  async #clear(): Promise<void> {
    await this.#open();
    this.#hub.emit({ type: "session.rewound", to: 1 });
    this.#transcript.restore(new Transcript().state);
    this.#hub.emit({ type: "context.updated", usedTokens: 0, maxTokens: this.#view.contextState.maxTokens });
    await this.#hub.flush();
  }

  async #openControls(): Promise<SessionControls> {
    const session = await this.#open();
    const { SessionControls } = await import("./session-controls.ts");
    return new SessionControls(session.controlled, (event) => this.#hub.emit(event));
  }

  #open(): Promise<OpenSession> {
    this.#opening ??= this.#openOnce();
    return this.#opening;
  }

  async #openOnce(): Promise<OpenSession> {
    const completed = await this.#complete?.(this.#options, { session: this, leaving: this.#leaving.signal });
    if (completed) this.#options = { ...completed.options, sessionStore: this.#options.sessionStore, redactor: this.#redactor };
    this.#completed = completed;
    const session = await createSession({ ...this.#options, newId: this.#newId }, this.id, {
      gate: this.#gate,
      skills: this.#turns.skills,
      execute: async (command, args, signal) => await this.#turns.runProjected(command, args, signal),
    });
    const { journal, past } = session;
    const { turnIds, compactions } = followConversation(past, this.#transcript);
    for (const turnId of turnIds) this.#turns.know(turnId);
    for (const event of compactions) session.compaction.remember(event);
    this.#view.resume(past);
    this.#hub.attach(journal);
    tellOpening(session, { options: this.#options, name: this.#view.name, emit: (event) => this.#hub.emit(event) });
    await this.#hub.flush();
    await this.#turns.recover(session);
    this.#work = this.#createWork(session);
    await this.#work.recover();
    return session;
  }

  #createWork({ journal, taskFolder, deps }: OpenSession): BackgroundWork {
    return new BackgroundWork({
      sessionId: this.id,
      past: journal.events,
      folder: taskFolder,
      mask: (text) => deps.redactor.text(text),
      emit: (event) => this.#hub.emit(event),
      flush: () => this.#hub.flush(),
      now: this.#options.now ?? Date.now,
      isIdle: () => this.#turns.inbox.isIdle,
      wake: this.#options.wakes === false ? undefined : (notice) => this.#wake(notice),
    });
  }

  #wake(notice: TaskNotice): void {
    if (!this.#closing && this.#cancelled === undefined) this.#turns.tell(notice);
  }

  #workOf(): BackgroundWork {
    if (!this.#work) throw new RuntimeError("internal", "The session is not open");
    return this.#work;
  }

  async #manager(): Promise<BackgroundTaskManager> {
    await this.#open();
    return (await this.#workOf().load()).manager;
  }

  #take(input: string | UserMessage, options: SubmitOptions, wantsReceipt: boolean): InboxPrompt {
    if (this.#closing) throw new RuntimeError("closed", "The session is shut down");
    this.#cancelled = undefined;
    return this.#turns.take(input, options, wantsReceipt);
  }

  /** Nothing can be stored any more, or nothing could be opened: readers and listeners hear it, and the outcome says it. */
  #unrecordable(thrown: unknown, text: string): Outcome {
    const outcome: Outcome = { type: "failed", error: toRuntimeError(thrown).toJSON(), text };
    this.#hub.fail(thrown);
    this.#listeners.notify("thinking", false);
    this.#listeners.notify("error", outcomeError(outcome));
    return outcome;
  }

  #follow(event: AgentEvent): void {
    if (!isEphemeral(event.type)) this.#transcript.apply(event);
    this.#view.apply(event, (name, ...args) => this.#listeners.notify(name, ...args));
    if (event.type !== "permission.requested") return;
    const request = this.openPermission(event); // the event is for those who watch; whoever answers is asked about the real call
    if (request) this.#listeners.notify("permission_request", request);
  }

  /** The program's own bug: told where its author looks, and in the journal. */
  #reportListener(name: SessionEventName, error: unknown): void {
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const message = `A listener of "${name}" has thrown: ${reason}`;
    process.emitWarning(message, "OutriderListenerError");
    if (!this.#closing) queueMicrotask(() => this.#hub.emit({ type: "warning.raised", message }));
  }

  async #close(reason: string, waiting: "cancel" | "keep"): Promise<void> {
    const { inbox } = this.#turns;
    if (waiting === "keep") inbox.keepAll();
    else inbox.cancelAll("abort");
    inbox.interrupt("abort");
    this.#leaving.abort();
    await inbox.idle();
    const session = await this.#opening?.catch(() => undefined);
    if (!session) {
      await this.#completed?.close?.();
      return this.#hub.close();
    }
    await this.#work?.shutdown("The session was shut down");
    const { hooks } = session.deps;
    const hurried = this.#cancelled !== undefined && this.#cancelled !== "abort";
    const emit: Emit = (event) => this.#hub.emit(event);
    if (hooks) await endHooks(hooks, { reason, begun: this.#turns.beginning.begun, hurried, emit });
    const sandboxSnapshotId = this.#isStored ? await takeSnapshot(this.#options.sandboxClient, emit) : undefined;
    await session.workspace.close();
    session.temporary?.remove();
    tellStopped(session.workspace, emit);
    this.#hub.emit({ type: "session.ended", reason, ...(sandboxSnapshotId !== undefined && { sandboxSnapshotId }) });
    await this.#hub.flush().catch(() => {}); // every reader has already been told
    this.#hub.close();
    await session.journal.close();
    await this.#completed?.close?.();
  }
}
