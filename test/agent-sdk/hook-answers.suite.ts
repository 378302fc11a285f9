import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createSdkMcpServer, HOOK_EVENTS, type HookCallback, type HookInput, tool } from "@anthropic-ai/claude-agent-sdk";
import { z } from "zod";
import { initOf, only, sent, stage, textOf, toolResults } from "./harness.ts";

const bash = (command: string, callId: string) => ({ name: "Bash", input: { command }, callId });

function calculator() {
  const add = tool("add", "Adds two numbers", { a: z.number(), b: z.number() }, async ({ a, b }) => ({
    content: [{ type: "text", text: String(a + b) }],
  }));
  return createSdkMcpServer({ name: "calc", version: "1.0.0", tools: [add] });
}

/** Everything a hook of the event heard. */
function listener(heard: HookInput[]): HookCallback {
  return async (input) => {
    heard.push(input);
    return {};
  };
}

describe("after a tool", () => {
  it("PostToolUse is for calls that went well, PostToolUseFailure for the others", async () => {
    const { ask } = await stage([
      { calls: [bash("echo fine", "toolu_1"), bash("echo bad; exit 3", "toolu_2")] },
      { text: "Done" },
    ]);
    const heard: HookInput[] = [];
    const hooks = { PostToolUse: [{ hooks: [listener(heard)] }], PostToolUseFailure: [{ hooks: [listener(heard)] }] };
    await ask("Go", { allowedTools: ["Bash"], hooks });
    assert.equal(heard.length, 2);
    const good = heard.find((input) => input.hook_event_name === "PostToolUse");
    const bad = heard.find((input) => input.hook_event_name === "PostToolUseFailure");
    assert.ok(good?.hook_event_name === "PostToolUse" && bad?.hook_event_name === "PostToolUseFailure");
    assert.deepEqual([good.tool_use_id, bad.tool_use_id], ["toolu_1", "toolu_2"]);
    const response = good.tool_response as { stdout: string; interrupted: boolean };
    assert.deepEqual([response.stdout, response.interrupted], ["fine", false]);
    assert.match(bad.error, /bad[\s\S]*3/);
  });

  it("PostToolUseFailure additionalContext is read by the model", async () => {
    const { ask, server } = await stage([{ calls: [bash("exit 3", "toolu_1")] }, { text: "Done" }]);
    const hint: HookCallback = async () => ({
      hookSpecificOutput: { hookEventName: "PostToolUseFailure", additionalContext: "try it with sudo" },
    });
    await ask("Go", { allowedTools: ["Bash"], hooks: { PostToolUseFailure: [{ matcher: "Bash", hooks: [hint] }] } });
    assert.match(JSON.stringify(sent(server, 1).messages), /try it with sudo/);
  });

  it("updatedMCPToolOutput and updatedToolOutput take the place of what the tool said", async () => {
    const { ask, server } = await stage([
      { calls: [{ name: "mcp__calc__add", input: { a: 1, b: 2 }, callId: "toolu_add" }, bash("echo hunter2", "toolu_bash")] },
      { text: "Done" },
    ]);
    const answered = await ask("Go", {
      mcpServers: { calc: calculator() },
      allowedTools: ["mcp__calc", "Bash"],
      hooks: {
        PostToolUse: [
          {
            matcher: "mcp__calc__.*",
            hooks: [
              async () => ({
                hookSpecificOutput: { hookEventName: "PostToolUse", updatedMCPToolOutput: [{ type: "text", text: "four" }] },
              }),
            ],
          },
          {
            matcher: "Bash",
            hooks: [async () => ({ hookSpecificOutput: { hookEventName: "PostToolUse", updatedToolOutput: "(hidden)" } })],
          },
        ],
      },
    });
    const [add, command] = toolResults(answered.messages);
    assert.match(add?.text ?? "", /four/);
    assert.equal(command?.text, "(hidden)");
    assert.doesNotMatch(JSON.stringify(sent(server, 1).messages[2]), /hunter2/);
  });
});

describe("PermissionRequest", () => {
  it("an answer may change the rules for what comes later", async () => {
    const write = (name: string) => ({ name: "Write", input: { file_path: name, content: "x" }, callId: `toolu_${name}` });
    const { ask, cwd } = await stage([{ calls: [write("one")] }, { calls: [write("two")] }, { text: "Done" }]);
    let asked = 0;
    const accept: HookCallback = async () => {
      asked++;
      return {
        hookSpecificOutput: {
          hookEventName: "PermissionRequest",
          decision: { behavior: "allow", updatedPermissions: [{ type: "setMode", mode: "acceptEdits", destination: "session" }] },
        },
      };
    };
    only(await ask("Go", { hooks: { PermissionRequest: [{ hooks: [accept] }] } }));
    assert.equal(asked, 1);
    assert.ok(existsSync(join(cwd, "one")) && existsSync(join(cwd, "two")));
  });
});

