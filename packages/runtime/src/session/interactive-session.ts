import { rmSync } from "node:fs";
import type { CheckpointInspection, CheckpointSummary, RestoreOptions } from "../checkpoints/checkpoints.ts";
import type { RestoreResult } from "../checkpoints/restore.ts";
import type { CommandResult, CommandSummary } from "../commands/command.ts";
import { TurnAborted } from "../engine/turn-aborted.ts";
import { Transcript } from "../journal/transcript.ts";
import { type Answer, PermissionGate } from "../permissions/gate.ts";
import { type JsonValue, type Message, textOf, type UserMessage, userText } from "../protocol/content.ts";
import { RuntimeError, toRuntimeError } from "../protocol/errors.ts";
import { type AgentEvent, type Emit, type EventType, isEphemeral } from "../protocol/events.ts";
import type { CancelCause, Outcome } from "../protocol/outcome.ts";
import { createMemoryStore } from "../journal/memory-store.ts";
import { monotonicMs } from "../util/monotonic-clock.ts";
import type { Masked } from "../util/masked.ts";
import { createRedactor, type Redactor } from "../util/redact.ts";
import { createIdSeries } from "../util/unique-ids.ts";
import { untilAborted } from "../util/until-aborted.ts";
import { compactCommand, listCommands, toCommandResult, toCompactCommand } from "./compact-command.ts";
import { createSession, type OpenSession } from "./create-session.ts";
import type { SessionOptions } from "./session-options.ts";
import { EventHub, type SubscribeOptions } from "./event-hub.ts";
import type { CompactionReport, ContextState, HistoryEntry, ToolState } from "./history.ts";
import { Listeners } from "./listeners.ts";
import { endHooks } from "./end-hooks.ts";
import { tellOpening } from "./tell-opening.ts";
import { takeSnapshot } from "./take-snapshot.ts";
import { tellStopped } from "./tell-stopped.ts";
import { type Beginning, nothingDone, type Prompt, runPromptTurn } from "./prompt-turn.ts";
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

/** A prompt whose turn has an id that was chosen outside, such as a host's own name for its message. */
export type NamedPrompt = UserMessage & { readonly turnId: string };

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

type WaitingPrompt = Prompt & { readonly settle: (outcome: Outcome) => void };
type Running = { controller: AbortController; done: Promise<void> };

/** What SessionEnd hooks and the record are told when nobody gives a reason. */
const endReasons: Record<CancelCause, string> = {
  abort: "other",
  signal: "terminated",
  deadline: "deadline",
  "output-closed": "output_closed",
};

