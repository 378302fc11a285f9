import type { UserMessage } from "../../protocol/content.ts";

export type LivePrompt = { readonly input: UserMessage; readonly uuid: string | undefined };

/** Prompts in the order they came. Input that is only to be kept joins the next one. */
export class PromptQueue {
  readonly #waiting: LivePrompt[] = [];
  readonly #seen = new Set<string>();
  #kept: UserMessage["content"] = [];
  #wake: () => void = () => {};
  #ended = false;

  get uuids(): string[] {
    return this.#waiting.flatMap(({ uuid }) => uuid ?? []);
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

  add(prompt: LivePrompt, place: "last" | "first" = "last"): void {
    const content = [...this.#kept, ...prompt.input.content];
    this.#kept = [];
    const whole = { ...prompt, input: { ...prompt.input, content } };
    if (place === "first") this.#waiting.unshift(whole);
    else this.#waiting.push(whole);
    this.#wake();
  }

  clear(): void {
    this.#waiting.length = 0;
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
