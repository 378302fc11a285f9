import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { projectRoot } from "./e2e/command.ts";

type Found = { runsPerSecond: number; medianMs: number; busy: Record<string, number> };
type Scale = {
  simulate(scene: object): Found;
  scaleTables(measured: unknown): string;
  withTables(content: string, tables: string): string;
};
const { simulate, scaleTables, withTables }: Scale = await import(pathToFileURL(join(projectRoot, "bench/scale.mjs")).href);

describe("the simulation of a fleet", () => {
  it("ends as many runs as a full station lets through, and no more", () => {
    const stations = { one: { servers: 2 } };
    const found = simulate({ stations, steps: [{ station: "one", ms: 10 }], concurrency: 8, runs: 800 });
    assert.deepEqual(found, { runsPerSecond: 200, medianMs: 40, busy: { one: 1 } });
  });

  it("holds nobody up in a delay", () => {
    const found = simulate({ stations: {}, steps: [{ station: "model", ms: 500 }], concurrency: 10, runs: 100 });
    assert.deepEqual(found, { runsPerSecond: 20, medianMs: 500, busy: {} });
  });

  it("finds the station that is too slow", () => {
    const stations = { fast: { servers: 4 }, slow: { servers: 1 } };
    const steps = [
      { station: "fast", ms: 10 },
      { station: "slow", ms: 10 },
    ];
    const { runsPerSecond, busy } = simulate({ stations, steps, concurrency: 16, runs: 1_000 });
    assert.ok(Math.abs(runsPerSecond - 100) < 1 && (busy["slow"] ?? 0) > 0.99 && (busy["fast"] ?? 1) < 0.3);
  });

  it("is what docs/scale.md says, from the figures that were measured", () => {
    const content = readFileSync(join(projectRoot, "docs/scale.md"), "utf8");
    const measured = JSON.parse(readFileSync(join(projectRoot, "bench/fleet-measured.json"), "utf8"));
    assert.equal(content, withTables(content, scaleTables(measured)), "node bench/scale.mjs --write");
  });
});
