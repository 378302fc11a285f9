import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { RuntimeError } from "../protocol/errors.ts";
import { parseJsonObject } from "./json-text.ts";

describe("parseJsonObject", () => {
  it("knows the line of every value, and of the nearest one around what is not there", () => {
    const text = '{\n  "a": {\n    "b": [\n      1,\n      {"c": null}\n    ]\n  },\n  "d\\u0065": 2\n}';
    const { values, lineOf } = parseJsonObject(text, "f");
    assert.deepEqual(values, { a: { b: [1, { c: null }] }, de: 2 });
    const paths = [
      [],
      ["a"],
      ["a", "b"],
      ["a", "b", 0],
      ["a", "b", 1, "c"],
      ["de"],
      ["a", "gone", "x"],
      ["a", "b", 7],
      ["nowhere"],
    ];
    assert.deepEqual(paths.map(lineOf), [1, 2, 3, 4, 5, 8, 2, 3, 1]);
  });

  const refused: [what: string, text: string, message: string][] = [
    [
      "a name that is written twice",
      '{\n"deny": [],\n"\\u0064eny": []}',
      'f:3: "deny" is written twice in one object; keep one of them',
    ],
    ["the prototype", '{"a": {\n"__proto__": {"x": 1}}}', 'f:2: "__proto__" cannot be a name here'],
    ["the prototype in other letters", '{"\\u005f_proto__": 1}', 'f:1: "__proto__" cannot be a name here'],
    ["a number that is none", '{"a": [1e400,\n-1e999999]}', "f:1: this number is too large"],
    ["deep nesting", `{"a": ${"[".repeat(100_000)}`, "f:1: objects and lists may be nested 100 deep, not deeper"],
    ["deep objects", '{"a":'.repeat(100_000), "f:1: objects and lists may be nested 100 deep, not deeper"],
    ["a number with a zero before it", '{"a": 01}', 'f is not valid JSON: line 1, column 8: expected "," or "}"'],
    [
      "an unknown escape",
      '{"a": "\\x"}',
      "f is not valid JSON: line 1, column 7: this text is not closed, or holds a character that must be escaped",
    ],
    [
      "half an escape",
      '{"a": "\\u12"}',
      "f is not valid JSON: line 1, column 7: this text is not closed, or holds a character that must be escaped",
    ],
  ];
  for (const [what, text, message] of refused) {
    it(`refuses ${what}`, () => {
      assert.throws(() => parseJsonObject(text, "f"), { code: "config", message });
    });
  }

  it("takes what JSON allows: control characters above 31, lone surrogates, 100 levels, names of Object's own", () => {
    const text = `{"\u007f\u0085": "\\ud800", "constructor": 1, "toString": 2, "deep": ${"[".repeat(99)}${"]".repeat(99)}}`;
    assert.deepEqual(parseJsonObject(text, "f").values, JSON.parse(text));
  });

  it("agrees with JSON.parse about every JSON text, and finds every value's line", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 5 })), fc.constantFrom(0, 1, "\t"), (object, indent) => {
        const text = JSON.stringify(object, null, indent);
        if (text.includes('"__proto__":')) return;
        const { values, lineOf } = parseJsonObject(text, "f");
        assert.deepEqual(values, JSON.parse(text));
        if (indent === 0) return;
        for (const name of Object.keys(JSON.parse(text))) {
          const line = text.split("\n")[lineOf([name]) - 1] ?? "";
          assert.ok(line.includes(JSON.stringify(name)), `${name} in ${line}`);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("throws nothing but a configuration error, and only where JSON.parse or a limit refuses", () => {
    const pieces = fc.constantFrom(
      ..."{}[],:\"\\ \n0123456789-.eE+truefalsn/'",
      '"a"',
      '"b":',
      '{"a":1}',
      "null",
      "\u0000",
      "\ud800",
      "é",
    );
    fc.assert(
      fc.property(
        fc.array(pieces, { maxLength: 40 }).map((parts) => parts.join("")),
        (text) => {
          let accepted = true;
          try {
            parseJsonObject(text, "f");
          } catch (error) {
            assert.ok(error instanceof RuntimeError && error.code === "config", String(error));
            accepted = false;
          }
          let valid = true;
          try {
            JSON.parse(text);
          } catch {
            valid = false;
          }
          assert.ok(valid || !accepted, `accepted ${text}`);
        },
      ),
      { numRuns: 5_000 },
    );
  });
});
