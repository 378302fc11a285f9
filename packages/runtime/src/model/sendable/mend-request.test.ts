import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { images, png } from "../../../../../test/border/images.ts";
import { type JsonObject, type Message, noUsage, userText } from "../../protocol/content.ts";
import { createBuiltinTools } from "../../tools/builtin/builtin-tools.ts";
import type { ModelEvent, ModelRequest } from "../model.ts";
import { mendRequest } from "./mend-request.ts";
import { isPlainRequest } from "./plain-request.ts";

const request = (parts: Partial<ModelRequest>): ModelRequest => ({ model: "m", system: "", messages: [], tools: [], ...parts });
const tool = (inputSchema: JsonObject, name = "t"): ModelRequest["tools"][number] => ({
  name,
  description: "Does.",
  inputSchema,
});
const sent = (inputSchema: JsonObject): ModelRequest["tools"][number] | undefined =>
  mendRequest(request({ tools: [tool(inputSchema)] })).request.tools[0];

function answer(name: string, input: unknown): Message & { role: "assistant" } {
  return {
    role: "assistant",
    content: [{ type: "tool-call", callId: "1", name, input }],
    model: { provider: "p", id: "m" },
    finish: "tool-calls",
    usage: noUsage,
  };
}

describe("a request on its way out", () => {
  it("is left alone with the built-in tools and plain text", () => {
    const tools = createBuiltinTools({}).map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
    assert.ok(isPlainRequest(request({ system: "s", messages: [userText("grüße 👋")], tools })));
  });

  it("holds the replacement character where half a character stood", () => {
    const { messages } = mendRequest(
      request({ messages: [userText("a\ud800b"), answer("t", { "k\udc00": ["\ud83d"] })] }),
    ).request;
    assert.deepEqual(messages, [userText("a\ufffdb"), answer("t", { "k\ufffd": ["\ufffd"] })]);
  });

  it("gives tools names that providers take, and answers come back in the tools' own", () => {
    const names = ["a.b", "a_b", "a/b", "検索", "計算", "3d", "x".repeat(80), `${"x".repeat(80)}y`];
    const { request: mended, restore } = mendRequest(request({ tools: names.map((name) => tool({ type: "object" }, name)) }));
    const wire = mended.tools.map(({ name }) => name);
    assert.equal(new Set(wire).size, names.length);
    for (const name of wire) assert.match(name, /^[A-Za-z_][\w-]{0,63}$/);
    assert.equal(wire[1], "a_b");
    for (const [index, name] of wire.entries()) {
      const event: ModelEvent = { type: "finished", message: answer(name, {}) };
      assert.deepEqual(restore?.(event), { type: "finished", message: answer(names[index] ?? "", {}) });
    }
  });

  it("gives properties names that providers take, at every depth, and inputs come back in the tool's own", () => {
    const inputSchema: JsonObject = {
      type: "object",
      properties: {
        файл: { type: "string" },
        $filter: { type: "object", properties: { "a b": { type: "number" } } },
        ok: { type: "string" },
      },
      required: ["файл", "ok"],
    };
    const input = { файл: "x", $filter: { "a b": 1 }, ok: "y" };
    const { request: mended, restore } = mendRequest(request({ tools: [tool(inputSchema)], messages: [answer("t", input)] }));
    const schema = mended.tools[0]?.inputSchema as { properties: Record<string, JsonObject>; required: string[] };
    const [file = "", filter = ""] = Object.keys(schema.properties);
    for (const name of Object.keys(schema.properties)) assert.match(name, /^[\w.-]{1,64}$/);
    assert.deepEqual(schema.required, [file, "ok"]);
    assert.equal(schema.properties[file]?.["description"], 'The tool calls it "файл".');
    const [said] = mended.messages;
    const wire = said?.role === "assistant" && said.content[0]?.type === "tool-call" ? said.content[0].input : undefined;
    assert.deepEqual(Object.keys(wire as object), [file, filter, "ok"]);
    const back = restore?.({ type: "finished", message: answer("t", wire) });
    assert.deepEqual(back, { type: "finished", message: answer("t", input) });
  });

  const schemas: [what: string, given: JsonObject, sent: JsonObject, note?: RegExp][] = [
    ["no type", {}, { type: "object", properties: {} }],
    ["another type at the top", { type: "string" }, { type: "object", properties: {} }],
    [
      "a union at the top",
      {
        type: "object",
        oneOf: [
          { properties: { path: { type: "string" } }, required: ["path"] },
          { properties: { url: { type: "string" }, depth: { type: "integer" } }, required: ["url"] },
        ],
      },
      { type: "object", properties: { path: { type: "string" }, url: { type: "string" }, depth: { type: "integer" } } },
      /one of these forms: \{path\} or \{url, depth\?\}\./,
    ],
    [
      "parts at the top that hold together",
      {
        allOf: [{ $ref: "#/$defs/base" }, { properties: { b: { type: "number" } } }],
        $defs: { base: { properties: { a: { type: "string" } }, required: ["a"] } },
      },
      {
        $defs: { base: { properties: { a: { type: "string" } }, required: ["a"] } },
        type: "object",
        properties: { a: { type: "string" }, b: { type: "number" } },
        required: ["a"],
      },
    ],
    [
      "a reference at the top",
      { $ref: "#/definitions/In", definitions: { In: { type: "object", properties: { a: { type: "string" } } } } },
      {
        definitions: { In: { type: "object", properties: { a: { type: "string" } } } },
        type: "object",
        properties: { a: { type: "string" } },
      },
    ],
    [
      "keywords of older drafts",
      {
        type: "object",
        properties: {
          n: { type: "number", minimum: 1, exclusiveMinimum: true, required: true },
          t: { type: "array", items: [{ type: "string" }] },
        },
      },
      {
        type: "object",
        properties: {
          n: { type: "number", exclusiveMinimum: 1 },
          t: { type: "array", items: {}, prefixItems: [{ type: "string" }] },
        },
      },
    ],
    [
      "types, patterns and references that are none",
      {
        type: "object",
        properties: {
          a: { type: "any" },
          b: true,
          c: { type: "string", pattern: "(" },
          d: { $ref: "#/nowhere" },
          e: { $ref: "https://x.example/y" },
          l: { type: "array" },
        },
      },
      { type: "object", properties: { a: {}, b: {}, c: { type: "string" }, d: {}, e: {}, l: { type: "array", items: {} } } },
    ],
    [
      "references in a circle",
      { type: "object", properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } },
      { type: "object", properties: { a: {} }, $defs: { a: {}, b: {} } },
    ],
  ];
  for (const [what, given, expected, note] of schemas) {
    it(`describes input with ${what} so that it is taken`, () => {
      const made = sent(given);
      assert.deepEqual(made?.inputSchema, expected);
      assert.match(made?.description ?? "", note ?? /^Does\.$/);
    });
  }

  it("keeps a tree that holds itself", () => {
    const tree: JsonObject = {
      type: "object",
      properties: { root: { $ref: "#/$defs/node" } },
      $defs: { node: { type: "object", properties: { children: { type: "array", items: { $ref: "#/$defs/node" } } } } },
    };
    assert.deepEqual(sent(tree)?.inputSchema, tree);
  });

  it("keeps schemas that are too long, too deep or grow without end within bounds", () => {
    const long: JsonObject = {};
    for (let index = 0; index < 3_000; index++) long[`p${index}`] = { type: "string", description: "x".repeat(400) };
    let deep: JsonObject = { type: "string" };
    for (let depth = 0; depth < 2_000; depth++) deep = { type: "object", properties: { p: deep } };
    const laughs: JsonObject = {};
    for (let index = 0; index < 30; index++) {
      const next = { $ref: `#/properties/p${index + 1}` };
      laughs[`p${index}`] = { type: "object", properties: { a: next, b: next, c: next } };
    }
    const sums: JsonObject = {};
    for (let index = 0; index < 30; index++)
      sums[`d${index}`] = { allOf: Array.from({ length: 10 }, () => ({ $ref: `#/$defs/d${index + 1}` })) };
    for (const schema of [{ properties: long }, deep, { properties: laughs }, { $ref: "#/$defs/d0", $defs: sums }]) {
      const made = sent(schema);
      assert.ok(JSON.stringify(made?.inputSchema).length <= 60_000);
    }
    assert.match(sent({ properties: long })?.description ?? "", /too long to be shown whole/);
  });

  it("shows the newest images when there are more than providers take, and drops older ones in groups", () => {
    const shot = (side: number): Message => ({
      role: "user",
      content: [{ type: "image", mediaType: "image/png", data: png(side, 1) }],
    });
    const left = (messages: readonly Message[]): string =>
      mendRequest(request({ messages }))
        .request.messages.map(({ content }) => (content[0]?.type === "image" ? "#" : "."))
        .join("");
    assert.equal(left(Array.from({ length: 100 }, () => shot(9))), "#".repeat(100));
    assert.equal(left(Array.from({ length: 101 }, () => shot(9))), ".".repeat(25) + "#".repeat(76));
    assert.equal(left(Array.from({ length: 126 }, () => shot(9))), ".".repeat(50) + "#".repeat(76));
    assert.equal(left(Array.from({ length: 20 }, () => shot(2_500))), "#".repeat(20));
    assert.equal(left(Array.from({ length: 22 }, () => shot(2_500))), ".".repeat(5) + "#".repeat(17));
    const large: Message = {
      role: "user",
      content: [{ type: "image", mediaType: "image/png", data: png(1_000, 1_000, { noise: true }) }],
    };
    assert.equal(left(Array.from({ length: 6 }, () => large)), "...###");
  });

  it("replaces pictures in results in their place", () => {
    const message: Message = {
      role: "tool",
      content: [
        {
          type: "tool-result",
          callId: "1",
          name: "shot",
          content: [
            { type: "image", mediaType: "image/jpeg", data: images.png },
            { type: "image", mediaType: "image/png", data: "" },
          ],
          isError: false,
        },
      ],
    };
    const [made] = mendRequest(request({ messages: [message] })).request.messages;
    const parts = made?.role === "tool" ? made.content[0]?.content : [];
    assert.deepEqual(
      parts?.map((part) => (part.type === "image" ? part.mediaType : part.text)),
      ["image/png", "(An image stood here: said to be image/png, 0 bytes. It is not shown: it is empty.)"],
    );
  });
});
