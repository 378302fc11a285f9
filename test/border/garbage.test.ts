import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { anthropicMessages } from "../../packages/runtime/src/model/dialects/anthropic-messages.ts";
import { gemini } from "../../packages/runtime/src/model/dialects/gemini.ts";
import { createOpenAIChat } from "../../packages/runtime/src/model/dialects/openai-chat.ts";
import { openaiResponses } from "../../packages/runtime/src/model/dialects/openai-responses.ts";
import type { ModelRequest } from "../../packages/runtime/src/model/model.ts";
import { mendRequest } from "../../packages/runtime/src/model/sendable/mend-request.ts";
import { isPlainRequest } from "../../packages/runtime/src/model/sendable/plain-request.ts";
import { type JsonObject, type Message, noUsage } from "../../packages/runtime/src/protocol/content.ts";
import { images } from "./images.ts";
import { refusalsOf } from "./strict-wire.ts";

const dialects = [anthropicMessages, createOpenAIChat(), openaiResponses, gemini];

/** Any sixteen-bit units, halves of characters among them. */
const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
  fc.constantFrom("plain", "", "a.b", "a/b", "検索", "\ud800", "x".repeat(200), "__proto__", "3d"),
);
const json = fc.jsonValue({ maxDepth: 3 }).chain((value) => text.map((word) => ({ [word]: value, word })));
const image = fc.record({
  type: fc.constant("image" as const),
  mediaType: fc.oneof(fc.constantFrom("image/png", "image/jpeg", "image/svg+xml", "image/bmp", ""), text),
  data: fc.oneof(
    fc.constantFrom(...Object.values(images)),
    fc.constantFrom(...Object.values(images)).chain((data) => fc.nat(data.length).map((length) => data.slice(0, length))),
    fc.uint8Array().map((bytes) => Buffer.from(bytes).toString("base64")),
    text,
  ),
});
const shown = fc.array(
  fc.oneof(
    text.map((words) => ({ type: "text" as const, text: words })),
    image,
  ),
  { maxLength: 4 },
);
const call = fc.record({ type: fc.constant("tool-call" as const), callId: text, name: text, input: json });
const turn = fc.oneof(
  shown.map((content): Message[] => [{ role: "user", content }]),
  fc.tuple(call, shown, text).map(([made, content, thought]): Message[] => [
    {
      role: "assistant",
      content: [{ type: "text", text: thought }, { type: "reasoning", text: thought }, made],
      model: { provider: "p", id: "m" },
      finish: "tool-calls",
      usage: noUsage,
    },
    { role: "tool", content: [{ type: "tool-result", callId: made.callId, name: made.name, content, isError: false }] },
  ]),
);

const keyword = fc.constantFrom(
  ...[
    "type",
    "properties",
    "items",
    "anyOf",
    "oneOf",
    "allOf",
    "required",
    "enum",
    "const",
    "not",
    "$ref",
    "$defs",
    "definitions",
  ],
  ...["additionalProperties", "pattern", "minimum", "exclusiveMinimum", "format", "prefixItems", "if", "description", "x-odd"],
);
const { schema } = fc.letrec<{ schema: JsonObject; value: unknown }>((tie) => ({
  schema: fc.dictionary(keyword, tie("value"), { maxKeys: 5 }) as fc.Arbitrary<JsonObject>,
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom("object", "array", "any", ["string", "null"], "#/$defs/a", "#/definitions/b", "#", "#/properties/a", "x:y#"),
    fc.boolean(),
    fc.integer(),
    text,
    tie("schema"),
    fc.array(tie("schema"), { maxLength: 3 }),
    fc.dictionary(fc.oneof(fc.constantFrom("a", "b"), text), tie("schema"), { maxKeys: 3 }),
  ),
}));
const tool = fc.record({ name: text, description: text, inputSchema: schema });

const request = fc
  .tuple(text, fc.array(turn, { maxLength: 4 }), fc.array(tool, { maxLength: 4 }))
  .map(([system, turns, tools]): ModelRequest => ({ model: "m", system, messages: turns.flat(), tools }));

describe("a conversation of garbage", () => {
  for (const dialect of dialects) {
    it(`makes a request that ${dialect.id} takes`, () => {
      fc.assert(
        fc.property(request, (garbage) => {
          const body = dialect.encode(mendRequest(garbage).request);
          assert.deepEqual(refusalsOf(JSON.parse(JSON.stringify(body))), []);
          assert.equal(JSON.stringify(dialect.encode(mendRequest(structuredClone(garbage)).request)), JSON.stringify(body));
        }),
        { numRuns: 400 },
      );
    });
  }

  it("is taken as it is only when it needs nothing", () => {
    fc.assert(
      fc.property(request, (garbage) => {
        if (!isPlainRequest(garbage)) return;
        for (const dialect of dialects)
          assert.equal(JSON.stringify(dialect.encode(mendRequest(garbage).request)), JSON.stringify(dialect.encode(garbage)));
      }),
      { numRuns: 400 },
    );
  });
});
