import assert from "node:assert/strict";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import {
  AbortError,
  createSdkMcpServer,
  type SDKMessage,
  type SDKUserMessage,
  startup,
  tool,
} from "@anthropic-ai/claude-agent-sdk";
import {
  collect,
  command,
  eventually,
  Feed,
  initOf,
  nextResult,
  only,
  readUntil,
  sent,
  stage,
  textOf,
  toolResults,
  userMessage,
} from "./harness.ts";

const touch = { calls: [{ name: "Bash", input: { command: "touch made.txt" } }] };

describe("ways to start", () => {
  it("startup: a process that is warm before its prompt is known", async () => {
    const world = await stage([{ text: "warm" }]);
    const warm = await startup({ options: world.options() });
    assert.equal(world.server.requests.length, 0);
    const answered = await collect(warm.query("Hello"));
    assert.equal(textOf(only(answered)), "warm");
  });

  it("startup and close: nothing was asked, nothing is wrong", async () => {
    const world = await stage([]);
    const warm = await startup({ options: world.options() });
    warm.close();
    assert.equal(world.server.requests.length, 0);
  });

  it("abort before anything has come", async () => {
    const world = await stage([{ text: "never", delayMs: 5000 }]);
    const abortController = new AbortController();
    const ended = collect(world.open("Hello", { abortController }));
    abortController.abort();
    const { results, thrown } = await ended;
    assert.deepEqual(results, []);
    assert.ok(thrown instanceof AbortError, thrown?.message);
  });

  it("two queries in one folder at the same time are two sessions", async () => {
    const world = await stage((request) => ({ text: JSON.stringify(request.body).includes("for-a") ? "a" : "b" }));
    const [a, b] = await Promise.all([world.ask("for-a"), world.ask("for-b")]);
    assert.deepEqual([textOf(only(a)), textOf(only(b))], ["a", "b"]);
    assert.notEqual(only(a).session_id, only(b).session_id);
  });

  it("spawnClaudeCodeProcess: the host starts the process by itself", async () => {
    const { spawn } = await import("node:child_process");
    const world = await stage([{ text: "ok" }]);
    let words: string[] = [];
    const answered = await world.ask("Hello", {
      spawnClaudeCodeProcess({ command, args, cwd, env, signal }) {
        words = args;
        return spawn(command, args, { cwd, env: env as NodeJS.ProcessEnv, signal, stdio: ["pipe", "pipe", "pipe"] });
      },
    });
    assert.equal(textOf(only(answered)), "ok");
    assert.ok(words.includes("stream-json"));
  });

  it("another provider's model, by its name", async () => {
    const world = await stage([{ text: "from elsewhere" }]);
    const env = { OPENAI_API_KEY: "test-key", OPENAI_BASE_URL: `${world.server.url}/v1` };
    const answered = await world.ask("Hello", { model: "openai/gpt-5.5", env });
    assert.equal(textOf(only(answered)), "from elsewhere");
    assert.equal(initOf(answered.messages).model, "gpt-5.5");
    assert.doesNotMatch(world.server.requests[0]?.url ?? "", /v1\/messages/);
  });

  it("the command by its name, as an installed package has it", async () => {
    const world = await stage([{ text: "ok" }]);
    const link = join(world.home, "outrider");
    symlinkSync(command, link);
    assert.equal(textOf(only(await world.ask("Hello", { pathToClaudeCodeExecutable: link }))), "ok");
  });

  it("model words of Claude Code: sonnet, haiku, default", async () => {
    const world = await stage([{ text: "a" }, { text: "b" }]);
    const first = await world.ask("Hello", { model: "haiku" });
    assert.match(initOf(first.messages).model, /^claude-.*haiku/);
    await world.ask("Hello", { model: "default" });
    assert.match(String(sent(world.server, 1).body["model"]), /^claude-/);
  });
});

