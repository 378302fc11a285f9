import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import type { JsonObject } from "../../protocol/content.ts";
import { type HostOptions, LiveHost } from "../../../../../test/support/live-host.ts";

let cwd = "";
let host: LiveHost | undefined;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "outrider-live-"));
});

afterEach(async () => {
  await host?.close();
  rmSync(cwd, { recursive: true, force: true });
});

function start(replies: HostOptions["replies"], more: Partial<HostOptions> = {}): LiveHost {
  host = new LiveHost({ cwd, replies, ...more });
  return host;
}

async function ask(live: LiveHost, request: JsonObject): Promise<JsonObject> {
  const id = `r${live.frames.length}-${String(request["subtype"])}`;
  live.request(id, request);
  return await live.reply(id);
}

const initOf = (live: LiveHost, turn: number): JsonObject => live.frames.filter(({ subtype }) => subtype === "init")[turn] ?? {};

describe("requests of the host", () => {
  it("what is not known is said to be unsupported", async () => {
    const live = start([{ text: "ok" }]);
    assert.deepEqual(await ask(live, { subtype: "conquer_the_world" }), {
      subtype: "error",
      request_id: "r0-conquer_the_world",
      error: "Unsupported control request subtype: conquer_the_world",
      error_code: "unsupported_request",
    });
    assert.equal((await ask(live, { subtype: "toString" }))["error_code"], "unsupported_request");
    live.say("hello");
    assert.equal((await live.result())["result"], "ok");
  });

  it("initialize is refused after a prompt, unless it came before as well", async () => {
    const late = start([{ text: "ok" }]);
    late.say("hello");
    await late.result();
    assert.equal((await ask(late, { subtype: "initialize" }))["subtype"], "error");
  });

  it("initialize a second time tells what is still to be answered", async () => {
    const call = { calls: [{ name: "Bash", input: { command: "touch x" }, callId: "toolu_1" }] };
    const live = start([call, { text: "ok" }], { permissions: "host" });
    const first = await ask(live, { subtype: "initialize" });
    assert.deepEqual(first["pending_permission_requests"], []);
    live.say("hello");
    const { id, request } = await live.asked("can_use_tool");
    const again = await ask(live, { subtype: "initialize" });
    assert.deepEqual(again["response"], first["response"]);
    assert.deepEqual(again["pending_permission_requests"], [{ type: "control_request", request_id: id, request }]);
    live.answer(id, { behavior: "deny", message: "no" });
    assert.equal((await live.result())["result"], "ok");
  });

  it("initialize says which of its wishes cannot be met", async () => {
    const live = start([]);
    const hooks = { Setup: [{ hookCallbackIds: ["h1"] }], Stop: [{ hookCallbackIds: ["h2"] }] };
    await ask(live, { subtype: "initialize", skills: ["pdf"], plugins: [], promptSuggestions: false, hooks });
    assert.deepEqual(live.warnings, ["initialize: hooks.Setup is not supported here and has no effect"]);
  });

  it("a prompt waits for initialize where that was asked for", async () => {
    const live = start([{ text: "ok" }], { live: { awaitInitialize: true } });
    live.say("hello");
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(live.opened, 0);
    await ask(live, { subtype: "initialize" });
    assert.equal((await live.result())["result"], "ok");
  });

  it("set_model before, between and during turns", async () => {
    const tool = { calls: [{ name: "Bash", input: { command: "sleep 0.3" } }] };
    const live = start([{ text: "one" }, tool, { text: "two" }], {
      session: { permissionMode: "bypassPermissions", permissions: { mayBypass: true } },
      live: { resolveModel: async (name) => (name === "small" ? "the-small-one" : name) },
    });
    assert.deepEqual((await ask(live, { subtype: "set_model", model: "early" }))["response"], { model: "early" });
    live.say("first");
    await live.result(1);
    assert.equal(initOf(live, 0)["model"], "early");
    await ask(live, { subtype: "set_model", model: "default" });
    live.say("second");
    await live.frame(({ message }) => JSON.stringify(message ?? "").includes("sleep 0.3"), "the call");
    await ask(live, { subtype: "set_model", model: "small" });
    await live.result(2);
    assert.deepEqual(
      live.requests.map(({ model }) => model),
      ["early", "scripted", "the-small-one"],
    );
  });

  it("set_permission_mode: told in a status frame and in the next init; what is impossible is refused with a code", async () => {
    const live = start([{ text: "one" }]);
    assert.deepEqual((await ask(live, { subtype: "set_permission_mode", mode: "acceptEdits" }))["response"], {
      mode: "acceptEdits",
    });
    assert.ok(live.frames.some(({ subtype, permissionMode }) => subtype === "status" && permissionMode === "acceptEdits"));
    assert.equal((await ask(live, { subtype: "set_permission_mode", mode: "yolo" }))["error_code"], "invalid_mode");
    assert.deepEqual((await ask(live, { subtype: "set_permission_mode", mode: "manual" }))["response"], { mode: "default" });
    assert.deepEqual((await ask(live, { subtype: "set_permission_mode", mode: "auto" }))["response"], { mode: "acceptEdits" });
    assert.equal(
      (await ask(live, { subtype: "set_permission_mode", mode: "bypassPermissions" }))["error_code"],
      "bypass_not_launched",
    );
    live.say("hello");
    await live.result();
    assert.equal(initOf(live, 0)["permissionMode"], "acceptEdits");
  });

  it("set_max_thinking_tokens: a number, 0 or null for none, nothing else", async () => {
    const live = start([{ text: "one" }, { text: "two" }]);
    await ask(live, { subtype: "set_max_thinking_tokens", max_thinking_tokens: 2000 });
    live.say("first");
    await live.result(1);
    await ask(live, { subtype: "set_max_thinking_tokens", max_thinking_tokens: null });
    live.say("second");
    await live.result(2);
    assert.deepEqual(
      live.requests.map(({ thinkingTokens }) => thinkingTokens),
      [2000, undefined],
    );
    for (const wrong of ["many", -1, 1.5])
      assert.equal((await ask(live, { subtype: "set_max_thinking_tokens", max_thinking_tokens: wrong }))["subtype"], "error");
    for (const none of [{ max_thinking_tokens: 0 }, {}])
      assert.equal((await ask(live, { subtype: "set_max_thinking_tokens", ...none }))["subtype"], "success");
  });

  it("thinking_display: refused where the provider has no word for it, and leaves the tokens as they are", async () => {
    const live = start([{ text: "one" }]);
    await ask(live, { subtype: "set_max_thinking_tokens", max_thinking_tokens: 2000 });
    const refused = await ask(live, { subtype: "set_max_thinking_tokens", thinking_display: "omitted" });
    assert.match(String(refused["error"]), /Anthropic's API/);
    live.say("first");
    await live.result();
    assert.equal(live.requests[0]?.thinkingTokens, 2000);
  });

  it("list_permission_rules names each rule with its source, and follows changes", async () => {
    const live = start([], {
      session: {
        allowedTools: ["Read"],
        permissions: { deny: [{ text: "Bash(rm:*)", source: `${cwd}/.claude/settings.json:1` }], root: cwd },
      },
    });
    await ask(live, { subtype: "apply_flag_settings", settings: { permissions: { ask: ["Write"] } } });
    const { state } = (await ask(live, { subtype: "list_permission_rules" }))["response"] as { state: JsonObject };
    const rows = (state["rules"] as JsonObject[]).map(({ behavior, rule, source }) => [behavior, rule, source]);
    assert.deepEqual(rows, [
      ["allow", "Read", "cliArg"],
      ["ask", "Write", "session"],
      ["deny", "Bash(rm:*)", "projectSettings"],
    ]);
    assert.equal(state["managedOnly"], false);
  });

  it("get_context_usage has the fields the SDK promises", async () => {
    const live = start([{ text: "one", usage: { inputTokens: 500, outputTokens: 5 } }]);
    live.say("hello");
    await live.result();
    const usage = (await ask(live, { subtype: "get_context_usage" }))["response"] as JsonObject;
    assert.equal(usage["model"], "scripted");
    assert.ok(Number(usage["totalTokens"]) >= 500);
    const [used, free] = usage["categories"] as { tokens: number }[];
    assert.equal(used?.tokens, usage["totalTokens"]);
    assert.equal(free?.tokens, Number(usage["maxTokens"]) - Number(usage["totalTokens"]));
    assert.equal(usage["isAutoCompactEnabled"], true);
    for (const list of ["categories", "memoryFiles", "mcpTools", "gridRows"]) assert.ok(Array.isArray(usage[list]), list);
  });

  it("rewind_files goes to the turn of the message, and needs a name", async () => {
    const uuid = "cccccccc-cccc-4ccc-8ccc-cccccccccccc";
    const live = start([{ text: "one" }]);
    live.say("hello", { uuid });
    await live.result();
    assert.deepEqual((await ask(live, { subtype: "rewind_files", user_message_id: uuid }))["response"], {
      canRewind: true,
      turnId: uuid,
    });
    assert.equal((await ask(live, { subtype: "rewind_files" }))["subtype"], "error");
  });

  it("names of messages that are no UUIDs never become names of turns", async () => {
    const live = start([{ text: "one" }]);
    live.say("hello", { uuid: "../../etc/passwd" });
    await live.result();
    const { turnId } = (await ask(live, { subtype: "rewind_files", user_message_id: "../../etc/passwd" }))[
      "response"
    ] as JsonObject;
    assert.match(String(turnId), /^[0-9a-f-]{36}$/);
  });

  it("get_task_output has what a task printed, and how much that is", async () => {
    const call = { name: "Bash", input: { command: "printf 'one\\ntwo\\n'", run_in_background: true } };
    const live = start([{ calls: [call] }, { text: "begun" }, { text: "told" }], { session: { allowedTools: ["Bash"] } });
    live.say("go");
    await live.result();
    const deadline = Date.now() + 20_000;
    let answer: JsonObject = {};
    for (; !String(answer["output"]).includes("exited") && Date.now() < deadline; await wait(50))
      answer = (await ask(live, { subtype: "get_task_output", task_id: "process_1" }))["response"] as JsonObject;
    const { output, ...sizes } = answer;
    assert.match(String(output), /^one\ntwo\n\n?\[exited with code 0\]\n$/);
    assert.deepEqual(sizes, { total_bytes: String(output).length, truncated: false });
    assert.match(String((await ask(live, { subtype: "get_task_output", task_id: "x" }))["error"]), /There is no task x/);
  });

  it("stop_task, mcp_reconnect and mcp_toggle say when there is no such thing", async () => {
    const live = start([]);
    assert.match(String((await ask(live, { subtype: "stop_task", task_id: "t" }))["error"]), /no running task/);
    assert.equal((await ask(live, { subtype: "mcp_reconnect", serverName: "x" }))["error"], "Server not found: x");
    assert.equal((await ask(live, { subtype: "mcp_toggle", serverName: "x", enabled: false }))["error"], "Server not found: x");
  });

  it("mcp_set_servers takes what is written well, and says what is not", async () => {
    const live = start([]);
    assert.match(
      String((await ask(live, { subtype: "mcp_set_servers", servers: { x: { type: "pigeon" } } }))["error"]),
      /pigeon/,
    );
    const servers = { gone: { command: "no-such-program-anywhere" } };
    const answer = (await ask(live, { subtype: "mcp_set_servers", servers }))["response"] as JsonObject;
    assert.deepEqual(answer["added"], ["gone"]);
    assert.deepEqual(Object.keys(answer["errors"] as JsonObject), ["gone"]);
    const status = (await ask(live, { subtype: "mcp_status" }))["response"] as { mcpServers: JsonObject[] };
    assert.deepEqual(
      status.mcpServers.map(({ error, ...rest }) => ({ ...rest, error: typeof error })),
      [
        {
          name: "gone",
          status: "failed",
          config: { type: "stdio", command: "no-such-program-anywhere", args: [] },
          transport: "stdio",
          tools: [],
          error: "string",
        },
      ],
    );
  });

  it("is answered during a turn too", async () => {
    const live = start([{ text: "word ".repeat(2_000) }]);
    live.say("talk");
    await live.frame(({ type }) => type === "stream_event", "its words");
    assert.equal((await ask(live, { subtype: "mcp_status" }))["subtype"], "success");
    assert.deepEqual(live.results, []);
    await ask(live, { subtype: "interrupt" });
  });
});
