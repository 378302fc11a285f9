import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { BodyText } from "./body-text.ts";

describe("the text of a request body", () => {
  it("is what JSON.stringify writes, for any body and for the same one again", () => {
    const body = new BodyText();
    const anything = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(anything, (value) => {
        const expected = JSON.stringify(value);
        fc.pre(!expected.includes("\\ud"));
        assert.equal(body.write(value as never), expected);
        assert.equal(body.write(value as never), expected);
      }),
    );
  });

  it("is the same for lists that grow, lose their end or have become others", () => {
    const body = new BodyText();
    const items = Array.from({ length: 400 }, (_, index) => ({ index, text: `item ${index}` }));
    const check = (messages: object[]): void => assert.equal(body.write({ messages } as never), JSON.stringify({ messages }));
    for (let length = 0; length <= items.length; length += 7) check([...items.slice(0, length), { marked: length }]);
    for (const length of [400, 150, 63, 64, 65, 399]) check(items.slice(0, length));
    const replaced = [...items];
    replaced[100] = { index: 100, text: "another" };
    check(replaced);
    check(items);
    check([...items, ...replaced]);
    check(items.slice(1));
  });

  it("has whole characters only", () => {
    const text = new BodyText().write({ a: "\ud800", list: ["\udc00", { b: "x\ud83d" }], whole: "\\ud800 \ud83d\ude00" });
    assert.deepEqual(JSON.parse(text), {
      a: "\ufffd",
      list: ["\ufffd", { b: "x\ufffd" }],
      whole: "\\ud800 \ud83d\ude00",
    });
  });

  it("leaves out what is undefined", () => {
    const options = { model: "m", system: undefined } as never; // as a dialect's spread may leave it
    assert.equal(new BodyText().write(options), '{"model":"m"}');
  });
});
