import { textOf, type UserMessage, userText } from "../../protocol/content.ts";
import { RuntimeError, toRuntimeError } from "../../protocol/errors.ts";
import type { EventBody, PromptMode } from "../../protocol/events.ts";
import type { CancelCause, Outcome } from "../../protocol/outcome.ts";
import { TurnAborted } from "../../engine/turn-aborted.ts";
import { oneAtATime } from "../../util/one-at-a-time.ts";
import type { Prompt } from "./prompt-turn.ts";

/** A prompt on its way to its turn. */
export type InboxPrompt = Prompt & {
  /** The `turnId` of its turn. */
  id: string;
  readonly mode: PromptMode;
  readonly key: string | undefined;
  readonly bytes: number;
  /** Accepted before this process: it waits until somebody says that it is to go on. */
  isHeld: boolean;
  /** Its `prompt.accepted` is on record. */
  isRecorded: boolean;
  /** It was cancelled, or it repeats another one: it never begins. */
  isGone: boolean;
  /** Its key was given before: this is the prompt that has it. */
  repeats?: string;
  /** That prompt has its outcome already. */
  isOver?: boolean;
  /** Resolves when it is on record; absent for one that begins at once. */
  recorded?: Promise<void>;
  readonly outcome: Promise<Outcome>;
  settle(outcome: Outcome): void;
  refuse(reason: RuntimeError): void;
};

export type InboxLimits = {
  /** How many prompts may wait; 1,000 when absent. */
  readonly maxPrompts?: number | undefined;
  /** How many bytes all that wait may have; 64 MiB when absent. */
  readonly maxBytes?: number | undefined;
};

export type InboxOptions = {
  readonly limits: InboxLimits | undefined;
  /** Puts a prompt on record that waits. */
  readonly record: (prompt: InboxPrompt) => Promise<void>;
  /** Puts on record that a prompt never begins. */
  readonly recordCancelled: (prompt: InboxPrompt, cause: CancelCause) => void;
  /** One prompt to its end; calls `over` when the next one may begin. Never rejects. */
  readonly run: (prompt: InboxPrompt, controller: AbortController, over: () => void) => Promise<Outcome>;
  /** Is it for the session and not for the model? */
  readonly isCommand: (message: UserMessage) => boolean;
};

type Running = {
  readonly controller: AbortController;
  /** Whose turn it is; absent for work that takes the place of a turn. */
  readonly prompt?: InboxPrompt;
  readonly joined: InboxPrompt[];
  done: Promise<unknown>;
};

/**
 * The prompts of a session: one at work, the others in their order. A prompt is accepted when it is on record, begins once, and has one
 * outcome. What waits is bounded.
 */
export class Inbox {
  readonly #options: InboxOptions;
  readonly #inOrder = oneAtATime();
  #waiting: readonly InboxPrompt[] = [];
  #running: Running | undefined;

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  /** In the order in which they would begin. */
  get waiting(): readonly InboxPrompt[] {
    return this.#waiting;
  }

  get isBusy(): boolean {
    return this.#running !== undefined;
  }

  /** Nothing runs, and nothing waits that would. */
  get isIdle(): boolean {
    return !this.#running && this.#waiting.every(({ isHeld }) => isHeld);
  }

