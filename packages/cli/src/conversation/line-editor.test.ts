import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { KeyName } from "../terminal/keys.ts";
import { LineEditor } from "./line-editor.ts";

/** `‸` stands where the cursor is. */
function after(start: string, ...keys: readonly (KeyName | { readonly text: string })[]): string {
  const editor = new LineEditor();
  editor.text = start.replace("‸", "");
  editor.cursor = start.includes("‸") ? start.indexOf("‸") : start.length;
  for (const key of keys) editor.press(typeof key === "string" ? { type: "named", name: key } : { type: "text", text: key.text });
  return `${editor.text.slice(0, editor.cursor)}‸${editor.text.slice(editor.cursor)}`;
}

describe("a line that is written", () => {
  const cases: readonly (readonly [string, readonly (KeyName | { readonly text: string })[], string])[] = [
    ["ab‸c", [{ text: "x" }], "abx‸c"],
    ["ab‸c", ["left", "backspace"], "‸bc"],
    ["a👩‍👩‍👧‸b", ["backspace"], "a‸b"],
    ["e\u0301‸", ["left"], "‸e\u0301"],
    ["‸ab", ["delete"], "‸b"],
    ["one two ‸", ["delete-word"], "one ‸"],
    ["one two‸", ["word-left", "ctrl-k"], "one ‸"],
    ["‸one two", ["word-right"], "one‸ two"],
    ["one\ntwo‸", ["ctrl-u"], "one\n‸"],
    ["one\ntwo‸", ["home", "ctrl-k"], "one\n‸"],
    ["one\nthree‸", ["up"], "one‸\nthree"],
    ["o‸ne\ntwo", ["down"], "one\nt‸wo"],
    ["one‸", ["new-line", { text: "two" }], "one\ntwo‸"],
  ];
  for (const [start, keys, end] of cases)
    it(`${JSON.stringify(start)} becomes ${JSON.stringify(end)}`, () => assert.equal(after(start, ...keys), end));

  it("brings back what was written before, and the draft after it", () => {
    const editor = new LineEditor(["first"]);
    editor.set("second");
    assert.equal(editor.take(), "second");
    editor.set("draft");
    const seen = (["up", "up", "up", "down", "down", "down"] as const).map((name) => {
      editor.press({ type: "named", name });
      return editor.text;
    });
    assert.deepEqual(seen, ["second", "first", "first", "second", "draft", "draft"]);
  });

  it("is broken at the width, with the cursor where the next letter goes", () => {
    const editor = new LineEditor();
    editor.set("abcd日本e");
    assert.deepEqual(editor.lay(4), { lines: ["abcd", "日本", "e"], row: 2, column: 1 });
    editor.cursor = 4;
    assert.deepEqual(editor.lay(4), { lines: ["abcd", "日本", "e"], row: 0, column: 4 });
  });

  it("shows dots in the place of what is secret", () => {
    const editor = new LineEditor();
    editor.set("key");
    assert.deepEqual(editor.lay(10, true).lines, ["•••"]);
  });
});
