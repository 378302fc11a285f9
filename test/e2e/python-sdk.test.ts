import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { ServerReply } from "../../packages/runtime/src/testing/model-server.ts";
import { model, run, tempFolder } from "./command.ts";
import { facts, type Frame, mcpAnswer, type Program, raised, runPython, toWords } from "./python-host.ts";

const calc = JSON.stringify({ mcpServers: { calc: { type: "sdk", name: "calc" } } });
const bash = (command: string): ServerReply => ({ calls: [{ name: "Bash", input: { command, description: "d" } }] });

/** Runs a program against a scripted model, in a folder of its own. */
async function play(replies: readonly ServerReply[], program: Omit<Program, "env"> & { env?: Record<string, string> }) {
  const folder = tempFolder();
  const [cwd, home] = [join(folder, "work"), join(folder, "home")];
  for (const path of [cwd, home]) mkdirSync(path);
  const { env, server } = await model(replies, join(home, ".outrider"));
  const variables = { ...env, HOME: home, CLAUDE_CONFIG_DIR: join(home, ".claude"), PWD: cwd, ...program.env };
  const again = async (more: Omit<Program, "env">) => await runPython({ cwd, ...more, env: variables });
  const ran = await again(program);
  const bodies = server.requests.map(({ body }) => body as Record<string, unknown>);
  return { ...ran, bodies, server, cwd, home, again };
}

const results = (frames: readonly Frame[]): Frame[] => frames.filter(({ type }) => type === "result");
const resultOf = (frames: readonly Frame[]): unknown => results(frames).at(-1)?.["result"];
const sent = (body: unknown): string => JSON.stringify(body);

/** Newer releases ask for the state of the session and wait for it; older ones go by results. */
const releases = [{}, { CLAUDE_CODE_SDK_READS_SESSION_STATE: "1" }];

