import { followConversation } from "../journal/kept-conversation.ts";
import type { Transcript } from "../journal/transcript.ts";
import type { PermissionGate } from "../permissions/gate.ts";
import type { CompletedOptions, CompleteOptions, Completing } from "./complete-options.ts";
import { createSession, type OpenSession } from "./create-session.ts";
import type { EventHub } from "./events/event-hub.ts";
import { tellOpening } from "./events/tell-opening.ts";
import type { SessionTurns } from "./prompts/session-turns.ts";
import type { SessionControls } from "./session-controls.ts";
import type { SessionOptions } from "./session-options.ts";
import type { SessionView } from "./session-view.ts";
import type { SessionTasks } from "./tasks/session-tasks.ts";

/** What is there before the session is open, and learns of its past. */
export type OpeningGround = Completing & {
  readonly newId: () => string;
  readonly gate: PermissionGate;
  readonly transcript: Transcript;
  readonly hub: () => EventHub;
  readonly view: () => SessionView;
  readonly turns: () => SessionTurns;
  readonly tasks: () => SessionTasks;
};

/** Opens a session, once, when somebody first needs it. */
export class SessionOpening {
  /** As they are now: opening completes them. */
  options: SessionOptions;
  readonly #complete: CompleteOptions | undefined;
  readonly #ground: OpeningGround;
  #opened: Promise<OpenSession> | undefined;
  #controls: Promise<SessionControls> | undefined;
  #completed: CompletedOptions | undefined;

  constructor(options: SessionOptions, complete: CompleteOptions | undefined, ground: OpeningGround) {
    this.options = options;
    this.#complete = complete;
    this.#ground = ground;
  }

  /** Undefined when nobody has needed the session. */
  get begun(): Promise<OpenSession> | undefined {
    return this.#opened;
  }

  open(): Promise<OpenSession> {
    this.#opened ??= this.#open();
    return this.#opened;
  }

  controls(): Promise<SessionControls> {
    this.#controls ??= this.#openControls();
    return this.#controls;
  }

  /** Ends what was opened to complete the options. */
  async close(): Promise<void> {
    await this.#completed?.close?.();
  }

  async #open(): Promise<OpenSession> {
    const { session: owner, leaving, newId, gate, transcript } = this.#ground;
    const { sessionStore, redactor } = this.options;
    const completed = await this.#complete?.(this.options, { session: owner, leaving });
    if (completed) this.options = { ...completed.options, sessionStore, redactor };
    this.#completed = completed;
    const { options } = this;
    const [turns, hub, view] = [this.#ground.turns(), this.#ground.hub(), this.#ground.view()];
    const session = await createSession({ ...options, newId }, owner.id, {
      ...{ gate, skills: turns.skills },
      spawn: (request) => this.#ground.tasks().spawn(request),
      execute: async (command, args, signal) => await turns.runProjected(command, args, signal),
      tasks: () => this.#ground.tasks().list(),
      title: () => view.name,
    });
    const { journal, past } = session;
    const { turnIds, compactions } = followConversation(past, transcript);
    for (const turnId of turnIds) turns.know(turnId);
    for (const event of compactions) session.compaction.remember(event);
    view.resume(past);
    hub.attach(journal);
    tellOpening(session, { options, name: view.name, emit: (event) => hub.emit(event) });
    await hub.flush();
    await turns.recover(session);
    await this.#ground.tasks().begin(session);
    return session;
  }

  async #openControls(): Promise<SessionControls> {
    const session = await this.open();
    const { SessionControls } = await import("./session-controls.ts");
    return new SessionControls(session.controlled, this.#ground.hub());
  }
}
