import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { type CanUseTool, createSdkMcpServer, type PermissionResult, tool } from "@anthropic-ai/claude-agent-sdk";
import { Feed, initOf, nextResult, only, readUntil, sent, stage, textOf, toolResults } from "./harness.ts";

const touch = { text: "Making it", calls: [{ name: "Bash", input: { command: "touch made.txt" }, callId: "toolu_touch" }] };

describe("canUseTool", () => {
  it("is asked with name, input, call id and suggestions; allow lets the tool run", async () => {
    const { ask, cwd } = await stage([touch, { text: "Made" }]);
    const asked: { name: string; input: Record<string, unknown>; id: string; suggestions: unknown }[] = [];
    const canUseTool: CanUseTool = async (name, input, { toolUseID, suggestions, signal }) => {
      assert.ok(signal instanceof AbortSignal);
      asked.push({ name, input, id: toolUseID, suggestions });
      return { behavior: "allow", updatedInput: input };
    };
    const result = only(await ask("Make it", { canUseTool }));
    assert.equal(textOf(result), "Made");
    assert.equal(asked.length, 1);
    assert.equal(asked[0]?.name, "Bash");
    assert.deepEqual(asked[0]?.input, { command: "touch made.txt" });
    assert.equal(asked[0]?.id, "toolu_touch");
    assert.ok(Array.isArray(asked[0]?.suggestions));
    assert.ok(existsSync(join(cwd, "made.txt")));
    assert.deepEqual(result.permission_denials, []);
  });

  it("is asked about the real input: a secret that is sent back is written as it is, and shown nowhere", async () => {
    const jwt = ["eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0NTY3ODkwIn0", "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"].join(".");
    const written = { file_path: "made.txt", content: `token: ${jwt}\n` };
    const { ask, cwd, server } = await stage([{ calls: [{ name: "Write", input: written }] }, { text: "Made" }]);
    const asked: unknown[] = [];
    const canUseTool: CanUseTool = async (_name, input) => {
      asked.push(input);
      return { behavior: "allow", updatedInput: input };
    };
    const { messages } = await ask("Make it", { canUseTool });
    assert.deepEqual(asked, [{ ...written, file_path: join(cwd, "made.txt") }]);
    assert.equal(readFileSync(join(cwd, "made.txt"), "utf8"), written.content);
    for (const text of [JSON.stringify(messages), JSON.stringify(sent(server, 1).messages)])
      assert.deepEqual([text.includes(jwt), text.includes("[redacted:json-web-token]")], [false, true]);
  });

  it("allow without updatedInput keeps the input", async () => {
    const { ask, cwd } = await stage([touch, { text: "Made" }]);
    only(await ask("Make it", { canUseTool: async () => ({ behavior: "allow" }) }));
    assert.ok(existsSync(join(cwd, "made.txt")));
  });

  it("deny: the model reads the message, nothing runs, the result lists it, the run goes on", async () => {
    const { ask, cwd, server } = await stage([touch, { text: "Then not" }]);
    const answered = await ask("Make it", { canUseTool: async () => ({ behavior: "deny", message: "Not on my machine" }) });
    const result = only(answered);
    assert.equal(textOf(result), "Then not");
    assert.equal(result.is_error, false);
    assert.ok(!existsSync(join(cwd, "made.txt")));
    assert.deepEqual(
      result.permission_denials.map(({ tool_name, tool_use_id, tool_input }) => ({ tool_name, tool_use_id, tool_input })),
      [{ tool_name: "Bash", tool_use_id: "toolu_touch", tool_input: { command: "touch made.txt" } }],
    );
    const [refused] = toolResults(answered.messages);
    assert.deepEqual(refused, { id: "toolu_touch", text: "Not on my machine", isError: true, parent: null });
    assert.match(JSON.stringify(sent(server, 1).messages.at(-1)), /Not on my machine/);
  });

  it("modify: the changed input runs, the assistant message keeps the original", async () => {
    const { ask, cwd } = await stage([touch, { text: "Made" }]);
    const { messages } = await ask("Make it", {
      canUseTool: async () => ({ behavior: "allow", updatedInput: { command: "touch other.txt" } }),
    });
    assert.ok(existsSync(join(cwd, "other.txt")));
    assert.ok(!existsSync(join(cwd, "made.txt")));
    assert.ok(JSON.stringify(messages).includes("touch made.txt"));
  });

  it("deny with interrupt ends the turn", async () => {
    const { ask, server, cwd } = await stage([touch, { text: "never" }]);
    const { results } = await ask("Make it", {
      canUseTool: async () => ({ behavior: "deny", message: "Stop all of this", interrupt: true }),
    });
    assert.equal(results.length, 1);
    assert.equal(results[0]?.subtype, "error_during_execution");
    assert.equal(server.requests.length, 1);
    assert.ok(!existsSync(join(cwd, "made.txt")));
  });

  it("a callback that throws is a no, and the run goes on", async () => {
    const { ask, cwd } = await stage([touch, { text: "Then not" }]);
    const answered = await ask("Make it", {
      canUseTool: async () => {
        throw new Error("the host is confused");
      },
    });
    assert.equal(textOf(only(answered)), "Then not");
    assert.match(toolResults(answered.messages)[0]?.text ?? "", /the host is confused/);
    assert.ok(!existsSync(join(cwd, "made.txt")));
    assert.equal(only(answered).permission_denials.length, 1);
  });

  it("an answer that makes no sense is a no", async () => {
    const { ask, cwd } = await stage([touch, { text: "Then not" }]);
    const nonsense = { behavior: "perhaps" } as unknown as PermissionResult; // what a host without types may send
    assert.equal(textOf(only(await ask("Make it", { canUseTool: async () => nonsense }))), "Then not");
    assert.ok(!existsSync(join(cwd, "made.txt")));
  });

  it("is not asked for what is allowed, denied or harmless", async () => {
    const { ask, cwd } = await stage([
      { calls: [{ name: "Bash", input: { command: "touch allowed.txt" } }] },
      { calls: [{ name: "Bash", input: { command: "rm -rf denied" } }] },
      { calls: [{ name: "Read", input: { file_path: join("allowed.txt") } }] },
      { text: "ok" },
    ]);
    let asked = 0;
    const answered = await ask("Go", {
      allowedTools: ["Bash(touch:*)"],
      disallowedTools: ["Bash(rm:*)"],
      canUseTool: async (_, input) => {
        asked++;
        return { behavior: "allow", updatedInput: input };
      },
    });
    assert.equal(textOf(only(answered)), "ok");
    assert.equal(asked, 0);
    assert.ok(existsSync(join(cwd, "allowed.txt")));
    assert.equal(only(answered).permission_denials.length, 1);
  });

  it("updatedPermissions hold at once: the second call of the kind is not asked about", async () => {
    const { ask, cwd } = await stage([
      { calls: [{ name: "Bash", input: { command: "touch one.txt" } }] },
      { calls: [{ name: "Bash", input: { command: "touch two.txt" } }] },
      { text: "ok" },
    ]);
    let asked = 0;
    await ask("Go", {
      canUseTool: async (_, input) => {
        asked++;
        return {
          behavior: "allow",
          updatedInput: input,
          updatedPermissions: [
            {
              type: "addRules",
              behavior: "allow",
              destination: "session",
              rules: [{ toolName: "Bash", ruleContent: "touch:*" }],
            },
          ],
        };
      },
    });
    assert.equal(asked, 1);
    assert.ok(existsSync(join(cwd, "one.txt")) && existsSync(join(cwd, "two.txt")));
  });

  it("what it suggests may be given back as it is", async () => {
    const { ask } = await stage([
      { calls: [{ name: "Bash", input: { command: "touch one.txt" } }] },
      { calls: [{ name: "Bash", input: { command: "touch one.txt" } }] },
      { text: "ok" },
    ]);
    let asked = 0;
    const answered = await ask("Go", {
      canUseTool: async (_, input, { suggestions }) => {
        asked++;
        return { behavior: "allow", updatedInput: input, ...(suggestions && { updatedPermissions: suggestions }) };
      },
    });
    assert.equal(textOf(only(answered)), "ok");
    assert.equal(asked, 1);
  });

  it("several questions at once are answered in any order", async () => {
    const { ask, cwd } = await stage([
      {
        calls: [
          { name: "Write", input: { file_path: "a.txt", content: "a" }, callId: "call_a" },
          { name: "Write", input: { file_path: "b.txt", content: "b" }, callId: "call_b" },
        ],
      },
      { text: "ok" },
    ]);
    const answered = await ask("Go", {
      canUseTool: async (_, input, { toolUseID }) => {
        if (toolUseID === "call_a") await new Promise((resolve) => setTimeout(resolve, 300));
        return toolUseID === "call_a" ? { behavior: "deny", message: "not a" } : { behavior: "allow", updatedInput: input };
      },
    });
    assert.equal(textOf(only(answered)), "ok");
    assert.ok(!existsSync(join(cwd, "a.txt")));
    assert.equal(readFileSync(join(cwd, "b.txt"), "utf8"), "b");
  });

  it("an interrupt withdraws an open question, and its signal tells the callback", async () => {
    const { open, cwd } = await stage([touch, { text: "next one" }]);
    const feed = new Feed();
    let withdrawn = false;
    let asked = (): void => {};
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const query = open(feed, {
      canUseTool: (_, input, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            withdrawn = true;
            resolve({ behavior: "allow", updatedInput: input });
          });
          asked();
        }),
    });
    const messages = query[Symbol.asyncIterator]();
    feed.say("Make it");
    const ended = nextResult(messages);
    await isAsked;
    await query.interrupt();
    assert.equal((await ended).subtype, "error_during_execution");
    assert.ok(withdrawn);
    assert.ok(!existsSync(join(cwd, "made.txt")));
    feed.say("Something else");
    assert.equal(textOf(await nextResult(messages)), "next one");
    feed.end();
    assert.equal((await messages.next()).done, true);
  });

  it("asks for a tool of a subagent too, and says whose it is", async () => {
    const { ask, cwd } = await stage([
      { calls: [{ name: "Task", input: { description: "make", prompt: "make it", subagent_type: "maker" } }] },
      touch,
      { text: "made" },
      { text: "all done" },
    ]);
    let agentId: string | undefined;
    await ask("Go", {
      agents: { maker: { description: "makes files", prompt: "You make files" } },
      canUseTool: async (_, input, { agentID }) => {
        agentId = agentID;
        return { behavior: "allow", updatedInput: input };
      },
    });
    assert.equal(typeof agentId, "string");
    assert.ok(existsSync(join(cwd, "made.txt")));
  });
});

