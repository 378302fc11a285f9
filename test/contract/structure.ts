/** What a value is made of: names of fields and kinds of values, without what they say. */
export type Shape = string | Shape[] | { [field: string]: Shape };

/** A frame as a comparison sees it. */
export type Structure = { readonly kind: string; readonly shape: Shape };

export type Json = null | boolean | number | string | Json[] | { [field: string]: Json };
export type JsonRecord = { [field: string]: Json };

export function structureOf(frame: JsonRecord): Structure {
  return { kind: kindOf(frame), shape: shapeOf(frame) };
}

export function kindOf(frame: JsonRecord): string {
  const inner = recordIn(frame, "event") ?? recordIn(frame, "request") ?? recordIn(frame, "response");
  const delta = recordIn(inner ?? frame, "delta");
  const words = [frame["type"], frame["subtype"] ?? inner?.["type"] ?? inner?.["subtype"], delta?.["type"]];
  return words.filter((word) => typeof word === "string").join("/");
}

/** Values whose fields are named by tools, models or programs: their names are no structure. */
const free = new Set(["input", "tool_input", "structured_output", "tool_response", "arguments", "params", "structuredContent"]);
const keyed = new Set(["modelUsage", "model_usage_since_last_result"]);

function shapeOf(value: Json, key = ""): Shape {
  if (free.has(key)) return "any";
  if (value === null) return "null";
  if (Array.isArray(value)) return value.length === 0 ? [] : [value.map((item) => shapeOf(item)).reduce(merge)];
  if (typeof value !== "object") return typeof value;
  if (keyed.has(key))
    return {
      "*": Object.values(value)
        .map((item) => shapeOf(item))
        .reduce(merge, {}),
    };
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shapeOf(inner, name)]));
}

function merge(a: Shape, b: Shape): Shape {
  const both = typeof a === "object" && typeof b === "object" && !Array.isArray(a) && !Array.isArray(b);
  return both ? { ...a, ...b } : a;
}

function recordIn(record: JsonRecord, name: string): JsonRecord | undefined {
  const value = record[name];
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
}
