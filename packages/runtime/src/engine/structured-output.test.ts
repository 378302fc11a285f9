import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as z from "zod";
import type { ModelRequest } from "../model/model.ts";
import { createScriptedProvider, type ScriptStep } from "../model/scripted.ts";
import type { JsonObject, JsonValue } from "../protocol/content.ts";
import { InteractiveSession } from "../session/interactive-session.ts";
import type { SchemaSource } from "../tools/standard-schema.ts";
import { extractJson } from "./structured-output.ts";

const person: JsonObject = {
  type: "object",
  properties: { name: { type: "string" }, age: { type: "integer" } },
  required: ["name"],
  additionalProperties: false,
};
const call = (input: unknown): ScriptStep => ({ calls: [{ name: "StructuredOutput", input }] });
const say = (value: JsonValue): ScriptStep => ({ text: JSON.stringify(value) });

async function answer(outputSchema: SchemaSource, replies: readonly ScriptStep[], nativeSchema = false) {
  const provider = createScriptedProvider(replies, { nativeSchema });
  const session = new InteractiveSession({ cwd: "/", provider, outputSchema });
  const outcome = await session.submit("go");
  await session.shutdown();
  return { outcome, requests: provider.requests };
}

function offered(request: ModelRequest | undefined): JsonObject | undefined {
  return request?.tools.find((tool) => tool.name === "StructuredOutput")?.inputSchema;
}

function lastText(request: ModelRequest | undefined): string {
  return JSON.stringify(request?.messages.at(-1)?.content);
}

describe("an answer by schema", () => {
  it("is the input of a tool where the provider takes no schema, and the last thing that happens", async () => {
    const { outcome, requests } = await answer(person, [call({ name: "Ada" }), { text: "never asked" }]);
    assert.deepEqual(outcome, { type: "completed", text: '{"name":"Ada"}', structured: { name: "Ada" } });
    assert.deepEqual([requests.length, offered(requests[0]), requests[0]?.outputSchema], [1, person, undefined]);
  });

  it("is the text where the provider takes one", async () => {
    const { outcome, requests } = await answer(person, [say({ name: "Ada" })], true);
    assert.deepEqual(outcome, { type: "completed", text: '{"name":"Ada"}', structured: { name: "Ada" } });
    assert.deepEqual([offered(requests[0]), requests[0]?.outputSchema], [undefined, person]);
  });

  it("is the input of the tool also where the provider takes a schema and offers none, with its hooks", async () => {
    const seen: unknown[] = [];
    const provider = createScriptedProvider([call({ age: 1 }), call({ name: "Ada" }), { text: "never asked" }], {
      nativeSchema: true,
    });
    const see = (input: Record<string, unknown>): object => {
      seen.push(input["tool_input"]);
      return {};
    };
    const hooks = { PreToolUse: [{ matcher: "StructuredOutput", hooks: [see] }] };
    const session = new InteractiveSession({ cwd: "/", provider, outputSchema: person, hooks });
    const outcome = await session.submit("go");
    await session.shutdown();
    assert.deepEqual(outcome, { type: "completed", text: '{"name":"Ada"}', structured: { name: "Ada" } });
    assert.match(lastText(provider.requests[1]), /Invalid input for StructuredOutput: .*name/);
    assert.deepEqual([provider.requests.length, offered(provider.requests[0]), seen], [2, undefined, [{ name: "Ada" }]]);
  });

  it("is the text also where a model overlooks the tool, if all of it fits", async () => {
    const { outcome, requests } = await answer(person, [{ text: 'Here:\n```json\n{"name":"Ada"}\n```' }]);
    assert.deepEqual([outcome.type, requests.length], ["completed", 1]);
  });

  it("is refused with the reason where a model overlooks the tool and its text does not fit", async () => {
    const { outcome, requests } = await answer(person, [say({ name: "Ada", age: "many" }), call({ name: "Ada" })]);
    assert.equal(outcome.type, "completed");
    assert.match(
      lastText(requests[1]),
      /does not fit the schema: .*age.* Give your final answer by calling the StructuredOutput tool/,
    );
  });

  it("is not given up because other calls fail", async () => {
    const fails: ScriptStep = { calls: [1, 2, 3].map((n) => ({ name: "Read", input: { file_path: `/no/such/file/${n}` } })) };
    const { outcome, requests } = await answer(person, [fails, call({ name: "Ada" })]);
    assert.deepEqual([outcome.type, requests.length], ["completed", 2]);
  });

  it("comes after other work in the same turn", async () => {
    const { outcome, requests } = await answer(person, [
      { calls: [{ name: "Glob", input: { pattern: "no-such-*" } }] },
      call({ name: "Ada" }),
    ]);
    assert.deepEqual([outcome.type, requests.length], ["completed", 2]);
  });

  for (const native of [false, true]) {
    it(`is asked for again with what is wrong, and accepted then (${native ? "native" : "by tool"})`, async () => {
      const wrong = { age: "old" };
      const replies = native ? [say(wrong), say({ name: "Ada" })] : [call(wrong), call({ name: "Ada" })];
      const { outcome, requests } = await answer(person, replies, native);
      assert.equal(outcome.type, "completed");
      for (const word of ["name", "age", "integer"]) assert.ok(lastText(requests[1]).includes(word), lastText(requests[1]));
    });

    it(`is given up after two retries (${native ? "native" : "by tool"})`, async () => {
      const wrong = native ? say({}) : call({});
      const { outcome, requests } = await answer(person, [wrong, wrong, wrong, wrong], native);
      assert.equal(requests.length, 3);
      assert.deepEqual(outcome.type === "failed" && [outcome.error.code, /name/.test(outcome.error.message)], [
        "output-schema",
        true,
      ]);
    });
  }

  it("stands once it fits, whatever else the same message tries", async () => {
    const tries = Array.from({ length: 5 }, () => ({ name: "StructuredOutput", input: { age: "?" } }));
    const { outcome } = await answer(person, [{ calls: [{ name: "StructuredOutput", input: { name: "Ada" } }, ...tries] }]);
    assert.deepEqual(outcome, { type: "completed", text: '{"name":"Ada"}', structured: { name: "Ada" } });
  });

  it("is given up when the model only talks", async () => {
    const { outcome, requests } = await answer(person, [{ text: "Ada." }, { text: "Ada!" }, { text: "ADA" }]);
    assert.match(lastText(requests[1]), /calling the StructuredOutput tool/);
    assert.equal(outcome.type === "failed" && outcome.error.code, "output-schema");
    assert.equal(outcome.text, "ADA");
  });

  it("is the value that fits, where a text holds several", async () => {
    const { outcome } = await answer(person, [{ text: 'As in [1] and {"x": 2}: {"name":"Ada"} and {"name":"Bob"}' }], true);
    assert.deepEqual(outcome.type === "completed" && outcome.structured, { name: "Ada" });
  });
});

