import { dereference, type OutputUnit, Validator } from "@cfworker/json-schema";
import type { JsonObject } from "../protocol/content.ts";
import { inTime, TookTooLong } from "../util/in-time.ts";
import type { InputCheck } from "./input.ts";
import { dropLostReferences } from "./schema-references.ts";
import { toUsableSchema } from "./usable-schema.ts";

/** `schema` is what is left of a schema after its unusable keywords are taken out. */
type Checker = { readonly validator: Validator; readonly schema: JsonObject };

/** Without these, a check takes as long as the value is. */
const slowKeywords = /"(?:pattern|patternProperties|format|uniqueItems|allOf|anyOf|oneOf|\$\w*[rR]ef)"/;

const checkers = new WeakMap<JsonObject, Checker>();

/** What `checkInput` does with a value that is there and not too deep. */
export async function checkAgainst(schema: JsonObject, input: unknown): Promise<InputCheck> {
  let problems: OutputUnit[];
  let checker: Checker;
  try {
    checker = checkerFor(schema);
    const result = validateInTime(checker, input);
    if (result.valid) return { ok: true };
    problems = result.errors;
  } catch (error) {
    if (error instanceof TookTooLong) {
      await new Promise(setImmediate); // a signal or a deadline may have come meanwhile, and the next check may be as slow
      return {
        ok: false,
        message:
          "Checking the input against the schema took too long: a pattern in it is slow on such a text, or it branches too much.",
      };
    }
    // Names that are no Unicode, references too many to follow: nothing the model could mend in its input.
    const reason = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
    return { ok: false, message: `The input could not be checked against the tool's schema: ${reason}`, uncheckable: true };
  }
  const { describeProblems } = await import("./input-problems.ts");
  return { ok: false, message: describeProblems({ problems, schema: checker.schema, input }) };
}

/** Servers and callers write patterns into their schemas, and some take for ever on some texts: throws `TookTooLong` then. */
export function validateInTime({ validator, schema }: Checker, value: unknown): ReturnType<Validator["validate"]> {
  const validate = (): ReturnType<Validator["validate"]> => validator.validate(value);
  return slowKeywords.test(JSON.stringify(schema)) ? inTime(validate) : validate();
}

function checkerFor(original: JsonObject): Checker {
  const known = checkers.get(original);
  if (known) return known;
  const draft = draftOf(original);
  // A copy: the library writes hidden properties into the schema, which may be frozen or shared. All problems are wanted, not the first.
  const usable = toUsableSchema(original, draft);
  dropLostReferences(usable, dereference(usable.schema));
  const checker = { validator: new Validator(usable.schema, draft, false), schema: usable.schema };
  checkers.set(original, checker);
  return checker;
}

/** What a schema says of itself; the newest where it says nothing. */
export function draftOf(schema: JsonObject): "4" | "7" | "2019-09" | "2020-12" {
  const named = /draft-0?(4|6|7)|(2019-09)/.exec(String(schema["$schema"] ?? ""));
  if (named?.[1]) return named[1] === "4" ? "4" : "7";
  return named?.[2] ? "2019-09" : "2020-12";
}
