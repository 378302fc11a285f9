import type { AgentEvent } from "../../protocol/events.ts";
import type { AnsweredPrompts } from "../headless/output-format.ts";
import type { HostNotices } from "./host-notices.ts";
import type { LivePrompt, LivePrompts, LiveTurn } from "./live-prompts.ts";

/** Which turn runs, and which messages of the host are in it. */
export class HostTurns {
  readonly #prompts: LivePrompts;
  readonly #notices: HostNotices;
  /** Aborted when nothing that was asked for a turn is to be answered any more; the last one is of the running turn. */
  readonly #open: AbortController[] = [];
  #turn: LiveTurn | undefined;

  constructor(prompts: LivePrompts, notices: HostNotices) {
    this.#prompts = prompts;
    this.#notices = notices;
  }

  get running(): LiveTurn | undefined {
    return this.#turn;
  }

  /** Of the questions of the running turn. */
  get signal(): AbortSignal {
    return this.#open.at(-1)?.signal ?? AbortSignal.abort();
  }

  /** The model is at work: what is asked from here on belongs to a turn. */
  expect(): void {
    this.#open.push(new AbortController());
  }

  /** Withdraws questions that are still open. */
  withdraw(): void {
    this.#open.at(-1)?.abort();
  }

  /** What an event of the conversation is to the host's messages. */
  follow(event: AgentEvent): void {
    if (event.type === "prompt.accepted") this.#notices.tell("queued", this.#prompts.accept(event));
    else if (event.type === "turn.started") this.#begin(event);
    else if (event.type === "input.added") this.#join(event.promptId);
    else if (event.type === "turn.ended") this.#open.shift()?.abort();
  }

  /** From here on messages wait for a turn of their own; answers those that had become a part of this one. */
  leave(prompt?: LivePrompt): readonly LivePrompt[] {
    const joined = prompt === undefined || this.#turn?.prompt === prompt ? (this.#turn?.joined ?? []) : [];
    this.#turn = undefined;
    return joined;
  }

  /** The messages that a result is about: the one it is written for, or those of the turn. */
  answered(told: Pick<LivePrompt, "uuid"> | undefined): AnsweredPrompts {
    const turn = this.#turn;
    const prompts = told ? [told] : turn?.prompt ? [turn.prompt, ...turn.joined] : [];
    return { uuids: namesOf(prompts), waiting: this.#prompts.waiting.length };
  }

  #begin({ turnId = "", tasks }: AgentEvent<"turn.started">): void {
    const prompt = this.#prompts.begin(turnId);
    this.#turn = { id: turnId, prompt, joined: [], isWoken: tasks !== undefined };
    if (prompt) this.#notices.tell("started", prompt);
    this.#notices.changeState("running");
  }

  #join(promptId: string | undefined): void {
    const prompt = promptId === undefined ? undefined : this.#prompts.begin(promptId, this.#turn?.id);
    if (!prompt) return;
    this.#turn?.joined.push(prompt);
    this.#notices.tell("started", prompt);
  }
}

/** As hosts named them. */
export function namesOf(prompts: readonly Pick<LivePrompt, "uuid">[]): string[] {
  return prompts.flatMap(({ uuid }) => uuid ?? []);
}
