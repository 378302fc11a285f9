import { randomUuid } from "../../util/unique-ids.ts";
import type { LivePrompt } from "./prompt-queue.ts";

/** A prompt at work, with what came for it on the way. */
export class RunningTurn {
  readonly prompt: LivePrompt;
  readonly turnId: string;
  /** Messages that became a part of it, each of which still gets a result. */
  readonly joined: LivePrompt[] = [];
  readonly #joining = new Map<LivePrompt, { readonly taken: AbortController; readonly done: Promise<void> }>();
  readonly #ending = new AbortController();

  constructor(prompt: LivePrompt) {
    this.prompt = prompt;
    this.turnId = prompt.uuid !== undefined && uuidForm.test(prompt.uuid) ? prompt.uuid.toLowerCase() : randomUuid();
  }

  /** Messages that are on their way into the turn. */
  get joining(): LivePrompt[] {
    return [...this.#joining.keys()];
  }

  join(prompt: LivePrompt, work: (taken: AbortSignal) => Promise<void>): void {
    const taken = new AbortController();
    const done = work(taken.signal).finally(() => this.#joining.delete(prompt));
    this.#joining.set(prompt, { taken, done });
  }

  /** Takes messages back that are no part of it yet: the one of this name, or all of them. */
  takeBack(uuid?: string): LivePrompt[] {
    const found = [...this.#joining].filter(([prompt]) => uuid === undefined || prompt.uuid === uuid);
    for (const [prompt, { taken }] of found) {
      this.#joining.delete(prompt);
      taken.abort();
    }
    return found.map(([prompt]) => prompt);
  }

  /** Resolves when every message either is a part of it or waits for a turn of its own. */
  async settled(): Promise<void> {
    await Promise.all([...this.#joining.values()].map(({ done }) => done));
  }

  /** Aborted when nothing that was asked for this turn is to be answered any more. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  end(): void {
    this.#ending.abort();
  }
}

/** Files are named after turns: other names than these are not for hosts to give. */
const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
