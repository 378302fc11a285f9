import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { type CanUseTool, createSdkMcpServer, tool } from "@anthropic-ai/claude-agent-sdk";
import { initOf, only, sent, stage, textOf, toolResults } from "./harness.ts";

const questions = [
  {
    question: "Which database?",
    header: "Database",
    options: [
      { label: "SQLite", description: "one file" },
      { label: "Postgres", description: "a server" },
    ],
    multiSelect: false,
  },
];
const question = { calls: [{ name: "AskUserQuestion", input: { questions }, callId: "toolu_ask" }] };

describe("AskUserQuestion", () => {
  it("toolConfig says what previews are written in, and answers are in tool_use_result", async () => {
    const { ask, server } = await stage([question, { text: "ok" }]);
    const answers = { [questions[0]?.question ?? ""]: "Red" };
    const annotations = { [questions[0]?.question ?? ""]: { notes: "a dark one" } };
    const updatedInput = { answers, annotations };
    const canUseTool: CanUseTool = async (_, input) => ({ behavior: "allow", updatedInput: { ...input, ...updatedInput } });
    const { messages } = await ask("Go", { canUseTool, toolConfig: { askUserQuestion: { previewFormat: "html" } } });
    assert.match(JSON.stringify(sent(server, 0).body), /such as code, as html/);
    const told = messages.flatMap((message) => (message.type === "user" ? [message.tool_use_result] : []));
    const { answers: given, annotations: added } = told.at(-1) as { answers: unknown; annotations: unknown };
    assert.deepEqual([given, added], [answers, annotations]);
    assert.match(JSON.stringify(sent(server, 1).messages), /a dark one/);
  });

  it("comes to canUseTool, and the answers in updatedInput are read by the model", async () => {
    const { ask, server } = await stage([question, { text: "Postgres it is" }]);
    const asked: unknown[] = [];
    const canUseTool: CanUseTool = async (name, input) => {
      asked.push([name, input]);
      return { behavior: "allow", updatedInput: { questions: input["questions"], answers: { "Which database?": "Postgres" } } };
    };
    const answered = await ask("Set up a database", { canUseTool });
    assert.deepEqual(asked, [["AskUserQuestion", { questions }]]);
    assert.equal(textOf(only(answered)), "Postgres it is");
    assert.ok(initOf(answered.messages).tools.includes("AskUserQuestion"));
    assert.match(JSON.stringify(sent(server, 1).messages), /Which database\?.*Postgres/);
    assert.equal(toolResults(answered.messages)[0]?.isError, false);
  });

  it("is asked in every mode but dontAsk, and a no is read by the model", async () => {
    const { ask, server } = await stage([question, { text: "Then SQLite" }, question, { text: "Alone" }]);
    let asked = 0;
    const canUseTool: CanUseTool = async () => {
      asked++;
      return { behavior: "deny", message: "Choose yourself" };
    };
    const bypass = { permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true } as const;
    assert.equal(textOf(only(await ask("Go", { canUseTool, ...bypass }))), "Then SQLite");
    assert.equal(asked, 1);
    assert.match(JSON.stringify(sent(server, 1).messages), /Choose yourself/);
    await ask("Go", { canUseTool, permissionMode: "dontAsk" });
    assert.equal(asked, 1);
  });

  it("is there only where somebody answers, and not where tools are chosen or taken away", async () => {
    const { ask, server } = await stage([{ text: "1" }, { text: "2" }, { text: "3" }, { text: "4" }]);
    const canUseTool: CanUseTool = async () => ({ behavior: "deny", message: "no" });
    await ask("Go");
    await ask("Go", { canUseTool, tools: ["Read"] });
    await ask("Go", { canUseTool, disallowedTools: ["AskUserQuestion"] });
    await ask("Go", { canUseTool, tools: ["Read", "AskUserQuestion"] });
    const offered = [0, 1, 2, 3].map((index) => sent(server, index).tools.includes("AskUserQuestion"));
    assert.deepEqual(offered, [false, false, false, true]);
  });
});

describe("plan mode", () => {
  const plan = { calls: [{ name: "ExitPlanMode", input: { plan: "1. touch it" }, callId: "toolu_plan" }] };
  const touch = { calls: [{ name: "Bash", input: { command: "touch made.txt" }, callId: "toolu_touch" }] };

  it("ExitPlanMode asks for the plan; after a yes the work begins", async () => {
    const { ask, cwd } = await stage([touch, plan, touch, { text: "Done" }]);
    const asked: string[] = [];
    const canUseTool: CanUseTool = async (name, input) => {
      asked.push(name);
      return { behavior: "allow", updatedInput: input };
    };
    const answered = await ask("Plan it", { permissionMode: "plan", canUseTool });
    assert.deepEqual(asked, ["ExitPlanMode", "Bash"]);
    assert.deepEqual(
      toolResults(answered.messages).map(({ isError }) => isError),
      [true, false, false],
    );
    assert.ok(existsSync(join(cwd, "made.txt")));
  });

  it("a no keeps the mode, and its words are read by the model", async () => {
    const { ask, server, cwd } = await stage([plan, touch, { text: "Still planning" }]);
    const canUseTool: CanUseTool = async () => ({ behavior: "deny", message: "Think about tests first" });
    only(await ask("Plan it", { permissionMode: "plan", canUseTool }));
    assert.match(JSON.stringify(sent(server, 1).messages), /Think about tests first/);
    assert.ok(!existsSync(join(cwd, "made.txt")));
  });

  it("an answer may choose the mode that the work begins in", async () => {
    const write = { calls: [{ name: "Write", input: { file_path: "made.txt", content: "x" }, callId: "toolu_write" }] };
    const { ask, cwd } = await stage([plan, write, { text: "Done" }]);
    const asked: string[] = [];
    const canUseTool: CanUseTool = async (name, input) => {
      asked.push(name);
      const updatedPermissions = [{ type: "setMode", mode: "acceptEdits", destination: "session" } as const];
      return { behavior: "allow", updatedInput: input, updatedPermissions };
    };
    only(await ask("Plan it", { permissionMode: "plan", canUseTool }));
    assert.deepEqual(asked, ["ExitPlanMode"]);
    assert.ok(existsSync(join(cwd, "made.txt")));
  });
});

describe("what canUseTool is told", () => {
  it("whose tool it is, for tools of MCP servers", async () => {
    const ping = tool("ping", "Answers", {}, async () => ({ content: [{ type: "text", text: "pong" }] }));
    const { ask } = await stage([{ calls: [{ name: "mcp__mine__ping", input: {}, callId: "toolu_1" }] }, { text: "Done" }]);
    const told: unknown[] = [];
    const canUseTool: CanUseTool = async (_, input, { mcpServer, toolUseID }) => {
      told.push([mcpServer, toolUseID]);
      return { behavior: "allow", updatedInput: input };
    };
    await ask("Go", { canUseTool, mcpServers: { mine: createSdkMcpServer({ name: "mine", version: "1.0.0", tools: [ping] }) } });
    assert.deepEqual(told, [[{ name: "mine", source: "sdk" }, "toolu_1"]]);
  });
});
