import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SecretPieces } from "./secret-pieces.ts";

const x = "a1B2c3D4e5F6g7H8i9J0";
const y = "Zz9Yy8Xx7Ww6Vv5Uu4Tt";
const z = "Ll5Kk4Jj3Ii2Hh1Gg0Ff";

/** Tokens are called by their order, from 0 on. */
function finding(...tokens: string[]): (text: string) => readonly (readonly [number, number, string])[] {
  const pieces = new SecretPieces();
  for (const [index, token] of tokens.entries()) pieces.add(token, `${index}`);
  return (text) => pieces.find(text).map(({ start, end, name }) => [start, end, name]);
}

describe("pieces of known texts", () => {
  it("have sixteen characters, and 64 KiB are remembered", () => {
    assert.deepEqual(finding(x.slice(0, 16))(`(${x.slice(0, 16)})`), [[1, 17, "0"]]);
    const size = (length: number): number => {
      const pieces = new SecretPieces();
      pieces.add("a".repeat(length), "as");
      return pieces.size;
    };
    assert.deepEqual([size(15), size(16), size(65_533), size(65_534)], [1, 18, 65_535, 1]);
  });

  it("are found by any eight characters of theirs, the first and the last too", () => {
    const find = finding(x.slice(0, 16));
    assert.deepEqual(find(`${x.slice(0, 8)}\n${x.slice(8, 16)}`), [[0, 17, "0"]]);
    assert.deepEqual(find(`.....${x.slice(0, 8)}\n${x.slice(8, 16)}`), [[5, 22, "0"]]);
    assert.deepEqual(finding(x + y)(`${x.slice(0, 4)}\n${x.slice(4)}${y}`), [[0, 41, "0"]]);
    assert.deepEqual(find(`aX${x.slice(2, 16)}`), []);
  });

  it("do not overlap, and one begins where it can", () => {
    assert.deepEqual(finding(x + y, y + z)(x + y + z), [
      [0, 40, "0"],
      [40, 60, "1"],
    ]);
    assert.deepEqual(finding(`${x.slice(0, 10)}${z}`, `12345${x.slice(5, 10)}${y}`)(x.slice(0, 10) + y), [[5, 30, "1"]]);
  });

  it("are the longest that stands there, of equal ones the latest", () => {
    assert.deepEqual(finding(`${x}${y}`, `${x}${z}`)(`.......${x}${y}`), [[7, 47, "0"]]);
    assert.deepEqual(finding(`${x}${y}`, `${x}${z}`)(`.......${x}${z}`), [[7, 47, "1"]]);
    assert.deepEqual(finding(`${x}${y}`, `${x}${z}`)(`.......${x}`), [[7, 27, "1"]]);
  });

  it("are looked for in the latest 24 texts that hold the same eight characters", () => {
    const ends = Array.from({ length: 25 }, (_, index) => `${String.fromCharCode(98 + index)}1B2c3D4`);
    const find = finding(...ends.map((end) => x.slice(0, 8) + end));
    const text = (end = ""): string => `${x.slice(0, 8)}\n${end}`;
    assert.deepEqual([find(text(ends[0])), find(text(ends[1])), find(text(ends[24]))], [[], [[0, 17, "1"]], [[0, 17, "24"]]]);
  });

  it("go on behind at most eight signs at the beginning of the next line, and no other characters", () => {
    const find = finding(x + y);
    for (const between of ["\n", `\n${" ".repeat(8)}`, "\n+-<>| \t+", "\r\n", "\n999999999:"])
      assert.deepEqual(
        find(`${x.slice(0, 12)}${between}${x.slice(12)}${y.slice(0, 4)}`),
        [[0, 24 + between.length, "0"]],
        between,
      );
    for (const between of [`\n${" ".repeat(9)}`, "\n\n", "\nxy", "\nxyxyxyxy", " ", "\r", "\n9999999999:"])
      assert.deepEqual(find(`${x.slice(0, 12)}${between}${x.slice(12)}${y.slice(0, 4)}`), [], JSON.stringify(between));
  });
});