/** A conversation with one agent. One turn at a time, one prompt waiting; everything it does comes out of `events()`. */
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
  readonly #steering = new Steering();
  readonly #turnIds = new Set<string>();
  readonly #said = new WeakMap<Outcome<unknown>, Outcome>();
  #controls: Promise<SessionControls> | undefined;
  #opening: Promise<OpenSession> | undefined;
  #completed: CompletedOptions | undefined;
  readonly #leaving = new AbortController();
  #running: Running | undefined;
  #queued: WaitingPrompt | undefined;
  #closing: Promise<void> | undefined;
  readonly #beginning: Beginning = { begun: false, source: "startup" };
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
    this.#view = new SessionView(options.provider.contextWindow);
    this.#hub = new EventHub({
      sessionId: this.id,
      store,
      now: options.now ?? Date.now,
      onEvent: (event) => this.#follow(event),
      onFault: (error) => this.#running?.controller.abort(error),
      redactor: this.#redactor,
    });
  }

  /** Opens the journal and puts the session together; the first prompt does so by itself. Rejects when that is impossible. */
  async open(): Promise<void> {
    await this.#open();
  }

  /**
   * Hands in a prompt; resolves with how its turn went, with the answer as the model gave it. While a turn runs, one prompt waits for its end; another one is refused.
   * `displayInput` is what people are shown instead of `input`; `rawInput` is what the user typed, kept for hooks.
   */
  async submit(
    input: string | UserMessage | NamedPrompt,
    displayInput?: string,
    rawInput?: string,
  ): Promise<Outcome<Structured>> {
    if (this.#closing) throw new RuntimeError("closed", "The session is shut down");
    if (this.#queued) throw new RuntimeError("busy", "A turn is running and another prompt is waiting", { retryable: true });
    const outcome = await new Promise<Outcome>((settle) => {
      const { turnId, ...message } = { turnId: undefined, ...(typeof input === "string" ? userText(input) : input) };
      const words = textOf(message.content);
      const shown = displayInput ?? (rawInput !== words ? rawInput : undefined);
      const prompt: WaitingPrompt = { message, turnId, input: words, rawInput: rawInput ?? words, displayInput: shown, settle };
      if (this.#running) this.#queued = prompt;
      else this.#start(prompt);
    });
    return await this.#toStructured(outcome);
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
    const isForModel = toCompactCommand(input) === undefined;
    return this.#running && isForModel ? await this.#steering.add(input, taken) : "missed";
  }

  /** For hosts that change the model, the permission mode or the tools while the session lives. */
  async controls(): Promise<SessionControls> {
    this.#controls ??= this.#openControls();
    return await this.#controls;
  }

  /** Stops the running turn and drops the waiting prompt. `interrupted` fires when it has stopped. */
  abort(cause: CancelCause = "abort"): void {
    this.cancelQueue();
    this.#cancelled = cause;
    this.#running?.controller.abort(new TurnAborted(cause));
  }

  /**
   * Summarises the older part of the conversation now; `instructions` say what to dwell on. Undefined when there is nothing to summarise.
   * Takes the place of a turn: refused with `busy` while one runs, and stopped by `abort`.
   */
  async compact(instructions?: string): Promise<CompactionReport | undefined> {
    if (this.#closing) throw new RuntimeError("closed", "The session is shut down");
    if (this.#running) throw new RuntimeError("busy", "A turn is running", { retryable: true });
    const controller = new AbortController();
    const compacting = this.#compact(controller.signal, instructions);
    this.#running = {
      controller,
      done: compacting.then(
        () => {},
        () => {},
      ),
    };
    try {
      return await compacting;
    } finally {
      this.#finish();
    }
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

  /** Drops the waiting prompt; its `submit` resolves as cancelled. */
  cancelQueue(): void {
    const queued = this.#queued;
    this.#queued = undefined;
    queued?.settle({ type: "cancelled", cause: "abort", text: "" });
  }

  /** Ends everything: no new prompts, the turn aborted, processes ended, the journal complete and closed. */
  async shutdown(options: { reason?: string; message?: string } = {}): Promise<void> {
    this.#closing ??= this.#close(options.reason ?? endReasons[this.#cancelled ?? "abort"]);
    await this.#closing;
  }

  async executeCommand(name: string, args: string): Promise<CommandResult | null> {
    const command = this.#options.commands?.find((candidate) => candidate.name === name);
    if (command) return await command.execute(args, { sessionId: this.id, cwd: this.#options.cwd });
    return name === compactCommand.name ? await toCommandResult(this.compact(args || undefined)) : null;
  }

  /** What a prompt that begins with a slash may start. */
  listCommands(): CommandSummary[] {
    return listCommands(this.#options.commands);
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
    return this.#running !== undefined;
  }

  getPendingPrompt(): string | null {
    return this.#queued ? (this.#queued.displayInput ?? this.#queued.input) : null;
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
    const session = await createSession({ ...this.#options, newId: this.#newId }, this.id, this.#gate);
    const { journal, past } = session;
    for (const event of past.conversation()) {
      this.#transcript.apply(event);
      if (event.type === "turn.started" && event.turnId !== undefined) this.#turnIds.add(event.turnId);
      if (event.taskId === undefined) session.compaction.remember(event);
    }
    // A turn that was left behind keeps its name.
    if (past !== journal.events) for (const { turnId } of journal.events.of("turn.started")) this.#turnIds.add(turnId ?? "");
    this.#view.resume(past);
    if (journal.events.length > 0) this.#beginning.source = "resume";
    this.#hub.attach(journal);
    tellOpening(session, { options: this.#options, name: this.#view.name, emit: (event) => this.#hub.emit(event) });
    await this.#hub.flush();
    return session;
  }

  #start(prompt: WaitingPrompt): void {
    const controller = new AbortController();
    const done = this.#run(prompt, controller).then((outcome) => prompt.settle(outcome));
    // `#run` has not come back yet: it always waits for the journal first.
    this.#running = { controller, done };
  }

  /** Never rejects: a turn's failure is its outcome, and a broken store is told to every reader by the hub. */
  async #run(prompt: Prompt, controller: AbortController): Promise<Outcome> {
    let turnId = prompt.turnId ?? this.#newId();
    let over = false;
    // What something in the background has to tell after its turn belongs to no turn.
    const emitFrom = (taskId?: string): Emit => {
      return (event) => this.#hub.emit(event, over ? undefined : turnId, taskId);
    };
    const startedAt = monotonicMs();
    let report = nothingDone;
    try {
      const session = this.#complete ? await untilAborted(this.#open(), controller.signal) : await this.#open();
      if (this.#turnIds.has(turnId)) turnId = this.#newId(); // a host gave the name of an earlier turn
      this.#turnIds.add(turnId);
      report = await runPromptTurn({
        session,
        prompt,
        turnId,
        controller,
        transcript: this.#transcript,
        hub: this.#hub,
        emitFrom,
        takeInput: () => this.#steering.take(),
        beginning: this.#beginning,
      });
      this.#finish();
      over = true;
      this.#hub.emit({ type: "turn.ended", ...report, durationMs: Math.round(monotonicMs() - startedAt) }, turnId);
      await this.#hub.flush();
      return report.outcome;
    } catch (error) {
      this.#finish();
      if (error instanceof TurnAborted) return { type: "cancelled", cause: error.by, text: "" }; // before there was a session
      return this.#unrecordable(error, report.outcome.text);
    }
  }

  async #compact(signal: AbortSignal, instructions?: string): Promise<CompactionReport | undefined> {
    const { compaction, deps } = await this.#open();
    deps.provider.ledger.begin();
    const emit: Emit = (event) => this.#hub.emit(event);
    const result = await compaction.compact({ emit, signal, transcript: this.#transcript }, instructions);
    await this.#hub.flush();
    return result && this.#view.lastCompaction;
  }

  /** The session takes the next prompt from here on; one that waits is started. */
  #finish(): void {
    this.#running = undefined;
    this.#steering.end();
    const next = this.#queued;
    this.#queued = undefined;
    if (next) queueMicrotask(() => this.#start(next));
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

  async #close(reason: string): Promise<void> {
    this.cancelQueue();
    this.#running?.controller.abort(new TurnAborted("abort"));
    this.#leaving.abort();
    await this.#running?.done;
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
    if (session.temporary !== undefined) rmSync(session.temporary, { recursive: true, force: true });
    tellStopped(session.workspace, emit);
    this.#hub.emit({ type: "session.ended", reason, ...(sandboxSnapshotId !== undefined && { sandboxSnapshotId }) });
    await this.#hub.flush().catch(() => {}); // every reader has already been told
    this.#hub.close();
    await session.journal.close();
    await this.#completed?.close?.();
  }
}
