import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { terminalText } from "./terminal-text.ts";

describe("text for a terminal", () => {
  const shown: readonly (readonly [string, string])[] = [
    ["\x1b]0;title\x07", "\\u001b]0;title\\u0007"],
    ["\x1b]52;c;cHduZWQ=\x07", "\\u001b]52;c;cHduZWQ=\\u0007"],
    ["a\x1b[2Jb", "a\\u001b[2Jb"],
    ["\x9b31mred", "\\u009b31mred"],
    ["done\rfailed", "done\\u000dfailed"],
    ["a\bb\x00c\x7f", "a\\u0008b\\u0000c\\u007f"],
    ["user\u202egnp.exe", "user\\u202egnp.exe"],
    ["a\u2028b", "a\\u2028b"],
    ["tag \u{e0041}", "tag \\udb40\\udc41"],
    ["half \ud83d", "half \\ud83d"],
    ["a\u3164b\u2800c\u115fd", "a\\u3164b\\u2800c\\u115fd"],
  ];
  for (const [raw, text] of shown) it(`shows ${JSON.stringify(raw)}`, () => assert.equal(terminalText(raw), text));

  it("leaves lines, tabs, letters of any script and joined emoji alone", () => {
    const plain = "one\ttwo\r\nthree\nüäö 日本語 עברית 👩‍👩‍👧 e\u0301";
    assert.equal(terminalText(plain), plain);
  });

  it("leaves JSON with the same meaning", () => {
    const value = { text: shown.map(([raw]) => raw).join(" ") };
    assert.deepEqual(JSON.parse(terminalText(JSON.stringify(value))), value);
  });
});
