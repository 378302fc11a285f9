import type { UserMessage } from "../protocol/content.ts";

type Waiting = { readonly input: UserMessage; readonly settle: (fate: "joined" | "missed") => void };

/** Input that arrives while a turn runs and may still join it: the engine takes it before it asks the model again. */
export class Steering {
  #waiting: Waiting[] = [];

  /** Resolves when the input is a part of the turn, or when the turn has ended without it. */
  add(input: UserMessage): Promise<"joined" | "missed"> {
    return new Promise((settle) => this.#waiting.push({ input, settle }));
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
