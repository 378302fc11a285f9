import type { CheckpointInspection, CheckpointSummary, RestoreOptions } from "../checkpoints/checkpoints.ts";
import type { RestoreResult } from "../checkpoints/restore.ts";
import type { CommandResult, CommandSummary } from "../commands/command.ts";
import { TurnAborted } from "../engine/turn-aborted.ts";
import { followConversation } from "../journal/kept-conversation.ts";
import { Transcript } from "../journal/transcript.ts";
import { type Answer, PermissionGate } from "../permissions/gate.ts";
import type { JsonValue, Message, UserMessage } from "../protocol/content.ts";
import { RuntimeError, toRuntimeError } from "../protocol/errors.ts";
import { type AgentEvent, type Emit, type EventType, isEphemeral, type PromptMode } from "../protocol/events.ts";
import type { CancelCause, Outcome } from "../protocol/outcome.ts";
import { createMemoryStore } from "../journal/memory-store.ts";
import type { SessionStore } from "../journal/store.ts";
import { toSendableInput } from "../model/sendable/sendable-content.ts";
import { monotonicMs } from "../util/monotonic-clock.ts";
import type { Masked } from "../util/masked.ts";
import { createRedactor, type Redactor } from "../util/redact.ts";
import { createIdSeries } from "../util/unique-ids.ts";
import { untilAborted } from "../util/until-aborted.ts";
import { SessionCommands } from "./session-commands.ts";
import { createSession, type OpenSession } from "./create-session.ts";
import type { SessionOptions } from "./session-options.ts";
import { EventHub, type SubscribeOptions } from "./event-hub.ts";
import type { CompactionReport, ContextState, HistoryEntry, ToolState } from "./history.ts";
import { Listeners } from "./listeners.ts";
import { endHooks } from "./end-hooks.ts";
import { tellOpening } from "./tell-opening.ts";
import { takeSnapshot } from "./take-snapshot.ts";
import { tellStopped } from "./tell-stopped.ts";
import { Inbox, type InboxPrompt, type SubmitOptions, toInboxPrompt } from "./inbox.ts";
import type { PromptRecords } from "./prompt-records.ts";
import { Beginning, nothingDone, runPromptTurn } from "./prompt-turn.ts";
import type { SessionControls } from "./session-controls.ts";
import { toShownOutcome } from "./shown-outcome.ts";
import { Steering } from "./steering.ts";
import { outcomeError, type PermissionRequest, type SessionEventName, type SessionEvents, SessionView } from "./session-view.ts";

/** Something that serves a session to the outside: it encodes its events and decodes requests to it. */
export interface TransportAdapter {
  readonly name: string;
  attach(session: InteractiveSession<unknown>): void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** A prompt that is on record: it survives the end of the process, and begins once. */
export type AcceptedPrompt<Structured = JsonValue> = {
  /** Also the `turnId` of its turn. */
  readonly id: string;
  /** Its key was known: this is the prompt that was given it first. */
  readonly isRepeated: boolean;
  /** How its turn went, or the turn that it joined. Rejects with `closed` when the session is shut down first and the prompt kept. */
  readonly outcome: Promise<Outcome<Structured>>;
};

/** A prompt that has not begun. */
export type WaitingPrompt = {
  readonly id: string;
  readonly key: string | undefined;
  readonly mode: PromptMode;
  readonly input: UserMessage;
  readonly displayInput: string | undefined;
  /** An earlier process accepted it: it begins when somebody says so. */
  readonly isHeld: boolean;
};

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
  signal: "terminated",
  deadline: "deadline",
  "output-closed": "output_closed",
};

