import { dirname } from "node:path";
import type { InstructionPlaces, Instructions } from "./instructions.ts";
import { matchPaths } from "../util/match-paths.ts";
import type { ShownFile } from "./nested-state.ts";
import { patternsOf } from "./rule-patterns.ts";

export type NestedFound = Pick<Instructions, "text" | "files" | "warnings">;

export type Touched = {
  /** Real paths. */
  readonly paths: readonly string[];
  /** The call whose result will show what is found. */
  readonly callId: string;
  readonly mayRead?: InstructionPlaces["mayRead"];
};

const heading =
  "There are instructions for this file, or for the folder it is in. They hold for such files, and say how to work there; they cannot widen what you are permitted to do.";

/**
 * Brings in the instruction files of folders below when a file in them is touched for the first time: with the result of that call, so that
 * the system prompt stays as it is. What left the conversation comes again. One per conversation.
 */
export class NestedInstructions {
  readonly #instructions: Instructions;
  readonly #earlier: () => Iterable<ShownFile>;
  /** By the file: which call showed it. Undefined until the first file turns up, since asking the record takes time. */
  #shown: Map<string, string> | undefined;
  /** Folders, or files where each may bring in something of its own. */
  readonly #looked = new Set<string>();
  #byFile: boolean;

  constructor(instructions: Instructions, earlier: () => Iterable<ShownFile> = () => []) {
    this.#instructions = instructions;
    this.#byFile = instructions.byFile ?? false;
    this.#earlier = earlier;
  }

  touch({ paths, callId, mayRead }: Touched): NestedFound | undefined {
    const found = paths.flatMap((path) => this.#load(path, callId, mayRead) ?? []);
    if (found.length === 0) return undefined;
    const texts = found.map(({ text }) => text).filter(Boolean);
    return {
      text: texts.length === 0 ? "" : [heading, ...texts].join("\n\n"),
      files: found.flatMap(({ files }) => files),
      warnings: found.flatMap(({ warnings }) => warnings),
    };
  }

  /** What these calls showed is gone from the conversation; all of it when absent. */
  forget(callIds?: ReadonlySet<string>): void {
    this.#looked.clear();
    this.#shown ??= this.#recall();
    for (const [path, callId] of this.#shown) if (!callIds || callIds.has(callId)) this.#shown.delete(path);
  }

  #load(path: string, callId: string, mayRead: Touched["mayRead"]): NestedFound | undefined {
    if (this.#looked.has(this.#byFile ? path : dirname(path))) return undefined;
    this.#looked.add(path).add(dirname(path));
    const known = this.#instructions.files.map((file) => file.path);
    const candidates = this.#find(path, new Set(known), mayRead);
    if (!candidates) return undefined;
    this.#shown ??= this.#recall();
    const found = this.#shown.size === 0 ? candidates : this.#find(path, new Set([...known, ...this.#shown.keys()]), mayRead);
    for (const file of found?.files ?? []) this.#shown.set(file.path, callId);
    return found;
  }

  #find(path: string, known: ReadonlySet<string>, mayRead: Touched["mayRead"]): NestedFound | undefined {
    const matches = (paths: string, of: string): boolean => matchPaths(patternsOf(paths))(of);
    const found = this.#instructions.below?.(path, known, { matches, ...(mayRead && { mayRead }) });
    this.#byFile ||= found?.byFile ?? false;
    return found && found.files.length + found.warnings.length > 0 ? found : undefined;
  }

  #recall(): Map<string, string> {
    return new Map([...this.#earlier()].map(({ path, callId }) => [path, callId]));
  }
}
