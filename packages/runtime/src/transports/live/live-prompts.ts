import type { UserMessage } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import { randomUuid } from "../../util/unique-ids.ts";

/** A message of a host, from its arrival to its result. */
export type LivePrompt = {
  readonly input: UserMessage;
  /** The sender's own name for it: a second one with the same name is the same message. */
  readonly uuid: string | undefined;
  /** Of its turn, or of the turn that it joined. */
  turnId: string;
  /** `entering`: the session does not have it yet. `accepted`: it waits there. `begun`: in a turn. `ended`: it has its result. */
  state: "entering" | "accepted" | "begun" | "ended";
  outcome?: Promise<Outcome>;
  entered: Promise<void>;
  readonly ended: Promise<void>;
  readonly onEnded: () => void;
};

/** The running turn, with the messages that became a part of it. Each of those still gets a result. */
export type LiveTurn = {
  readonly id: string;
  readonly prompt: LivePrompt | undefined;
  readonly joined: LivePrompt[];
  /** A task that ended began it. */
  readonly isWoken: boolean;
};

/** A host that writes on and on is told so; what waits is bounded. */
const maxWaiting = 1_000;
export const tooMany: RuntimeError = new RuntimeError(
  "busy",
  `More than ${maxWaiting} prompts are waiting; this one was not run`,
  { retryable: true },
);

/** The messages of a host that have no result yet. Which of them comes next is up to the session. */
export class LivePrompts {
  readonly #open = new Set<LivePrompt>();
  readonly #byId = new Map<string, LivePrompt>();
  /** Turns by the names that hosts gave to messages of theirs. */
  readonly #turnsByUuid = new Map<string, string>();
  readonly #seen = new Set<string>();
  #kept: UserMessage["content"] = [];

  /** False for a message that was sent before under the same name. */
  isNew(uuid: string | undefined): boolean {
    if (uuid === undefined) return true;
    if (this.#seen.has(uuid)) return false;
    this.#seen.add(uuid);
    return true;
  }

  /** Kept for the model to read with the next prompt. */
  keep(input: UserMessage): void {
    this.#kept = [...this.#kept, ...input.content];
  }

  /** Another one, with what was kept for it. */
  add(input: UserMessage, uuid: string | undefined): LivePrompt {
    let onEnded = (): void => {};
    const ended = new Promise<void>((resolve) => {
      onEnded = resolve;
    });
    const whole = this.#kept.length === 0 ? input : { ...input, content: [...this.#kept, ...input.content] };
    this.#kept = [];
    const turnId = uuid !== undefined && uuidForm.test(uuid) ? uuid.toLowerCase() : randomUuid();
    const prompt: LivePrompt = {
      ...{ input: whole, uuid, turnId, state: "entering" },
      ...{ entered: Promise.resolve(), ended, onEnded },
    };
    this.#open.add(prompt);
    this.#byId.set(turnId, prompt);
    return prompt;
  }

  of(turnId: string): LivePrompt | undefined {
    return this.#byId.get(turnId);
  }

  turnOf(uuid: string): string | undefined {
    return this.#turnsByUuid.get(uuid);
  }

  /** The session knows it under this name. */
  rename(prompt: LivePrompt, turnId: string): void {
    this.#byId.set(turnId, prompt);
    prompt.turnId = turnId;
  }

  /** The session has it, perhaps under another name. */
  accept({ promptId, key }: AgentEvent<"prompt.accepted">): Pick<LivePrompt, "uuid"> {
    const prompt = this.#byId.get(promptId) ?? [...this.#open].find(({ uuid }) => uuid !== undefined && uuid === key);
    if (!prompt) return { uuid: undefined };
    this.rename(prompt, promptId);
    if (prompt.state === "entering") prompt.state = "accepted";
    return prompt;
  }

  /** In a turn of its own, or in the one that it joined. */
  begin(promptId: string, turnId: string = promptId): LivePrompt | undefined {
    const prompt = this.#byId.get(promptId);
    if (!prompt || prompt.state === "ended") return undefined;
    prompt.state = "begun";
    prompt.turnId = turnId;
    if (prompt.uuid !== undefined) this.#turnsByUuid.set(prompt.uuid, turnId);
    return prompt;
  }

  end(prompt: LivePrompt): void {
    prompt.state = "ended";
    this.#open.delete(prompt);
    for (const [id, other] of this.#byId) if (other === prompt) this.#byId.delete(id);
    prompt.onEnded();
  }

  hasEnded(prompt: LivePrompt): boolean {
    return !this.#open.has(prompt);
  }

  get isFull(): boolean {
    return this.waiting.length >= maxWaiting;
  }

  get isBusy(): boolean {
    return this.#open.size > 0;
  }

  /** Those that have not begun. */
  get waiting(): LivePrompt[] {
    return [...this.#open].filter(({ state }) => state === "entering" || state === "accepted");
  }

  get entering(): LivePrompt[] {
    return [...this.#open].filter(({ state }) => state === "entering");
  }

  /** Resolves when all of them have their results. */
  async done(): Promise<void> {
    while (this.#open.size > 0) await Promise.all([...this.#open].flatMap(({ entered, ended }) => [entered, ended]));
  }
}

/** Files are named after turns: other names than these are not for hosts to give. */
const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