/** Schemas that cannot be a tool's input or a provider's answer format as they are. */
const node = {
  $defs: { node: { type: "object", properties: { id: { type: "integer" }, next: { $ref: "#/$defs/node" } }, required: ["id"] } },
};
const wrapped: [string, JsonObject, good: JsonValue, bad: JsonValue][] = [
  [
    "a list with references",
    { ...node, type: "array", items: { $ref: "#/$defs/node" } },
    [{ id: 1, next: { id: 2 } }],
    [{ next: {} }],
  ],
  ["a reference at the top", { ...node, $ref: "#/$defs/node" }, { id: 1 }, { id: "1" }],
  ["itself, again", { type: ["array", "integer"], items: { $ref: "#" } }, [1, [2, [3]]], [1, ["2"]]],
  ["one of several objects", { type: "object", oneOf: [{ required: ["a"] }, { required: ["b"] }] }, { a: 1 }, { a: 1, b: 2 }],
  ["a word of a list", { enum: ["yes", "no"] }, "yes", "maybe"],
  ["a number", { type: "number", minimum: 3 }, 3, 2],
  ["nothing", { type: "null" }, null, 0],
  [
    "draft 7",
    {
      $schema: "http://json-schema.org/draft-07/schema#",
      definitions: { a: { type: "string" } },
      type: "array",
      items: [{ $ref: "#/definitions/a" }, { type: "integer" }],
      additionalItems: false,
    },
    ["a", 1],
    ["a", "b"],
  ],
  [
    "properties named like keywords",
    {
      type: "array",
      items: { $ref: "#/$defs/x" },
      $defs: { x: { type: "object", properties: { enum: { $ref: "#/$defs/y" } } }, y: { const: "#/$defs/y" } },
    },
    [{ enum: "#/$defs/y" }],
    [{ enum: "other" }],
  ],
];

describe("a schema that is no plain object", () => {
  for (const [what, schema, good, bad] of wrapped) {
    it(`is asked for by the tool, wrapped: ${what}`, async () => {
      const { outcome, requests } = await answer(schema, [call({ value: bad }), call({ value: good })], true);
      assert.deepEqual(outcome.type === "completed" && [outcome.structured], [good]);
      assert.deepEqual([requests.length, offered(requests[0])?.["type"]], [2, "object"]);
    });
  }

  it("is wrapped with its references, and words that look like one stay as they are", async () => {
    const list: JsonObject = {
      type: "array",
      description: "#/1: names",
      items: { $ref: "#/$defs/name" },
      $defs: { name: { type: "string" } },
    };
    const { outcome, requests } = await answer(list, [call({ value: ["Ada"] })]);
    const value = { type: "array", description: "#/1: names", items: { type: "string" } };
    assert.deepEqual(offered(requests[0])?.["properties"], { value });
    assert.equal(outcome.type, "completed");
  });

  it("is called one where only its type is missing", async () => {
    const { requests } = await answer({ properties: { a: {} } }, [call({ a: 1 })]);
    assert.deepEqual(offered(requests[0]), { type: "object", properties: { a: {} } });
  });
});

