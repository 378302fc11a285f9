import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as z from "zod";
import { createScriptedProvider } from "../model/scripted.ts";
import { createAgent } from "./create-agent.ts";

const add = {
  description: "Adds two numbers",
  inputSchema: z.object({ a: z.number(), b: z.number().default(1) }),
  execute: ({ a, b }: { a: number; b: number }) => ({ sum: a + b }),
};

describe("createAgent", () => {
  it("makes a session of a model, instructions and tools of the AI SDK, and of nothing else", async () => {
    const model = createScriptedProvider([{ calls: [{ name: "add", input: { a: 41 } }] }, { text: "42" }]);
    const agent = await createAgent({ model, instructions: "You count.", tools: { add } });
    const outcome = await agent.submit("41 + 1?");
    await agent.shutdown();
    assert.equal(outcome.text, "42");
    const [first, second] = model.requests;
    assert.match(first?.system ?? "", /^You count\./);
    assert.deepEqual(
      first?.tools.map(({ name, description }) => [name, description]),
      [["add", "Adds two numbers"]],
    );
    assert.match(JSON.stringify(second?.messages), /\{\\"sum\\":42\}/);
  });

  it("takes JSON Schema as the AI SDK wraps it, and refuses a tool that nobody could run", async () => {
    const model = createScriptedProvider([{ calls: [{ name: "echo", input: { text: "hi" } }] }, { text: "done" }]);
    const schema = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
    const echo = { inputSchema: { jsonSchema: schema }, execute: ({ text }: { text: string }) => text.toUpperCase() };
    const agent = await createAgent({ model, tools: { echo } });
    await agent.submit("go");
    await agent.shutdown();
    assert.match(JSON.stringify(model.requests[1]?.messages), /"HI"/);
    await assert.rejects(createAgent({ model, tools: { none: { inputSchema: z.object({}) } } }), { code: "usage" });
    await assert.rejects(createAgent({ model, tools: { odd: { ...echo, inputSchema: 3 } } }), { code: "usage" });
  });

  it("says what a model is when it gets none", async () => {
    for (const options of ["{}", '{"model":"gpt-5"}', '{"model":null}'])
      await assert.rejects(createAgent(JSON.parse(options)), { code: "usage", message: /model must be/ }, options);
    const provider = createScriptedProvider([]);
    await assert.rejects(createAgent({ ...JSON.parse('{"instructions":3}'), model: provider }), {
      message: /instructions must be/,
    });
  });
});