describe("the Python SDK", { timeout: 120_000 }, () => {
  it("asks for the version first, and reads a number", async () => {
    const { code, stdout } = await run(["-v"], { env: { CLAUDE_CODE_ENTRYPOINT: "sdk-py" } });
    assert.equal(code, 0);
    assert.match(stdout, /^\d+\.\d+\.\d+/);
  });

  it("ends stdin behind a prompt of query() when nothing of it is asked, and gets the whole answer", async () => {
    for (const env of releases) {
      const { code, stderr, frames, bodies, responses } = await play([{ text: "four" }], { prompt: "2 + 2?", env });
      assert.deepEqual([code, stderr, resultOf(frames), bodies.length], [0, "", "four", 1]);
      assert.equal(responses[0]?.["request_id"], "req_1_0a1b2c3d");
      assert.doesNotMatch(sent(bodies[0]?.["system"] ?? ""), /Claude Code|interactive/i); // no system prompt was asked for
    }
  });

  it("writes each option as its source does, and each has its effect", async () => {
    const folder = tempFolder();
    writeFileSync(join(folder, "prompt.md"), "FXFILE");
    const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
    const rows: [options: Program["options"], shown: readonly string[], hidden: readonly string[]][] = [
      [
        {
          ...{ system_prompt: "FXPROMPT", tools: "Read,Grep", allowed_tools: "Read,Bash(git log:*)", max_turns: "3" },
          ...{ max_budget_usd: "0.5", task_budget: "50000", model: "claude-opus-5-5", fallback_model: "claude-sonnet-5-5" },
          ...{ betas: "context-1m-2025-08-07", permission_mode: "acceptEdits", setting_sources: "", strict_mcp_config: true },
          ...{ thinking: "adaptive", thinking_display: "summarized", effort: "high" },
        },
        ["FXPROMPT", '"name":"Read"', '"model":"claude-opus-5-5"', "50000", "adaptive", "summarized", '"high"'],
        ['"name":"Bash"'],
      ],
      [
        {
          ...{ append: "FXMORE", tools: "default", disallowed_tools: "Bash,WebFetch", max_thinking_tokens: "2048" },
          ...{ session_id: "6f1e2d3c-4b5a-4978-8695-a4b3c2d1e0f9", include_hook_events: true, setting_sources_in_two_words: "" },
          extra_args: ["--debug-to-nowhere", "x", "--system-prompt-snapshot", "off"],
        },
        ["FXMORE", '"name":"Read"', '"thinking"'],
        ['"name":"Bash"', '"name":"WebFetch"'],
      ],
      [
        { system_prompt_file: join(folder, "prompt.md"), tools: "", thinking: "disabled" },
        ["FXFILE"],
        ['"name":"Read"', '"enabled"'],
      ],
      [
        {
          ...{ preset: true, settings: '{"language":"German"}', add_dirs: [folder, "."], setting_sources: "user,project" },
          include_partial_messages: true,
        },
        ['"name":"Bash"', "German", folder],
        [],
      ],
      [{ output_format: JSON.stringify(schema) }, ['"required":["n"]'], []],
    ];
    for (const [options = {}, shown, hidden] of rows) {
      const replies = [options["output_format"] ? { calls: [{ name: "StructuredOutput", input: { n: 1 } }] } : { text: "ok" }];
      const { code, stderr, bodies } = await play(replies, { prompt: "hi", options });
      const words = `${toWords(options).join(" ")}\n${stderr}`;
      const body = sent(bodies[0]);
      assert.equal(code, 0, words);
      for (const text of shown) assert.ok(body.includes(text), `${text} is not sent: ${words}`);
      for (const text of hidden) assert.ok(!body.includes(text), `${text} is sent: ${words}`);
    }
  });

  it("keeps stdin open for a server in its process, whose bridge answers with few words", async () => {
    const script = [{ calls: [{ name: "mcp__calc__add", input: { a: 1, b: 2 } }] }, { text: "three" }];
    for (const env of releases) {
      const { code, stderr, frames, bodies } = await play(script, {
        options: { mcp_servers: calc, allowed_tools: "mcp__calc__add" },
        prompt: "Add 1 and 2",
        answers: { mcp_message: mcpAnswer },
        env,
      });
      assert.deepEqual([code, stderr, resultOf(frames)], [0, "", "three"]);
      assert.match(sent(bodies[1]), /The sum is 3/);
      const init = frames.find((frame) => frame["subtype"] === "init");
      assert.deepEqual(init?.["mcp_servers"], [{ name: "calc", status: "connected", source: "sdk" }]);
    }
  });

  it("asks can_use_tool: a changed input, rules for later, a no with words, and one that ends the turn", async () => {
    const options = { permission_prompt_tool_name: "stdio" };
    const asked: unknown[] = [];
    const answers = [
      { behavior: "allow", updatedInput: { command: "mkdir changed", description: "d" } },
      { behavior: "deny", message: "FXNOT" },
      { behavior: "deny", message: "FXSTOP", interrupt: true },
    ];
    const { code, frames, bodies } = await play([bash("mkdir one"), bash("mkdir two"), bash("mkdir three"), { text: "never" }], {
      options,
      prompt: "go",
      answers: {
        can_use_tool: ({ tool_name: tool, input, permission_suggestions: suggestions, tool_use_id: id }) => {
          asked.push([tool, (input as { command: string }).command, Array.isArray(suggestions), typeof id]);
          return answers[asked.length - 1];
        },
      },
    });
    assert.deepEqual(
      asked,
      ["one", "two", "three"].map((name) => ["Bash", `mkdir ${name}`, true, "string"]),
    );
    assert.match(sent(bodies[2]), /FXNOT/);
    assert.deepEqual([code, bodies.length, results(frames)[0]?.["subtype"]], [124, 3, "error_during_execution"]);
    assert.match(sent(results(frames)[0]?.["permission_denials"]), /mkdir two.*mkdir three/);
  });

  it("may allow for the rest of the session, and is not asked again", async () => {
    let times = 0;
    const { code } = await play([bash("mkdir one"), bash("mkdir two"), { text: "ok" }], {
      options: { permission_prompt_tool_name: "stdio" },
      prompt: "go",
      answers: {
        can_use_tool: ({ input }) => {
          times++;
          const rules = [{ toolName: "Bash", ruleContent: "mkdir:*" }];
          const update = { type: "addRules", rules, behavior: "allow", destination: "session" };
          return { behavior: "allow", updatedInput: input, updatedPermissions: [update] };
        },
      },
    });
    assert.deepEqual([code, times], [0, 1]);
  });

  it("denies a call whose callback has raised, and the run goes on", async () => {
    const { code, frames, bodies } = await play([bash("mkdir one"), { text: "ok" }], {
      options: { permission_prompt_tool_name: "stdio" },
      prompt: "go",
      answers: {
        can_use_tool: () => {
          throw new Error("FXRAISED");
        },
      },
    });
    assert.deepEqual([code, resultOf(frames)], [0, "ok"]);
    assert.match(sent(bodies[1]), /"is_error":true/);
  });

  it("calls hooks by the names it gave them, with matchers that are null, and reads what they answer", async () => {
    const called: unknown[] = [];
    const { code, frames, bodies, cwd } = await play([bash("touch no"), bash("touch yes"), { text: "ok" }], {
      options: { permission_mode: "bypassPermissions" },
      prompt: "go",
      hooks: {
        UserPromptSubmit: [{ matcher: null, hookCallbackIds: ["hook_0"] }],
        PreToolUse: [{ matcher: "Bash", hookCallbackIds: ["hook_1"], timeout: 30 }],
        PostToolUse: [{ matcher: null, hookCallbackIds: ["hook_2", "hook_3"] }],
        Stop: [{ matcher: null, hookCallbackIds: ["hook_4"] }],
      },
      answers: {
        hook_callback: ({ callback_id: id, input, tool_use_id: call }) => {
          const { hook_event_name: event, tool_input: tool } = input as {
            hook_event_name: string;
            tool_input?: { command: string };
          };
          called.push([id, event, typeof call]);
          const specific = { hookEventName: event };
          if (id === "hook_0") return { hookSpecificOutput: { ...specific, additionalContext: "FXCONTEXT" } };
          if (tool?.command === "touch no" && id === "hook_1")
            return { hookSpecificOutput: { ...specific, permissionDecision: "deny", permissionDecisionReason: "FXDENIED" } };
          return id === "hook_3" ? { continue: true, systemMessage: "FXSAYS" } : {};
        },
      },
    });
    assert.deepEqual([code, resultOf(frames)], [0, "ok"]);
    assert.deepEqual(called, [
      ["hook_0", "UserPromptSubmit", "undefined"],
      ["hook_1", "PreToolUse", "string"],
      ["hook_1", "PreToolUse", "string"],
      ["hook_2", "PostToolUse", "string"],
      ["hook_3", "PostToolUse", "string"],
      ["hook_4", "Stop", "undefined"],
    ]);
    assert.match(sent(bodies[0]), /FXCONTEXT/);
    assert.match(sent(bodies[1]), /FXDENIED/);
    assert.throws(() => readFileSync(join(cwd, "no")));
  });

  it("sends agents, skills and what else it knows in initialize, in the words of its definitions", async () => {
    const agent = {
      ...{ description: "FXDESC", prompt: "FXREV", tools: ["Bash"], disallowedTools: ["Write"], model: "inherit", maxTurns: 4 },
      ...{ effort: "low", background: false, permissionMode: "default", skills: [], memory: "user", initialPrompt: "FXFIRST" },
    };
    const call = { name: "Agent", input: { description: "d", prompt: "look", subagent_type: "rev" } };
    const { code, frames, bodies } = await play([{ calls: [call] }, { text: "seen" }, { text: "ok" }], {
      initialize: {
        agents: { rev: agent },
        excludeDynamicSections: true,
        skills: [],
        forwardSubagentText: true,
        systemPromptSnapshot: "off",
      },
      prompt: "go",
    });
    assert.deepEqual([code, resultOf(frames)], [0, "ok"]);
    assert.match(sent(bodies[1]), /FXREV/);
    const own = frames.filter((frame) => typeof frame["parent_tool_use_id"] === "string").map(({ type }) => type);
    assert.ok(own.includes("assistant"), own.join());
  });

  it("drives a client: requests between prompts are answered, and the next prompt goes on in the same session", async () => {
    const requests = Object.entries(facts.control).map(([subtype, fields]) => ({ subtype, ...fields }));
    const { code, stderr, frames, responses } = await play([{ text: "one" }, { text: "two" }], {
      options: { mcp_servers: calc, permission_prompt_tool_name: "stdio" },
      prompt: ["first", "second"],
      requests: [
        ...requests,
        { subtype: "stop_task", task_id: "nobody" },
        { subtype: "rewind_files", user_message_id: "nothing" },
      ],
      answers: { mcp_message: mcpAnswer },
      env: { CLAUDE_CODE_SDK_READS_SESSION_STATE: "1" },
    });
    assert.deepEqual([code, stderr, results(frames).map(({ result }) => result)], [0, "", ["one", "two"]]);
    const told = responses.slice(1).map(({ subtype, error }, index) => [requests[index]?.subtype, subtype, error]);
    assert.deepEqual(
      told.slice(0, requests.length),
      requests.map(({ subtype }) => [subtype, "success", undefined]),
    );
    assert.deepEqual(
      told.slice(requests.length).map(([, subtype]) => subtype),
      ["success", "error"],
    );
    assert.equal(new Set(frames.map((frame) => frame["session_id"])).size, 1);
  });

  it("finds the words of a failed run in its last frame, whatever made it fail", async () => {
    const failing: [ServerReply[], Program["options"], RegExp][] = [
      [[{ status: 400, body: { error: { type: "invalid_request_error", message: "FXBAD" } } }], {}, /FXBAD/],
      [[bash("echo 1"), { text: "never" }], { max_turns: "1", allowed_tools: "Bash" }, /./],
      [[{ text: "ok" }], { resume: "6f1e2d3c-4b5a-4978-8695-a4b3c2d1e0f9" }, /6f1e2d3c/],
    ];
    for (const [replies, options = {}, words] of failing)
      for (const env of releases) {
        const ran = await play(replies, { prompt: "go", options, env });
        assert.notEqual(ran.code, 0);
        assert.match(raised(ran) ?? "", words);
        assert.match(raised(ran) ?? "", /returned an error result/);
      }
  });

  it("resumes, forks and continues by the words it writes in one piece, and mirrors the session", async () => {
    const first = await play([{ text: "one" }, { text: "two" }, { text: "three" }, { text: "four" }], {
      prompt: "FXFIRST",
      options: { session_store: true },
    });
    const mirrored = first.frames.filter(({ type }) => type === "transcript_mirror");
    assert.match(sent(mirrored), /FXFIRST/);
    const id = String(results(first.frames)[0]?.["session_id"]);
    const resumed = await first.again({ prompt: "more", options: { resume: id } });
    const forked = await first.again({ prompt: "else", options: { resume: id, fork_session: true } });
    const continued = await first.again({ prompt: "on", options: { continue_conversation: true } });
    assert.deepEqual(
      [resumed, forked, continued].map(({ frames }) => resultOf(frames)),
      ["two", "three", "four"],
    );
    const idOf = ({ frames }: { frames: Frame[] }): unknown => results(frames)[0]?.["session_id"];
    assert.deepEqual([idOf(resumed) === id, idOf(forked) === id, idOf(continued) === idOf(forked)], [true, false, true]);
    for (const { body } of first.server.requests.slice(1)) assert.match(sent(body), /FXFIRST/);
  });
});
