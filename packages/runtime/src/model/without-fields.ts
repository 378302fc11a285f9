import { isJsonObject, type JsonObject } from "../protocol/content.ts";

/** A body without some of its fields, each named by the way to it: `output_config.effort`. What is left empty goes too. */
export function withoutFields(body: JsonObject, ways: readonly string[]): JsonObject {
  let left = body;
  for (const way of ways) left = withoutField(left, way.split("."));
  return left;
}

function withoutField(body: JsonObject, [name = "", ...inner]: readonly string[]): JsonObject {
  const { [name]: value, ...others } = body;
  if (value === undefined) return body;
  if (inner.length === 0 || !isJsonObject(value)) return others;
  const kept = withoutField(value, inner);
  return Object.keys(kept).length === 0 ? others : { ...body, [name]: kept };
}
