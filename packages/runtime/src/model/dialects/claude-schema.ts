import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/content.ts";

/** Keywords that Claude's own schema mode refuses; our check of the answer holds the model to them all the same. */
const refused: ReadonlySet<string> = new Set([
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern"],
  ...["minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "not", "$schema", "$id"],
]);

/** With more, compiling the schema takes longer than the server allows itself. */
const mostOptional = 10;

/** The schema as Claude's own schema mode takes it; undefined where that mode cannot hold a model to it. */
export function toClaudeSchema(schema: JsonObject): JsonObject | undefined {
  const count = { optional: 0 };
  const made = convert(schema, count);
  return made === undefined || count.optional > mostOptional ? undefined : (made as JsonObject); // of an object
}

function convert(schema: JsonValue, count: { optional: number }): JsonValue | undefined {
  if (!isJsonObject(schema)) return schema === true ? {} : undefined;
  if (schema["$ref"] !== undefined || schema["allOf"] !== undefined || schema["if"] !== undefined) return undefined; // may be recursive
  const { oneOf, anyOf = oneOf, properties, items, ...rest } = schema;
  const kept = Object.fromEntries(Object.entries(rest).filter(([name]) => !refused.has(name) && !name.endsWith("defs")));
  const choices = Array.isArray(anyOf) ? anyOf.map((choice) => convert(choice, count)) : undefined;
  const list = items === undefined ? undefined : convert(items, count);
  if (choices?.includes(undefined) || (items !== undefined && list === undefined)) return undefined;
  const made = { ...kept, ...(choices && { anyOf: choices as JsonValue[] }), ...(list !== undefined && { items: list }) };
  if (schema["type"] !== "object" && properties === undefined) return made;
  return toObject(made, isJsonObject(properties) ? properties : {}, count);
}

/** An object has the properties that are named, and no others: one that is open to any name cannot be asked for. */
function toObject(made: JsonObject, properties: JsonObject, count: { optional: number }): JsonObject | undefined {
  const { additionalProperties: others = false, patternProperties } = made;
  if (others !== false || patternProperties !== undefined) return undefined;
  const entries = Object.entries(properties).map(([name, value]) => [name, convert(value, count)] as const);
  if (entries.length === 0 || entries.some(([, value]) => value === undefined)) return undefined;
  const required = Array.isArray(made["required"]) ? made["required"].length : 0;
  count.optional += Math.max(0, entries.length - required);
  return { ...made, type: "object", properties: Object.fromEntries(entries) as JsonObject, additionalProperties: false };
}
