import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as z from "zod";
import * as z3 from "zod/v3";
import { createScriptedProvider } from "../model/scripted.ts";
import type { JsonObject } from "../protocol/content.ts";
import { InteractiveSession } from "../session/interactive-session.ts";
import { defineTool } from "./define-tool.ts";
import type { LibrarySchema } from "./standard-schema.ts";
import type { Tool } from "./tool.ts";

/** What a session gives back for one call of a tool, and whether somebody would have to be asked. */
async function callTool(tool: Tool, input: JsonObject, allowedTools: readonly string[] = [tool.name]): Promise<string> {
  const provider = createScriptedProvider([{ calls: [{ name: tool.name, input }] }, { text: "done" }]);
  const session = new InteractiveSession({ cwd: process.cwd(), provider, tools: [tool], allowedTools });
  await session.submit("go");
  await session.shutdown();
  const results = session.getMessages().flatMap((message) => (message.role === "tool" ? message.content : []));
  return results.flatMap(({ content }) => content.map((part) => (part.type === "text" ? part.text : part.type))).join("");
}

/** zod before 3.24: without the standard. */
function withoutStandard<Output>(schema: z3.ZodType<Output, z3.ZodTypeDef, unknown>): LibrarySchema<Output> {
  return new Proxy(schema, {
    has: (target, key) => key !== "~standard" && key in target,
    get: (target, key) => (key === "~standard" ? undefined : Reflect.get(target, key)),
  });
}

const version3 = z3.object({ city: z3.string().min(2), days: z3.coerce.number().default(3) });
const schemas = {
  "zod 4": z.object({ city: z.string().min(2), days: z.coerce.number<number | undefined>().default(3) }),
  "zod 3": version3,
  "zod before it kept to the standard": withoutStandard(version3),
};

describe("a tool of a program", () => {
  for (const [library, schema] of Object.entries(schemas)) {
    const forecast = defineTool<{ city: string; days: number }>({
      name: "forecast",
      description: "Says how the weather will be",
      inputSchema: schema,
      jsonSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
      execute: ({ city, days }) => `${city.toUpperCase()} ${days + 1}`,
    });

    it(`gets what its schema makes of the input: ${library}`, async () => {
      assert.equal(await callTool(forecast, { city: "Oslo" }), "OSLO 4");
      assert.equal(await callTool(forecast, { city: "Oslo", days: "7" }), "OSLO 8");
    });

    it(`is not run with what its schema refuses, and the model reads why: ${library}`, async () => {
      assert.match(await callTool(forecast, { city: "O" }), /^Invalid input for forecast: city: .*2/);
    });
  }

  it("infers the type of its input", () => {
    const inputSchema = z.object({ city: z.string(), when: z.string().transform((text) => new Date(text)) });
    const tool = defineTool({
      name: "forecast",
      description: "",
      inputSchema,
      access: ({ city }) => ({ kind: "reach", resources: [city.toLowerCase()] }),
      execute: ({ when }) => when.toISOString(),
    });
    assert.deepEqual(tool.inputSchema["required"], ["city", "when"]);
    defineTool({
      name: "forecast",
      description: "",
      inputSchema: z3.object({ city: z3.string().optional() }),
      // @ts-expect-error: it may be absent
      execute: ({ city }) => city.toLowerCase(),
    });
    defineTool<{ city: string }>({
      name: "forecast",
      description: "",
      inputSchema: { type: "object", properties: { city: { type: "string" } } },
      execute: ({ city }) => city.toLowerCase(),
    });
  });

  it("is asked about unless it says what it touches", async () => {
    const look = { name: "look", description: "", inputSchema: z.object({}), execute: () => "seen" };
    assert.match(await callTool(defineTool(look), {}, []), /^Not permitted/);
    assert.equal(await callTool(defineTool({ ...look, access: () => ({ kind: "note", resources: [] }) }), {}, []), "seen");
  });

  it("parses an input once, though it is looked at again and again", async () => {
    let parsed = 0;
    const count = z.object({ n: z.number() }).refine(() => ++parsed > 0);
    await callTool(defineTool({ name: "count", description: "", inputSchema: count, execute: () => "" }), { n: 1 });
    assert.equal(parsed, 1);
  });

  it("may have a schema that throws: the call is refused", async () => {
    const broken = z.object({}).refine(() => {
      throw new Error("the database is away");
    });
    const tool = defineTool({ name: "broken", description: "", inputSchema: broken, execute: () => "" });
    assert.match(await callTool(tool, {}), /could not be checked: the database is away/);
  });

  it("is refused with a reason when it is declared wrongly", () => {
    const fine = { name: "fine", description: "", inputSchema: {}, execute: () => "" };
    const declare = (change: object) => () => defineTool({ ...fine, ...change } as typeof fine);
    assert.throws(declare({ name: "two words" }), {
      code: "usage",
      message: /^name must be 1 to 64 letters.*, not "two words"$/,
    });
    assert.throws(declare({ description: undefined }), { code: "usage", message: /^description must be a text, not undefined$/ });
    assert.throws(declare({ execute: undefined }), { code: "usage", message: /^execute must be a function, not undefined$/ });
    assert.throws(declare({ inputSchema: { type: "objekt" } }), { code: "usage", message: /did you mean "object"/ });
    assert.throws(declare({ inputSchema: z.object({ when: z.date() }) }), {
      code: "usage",
      message: /^The zod schema cannot be/,
    });
  });

  it("tells its author when it answers with neither a text nor content", async () => {
    const execute = () => ({ answer: 42 }) as unknown as string;
    const tool = defineTool({ name: "odd", description: "", inputSchema: {}, execute });
    assert.match(await callTool(tool, {}), /execute of the tool odd answered neither a text nor/);
  });
});
