import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { replaceText } from "./text-edit.ts";

const replaced = (text: string, oldText: string, newText: string): string | undefined => {
  const result = replaceText(text, { oldText, newText, all: false });
  return result.type === "replaced" ? result.text : undefined;
};

describe("the line endings of a new text", () => {
  it("are those of the place it lands in, also in a last line without one", () => {
    assert.deepEqual(
      [
        replaced("a\r\nb\r\nc\n", "b", "x\ny"),
        replaced("a\r\nb\r\nc\n", "c", "x\r\ny"),
        replaced("a\r\nb", "b", "x\ny"),
        replaced("a\nb", "b", "x\r\ny"),
        replaced("a", "a", "x\r\ny"),
      ],
      ["a\r\nx\r\ny\r\nc\n", "a\r\nb\r\nx\ny\n", "a\r\nx\r\ny", "a\nx\ny", "x\ny"],
    );
  });
});
