import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/content.ts";

/**
 * A schema without keywords that say nothing because they are not well-formed. They are not sent to models, which could not heed them, so
 * nothing is checked against them either.
 */
export function toUsableSchema(schema: JsonObject, draft: string): JsonObject {
  return cleanSchema(schema, draft) as JsonObject; // an object stays one
}

const types: ReadonlySet<JsonValue> = new Set(["string", "number", "integer", "boolean", "object", "array", "null"]);
const schemaMaps = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
const schemaLists = ["allOf", "anyOf", "oneOf", "prefixItems"];
const oneSchema = ["additionalProperties", "contains", "propertyNames", "not", "if", "then", "else", "additionalItems"];
const counts = ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"];
const numbers = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];

function cleanSchema(schema: JsonValue, draft: string): JsonValue {
  if (!isJsonObject(schema)) return schema;
  const kept: JsonObject = {};
  for (const [keyword, value] of Object.entries(schema)) {
    const usable = cleanKeyword(keyword, value, draft);
    if (usable !== undefined) kept[keyword] = usable;
  }
  return draft === "4" ? kept : withExclusiveLimits(kept, schema);
}

function cleanKeyword(keyword: string, value: JsonValue, draft: string): JsonValue | undefined {
  const inner = (child: JsonValue): JsonValue => cleanSchema(child, draft);
  if (keyword === "type") return typesIn(value);
  if (keyword === "required") return Array.isArray(value) ? value.filter((name) => typeof name === "string") : undefined;
  if (keyword === "enum") return Array.isArray(value) && value.length > 0 ? value : undefined;
  if (counts.includes(keyword)) return Number.isInteger(value) && Number(value) >= 0 ? value : undefined;
  if (numbers.includes(keyword)) {
    if (typeof value === "boolean") return draft === "4" && keyword.startsWith("exclusive") ? value : undefined;
    return typeof value === "number" && (keyword !== "multipleOf" || value > 0) ? value : undefined;
  }
  if (schemaLists.includes(keyword)) return Array.isArray(value) && value.length > 0 ? value.map(inner) : undefined;
  if (schemaMaps.includes(keyword)) return isJsonObject(value) ? mapValues(value, inner) : undefined;
  if (keyword === "items" && Array.isArray(value)) return value.map(inner);
  if (keyword === "items" || oneSchema.includes(keyword))
    return typeof value === "boolean" || isJsonObject(value) ? inner(value) : undefined;
  return value;
}

function typesIn(value: JsonValue): JsonValue | undefined {
  if (!Array.isArray(value)) return types.has(value) ? value : undefined;
  const known = value.filter((name) => types.has(name));
  return known.length > 0 ? known : undefined;
}

/** Draft 4 said with a boolean that a limit is exclusive; many schemas that name no draft still do. */
function withExclusiveLimits(kept: JsonObject, schema: JsonObject): JsonObject {
  const limits = { ...kept };
  for (const [plain, exclusive] of [
    ["minimum", "exclusiveMinimum"],
    ["maximum", "exclusiveMaximum"],
  ] as const) {
    const limit = kept[plain];
    if (schema[exclusive] !== true || limit === undefined) continue;
    limits[exclusive] = limit;
    delete limits[plain];
  }
  return limits;
}

function mapValues(map: JsonObject, change: (value: JsonValue) => JsonValue): JsonObject {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, change(value)]));
}
