import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { anyFolders, anyText, letterOfName, matchPieces, partOfName, type Piece } from "./match-pieces.ts";

const sources: readonly [Piece, expression: string][] = [
  [anyText, "[^]*"],
  [partOfName, "[^/]*"],
  [letterOfName, "[^/]"],
  [anyFolders, "(?:[^]*/)?"],
  [{ kind: "text", text: "a" }, "a"],
  [{ kind: "text", text: "ab" }, "ab"],
  [{ kind: "text", text: "/" }, "/"],
];

describe("pieces of a pattern", () => {
  it("mean what the same pieces of a regular expression mean", () => {
    const pieces = fc.array(fc.constantFrom(...sources), { maxLength: 6 });
    const text = fc.array(fc.constantFrom("a", "b", "/", "\n"), { maxLength: 9 }).map((letters) => letters.join(""));
    fc.assert(
      fc.property(pieces, text, (some, whole) => {
        const expression = new RegExp(`^${some.map(([, source]) => source).join("")}$`);
        assert.equal(
          matchPieces(
            some.map(([piece]) => piece),
            whole,
          ),
          expression.test(whole),
        );
      }),
      { numRuns: 20_000, seed: 1 },
    );
  });

  it("are tried once for each place, however many of them could stand anywhere", () => {
    const many = Array.from({ length: 2_000 }, (): Piece[] => [partOfName, { kind: "text", text: "a" }]).flat();
    const end: Piece = { kind: "text", text: "b" };
    assert.equal(matchPieces([...many, end], "a".repeat(4_000)), false);
    assert.equal(matchPieces([...many, end], `${"a".repeat(4_000)}b`), true);
    assert.equal(matchPieces([...Array.from({ length: 500_000 }, () => anyText), end], "a".repeat(4_000)), false);
  });
});