describe("hooks of every event", () => {
  it("may be given at once: those whose moment comes are heard, and the run succeeds", async () => {
    const world = await stage([{ calls: [bash("echo hi", "toolu_1")] }, { text: "Done" }]);
    const heard: HookInput[] = [];
    const hooks = Object.fromEntries(HOOK_EVENTS.map((event) => [event, [{ hooks: [listener(heard)] }]]));
    assert.equal(textOf(only(await world.ask("Go", { allowedTools: ["Bash"], hooks }))), "Done");
    assert.deepEqual(
      heard.map((input) => input.hook_event_name),
      ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolBatch", "Stop"],
    );
    assert.doesNotMatch(world.stderr.join(""), /SessionEnd/);
  });

  it("async: true lets the work go on, and what it says later changes nothing", async () => {
    const { ask } = await stage([{ calls: [bash("echo hi", "toolu_1")] }, { text: "Done" }]);
    const later: HookCallback = async () => ({ async: true, asyncTimeout: 1000 });
    const answered = await ask("Go", {
      allowedTools: ["Bash"],
      hooks: { PreToolUse: [{ hooks: [later] }], Stop: [{ hooks: [later] }] },
    });
    assert.equal(textOf(only(answered)), "Done");
    assert.equal(toolResults(answered.messages)[0]?.text, "hi");
  });
});

describe("toolAliases", () => {
  it("a call by another name is one of the tool it stands for, and is judged as that", async () => {
    const { ask } = await stage([
      { calls: [{ name: "Bash", input: { a: 1, b: 2 }, callId: "toolu_1" }] },
      { calls: [{ name: "Loop", input: { a: 1, b: 2 }, callId: "toolu_2" }] },
      { text: "Done" },
    ]);
    const answered = await ask("Go", {
      mcpServers: { calc: calculator() },
      allowedTools: ["mcp__calc__add"],
      toolAliases: { Bash: "mcp__calc__add", Loop: "Bash" },
    });
    const [first, second] = toolResults(answered.messages);
    assert.deepEqual([first?.isError, /3/.test(first?.text ?? "")], [false, true]);
    assert.equal(second?.isError, true); // one step only: Loop is the real Bash, which wants a command
    assert.ok(initOf(answered.messages).tools.includes("Bash"));
  });
});

describe("settings that come while the session lives", () => {
  it("applyFlagSettings: rules, model and mode hold at once, and what cannot be changed is refused whole", async () => {
    const { open, server, cwd } = await stage([{ calls: [bash("touch made", "toolu_1")] }, { text: "one" }, { text: "two" }]);
    writeFileSync(join(cwd, "a.txt"), "hello");
    const { Feed, nextResult } = await import("./harness.ts");
    const feed = new Feed();
    const query = open(feed, { allowedTools: ["Bash"] });
    await query.applyFlagSettings({ permissions: { deny: ["Bash(touch:*)"] }, model: "claude-haiku-4-5" });
    await assert.rejects(query.applyFlagSettings({ model: "claude-opus-4-5", outputStyle: "poetic" }), /outputStyle/);
    feed.say("first");
    const first = await nextResult(query);
    assert.equal(first.permission_denials.length, 1);
    assert.equal(sent(server, 0).body["model"], "claude-haiku-4-5");
    assert.ok(!existsSync(join(cwd, "made")));
    feed.end();
    query.close();
  });

  it("readFile, seedReadState and reinitialize", async () => {
    const { open, cwd, env } = await stage([
      { calls: [{ name: "Edit", input: { file_path: "a.txt", old_string: "hello", new_string: "bye" }, callId: "toolu_1" }] },
      { text: "one" },
    ]);
    const path = join(cwd, "a.txt");
    writeFileSync(path, "hello");
    const { Feed, nextResult } = await import("./harness.ts");
    const feed = new Feed();
    const query = open(feed, { permissionMode: "acceptEdits" });
    const seen = await query.readFile("a.txt");
    assert.deepEqual([seen?.contents, seen?.absPath], ["hello", path]);
    assert.equal((await query.readFile("a.txt", { encoding: "base64" }))?.contents, Buffer.from("hello").toString("base64"));
    assert.equal((await query.readFile("a.txt", { maxBytes: 2 }))?.truncated, true);
    assert.equal(await query.readFile(join(env["HOME"] ?? "", "not-of-the-project")), null);
    await query.seedReadState(path, Date.now() + 1000);
    feed.say("change it");
    const result = await nextResult(query);
    assert.equal(result.subtype, "success");
    assert.equal((await query.readFile("a.txt"))?.contents, "bye");
    assert.ok((await query.reinitialize()).models.length > 0);
    feed.end();
    query.close();
  });
});
