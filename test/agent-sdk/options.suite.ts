import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { initOf, only, sent, stage, textOf, toolResults, userMessage, warningsIn } from "./harness.ts";

const schema = { type: "object", properties: { answer: { type: "number" } }, required: ["answer"], additionalProperties: false };

describe("structured output", () => {
  it("is in the result, and fits the schema", async () => {
    const { ask } = await stage([{ text: '{"answer":42}' }]);
    const result = only(await ask("What?", { outputFormat: { type: "json_schema", schema } }));
    assert.equal(result.subtype, "success");
    assert.ok(result.subtype === "success");
    assert.deepEqual(result.structured_output, { answer: 42 });
  });

  it("what does not fit is asked for again", async () => {
    const { ask } = await stage((_, index) =>
      index === 0 ? { text: '{"answer":"many"}' } : { text: '{"answer":7}', calls: [] },
    );
    const result = only(await ask("What?", { outputFormat: { type: "json_schema", schema } }));
    assert.ok(result.subtype === "success", JSON.stringify(result));
    assert.deepEqual(result.structured_output, { answer: 7 });
  });

  it("a model that never keeps to it ends in an error of its own kind", async () => {
    const { ask } = await stage(() => ({ text: "I would rather not" }));
    const { results, thrown } = await ask("What?", { outputFormat: { type: "json_schema", schema } });
    assert.equal(results[0]?.subtype, "error_max_structured_output_retries");
    assert.ok(thrown);
  });
});

describe("limits", () => {
  it("maxTurns: exactly so many calls, then error_max_turns", async () => {
    const { ask, server } = await stage(() => ({ calls: [{ name: "Bash", input: { command: "echo again" } }] }));
    const { results, thrown } = await ask("Loop", { maxTurns: 2, allowedTools: ["Bash"] });
    assert.equal(results[0]?.subtype, "error_max_turns");
    assert.equal(results[0]?.is_error, true);
    assert.equal(server.requests.length, 2);
    assert.match(thrown?.message ?? "", /Reached maximum number of turns \(2\)/);
  });

  it("maxTurns counts for each message anew", async () => {
    const { ask } = await stage([
      { calls: [{ name: "Bash", input: { command: "echo a" } }] },
      { text: "one" },
      { calls: [{ name: "Bash", input: { command: "echo b" } }] },
      { text: "two" },
    ]);
    const { results } = await ask(
      (async function* () {
        yield userMessage("One");
        yield userMessage("Two");
      })(),
      { maxTurns: 3, allowedTools: ["Bash"] },
    );
    assert.deepEqual(
      results.map(({ subtype }) => subtype),
      ["success", "success"],
    );
  });

  it("maxBudgetUsd ends with error_max_budget_usd", async () => {
    const { ask, server } = await stage(() => ({
      calls: [{ name: "Bash", input: { command: "echo again" } }],
      usage: { inputTokens: 100_000, outputTokens: 10_000 },
    }));
    const { results, thrown } = await ask("Loop", { maxBudgetUsd: 0.01, allowedTools: ["Bash"], model: "claude-sonnet-4-6" });
    assert.equal(results[0]?.subtype, "error_max_budget_usd");
    assert.ok((results[0]?.total_cost_usd ?? 0) > 0.01);
    assert.equal(server.requests.length, 1);
    assert.ok(thrown);
  });
});

describe("agents", () => {
  const agents = {
    counter: { description: "Counts things", prompt: "You are a counter. SPECIAL WORDS", tools: ["Bash"], model: "haiku" },
  };

  it("run with their own prompt and tools, and their messages name the call they belong to", async () => {
    const { ask, server } = await stage([
      {
        text: "I delegate",
        calls: [
          { name: "Task", input: { description: "count", prompt: "count it", subagent_type: "counter" }, callId: "toolu_task" },
        ],
      },
      { text: "counting", calls: [{ name: "Bash", input: { command: "echo 4" }, callId: "toolu_inner" }] },
      { text: "four" },
      { text: "There are four" },
    ]);
    const answered = await ask("Count", { agents, allowedTools: ["Bash"] });
    assert.equal(textOf(only(answered)), "There are four");
    assert.ok(initOf(answered.messages).agents?.includes("counter"));
    const inner = answered.messages.filter(
      (message) => "parent_tool_use_id" in message && message.parent_tool_use_id === "toolu_task",
    );
    assert.ok(inner.some((message) => message.type === "assistant"));
    assert.ok(inner.some((message) => message.type === "user"));
    const request = sent(server, 1);
    assert.match(request.system, /SPECIAL WORDS/);
    assert.deepEqual(request.tools, ["Bash"]);
    const answer = toolResults(answered.messages).find(({ id }) => id === "toolu_task");
    assert.match(answer?.text ?? "", /four/);
    assert.ok(!request.tools.includes("Task"));
  });

  it("are reached under the name Agent as well", async () => {
    const { ask } = await stage([
      { calls: [{ name: "Agent", input: { description: "count", prompt: "count it", subagent_type: "counter" } }] },
      { text: "four" },
      { text: "done" },
    ]);
    assert.equal(textOf(only(await ask("Count", { agents }))), "done");
  });

  it("agent: the main conversation is one of them", async () => {
    const { ask, server } = await stage([{ text: "4" }]);
    await ask("Count", { agents, agent: "counter" });
    const request = sent(server, 0);
    assert.match(request.system, /SPECIAL WORDS/);
    assert.deepEqual(
      request.tools.filter((name) => name !== "Task"),
      ["Bash"],
    );
  });

  it("agent: one that is not there is a start-up error that names those that are", async () => {
    const { ask, server } = await stage([{ text: "4" }]);
    const { thrown, results } = await ask("Count", { agents, agent: "nobody" });
    assert.match(`${thrown?.message} ${JSON.stringify(results)}`, /nobody/);
    assert.equal(server.requests.length, 0);
  });
});