  /** Takes a prompt in, or throws. One that nothing stands before begins at once; its turn is its record, unless a receipt is wanted. */
  add(prompt: InboxPrompt, { wantsReceipt }: { readonly wantsReceipt: boolean }): void {
    if (this.isIdle && prompt.key === undefined && !wantsReceipt) return this.#start(prompt);
    this.#checkRoom(prompt);
    this.#waiting = prompt.mode === "now" ? [prompt, ...this.#waiting] : [...this.#waiting, prompt];
    prompt.recorded = this.#inOrder(async () => {
      if (!prompt.isGone) await this.#options.record(prompt);
    });
    prompt.recorded.then(
      () => this.#goOnWith(prompt),
      (error: unknown) => this.#giveUp(prompt, toRuntimeError(error)),
    );
    this.#next();
  }

  /** Prompts of an earlier process, before all others. */
  recover(prompts: readonly InboxPrompt[]): void {
    this.#waiting = [...prompts, ...this.#waiting];
  }

  /** The prompt of this id, or all that are held, go on in their order. With `withEarlier` those before it go first. */
  release(id?: string, { withEarlier = false }: { readonly withEarlier?: boolean } = {}): void {
    const last = this.#waiting.findIndex((prompt) => prompt.id === id);
    for (const [place, prompt] of this.#waiting.entries())
      if (id === undefined || prompt.id === id || (withEarlier && place < last)) prompt.isHeld = false;
    this.#next();
  }

  /** False when it does not wait: it has begun, or there is no such prompt. */
  cancel(id: string, cause: CancelCause = "abort"): boolean {
    const prompt = this.#waiting.find((other) => other.id === id);
    if (prompt) this.#cancel(prompt, cause);
    return prompt !== undefined;
  }

  /** All that came in this process and have not begun. */
  cancelAll(cause: CancelCause): void {
    for (const prompt of this.#waiting) if (!prompt.isHeld) this.#cancel(prompt, cause);
  }

  /** Lets go of what waits; it stays on record and can be gone on with later. */
  keepAll(): void {
    const reason = new RuntimeError("closed", "The session was shut down; the prompt waits in its journal");
    for (const prompt of this.#waiting) prompt.refuse(reason);
    this.#waiting = [];
  }

  /** Ends the running turn alone. */
  interrupt(cause: CancelCause): void {
    this.stop(new TurnAborted(cause));
  }

  stop(reason: Error): void {
    this.#running?.controller.abort(reason);
  }

  /** Is it the turn of this prompt that runs? */
  isRunning(id: string): boolean {
    return this.#running?.prompt?.id === id;
  }

  /** What the running turn is to be told now. Each of these prompts is a part of it from here on, and ends with it. */
  take(): Omit<EventBody<"input.added">, "type">[] {
    const joining = this.#waiting.filter((prompt) => this.#mayJoin(prompt));
    if (joining.length === 0) return [];
    this.#waiting = this.#waiting.filter((prompt) => !joining.includes(prompt));
    this.#running?.joined.push(...joining);
    return joining.flatMap(({ id: promptId, message: input, admission }) => [
      { input, origin: "user" as const, promptId },
      ...(admission?.notes ?? []).map((note) => ({ input: note, origin: "hook" as const })),
    ]);
  }

  /** Work that takes the place of a turn; refused while one runs. */
  async instead<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#running) throw new RuntimeError("busy", "A turn is running", { retryable: true });
    const controller = new AbortController();
    const working = work(controller.signal);
    const done = working.then(
      () => {},
      () => {},
    );
    this.#running = { controller, joined: [], done };
    try {
      return await working;
    } finally {
      this.#free();
    }
  }

  /** Resolves when nothing runs any more, and nothing is on its way to the record. */
  async idle(): Promise<void> {
    await this.#running?.done;
    await this.#inOrder(async () => {});
  }

  #start(prompt: InboxPrompt): void {
    const running: Running = { controller: new AbortController(), prompt, joined: [], done: Promise.resolve() };
    this.#running = running;
    running.done = this.#run(prompt, running);
  }

  async #run(prompt: InboxPrompt, { controller, joined }: Running): Promise<void> {
    await prompt.recorded?.catch(() => {}); // told where it was put in
    if (prompt.isGone) return this.#free();
    const outcome = await this.#options.run(prompt, controller, () => this.#free());
    for (const { settle } of [prompt, ...joined]) settle(outcome);
  }

  /** The next prompt may begin: not at once, so that whatever ended has its last word. */
  #free(): void {
    this.#running = undefined;
    queueMicrotask(() => this.#next());
  }

  #next(): void {
    const prompt = this.#running ? undefined : this.#waiting.find(({ isHeld }) => !isHeld);
    if (!prompt) return;
    this.#remove(prompt);
    this.#start(prompt);
  }

  #goOnWith(prompt: InboxPrompt): void {
    if (prompt.isGone) return this.#remove(prompt);
    if (prompt.mode === "now" && this.#waiting.includes(prompt) && !prompt.admission?.refusal) this.interrupt("superseded");
  }

  #giveUp(prompt: InboxPrompt, reason: RuntimeError): void {
    this.#remove(prompt);
    prompt.isGone = true;
    prompt.refuse(reason);
  }

  #cancel(prompt: InboxPrompt, cause: CancelCause): void {
    this.#remove(prompt);
    prompt.isGone = true;
    if (prompt.isRecorded) this.#options.recordCancelled(prompt, cause);
    prompt.settle({ type: "cancelled", cause, text: "" });
  }

  #remove(prompt: InboxPrompt): void {
    this.#waiting = this.#waiting.filter((other) => other !== prompt);
  }

  /** Not before it is on record, not what a hook refuses, and not what is for the session itself: that has a turn of its own. */
  #mayJoin({ mode, isRecorded, isHeld, admission, message }: InboxPrompt): boolean {
    return mode === "steer" && isRecorded && !isHeld && !admission?.refusal && !this.#options.isCommand(message);
  }

  #checkRoom(prompt: InboxPrompt): void {
    const { maxPrompts = 1_000, maxBytes = 64 << 20 } = this.#options.limits ?? {};
    const bytes = this.#waiting.reduce((sum, other) => sum + other.bytes, prompt.bytes);
    if (this.#waiting.length < maxPrompts && bytes <= maxBytes) return;
    const what = bytes <= maxBytes ? `${maxPrompts} prompts` : `Prompts of ${maxBytes} bytes`;
    throw new RuntimeError("busy", `${what} wait already; this one was not accepted`, { retryable: true });
  }
}

