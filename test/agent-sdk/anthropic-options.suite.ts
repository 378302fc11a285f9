import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { Query, SDKControlListPermissionRulesResponse } from "@anthropic-ai/claude-agent-sdk";
import { Feed, initOf, nextResult, only, sent, stage, textOf, warningsIn } from "./harness.ts";

describe("what only Anthropic's API can be told", () => {
  it("betas are a header, and no part of the body", async () => {
    const { ask, server } = await stage([{ text: "ok" }]);
    await ask("Hi", { betas: ["context-1m-2025-08-07"] });
    assert.equal(server.requests[0]?.headers["anthropic-beta"], "context-1m-2025-08-07,thinking-binding-controls-2026-08-01");
    assert.doesNotMatch(JSON.stringify(sent(server, 0).body), /context-1m/);
  });

  it("taskBudget is in output_config beside the effort, with its own beta feature", async () => {
    const { ask, server } = await stage([{ text: "ok" }]);
    await ask("Hi", { taskBudget: { total: 5000 }, effort: "low", betas: ["context-1m-2025-08-07"] });
    assert.deepEqual(sent(server, 0).body["output_config"], { effort: "low", task_budget: { type: "tokens", total: 5000 } });
    assert.equal(
      server.requests[0]?.headers["anthropic-beta"],
      "context-1m-2025-08-07,task-budgets-2026-03-13,thinking-binding-controls-2026-08-01",
    );
  });

  it("thinking: adaptive, a budget, disabled, and what is shown of it", async () => {
    const { ask, server } = await stage(() => ({ text: "ok" }));
    const model = "claude-opus-4-6";
    await ask("Hi", { model, thinking: { type: "adaptive", display: "omitted" } });
    await ask("Hi", { model, thinking: { type: "enabled", budgetTokens: 3000, display: "summarized" } });
    await ask("Hi", { model, thinking: { type: "disabled" } });
    await ask("Hi", { model: "claude-haiku-4-5", thinking: { type: "adaptive" } });
    assert.deepEqual(
      [0, 1, 2, 3].map((index) => sent(server, index).body["thinking"]),
      [
        { type: "adaptive", display: "omitted" },
        { type: "enabled", budget_tokens: 3000, display: "summarized" },
        { type: "disabled" },
        undefined, // a model that knows no adaptive thinking would refuse the request
      ],
    );
  });

  it("another provider is asked without them, and that is told", async () => {
    const { ask, server } = await stage([{ text: "ok" }]);
    const { messages } = await ask("Hi", {
      betas: ["context-1m-2025-08-07"],
      taskBudget: { total: 5000 },
      model: "openai/gpt-5.5",
      env: { OPENAI_API_KEY: "k", OPENAI_BASE_URL: `${server.url}/v1` },
    });
    const told = warningsIn(messages).join("\n");
    assert.match(told, /--betas is for Anthropic's API/);
    assert.match(told, /--task-budget is for Anthropic's API/);
    assert.doesNotMatch(JSON.stringify(server.requests[0]?.body), /task_budget|context-1m/);
  });

  it("setMaxThinkingTokens changes what is shown", async () => {
    const { open, server } = await stage(() => ({ text: "ok" }));
    const feed = new Feed();
    const query = open(feed, { model: "claude-opus-4-6", thinking: { type: "adaptive" } });
    feed.say("One");
    await nextResult(query);
    await query.setMaxThinkingTokens(4000, "omitted");
    feed.say("Two");
    await nextResult(query);
    feed.end();
    assert.deepEqual(sent(server, 1).body["thinking"], { type: "enabled", budget_tokens: 4000, display: "omitted" });
  });
});

describe("rules and modes", () => {
  const touch = { calls: [{ name: "Bash", input: { command: "touch made.txt" } }] };

  it("managedSettings: what they deny is denied, what they would allow is told and does not count", async () => {
    const { ask, cwd } = await stage([touch, { text: "ok" }]);
    const answered = await ask("Go", {
      allowedTools: ["Bash"],
      managedSettings: { permissions: { deny: ["Bash(touch:*)"], allow: ["Write"] }, model: "opus" },
    });
    assert.equal(only(answered).permission_denials.length, 1);
    assert.ok(!existsSync(join(cwd, "made.txt")));
    const told = warningsIn(answered.messages).join("\n");
    assert.match(told, /permissions\.allow is not enforced/);
    assert.match(told, /model is not enforced/);
  });

  it("managedSettings keep permissions from being bypassed", async () => {
    const { ask, server } = await stage([{ text: "never" }]);
    const { thrown } = await ask("Go", {
      permissionMode: "bypassPermissions",
      allowDangerouslySkipPermissions: true,
      managedSettings: { permissions: { disableBypassPermissionsMode: "disable" } },
    });
    assert.match(thrown?.message ?? "", /disableBypassPermissionsMode/);
    assert.equal(server.requests.length, 0);
  });

  it("permissionMode auto counts as acceptEdits, also when it is set later", async () => {
    const write = { calls: [{ name: "Write", input: { file_path: "a.txt", content: "a" } }] };
    const { ask, cwd, open } = await stage([write, { text: "ok" }, { text: "b" }]);
    const answered = await ask("Go", { permissionMode: "auto" });
    assert.equal(initOf(answered.messages).permissionMode, "acceptEdits");
    assert.ok(existsSync(join(cwd, "a.txt")));
    assert.match(JSON.stringify(answered.messages), /auto counts as acceptEdits/);
    const feed = new Feed();
    const query = open(feed);
    await query.setPermissionMode("auto");
    feed.say("Hi");
    await nextResult(query);
    feed.end();
  });

  it("tools: [] with a server of the host leaves only the server's tools", async () => {
    const { createSdkMcpServer, tool } = await import("@anthropic-ai/claude-agent-sdk");
    const { z } = await import("zod");
    const add = tool("add", "Adds", { a: z.number() }, async ({ a }) => ({ content: [{ type: "text", text: String(a + 1) }] }));
    const { ask, server } = await stage([{ calls: [{ name: "mcp__math__add", input: { a: 1 } }] }, { text: "2" }]);
    const answered = await ask("Go", {
      tools: [],
      mcpServers: { math: createSdkMcpServer({ name: "math", tools: [add] }) },
      allowedTools: ["mcp__math__add"],
    });
    assert.equal(textOf(only(answered)), "2");
    assert.deepEqual(sent(server, 0).tools, ["mcp__math__add"]);
  });

  it("disable-slash-commands: /compact is a prompt", async () => {
    const { ask, server } = await stage([{ text: "words" }]);
    assert.equal(textOf(only(await ask("/compact now", { extraArgs: { "disable-slash-commands": null } }))), "words");
    assert.match(JSON.stringify(sent(server, 0).messages), /\/compact now/);
  });

  for (const pluginDelivery of ["argv", "initialize"] as const)
    it("plugins are loaded, and init lists them", async () => {
      const { ask, cwd } = await stage([{ text: "ok" }]);
      for (const name of ["commands", "skills/s"]) mkdirSync(join(cwd, "bundle", name), { recursive: true });
      writeFileSync(join(cwd, "bundle/commands/c.md"), "FX");
      writeFileSync(join(cwd, "bundle/skills/s/SKILL.md"), "---\ndescription: d\n---\nFX");
      const answered = await ask("Hi", { plugins: [{ type: "local", path: join(cwd, "bundle") }], pluginDelivery });
      assert.equal(textOf(only(answered)), "ok");
      const init = answered.messages.find((message) => message.type === "system" && message.subtype === "init");
      assert.ok(init?.type === "system" && init.subtype === "init");
      assert.deepEqual(
        init.plugins.map(({ name }) => name),
        ["bundle"],
      );
      assert.deepEqual(init.slash_commands.slice(0, 2), ["bundle:s", "bundle:c"]);
    });
});

/** Requests that the SDK's types have, and its query has no method for. */
type Asking = Query & { request(request: { subtype: string }): Promise<{ response: Record<string, unknown> }> };

describe("what a host may ask to know", () => {
  it("usage, list_models, get_session_cost, get_binary_version and list_permission_rules", async () => {
    const { open } = await stage(() => ({ text: "ok", usage: { inputTokens: 1000, outputTokens: 100 } }));
    const feed = new Feed();
    const query = open(feed, { model: "claude-sonnet-4-6", allowedTools: ["Bash(echo:*)"] }) as Asking;
    feed.say("One");
    const result = await nextResult(query);
    const usage = await query.usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET();
    assert.equal(usage.session.total_cost_usd, result.total_cost_usd);
    assert.equal(usage.session.model_usage["claude-sonnet-4-6"]?.outputTokens, 100);
    assert.equal(usage.rate_limits, null);
    const ask = async (subtype: string): Promise<Record<string, unknown>> => (await query.request({ subtype })).response;
    assert.match(String((await ask("get_session_cost"))["text"]), /^Total cost: +\$0\.0045$/m);
    const { version, buildTime } = await ask("get_binary_version");
    assert.match(`${version} ${buildTime}`, /^\d+\.\d+\.\d+\S* \d{4}-\d\d-\d\dT/);
    const models = (await ask("list_models"))["models"] as { value: string }[];
    assert.ok(models.some(({ value }) => value === "claude-sonnet-4-6"));
    const { state } = (await ask("list_permission_rules")) as SDKControlListPermissionRulesResponse;
    assert.deepEqual(state.rules, [{ behavior: "allow", rule: "Bash(echo:*)", source: "cliArg", editability: "session" }]);
    assert.deepEqual((await query.reloadSkills()).skills, []);
    assert.deepEqual((await query.reloadPlugins()).plugins, []);
    feed.end();
  });
});
