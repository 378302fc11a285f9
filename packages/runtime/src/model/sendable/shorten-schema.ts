import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/content.ts";

/** Characters of JSON. Real tools stay far below; what is longer would be paid for with every request. */
const maxLength = 60_000;
const note = "The schema of its input is too long to be shown whole; input that does not fit is refused with the reason.";

/** A schema of bounded length: long texts go first, then what is nested deepest. */
export function shortenSchema(schema: JsonObject): { schema: JsonObject; note?: string } {
  if (JSON.stringify(schema).length <= maxLength) return { schema };
  for (const depth of [30, 4, 3, 2, 1]) {
    const shorter = prune(schema, depth);
    const whole = { ...(isJsonObject(shorter) ? shorter : {}), type: "object" };
    if (JSON.stringify(whole).length <= maxLength) return { schema: whole, note };
  }
  return { schema: { type: "object", properties: {} }, note };
}

const left: ReadonlySet<string> = new Set(["examples", "default", "title", "$comment"]);
const containers: ReadonlySet<string> = new Set(["properties", "$defs", "definitions", "patternProperties"]);
const maxText = 200;

/** `depth` counts schemas within schemas; below it any value is taken. References need their definitions, so they go with them. */
function prune(schema: JsonValue, depth: number): JsonValue {
  if (!isJsonObject(schema)) return schema;
  if (depth === 0)
    return typeof schema["type"] === "string" ? { type: schema["type"], ...(schema["type"] === "array" && { items: {} }) } : {};
  const isCut = depth < 25;
  return Object.fromEntries(
    Object.entries(schema).flatMap(([keyword, value]): [string, JsonValue][] => {
      if (left.has(keyword) || (isCut && (keyword === "$defs" || keyword === "definitions" || keyword === "$ref"))) return [];
      if (typeof value === "string") return [[keyword, value.slice(0, maxText).toWellFormed()]];
      if (keyword === "enum" || keyword === "required" || keyword === "const") return [[keyword, value]];
      if (containers.has(keyword) && isJsonObject(value))
        return [[keyword, Object.fromEntries(Object.entries(value).map(([name, child]) => [name, prune(child, depth - 1)]))]];
      if (Array.isArray(value)) return [[keyword, value.map((child) => prune(child, depth - 1))]];
      return [[keyword, prune(value, depth - 1)]];
    }),
  );
}
