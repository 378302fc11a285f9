import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { countChangedLines } from "./line-counts.ts";

/** Lines of the longest text that both hold, by the textbook. */
function inBoth(before: readonly string[], after: readonly string[]): number {
  let row = new Array<number>(after.length + 1).fill(0);
  for (const line of before) {
    const next = [0];
    for (const [index, other] of after.entries())
      next.push(line === other ? (row[index] ?? 0) + 1 : Math.max(row[index + 1] ?? 0, next[index] ?? 0));
    row = next;
  }
  return row.at(-1) ?? 0;
}

describe("the lines that a change adds and removes", () => {
  it("are as few as can be, whether the last one is ended or not", () => {
    const text = fc.tuple(fc.array(fc.constantFrom("a", "b", "c", ""), { maxLength: 8 }), fc.boolean());
    fc.assert(
      fc.property(text, text, (before, after) => {
        const toText = ([lines, isEnded]: readonly [readonly string[], boolean]): string =>
          lines.join("\n") + (isEnded ? "\n" : "");
        const [old, fresh] = [toText(before), toText(after)];
        const toLines = (whole: string): string[] => (whole === "" ? [] : whole.replace(/\n$/, "").split("\n"));
        const same = inBoth(toLines(old), toLines(fresh));
        assert.deepEqual(countChangedLines(old, fresh), {
          insertions: toLines(fresh).length - same,
          deletions: toLines(old).length - same,
        });
      }),
    );
  });

  it("are all of them where too many differ to look for the fewest", () => {
    const lines = (name: string, count: number): string =>
      Array.from({ length: count }, (_, index) => (index % 4 === 0 ? `shared ${index}\n` : `${name} ${index}\n`)).join("");
    assert.deepEqual(countChangedLines(lines("old", 1_200), lines("new", 1_200)), { insertions: 900, deletions: 900 });
    assert.deepEqual(countChangedLines(lines("old", 1_600), lines("new", 1_600)), { insertions: 1_599, deletions: 1_599 });
  });
});
