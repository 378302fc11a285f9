import type { StoredEvents } from "../../journal/store.ts";
import type { ReferenceRecord } from "../../protocol/events.ts";

const maxObserved = 32;

/** Files that every prompt brings along, and files that prompts have named. What they are is on record, and holds when the session goes on. */
export class SessionReferences {
  /** Prompts are strangers': which files there are is told only where they may be read without a question. */
  readonly isDiscreet: boolean;
  readonly #past: Pick<StoredEvents, "last" | "of">;
  #active: readonly string[] | undefined;
  #observed: readonly string[] | undefined;
  readonly #given = new Map<string, Given>();

  constructor(past: Pick<StoredEvents, "last" | "of">, { isDiscreet = false }: { readonly isDiscreet?: boolean } = {}) {
    this.#past = past;
    this.isDiscreet = isDiscreet;
  }

  /** Absolute paths, in the order in which they were added. */
  get active(): readonly string[] {
    this.#active ??= this.#past.last("context.referenced")?.active ?? [];
    return this.#active;
  }

  set active(paths: readonly string[]) {
    this.#active = paths;
  }

  /** Those that were read for a prompt, the last ones last. */
  get observed(): readonly string[] {
    this.#observed ??= [...this.#past.of("references.read")].reduce((all, { references }) => withRead(all, references), noPaths);
    return this.#observed;
  }

  observe(records: readonly ReferenceRecord[]): void {
    this.#observed = withRead(this.observed, records);
  }

  /** What the model was shown of a file last, in this process. */
  given(path: string): Given | undefined {
    return this.#given.get(path);
  }

  give(path: string, given: Given): void {
    this.#given.set(path, given);
  }
}

export type Given = { readonly version: string; readonly text: string };

const noPaths: readonly string[] = [];

function withRead(all: readonly string[], records: readonly ReferenceRecord[]): readonly string[] {
  const read = records.flatMap(({ status, path }) => (status === "read" ? [path] : []));
  return [...new Set([...all.filter((path) => !read.includes(path)), ...read])].slice(-maxObserved);
}
