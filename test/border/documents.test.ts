import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { anthropicMessages } from "../../packages/runtime/src/model/dialects/anthropic-messages.ts";
import { gemini } from "../../packages/runtime/src/model/dialects/gemini.ts";
import { createOpenAIChat } from "../../packages/runtime/src/model/dialects/openai-chat.ts";
import { openaiResponses } from "../../packages/runtime/src/model/dialects/openai-responses.ts";
import { mendContent } from "../../packages/runtime/src/model/sendable/mend-content.ts";
import { unseenMedia } from "../../packages/runtime/src/model/unseen-media.ts";
import type { ImagePart, JsonObject } from "../../packages/runtime/src/protocol/content.ts";
import { parseInputFrame } from "../../packages/runtime/src/transports/live/input-frame.ts";

const data = Buffer.from("%PDF-1.7\n1 0 obj\nendobj\n").toString("base64");
const pdf: ImagePart = { type: "image", mediaType: "application/pdf", data };
const farPdf: ImagePart = { type: "image", mediaType: "application/pdf", data: "", url: "https://example.org/a.pdf" };
const farImage: ImagePart = { type: "image", mediaType: "image/*", data: "", url: "https://example.org/a.png" };
const all = [pdf, farPdf, farImage];

const encode = (dialect: { encode(request: never): JsonObject }): string =>
  JSON.stringify(
    dialect.encode({ model: "m", system: "", tools: [], messages: [{ role: "user", content: all }] } as never), // what a dialect reads
  );

describe("documents and what is elsewhere, in a prompt", () => {
  it("are read from a host's message; an address that is none is refused", () => {
    const blocks = [
      { type: "document", source: { type: "base64", media_type: "application/pdf", data } },
      { type: "document", source: { type: "url", url: "https://example.org/a.pdf" } },
      { type: "image", source: { type: "url", url: "https://example.org/a.png" } },
    ];
    const frame = (content: object[]) => parseInputFrame(JSON.stringify({ type: "user", message: { role: "user", content } }));
    const read = frame(blocks);
    assert.deepEqual(read.type === "user" && read.input.content, all);
    for (const url of ["file:///etc/passwd", "javascript:1", "nothing"])
      assert.equal(frame([{ type: "image", source: { type: "url", url } }]).type, "unusable");
  });

  it("pass the border as they are, unless they are no PDF", () => {
    assert.deepEqual(mendContent(all), all);
    const [words] = mendContent([{ ...pdf, data: Buffer.from("no such thing").toString("base64") }]);
    assert.match(words?.type === "text" ? words.text : "", /A PDF document stood here, 13 bytes\. It is not shown: it is no PDF/);
  });

  it("Anthropic: document and image blocks, with the bytes or the address", () => {
    const body = encode(anthropicMessages);
    assert.ok(body.includes(`{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"${data}"}}`));
    assert.ok(body.includes('{"type":"document","source":{"type":"url","url":"https://example.org/a.pdf"}}'));
    assert.ok(body.includes('{"type":"image","source":{"type":"url","url":"https://example.org/a.png"}'));
  });

  it("OpenAI Responses: files and images, with the bytes or the address", () => {
    const body = encode(openaiResponses);
    assert.ok(body.includes(`"type":"input_file","filename":"document.pdf","file_data":"data:application/pdf;base64,${data}"`));
    assert.ok(body.includes('"type":"input_file","file_url":"https://example.org/a.pdf"'));
    assert.ok(body.includes('"type":"input_image","image_url":"https://example.org/a.png"'));
  });

  it("OpenAI chat: files with their bytes, images with their address, words for a document elsewhere", () => {
    const body = encode(createOpenAIChat());
    assert.ok(body.includes(`"file_data":"data:application/pdf;base64,${data}"`));
    assert.ok(body.includes('"image_url":{"url":"https://example.org/a.png"}'));
    assert.ok(body.includes("(a PDF document at https://example.org/a.pdf that this model cannot see)"));
  });

  it("Gemini: the bytes of a document, words for what is elsewhere", () => {
    const body = encode(gemini);
    assert.ok(body.includes(`"inlineData":{"mimeType":"application/pdf","data":"${data}"}`));
    assert.ok(body.includes("(a PDF document at https://example.org/a.pdf that this model cannot see)"));
    assert.ok(body.includes("(an image at https://example.org/a.png that this model cannot see)"));
  });

  it("what becomes words is told to the person", () => {
    const told = (provider: string) => unseenMedia(all, provider).length;
    assert.deepEqual([told("anthropic"), told("openai"), told("openrouter"), told("gemini")], [0, 0, 1, 2]);
  });
});
