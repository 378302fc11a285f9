import type { OutputUnit, Validator } from "@cfworker/json-schema";
import type { JsonObject } from "../protocol/content.ts";
import { isTooDeep } from "../util/too-deep.ts";

/** `schema` is what is left of a schema after its unusable keywords are taken out. */
type Checker = { readonly validator: Validator; readonly schema: JsonObject };

const checkers = new WeakMap<JsonObject, Checker>();

/** `uncheckable`: the schema itself is at fault. */
export type InputCheck = { readonly ok: true } | { readonly ok: false; readonly message: string; readonly uncheckable?: true };

/** Does a tool call's input fit the tool's schema? If not, says what to change, in words for the model. */
export async function checkInput(schema: JsonObject, input: unknown): Promise<InputCheck> {
  if (input === undefined) return { ok: false, message: "The input is missing." };
  if (isTooDeep(input, maxInputDepth)) return { ok: false, message: `The input is nested more than ${maxInputDepth} deep.` };
  let problems: OutputUnit[];
  let checker: Checker;
  try {
    checker = await checkerFor(schema);
    const result = checker.validator.validate(input);
    if (result.valid) return { ok: true };
    problems = result.errors;
  } catch (error) {
    // Names that are no Unicode, references too many to follow: nothing the model could mend in its input.
    const reason = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
    return { ok: false, message: `The input could not be checked against the tool's schema: ${reason}`, uncheckable: true };
  }
  const { describeProblems } = await import("./input-problems.ts");
  return { ok: false, message: describeProblems({ problems, schema: checker.schema, input }) };
}

/** Deeper than any tool wants, and far from where recursion ends. */
export const maxInputDepth = 200;

async function checkerFor(original: JsonObject): Promise<Checker> {
  const known = checkers.get(original);
  if (known) return known;
  const library = await import("@cfworker/json-schema");
  const { toUsableSchema } = await import("./usable-schema.ts");
  const { dropLostReferences } = await import("./schema-references.ts");
  const draft = draftOf(original);
  // A copy: the library writes hidden properties into the schema, which may be frozen or shared. All problems are wanted, not the first.
  const usable = toUsableSchema(original, draft);
  dropLostReferences(usable, library.dereference(usable.schema));
  const checker = { validator: new library.Validator(usable.schema, draft, false), schema: usable.schema };
  checkers.set(original, checker);
  return checker;
}

/** What a schema says of itself; the newest where it says nothing. */
export function draftOf(schema: JsonObject): "4" | "7" | "2019-09" | "2020-12" {
  const named = /draft-0?(4|6|7)|(2019-09)/.exec(String(schema["$schema"] ?? ""));
  if (named?.[1]) return named[1] === "4" ? "4" : "7";
  return named?.[2] ? "2019-09" : "2020-12";
}