export type SubmitOptions = {
  /** When it begins, where a turn runs; `queue` when absent. */
  readonly mode?: PromptMode | undefined;
  /** The same key again is the same prompt: it answers its outcome and nothing runs twice. Keys hold as long as the session is stored. */
  readonly key?: string | undefined;
  /** What its turn is called; a name of its own when absent, or when there is such a turn already. */
  readonly id?: string | undefined;
  /** What people are shown instead. */
  readonly displayInput?: string | undefined;
  /** What the user typed, kept for hooks. */
  readonly rawInput?: string | undefined;
  /** How often the model may be asked in its turn; the session's own `maxTurns` holds too. A prompt that joins another's turn has none. */
  readonly maxTurns?: number | undefined;
};

/** What only the session itself says of a prompt. */
type OwnOptions = { readonly tasks?: readonly string[] | undefined };

export function toInboxPrompt(
  input: string | UserMessage,
  options: SubmitOptions,
  newId: () => string,
  { tasks }: OwnOptions = {},
): InboxPrompt {
  const { mode = "queue", key, id, displayInput, rawInput, maxTurns } = options;
  const message = typeof input === "string" ? userText(input) : input;
  const words = textOf(message.content);
  let settle: InboxPrompt["settle"] = () => {};
  let refuse: InboxPrompt["refuse"] = () => {};
  const outcome = new Promise<Outcome>((resolve, reject) => {
    settle = resolve;
    refuse = reject;
  });
  outcome.catch(() => {}); // whoever waits for it is told
  return {
    id: id ?? newId(),
    mode,
    key,
    message,
    input: words,
    rawInput: rawInput ?? words,
    displayInput: displayInput ?? (rawInput !== words ? rawInput : undefined),
    bytes: message.content.reduce((sum, part) => sum + Buffer.byteLength(part.type === "text" ? part.text : part.data), 0),
    isHeld: false,
    isRecorded: false,
    isGone: false,
    maxTurns,
    tasks,
    outcome,
    settle,
    refuse,
  };
}
