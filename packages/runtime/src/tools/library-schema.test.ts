import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as z from "zod";
import * as z3 from "zod/v3";
import { toJsonSchema } from "./library-schema.ts";

describe("a library's schema", () => {
  const wanted = { type: "object", properties: { a: { type: "string" } } };
  const validate = (value: unknown) => ({ value });

  it("is asked for its JSON Schema in the standard's way", () => {
    const asked: unknown[] = [];
    const input = (options: unknown) => {
      asked.push(options);
      return wanted;
    };
    const schema = { "~standard": { vendor: "any", version: 1, validate, jsonSchema: { input } } };
    assert.deepEqual(toJsonSchema(schema), wanted);
    assert.deepEqual(asked, [{ target: "draft-2020-12" }]);
  });

  it("of the older zod says what other fields there may be", () => {
    const others = (schema: unknown): unknown =>
      (toJsonSchema(schema as never) as { additionalProperties?: unknown }).additionalProperties;
    assert.deepEqual(
      [z3.object({}), z3.object({}).strict(), z3.object({}).catchall(z3.number()), z3.object({}).catchall(z3.never())].map(
        others,
      ),
      [undefined, false, { type: "number" }, undefined],
    );
  });

  it("is asked by its own method", () => {
    class Schema {
      readonly #kept = wanted;
      toJSONSchema(): unknown {
        return Object.defineProperty({ ...this.#kept }, "~hidden", { value: 1 });
      }
    }
    assert.deepEqual(toJsonSchema(new Schema()), wanted);
  });

  it("of zod is converted, also of its first version 4, which can only do that with a function of the package", () => {
    const schema = z.object({ a: z.string().describe("a letter"), n: z.number().int().optional() });
    const { type, properties, required } = toJsonSchema(schema);
    assert.deepEqual({ type, required }, { type: "object", required: ["a"] });
    assert.deepEqual(properties && (properties as Record<string, unknown>)["a"], { type: "string", description: "a letter" });
    const first = { _zod: schema._zod, "~standard": { vendor: "zod", version: 1, validate } };
    assert.deepEqual(toJsonSchema(first).required, ["a"]);
  });

  it("that cannot be converted is refused with what to do", () => {
    const old = { "~standard": { vendor: "valibot", version: 1, validate } };
    assert.throws(() => toJsonSchema(old), {
      code: "usage",
      message: /^The valibot schema cannot be turned/,
      hint: /jsonSchema/,
    });
    const failing = {
      toJSONSchema: () => {
        throw new Error("Date cannot be represented in JSON Schema");
      },
    };
    assert.throws(() => toJsonSchema(failing), { code: "usage", message: /Date cannot be represented/ });
  });

  it("is left alone when it is JSON Schema", () => {
    assert.equal(toJsonSchema(wanted), wanted);
  });

  it("of zod 3 is described by what it takes in", () => {
    const entry: z3.ZodType<unknown> = z3.lazy(() => z3.object({ children: z3.array(entry) }));
    const schema = z3
      .object({
        city: z3.string().min(2).max(80).describe("Where"),
        days: z3.number().int().min(1).lt(8).default(3),
        unit: z3.enum(["c", "f"]).optional(),
        tags: z3.array(z3.string().email()).nonempty(),
        pair: z3.tuple([z3.literal("a"), z3.boolean()]),
        either: z3.union([z3.string().regex(/^x/), z3.null()]),
        shape: z3.discriminatedUnion("kind", [z3.object({ kind: z3.literal("dot") }), z3.object({ kind: z3.literal("line") })]),
        more: z3.record(z3.number().positive()),
        when: z3
          .string()
          .datetime()
          .transform((text) => new Date(text)),
        level: z3.nativeEnum({ Low: 0, High: 1, 0: "Low", 1: "High" } as const).nullable(),
        both: z3.object({ a: z3.string() }).and(z3.object({ b: z3.any() })),
        entry,
      })
      .strict();
    assert.deepEqual(toJsonSchema(schema), {
      type: "object",
      properties: {
        city: { type: "string", minLength: 2, maxLength: 80, description: "Where" },
        days: { type: "integer", minimum: 1, exclusiveMaximum: 8, default: 3 },
        unit: { type: "string", enum: ["c", "f"] },
        tags: { type: "array", items: { type: "string", format: "email" }, minItems: 1 },
        pair: { type: "array", prefixItems: [{ const: "a" }, { type: "boolean" }], minItems: 2, maxItems: 2 },
        either: { anyOf: [{ type: "string", pattern: "^x" }, { type: "null" }] },
        shape: {
          anyOf: ["dot", "line"].map((kind) => ({
            type: "object",
            properties: { kind: { const: kind } },
            required: ["kind"],
          })),
        },
        more: { type: "object", additionalProperties: { type: "number", exclusiveMinimum: 0 } },
        when: { type: "string", format: "date-time" },
        level: { anyOf: [{ enum: [0, 1] }, { type: "null" }] },
        both: {
          allOf: [
            { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
            { type: "object", properties: { b: {} }, required: [] },
          ],
        },
        entry: { type: "object", properties: { children: { type: "array", items: {} } }, required: ["children"] },
      },
      required: ["city", "tags", "pair", "either", "shape", "more", "when", "level", "both", "entry"],
      additionalProperties: false,
    });
  });
});
