import type { CommandResult, ContextUse, SystemCommand } from "../../commands/command.ts";
import { TurnAborted } from "../../engine/turn-aborted.ts";
import { standingEvents } from "../../journal/standing-events.ts";
import type { SessionStore } from "../../journal/store.ts";
import type { Transcript } from "../../journal/transcript.ts";
import type { JsonValue, UserMessage } from "../../protocol/content.ts";
import type { Emit, PromptMode } from "../../protocol/events.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import { monotonicMs } from "../../util/monotonic-clock.ts";
import { untilAborted } from "../../util/until-aborted.ts";
import { RuntimeError, toRuntimeError } from "../../protocol/errors.ts";
import type { CommandGround, CommandPlace } from "./command-turn.ts";
import type { OpenSession } from "../create-session.ts";
import type { EventHub } from "../events/event-hub.ts";
import type { CompactionReport } from "../past/history.ts";
import { Inbox, type InboxPrompt, type SubmitOptions, toInboxPrompt } from "./inbox.ts";
import type { PromptRecords } from "./prompt-records.ts";
import { Beginning, nothingDone, runPromptTurn } from "./prompt-turn.ts";
import { SessionCommands } from "./session-commands.ts";
import type { SessionOptions } from "../session-options.ts";
import { SessionSkills } from "../skills/session-skills.ts";
import type { BackgroundWork, TaskNotice } from "../tasks/background-work.ts";