describe("a plain schema", () => {
  const schemas: [string, JsonObject, good: JsonObject, bad: JsonObject][] = [
    [
      "2020-12 with references, lists and alternatives",
      {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        $defs: {
          item: {
            type: "object",
            properties: { kind: { enum: ["a", "b"] }, size: { oneOf: [{ type: "integer" }, { type: "null" }] } },
            required: ["kind"],
          },
        },
        type: "object",
        properties: { items: { type: "array", items: { $ref: "#/$defs/item" }, minItems: 1 } },
        required: ["items"],
        additionalProperties: false,
      },
      { items: [{ kind: "a", size: null }] },
      { items: [{ kind: "c", size: "x" }], more: 1 },
    ],
    [
      "draft 7 with definitions and conditions",
      {
        $schema: "http://json-schema.org/draft-07/schema#",
        definitions: { word: { type: "string", pattern: "^[a-z]+$" } },
        type: "object",
        properties: { word: { $ref: "#/definitions/word" }, n: { type: "number", exclusiveMinimum: 0 } },
        if: { required: ["n"] },
        else: { required: ["word"] },
      },
      { n: 1, word: "ok" },
      { n: 1, word: "NO" },
    ],
  ];
  for (const [what, schema, good, bad] of schemas) {
    for (const native of [false, true]) {
      it(`is taken as it is (${native ? "native" : "by tool"}): ${what}`, async () => {
        const replies = native ? [say(bad), say(good)] : [call(bad), call(good)];
        const { outcome, requests } = await answer(schema, replies, native);
        assert.deepEqual(outcome.type === "completed" && outcome.structured, good);
        assert.equal(requests.length, 2);
        assert.deepEqual(native ? requests[0]?.outputSchema : offered(requests[0]), schema);
      });
    }
  }
});

describe("the schema a session is given", () => {
  it("is refused before anything is asked or stored", async () => {
    const { outcome, requests } = await answer({ type: "objekt" }, [say({})]);
    assert.deepEqual(outcome.type === "failed" && [outcome.error.code, outcome.error.message], [
      "usage",
      'The JSON Schema is not valid at /type: there is no type "objekt"; did you mean "object"?',
    ]);
    assert.equal(requests.length, 0);
  });

  it("may be one of a library that knows its JSON Schema", async () => {
    const validate = (value: unknown) => ({ value });
    const schema = { "~standard": { vendor: "any", version: 1, validate, jsonSchema: { input: () => person } } };
    const { outcome } = await answer(schema, [call({ name: "Ada" })]);
    assert.deepEqual(outcome.type === "completed" && outcome.structured, { name: "Ada" });
  });

  for (const native of [true, false])
    it(`of a library judges the answer itself and gives it its types (${native ? "asked of the provider" : "by a tool"})`, async () => {
      const schema = z.object({
        day: z.string().transform((day) => new Date(day)),
        guests: z.number().refine((count) => count % 2 === 0, "must be even"),
        note: z.string().default("none"),
      });
      const give = (value: JsonObject) => (native ? say(value) : call(value));
      const { outcome, requests } = await answer(
        schema,
        [give({ day: "2026-11-16", guests: 3 }), give({ day: "2026-11-16", guests: 4 })],
        native,
      );
      const structured = { day: new Date("2026-11-16"), guests: 4, note: "none" };
      assert.deepEqual(outcome.type === "completed" && outcome.structured, structured);
      assert.match(JSON.stringify(requests[1]), /guests: must be even/);
    });

  it("of a library that wants a list is asked for wrapped, and judged unwrapped", async () => {
    const { outcome } = await answer(z.array(z.coerce.number()).min(2), [call({ value: ["1"] }), call({ value: ["1", 2] })]);
    assert.deepEqual(outcome.type === "completed" && outcome.structured, [1, 2]);
  });
});

describe("JSON in a text", () => {
  const cases: [text: string, value: JsonValue | undefined][] = [
    ['{"a":1}', { a: 1 }],
    [' \n{"a":1}\n', { a: 1 }],
    ["[1,2]", [1, 2]],
    ["3", 3],
    ['"word"', "word"],
    ["null", null],
    ["false", false],
    ['```json\n{"a":1}\n```', { a: 1 }],
    ["Sure!\n\n```\n[1]\n```\nAnything else?", [1]],
    ['Run\n```bash\necho "{}"\n```\nthen\n```json\n{"a":1}\n```', { a: 1 }],
    ['  ```JSON\n  {"a":1}\n  ```', { a: 1 }],
    ['The answer is {"a":{"b":[1,"}"]}}, I think.', { a: { b: [1, "}"] } }],
    ['{"a":"\\"}{"} rest', { a: '"}{' }],
    ['} noise {"a":1} tail', { a: 1 }],
    ["for (;;) { break } then [1]", [1]],
    ["[x] [1]", [1]],
    ['{"a":1', undefined],
    ["no JSON at all", undefined],
    ["", undefined],
    ["NaN", undefined],
  ];
  for (const [text, value] of cases) {
    it(`is ${value === undefined ? "not found" : "found"} in ${JSON.stringify(text)}`, () =>
      assert.deepEqual(extractJson(text), value));
  }

  it("is not looked for without end", () => assert.equal(extractJson("[".repeat(100_000)), undefined));
});
