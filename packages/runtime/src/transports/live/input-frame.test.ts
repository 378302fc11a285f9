import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { RuntimeError } from "../../protocol/errors.ts";
import { parseInputFrame } from "./input-frame.ts";

const user = (text: string) => ({ role: "user", content: [{ type: "text", text }] });

describe("parseInputFrame", () => {
  it("reads the canonical frames", () => {
    assert.deepEqual(parseInputFrame('{"type":"user","content":"hello"}'), {
      type: "user",
      input: user("hello"),
      priority: "next",
      query: true,
    });
    assert.deepEqual(parseInputFrame('{"type":"user","content":[{"type":"text","text":"hello"}]}'), {
      type: "user",
      input: user("hello"),
      priority: "next",
      query: true,
    });
    assert.deepEqual(parseInputFrame('{"type":"control","subtype":"interrupt"}'), { type: "interrupt" });
  });

  it("reads Claude's envelope and does not mind what it does not know in it", () => {
    const frame = {
      type: "user",
      message: { role: "user", content: [{ type: "text", text: "hi", cache_control: null }] },
      parent_tool_use_id: null,
      session_id: "",
      uuid: "u-1",
      priority: "now",
      shouldQuery: false,
      future: true,
    };
    assert.deepEqual(parseInputFrame(JSON.stringify(frame)), {
      type: "user",
      input: user("hi"),
      uuid: "u-1",
      priority: "now",
      query: false,
    });
    assert.deepEqual(parseInputFrame('{"type":"keep_alive","extra":1}'), { type: "keep-alive" });
    assert.deepEqual(parseInputFrame('{"type":"control_cancel_request","request_id":"r"}'), { type: "cancel", requestId: "r" });
  });

  it("answers a message of the envelope that cannot be used, instead of ending everything", () => {
    for (const content of ["", [], [{ type: "document", source: { type: "base64", data: "" } }], 7]) {
      const frame = parseInputFrame(JSON.stringify({ type: "user", message: { role: "user", content }, uuid: "u-2" }));
      assert.ok(frame.type === "unusable" && frame.error.code === "usage" && frame.uuid === "u-2", JSON.stringify(content));
    }
  });

  it("reads a document of text as its text", () => {
    const content = [{ type: "document", source: { type: "text", media_type: "text/plain", data: "the document" } }];
    const frame = parseInputFrame(JSON.stringify({ type: "user", message: { role: "user", content }, priority: "later" }));
    assert.deepEqual(frame, { type: "user", input: user("the document"), priority: "later", query: true });
  });

  it("reads pictures and documents that stand elsewhere, and PDF in the message itself", () => {
    const url = "https://example.org/a";
    const pdf = "application/pdf";
    const read: readonly (readonly [type: string, source: object, part: object])[] = [
      ["image", { type: "url", url }, { type: "image", mediaType: "image/*", data: "", url }],
      ["document", { type: "url", url }, { type: "image", mediaType: pdf, data: "", url }],
      ["document", { type: "base64", media_type: pdf, data: "aGk=" }, { type: "image", mediaType: pdf, data: "aGk=" }],
    ];
    for (const [type, source, part] of read) {
      const frame = parseInputFrame(JSON.stringify({ type: "user", message: { role: "user", content: [{ type, source }] } }));
      assert.deepEqual(frame.type === "user" && frame.input.content, [part]);
    }
  });

  it("says what is wrong with a picture or a document that it cannot read", () => {
    const cannot = /a block of type "\w+" cannot be used here/;
    const wrong: readonly (readonly [type: string, source: unknown, said: RegExp])[] = [
      ["image", { type: "url", url: "file:///a.png" }, /"file:\/\/\/a\.png" is no http\(s\) address/],
      ["document", { type: "url", url: "https://" }, /is no http\(s\) address/],
      ["video", { type: "url", url: "https://example.org/a" }, cannot],
      ["image", { type: "url" }, cannot],
      ["image", { type: "text", data: "words" }, cannot],
      ["image", { type: "base64", media_type: "application/pdf" }, cannot],
      ["document", "words", cannot],
      ["document", { type: "text" }, cannot],
      ["document", { type: "file", data: "words" }, cannot],
      ["document", { type: "base64", media_type: "application/pdf" }, cannot],
      ["document", { type: "base64", media_type: "image/png", data: "aGk=" }, cannot],
    ];
    for (const [type, source, said] of wrong) {
      const frame = parseInputFrame(JSON.stringify({ type: "user", message: { role: "user", content: [{ type, source }] } }));
      assert.match(frame.type === "unusable" ? frame.error.message : frame.type, said, JSON.stringify([type, source]));
    }
  });

  it("reads images, and a message that the host has put together", () => {
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } };
    const frame = {
      type: "user",
      message: { role: "user", content: [image] },
      client_composed: true,
      uuid: "",
      priority: "soon",
    };
    assert.deepEqual(parseInputFrame(JSON.stringify(frame)), {
      type: "user",
      input: { role: "user", content: [{ type: "image", mediaType: "image/png", data: "aGk=" }], isVerbatim: true },
      priority: "next",
      query: true,
    });
  });

  it("takes a request that says nothing as one: whoever sent it waits for an answer", () => {
    for (const [request, subtype] of [
      [{}, "nothing"],
      [{ subtype: 7 }, "7"],
    ] as const)
      assert.deepEqual(parseInputFrame(JSON.stringify({ type: "control_request", request_id: "r", request })), {
        type: "request",
        requestId: "r",
        request: { ...request, subtype },
      });
  });

  it("an answer without words is an error without a reason, or nothing", () => {
    const read = (response: object) => parseInputFrame(JSON.stringify({ type: "control_response", response }));
    assert.deepEqual(read({ subtype: "error", request_id: "q", error: 7 }), {
      type: "response",
      requestId: "q",
      answer: { type: "error", message: "no reason given" },
    });
    assert.deepEqual(read({ subtype: "success", request_id: "q", response: [] }), {
      type: "response",
      requestId: "q",
      answer: { type: "success", response: {} },
    });
  });

  it("shows what it cannot use, cut where that is long", () => {
    const problemOf = (line: string): string => {
      try {
        return parseInputFrame(line).type;
      } catch (error) {
        return String(error);
      }
    };
    assert.match(problemOf('{"content":"x"}'), /the type nothing is not known/);
    assert.ok(problemOf(JSON.stringify({ type: "x".repeat(58) })).includes(`the type "${"x".repeat(58)}" is`));
    assert.ok(problemOf(JSON.stringify({ type: "x".repeat(59) })).includes(`the type "${"x".repeat(59)}… is`));
  });

  it("reads requests and both kinds of answer", () => {
    assert.deepEqual(parseInputFrame('{"type":"control_request","request_id":"r","request":{"subtype":"interrupt","x":1}}'), {
      type: "request",
      requestId: "r",
      request: { subtype: "interrupt", x: 1 },
    });
    const answered = {
      type: "control_response",
      response: { subtype: "success", request_id: "q", response: { behavior: "allow" } },
    };
    assert.deepEqual(parseInputFrame(JSON.stringify(answered)), {
      type: "response",
      requestId: "q",
      answer: { type: "success", response: { behavior: "allow" } },
    });
    assert.deepEqual(
      parseInputFrame('{"type":"control_response","response":{"subtype":"error","request_id":"q","error":"no"}}'),
      {
        type: "response",
        requestId: "q",
        answer: { type: "error", message: "no" },
      },
    );
  });

  const refused = {
    "not JSON": "{",
    "no object": "[1]",
    "an unknown type": '{"type":"users","content":"x"}',
    "an unknown field of a canonical frame": '{"type":"user","content":"x","priority":"now"}',
    "an unknown control": '{"type":"control","subtype":"stop"}',
    "both dialects at once": '{"type":"user","content":"x","message":{"role":"user","content":"x"}}',
    "another role": '{"type":"user","message":{"role":"assistant","content":"x"}}',
    "a blank prompt": '{"type":"user","content":"  "}',
    "no content": '{"type":"user"}',
    "a block that cannot be used": '{"type":"user","content":[{"type":"tool_result"}]}',
    "a request without an id": '{"type":"control_request","request":{"subtype":"interrupt"}}',
    nothing: "null",
    "a message that is no object": '{"type":"user","message":"x"}',
    "a text without words": '{"type":"user","content":[{"type":"text"}]}',
    "words of another type": '{"type":"user","content":[{"type":"note","text":"x"}]}',
    "a block that is no object": '{"type":"user","content":["x"]}',
    "an unknown field of a block": '{"type":"user","content":[{"type":"text","text":"x","cache":1}]}',
    "only blank blocks": '{"type":"user","content":[{"type":"text","text":" "},{"type":"text","text":""}]}',
    "an image without its bytes":
      '{"type":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png"}}]}',
    "an unknown field of a control": '{"type":"control","subtype":"interrupt","x":1}',
    "an empty request_id": '{"type":"control_cancel_request","request_id":""}',
    "an answer without a response": '{"type":"control_response"}',
    "a request that has no bottom": `{"type":"control_request","request_id":"r","request":{"subtype":"x","y":${"[".repeat(2000)}${"]".repeat(2000)}}}`,
    "a control_request without a request": '{"type":"control_request","request_id":"r"}',
  };
  for (const [name, line] of Object.entries(refused))
    it(`refuses ${name}`, () => {
      assert.throws(() => parseInputFrame(line), { name: "RuntimeError", code: "usage" });
    });

  it("answers any line with a frame or a usage error", () => {
    const anyFrame = fc.oneof(
      fc.json(),
      fc.string(),
      fc
        .record(
          {
            type: fc.constantFrom("user", "control", "control_request", "control_response"),
            content: fc.jsonValue(),
            message: fc.jsonValue(),
            request: fc.jsonValue(),
            response: fc.jsonValue(),
            request_id: fc.jsonValue(),
          },
          { requiredKeys: [] },
        )
        .map((frame) => JSON.stringify(frame)),
    );
    fc.assert(
      fc.property(anyFrame, (line) => {
        try {
          return typeof parseInputFrame(line).type === "string";
        } catch (error) {
          return error instanceof RuntimeError && error.code === "usage";
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
