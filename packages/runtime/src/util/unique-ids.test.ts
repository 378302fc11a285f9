import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createIdSeries, randomUuid } from "./unique-ids.ts";

describe("a series of ids", () => {
  const start = "00000000-0000-4000-8000-";

  it("counts up in its last twelve digits", () => {
    const next = createIdSeries(`${start}0000000000fe`);
    assert.deepEqual([next(), next(), next()], [`${start}0000000000ff`, `${start}000000000100`, `${start}000000000101`]);
  });

  it("begins again at zero after the last", () => {
    const next = createIdSeries(`${start}fffffffffffe`);
    assert.deepEqual([next(), next(), next()], [`${start}ffffffffffff`, `${start}000000000000`, `${start}000000000001`]);
  });

  it("begins with a random one of version 4", () => {
    const random = Array.from({ length: 200 }, () => randomUuid());
    assert.equal(new Set(random).size, random.length);
    assert.ok(random.every((id) => /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id)));
    assert.equal(new Set(random.map((id) => id[19])).size, 4);
  });

  it("never repeats one", () => {
    const ids = Array.from({ length: 100_000 }, createIdSeries());
    assert.equal(new Set(ids).size, ids.length);
    assert.ok(ids.every((id) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)));
  });
});
