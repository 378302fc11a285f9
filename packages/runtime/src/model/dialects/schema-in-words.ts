import type { JsonObject } from "../../protocol/content.ts";

/** For a model that is not held to a schema by its provider. */
export function schemaInWords(schema: JsonObject): string {
  return `Your final answer must be JSON that fits this JSON Schema, and nothing else:\n${JSON.stringify(schema)}`;
}
