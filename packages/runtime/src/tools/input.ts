import type { JsonObject } from "../protocol/content.ts";
import { isTooDeep } from "../util/too-deep.ts";

/** `uncheckable`: the schema itself is at fault. */
export type InputCheck = { readonly ok: true } | { readonly ok: false; readonly message: string; readonly uncheckable?: true };

/** Does a tool call's input fit the tool's schema? If not, says what to change, in words for the model. */
export async function checkInput(schema: JsonObject, input: unknown): Promise<InputCheck> {
  if (input === undefined) return { ok: false, message: "The input is missing." };
  if (isTooDeep(input, maxInputDepth)) return { ok: false, message: `The input is nested more than ${maxInputDepth} deep.` };
  const { checkAgainst } = await import("./schema-check.ts");
  return await checkAgainst(schema, input);
}

/** Deeper than any tool wants, and far from where recursion ends. */
export const maxInputDepth = 200;
