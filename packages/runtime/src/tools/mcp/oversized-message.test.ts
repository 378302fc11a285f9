import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { lengthOfOversized, toShortMessage } from "./oversized-message.ts";

const short = (result: string): { content: { text: string }[] } => {
  const start = `{"jsonrpc":"2.0","id":1,"result":${result}`;
  const message = toShortMessage({ type: "oversized", start, end: "", length: 20_000_000 });
  return message?.["result"] as { content: { text: string }[] };
};

describe("an answer that was too long to be read whole", () => {
  const base64 = "iVBORw0KGgo".repeat(1_000);

  it("is words when it is an image or another file", () => {
    for (const block of [`{"type":"image","data":"${base64}`, `{"type":"resource","resource":{"blob":"${base64}`]) {
      const { content } = short(`{"content":[${block}`);
      assert.equal(content.length, 1);
      assert.match(content[0]?.text ?? "", /20000000 characters, more than can be held\. They are an image or another file/);
    }
  });

  it("is the first part of its text else, also with a file behind it", () => {
    const { content } = short(`{"content":[{"type":"text","text":"words"},{"type":"image","data":"${base64}`);
    assert.equal(content[1]?.text, "words");
  });

  it("says how long it was to whoever wanted a list", () => {
    assert.equal(lengthOfOversized(short('{"tools":[')), 20_000_000);
    assert.equal(lengthOfOversized({ tools: [] }), undefined);
  });
});