/** A prompt that is on record: it survives the end of the process, and begins once. */
export type AcceptedPrompt<Structured = JsonValue> = {
  /** Also the `turnId` of its turn. */
  readonly id: string;
  /** Its key was known: this is the prompt that was given it first. */
  readonly isRepeated: boolean;
  /** It had its outcome before it came again: nothing happens for it any more. */
  readonly isOver: boolean;
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

export type TurnsOptions = {
  readonly sessionId: string;
  readonly store: SessionStore;
  readonly newId: () => string;
  readonly hub: EventHub;
  readonly transcript: Transcript;
  /** As they are now: opening the session completes them. */
  readonly options: () => SessionOptions;
  readonly open: () => Promise<OpenSession>;
  /** A prompt that is aborted does not wait for the session. */
  readonly opensSlowly: boolean;
  /** The session is being shut down. */
  readonly leaving: AbortSignal;
  readonly work: () => BackgroundWork;
  /** A turn has ended, and what came of it is on record. */
  readonly onTurnEnded: () => void;
  /** What commands need; put together when one runs. */
  readonly commandGround: () => Promise<CommandGround>;
  readonly lastCompaction: () => CompactionReport | undefined;
  /** A prompt was aborted before there was a session: tells whoever listens. */
  readonly onCancelledEarly: () => void;
  /** Nothing can be stored: tells whoever listens, and answers the outcome. */
  readonly unrecordable: (thrown: unknown, text: string) => Outcome;
};

/** The prompts of a session and what becomes of each: a turn of the conversation, or a command. */
export class SessionTurns {
  readonly inbox: Inbox;
  readonly beginning: Beginning = new Beginning();
  readonly #options: TurnsOptions;
  #records: Promise<PromptRecords> | undefined;
  #skills: { readonly of: SessionOptions["skills"]; readonly are: SessionSkills } | undefined;
  /** Names of turns there are or will be, and whether they have begun. */
  readonly #turnIds = new Map<string, boolean>();

  constructor(options: TurnsOptions) {
    this.#options = options;
    this.inbox = new Inbox({
      limits: options.options().inbox,
      record: async (prompt) => await (await this.#openRecords()).record(prompt),
      recordCancelled: ({ id: promptId }, cause) => options.hub.emit({ type: "prompt.cancelled", promptId, cause }),
      run: (prompt, controller, over) => this.#run(prompt, controller, over),
      isCommand: (message) => this.commands.called(message) !== undefined,
    });
  }

  get commands(): SessionCommands {
    return new SessionCommands(this.#options.options(), this.skills);
  }

  /** Of the options as they are when they are first asked for, which opening the session completes. */
  get skills(): SessionSkills {
    const { skills } = this.#options.options();
    if (!this.#skills || this.#skills.of !== skills) this.#skills = { of: skills, are: new SessionSkills(skills) };
    return this.#skills.are;
  }

  get waiting(): WaitingPrompt[] {
    return this.inbox.waiting.map(({ id, key, mode, message, displayInput, isHeld }) => ({
      ...{ id, key, mode, input: message, displayInput, isHeld },
    }));
  }

  /** Has a turn of this name begun? */
  has(turnId: string): boolean {
    return this.#turnIds.get(turnId) === true;
  }

  /** There is such a turn. */
  know(turnId: string | undefined): void {
    if (turnId !== undefined) this.#turnIds.set(turnId, true);
  }

  take(input: string | UserMessage, options: SubmitOptions, wantsReceipt: boolean): InboxPrompt {
    const prompt = toInboxPrompt(input, options, this.#options.newId);
    this.inbox.add(prompt, { wantsReceipt });
    return prompt;
  }

  /** A turn nobody asked for: the model hears that tasks have ended. */
  tell({ input, tasks }: TaskNotice): void {
    this.inbox.add(toInboxPrompt(input, {}, this.#options.newId, { tasks }), { wantsReceipt: false });
  }

  /** What the journal of a session that was just opened tells: its turns, and the prompts that wait. */
  async recover(session: OpenSession): Promise<void> {
    const { events } = session.journal;
    if (events.length === 0) return;
    await this.#goOn(session);
    if (session.past !== events) for (const { turnId } of events.of("turn.started")) this.know(turnId); // one that was left behind keeps its name
    if (!events.last("prompt.accepted")) return;
    this.#records = this.#createRecords(session);
    this.inbox.recover((await this.#records).recover());
  }

  async #goOn({ journal: { events }, deps }: OpenSession): Promise<void> {
    this.beginning.source = "resume";
    if (!deps.hooks) return;
    const { now = Date.now } = this.#options.options();
    const { resumedStart } = await import("./resumed-start.ts");
    Object.assign(this.beginning, resumedStart(events, now()));
  }

  /** In the place of a turn. */
  async compact(instructions: string | undefined): Promise<CompactionReport | undefined> {
    const emit: Emit = (event) => this.#options.hub.emit(event);
    return await this.inbox.instead((signal) => this.#compact(emit, signal, instructions));
  }

  /** Without a turn; null when there is none of that name. One that is not inline takes the place of a turn, and is refused while one runs. */
  async executeCommand(name: string, args: string): Promise<CommandResult | null> {
    const command = this.commands.get(name);
    if (!command) return null;
    const { runCommand } = await import("./command-turn.ts");
    const { hub, leaving } = this.#options;
    const emit: Emit = (event) => hub.emit(event);
    const run = async (signal: AbortSignal, compact: CommandPlace["compact"]): Promise<CommandResult> => {
      const ground = await this.#options.commandGround();
      return await runCommand({ type: "command", command, args }, { ...ground, emit, signal, compact });
    };
    try {
      if (command.lifecycle === "inline") return await run(leaving, (_, focus) => this.compact(focus));
      return await this.inbox.instead((signal) => run(signal, (told, focus) => this.#compact(told, signal, focus)));
    } catch (error) {
      return { success: false, message: toRuntimeError(error).message };
    }
  }

  /** A command that the model has called, in its turn: it may not take the place of that. */
  async runProjected(command: SystemCommand, args: string, signal: AbortSignal): Promise<CommandResult> {
    const { runCommand } = await import("./command-turn.ts");
    const emit: Emit = (event) => this.#options.hub.emit(event);
    const compact: CommandPlace["compact"] = () => {
      throw new RuntimeError("busy", "The conversation is not summarised in the middle of a turn");
    };
    return await runCommand(
      { type: "command", command, args, invokedBy: "model" },
      { ...(await this.#options.commandGround()), emit, signal, compact },
    );
  }

  async #openRecords(): Promise<PromptRecords> {
    const session = await this.#options.open();
    this.#records ??= this.#createRecords(session);
    return await this.#records;
  }

  async #createRecords(session: OpenSession): Promise<PromptRecords> {
    const { PromptRecords } = await import("./prompt-records.ts");
    const { sessionId, store, newId, leaving, hub } = this.#options;
    return new PromptRecords({
      session,
      ...{ sessionId, store, newId, leaving },
      emit: (event) => hub.emit(event),
      flush: () => hub.flush(),
      beginning: this.beginning,
      turnIds: this.#turnIds,
      isCommand: ({ message }) => this.commands.called(message)?.type === "command",
      release: (id) => this.inbox.release(id, { withEarlier: true }),
    });
  }

  /** Never rejects: a turn's failure is its outcome, and a broken store is told to every reader by the hub. */
  async #run(prompt: InboxPrompt, controller: AbortController, finish: () => void): Promise<Outcome> {
    const { hub, open, opensSlowly, transcript, newId, work, onTurnEnded, store, sessionId } = this.#options;
    let turnId = prompt.id;
    let over = false;
    // What something in the background has to tell after its turn belongs to no turn.
    const emitFrom = (taskId?: string): Emit => {
      return (event) => hub.emit(event, over ? undefined : turnId, taskId);
    };
    const startedAt = monotonicMs();
    let report = nothingDone;
    try {
      const session = opensSlowly ? await untilAborted(open(), controller.signal) : await open();
      if (this.#turnIds.has(turnId) && !prompt.isRecorded) turnId = newId(); // a host gave the name of an earlier turn
      this.#turnIds.set(turnId, true);
      report = await runPromptTurn({
        session,
        prompt: await this.#withInitialPrompt(prompt, session),
        turnId,
        controller,
        transcript,
        hub,
        emitFrom,
        takeInput: () => [...this.inbox.take(), ...work().takeInput()],
        work: work(),
        readEvents: async () => {
          await hub.flush();
          return standingEvents(await store.read(sessionId));
        },
        beginning: this.beginning,
        commands: this.commands,
        sessionId,
        runCommand: async (call, emit) => {
          const { runCommandTurn } = await import("./command-turn.ts");
          const { signal } = controller;
          const compact: CommandPlace["compact"] = (told, focus) => this.#compact(told, signal, focus);
          return await runCommandTurn(call, { ...(await this.#options.commandGround()), emit, signal, compact });
        },
      });
      finish();
      over = true;
      hub.emit({ type: "turn.ended", ...report, durationMs: Math.round(monotonicMs() - startedAt) }, turnId);
      await hub.flush();
      onTurnEnded();
      return report.outcome;
    } catch (error) {
      finish();
      if (error instanceof TurnAborted) {
        this.#options.onCancelledEarly();
        return { type: "cancelled", cause: error.by, text: "" };
      }
      return this.#options.unrecordable(error, report.outcome.text);
    }
  }

  /** An agent that the conversation is may have words of its own to begin a new session with. */
  async #withInitialPrompt(prompt: InboxPrompt, { journal }: OpenSession): Promise<InboxPrompt> {
    const { initialPrompt } = this.#options.options();
    if (initialPrompt === undefined || journal.events.length > 0 || this.#turnIds.size > 1) return prompt;
    const { withInitialPrompt } = await import("./initial-prompt.ts");
    return withInitialPrompt(prompt, initialPrompt);
  }

  async #compact(emit: Emit, signal: AbortSignal, instructions?: string): Promise<CompactionReport | undefined> {
    const { open, transcript, hub, lastCompaction } = this.#options;
    const { compaction, deps } = await open();
    deps.provider.ledger.begin();
    const result = await compaction.compact({ emit, signal, transcript }, instructions);
    await hub.flush();
    return result && lastCompaction();
  }

  async contextUse(): Promise<ContextUse> {
    const { open, transcript, options } = this.#options;
    const [{ deps, compaction }, { contextUse }] = await Promise.all([open(), import("./context-use.ts")]);
    return await contextUse({ deps, transcript, threshold: compaction.threshold, instructions: options().instructions?.text });
  }
}
