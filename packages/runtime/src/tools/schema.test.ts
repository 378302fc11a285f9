import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RuntimeError } from "../protocol/errors.ts";
import { parseSchema } from "./schema.ts";

describe("a JSON Schema", () => {
  const good: [string, unknown][] = [
    ["empty", {}],
    ["several types", { type: ["string", "null"] }],
    ["true and false as schemas", { properties: { a: true, b: false }, additionalProperties: false }],
    ["a reference to itself", { properties: { next: { $ref: "#" } } }],
    ["a reference to $defs", { $ref: "#/$defs/a", $defs: { a: { type: "string" } } }],
    ["a reference with escapes", { $ref: "#/$defs/a~1b%20c", $defs: { "a/b c": {} } }],
    ["a reference into a list", { $ref: "#/anyOf/1", anyOf: [{}, { type: "null" }] }],
    ["an anchor", { $ref: "#here", $defs: { a: { $anchor: "here" } } }],
    ["draft 7's anchor", { $ref: "#here", definitions: { a: { $id: "#here" } } }],
    ["a part with an address", { $ref: "https://x.test/a.json", $defs: { a: { $id: "https://x.test/a.json", type: "string" } } }],
    ["references meant from a part's own root", { $defs: { a: { $id: "a.json", $ref: "#/$defs/b", $defs: { b: {} } } } }],
    ["draft 4's limits", { exclusiveMinimum: true, minimum: 3 }],
    ["draft 7's tuples", { items: [{ type: "string" }, { type: "integer" }] }],
    ["properties named like keywords", { properties: { type: { type: "string" }, $ref: { type: "string" }, required: {} } }],
    ["a format nobody knows", { type: "string", format: "shoe-size" }],
  ];
  for (const [what, schema] of good) {
    it(`is taken: ${what}`, () => assert.equal(parseSchema(schema), schema));
  }

  const bad: [unknown, string][] = [
    [null, "its root: a JSON Schema is an object"],
    [[], "its root: a JSON Schema is an object"],
    ["string", "its root: a JSON Schema is an object"],
    [{ type: "strng" }, '/type: there is no type "strng"; did you mean "string"?'],
    [{ type: ["string", 3] }, "/type: there is no type 3"],
    [{ properties: { a: { type: "int" } } }, '/properties/a/type: there is no type "int"'],
    [{ properties: [] }, "/properties: expected an object of schemas"],
    [{ properties: { a: "string" } }, "/properties/a: expected a schema: an object, true or false"],
    [{ items: { anyOf: [] } }, "/items/anyOf: expected a list of schemas"],
    [{ oneOf: {} }, "/oneOf: expected a list of schemas"],
    [{ required: "a" }, "/required: expected a list of property names"],
    [{ required: [1] }, "/required: expected a list of property names"],
    [{ enum: "a" }, "/enum: expected a list of values"],
    [{ minLength: -1 }, "/minLength: expected a whole number from 0 up"],
    [{ maxItems: 1.5 }, "/maxItems: expected a whole number from 0 up"],
    [{ minimum: "1" }, "/minimum: expected a number"],
    [{ $ref: "#/$defs/a" }, "/$ref: #/$defs/a leads nowhere"],
    [{ $ref: "#/$defs/100%", $defs: {} }, "/$ref: #/$defs/100% leads nowhere"],
    [{ $ref: "#/constructor" }, "/$ref: #/constructor leads nowhere"],
    [{ $ref: "#nowhere" }, "/$ref: #nowhere leads nowhere"],
    [{ $ref: 3 }, "/$ref: expected a text"],
    [
      { $ref: "https://x.test/a.json" },
      "/$ref: https://x.test/a.json is not in this schema, and nothing is fetched; put it into $defs",
    ],
    [{ pattern: "(" }, "/pattern: "],
    [{ patternProperties: { "[": {} } }, "/patternProperties/[: "],
  ];
  for (const [schema, words] of bad) {
    it(`is refused: ${JSON.stringify(schema)}`, () => {
      assert.throws(
        () => parseSchema(schema),
        (error) =>
          error instanceof RuntimeError &&
          error.code === "usage" &&
          error.message.startsWith(`The JSON Schema is not valid at ${words}`),
      );
    });
  }
});