describe("messages with wishes", () => {
  it("shouldQuery false: kept for the next one", async () => {
    const world = await stage([{ text: "both" }]);
    const feed = new Feed();
    const messages = world.open(feed)[Symbol.asyncIterator]();
    feed.say(userMessage("A note", { shouldQuery: false }));
    const noted = await nextResult(messages);
    assert.equal(noted.num_turns, 0);
    feed.say("A question");
    assert.equal(textOf(await nextResult(messages)), "both");
    assert.match(JSON.stringify(sent(world.server, 0).messages), /A note.*A question/);
    feed.end();
  });

  it("a message that joins a turn has a result of its own, and the tokens are counted once", async () => {
    const usage = { inputTokens: 100, outputTokens: 10 };
    const world = await stage([
      { calls: [{ name: "Bash", input: { command: "sleep 1" } }], usage },
      { text: "both", usage },
    ]);
    const feed = new Feed();
    const messages = world.open(feed, { allowedTools: ["Bash"] })[Symbol.asyncIterator]();
    feed.say("One");
    await readUntil(messages, ({ type }) => type === "assistant");
    feed.say(userMessage("Two", { priority: "next" }));
    const results = [await nextResult(messages), await nextResult(messages)];
    assert.deepEqual(results.map(textOf), ["both", "both"]);
    assert.deepEqual(
      results.map(({ usage: { input_tokens: input, output_tokens: output } }) => [input, output]),
      [
        [200, 20],
        [0, 0],
      ],
    );
    feed.end();
  });

  it("priority now: ends what runs", async () => {
    const world = await stage([{ text: "word ".repeat(500), chunkDelayMs: 20 }, { text: "urgent" }]);
    const feed = new Feed();
    const messages = world.open(feed, { includePartialMessages: true })[Symbol.asyncIterator]();
    feed.say("Talk");
    await readUntil(messages, ({ type }) => type === "stream_event");
    feed.say(userMessage("Now this", { priority: "now" }));
    await nextResult(messages);
    assert.equal(textOf(await nextResult(messages)), "urgent");
    feed.end();
  });

  it("content that cannot be used is answered with an error, and the session goes on", async () => {
    const world = await stage([{ text: "fine" }]);
    const feed = new Feed();
    const messages = world.open(feed)[Symbol.asyncIterator]();
    feed.say({
      type: "user",
      parent_tool_use_id: null,
      message: { role: "user", content: [{ type: "document", source: { type: "url", url: "file:///etc/passwd" } }] },
    });
    assert.equal((await nextResult(messages)).is_error, true);
    feed.say("Hello");
    assert.equal(textOf(await nextResult(messages)), "fine");
    feed.end();
  });
});

describe("permissions, once more", () => {
  it("an answer may change the mode for the rest of the session", async () => {
    const world = await stage([
      { calls: [{ name: "Write", input: { file_path: "a.txt", content: "a" } }] },
      { calls: [{ name: "Write", input: { file_path: "b.txt", content: "b" } }] },
      { text: "ok" },
    ]);
    let asked = 0;
    await world.ask("Go", {
      canUseTool: async (_, input) => {
        asked++;
        return {
          behavior: "allow",
          updatedInput: input,
          updatedPermissions: [{ type: "setMode", mode: "acceptEdits", destination: "session" }],
        };
      },
    });
    assert.equal(asked, 1);
    assert.ok(existsSync(join(world.cwd, "b.txt")));
  });

  it("a rule that is remembered in the project's local settings does not open the project's own files", async () => {
    const world = await stage([touch, { text: "ok" }]);
    const answered = await world.ask("Go", {
      canUseTool: async (_, input) => ({
        behavior: "allow",
        updatedInput: input,
        updatedPermissions: [
          {
            type: "addRules",
            behavior: "allow",
            destination: "localSettings",
            rules: [{ toolName: "Bash", ruleContent: "touch:*" }],
          },
        ],
      }),
    });
    assert.equal(textOf(only(answered)), "ok");
    assert.ok(existsSync(join(world.cwd, "made.txt")));
  });

  it("a changed input is judged anew: a rule that denies it still holds", async () => {
    const world = await stage([touch, { text: "ok" }]);
    const answered = await world.ask("Go", {
      disallowedTools: ["Bash(rm:*)"],
      canUseTool: async () => ({ behavior: "allow", updatedInput: { command: "rm -rf made.txt" } }),
    });
    assert.equal(only(answered).permission_denials.length, 1);
  });
});