describe("permission options", () => {
  it("without canUseTool what would be asked is denied, and the run succeeds", async () => {
    const { ask, cwd } = await stage([touch, { text: "Then not" }]);
    const result = only(await ask("Make it"));
    assert.equal(textOf(result), "Then not");
    assert.equal(result.permission_denials.length, 1);
    assert.ok(!existsSync(join(cwd, "made.txt")));
  });

  it("bypassPermissions runs everything", async () => {
    const { ask, cwd } = await stage([touch, { text: "Made" }]);
    const answered = await ask("Make it", { permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true });
    assert.equal(textOf(only(answered)), "Made");
    assert.equal(initOf(answered.messages).permissionMode, "bypassPermissions");
    assert.ok(existsSync(join(cwd, "made.txt")));
  });

  it("bypassPermissions by the mode alone is what it says, as Python programs ask for it", async () => {
    const { ask, cwd } = await stage([{ calls: [{ name: "Bash", input: { command: "node -e 0 > made" } }] }, { text: "done" }]);
    const result = only(await ask("Make it", { permissionMode: "bypassPermissions" }));
    assert.deepEqual([result.subtype, result.permission_denials], ["success", []]);
    assert.ok(existsSync(join(cwd, "made")));
  });

  it("acceptEdits lets files be written, and nothing else", async () => {
    const { ask, cwd } = await stage([
      { calls: [{ name: "Write", input: { file_path: "new.txt", content: "hello" } }] },
      { calls: [{ name: "Bash", input: { command: "node -e 'process.exit()'" } }] },
      { text: "ok" },
    ]);
    const result = only(await ask("Go", { permissionMode: "acceptEdits" }));
    assert.equal(readFileSync(join(cwd, "new.txt"), "utf8"), "hello");
    assert.deepEqual(
      result.permission_denials.map(({ tool_name }) => tool_name),
      ["Bash"],
    );
  });

  it("plan only looks", async () => {
    const { ask, cwd } = await stage([
      { calls: [{ name: "Write", input: { file_path: "new.txt", content: "x" } }] },
      { text: "ok" },
    ]);
    const answered = await ask("Go", { permissionMode: "plan" });
    assert.equal(initOf(answered.messages).permissionMode, "plan");
    assert.ok(!existsSync(join(cwd, "new.txt")));
    assert.equal(only(answered).permission_denials.length, 1);
  });

  it("dontAsk denies without asking the host", async () => {
    const { ask, cwd } = await stage([touch, { text: "ok" }]);
    let asked = 0;
    await ask("Go", {
      permissionMode: "dontAsk",
      canUseTool: async () => {
        asked++;
        return { behavior: "allow", updatedInput: {} };
      },
    });
    assert.equal(asked, 0);
    assert.ok(!existsSync(join(cwd, "made.txt")));
  });

  it("a star takes every tool away, also those of servers, and allows none", async () => {
    const { ask, server, cwd } = await stage([
      { text: "none" },
      { calls: [{ name: "Bash", input: { command: "touch made.txt" } }] },
      { text: "ok" },
    ]);
    const words = createSdkMcpServer({
      name: "words",
      tools: [tool("count", "Counts", {}, async () => ({ content: [{ type: "text", text: "3" }] }))],
    });
    const canUseTool: CanUseTool = async () => ({ behavior: "deny", message: "no" });
    const taken = await ask("Go", { disallowedTools: ["*"], mcpServers: { words }, canUseTool });
    assert.equal(textOf(only(taken)), "none");
    assert.deepEqual([initOf(taken.messages).tools, sent(server, 0).tools], [[], []]);
    const allowed = await ask("Go", { allowedTools: ["*"] });
    assert.equal(textOf(only(allowed)), "ok");
    assert.equal(toolResults(allowed.messages)[0]?.isError, true);
    assert.ok(!existsSync(join(cwd, "made.txt")));
    assert.match(JSON.stringify(allowed.messages), /--allowedTools: \* allows nothing/);
  });

  it("disallowedTools takes a tool away, tools chooses those that are offered", async () => {
    const { ask, server } = await stage([{ text: "a" }, { text: "b" }, { text: "c" }]);
    const without = initOf((await ask("Go", { disallowedTools: ["Bash"] })).messages);
    assert.ok(!without.tools.includes("Bash"));
    const few = initOf((await ask("Go", { tools: ["Read", "Grep"] })).messages);
    assert.deepEqual([...few.tools].sort(), ["Grep", "Read"]);
    const none = initOf((await ask("Go", { tools: [] })).messages);
    assert.deepEqual(none.tools, []);
    assert.deepEqual(sent(server, 2).tools, []);
  });

  it("the preset of tools is all of them", async () => {
    const { ask } = await stage([{ text: "a" }]);
    const { tools } = initOf((await ask("Go", { tools: { type: "preset", preset: "claude_code" } })).messages);
    for (const tool of ["Bash", "Read", "Write", "Edit", "Glob", "Grep"]) assert.ok(tools.includes(tool), tool);
  });

  it("additionalDirectories may be worked in", async () => {
    const { ask, home } = await stage((_, index) =>
      index === 0
        ? { calls: [{ name: "Write", input: { file_path: join(other, "in-other.txt"), content: "x" } }] }
        : { text: "ok" },
    );
    const other = join(home, "other");
    process.getBuiltinModule("node:fs").mkdirSync(other);
    writeFileSync(join(other, "there.txt"), "there");
    only(await ask("Go", { additionalDirectories: [other], permissionMode: "acceptEdits" }));
    assert.equal(readFileSync(join(other, "in-other.txt"), "utf8"), "x");
  });

  it("setPermissionMode holds for the next tool", async () => {
    const { open, cwd } = await stage([touch, { text: "no" }, touch, { text: "yes" }]);
    const feed = new Feed();
    const query = open(feed, { allowDangerouslySkipPermissions: true });
    const messages = query[Symbol.asyncIterator]();
    feed.say("Make it");
    assert.equal((await nextResult(messages)).permission_denials.length, 1);
    await query.setPermissionMode("bypassPermissions");
    feed.say("Make it now");
    const seen = await readUntil(messages, (message) => message.type === "result");
    assert.equal(initOf(seen).permissionMode, "bypassPermissions");
    assert.ok(existsSync(join(cwd, "made.txt")));
    feed.end();
  });

  it("setPermissionMode to bypass is refused when it was not launched for it", async () => {
    const { open } = await stage([{ text: "a" }]);
    const feed = new Feed();
    const query = open(feed);
    const messages = query[Symbol.asyncIterator]();
    feed.say("Hi");
    await nextResult(messages);
    await assert.rejects(query.setPermissionMode("bypassPermissions"));
    await assert.rejects(query.setPermissionMode("nonsense" as "default")); // a host without types
    feed.end();
  });
});
