import type { CommandResult } from "../commands/command.ts";
import { runTurn, type TurnReport } from "../engine/turn.ts";
import { TurnAborted } from "../engine/turn-aborted.ts";
import { toMessages } from "../journal/transcript.ts";
import { type Answer, PermissionGate } from "../permissions/gate.ts";
import { type Message, noUsage, userText } from "../protocol/content.ts";
import { RuntimeError, toRuntimeError } from "../protocol/errors.ts";
import { type AgentEvent, isEphemeral } from "../protocol/events.ts";
import type { CancelCause, Outcome } from "../protocol/outcome.ts";
import { createMemoryStore } from "../journal/memory-store.ts";
import { monotonicMs } from "../util/monotonic-clock.ts";
import { createIdSeries } from "../util/unique-ids.ts";
import { createSession, type OpenSession, type SessionOptions } from "./create-session.ts";
import { EventHub, type SubscribeOptions } from "./event-hub.ts";
import type { ContextState, HistoryEntry, ToolState } from "./history.ts";
import { Listeners } from "./listeners.ts";
import { outcomeError, type SessionEventName, type SessionEvents, SessionView } from "./session-view.ts";

/** Something that serves a session to the outside: it encodes its events and decodes requests to it. */
export interface TransportAdapter {
  readonly name: string;
  attach(session: InteractiveSession): void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

type Prompt = { input: string; displayInput: string | undefined; settle: (outcome: Outcome) => void };
type Running = { controller: AbortController; done: Promise<void> };

/** A conversation with one agent. One turn at a time, one prompt waiting; everything it does comes out of `events()`. */
export class InteractiveSession {
  readonly id: string;
  readonly #options: SessionOptions;
  readonly #newId: () => string;
  readonly #hub: EventHub;
  readonly #view: SessionView;
  readonly #listeners = new Listeners<SessionEvents>();
  readonly #gate = new PermissionGate();
  readonly #events: AgentEvent[] = [];
  #opening: Promise<OpenSession> | undefined;
  #running: Running | undefined;
  #queued: Prompt | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: SessionOptions) {
    this.#newId = options.newId ?? createIdSeries();
    this.id = options.resumeSessionId ?? options.sessionId ?? this.#newId();
    const store = options.sessionStore ?? createMemoryStore();
    this.#options = { ...options, sessionStore: store };
    this.#view = new SessionView(options.provider.contextWindow);
    this.#hub = new EventHub({
      sessionId: this.id,
      store,
      now: options.now ?? Date.now,
      onEvent: (event) => this.#follow(event),
      onFault: (error) => this.#running?.controller.abort(error),
    });
  }

  /** Opens the journal and puts the session together; the first prompt does so by itself. Rejects when that is impossible. */
  async open(): Promise<void> {
    await this.#open();
  }

  /**
   * Hands in a prompt; resolves with how its turn went. While a turn runs, one prompt waits for its end; another one is refused.
   * `displayInput` is what people are shown instead of `input`; `rawInput` is what the user typed, kept for hooks.
   */
  async submit(input: string, displayInput?: string, rawInput?: string): Promise<Outcome> {
    if (this.#closing) throw new RuntimeError("closed", "The session is shut down");
    if (this.#queued) throw new RuntimeError("busy", "A turn is running and another prompt is waiting", { retryable: true });
    return await new Promise((settle) => {
      const prompt: Prompt = { input, displayInput: displayInput ?? (rawInput !== input ? rawInput : undefined), settle };
      if (this.#running) this.#queued = prompt;
      else this.#start(prompt);
    });
  }

  /** Stops the running turn and drops the waiting prompt. `interrupted` fires when it has stopped. */
  abort(cause: CancelCause = "abort"): void {
    this.cancelQueue();
    this.#running?.controller.abort(new TurnAborted(cause));
  }

  /** Drops the waiting prompt; its `submit` resolves as cancelled. */
  cancelQueue(): void {
    const queued = this.#queued;
    this.#queued = undefined;
    queued?.settle({ type: "cancelled", cause: "abort", text: "" });
  }

  /** Ends everything: no new prompts, the turn aborted, processes ended, the journal complete and closed. */
  async shutdown(options: { reason?: string; message?: string } = {}): Promise<void> {
    this.#closing ??= this.#close(options.reason ?? "other");
    await this.#closing;
  }

  async executeCommand(name: string, args: string): Promise<CommandResult | null> {
    const command = this.#options.commands?.find((candidate) => candidate.name === name);
    return command ? await command.execute(args, { sessionId: this.id, cwd: this.#options.cwd }) : null;
  }

  listCommands(): { name: string; description: string }[] {
    return (this.#options.commands ?? []).map(({ name, description }) => ({ name, description }));
  }

  /** Answers an open `permission_request`. */
  answerPermission(requestId: string, answer: Answer): void {
    this.#gate.answer(requestId, answer);
  }

  /** Everything that happens, from this call on; with `after`, stored events first. */
  events(options: SubscribeOptions = {}): AsyncIterable<AgentEvent> {
    return this.#hub.subscribe(options);
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

  isExecuting(): boolean {
    return this.#running !== undefined;
  }

  getPendingPrompt(): string | null {
    return this.#queued ? (this.#queued.displayInput ?? this.#queued.input) : null;
  }

  getMessages(): Message[] {
    return toMessages(this.#events);
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

  #open(): Promise<OpenSession> {
    this.#opening ??= this.#openOnce();
    return this.#opening;
  }

  async #openOnce(): Promise<OpenSession> {
    const session = await createSession({ ...this.#options, newId: this.#newId }, this.id, this.#gate);
    const { journal, facts, system, toolDefinitions } = session;
    for (const event of journal.events) {
      this.#events.push(event);
      this.#view.apply(event, () => {});
    }
    this.#hub.attach(journal);
    for (const message of journal.warnings) this.#hub.emit({ type: "warning.raised", message });
    this.#hub.emit({
      type: "session.started",
      ...facts,
      journalVersion: 1,
      resumed: journal.events.length > 0,
      system,
      toolDefinitions,
    });
    await this.#hub.flush();
    return session;
  }

  #start(prompt: Prompt): void {
    const controller = new AbortController();
    const done = this.#run(prompt, controller.signal).then((outcome) => prompt.settle(outcome));
    // `#run` has not come back yet: it always waits for the journal first.
    this.#running = { controller, done };
  }

  /** Never rejects: a turn's failure is its outcome, and a broken store is told to every reader by the hub. */
  async #run(prompt: Prompt, signal: AbortSignal): Promise<Outcome> {
    const turnId = this.#newId();
    const startedAt = monotonicMs();
    let report: TurnReport = {
      outcome: { type: "completed", text: "" },
      usage: { ...noUsage },
      modelCalls: 0,
      modelDurationMs: 0,
    };
    try {
      const session = await this.#open();
      const { displayInput } = prompt;
      this.#hub.emit(
        { type: "turn.started", input: userText(prompt.input), ...(displayInput !== undefined && { displayInput }) },
        turnId,
      );
      await this.#hub.flush();
      report = await runTurn(
        {
          ...session.deps,
          signal,
          emit: (event) => this.#hub.emit(event, turnId),
          flush: () => this.#hub.flush(),
          congestion: () => this.#hub.congestion(),
        },
        toMessages(this.#events),
      );
      await this.#hub.flush();
      this.#finish();
      this.#hub.emit({ type: "turn.ended", ...report, durationMs: Math.round(monotonicMs() - startedAt) }, turnId);
      await this.#hub.flush();
      return report.outcome;
    } catch (error) {
      this.#finish();
      return this.#unrecordable(error, report.outcome.text);
    }
  }

  /** The session takes the next prompt from here on; one that waits is started. */
  #finish(): void {
    this.#running = undefined;
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
    if (!isEphemeral(event.type)) this.#events.push(event);
    this.#view.apply(event, (name, ...args) => this.#listeners.notify(name, ...args));
  }

  async #close(reason: string): Promise<void> {
    this.abort();
    await this.#running?.done;
    const session = await this.#opening?.catch(() => undefined);
    if (!session) return this.#hub.close();
    await session.workspace.close();
    this.#hub.emit({ type: "session.ended", reason });
    await this.#hub.flush().catch(() => {}); // every reader has already been told
    this.#hub.close();
    await session.journal.close();
  }
}
