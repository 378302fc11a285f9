import { type NestedFound, NestedInstructions } from "../context/nested-instructions.ts";
import { kindOf } from "../context/nested-state.ts";
import { toTextCheck } from "../permissions/read-check.ts";
import type { TextPart } from "../protocol/content.ts";
import type { ToolDetails } from "../protocol/events.ts";
import { isInside } from "../util/is-inside.ts";
import type { CallDeps } from "./deps.ts";

export type TouchedNotes = {
  readonly notes: readonly TextPart[];
  readonly details: Pick<ToolDetails, "instructions" | "moreSkills">;
};

/** What the model has to know of the files it has come to: instructions of their folder, and skills that are for them. */
export async function noteTouched(deps: CallDeps, callId: string, touched: readonly string[]): Promise<TouchedNotes> {
  const nested = noteNested(deps, callId, touched);
  const found = await deps.skillsOfFiles?.touch(touched);
  for (const message of found?.warnings ?? []) deps.emit({ type: "warning.raised", message });
  return {
    notes: [...(nested?.notes ?? []), ...(found?.text ? [{ type: "text", text: found.text } as const] : [])],
    details: { ...nested?.details, ...(found?.isNew && { moreSkills: true }) },
  };
}

/** And what people and hooks are told of instructions. */
function noteNested(deps: CallDeps, callId: string, touched: readonly string[]): TouchedNotes | undefined {
  const { nested } = deps;
  if (!nested) return undefined;
  const mayRead = toTextCheck(deps.policy());
  nested.live ??= new NestedInstructions(nested.instructions, () => nested.earlier());
  const found = nested.live.touch({ paths: touched, callId, ...(mayRead && { mayRead }) });
  if (!found) return undefined;
  for (const message of found.warnings) deps.emit({ type: "warning.raised", message });
  tellHooks(deps, found, touched);
  const instructions = found.files.map(({ path, bytes }) => ({ path, bytes }));
  return {
    notes: found.text === "" ? [] : [{ type: "text", text: found.text }],
    details: instructions.length > 0 ? { instructions } : {},
  };
}

function tellHooks({ hooks, signal, emit }: CallDeps, { files }: NestedFound, touched: readonly string[]): void {
  for (const file of files) {
    const { path, importedBy, isRuleOfFile: byPattern = false } = file;
    const triggeredBy = touched.find((name) => isInside(path.slice(0, path.lastIndexOf("/")), name)) ?? touched[0];
    const facts = { path, kind: kindOf(file), importedBy, nested: true, byPattern, triggeredBy };
    hooks?.tell("InstructionsLoaded", () => facts, { signal, emit });
  }
}
