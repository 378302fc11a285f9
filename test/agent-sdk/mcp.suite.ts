import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createSdkMcpServer, type McpStdioServerConfig, type Options, tool } from "@anthropic-ai/claude-agent-sdk";
import { z } from "zod";
import { collect, Feed, initOf, nextResult, only, projectRoot, readUntil, sent, stage, textOf, toolResults } from "./harness.ts";

const program: McpStdioServerConfig = {
  type: "stdio",
  command: "node",
  args: [join(projectRoot, "test/agent-sdk/mcp-program.mjs")],
};

function calculator(calls: unknown[] = []) {
  return createSdkMcpServer({
    name: "calculator",
    version: "1.0.0",
    tools: [
      tool(
        "add",
        "Adds two numbers",
        { a: z.number(), b: z.number() },
        async (args) => {
          calls.push(args);
          return { content: [{ type: "text", text: `The sum is ${args.a + args.b}` }] };
        },
        { annotations: { readOnlyHint: true, openWorldHint: false } },
      ),
      tool("fail", "Always fails", {}, async () => {
        throw new Error("out of order");
      }),
      tool("refuse", "Answers with an error", {}, async () => ({
        content: [{ type: "text", text: "not today" }],
        isError: true,
      })),
      tool("picture", "Draws", {}, async () => ({
        content: [
          {
            type: "image",
            mimeType: "image/png",
            data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
          },
        ],
      })),
    ],
  });
}

describe("MCP servers in the host", () => {
  it("are connected before the first init, offer their tools and answer calls", async () => {
    const { ask, server } = await stage([
      { calls: [{ name: "mcp__calculator__add", input: { a: 2, b: 3 }, callId: "toolu_add" }] },
      { text: "five" },
    ]);
    const calls: unknown[] = [];
    const answered = await ask("Add", { mcpServers: { calculator: calculator(calls) }, allowedTools: ["mcp__calculator__add"] });
    assert.equal(textOf(only(answered)), "five");
    assert.deepEqual(calls, [{ a: 2, b: 3 }]);
    assert.equal(toolResults(answered.messages)[0]?.text.includes("The sum is 5"), true);
    const init = initOf(answered.messages);
    assert.deepEqual(
      init.mcp_servers.map(({ name, status }) => ({ name, status })),
      [{ name: "calculator", status: "connected" }],
    );
    assert.ok(init.tools.includes("mcp__calculator__add"));
    assert.ok(sent(server, 0).tools.includes("mcp__calculator__add"));
  });

  it("a tool that is not allowed is asked about", async () => {
    const { ask } = await stage([{ calls: [{ name: "mcp__calculator__add", input: { a: 2, b: 3 } }] }, { text: "ok" }]);
    const asked: string[] = [];
    const calls: unknown[] = [];
    await ask("Add", {
      mcpServers: { calculator: calculator(calls) },
      canUseTool: async (name) => {
        asked.push(name);
        return { behavior: "allow", updatedInput: { a: 10, b: 20 } };
      },
    });
    assert.deepEqual(asked, ["mcp__calculator__add"]);
    assert.deepEqual(calls, [{ a: 10, b: 20 }]);
  });

  it("a rule for the server allows all its tools", async () => {
    const { ask } = await stage([{ calls: [{ name: "mcp__calculator__add", input: { a: 1, b: 1 } }] }, { text: "ok" }]);
    const calls: unknown[] = [];
    await ask("Add", { mcpServers: { calculator: calculator(calls) }, allowedTools: ["mcp__calculator"] });
    assert.equal(calls.length, 1);
  });

  it("a tool that throws, one that says no, one that draws: the model is told, the run goes on", async () => {
    const { ask, server } = await stage([
      { calls: [{ name: "mcp__calculator__fail", input: {} }] },
      { calls: [{ name: "mcp__calculator__refuse", input: {} }] },
      { calls: [{ name: "mcp__calculator__picture", input: {} }] },
      { text: "ok" },
    ]);
    const answered = await ask("Go", { mcpServers: { calculator: calculator() }, allowedTools: ["mcp__calculator"] });
    assert.equal(textOf(only(answered)), "ok");
    const [failed, refused, drawn] = toolResults(answered.messages);
    assert.ok(failed?.isError && failed.text.includes("out of order"));
    assert.ok(refused?.isError && refused.text.includes("not today"));
    assert.ok(!drawn?.isError);
    assert.match(JSON.stringify(sent(server, 3).messages.at(-1)), /iVBORw0KGgo/);
  });

  it("input that does not fit the schema is refused before it runs", async () => {
    const { ask } = await stage([{ calls: [{ name: "mcp__calculator__add", input: { a: "two" } }] }, { text: "ok" }]);
    const calls: unknown[] = [];
    const answered = await ask("Go", { mcpServers: { calculator: calculator(calls) }, allowedTools: ["mcp__calculator"] });
    assert.equal(toolResults(answered.messages)[0]?.isError, true);
    assert.deepEqual(calls, []);
  });

  it("several servers, called at the same time", async () => {
    const { ask } = await stage([
      {
        calls: [
          { name: "mcp__one__add", input: { a: 1, b: 1 } },
          { name: "mcp__two__add", input: { a: 2, b: 2 } },
        ],
      },
      { text: "ok" },
    ]);
    const answered = await ask("Go", {
      mcpServers: { one: calculator(), two: calculator() },
      allowedTools: ["mcp__one", "mcp__two"],
    });
    const texts = toolResults(answered.messages).map(({ text }) => text);
    assert.ok(texts.some((text) => text.includes("sum is 2")) && texts.some((text) => text.includes("sum is 4")));
  });

  it("work with subagents too", async () => {
    const { ask } = await stage([
      { calls: [{ name: "Task", input: { description: "add", prompt: "add", subagent_type: "adder" } }] },
      { calls: [{ name: "mcp__calculator__add", input: { a: 4, b: 4 } }] },
      { text: "eight" },
      { text: "It is eight" },
    ]);
    const calls: unknown[] = [];
    const answered = await ask("Go", {
      agents: { adder: { description: "adds", prompt: "You add" } },
      mcpServers: { calculator: calculator(calls) },
      allowedTools: ["mcp__calculator"],
    });
    assert.equal(textOf(only(answered)), "It is eight");
    assert.equal(calls.length, 1);
  });
});