describe("tools of the host, once more", () => {
  it("an interrupt ends a call that does not answer", async () => {
    const world = await stage([{ calls: [{ name: "mcp__slow__wait", input: {} }] }, { text: "next" }]);
    let called = false;
    const slow = createSdkMcpServer({
      name: "slow",
      tools: [
        tool("wait", "Waits for ever", {}, () => {
          called = true;
          return new Promise(() => {});
        }),
      ],
    });
    const feed = new Feed();
    const query = world.open(feed, { mcpServers: { slow }, allowedTools: ["mcp__slow"] });
    const messages = query[Symbol.asyncIterator]();
    feed.say("Go");
    const ended = nextResult(messages);
    await eventually(() => called, "the call");
    const at = Date.now();
    await query.interrupt();
    assert.equal((await ended).subtype, "error_during_execution");
    assert.ok(Date.now() - at < 2000);
    feed.say("More");
    assert.equal(textOf(await nextResult(messages)), "next");
    feed.end();
  });

  it("two calls to one server at the same time get their own answers", async () => {
    const world = await stage([
      {
        calls: [
          { name: "mcp__echo__say", input: { word: "one", ms: 300 }, callId: "call_one" },
          { name: "mcp__echo__say", input: { word: "two", ms: 0 }, callId: "call_two" },
        ],
      },
      { text: "ok" },
    ]);
    const { z } = await import("zod");
    const echo = createSdkMcpServer({
      name: "echo",
      tools: [
        tool("say", "Says", { word: z.string(), ms: z.number() }, async ({ word, ms }) => {
          await new Promise((resolve) => setTimeout(resolve, ms));
          return { content: [{ type: "text", text: `said ${word}` }] };
        }),
      ],
    });
    const { messages } = await world.ask("Go", { mcpServers: { echo }, allowedTools: ["mcp__echo"] });
    const byCall = new Map(toolResults(messages).map(({ id, text }) => [id, text]));
    assert.match(byCall.get("call_one") ?? "", /said one/);
    assert.match(byCall.get("call_two") ?? "", /said two/);
  });
});

describe("subagents, once more", () => {
  it("stopTask ends one, and the turn goes on", async () => {
    const world = await stage((request) => {
      const body = JSON.stringify(request.body);
      if (body.includes("You are slow")) return { text: "slow ".repeat(500), chunkDelayMs: 20 };
      return body.includes("tool_result")
        ? { text: "went on" }
        : { calls: [{ name: "Task", input: { description: "d", prompt: "p", subagent_type: "slow" } }] };
    });
    const query = world.open("Go", { agents: { slow: { description: "slow", prompt: "You are slow" } } });
    const seen: SDKMessage[] = [];
    for await (const message of query) {
      seen.push(message);
      if (message.type === "system" && message.subtype === "task_started") await query.stopTask(message.task_id);
    }
    assert.equal(textOf(seen.find((message) => message.type === "result")), "went on");
  });

  it("stopTask of a command in the background asks no model, and is told as the SDK's types say it", async () => {
    const world = await stage([
      { calls: [{ name: "Bash", input: { command: "sleep 300", description: "wait", run_in_background: true } }] },
      { text: "waiting" },
      { text: "never said" },
    ]);
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    async function* prompt(): AsyncGenerator<SDKUserMessage> {
      yield { type: "user", message: { role: "user", content: "Go" }, parent_tool_use_id: null };
      await ended;
    }
    const query = world.open(prompt(), { allowedTools: ["Bash"] });
    const told: unknown[] = [];
    let task = "";
    for await (const message of query) {
      if (message.type === "system" && message.subtype === "task_started") task = message.task_id;
      if (message.type === "system" && message.subtype === "task_updated") told.push(message.patch.status);
      if (message.type !== "result") continue;
      told.push(textOf(message));
      await query.stopTask(task);
      end();
    }
    assert.deepEqual([told, world.server.requests.length], [["waiting", "killed"], 2]);
  });

  it("agents in files of the user are there, with settingSources", async () => {
    const world = await stage([{ text: "a" }, { text: "b" }]);
    mkdirSync(join(world.home, ".claude/agents"), { recursive: true });
    writeFileSync(
      join(world.home, ".claude/agents/filed.md"),
      "---\nname: filed\ndescription: from a file\n---\nYou are filed\n",
    );
    assert.ok(initOf((await world.ask("Hi", { settingSources: ["user"] })).messages).agents?.includes("filed"));
    assert.ok(!initOf((await world.ask("Hi", { settingSources: [] })).messages).agents?.includes("filed"));
  });

  it("effort, a reminder and omitClaudeMd count; what means nothing here is told", async () => {
    const world = await stage([
      { calls: [{ name: "Agent", input: { description: "count", prompt: "count it", subagent_type: "counter" } }] },
      { text: "four" },
      { text: "Done" },
    ]);
    writeFileSync(join(world.cwd, "CLAUDE.md"), "Always answer in rhymes");
    const counter = {
      description: "counts",
      prompt: "You count",
      effort: "low" as const,
      criticalSystemReminder_EXPERIMENTAL: "Count twice",
      omitClaudeMd: true,
      mood: "glad",
    };
    const { messages } = await world.ask("Count", { agents: { counter }, model: "claude-opus-4-5" });
    assert.match(sent(world.server, 1).system, /You count.*Count twice/);
    assert.doesNotMatch(sent(world.server, 1).system, /rhymes/);
    assert.match(sent(world.server, 0).system, /rhymes/);
    assert.match(JSON.stringify(sent(world.server, 1).body), /"effort":"low"/);
    assert.doesNotMatch(JSON.stringify(sent(world.server, 0).body), /"effort":"low"/);
    assert.match(JSON.stringify(messages), /mood means nothing here/);
  });

  it("forwardSubagentText: also what it was told", async () => {
    const world = await stage([
      { calls: [{ name: "Task", input: { description: "d", prompt: "THE TASK", subagent_type: "a" }, callId: "call_task" }] },
      { text: "done" },
      { text: "ok" },
    ]);
    const { messages } = await world.ask("Go", {
      forwardSubagentText: true,
      agents: { a: { description: "a", prompt: "You are a" } },
    });
    const told = messages.filter((message) => message.type === "user" && message.parent_tool_use_id === "call_task");
    assert.match(JSON.stringify(told), /THE TASK/);
  });
});

