import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createScriptedProvider } from "../../model/scripted.ts";
import { defineTool } from "../../tools/tool.ts";
import { asAgent } from "./as-agent.ts";

const provider = createScriptedProvider([]);
const agent = { name: "poet", description: "writes", prompt: "You write", source: "test" };
const tool = (name: string) =>
  defineTool({
    name,
    description: name,
    inputSchema: {},
    concurrent: false,
    access: async () => ({ kind: "note", resources: [] }),
    execute: async () => ({ content: [] }),
  });

describe("asAgent", () => {
  it("takes the agent's prompt, tools, limits and model", () => {
    const tools = [tool("mcp__notes__add"), tool("mcp__mail__send"), tool("mcp__mail__read")];
    const options = { cwd: "/", provider, tools, systemPrompt: "", disallowedTools: ["WebFetch"], maxTurns: 50 };
    const wants = {
      tools: ["Read", "mcp__notes", "mcp__mail__read"],
      disallowedTools: ["Bash(git push:*)"],
      model: "haiku",
      maxTurns: 5,
    };
    const { tools: offered, offers, ...rest } = asAgent(options, { ...agent, ...wants, permissionMode: "plan" });
    assert.deepEqual(rest, {
      cwd: "/",
      provider,
      systemPrompt: undefined,
      agentPrompt: "You write",
      builtinTools: ["Read", "mcp__notes", "mcp__mail__read"],
      disallowedTools: ["WebFetch", "Bash(git push:*)"],
      model: "haiku",
      permissionMode: "plan",
      maxTurns: 5,
    });
    assert.deepEqual(
      offered?.map(({ name }) => name),
      ["mcp__notes__add", "mcp__mail__read"],
    );
    assert.deepEqual(
      ["mcp__notes__later", "mcp__mail__send", "mcp__mail__read"].map((name) => offers?.(name)),
      [true, false, true],
      "what servers bring later is no more than that either",
    );
  });

  it("starts only the agents that its tools name", () => {
    const [one, two] = ["one", "two"].map((name) => ({ ...agent, name }));
    const options = { cwd: "/", provider, agents: [one, two].filter((found) => found !== undefined), builtinAgents: true };
    const named = (tools: string[]): unknown => {
      const { agents = [], builtinAgents } = asAgent(options, { ...agent, tools });
      return [agents.map(({ name }) => name), builtinAgents];
    };
    assert.deepEqual(named(["Read", "Agent(two, Explore)"]), [["two", "Explore"], false]);
    assert.deepEqual(named(["Task(one)", "Agent(two)"]), [["one", "two"], false]);
    assert.deepEqual(named(["Agent", "Agent(two)"]), [["one", "two"], true]);
    assert.deepEqual(named(["Read"]), [["one", "two"], true], "it has no tool that starts any");
  });

  it("narrows and never widens: fewer tools, the stricter mode, fewer turns, the model that was named", () => {
    const options = { cwd: "/", provider, model: "mine", builtinTools: ["Read"], permissionMode: "plan", maxTurns: 3 } as const;
    const wants = { tools: ["Read", "Bash"], model: "haiku", maxTurns: 10, permissionMode: "bypassPermissions" } as const;
    const { model, builtinTools, permissionMode, maxTurns } = asAgent(options, { ...agent, ...wants });
    assert.deepEqual(
      { model, builtinTools, permissionMode, maxTurns },
      { model: "mine", builtinTools: ["Read"], permissionMode: "plan", maxTurns: 3 },
    );
  });
});
