import { type GivenVariables, scrubEnvironment } from "./environment.ts";

type Variables = Readonly<Record<string, string>>;

/** Variables that hooks have set for the commands that come after them. They count as the user's own: see `userEnvironment`. */
export class ExportedVariables {
  readonly #keep: readonly string[];
  #all: Variables = {};
  #careful: Variables = {};

  /** `keep`: names that every program gets, though they look like secrets. */
  constructor(keep: readonly string[] = []) {
    this.#keep = keep;
  }

  get all(): Variables {
    return this.#all;
  }

  replace(all: Variables): void {
    this.#all = all;
    this.#careful = scrubEnvironment(all, this.#keep);
  }

  /** What a program gets of them beside `given`. `isCareful`: nobody has said anything about that program. */
  beside({ env, withheld }: GivenVariables, isCareful: boolean): GivenVariables {
    const exported = isCareful ? this.#careful : this.#all;
    const missing = isCareful ? Object.keys(this.#all).filter((name) => !Object.hasOwn(exported, name)) : [];
    return { env: { ...env, ...exported }, withheld: missing.length > 0 ? [...withheld, ...missing].sort() : withheld };
  }
}