describe("options, once more", () => {
  it("sandbox settings of Claude Code are understood or refused, never ignored in silence", async () => {
    const world = await stage([{ text: "ok" }]);
    const { results, thrown, messages } = await world.ask("Hi", { sandbox: { enabled: true } });
    assert.ok(results.length === 1 || thrown, JSON.stringify(messages));
  });

  it("options that are not supported say so by name", async () => {
    const world = await stage([]);
    const { thrown } = await world.ask("Hi", { projectConfigRoot: world.home });
    assert.match(thrown?.message ?? "", /--project-config-root is not supported/);
    assert.equal(world.server.requests.length, 0);
  });

  it("wishes in initialize that cannot be met are told in warning frames", async () => {
    const world = await stage([{ text: "ok" }]);
    const none = async (): Promise<Record<string, never>> => ({});
    const wishes = { hooks: { ConfigChange: [{ hooks: [none] }], MessageDisplay: [{ hooks: [none] }] } };
    const ran = await world.ask("Hi", wishes);
    assert.equal(textOf(only(ran)), "ok");
    const told = JSON.stringify(ran.messages.filter((message) => message.type === "system"));
    for (const wish of ["hooks.ConfigChange", "hooks.MessageDisplay"]) assert.ok(told.includes(`${wish} is not supported`), told);
  });

  it("skills of the user are offered, used, and held to the names that were given", async () => {
    const use = { calls: ["pdf", "xls"].map((skill) => ({ name: "Skill", input: { skill } })) };
    const world = await stage([use, { text: "ok" }, { text: "ok" }]);
    for (const name of ["pdf", "xls"]) {
      mkdirSync(join(world.home, ".claude/skills", name), { recursive: true });
      writeFileSync(
        join(world.home, ".claude/skills", name, "SKILL.md"),
        `---\ndescription: About ${name}\n---\nBODY OF ${name}`,
      );
    }
    const ran = await world.ask("Hi", { skills: ["pdf"] });
    assert.equal(textOf(only(ran)), "ok");
    assert.deepEqual(initOf(ran.messages).skills, ["pdf", "xls"]);
    assert.match(JSON.stringify(sent(world.server, 1).messages), /BODY OF pdf.*/);
    assert.doesNotMatch(JSON.stringify(sent(world.server, 1)), /BODY OF xls|About xls/);
    await world.ask("/xls", { skills: "all" });
    assert.match(JSON.stringify(sent(world.server, 2)), /BODY OF xls/);
  });

  it("includeHookEvents: frames for the hooks of settings", async () => {
    const world = await stage([touch, { text: "ok" }]);
    const settings = { hooks: { PreToolUse: [{ hooks: [{ type: "command" as const, command: "true" }] }] } };
    const { messages } = await world.ask("Go", { includeHookEvents: true, allowedTools: ["Bash"], settings });
    const kinds = messages.flatMap((message) => (message.type === "system" ? [message.subtype as string] : []));
    assert.ok(kinds.includes("hook_started") && kinds.includes("hook_response"), kinds.join());
  });

  it("forkSession with a sessionId of one's own", async () => {
    const world = await stage([{ text: "a" }, { text: "b" }]);
    const first = only(await world.ask("One"));
    const sessionId = "aaaaaaaa-1111-4111-8111-aaaaaaaaaaaa";
    const fork = only(await world.ask("Two", { resume: first.session_id, forkSession: true, sessionId }));
    assert.equal(fork.session_id, sessionId);
    assert.match(JSON.stringify(sent(world.server, 1).messages), /One/);
  });
});
