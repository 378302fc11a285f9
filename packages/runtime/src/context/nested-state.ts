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
