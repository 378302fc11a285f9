import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { DiffLine } from "../protocol/events.ts";
import { diffLines } from "./diff.ts";
import { splitLines } from "./text-file.ts";

describe("diffLines", () => {
  it("is empty for equal texts", () => {
    assert.deepEqual(diffLines("a\nb\n", "a\nb\n"), []);
  });

  it("puts changes far apart into hunks of their own", () => {
    const before = Array.from({ length: 30 }, (_, index) => `line ${index + 1}`);
    const after = before.with(1, "changed").with(25, "also");
    const hunks = diffLines(before.join("\n"), after.join("\n")).filter((line) => line.type === "hunk");
    assert.deepEqual(
      hunks.map((hunk) => hunk.text),
      ["@@ -1,5 +1,5 @@", "@@ -23,7 +23,7 @@"],
    );
  });

  it("rebuilds the new text from the old one, on a thousand random edits", () => {
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 1103515245 + 12345) % 2147483648;
      return Math.floor((seed / 2147483648) * below);
    };
    for (let round = 0; round < 1000; round++) {
      const before = Array.from({ length: random(40) }, () => `${random(6)}`);
      const after = before.flatMap((line) => (random(5) === 0 ? [] : random(5) === 0 ? [line, `${random(6)}`] : [line]));
      const [old, fresh] = [before.join("\n"), after.join("\n")];
      assert.deepEqual(apply(splitLines(old), diffLines(old, fresh)), splitLines(fresh));
    }
  });

  it("finds few changed lines in a long file", () => {
    const before = Array.from({ length: 20_000 }, (_, index) => `line ${index}`);
    const after = before.toSpliced(15_000, 1).toSpliced(10, 0, "new");
    const changes = diffLines(before.join("\n"), after.join("\n")).filter(
      (line) => line.type !== "context" && line.type !== "hunk",
    );
    assert.deepEqual(changes, [
      { type: "add", text: "new", line: 11 },
      { type: "remove", text: "line 15000", line: 15001 },
    ]);
  });

  it("looks for the fewest changes up to a thousand changed lines, and shows all as replaced beyond", () => {
    const changesOf = (count: number): number => {
      const before = Array.from({ length: count * 2 + 1 }, (_, index) => `line ${index}`);
      const after = before.map((line, index) => (index % 2 === 1 ? `new ${index}` : line));
      const lines = diffLines(before.join("\n"), after.join("\n"), 10_000);
      return lines.filter(({ type }) => type === "remove" || type === "add").length;
    };
    assert.deepEqual([changesOf(500), changesOf(501)], [1_000, 2 * (501 * 2 - 1)]);
  });

  it("shows as many lines as it may, and counts the others", () => {
    const lines = diffLines("", "a\nb\nc", 4);
    assert.deepEqual(
      lines.map(({ text }) => text),
      ["@@ -0,0 +1,3 @@", "a", "b", "c"],
    );
    assert.deepEqual(diffLines("", "a\nb\nc", 3).at(-1), { type: "hunk", text: "… 1 more lines" });
    assert.equal(diffLines("a\n", "")[0]?.text, "@@ -1,1 +0,0 @@");
  });

  it("joins changes whose surroundings touch", () => {
    const before = Array.from({ length: 20 }, (_, index) => `line ${index}`);
    const hunks = (second: number): number =>
      diffLines(before.join("\n"), before.with(4, "x").with(second, "y").join("\n")).filter(({ type }) => type === "hunk").length;
    assert.deepEqual([hunks(11), hunks(12)], [1, 2]);
  });

  it("stays bounded when everything changed", () => {
    const text = (word: string): string =>
      Array.from({ length: 50_000 }, (_, index) => `${word} ${index} ${"z".repeat(20)}`).join("\n");
    const lines = diffLines(text("a"), text("b"));
    assert.deepEqual([lines.length, lines.at(-1)], [401, { type: "hunk", text: "… 99601 more lines" }]);
  });
});

/** Applies a diff the way a reader would: by its line numbers. */
function apply(old: string[], diff: DiffLine[]): string[] {
  const removed = new Set(diff.flatMap((line) => (line.type === "remove" ? [line.line] : [])));
  const added = new Map(diff.flatMap((line) => (line.type === "add" ? [[line.line ?? 0, line.text] as const] : [])));
  const kept = old.filter((_, index) => !removed.has(index + 1));
  const result: string[] = [];
  while (kept.length > 0 || added.has(result.length + 1)) {
    const addition = added.get(result.length + 1);
    result.push(addition ?? kept.shift() ?? "");
  }
  return result;
}
