import type { SessionStore } from "../../journal/store.ts";
import { toSendableInput } from "../../model/sendable/sendable-content.ts";
import { textOf } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { AgentEvent, Emit } from "../../protocol/events.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import type { OpenSession } from "../create-session.ts";
import { recoverPrompts } from "./held-prompts.ts";
import { type InboxPrompt, toInboxPrompt } from "./inbox.ts";
import type { Admission } from "../../engine/admit-prompt.ts";
import { admit, type Beginning } from "./prompt-turn.ts";

export type RecordsOptions = {
  readonly sessionId: string;
  readonly store: SessionStore;
  readonly session: OpenSession;
  readonly emit: Emit;
  readonly flush: () => Promise<void>;
  readonly beginning: Beginning;
  /** Names of turns there are or will be, and whether they have begun. */
  readonly turnIds: Map<string, boolean>;
  readonly newId: () => string;
  readonly isCommand: (prompt: InboxPrompt) => boolean;
  /** Lets a prompt of an earlier process go on, after those that were accepted before it. */
  readonly release: (id: string) => void;
  /** The session is being shut down. */
  readonly leaving: AbortSignal;
};

/** How many outcomes of prompts with keys are kept; older ones are looked up in the journal. */
const keptOutcomes = 1_000;

/** What the journal knows of accepted prompts, and how another one is put on record. */
export class PromptRecords {
  readonly #options: RecordsOptions;
  readonly #idsByKey = new Map<string, string>();
  readonly #kept = new Map<string, { readonly outcome: Promise<Outcome>; isOver: boolean }>();

  constructor(options: RecordsOptions) {
    this.#options = options;
  }

  /** The prompts that were accepted before the journal was opened and have not begun, in their order. They are held. */
  recover(): InboxPrompt[] {
    const { session, turnIds } = this.#options;
    const hasBegun = (turnId: string): boolean => turnIds.get(turnId) === true;
    const { over, waiting } = recoverPrompts(session.journal.events, { standing: session.past, hasBegun });
    for (const { promptId, key } of [...over, ...waiting]) {
      if (!turnIds.has(promptId)) turnIds.set(promptId, false);
      if (key !== undefined) this.#idsByKey.set(key, promptId);
    }
    if (waiting.length > 0) this.#options.emit({ type: "warning.raised", message: toldOf(waiting) });
    return waiting.map((event) => this.#toHeld(event));
  }

  /** Resolves when the prompt would survive the end of this process. Rejects when it was not accepted. */
  async record(prompt: InboxPrompt): Promise<void> {
    const { turnIds, newId, emit, flush } = this.#options;
    if (this.#isRepetition(prompt)) return;
    if (turnIds.has(prompt.id)) prompt.id = newId();
    turnIds.set(prompt.id, false);
    prompt.message = await toSendableInput(prompt.message);
    await this.#admit(prompt);
    if (prompt.isGone) return;
    this.#remember(prompt);
    const { id: promptId, mode, key, message: input, displayInput, admission, maxTurns } = prompt;
    emit({
      type: "prompt.accepted",
      promptId,
      mode,
      input,
      ...(key !== undefined && { key }),
      ...(displayInput !== undefined && { displayInput }),
      ...(maxTurns !== undefined && { maxTurns }),
      ...(admission && { admission }),
    });
    prompt.isRecorded = true;
    await flush();
  }

  #isRepetition(prompt: InboxPrompt): boolean {
    const known = prompt.key === undefined ? undefined : this.#idsByKey.get(prompt.key);
    if (known === undefined) return false;
    prompt.isGone = true;
    prompt.repeats = known;
    this.#options.release(known);
    const kept = this.#kept.get(known) ?? { outcome: this.#recall(known), isOver: true };
    prompt.isOver = kept.isOver;
    kept.outcome.then(prompt.settle, prompt.refuse);
    return true;
  }

  #remember({ id, key, outcome }: InboxPrompt): void {
    if (key === undefined) return;
    this.#idsByKey.set(key, id);
    const kept = { outcome, isOver: false };
    const end = (): void => {
      kept.isOver = true;
    };
    outcome.then(end, end);
    this.#kept.set(id, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > keptOutcomes && oldest !== undefined) this.#kept.delete(oldest);
  }

  /** Hooks are heard before a prompt is stored: what they do not let in is not kept. */
  async #admit(prompt: InboxPrompt): Promise<void> {
    const { session, beginning, emit, leaving: signal, isCommand } = this.#options;
    const admission = isCommand(prompt)
      ? undefined
      : await admit({ session, prompt, beginning, signal, promptId: prompt.id }, emit);
    if (!admission) return;
    if (admission.blocked) Object.assign(prompt, { message: admission.input, displayInput: undefined });
    prompt.admission = { notes: [...admission.notes], ...refusalOf(admission) };
  }

  #toHeld({ promptId: id, mode, key, input, displayInput, admission, maxTurns }: AgentEvent<"prompt.accepted">): InboxPrompt {
    const prompt = toInboxPrompt(
      input,
      { id, mode, key, displayInput, maxTurns, rawInput: textOf(input.content) },
      this.#options.newId,
    );
    this.#remember(prompt);
    return Object.assign(prompt, { isHeld: true, isRecorded: true, ...(admission && { admission }) });
  }

  /** How a prompt of an earlier process went. */
  async #recall(id: string): Promise<Outcome> {
    const { store, sessionId } = this.#options;
    const types = ["input.added", "turn.ended", "prompt.cancelled"] as const;
    const events = await store.read(sessionId, { types });
    const joined = events.find((event) => event.type === "input.added" && event.promptId === id);
    const turnId = joined?.turnId ?? id;
    for (const event of events) {
      if (event.type === "turn.ended" && event.turnId === turnId) return event.outcome;
      if (event.type === "prompt.cancelled" && event.promptId === id) return { type: "cancelled", cause: event.cause, text: "" };
    }
    const error = new RuntimeError("closed", "The process ended during the turn of this prompt; the prompt is not run again");
    return { type: "failed", error: error.toJSON(), text: "" };
  }
}

/** For a person who opens the session. */
function toldOf(waiting: readonly AgentEvent<"prompt.accepted">[]): string {
  const words = waiting.map(({ displayInput, input }) => JSON.stringify((displayInput ?? textOf(input.content)).slice(0, 60)));
  const more = words.length > 3 ? ` and ${words.length - 3} more` : "";
  const what =
    words.length === 1 ? "A prompt was accepted and has not begun" : `${words.length} prompts were accepted and have not begun`;
  return `${what}: ${words.slice(0, 3).join(", ")}${more}. The session holds what waits until somebody lets it go on.`;
}

function refusalOf({ outcome }: Admission): { refusal?: string } {
  if (!outcome) return {};
  if (outcome.type === "stopped") return { refusal: outcome.reason ?? "" };
  if (outcome.type === "failed") throw new RuntimeError(outcome.error.code, outcome.error.message, outcome.error);
  throw new RuntimeError("closed", "The session was shut down before the prompt was accepted");
}
