import assert from "node:assert/strict";
import { it } from "node:test";
import { toUsableSchema } from "./usable-schema.ts";

it("a schema keeps the addresses that its references name, each once", () => {
  const schema = {
    ...{ $id: "https://example.com/a", type: "object", properties: { v: { $ref: "#x" } } },
    $defs: { one: { $anchor: "x", type: "string" }, two: { $anchor: "x", type: "number" } },
  };
  assert.deepEqual(toUsableSchema(schema, "2020-12").schema, {
    ...schema,
    $defs: { one: { $anchor: "x", type: "string" }, two: { type: "number" } },
  });
});
