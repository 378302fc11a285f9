import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createScriptedProvider } from "../model/scripted.ts";
import { InteractiveSession } from "./interactive-session.ts";
import type { SessionOptions } from "./session-options.ts";

const cwd = mkdtempSync(join(tmpdir(), "outrider-offered-"));
after(() => rmSync(cwd, { recursive: true, force: true }));

/** The request the model gets, with the names of its tools. */
async function request(options: Partial<SessionOptions>) {
  const provider = createScriptedProvider([{ text: "ok" }]);
  const session = new InteractiveSession({ cwd, provider, ...options });
  const outcome = await session.submit("go");
  await session.shutdown();
  const sent = provider.requests[0];
  return { outcome, sent, tools: sent?.tools.map(({ name }) => name) ?? [] };
}

describe("what a model is offered", () => {
  it("is no tool that is forbidden as a whole, but one of which a part is", async () => {
    const { tools } = await request({ disallowedTools: ["Bash", "Read(./secret.txt)", "WebFetch"] });
    assert.ok(tools.includes("Read") && tools.includes("Edit"));
    assert.ok(!tools.includes("Bash") && !tools.includes("WebFetch"));
  });

  it("has each tool once, to a subagent too, whatever else it is called", async () => {
    const calls = [{ name: "Task", input: { description: "d", prompt: "p", subagent_type: "general-purpose" } }];
    const provider = createScriptedProvider([{ calls }, { text: "sub" }, { text: "ok" }]);
    const session = new InteractiveSession({ cwd, provider, builtinAgents: true });
    await session.submit("go");
    await session.shutdown();
    const names = provider.requests.map(({ tools }) => tools.map(({ name }) => name));
    assert.deepEqual(
      names,
      names.map((list) => [...new Set(list)]),
    );
    assert.deepEqual(
      names.map((list) => list.includes("TaskOutput")),
      [true, true, true],
    );
  });

  it("is only what was chosen, and no way to start subagents where that was not", async () => {
    assert.deepEqual((await request({ builtinTools: ["Read", "Grep"], builtinAgents: true })).tools, ["Read", "Grep"]);
    assert.deepEqual((await request({ builtinTools: ["Read", "Agent"], builtinAgents: true })).tools, ["Read", "Task"]);
    assert.deepEqual((await request({ builtinTools: [] })).tools, []);
    assert.ok(!(await request({ builtinAgents: true, disallowedTools: ["Agent"] })).tools.includes("Task"));
  });

  for (const [model, knowsPatches] of [
    ["gpt-6.1-sol", true],
    ["gpt-5.5", true],
    ["openai/gpt-5", true],
    ["gpt-9-unheard-of", true],
    ["gpt-4.1", false],
    ["o3", false],
    ["gpt-oss-120b", false],
    ["claude-sonnet-5-5", false],
    ["gemini-3.8-flash", false],
  ] as const)
    it(`is ${knowsPatches ? "apply_patch" : "Edit and Write"} for ${model}`, async () => {
      const { tools } = await request({ model });
      assert.deepEqual(
        ["Edit", "Write", "apply_patch", "NotebookEdit"].map((name) => tools.includes(name)),
        [!knowsPatches, !knowsPatches, knowsPatches, true],
      );
    });

  it("is what the user says of the model, before its record", async () => {
    const said = (model: string, editTool: "replace" | "patch") => ({
      model,
      catalogOverride: { models: [{ provider: "scripted", model, price: null, capabilities: { editTool } }] } as never, // parsed elsewhere
    });
    assert.ok((await request(said("gpt-5.5", "replace"))).tools.includes("Edit"));
    assert.ok((await request(said("my-model", "patch"))).tools.includes("apply_patch"));
  });

  it("is nothing where a rule that should forbid something names no tool", async () => {
    const { outcome, sent } = await request({ disallowedTools: ["Bsh"] });
    assert.equal(outcome.type === "failed" && outcome.error.code, "usage");
    assert.equal(sent, undefined);
  });

  it("comes with the settings of the session, and with none that were not given", async () => {
    const settings = { maxOutputTokens: 7, temperature: 0, thinkingTokens: 9, effort: "low" } as const;
    const all = (await request({ ...settings, providerOptions: { seed: 1 } })).sent;
    assert.deepEqual(
      [all?.maxOutputTokens, all?.temperature, all?.thinkingTokens, all?.effort, all?.options],
      [7, 0, 9, "low", { seed: 1 }],
    );
    const none = Object.keys((await request({})).sent ?? {});
    assert.ok(["maxOutputTokens", "temperature", "thinkingTokens", "effort", "options"].every((key) => !none.includes(key)));
  });

  it("begins with the prompt of the session, the instructions and what is to be added", async () => {
    const instructions = { text: "Instructions.", files: [], warnings: [] };
    const { sent } = await request({ systemPrompt: "Mine.", instructions, appendSystemPrompt: "More." });
    assert.equal(sent?.system, "Mine.\n\nInstructions.\n\nMore.");
    assert.match((await request({ language: "Latin" })).sent?.system ?? "", /Response language: Latin$/);
  });
});
