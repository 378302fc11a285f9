import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject, JsonValue } from "../protocol/content.ts";
import { checkInput } from "./input.ts";
import { describeProblems } from "./input-problems.ts";

const edit: JsonObject = {
  type: "object",
  properties: {
    file_path: { type: "string", minLength: 1 },
    mode: { enum: ["fast", "slow"] },
    timeout: { type: "integer", minimum: 1, maximum: 600_000 },
    edits: {
      type: "array",
      minItems: 1,
      items: {
        type: "object",
        properties: { old_string: { type: "string" }, new_string: { type: "string" }, "a/b~c": { type: "null" } },
        required: ["old_string", "new_string"],
        additionalProperties: false,
      },
    },
  },
  required: ["file_path"],
  additionalProperties: false,
};

const target: JsonObject = {
  type: "object",
  properties: {
    where: { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] },
    shape: {
      oneOf: [
        { type: "object", properties: { kind: { const: "circle" }, radius: { type: "number" } }, required: ["kind", "radius"] },
        { type: "object", properties: { kind: { const: "line" }, length: { type: "number" } }, required: ["kind", "length"] },
      ],
    },
    tree: { $ref: "#/$defs/node" },
  },
  $defs: {
    node: { type: "object", properties: { name: { type: "string", pattern: "^[a-z]+$" }, child: { $ref: "#/$defs/node" } } },
  },
};

async function complaint(schema: JsonObject, input: unknown): Promise<string> {
  const result = await checkInput(schema, input);
  return result.ok ? "(fits)" : result.message;
}

