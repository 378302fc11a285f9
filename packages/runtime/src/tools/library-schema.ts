import type { JsonObject } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import type { InputCheck } from "./input.ts";
import { isLibrarySchema, parseWith, type SchemaSource } from "./standard-schema.ts";
import { fromZod3 } from "./zod3-schema.ts";
import { messageOf } from "../util/message-of.ts";

/** A library's schema as the JSON Schema of what it takes in; JSON Schema stays what it is. Throws a `usage` error where that is impossible. */
export function toJsonSchema(source: SchemaSource): JsonObject {
  const { "~standard": standard, toJSONSchema, _zod, _def } = Object(source) as Convertible; // looked at for what it can do
  try {
    if (standard?.jsonSchema) return toPlain(standard.jsonSchema.input({ target: "draft-2020-12" }));
    if (typeof toJSONSchema === "function") return toPlain(toJSONSchema.call(source, { io: "input" }));
    if (_zod) return toPlain(installedZod().toJSONSchema(source, { io: "input" }));
    if (_def?.typeName !== undefined) return toPlain(fromZod3(source));
  } catch (error) {
    throw notConvertible(standard?.vendor ?? "zod", error);
  }
  if (standard) throw notConvertible(standard.vendor, "it does not say how");
  return source as JsonObject; // no library's schema; what it holds is checked by `parseSchema`
}

/** How a library's schema judges values; undefined for JSON Schema. */
export function toCheck(source: SchemaSource): ((value: unknown) => Promise<InputCheck>) | undefined {
  return isLibrarySchema(source) ? (value) => parseWith(source, value) : undefined;
}

/** What a library's schema makes of a value that fits it. */
export async function toStructured(source: SchemaSource, value: unknown): Promise<unknown> {
  const parsed = isLibrarySchema(source) ? await parseWith(source, value) : undefined;
  return parsed?.ok ? parsed.value : value;
}

type Convertible = {
  readonly "~standard"?: { readonly vendor: string; readonly jsonSchema?: { input(options: { target: string }): unknown } };
  readonly toJSONSchema?: (options?: object) => unknown;
  readonly _zod?: unknown;
  readonly _def?: { readonly typeName?: unknown };
};

/** Before 4.2, zod 4 converts with a function of the package only. It is no dependency of ours, so builds must not look for it. */
function installedZod(): { toJSONSchema(schema: unknown, options: object): unknown } {
  const { createRequire } = process.getBuiltinModule("node:module");
  return createRequire(import.meta.url)("zod");
}

/** Without what libraries hide in it: functions, symbols, getters. */
function toPlain(value: unknown): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject; // checked by `parseSchema`
}

function notConvertible(vendor: string, reason: unknown): RuntimeError {
  const words = messageOf(reason);
  return new RuntimeError("usage", `The ${vendor} schema cannot be turned into JSON Schema: ${words}`, {
    cause: reason instanceof Error ? reason : undefined,
    hint: "Convert it yourself: a tool takes the result as `jsonSchema` beside its schema, `outputSchema` in the schema's place",
  });
}