describe("system prompt", () => {
  it("none given: one plain sentence, and no prompt of ours", async () => {
    const { ask, server } = await stage([{ text: "ok" }]);
    await ask("Hi");
    assert.ok(sent(server, 0).system.length < 300, sent(server, 0).system);
    assert.match(sent(server, 0).system, /You are an agent/);
  });

  it("a string replaces it", async () => {
    const { ask, server } = await stage([{ text: "ok" }]);
    await ask("Hi", { systemPrompt: "You are a pirate" });
    assert.match(sent(server, 0).system, /You are a pirate/);
    assert.ok(sent(server, 0).system.length < 300);
  });

  it("the preset is the built-in one, and append adds to it", async () => {
    const { ask, server } = await stage([{ text: "a" }, { text: "b" }]);
    await ask("Hi", { systemPrompt: { type: "preset", preset: "claude_code" } });
    await ask("Hi", { systemPrompt: { type: "preset", preset: "claude_code", append: "Speak like a pirate" } });
    const [plain, appended] = [sent(server, 0).system, sent(server, 1).system];
    assert.ok(plain.length > 500);
    assert.doesNotMatch(plain, /pirate/);
    assert.match(appended, /Speak like a pirate/);
    assert.ok(appended.length > plain.length);
  });
});

describe("settings", () => {
  it("settingSources: the files that are named count, with [] none does", async () => {
    const call = { calls: [{ name: "Bash", input: { command: "echo hi" } }] };
    const { ask, home } = await stage([call, { text: "a" }, call, { text: "b" }]);
    mkdirSync(join(home, ".claude"), { recursive: true });
    writeFileSync(join(home, ".claude/settings.json"), JSON.stringify({ permissions: { deny: ["Bash"] } }));
    assert.equal(only(await ask("Hi", { settingSources: ["user"] })).permission_denials.length, 1);
    assert.equal(only(await ask("Hi", { settingSources: [] })).permission_denials.length, 0);
  });

  it("settingSources with project: its hooks hold, without them they are named in warnings", async () => {
    const call = { calls: [{ name: "Bash", input: { command: "echo hi" } }] };
    const { ask, cwd } = await stage([call, { text: "a" }, call, { text: "b" }]);
    mkdirSync(join(cwd, ".claude"), { recursive: true });
    const hooks = { PreToolUse: [{ hooks: [{ type: "command", command: "exit 2" }] }] };
    writeFileSync(join(cwd, ".claude/settings.json"), JSON.stringify({ hooks }));
    assert.equal(only(await ask("Hi", { settingSources: ["project"] })).permission_denials.length, 1);
    const { permission_denials, ...rest } = only(await ask("Hi"));
    assert.equal(permission_denials.length, 0);
    assert.match(JSON.stringify((rest as { warnings?: unknown }).warnings), /not trusted: hooks/);
  });

  it("settingSources: [] leaves out CLAUDE.md", async () => {
    const { ask, cwd, server } = await stage([{ text: "a" }, { text: "b" }]);
    writeFileSync(join(cwd, "CLAUDE.md"), "PROJECT MEMORY");
    await ask("Hi", { settingSources: ["project"] });
    await ask("Hi", { settingSources: [] });
    assert.match(JSON.stringify(sent(server, 0).body), /PROJECT MEMORY/);
    assert.doesNotMatch(JSON.stringify(sent(server, 1).body), /PROJECT MEMORY/);
  });

  it("settings as an object and as a file", async () => {
    const call = { calls: [{ name: "Bash", input: { command: "echo hi" } }] };
    const { ask, home } = await stage([call, { text: "a" }, call, { text: "b" }]);
    const settings = { permissions: { deny: ["Bash(echo:*)"] } };
    assert.equal(only(await ask("Hi", { settings })).permission_denials.length, 1);
    const file = join(home, "mine.json");
    writeFileSync(file, JSON.stringify(settings));
    assert.equal(only(await ask("Hi", { settings: file })).permission_denials.length, 1);
  });
});

