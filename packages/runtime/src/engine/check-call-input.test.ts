import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../protocol/content.ts";
import { defineTool, type Tool } from "../tools/tool.ts";
import { checkCallInput } from "./check-call-input.ts";

function toolOf(inputSchema: JsonObject): Tool {
  return defineTool({
    name: "t",
    description: "",
    inputSchema,
    concurrent: false,
    access: async () => ({ kind: "note", resources: [] }),
    execute: async () => ({ content: [] }),
  });
}

describe("input for a tool whose schema cannot be checked against", () => {
  // As servers in other languages write it: their regular expressions are others.
  const tool = toolOf({
    type: "object",
    properties: { имя: { type: "string", pattern: "(?i)^a+$" }, count: { type: "integer" }, other: { $ref: "#/nowhere" } },
    required: ["имя"],
  });

  it("is taken when it fits what can be checked", async () => {
    assert.deepEqual(await checkCallInput(tool, { имя: "AAA", count: 1, other: [] }), { ok: true });
  });

  it("is refused when it does not", async () => {
    assert.equal((await checkCallInput(tool, { имя: 7 })).ok, false);
    assert.equal((await checkCallInput(tool, { count: 1 })).ok, false);
  });
});
