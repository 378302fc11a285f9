import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { HookCallback, HookInput } from "@anthropic-ai/claude-agent-sdk";
import { Feed, nextResult, only, sent, stage, textOf, toolResults } from "./harness.ts";

const touch = { text: "Making it", calls: [{ name: "Bash", input: { command: "touch made.txt" }, callId: "toolu_touch" }] };

describe("hook callbacks", () => {
  it("come in order, each with what its event has to tell", async () => {
    const { ask, cwd } = await stage([touch, { text: "Made" }]);
    const heard: { input: HookInput; toolUseId: string | undefined }[] = [];
    const listen: HookCallback = async (input, toolUseId) => {
      heard.push({ input, toolUseId });
      return {};
    };
    const answered = await ask("Make it", {
      allowedTools: ["Bash"],
      hooks: {
        UserPromptSubmit: [{ hooks: [listen] }],
        PreToolUse: [{ matcher: "Bash", hooks: [listen] }],
        PostToolUse: [{ hooks: [listen] }],
        Stop: [{ hooks: [listen] }],
      },
    });
    const { session_id: sessionId } = only(answered);
    assert.deepEqual(
      heard.map(({ input }) => input.hook_event_name),
      ["UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"],
    );
    for (const { input } of heard) {
      assert.equal(input.session_id, sessionId);
      assert.equal(input.cwd, cwd);
      assert.equal(typeof input.transcript_path, "string");
    }
    const [prompt, before, after, stop] = heard.map(({ input }) => input);
    assert.ok(prompt?.hook_event_name === "UserPromptSubmit" && prompt.prompt === "Make it");
    assert.ok(before?.hook_event_name === "PreToolUse" && before.tool_name === "Bash");
    assert.deepEqual(before.tool_input, { command: "touch made.txt" });
    assert.equal(before.tool_use_id, "toolu_touch");
    assert.ok(after?.hook_event_name === "PostToolUse" && after.tool_response !== undefined);
    assert.ok(stop?.hook_event_name === "Stop" && stop.stop_hook_active === false);
    assert.deepEqual([heard[1]?.toolUseId, heard[2]?.toolUseId], ["toolu_touch", "toolu_touch"]);
  });

  it("PreToolUse deny: the reason reaches the model, nothing runs, the result lists it", async () => {
    const { ask, cwd } = await stage([touch, { text: "Then not" }]);
    const answered = await ask("Make it", {
      permissionMode: "bypassPermissions",
      allowDangerouslySkipPermissions: true,
      hooks: {
        PreToolUse: [
          {
            hooks: [
              async () => ({
                hookSpecificOutput: {
                  hookEventName: "PreToolUse",
                  permissionDecision: "deny",
                  permissionDecisionReason: "no touching",
                },
              }),
            ],
          },
        ],
      },
    });
    const result = only(answered);
    assert.equal(textOf(result), "Then not");
    assert.match(toolResults(answered.messages)[0]?.text ?? "", /no touching/);
    assert.equal(result.permission_denials.length, 1);
    assert.ok(!existsSync(join(cwd, "made.txt")));
  });

  it("the old form of a no works too", async () => {
    const { ask, cwd } = await stage([touch, { text: "Then not" }]);
    await ask("Make it", {
      allowedTools: ["Bash"],
      hooks: { PreToolUse: [{ hooks: [async () => ({ decision: "block", reason: "blocked the old way" })] }] },
    });
    assert.ok(!existsSync(join(cwd, "made.txt")));
  });

  it("PreToolUse allow: runs without a question", async () => {
    const { ask, cwd } = await stage([touch, { text: "Made" }]);
    let asked = 0;
    await ask("Make it", {
      canUseTool: async () => {
        asked++;
        return { behavior: "deny", message: "no" };
      },
      hooks: {
        PreToolUse: [
          { hooks: [async () => ({ hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "allow" } })] },
        ],
      },
    });
    assert.equal(asked, 0);
    assert.ok(existsSync(join(cwd, "made.txt")));
  });

  it("PreToolUse ask: asks although a rule allows it", async () => {
    const { ask } = await stage([touch, { text: "Made" }]);
    let asked = 0;
    await ask("Make it", {
      allowedTools: ["Bash"],
      canUseTool: async (_, input) => {
        asked++;
        return { behavior: "allow", updatedInput: input };
      },
      hooks: {
        PreToolUse: [
          { hooks: [async () => ({ hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "ask" } })] },
        ],
      },
    });
    assert.equal(asked, 1);
  });

  it("PreToolUse updatedInput: that is what runs", async () => {
    const { ask, cwd } = await stage([touch, { text: "Made" }]);
    await ask("Make it", {
      hooks: {
        PreToolUse: [
          {
            hooks: [
              async () => ({
                hookSpecificOutput: {
                  hookEventName: "PreToolUse",
                  permissionDecision: "allow",
                  updatedInput: { command: "touch other.txt" },
                },
              }),
            ],
          },
        ],
      },
    });
    assert.ok(existsSync(join(cwd, "other.txt")));
    assert.ok(!existsSync(join(cwd, "made.txt")));
  });

  it("a matcher chooses the tools", async () => {
    const { ask } = await stage([touch, { text: "Made" }]);
    const heard: string[] = [];
    await ask("Make it", {
      allowedTools: ["Bash"],
      hooks: {
        PreToolUse: [
          {
            matcher: "Write|Edit",
            hooks: [
              async () => {
                heard.push("files");
                return {};
              },
            ],
          },
          {
            matcher: "Ba.*",
            hooks: [
              async () => {
                heard.push("shell");
                return {};
              },
            ],
          },
        ],
      },
    });
    assert.deepEqual(heard, ["shell"]);
  });

  it("PostToolUse additionalContext is read by the model", async () => {
    const { ask, server } = await stage([touch, { text: "Made" }]);
    await ask("Make it", {
      allowedTools: ["Bash"],
      hooks: {
        PostToolUse: [
          {
            hooks: [async () => ({ hookSpecificOutput: { hookEventName: "PostToolUse", additionalContext: "the lint is red" } })],
          },
        ],
      },
    });
    assert.match(JSON.stringify(sent(server, 1).messages), /the lint is red/);
  });

  it("UserPromptSubmit block: nothing is asked of the model", async () => {
    const { ask, server } = await stage([{ text: "never" }]);
    const { results } = await ask("My secret", {
      hooks: { UserPromptSubmit: [{ hooks: [async () => ({ decision: "block", reason: "it holds a secret" })] }] },
    });
    assert.equal(results.length, 1);
    assert.equal(server.requests.length, 0);
    assert.match(JSON.stringify(results[0]), /it holds a secret/);
  });

  it("UserPromptSubmit additionalContext is read by the model", async () => {
    const { ask, server } = await stage([{ text: "ok" }]);
    await ask("Hi", {
      hooks: {
        UserPromptSubmit: [
          {
            hooks: [
              async () => ({ hookSpecificOutput: { hookEventName: "UserPromptSubmit", additionalContext: "it is Tuesday" } }),
            ],
          },
        ],
      },
    });
    assert.match(JSON.stringify(sent(server, 0).messages), /it is Tuesday/);
  });

  it("a Stop hook that blocks makes the model go on, once", async () => {
    const { ask, server } = await stage([{ text: "Done" }, { text: "Really done" }]);
    const active: boolean[] = [];
    const answered = await ask("Do it", {
      hooks: {
        Stop: [
          {
            hooks: [
              async (input) => {
                if (input.hook_event_name !== "Stop") return {};
                active.push(input.stop_hook_active);
                return input.stop_hook_active ? {} : { decision: "block", reason: "run the tests first" };
              },
            ],
          },
        ],
      },
    });
    assert.equal(textOf(only(answered)), "Really done");
    assert.deepEqual(active, [false, true]);
    assert.match(JSON.stringify(sent(server, 1).messages), /run the tests first/);
  });

  it("continue: false ends the turn with the hook's reason", async () => {
    const { ask, server } = await stage([touch, { text: "never" }]);
    const { results } = await ask("Make it", {
      allowedTools: ["Bash"],
      hooks: { PostToolUse: [{ hooks: [async () => ({ continue: false, stopReason: "enough for today" })] }] },
    });
    assert.equal(results.length, 1);
    assert.equal(server.requests.length, 1);
    assert.match(JSON.stringify(results[0]), /enough for today/);
  });

  it("a callback that throws does not stop the work, unless it says onFailure block", async () => {
    const { ask, cwd } = await stage([touch, { text: "Made" }]);
    const fails: HookCallback = async () => {
      throw new Error("hook broke");
    };
    assert.equal(
      textOf(only(await ask("Make it", { allowedTools: ["Bash"], hooks: { PostToolUse: [{ hooks: [fails] }] } }))),
      "Made",
    );
    assert.ok(existsSync(join(cwd, "made.txt")));
  });

  it("onFailure block: a callback that throws is a no", async () => {
    const { ask, cwd } = await stage([touch, { text: "Then not" }]);
    const fails: HookCallback = async () => {
      throw new Error("hook broke");
    };
    await ask("Make it", { allowedTools: ["Bash"], hooks: { PreToolUse: [{ hooks: [fails], onFailure: "block" }] } });
    assert.ok(!existsSync(join(cwd, "made.txt")));
  });

  it("a callback that does not answer within its timeout is withdrawn, and the work goes on", async () => {
    const { ask } = await stage([touch, { text: "Made" }]);
    let withdrawn = false;
    const hangs: HookCallback = (_, __, { signal }) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => {
          withdrawn = true;
          resolve({});
        });
      });
    const answered = await ask("Make it", { allowedTools: ["Bash"], hooks: { PostToolUse: [{ hooks: [hangs], timeout: 1 }] } });
    assert.equal(textOf(only(answered)), "Made");
    assert.ok(withdrawn);
  });

  it("SubagentStop tells which subagent ended", async () => {
    const { ask } = await stage([
      { calls: [{ name: "Task", input: { description: "sum", prompt: "sum it", subagent_type: "counter" } }] },
      { text: "four" },
      { text: "It is four" },
    ]);
    const heard: HookInput[] = [];
    await ask("Sum", {
      agents: { counter: { description: "counts", prompt: "You count" } },
      hooks: {
        SubagentStop: [
          {
            hooks: [
              async (input) => {
                heard.push(input);
                return {};
              },
            ],
          },
        ],
      },
    });
    assert.equal(heard.length, 1);
    assert.ok(heard[0]?.hook_event_name === "SubagentStop");
    assert.equal(heard[0].agent_type, "counter");
  });

  it("SessionStart is heard with the first prompt only", async () => {
    const { open } = await stage([{ text: "a" }, { text: "b" }]);
    const sources: string[] = [];
    const feed = new Feed();
    const messages = open(feed, {
      hooks: {
        SessionStart: [
          {
            hooks: [
              async (input) => {
                if (input.hook_event_name === "SessionStart") sources.push(input.source);
                return {};
              },
            ],
          },
        ],
      },
    })[Symbol.asyncIterator]();
    for (const words of ["one", "two"]) {
      feed.say(words);
      await nextResult(messages);
    }
    feed.end();
    assert.deepEqual(sources, ["startup"]);
  });

  it("hooks for events that are not known here do not keep the others from working", async () => {
    const { ask } = await stage([{ text: "ok" }]);
    let heard = 0;
    const listen: HookCallback = async () => {
      heard++;
      return {};
    };
    const answered = await ask("Hi", { hooks: { TeammateIdle: [{ hooks: [listen] }], UserPromptSubmit: [{ hooks: [listen] }] } });
    assert.equal(textOf(only(answered)), "ok");
    assert.equal(heard, 1);
  });
});
