import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createRedactor } from "./redact.ts";

const value = "correct-horse1";
const long = `Q${"x-7".repeat(33)}`;
/** A new one for each test: it is made ready when it is first asked. */
const create = () =>
  createRedactor({
    env: { A_TOKEN: value, B_TOKEN: `${value}-2345`, C_TOKEN: long, D_TOKEN: "é-pass-word1", E_TOKEN: "staple-7-s" },
  });

describe("the end of a text that is still being written", () => {
  it("is held back as far as it may be the beginning of a secret", () => {
    const cases: readonly (readonly [text: string, held: number])[] = [
      ["", 0],
      ["c", 1],
      ["xc", 0],
      ["is co", 2],
      ["xcor", 0],
      ["xcorr", 4],
      ["xgit", 0],
      ["xgith", 4],
      [" git", 3],
      ["is é", 1],
      [`is ${value.slice(0, -1)}`, 13],
      [`is ${value}`, 14],
      [`is ${value}-23`, 17],
      [`${value}-2345`, 0],
      [`${value}${value.slice(0, 4)}`, 4],
      ["a staple-7-s", 0],
      ["xBearer qqq", 0],
      ["a Bearer qqq", 10],
      ["a Bearer qqq ", 0],
      [`ghp_${"q".repeat(16 * 1024 - 4)}`, 16 * 1024],
      [`ghp_${"q".repeat(16 * 1024 - 3)}`, 0],
    ];
    for (const [text, held] of cases) assert.equal(create().unsettled(text), held, text.slice(0, 40));
  });

  it("is held back as far as it is the beginning of a long known value, and no further than its end", () => {
    const cases: readonly (readonly [text: string, held: number])[] = [
      [long.slice(0, 39), 39],
      [long.slice(0, 40), 40],
      [long.slice(0, 60), 60],
      [`${"word ".repeat(20)}${long.slice(0, 60)}`, 60],
      [long.slice(0, -1), long.length - 1],
      [long, 0],
      [`${long.slice(0, 60)}!!`, 0],
      ["xQ", 0],
      ["x Q", 1],
    ];
    for (const [text, held] of cases) assert.equal(create().unsettled(text), held, text);
  });
});

describe("a piece of a text", () => {
  it("is plain where it holds nothing, ends with no beginning, and completes nothing", () => {
    const cases: readonly (readonly [before: string, piece: string, isPlain: boolean])[] = [
      ["", "", true],
      ["", "plain words!", true],
      ["ghp_ and more", " words!", true],
      ["gh", "p_!", false],
      ["", "ends with a c", false],
      ["", `${long.slice(0, 50)}`, false],
      ["", `${value}!`, false],
      ["cor", "rect-horse1!", false],
      ["", "0123456789abcdef", false],
      ["", "0123456789abcde!", true],
      ["", "Q7Q7Q7Q7Q7Q7Q7Q7!", true],
    ];
    for (const [before, piece, isPlain] of cases) assert.equal(create().isPlain(before, piece), isPlain, `${before}|${piece}`);
    assert.equal(createRedactor().isPlain("", "0123456789abcdef"), true);
    const one = createRedactor({ env: { A_TOKEN: "a1B2c3D4e5F6g7H8i9J0k1L2" } });
    assert.deepEqual([one.isPlain("", "B2c3D4e5F6g7H8i9!"), one.isPlain("", "B2c3D4e5F6g7H8!")], [false, true]);
  });
});
