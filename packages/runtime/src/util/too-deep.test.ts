import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isTooDeep, maxJsonDepth, toBoundedJson } from "./too-deep.ts";

const lists = (depth: number): unknown => JSON.parse("[".repeat(depth) + "]".repeat(depth));

describe("the depth of a value", () => {
  it("is bounded, counted from the outermost list or object", () => {
    assert.equal(isTooDeep(lists(maxJsonDepth + 1)), false);
    assert.equal(isTooDeep(lists(maxJsonDepth + 2)), true);
    assert.equal(isTooDeep({ a: [{}] }, 2), false);
    assert.equal(isTooDeep({ a: [{}] }, 1), true);
    assert.equal(isTooDeep("text", 0), false);
  });

  it("of a million levels, or without end, is found out", () => {
    assert.equal(isTooDeep(lists(1_000_000)), true);
    const round: unknown[] = [];
    round.push(round);
    assert.equal(isTooDeep(round), true);
  });

  it("costs what is written down its inner part only", () => {
    assert.equal(toBoundedJson({ a: 1, z: lists(100_000) }), '{"a":1,"z":[[[[[[["…"]]]]]]]}');
    assert.equal(toBoundedJson({ a: [{ b: 1 }] }), '{"a":[{"b":1}]}');
  });
});