describe("environment and arguments", () => {
  it("cwd is where tools work, env is what they see, keys of the model are not", async () => {
    const { ask, cwd } = await stage([
      { calls: [{ name: "Bash", input: { command: 'pwd; echo "word=$MY_WORD key=$ANTHROPIC_API_KEY"' } }] },
      { text: "ok" },
    ]);
    const { messages } = await ask("Go", { allowedTools: ["Bash"], env: { MY_WORD: "hello" } });
    const text = toolResults(messages)[0]?.text ?? "";
    assert.ok(text.includes(cwd));
    assert.match(text, /word=hello key=$/m);
  });

  it("extraArgs reach the command, and one it does not know is passed over with its value, and told", async () => {
    const { ask, server } = await stage([{ text: "a" }, { text: "b" }]);
    await ask("Hi", {
      extraArgs: { "append-system-prompt": "FROM EXTRA ARGS" },
      systemPrompt: { type: "preset", preset: "claude_code" },
    });
    assert.match(sent(server, 0).system, /FROM EXTRA ARGS/);
    const answered = await ask("Hi", { extraArgs: { "no-such-flag": null, "nor-this": "with a value" } });
    assert.equal(textOf(only(answered)), "b");
    const told = warningsIn(answered.messages).join("\n");
    assert.match(told, /--no-such-flag is not known.*passed over/);
    assert.match(told, /--nor-this is not known/);
  });

  it("model and fallbackModel", async () => {
    const { ask, server } = await stage((request) =>
      JSON.stringify(request.body).includes('"model":"claude-haiku-4-5"') ? { text: "from the other" } : { status: 529 },
    );
    const answered = await ask("Hi", {
      model: "claude-sonnet-4-6",
      fallbackModel: "claude-haiku-4-5",
      env: { OUTRIDER_MAX_RETRIES: "1", CLAUDE_CODE_MAX_RETRIES: "1" },
    });
    assert.equal(textOf(only(answered)), "from the other");
    assert.equal(sent(server, 0).body["model"], "claude-sonnet-4-6");
    assert.ok(answered.messages.some((message) => message.type === "system" && (message.subtype as string) === "model_fallback"));
  });

  it("thinking and effort reach the model", async () => {
    const { ask, server } = await stage([{ text: "a" }, { text: "b" }, { text: "c" }]);
    await ask("Hi", { thinking: { type: "enabled", budgetTokens: 3000 }, model: "claude-sonnet-4-6" });
    assert.match(JSON.stringify(sent(server, 0).body["thinking"]), /3000/);
    await ask("Hi", { effort: "high", thinking: { type: "disabled" } });
    assert.match(JSON.stringify(sent(server, 1).body), /"effort":"high"/);
    await ask("Hi", { effort: "max" });
    assert.match(JSON.stringify(sent(server, 2).body), /"effort":"(max|high)"/);
  });

  it("debugFile: what happens is written there", async () => {
    const { ask, home } = await stage([{ text: "a" }]);
    const file = join(home, "debug.log");
    assert.equal(textOf(only(await ask("Hi", { debugFile: file }))), "a");
    assert.ok(existsSync(file) && readFileSync(file, "utf8").length > 0);
  });

  it("debug: the same on stderr", async () => {
    const { ask, stderr } = await stage([{ text: "a" }]);
    assert.equal(textOf(only(await ask("Hi", { debug: true }))), "a");
    assert.notEqual(stderr.join(""), "");
  });

  it("permissionPrompts none: the host is not asked", async () => {
    const { ask, cwd } = await stage([{ calls: [{ name: "Bash", input: { command: "touch made.txt" } }] }, { text: "ok" }]);
    let asked = 0;
    await ask("Go", {
      permissionPrompts: "none",
      canUseTool: async (_, input) => {
        asked++;
        return { behavior: "allow", updatedInput: input };
      },
    });
    assert.equal(asked, 0);
    assert.ok(!existsSync(join(cwd, "made.txt")));
  });

  it("permissionPromptToolName: a tool of an MCP server decides", async () => {
    const { createSdkMcpServer, tool } = await import("@anthropic-ai/claude-agent-sdk");
    const { z } = await import("zod");
    const { ask, cwd } = await stage([
      { calls: [{ name: "Bash", input: { command: "touch made.txt" } }] },
      { calls: [{ name: "Bash", input: { command: "touch other.txt" } }] },
      { text: "ok" },
    ]);
    const asked: unknown[] = [];
    const judge = createSdkMcpServer({
      name: "judge",
      tools: [
        tool(
          "decide",
          "Decides",
          { tool_name: z.string(), input: z.record(z.string(), z.unknown()), tool_use_id: z.string() },
          async (args) => {
            asked.push(args);
            const allowed = JSON.stringify(args.input).includes("made.txt");
            const answer = allowed
              ? { behavior: "allow", updatedInput: args.input }
              : { behavior: "deny", message: "not that one" };
            return { content: [{ type: "text", text: JSON.stringify(answer) }] };
          },
        ),
      ],
    });
    const answered = await ask("Go", { mcpServers: { judge }, permissionPromptToolName: "mcp__judge__decide" });
    assert.equal(asked.length, 2);
    assert.ok(existsSync(join(cwd, "made.txt")));
    assert.ok(!existsSync(join(cwd, "other.txt")));
    assert.match(toolResults(answered.messages)[1]?.text ?? "", /not that one/);
  });
});
