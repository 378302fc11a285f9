import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Message, PartPlace } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { toRefusedParts } from "./refused-parts.ts";

const image = { type: "image", mediaType: "image/png", data: "AA==" } as const;
const messages: Message[] = [
  { role: "user", content: [{ type: "text", text: "look" }, image] },
  {
    role: "tool",
    content: [{ type: "tool-result", callId: "c", name: "Read", content: [{ type: "text", text: "x" }, image], isError: false }],
  },
];

function refused(parts: PartPlace[], message = "bad image") {
  return toRefusedParts(new RuntimeError("provider-bad-request", message, { refused: { parts, tools: [] } }), messages);
}

describe("parts that a provider refused", () => {
  it("are named by what they are and where they stand, each once", () => {
    const parts = [
      { message: 0, part: 0 },
      { message: 0, part: 1 },
      { message: 1, part: 0, item: 0 },
      { message: 1, part: 0, item: 1 },
      { message: 1, part: 0, item: 1 },
      { message: 1, part: 0 },
      { message: 5, part: 0 },
    ];
    const found = refused(parts);
    assert.equal(
      found?.warning,
      "The provider refused a text in message 1, an image in message 1, a text in the result of Read, an image in the result of Read, a part in the result of Read, a part in message 6. It is left out from here on, and the request is made again: bad image",
    );
    assert.deepEqual(found?.event.parts, parts);
  });

  it("leave a note with the reason, cut after three hundred characters", () => {
    const noteOf = (message: string): string | undefined => refused([{ message: 0, part: 1 }], message)?.event.note;
    const note = (reason: string): string =>
      `(A part stood here that is left out, since the provider refused the request because of it: ${reason})`;
    assert.equal(noteOf("x".repeat(300)), note("x".repeat(300)));
    assert.equal(noteOf("x".repeat(301)), note(`${"x".repeat(300)}…`));
  });

  it("are none in any other failure", () => {
    assert.equal(refused([]), undefined);
    assert.equal(toRefusedParts(new RuntimeError("provider-bad-request", "no"), messages), undefined);
    assert.equal(toRefusedParts(new Error("no"), messages), undefined);
  });
});
