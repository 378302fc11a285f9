import { type NestedFound, NestedInstructions } from "../context/nested-instructions.ts";
import { kindOf } from "../context/nested-state.ts";
import { toTextCheck } from "../permissions/read-check.ts";
import type { TextPart } from "../protocol/content.ts";
import type { ToolDetails } from "../protocol/events.ts";
import type { CallDeps } from "./deps.ts";

export type NestedNotes = { readonly notes: readonly TextPart[]; readonly details: Pick<ToolDetails, "instructions"> };

/** What the model has to know of the folder it has come to, and what people and hooks are told of it. */
export function noteNested(deps: CallDeps, callId: string, touched: readonly string[]): NestedNotes | undefined {
  const { nested } = deps;
  if (!nested) return undefined;
  const mayRead = toTextCheck(deps.policy());
  nested.live ??= new NestedInstructions(nested.instructions, () => nested.earlier());
  const found = nested.live.touch({ paths: touched, callId, ...(mayRead && { mayRead }) });
  if (!found) return undefined;
  for (const message of found.warnings) deps.emit({ type: "warning.raised", message });
  tellHooks(deps, found);
  const instructions = found.files.map(({ path, bytes }) => ({ path, bytes }));
  return {
    notes: found.text === "" ? [] : [{ type: "text", text: found.text }],
    details: instructions.length > 0 ? { instructions } : {},
  };
}

function tellHooks({ hooks, signal, emit }: CallDeps, { files }: NestedFound): void {
  for (const file of files) {
    const { path, importedBy } = file;
    hooks?.tell("InstructionsLoaded", () => ({ path, kind: kindOf(file), importedBy, nested: true }), { signal, emit });
  }
}
