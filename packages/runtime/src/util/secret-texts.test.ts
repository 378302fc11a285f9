import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { anyOf, findAnyOf, once } from "./secret-texts.ts";

const long = "0123456789abcdefghijklmnopqrstuvwxyz-9876543210zyxwvutsrqponmlkjihgfedcba";

describe("known texts", () => {
  const find = findAnyOf(
    new Map([
      ["0123456", "short"],
      [long, "long"],
      ["a.c", "dot"],
      ["a.cd", "more"],
    ]),
  );

  it("are found from a place on, the first one, and of several the longest", () => {
    const cases: readonly (readonly [text: string, from: number, found: readonly [number, number, string] | undefined])[] = [
      ["", 0, undefined],
      ["abc a,c", 0, undefined],
      ["a.c", 0, [0, 3, "dot"]],
      ["x a.cd a.c", 0, [2, 6, "more"]],
      ["x a.cd a.c", 2, [2, 6, "more"]],
      ["x a.cd a.c", 3, [7, 10, "dot"]],
      [`- ${long}`, 0, [2, 75, "long"]],
      [`- ${long.slice(0, -1)}!`, 0, [2, 9, "short"]],
      [`- ${long.slice(0, 31)}!`, 0, [2, 9, "short"]],
      [`0${long}`, 0, [1, 74, "long"]],
    ];
    for (const [text, from, found] of cases) {
      const place = find(text, from);
      assert.deepEqual(place && [place.start, place.end, place.name], found, text);
    }
  });

  it("whose beginning stands there without the rest are looked for behind it", () => {
    const only = findAnyOf(new Map([[long, "long"]]));
    assert.equal(only(`${long.slice(0, 40)} ${long.slice(0, -1)}`, 0), undefined);
    assert.deepEqual(only(`${long.slice(0, 36)}${long}`, 0), { start: 36, end: 109, name: "long" });
    assert.deepEqual(findAnyOf(new Map([[`${"a".repeat(40)}b`, "as"]]))(`${"a".repeat(41)}b`, 0), {
      start: 1,
      end: 42,
      name: "as",
    });
  });

  it("of none, nothing is found", () => assert.equal(findAnyOf(new Map())("text", 0), undefined));
});

describe("any of some texts", () => {
  it("is the longest, whatever characters they have", () => {
    assert.deepEqual("a+ ab a+b (x) [".match(anyOf(["a+", "a", "a+b", "(x)", "["])), ["a+", "a", "a+b", "(x)", "["]);
    assert.equal("text".search(anyOf([])), -1);
  });
});

describe("what is made once", () => {
  it("is made when it is first asked for, for each key", () => {
    const asked: string[] = [];
    const make = once((key: string) => {
      asked.push(key);
      return `${key}!`;
    });
    assert.deepEqual([make("a"), make("b"), make("a"), make("b")], ["a!", "b!", "a!", "b!"]);
    assert.deepEqual(asked, ["a", "b"]);
  });
});
