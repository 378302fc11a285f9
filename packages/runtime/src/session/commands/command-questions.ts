import type { CommandInteractionPrompt } from "../../commands/command.ts";

/** How long somebody may take for an answer. */
const maxMs = 5 * 60_000;

/** The questions of commands that wait for an answer. The first answer counts. */
export class CommandQuestions {
  readonly answerable: boolean;
  readonly #open = new Map<string, (value: string | undefined) => void>();

  constructor(answerable: boolean) {
    this.answerable = answerable;
  }

  /** Undefined when it is cancelled, nobody answers in time, or nobody is there. */
  async ask(id: string, signal: AbortSignal): Promise<string | undefined> {
    if (!this.answerable || signal.aborted) return undefined;
    let timer: NodeJS.Timeout | undefined;
    let onAbort = (): void => {};
    try {
      return await new Promise<string | undefined>((resolve) => {
        this.#open.set(id, resolve);
        onAbort = () => resolve(undefined);
        signal.addEventListener("abort", onAbort, { once: true });
        timer = setTimeout(() => resolve(undefined), maxMs);
        timer.unref();
      });
    } finally {
      this.#open.delete(id);
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** False when nobody waits for it any more. */
  answer(id: string, value: string | undefined): boolean {
    const resolve = this.#open.get(id);
    resolve?.(value);
    return resolve !== undefined;
  }
}

export function isFitting(prompt: CommandInteractionPrompt, value: string): boolean {
  if (prompt.type === "choice") return prompt.choices.some((choice) => choice.value === value);
  const { required = false, pattern, maxLength = 10_000 } = prompt.validation ?? {};
  if (value.length > maxLength || (required && value.trim() === "")) return false;
  return pattern === undefined || new RegExp(pattern, "u").test(value);
}
