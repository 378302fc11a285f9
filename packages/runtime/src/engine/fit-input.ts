import type { TextPart } from "../protocol/content.ts";
import type { Tool } from "../tools/tool.ts";
import { checkCallInput } from "./check-call-input.ts";
import type { LiveCall } from "./live-call.ts";

/** The call with an input that fits its tool, and what the model should know of that; or what to change, in words for it. */
export type FittedCall =
  | { readonly ok: true; readonly call: LiveCall; readonly notes: readonly TextPart[] }
  | { readonly ok: false; readonly message: string };

export async function fitInput(tool: Tool, call: LiveCall): Promise<FittedCall> {
  const checked = await checkCallInput(tool, call.input);
  if (checked.ok) return { ok: true, call, notes: [] };
  if (!tool.forgives) return { ok: false, message: checked.message };
  const { loadForgiveness, toMeantInput } = await import("../tools/meant-input.ts");
  const forgiveness = await loadForgiveness(tool.forgives);
  const meant = toMeantInput(tool.inputSchema, call.input, forgiveness);
  if (!meant) return { ok: false, message: checked.message };
  if (!(await checkCallInput(tool, meant.input)).ok) {
    // What would have been understood needs no words; what nobody knows may be what is missing, under another name.
    const known = { ...forgiveness, ...(forgiveness.needed && { needed: Object.keys(Object(call.input)) }) };
    const rest = await checkCallInput(tool, toMeantInput(tool.inputSchema, call.input, known)?.input ?? call.input);
    return { ok: false, message: rest.ok ? checked.message : rest.message };
  }
  const notes = meant.notes.length > 0 ? [{ type: "text" as const, text: `[Input: ${meant.notes.join(" ")}]` }] : [];
  return { ok: true, call: { ...call, input: meant.input }, notes };
}
