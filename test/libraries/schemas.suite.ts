import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import * as z from "zod";
import * as z3 from "zod-3";
import * as z41 from "zod-4.1";
import {
  createQuery,
  createScriptedProvider,
  defineTool,
  InteractiveSession,
  type JsonObject,
  type Tool,
} from "@outrider/runtime";

const common = { name: "forecast", description: "Says how the weather will be" };
const valibot = v.object({ city: v.pipe(v.string(), v.minLength(2)), days: v.optional(v.number(), 3) });

/** Each `execute` is checked by the compiler: what it is given has the schema's own types. */
const tools: Record<string, Tool> = {
  "zod 4.6": defineTool({
    ...common,
    inputSchema: z.object({ city: z.string().min(2), days: z.number().default(3) }),
    execute: ({ city, days }) => say(city, days),
  }),
  "zod 4.1": defineTool({
    ...common,
    inputSchema: z41.object({ city: z41.string().min(2), days: z41.number().default(3) }),
    execute: ({ city, days }) => say(city, days),
  }),
  "zod 3.23": defineTool({
    ...common,
    inputSchema: z3.object({ city: z3.string().min(2), days: z3.number().default(3) }),
    execute: ({ city, days }) => say(city, days),
  }),
  arktype: defineTool({
    ...common,
    inputSchema: type({ city: "string >= 2", days: "number = 3" }),
    execute: ({ city, days }) => say(city, days),
  }),
  valibot: defineTool({
    ...common,
    inputSchema: valibot,
    jsonSchema: toJsonSchema(valibot) as JsonObject,
    execute: ({ city, days }) => say(city, days),
  }),
};

function say(city: string, days: number): string {
  return `${city.toUpperCase()} ${days + 1}`;
}

describe("a tool with a schema of", () => {
  for (const [library, tool] of Object.entries(tools)) {
    it(`${library} is described to the model`, () => {
      const { properties, required } = tool.inputSchema as { properties: JsonObject; required: string[] };
      assert.deepEqual([Object.keys(properties).sort(), required], [["city", "days"], ["city"]]);
    });

    it(`${library} gets what the schema makes of its input, and nothing the schema refuses`, async () => {
      assert.equal(await call(tool, { city: "Oslo" }), "OSLO 4");
      assert.match(await call(tool, { city: "O" }), /^Invalid input for forecast: .*2/);
    });
  }
});

describe("an answer in the form of a schema of", () => {
  const provider = () => createScriptedProvider([{ text: '{"city":"Oslo"}' }], { nativeSchema: true });

  it("zod 4.6, zod 4.1, zod 3.23 and arktype has the schema's types", async () => {
    const options = { bare: true } as const;
    const answers: { city: string; days: number }[] = [];
    const ask4 = createQuery({
      ...options,
      provider: provider(),
      outputSchema: z.object({ city: z.string(), days: z.number().default(3) }),
    });
    const ask41 = createQuery({
      ...options,
      provider: provider(),
      outputSchema: z41.object({ city: z41.string(), days: z41.number().default(3) }),
    });
    const ask3 = createQuery({
      ...options,
      provider: provider(),
      outputSchema: z3.object({ city: z3.string(), days: z3.number().default(3) }),
    });
    const askArk = createQuery({ ...options, provider: provider(), outputSchema: type({ city: "string", days: "number = 3" }) });
    for (const { outcome } of [await ask4.result("?"), await ask41.result("?"), await ask3.result("?"), await askArk.result("?")])
      if (outcome.type === "completed" && outcome.structured) answers.push(outcome.structured);
    assert.deepEqual(answers, Array(4).fill({ city: "Oslo", days: 3 }));
  });
});

async function call(tool: Tool, input: JsonObject): Promise<string> {
  const provider = createScriptedProvider([{ calls: [{ name: tool.name, input }] }, { text: "done" }]);
  const session = new InteractiveSession({ cwd: process.cwd(), bare: true, provider, tools: [tool], allowedTools: [tool.name] });
  await session.submit("go");
  await session.shutdown();
  const results = session.getMessages().flatMap((message) => (message.role === "tool" ? message.content : []));
  return results.flatMap(({ content }) => content.map((part) => (part.type === "text" ? part.text : part.type))).join("");
}