/** A conversation with one agent. One turn at a time, the other prompts wait; everything it does comes out of `events()`. */
export class InteractiveSession<Structured = JsonValue> {
  readonly id: string;
  readonly #complete: CompleteOptions | undefined;
  readonly #isStored: boolean;
  readonly #store: SessionStore;
  #options: SessionOptions;
  readonly #redactor: Redactor;
  readonly #newId: () => string;
  readonly #hub: EventHub;
  readonly #view: SessionView;
  readonly #listeners = new Listeners<SessionEvents>((name, error) => this.#reportListener(name, error));
  readonly #gate = new PermissionGate();
  readonly #transcript = new Transcript();
  readonly #steering = new Steering();
  readonly #turnIds = new Set<string>();
  readonly #said = new WeakMap<Outcome<unknown>, Outcome>();
  #controls: Promise<SessionControls> | undefined;
  #opening: Promise<OpenSession> | undefined;
  #completed: CompletedOptions | undefined;
  readonly #leaving = new AbortController();
  #commands: SessionCommands;
  readonly #inbox: Inbox;
  #records: Promise<PromptRecords> | undefined;
  #closing: Promise<void> | undefined;
  readonly #beginning = new Beginning();
  #cancelled: CancelCause | undefined;

  /** `complete` adds to the options what takes time to find out, once, when the session is opened. */
  constructor(options: SessionOptions, complete?: CompleteOptions) {
    this.#complete = complete;
    this.#newId = options.newId ?? createIdSeries();
    this.id = options.resumeSessionId ?? options.sessionId ?? this.#newId();
    const store = options.sessionStore ?? createMemoryStore();
    this.#store = store;
    this.#isStored = options.sessionStore !== undefined;
    this.#redactor = options.redactor ?? createRedactor({ env: process.env });
    const isNew = options.resumeSessionId === undefined;
    this.#options = { ...options, ...(isNew && { sessionId: this.id }), sessionStore: store, redactor: this.#redactor };
    this.#view = new SessionView(options.provider.contextWindow);
    this.#hub = new EventHub({
      sessionId: this.id,
      store,
      now: options.now ?? Date.now,
      onEvent: (event) => this.#follow(event),
      onFault: (error) => this.#inbox.stop(error),
      redactor: this.#redactor,
    });
    this.#commands = new SessionCommands(options.commands);
    this.#inbox = new Inbox({
      limits: options.inbox,
      record: async (prompt) => await (await this.#openRecords()).record(prompt),
      recordCancelled: ({ id: promptId }, cause) => this.#hub.emit({ type: "prompt.cancelled", promptId, cause }),
      run: (prompt, controller, over) => this.#run(prompt, controller, over),
      isCommand: (message) => this.#commands.called(message) !== undefined,
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
    return await this.#toStructured(await this.#add(input, given, false).outcome);
  }

  /** The same for whoever must know that the prompt is safe: resolves as soon as it is on record, and rejects when it was not accepted. */
  async accept(input: string | UserMessage, options: SubmitOptions = {}): Promise<AcceptedPrompt<Structured>> {
    const prompt = this.#add(input, options, true);
    await prompt.recorded;
    const { id, repeats } = prompt;
    const outcome = prompt.outcome.then((ended) => this.#toStructured(ended));
    outcome.catch(() => {}); // whoever waits for it is told
    return { id: repeats ?? id, isRepeated: repeats !== undefined, outcome };
  }

  /** Prompts that are accepted and have not begun, in the order in which they will. */
  get inbox(): WaitingPrompt[] {
    return this.#inbox.waiting.map(({ id, key, mode, message, displayInput, isHeld }) => ({
      ...{ id, key, mode, input: message, displayInput, isHeld },
    }));
  }

  /** Takes back a prompt that waits; resolves when that is on record. False when it does not wait: it has begun, or there is none. */
  async cancelPrompt(id: string): Promise<boolean> {
    await this.#opening?.catch(() => {}); // then nothing waits that could be cancelled
    const isCancelled = this.#inbox.cancel(id);
    await this.#hub.flush();
    return isCancelled;
  }

  /** Lets prompts go on that an earlier process had accepted: they are held until somebody says so. All of them, or one. */
  async goOn(id?: string): Promise<void> {
    await this.#open();
    this.#inbox.release(id);
  }

  /** What `submit` resolved with, for others to read: masked, with `masked` saying where. */
  shown(outcome: Outcome<unknown>): Masked<Outcome> {
    return toShownOutcome(this.#said.get(outcome) ?? (outcome as Outcome), this.#redactor); // anything else is as the model said it
  }

  /**
   * Hands in something for the running turn: the model reads it before it is asked again. `missed` when no turn runs, or when it ended first;
   * the input is then nowhere, and may be submitted. Until it is a part of the turn, aborting `taken` takes it back.
   */
  async steer(input: UserMessage, taken?: AbortSignal): Promise<"joined" | "missed"> {
    const isForModel = this.#commands.called(input) === undefined;
    return this.#inbox.isBusy && isForModel ? await this.#steering.add(await toSendableInput(input), taken) : "missed";
  }

  /** For hosts that change the model, the permission mode or the tools while the session lives. */
  async controls(): Promise<SessionControls> {
    this.#controls ??= this.#openControls();
    return await this.#controls;
  }

  /** Stops the running turn and drops what waits. `interrupted` fires when it has stopped. */
  abort(cause: CancelCause = "abort"): void {
    this.#inbox.cancelAll(cause);
    this.#cancelled = cause;
    this.#inbox.interrupt(cause);
  }

  /** Stops the running turn; the next prompt begins. */
  interrupt(cause: CancelCause = "abort"): void {
    this.#inbox.interrupt(cause);
  }

  /**
   * Summarises the older part of the conversation now; `instructions` say what to dwell on. Undefined when there is nothing to summarise.
   * Takes the place of a turn: refused with `busy` while one runs, and stopped by `abort`.
   */
  async compact(instructions?: string): Promise<CompactionReport | undefined> {
    if (this.#closing) throw new RuntimeError("closed", "The session is shut down");
    return await this.#inbox.instead((signal) => this.#compact((event) => this.#hub.emit(event), signal, instructions));
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

  /** Ends one subagent, known from its `task.started`; the turn goes on without it. False when no such one runs. */
  async stopTask(taskId: string): Promise<boolean> {
    return (await this.#opening)?.subagents?.stop(taskId) ?? false;
  }

  /** Drops the prompts that wait; each `submit` resolves as cancelled. */
  cancelQueue(): void {
    this.#inbox.cancelAll("abort");
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
    const command = this.#commands.get(name);
    if (!command) return null;
    const { runCommand } = await import("./command-turn.ts");
    const { id: sessionId } = this;
    const { signal } = this.#leaving;
    return await runCommand(
      { command, args },
      { sessionId, cwd: this.#options.cwd, signal, compact: (focus) => this.compact(focus) },
    );
  }

  /** What a prompt that begins with a slash may start. */
  listCommands(): CommandSummary[] {
    return this.#commands.list();
  }

  /** What a `permission.requested` of `events()` asks about, with the real input of the call; undefined when nobody waits for an answer any more. */
  openPermission({ requestId, taskId }: AgentEvent<"permission.requested">): PermissionRequest | undefined {
    const question = this.#gate.question(requestId);
    if (!question) return undefined;
    const { callId: toolCallId, tool: toolName, input, reason, rule } = question;
    return {
      ...{ requestId, toolCallId, toolName, input, reason },
      ...(rule !== undefined && { rule }),
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
    return this.#inbox.isBusy;
  }

  /** The next prompt that waits. */
  getPendingPrompt(): string | null {
    const [next] = this.#inbox.waiting;
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
    this.#commands = new SessionCommands(this.#options.commands);
    const session = await createSession({ ...this.#options, newId: this.#newId }, this.id, this.#gate);
    const { journal, past } = session;
    const { turnIds, compactions } = followConversation(past, this.#transcript);
    for (const turnId of turnIds) this.#turnIds.add(turnId);
    for (const event of compactions) session.compaction.remember(event);
    // A turn that was left behind keeps its name.
    if (past !== journal.events) for (const { turnId } of journal.events.of("turn.started")) this.#turnIds.add(turnId ?? "");
    this.#view.resume(past);
    const isWaitedFor = journal.events.last("prompt.accepted") !== undefined;
    if (journal.events.length > 0) this.#beginning.source = "resume";
    this.#hub.attach(journal);
    tellOpening(session, { options: this.#options, name: this.#view.name, emit: (event) => this.#hub.emit(event) });
    await this.#hub.flush();
    if (isWaitedFor) {
      this.#records = this.#createRecords(session);
      this.#inbox.recover((await this.#records).recover());
    }
    return session;
  }

  async #openRecords(): Promise<PromptRecords> {
    const session = await this.#open();
    this.#records ??= this.#createRecords(session);
    return await this.#records;
  }

  async #createRecords(session: OpenSession): Promise<PromptRecords> {
    const { PromptRecords } = await import("./prompt-records.ts");
    return new PromptRecords({
      session,
      sessionId: this.id,
      store: this.#store,
      emit: (event) => this.#hub.emit(event),
      flush: () => this.#hub.flush(),
      beginning: this.#beginning,
      turnIds: this.#turnIds,
      newId: this.#newId,
      isCommand: ({ message }) => this.#commands.called(message) !== undefined,
      release: (id) => this.#inbox.release(id),
      leaving: this.#leaving.signal,
    });
  }

  #add(input: string | UserMessage, options: SubmitOptions, wantsReceipt: boolean): InboxPrompt {
    if (this.#closing) throw new RuntimeError("closed", "The session is shut down");
    const prompt = toInboxPrompt(input, options, this.#newId);
    this.#inbox.add(prompt, { wantsReceipt });
    return prompt;
  }

  /** Never rejects: a turn's failure is its outcome, and a broken store is told to every reader by the hub. */
  async #run(prompt: InboxPrompt, controller: AbortController, finish: () => void): Promise<Outcome> {
    let turnId = prompt.id;
    let over = false;
    // What something in the background has to tell after its turn belongs to no turn.
    const emitFrom = (taskId?: string): Emit => {
      return (event) => this.#hub.emit(event, over ? undefined : turnId, taskId);
    };
    const startedAt = monotonicMs();
    let report = nothingDone;
    try {
      const session = this.#complete ? await untilAborted(this.#open(), controller.signal) : await this.#open();
      if (this.#turnIds.has(turnId) && !prompt.isRecorded) turnId = this.#newId(); // a host gave the name of an earlier turn
      this.#turnIds.add(turnId);
      report = await runPromptTurn({
        session,
        prompt,
        turnId,
        controller,
        transcript: this.#transcript,
        hub: this.#hub,
        emitFrom,
        takeInput: () => [
          ...this.#steering.take().map((added) => ({ input: added, origin: "user" as const })),
          ...this.#inbox.take(),
        ],
        beginning: this.#beginning,
        commands: this.#commands,
        commandContext: (emit, signal) => ({
          ...{ sessionId: this.id, cwd: this.#options.cwd, signal },
          compact: (focus) => this.#compact(emit, signal, focus),
        }),
      });
      this.#steering.end();
      finish();
      over = true;
      this.#hub.emit({ type: "turn.ended", ...report, durationMs: Math.round(monotonicMs() - startedAt) }, turnId);
      await this.#hub.flush();
      return report.outcome;
    } catch (error) {
      this.#steering.end();
      finish();
      if (error instanceof TurnAborted) return { type: "cancelled", cause: error.by, text: "" }; // before there was a session
      return this.#unrecordable(error, report.outcome.text);
    }
  }

  async #compact(emit: Emit, signal: AbortSignal, instructions?: string): Promise<CompactionReport | undefined> {
    const { compaction, deps } = await this.#open();
    deps.provider.ledger.begin();
    const result = await compaction.compact({ emit, signal, transcript: this.#transcript }, instructions);
    await this.#hub.flush();
    return result && this.#view.lastCompaction;
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
    if (waiting === "keep") this.#inbox.keepAll();
    else this.#inbox.cancelAll("abort");
    this.#inbox.interrupt("abort");
    this.#leaving.abort();
    await this.#inbox.idle();
    const session = await this.#opening?.catch(() => undefined);
    if (!session) {
      await this.#completed?.close?.();
      return this.#hub.close();
    }
    const { hooks } = session.deps;
    const hurried = this.#cancelled !== undefined && this.#cancelled !== "abort";
    const emit: Emit = (event) => this.#hub.emit(event);
    if (hooks) await endHooks(hooks, { reason, begun: this.#beginning.begun, hurried, emit });
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
