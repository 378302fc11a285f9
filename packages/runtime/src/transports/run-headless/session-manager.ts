import { RuntimeError } from "../../protocol/errors.ts";
import { randomUuid } from "../../util/unique-ids.ts";

/** Gives a run its id, and nothing else: `initialize` makes one, `getId` answers it. Other runtimes have this name for it. */
export class SessionManager {
  readonly #prefix: string;
  #id: string | undefined;

  constructor(prefix = "session") {
    this.#prefix = prefix;
  }

  initialize(): string {
    this.#id = `${this.#prefix}-${randomUuid()}`;
    return this.#id;
  }

  getId(): string {
    if (this.#id === undefined) throw new RuntimeError("usage", "The session has no id yet: call initialize() first");
    return this.#id;
  }

  isActive(): boolean {
    return this.#id !== undefined;
  }
}