describe("checkInput", () => {
  it("lets an input through that fits", async () => {
    assert.deepEqual(await checkInput(edit, { file_path: "a", edits: [{ old_string: "", new_string: "x" }] }), { ok: true });
    assert.deepEqual(await checkInput({}, { anything: 1 }), { ok: true });
  });

  const cases: [string, JsonObject, unknown, string][] = [
    [
      "says that nothing is allowed where nothing is known",
      { type: "object", additionalProperties: false },
      { a: 1 },
      '"a" is not allowed here.',
    ],
    ["names what is missing", edit, {}, '"file_path" is required but missing.'],
    [
      "names the nearest known property",
      edit,
      { filepath: "a" },
      '"file_path" is required but missing. "filepath" is not a known property; did you mean "file_path"?',
    ],
    [
      "lists the known properties when none is near",
      edit,
      { file_path: "a", zzzzzz: 1 },
      '"zzzzzz" is not a known property; the known ones are "file_path", "mode", "timeout" and "edits".',
    ],
    ["says what came instead", edit, { file_path: 5 }, '"file_path" must be a string, not the number 5.'],
    ["asks for an object at the top", edit, [1], "The input must be an object, not an array."],
    [
      "lists the allowed values",
      edit,
      { file_path: "a", mode: "fastt" },
      '"mode" must be one of "fast" or "slow", not the string "fastt".',
    ],
    ["says the limit of a number", edit, { file_path: "a", timeout: 700_000 }, '"timeout" must be at most 600000, not 700000.'],
    [
      "says when an integer is wanted",
      edit,
      { file_path: "a", timeout: 1.5 },
      '"timeout" must be an integer, not the number 1.5.',
    ],
    [
      "counts characters and items",
      edit,
      { file_path: "", edits: [] },
      '"file_path" must have at least 1 character. "edits" must have at least 1 item.',
    ],
    [
      "writes nested places the way a person would",
      edit,
      { file_path: "a", edits: [{ old_string: "x", new_string: null }, { newstring: "" }] },
      '"edits[0].new_string" must be a string, not null. "edits[1].old_string" and "edits[1].new_string" are required but missing. "edits[1].newstring" is not a known property; did you mean "new_string"?',
    ],
    [
      "decodes odd property names",
      edit,
      { file_path: "a", edits: [{ old_string: "", new_string: "", "a/b~c": 1 }] },
      '"edits[0].a/b~c" must be null, not the number 1.',
    ],
    ["joins the types of a union", target, { where: 5 }, '"where" must be a string or an array, not the number 5.'],
    [
      "joins the types of a union, and tells what else is wrong",
      target,
      { where: 5, tree: { name: 7 } },
      '"where" must be a string or an array, not the number 5. "tree.name" must be a string, not the number 7.',
    ],
    ["looks into the branch that was meant", target, { where: ["a", 1] }, '"where[1]" must be a string, not the number 1.'],
    ["tells branches apart by a constant", target, { shape: { kind: "line" } }, '"shape.length" is required but missing.'],
    [
      "follows references, also recursive ones",
      target,
      { tree: { child: { name: "A" } } },
      '"tree.child.name" must match the pattern "^[a-z]+$", which the string "A" does not.',
    ],
    ["says that nothing came", edit, undefined, "The input is missing."],
    [
      "admits a broken schema",
      { properties: { "\ud800": {} } },
      {},
      "The input could not be checked against the tool's schema: URI malformed",
    ],
  ];
  for (const [fact, schema, input, message] of cases) {
    it(fact, async () => assert.equal(await complaint(schema, input), message));
  }

  it("says what can be said where the validator tells little", () => {
    const forbidden = { keyword: "false", keywordLocation: "#", instanceLocation: "#/a", error: "" };
    const told = (problems: (typeof forbidden)[]) => describeProblems({ problems, schema: {}, input: { a: 1 } });
    assert.equal(told([]), "The input does not fit the tool's schema.");
    assert.equal(told([forbidden]), '"a" is not allowed here.');
  });

  it("stops after a few sentences", async () => {
    const properties = Object.fromEntries("abcdefg".split("").map((name) => [name, { type: "string" }]));
    const input = Object.fromEntries("abcdefg".split("").map((name) => [name, 1]));
    const message = await complaint({ type: "object", properties }, input);
    assert.match(message, /"d" must be a string, not the number 1\. There are 3 more problems\.$/);
  });

  it("shortens long values", async () => {
    assert.ok((await complaint(edit, { file_path: "a", mode: "x".repeat(100_000) })).length < 250);
  });

  it("takes a frozen schema and leaves it as it was", async () => {
    const schema = Object.freeze({
      type: "object",
      properties: Object.freeze({ a: Object.freeze({ $ref: "#/$defs/x" }) }),
      $defs: { x: { type: "string" } },
    });
    assert.equal(await complaint(schema, { a: 1 }), '"a" must be a string, not the number 1.');
    assert.deepEqual(Object.getOwnPropertyNames(schema.properties.a), ["$ref"]);
  });

  it("refuses what is nested too deeply, and a hundred thousand unknown properties, in good time", async () => {
    const nested: unknown = JSON.parse(`${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`);
    assert.deepEqual(await checkInput({ type: "object" }, { nested }), {
      ok: false,
      message: "The input is nested more than 200 deep.",
    });
    const schema = { type: "object", properties: { known: {} }, additionalProperties: false };
    const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`key${index}`, 1]));
    const startedAt = performance.now();
    const checked = await checkInput(schema, wide);
    assert.match(checked.ok ? "" : checked.message, /There are 99996 more problems\.$/);
    assert.ok(performance.now() - startedAt < 20_000); // 2.5 s on a busy machine; the square of it took minutes
  });

  const inA = (a: JsonValue): JsonObject => ({ properties: { a } });
  const list = (a: JsonObject): JsonObject => inA({ type: "array", ...a });
  const conditional = JSON.parse('{ "if": { "required": "a" }, "then": { "required": ["b"] } }') as JsonObject;
  const unusable: [keyword: string, schema: JsonObject, fits: JsonObject, misfit?: JsonObject][] = [
    ["a type that is none", inA({ type: "date" }), { a: "2026-01-01" }],
    ["a type that is a number", inA({ type: 5 }), { a: "x" }],
    ["no type at all", inA({ type: [] }), { a: "x" }],
    ["one type that is none", inA({ type: ["date", "number"] }), { a: 1 }, { a: "x" }],
    ["an enum without values", inA({ enum: [] }), { a: 1 }],
    ["an enum that is no list", inA({ enum: "x" }), { a: 1 }],
    ["an empty anyOf", inA({ anyOf: [] }), { a: "x" }],
    ["an anyOf that is no list", inA({ anyOf: { type: "string" } }), { a: 1 }],
    ["a form that is null", inA({ oneOf: [null, { type: "string" }] }), { a: "x" }],
    ["a property that is null", { properties: { a: null, b: { type: "string" } } }, { a: 1, b: "x" }, { b: 1 }],
    ["a property that is a word", { properties: { a: "string" } }, { a: 1 }],
    ["required that is no list", { required: "a" }, {}],
    ["required with more than names", { required: ["b", 5, null] }, { b: 1 }, {}],
    ["an exclusive limit as draft 4 had it", inA({ minimum: 3, exclusiveMinimum: true }), { a: 4 }, { a: 3 }],
    ["a limit that is a text", inA({ minimum: "3" }), { a: 1 }],
    ["multiples of nothing", inA({ multipleOf: 0 }), { a: 1 }],
    ["properties that are a list", { properties: [] }, { a: 1 }],
    ["properties that are null", { properties: null, additionalProperties: null }, { a: 1 }],
    ["a count that is a text", inA({ maxLength: "2" }), { a: "long" }],
    ["a count below nothing", list({ maxItems: -1 }), { a: [1] }, { a: 1 }],
    ["a pattern that is no expression", inA({ pattern: "(" }), { a: "x" }],
    ["a pattern that is a number", inA({ pattern: 5 }), { a: "x" }],
    [
      "a pattern of names that is none",
      { patternProperties: { "[": { type: "string" }, "^b": { type: "string" } } },
      { a: 1 },
      { b: 1 },
    ],
    ["a format that every object has", inA({ format: "isPrototypeOf" }), { a: "x" }],
    ["a format that is a list", inA({ format: ["date"] }), { a: "x" }],
    ["unique items that are a word", list({ uniqueItems: "no" }), { a: [1, 1] }],
    ["items that are null", list({ items: null }), { a: [1] }],
    ["first items that are no list", list({ prefixItems: 5 }), { a: [1] }],
    ["a tuple with a null", list({ prefixItems: [null, { type: "string" }] }), { a: [1, "x"] }, { a: [1, 1] }],
    ["dependents that are no names", { dependentRequired: { a: "b" }, dependencies: { a: 5 } }, { a: 1 }],
    ["unevaluated properties that are a word", { unevaluatedProperties: "no" }, { a: 1 }],
    ["a reference that leads nowhere", inA({ $ref: "#/$defs/none" }), { a: 1 }],
    ["a reference into definitions that are a list", { ...inA({ $ref: "#/$defs/0" }), $defs: [] }, { a: 1 }],
    ["a reference that is a number", inA({ $ref: 5 }), { a: 1 }],
    ["a reference that is no address", inA({ $ref: "http://[" }), { a: 1 }],
    ["a reference to elsewhere", inA({ $ref: "other.json#/a" }), { a: 1 }],
    ["a reference to itself", { ...inA({ $ref: "#/$defs/a" }), $defs: { a: { $ref: "#/$defs/a" } } }, { a: 1 }],
    ["a whole that is itself", { $ref: "#" }, { a: 1 }],
    [
      "references in a circle",
      { ...inA({ $ref: "#/$defs/b" }), $defs: { b: { anyOf: [{ $ref: "#/$defs/c" }] }, c: { $ref: "#/$defs/b" } } },
      { a: 1 },
    ],
    [
      "a circle that is entered in its middle",
      { ...inA({ $ref: "#/$defs/b/allOf/0" }), $defs: { b: { allOf: [{ $ref: "#/$defs/b" }] } } },
      { a: 1 },
    ],
    ["an address that is none", inA({ $id: "http://[", type: "string" }), { a: "x" }, { a: 1 }],
    ["an address used twice", { properties: { a: { $id: "x", type: "string" }, b: { $id: "x" } } }, { a: "x", b: 1 }, { a: 1 }],
    ["a negation of nothing usable", inA({ not: { type: 5 } }), { a: 1 }],
    ["a negation of a lost reference", inA({ not: { anyOf: [{ $ref: "#/$defs/none" }] } }), { a: 1 }],
    [
      "a negation of a reference to nothing usable",
      { ...inA({ not: { $ref: "#/$defs/b" } }), $defs: { b: { pattern: "(" } } },
      { a: "x" },
    ],
    ["a condition that is none", conditional, { a: 1 }],
    ["forms that were told apart by it", inA({ oneOf: [{ type: "date" }, { type: "string" }] }), { a: "x" }],
    ["a count of items that were told apart by it", list({ contains: { type: "date" }, maxContains: 1 }), { a: [1, 2] }],
  ];
  for (const [keyword, schema, fits, misfit] of unusable) {
    it(`does not check against ${keyword}, which no model is told of`, async () => {
      assert.deepEqual(await checkInput({ type: "object", ...schema }, fits), { ok: true });
      if (misfit) assert.equal((await checkInput({ type: "object", ...schema }, misfit)).ok, false);
    });
  }

  it("goes into a value with a reference to the whole, as each draft writes it", async () => {
    for (const reference of [{ $ref: "#" }, { $recursiveRef: "#" }]) {
      const schema: JsonObject = {
        $schema: "https://json-schema.org/draft/2019-09/schema",
        properties: { child: reference, name: { type: "string" } },
      };
      assert.deepEqual(await checkInput(schema, { child: { child: { name: "x" } } }), { ok: true });
      assert.equal(
        await complaint(schema, { child: { child: { name: 1 } } }),
        '"child.child.name" must be a string, not the number 1.',
      );
    }
  });

  it("follows a reference with a percent sign in it, and into keywords it does not know", async () => {
    const schema = {
      ...{ properties: { a: { $ref: "#/$defs/100%" }, b: { $ref: "#/components/schemas/b" } } },
      ...{ $defs: { "100%": { type: "string" } }, components: { schemas: { b: { type: "string" } } } },
    };
    assert.equal(await complaint(schema, { a: 1 }), '"a" must be a string, not the number 1.');
    assert.equal(await complaint(schema, { b: 1 }), '"b" must be a string, not the number 1.');
  });

  it("takes a schema nested without end, and names only the first of a hundred thousand values", async () => {
    const nested: unknown = JSON.parse(`${'{"not":'.repeat(100_000)}{}${"}".repeat(100_000)}`);
    assert.deepEqual(await checkInput(nested as JsonObject, { a: 1 }), { ok: true });
    const message = await complaint(inA({ enum: Array.from({ length: 100_000 }, (_, index) => `value${index}`) }), { a: 1 });
    assert.match(message, /^"a" must be one of "value0", .* or 99950 more, not the number 1\.$/);
    assert.ok(message.length < 2_000);
  });
});
