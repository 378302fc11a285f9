import { randomUuid } from "../../util/unique-ids.ts";
import type { LivePrompt } from "./prompt-queue.ts";

/** A prompt at work, with what came for it on the way. */
export class RunningTurn {
  readonly prompt: LivePrompt;
  readonly turnId: string;
  /** Messages on their way into the turn; where it ends first, they wait for their own. */
  readonly joining = new Set<LivePrompt>();
  /** Messages that became a part of it, each of which still gets a result. */
  readonly joined: LivePrompt[] = [];
  readonly #ending = new AbortController();

  constructor(prompt: LivePrompt) {
    this.prompt = prompt;
    this.turnId = prompt.uuid !== undefined && uuidForm.test(prompt.uuid) ? prompt.uuid.toLowerCase() : randomUuid();
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
