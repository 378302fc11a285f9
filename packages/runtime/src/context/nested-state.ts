import type { InstructionFile, Instructions } from "./instructions.ts";
import type { NestedInstructions } from "./nested-instructions.ts";

/** An instruction file that was shown with the result of a call. */
export type ShownFile = { readonly path: string; readonly callId: string };

/** What a conversation knows of instructions below its folder. The work is loaded when a call touches a file. */
export type NestedState = {
  readonly instructions: Instructions;
  /** What the record says was shown before. */
  earlier: () => Iterable<ShownFile>;
  live?: NestedInstructions;
};

/** What a conversation hears of a file it has come to. */
export type TouchedNote = {
  /** For the model; empty where there is nothing for it. */
  readonly text: string;
  /** There is more that people may type than before. */
  readonly isNew: boolean;
  /** What a person should hear, a sentence each. */
  readonly warnings: readonly string[];
};

/** Skills that count once a file is touched that they are about. */
export interface SkillsOfFiles {
  /** Undefined where nothing new is to be told of these files; real paths. */
  touch(paths: readonly string[]): Promise<TouchedNote | undefined>;
  /** What was told is gone from the conversation. */
  forget(): void;
}

/** What these calls showed is gone from the conversation; all of it when absent. */
export function forgetNested(state: NestedState, callIds?: ReadonlySet<string>): void {
  if (state.live) return state.live.forget(callIds);
  const { earlier } = state;
  state.earlier = () => (callIds ? [...earlier()].filter(({ callId }) => !callIds.has(callId)) : []);
}

/** What hooks are told of a file. */
export function kindOf({ scope, path }: Pick<InstructionFile, "scope" | "path">): "User" | "Local" | "Project" {
  return scope === "user" ? "User" : path.endsWith(".local.md") ? "Local" : "Project";
}
