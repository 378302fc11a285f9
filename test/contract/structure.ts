/** What a value is made of: names of fields and kinds of values, without what they say. */
export type Shape = string | Shape[] | { [field: string]: Shape };

/** A frame as a comparison sees it. */
export type Structure = {
  readonly kind: string;
  readonly shape: Shape;
  /** Which agent it is of, by the order in which they begin; 0 is the conversation. What agents do side by side has no order. */
  readonly lane: number;
};

export type Json = null | boolean | number | string | Json[] | { [field: string]: Json };
export type JsonRecord = { [field: string]: Json };

export function structuresOf(frames: readonly JsonRecord[]): Structure[] {
  const lanes = new Map<string, number>();
  return frames.map((frame) => ({ kind: kindOf(frame), shape: shapeOf(frame), lane: laneOf(frame, lanes) }));
}

/** An agent is named by its call or by an id of its own; the frame that tells its start has both. */
function laneOf(frame: JsonRecord, lanes: Map<string, number>): number {
  const isTask = String(frame["subtype"]).startsWith("task_");
  const names = [frame["parent_tool_use_id"], frame["agent_id"], ...(isTask ? [frame["task_id"], frame["tool_use_id"]] : [])];
  const known = names.filter((name) => typeof name === "string");
  if (known.length === 0) return 0;
  const lane = known.map((name) => lanes.get(name)).find((number) => number !== undefined) ?? new Set(lanes.values()).size + 1;
  for (const name of known) lanes.set(name, lane);
  return lane;
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
