import { Validator } from "@cfworker/json-schema";
import type { JsonSchemaValidator, jsonSchemaValidator } from "@modelcontextprotocol/client";
import { parseSchema } from "../schema.ts";
import { draftOf, validateInTime } from "../schema-check.ts";
import { messageOf } from "../../util/message-of.ts";

/**
 * Checks what tools answer with the library that checks what they are given. The client's own would run code that it writes from a
 * server's schema; the build leaves it out.
 */
export const outputValidator: jsonSchemaValidator = {
  getValidator<T>(source: object): JsonSchemaValidator<T> {
    const schema = structuredClone(parseSchema(source)); // the library writes into it
    const validator = new Validator(schema, draftOf(schema));
    return (value) => {
      const { valid, errors } = validateInTime({ validator, schema }, value);
      if (valid) return { valid, data: value as T, errorMessage: undefined }; // as the schema says
      const errorMessage = errors.map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`).join("; ");
      return { valid: false, data: undefined, errorMessage };
    };
  },
};

/** Why a value does not fit a server's schema, or cannot be checked against it; undefined when it fits. */
export function outputProblem(schema: object, value: unknown): string | undefined {
  try {
    return outputValidator.getValidator(schema as Parameters<typeof outputValidator.getValidator>[0])(value).errorMessage;
  } catch (error) {
    return messageOf(error);
  }
}