describe("MCP servers that are programs", () => {
  it("are started, listed, called, and do not see the key of the model", async () => {
    const { ask } = await stage([
      { calls: [{ name: "mcp__program__shout", input: { text: "hello" } }] },
      { calls: [{ name: "mcp__program__secrets", input: {} }] },
      { text: "ok" },
    ]);
    const answered = await ask("Go", {
      mcpServers: { program: { ...program, env: { SUITE_WORD: "indeed" } } },
      allowedTools: ["mcp__program"],
    });
    assert.equal(textOf(only(answered)), "ok");
    const [shouted, secrets] = toolResults(answered.messages);
    assert.match(shouted?.text ?? "", /HELLO indeed/);
    assert.match(secrets?.text ?? "", /key=none/);
    assert.equal(initOf(answered.messages).mcp_servers[0]?.status, "connected");
  });

  it("a server that cannot start fails alone, and is said to have failed", async () => {
    const { ask } = await stage([{ text: "ok" }]);
    const answered = await ask("Go", {
      mcpServers: { broken: { type: "stdio", command: "no-such-program-anywhere" }, program },
    });
    assert.equal(textOf(only(answered)), "ok");
    const states = new Map(initOf(answered.messages).mcp_servers.map(({ name, status }) => [name, status]));
    assert.equal(states.get("broken"), "failed");
    assert.equal(states.get("program"), "connected");
  });

  it("mcpServersDelivery initialize: they are not on the command line, and work beside those of the host", async () => {
    const { open } = await stage([
      { calls: [{ name: "mcp__program__shout", input: { text: "hello" } }] },
      { calls: [{ name: "mcp__calculator__add", input: { a: 2, b: 3 } }] },
      { text: "ok" },
    ]);
    let args: readonly string[] = [];
    const query = open("Go", {
      mcpServersDelivery: "initialize",
      mcpServers: {
        program: { ...program, env: { SUITE_WORD: "indeed" } },
        calculator: calculator(),
        broken: { type: "stdio", command: "no-such-program-anywhere" },
        wrong: { type: "weird" } as unknown as McpStdioServerConfig,
      },
      allowedTools: ["mcp__program", "mcp__calculator"],
      spawnClaudeCodeProcess(spawning) {
        args = spawning.args;
        return spawn(spawning.command, spawning.args, { cwd: spawning.cwd, env: spawning.env, signal: spawning.signal });
      },
    });
    const answered = await collect(query);
    assert.equal(textOf(only(answered)), "ok");
    assert.doesNotMatch(args.join(" "), /SUITE_WORD|mcp-config/);
    assert.equal((await query.initializationResult()).mcp_servers_applied, true);
    const [shouted, added] = toolResults(answered.messages);
    assert.match(shouted?.text ?? "", /HELLO indeed/);
    assert.match(added?.text ?? "", /The sum is 5/);
    const states = new Map(initOf(answered.messages).mcp_servers.map(({ name, status }) => [name, status]));
    assert.deepEqual(
      ["program", "calculator", "broken", "wrong"].map((name) => states.get(name)),
      ["connected", "connected", "failed", "failed"],
    );
  });

  it("what restricts a session and comes in initialize is refused by name, and no model is asked", async () => {
    const wishes = [
      { settings: { permissions: { deny: ["Write"] } }, settingsDelivery: "initialize" },
      { disallowedTools: ["Write"], disallowedToolsDelivery: "initialize" },
    ];
    for (const wish of wishes) {
      const { ask, server } = await stage([{ text: "ok" }]);
      const { thrown } = await ask("Go", wish as Options); // the types do not have these yet
      assert.match(thrown?.message ?? "", /initialize: \w+ is read from the command line only.*Delivery: "argv"/);
      assert.equal(server.requests.length, 0);
    }
  });

  it("mcpServerStatus tells states, tools and versions", async () => {
    const { open } = await stage([{ text: "ok" }]);
    const feed = new Feed();
    const query = open(feed, {
      mcpServers: { program, calculator: calculator(), broken: { type: "stdio", command: "no-such-program-anywhere" } },
    });
    const messages = query[Symbol.asyncIterator]();
    const states = new Map((await query.mcpServerStatus()).map((state) => [state.name, state]));
    assert.equal(states.get("program")?.status, "connected");
    assert.deepEqual(states.get("program")?.serverInfo, { name: "program", version: "1.2.3" });
    assert.ok(states.get("program")?.tools?.some(({ name }) => name === "shout"));
    assert.equal(states.get("calculator")?.status, "connected");
    const { source, scope, tools } = states.get("calculator") ?? {};
    assert.deepEqual([source, scope], ["sdk", "dynamic"]);
    assert.deepEqual(Object.fromEntries((tools ?? []).slice(0, 2).map(({ name, annotations }) => [name, annotations])), {
      add: { readOnly: true },
      fail: {},
    });
    assert.equal(states.get("broken")?.status, "failed");
    assert.equal(typeof states.get("broken")?.error, "string");
    feed.say("Hi");
    assert.equal(textOf(await nextResult(messages)), "ok");
    feed.end();
  });

  it("setMcpServers adds and takes away servers of both kinds while the session lives", async () => {
    const { open, server } = await stage([
      { text: "one" },
      { calls: [{ name: "mcp__program__shout", input: { text: "late" } }] },
      { text: "two" },
      { text: "three" },
    ]);
    const feed = new Feed();
    const query = open(feed, { allowedTools: ["mcp__program", "mcp__calculator"] });
    const messages = query[Symbol.asyncIterator]();
    feed.say("First");
    await nextResult(messages);
    const added = await query.setMcpServers({ program, calculator: calculator() });
    assert.deepEqual([...added.added].sort(), ["calculator", "program"]);
    assert.deepEqual(added.errors, {});
    feed.say("Second");
    const seen = await readUntil(messages, (message) => message.type === "result");
    assert.ok(initOf(seen).tools.includes("mcp__program__shout"));
    assert.ok(initOf(seen).tools.includes("mcp__calculator__add"));
    assert.match(toolResults(seen)[0]?.text ?? "", /LATE/);
    const removed = await query.setMcpServers({});
    assert.deepEqual([...removed.removed].sort(), ["calculator", "program"]);
    feed.say("Third");
    await nextResult(messages);
    assert.ok(!sent(server, 3).tools.some((name) => name.startsWith("mcp__")));
    feed.end();
  });

  it("readMcpResource has what a server shows in a page, and nothing else of it", async () => {
    const { open } = await stage([]);
    const feed = new Feed();
    const query = open(feed, { mcpServers: { program } });
    const { contents } = await query.readMcpResource("program", "ui://program/page");
    assert.deepEqual(contents, [{ uri: "ui://program/page", mimeType: "text/html", text: "<p>hello</p>" }]);
    await assert.rejects(query.readMcpResource("program", "file:///etc/passwd"), /ui:/);
    await assert.rejects(query.readMcpResource("nobody", "ui://program/page"), /not found/i);
    feed.end();
  });

  it("reconnectMcpServer and toggleMcpServer, and a clear no for a server that is not there", async () => {
    const { open } = await stage([{ text: "one" }, { text: "two" }, { text: "three" }]);
    const feed = new Feed();
    const query = open(feed, { mcpServers: { program } });
    const messages = query[Symbol.asyncIterator]();
    feed.say("First");
    await nextResult(messages);
    await query.reconnectMcpServer("program");
    await assert.rejects(query.reconnectMcpServer("nobody"), /not found/i);
    await query.toggleMcpServer("program", false);
    assert.equal((await query.mcpServerStatus())[0]?.status, "disabled");
    feed.say("Second");
    assert.ok(!initOf(await readUntil(messages, ({ type }) => type === "result")).tools.includes("mcp__program__shout"));
    await query.toggleMcpServer("program", true);
    assert.equal((await query.mcpServerStatus())[0]?.status, "connected");
    feed.say("Third");
    assert.ok(initOf(await readUntil(messages, ({ type }) => type === "result")).tools.includes("mcp__program__shout"));
    feed.end();
  });

  it("a server may ask the user, through onElicitation", async () => {
    const { ask } = await stage([{ calls: [{ name: "mcp__program__ask", input: {} }] }, { text: "ok" }]);
    const asked: unknown[] = [];
    const answered = await ask("Go", {
      mcpServers: { program },
      allowedTools: ["mcp__program"],
      onElicitation: async (request) => {
        asked.push(request);
        return { action: "accept", content: { name: "Ada" } };
      },
    });
    assert.equal(asked.length, 1);
    assert.match(JSON.stringify(asked[0]), /Your name\?/);
    assert.match(toolResults(answered.messages)[0]?.text ?? "", /accept.*Ada/);
  });

  it("without onElicitation the server hears a decline, and nothing hangs", async () => {
    const { ask } = await stage([{ calls: [{ name: "mcp__program__ask", input: {} }] }, { text: "ok" }]);
    const answered = await ask("Go", { mcpServers: { program }, allowedTools: ["mcp__program"] });
    assert.equal(textOf(only(answered)), "ok");
    assert.doesNotMatch(toolResults(answered.messages)[0]?.text ?? "", /accept/);
  });

  it("servers of the project's .mcp.json do not start by themselves, nor with strictMcpConfig", async () => {
    const { ask, cwd } = await stage([{ text: "ok" }]);
    writeFileSync(join(cwd, ".mcp.json"), JSON.stringify({ mcpServers: { mine: program } }));
    const answered = await ask("Go", { strictMcpConfig: true, mcpServers: { program } });
    assert.deepEqual(
      initOf(answered.messages).mcp_servers.map(({ name }) => name),
      ["program"],
    );
  });
});

