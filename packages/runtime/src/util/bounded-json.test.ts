import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { maxJsonContainers, parseBoundedJson } from "./bounded-json.ts";
import { isTooDeep, maxJsonDepth } from "./too-deep.ts";

const lists = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
const row = (length: number): string => `[${Array(length).fill("{}").join()}]`;

describe("JSON from somebody who may mean harm", () => {
  it("is read up to the depth that everybody can walk through, and no deeper", () => {
    const deepest = parseBoundedJson(lists(maxJsonDepth + 1));
    assert.equal(isTooDeep(deepest), false);
    for (const text of [lists(maxJsonDepth + 2), lists(8_000_000), "[".repeat(16_000_000), '{"a":'.repeat(3_000_000)])
      assert.throws(() => parseBoundedJson(text), { name: "UnwieldyJson", message: "nested more than 500 levels deep" });
  });

  it("has so many lists and objects at most", () => {
    assert.equal((parseBoundedJson(row(maxJsonContainers - 1)) as []).length, maxJsonContainers - 1);
    assert.throws(() => parseBoundedJson(row(maxJsonContainers)), {
      name: "UnwieldyJson",
      message: "made of more than 200000 lists and objects",
    });
  });

  it("may have as many brackets in its texts as it likes", () => {
    const text = `${"[{".repeat(300_000)}"\\`;
    assert.deepEqual(parseBoundedJson(JSON.stringify({ [text]: text })), { [text]: text });
  });

  it("is no JSON where it is none", () => {
    for (const text of ["", "{", '"', '"\\', "]]]", "[}", "nonsense"]) assert.throws(() => parseBoundedJson(text), SyntaxError);
  });
});
