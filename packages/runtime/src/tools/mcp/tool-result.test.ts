import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonValue } from "../../protocol/content.ts";
import { toToolOutput } from "./tool-result.ts";

const shown = (...content: JsonValue[]): string[] =>
  toToolOutput({ content }).content.map((part) => (part.type === "text" ? part.text : `${part.mediaType} ${part.data}`));

describe("what a server answered to a call", () => {
  it("is shown block by block", () => {
    assert.deepEqual(
      shown(
        "words",
        { type: "text", text: "more" },
        { type: "image", data: "AA==", mimeType: "image/png" },
        { type: "audio", data: "AA==", mimeType: "audio/wav" },
        { type: "resource_link", name: "a", uri: "file:///a" },
        { type: "resource", resource: { uri: "file:///b", text: "its text" } },
        { type: "resource", resource: { uri: "file:///c", blob: "BB==", mimeType: "image/gif" } },
        { type: "resource", resource: { uri: "file:///d", blob: "BB==", mimeType: "application/zip" } },
        { type: "resource", resource: { uri: "file:///e", mimeType: "image/gif" } },
      ),
      [
        "words",
        "more",
        "image/png AA==",
        "(audio, audio/wav, not shown)",
        "a: file:///a",
        "its text",
        "image/gif BB==",
        "(binary resource file:///d)",
        "(binary resource file:///e)",
      ],
    );
  });

  it("says what is not understood, cut where that is long", () => {
    const odd = (type: string, json: string): string => `(a block of the type "${type}", which is not understood: ${json})`;
    assert.deepEqual(shown(7, { type: "text" }, { type: "image" }, { type: "resource", resource: 1 }, { text: "still words" }), [
      odd("none", "7"),
      odd("text", '{"type":"text"}'),
      odd("image", '{"type":"image"}'),
      odd("resource", '{"type":"resource","resource":1}'),
      "still words",
    ]);
    const block = (length: number): JsonValue => ["x".repeat(length - 4)];
    assert.deepEqual(shown(block(2_000)), [odd("none", JSON.stringify(block(2_000)))]);
    assert.deepEqual(shown(block(2_001)), [odd("none", `${JSON.stringify(block(2_001)).slice(0, 2_000)}… (2001 characters)`)]);
  });

  it("is its structured part where there are no words, and says when there is nothing", () => {
    const structuredContent = { n: 1 };
    assert.deepEqual(toToolOutput({ structuredContent }), {
      content: [{ type: "text", text: '{"n":1}' }],
      isError: false,
      details: { structuredContent },
    });
    assert.deepEqual(toToolOutput({ content: [], isError: true }), {
      content: [{ type: "text", text: "(no output)" }],
      isError: true,
    });
    assert.deepEqual(toToolOutput({ content: "one", isError: "yes" }), {
      content: [{ type: "text", text: "one" }],
      isError: false,
    });
  });

  it("hands on structured parts of 256 KiB, and no longer ones", () => {
    const whole = (length: number) => ({ n: "x".repeat(length - JSON.stringify({ n: "" }).length) });
    const detailsOf = (length: number) => toToolOutput({ content: "w", structuredContent: whole(length) }).details;
    assert.deepEqual(detailsOf(256 * 1024), { structuredContent: whole(256 * 1024) });
    assert.equal(detailsOf(256 * 1024 + 1), undefined);
    assert.equal(toToolOutput({ content: "w", structuredContent: "text" }).details, undefined);
  });
});
