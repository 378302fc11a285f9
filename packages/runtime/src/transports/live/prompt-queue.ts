import type { UserMessage } from "../../protocol/content.ts";

export type LivePrompt = {
  readonly input: UserMessage;
  /** The sender's own name for it. */
  readonly uuid: string | undefined;
};

/** Prompts in the order they came. Input that is only to be kept joins the next one. */
export class PromptQueue {
  #waiting: LivePrompt[] = [];
  readonly #seen = new Set<string>();
  #kept: UserMessage["content"] = [];
  #wake: () => void = () => {};
  #ended = false;

  get waiting(): readonly LivePrompt[] {
    return this.#waiting;
  }

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

  /** The prompt with what was kept for it. */
  complete(prompt: LivePrompt): LivePrompt {
    const content = [...this.#kept, ...prompt.input.content];
    this.#kept = [];
    return { ...prompt, input: { ...prompt.input, content } };
  }

  add(prompt: LivePrompt, place: "last" | "first" = "last"): void {
    if (place === "first") this.#waiting.unshift(prompt);
    else this.#waiting.push(prompt);
    this.#wake();
  }

  /** Takes one out that still waits. */
  remove(uuid: string): LivePrompt | undefined {
    const found = this.#waiting.find((prompt) => prompt.uuid === uuid);
    this.#waiting = this.#waiting.filter((prompt) => prompt !== found);
    return found;
  }

  /** Takes all out that still wait. */
  clear(): LivePrompt[] {
    const waiting = this.#waiting;
    this.#waiting = [];
    return waiting;
  }

  /** No more will come. */
  end(): void {
    this.#ended = true;
    this.#wake();
  }

  /** Undefined when all are done and no more will come. */
  async next(): Promise<LivePrompt | undefined> {
    while (true) {
      const prompt = this.#waiting.shift();
      if (prompt || this.#ended) return prompt;
      await new Promise<void>((wake) => {
        this.#wake = wake;
      });
    }
  }
}
