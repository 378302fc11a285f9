import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as ai5 from "ai-5";
import * as ai6 from "ai-6";
import * as z from "zod";
import { createAgent, createScriptedProvider, type ScriptedReply } from "@outrider/runtime";

const input = z.object({ city: z.string(), days: z.number().default(3) });
const json = { type: "object", properties: { city: { type: "string" } }, required: ["city"] } as const;

/** Each is taken by the compiler as the package makes it. */
const tools = {
  "ai 5, zod": ai5.tool({ description: "Weather", inputSchema: input, execute: ({ city, days }) => `${city}: ${days} days` }),
  "ai 6, zod": ai6.tool({
    description: "Weather",
    inputSchema: input,
    execute: async ({ city, days }) => `${city}: ${days} days`,
  }),
  "ai 5, jsonSchema": ai5.tool({ inputSchema: ai5.jsonSchema<{ city: string }>(json), execute: ({ city }) => `${city}: 3 days` }),
  "ai 6, jsonSchema": ai6.tool({ inputSchema: ai6.jsonSchema<{ city: string }>(json), execute: ({ city }) => `${city}: 3 days` }),
  "ai 6, a lazy schema": ai6.tool({
    inputSchema: () => ai6.zodSchema(input),
    execute: ({ city, days }) => `${city}: ${days} days`,
  }),
  "ai 6, a generator": ai6.tool({
    inputSchema: input,
    async *execute({ city, days }) {
      yield "looking";
      yield `${city}: ${days} days`;
    },
  }),
};

describe("a tool of the AI SDK", () => {
  for (const [name, forecast] of Object.entries(tools))
    it(`is run as it stands: ${name}`, async () => {
      const call: ScriptedReply = { calls: [{ name: "forecast", input: { city: "Oslo" } }] };
      const model = createScriptedProvider([call, { text: "done" }]);
      const agent = await createAgent({ model, tools: { forecast } });
      const shown: string[] = [];
      const progress = (async () => {
        for await (const { text } of agent.events({ types: ["tool.progress"] })) shown.push(text);
      })();
      assert.equal((await agent.submit("go")).text, "done");
      await agent.shutdown();
      await progress;
      assert.match(JSON.stringify(model.requests[1]?.messages), /Oslo: 3 days/);
      assert.deepEqual(shown, name.endsWith("generator") ? ["looking"] : []);
      const [offered] = model.requests[0]?.tools ?? [];
      assert.deepEqual(Object(offered?.inputSchema.properties).city, { type: "string" });
    });

  it("is refused in words where it wants what nobody would do", async () => {
    const model = createScriptedProvider([]);
    const spoken = ai6.tool({ inputSchema: input, execute: () => 1, toModelOutput: () => ({ type: "text", value: "one" }) });
    await assert.rejects(createAgent({ model, tools: { spoken } }), {
      code: "usage",
      message: /^The tool spoken has toModelOutput/,
    });
    const absent = ai6.tool({ inputSchema: input });
    await assert.rejects(createAgent({ model, tools: { absent } }), {
      code: "usage",
      message: /^The tool absent has no execute/,
    });
  });
});
