import { type JsonObject, type JsonValue, isJsonObject } from "../../protocol/content.ts";
import { listIn, objectIn } from "./json-fields.ts";

/** Whether OpenAI's strict mode takes a schema: it refuses optional and open properties, and whatever it cannot turn into a grammar. */
export function fitsStrictMode(schema: JsonObject): boolean {
  return schema["type"] === "object" && isStrict(schema);
}

const looseKeywords = [
  "allOf",
  "oneOf",
  "not",
  "if",
  "then",
  "else",
  "patternProperties",
  "dependentRequired",
  "dependentSchemas",
];

function isStrict(schema: JsonValue | undefined): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict);
  if (!isJsonObject(schema)) return schema !== true; // `true` allows anything
  if (looseKeywords.some((keyword) => keyword in schema)) return false;
  if (schema["type"] === "object" || schema["properties"] !== undefined) {
    const required = listIn(schema, "required");
    if (schema["additionalProperties"] !== false) return false;
    if (!Object.keys(objectIn(schema, "properties")).every((name) => required.includes(name))) return false;
  }
  const named = ["properties", "$defs", "definitions"].flatMap((name) => Object.values(objectIn(schema, name)));
  return [...named, schema["items"], schema["anyOf"]].every(isStrict);
}
