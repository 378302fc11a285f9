import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { MemoryCandidateExtractor } from "./memory-candidates.ts";
import { MemoryRetrievalService } from "./memory-retrieval.ts";
import { ProjectMemoryStore } from "./project-memory.ts";

const top = mkdtempSync(join(tmpdir(), "outrider-memory-services-"));
after(() => rmSync(top, { recursive: true, force: true }));

describe("MemoryRetrievalService", () => {
  it("finds the entries that share most words with a text, also those that are in topics alone", async () => {
    const store = new ProjectMemoryStore({ root: mkdtempSync(join(top, "p-")), now: () => Date.UTC(2026, 10, 16) });
    await store.append({ type: "project", topic: "build", text: "Run make all before the tests" });
    await store.append({ type: "project", topic: "release", text: "Tags are signed" });
    await store.append({ type: "user", topic: "style", text: "Tabs, and tests beside the source" });
    const service = new MemoryRetrievalService(store);
    const found = service.retrieve("How do I make the tests run?");
    assert.deepEqual(
      found.map(({ topic }) => topic),
      ["build", "style"],
    );
    assert.equal(service.retrieve("make the tests run", { maxEntries: 1 }).length, 1);
    assert.deepEqual(service.retrieve("make the tests run", { maxBytes: 10 }), []);
    assert.deepEqual([service.retrieve("?"), service.retrieve("zebra")], [[], []]);
  });

  it("puts the better one first, and the newer one of equals", async () => {
    const root = mkdtempSync(join(top, "p-"));
    const on = (day: number) => new ProjectMemoryStore({ root, now: () => Date.UTC(2026, 10, day) });
    await on(10).append({ type: "project", topic: "one", text: "alpha" });
    await on(12).append({ type: "project", topic: "two", text: "alpha beta" });
    await on(11).append({ type: "project", topic: "three", text: "alpha" });
    const found = new MemoryRetrievalService(on(13)).retrieve("alpha beta");
    assert.deepEqual(
      found.map(({ topic, score }) => [topic, score]),
      [
        ["two", 1],
        ["three", 0.5],
        ["one", 0.5],
      ],
    );
  });

  it("writes nothing", () => {
    const root = mkdtempSync(join(top, "p-"));
    assert.deepEqual(new MemoryRetrievalService(new ProjectMemoryStore({ root })).retrieve("anything at all"), []);
    assert.deepEqual(readdirSync(root), []);
  });
});

describe("MemoryCandidateExtractor", () => {
  const rows: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
    ["Remember that we deploy on Fridays.", [["project", "we deploy on Fridays."]]],
    ["Fix the bug. Always run the linter first!", [["feedback", "Always run the linter first!"]]],
    ["I prefer tabs.\nI prefer  tabs.", [["user", "I prefer tabs."]]],
    ["We decided to use pnpm.", [["project", "We decided to use pnpm."]]],
    ["The API is documented in docs/api.md", [["reference", "The API is documented in docs/api.md"]]],
    ["Should I always run it?", []],
    ["Please fix the failing test in src/a.ts", []],
    ["Remember that my password is hunter2hunter2", []],
    [`Always ${"very ".repeat(60)}long`, []],
  ];
  for (const [text, expected] of rows)
    it(`${JSON.stringify(text.slice(0, 40))} holds ${expected.length}`, () => {
      const found = new MemoryCandidateExtractor().extract(text);
      assert.deepEqual(
        found.map(({ type, text: words }) => [type, words]),
        expected,
      );
    });
});
