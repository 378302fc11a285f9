import type { OutputUnit, Validator } from "@cfworker/json-schema";
import type { JsonObject } from "../protocol/content.ts";
import { describeProblems } from "./input-problems.ts";

const validators = new WeakMap<JsonObject, Validator>();

/** Does a tool call's input fit the tool's schema? If not, says what to change, in words for the model. */
export async function checkInput(schema: JsonObject, input: unknown): Promise<{ ok: true } | { ok: false; message: string }> {
  if (input === undefined) return { ok: false, message: "The input is missing." };
  let problems: OutputUnit[];
  try {
    const result = (await validatorFor(schema)).validate(input);
    if (result.valid) return { ok: true };
    problems = result.errors;
  } catch (error) {
    // A reference that leads nowhere, a pattern that is no regular expression: nothing the model could mend in its input.
    const reason = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
    return { ok: false, message: `The input could not be checked against the tool's schema: ${reason}` };
  }
  return { ok: false, message: describeProblems({ problems, schema, input }) };
}

async function validatorFor(schema: JsonObject): Promise<Validator> {
  const known = validators.get(schema);
  if (known) return known;
  const library = await import("@cfworker/json-schema");
  // A copy: the library writes hidden properties into the schema, which may be frozen or shared. All problems are wanted, not the first.
  const validator = new library.Validator(structuredClone(schema), "2020-12", false);
  validators.set(schema, validator);
  return validator;
}
