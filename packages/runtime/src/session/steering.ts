import type { UserMessage } from "../protocol/content.ts";

type Waiting = { readonly input: UserMessage; readonly settle: (fate: "joined" | "missed") => void };

/** Input that arrives while a turn runs and may still join it: the engine takes it before it asks the model again. */
export class Steering {
  #waiting: Waiting[] = [];

  /** Resolves when the input is a part of the turn, or when the turn has ended without it. An abort takes it back: then it has missed. */
  add(input: UserMessage, taken?: AbortSignal): Promise<"joined" | "missed"> {
    return new Promise((settle) => {
      if (taken?.aborted) return settle("missed");
      const waiting: Waiting = {
        input,
        settle: (fate) => {
          taken?.removeEventListener("abort", takeBack);
          settle(fate);
        },
      };
      const takeBack = (): void => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting);
        waiting.settle("missed");
      };
      taken?.addEventListener("abort", takeBack, { once: true });
      this.#waiting.push(waiting);
    });
  }

  take(): UserMessage[] {
    return this.#settle("joined").map(({ input }) => input);
  }

  /** The turn is over: what still waits has to become a prompt of its own. */
  end(): void {
    this.#settle("missed");
  }

  #settle(fate: "joined" | "missed"): Waiting[] {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { settle } of waiting) settle(fate);
    return waiting;
  }
}