describe("what a host wants of a server's tools", () => {
  const tools = [
    tool("send", "Sends", {}, async () => ({ content: [{ type: "text" as const, text: "sent" }] })),
    tool("drop", "Drops", {}, async () => ({ content: [{ type: "text" as const, text: "dropped" }] })),
    tool("wait", "Waits", {}, async () => {
      await new Promise((resolve) => setTimeout(resolve, 10_000).unref());
      return { content: [] };
    }),
  ];
  const policies = [
    { name: "send", permission_policy: "always_ask" as const },
    { name: "drop", permission_policy: "always_deny" as const },
  ];
  const calls = ["send", "drop", "wait"].map((name) => ({ name: `mcp__post__${name}`, input: {}, callId: `toolu_${name}` }));

  it("tools that are always asked about or refused, whatever is allowed, and a limit for calls", async () => {
    const { ask } = await stage([{ calls }, { text: "Done" }]);
    const asked: string[] = [];
    const server = { ...createSdkMcpServer({ name: "post", version: "1.0.0", tools }), timeout: 1000, tools: policies };
    const answered = await ask("Go", {
      mcpServers: { post: server },
      permissionMode: "bypassPermissions",
      allowDangerouslySkipPermissions: true,
      canUseTool: async (name) => {
        asked.push(name);
        return { behavior: "deny", message: "not now" };
      },
    });
    assert.deepEqual(asked, ["mcp__post__send"]);
    const results = toolResults(answered.messages);
    assert.deepEqual(
      results.map(({ isError }) => isError),
      [true, true, true],
    );
    assert.match(results.find(({ id }) => id === "toolu_wait")?.text ?? "", /did not answer/);
    assert.deepEqual(
      only(answered).permission_denials.map(({ tool_name: name }) => name),
      ["mcp__post__send", "mcp__post__drop"],
    );
  });

  it("setMcpServers brings such rules, and takes them away", async () => {
    const call = [calls[1] ?? { name: "", input: {}, callId: "" }];
    const { open } = await stage([{ calls: call }, { text: "1" }, { calls: call }, { text: "2" }]);
    const feed = new Feed();
    const query = open(feed, { allowedTools: ["mcp__post"] });
    await query.setMcpServers({ post: { ...createSdkMcpServer({ name: "post", version: "1.0.0", tools }), tools: policies } });
    feed.say("first");
    assert.equal((await nextResult(query)).permission_denials.length, 1);
    await query.setMcpServers({});
    await query.setMcpServers({ post: createSdkMcpServer({ name: "post", version: "1.0.0", tools }) });
    feed.say("second");
    assert.equal((await nextResult(query)).permission_denials.length, 0);
    feed.end();
    query.close();
  });
});

describe("instructions of a server", () => {
  it("are in the prompt, under the server's name", async () => {
    const { McpServer } = await import("@modelcontextprotocol/sdk/server/mcp.js");
    const instance = new McpServer(
      { name: "notes", version: "1" },
      { instructions: "Call look before write. WORDS OF THE SERVER" },
    );
    instance.registerTool("look", { description: "Looks" }, async () => ({ content: [{ type: "text", text: "seen" }] }));
    const { ask, server } = await stage([{ text: "ok" }]);
    await ask("Hi", { mcpServers: { notes: { type: "sdk", name: "notes", instance } } });
    assert.match(sent(server, 0).system, /## notes\\nCall look before write\. WORDS OF THE SERVER/);
  });
});
