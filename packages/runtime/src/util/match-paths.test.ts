import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { matchPaths } from "./match-paths.ts";

const cases: readonly [pattern: string, fits: readonly string[], others: readonly string[]][] = [
  ["*.ts", ["a.ts", "src/deep/a.ts"], ["a.tsx", "a.ts.md"]],
  ["src/*.ts", ["src/a.ts"], ["src/deep/a.ts", "lib/src/a.ts"]],
  ["src/**/*.{ts,tsx}", ["src/a.ts", "src/b/c/a.tsx"], ["src/a.js", "a.ts"]],
  ["./docs/", ["docs/a.md", "docs/x/y"], ["docs.md", "x/docs/a.md"]],
  ["**/test/**", ["test/a", "x/test/b/c"], ["tests/a"]],
  ["a?.[ch]", ["ab.c", "x/ab.h"], ["a.c", "abc.c", "ab.d"]],
  ["[!a].md", ["b.md"], ["a.md"]],
  ["{a,b}/{c,d}.x", ["a/c.x", "b/d.x"], ["a/e.x"]],
  ["a+b(1).ts", ["a+b(1).ts"], ["aab1.ts"]],
  ["", [], ["a"]],
  ["[z-a]", [], ["z", "a"]],
];

describe("patterns of paths", () => {
  for (const [pattern, fits, others] of cases)
    it(`${JSON.stringify(pattern)} means what it says`, () => {
      const isMeant = matchPaths([pattern]);
      assert.deepEqual([fits.filter(isMeant), others.filter(isMeant)], [fits, []]);
    });

  it("have no end of stars, and an end of alternatives", () => {
    assert.equal(matchPaths([`${"*a".repeat(40)}b`])("a".repeat(5_000)), false);
    assert.equal(matchPaths([`${"*a".repeat(40)}b`])(`${"a".repeat(5_000)}b`), true);
    assert.equal(matchPaths([`${"{a,b}".repeat(40)}*`])("c"), false);
  });
});
