import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import type { JsonObject, JsonValue } from "../../protocol/content.ts";
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
    const hooks = { FileChanged: [{ hookCallbackIds: ["h1"] }], Stop: [{ hookCallbackIds: ["h2"] }] };
    await ask(live, { subtype: "initialize", skills: ["pdf"], plugins: [], promptSuggestions: false, hooks });
    assert.deepEqual(live.warnings, ["initialize: hooks.FileChanged is not supported here and has no effect"]);
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
    const rows = usage["categories"] as { id: string; tokens: number; kind: string }[];
    assert.deepEqual(
      rows.map(({ id, kind }) => [id, kind]),
      [
        ["system_prompt", "used"],
        ["system_tools", "used"],
        ["messages", "used"],
        ["free_space", "free"],
      ],
    );
    assert.equal(
      rows.reduce((sum, { tokens }) => sum + tokens, 0),
      usage["maxTokens"],
    );
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

  it("get_task_output keeps the end of what is long, and says so", async () => {
    const call = { name: "Bash", input: { command: "yes 0123456789abcde | head -n 20000; echo last", run_in_background: true } };
    const live = start([{ calls: [call] }, { text: "begun" }, { text: "told" }], { session: { allowedTools: ["Bash"] } });
    live.say("go");
    await live.result();
    const deadline = Date.now() + 20_000;
    let answer: JsonObject = {};
    for (; !String(answer["output"]).includes("exited") && Date.now() < deadline; await wait(50))
      answer = (await ask(live, { subtype: "get_task_output", task_id: "process_1" }))["response"] as JsonObject;
    assert.match(String(answer["output"]), /last\n\n?\[exited with code 0\]\n$/);
    assert.equal(String(answer["output"]).length, 256 * 1024);
    assert.ok(Number(answer["total_bytes"]) > 320_000);
    assert.equal(answer["truncated"], true);
  });

  it("read_file answers with the beginning of a file, as text or as bytes", async () => {
    writeFileSync(join(cwd, "a.txt"), "one two three");
    writeFileSync(join(cwd, "b.bin"), Buffer.from([0x61, 0xff]));
    writeFileSync(join(cwd, "big.txt"), "x".repeat(1024 * 1024 + 1));
    const live = start([]);
    const read = async (more: JsonObject): Promise<JsonObject> => {
      const { response } = await ask(live, { subtype: "read_file", ...more });
      const { absPath, requested_path: requested, ...rest } = response as JsonObject;
      assert.equal(requested, more["path"]);
      assert.ok(String(absPath).endsWith(String(more["path"])));
      return rest;
    };
    assert.deepEqual(await read({ path: "a.txt" }), { contents: "one two three", lossy: false });
    assert.deepEqual(await read({ path: "a.txt", max_bytes: 3.9 }), { contents: "one", lossy: false, truncated: true });
    assert.deepEqual(await read({ path: "a.txt", max_bytes: 0 }), { contents: "one two three", lossy: false });
    assert.deepEqual(await read({ path: "a.txt", encoding: "base64", max_bytes: 3 }), {
      contents: "b25l",
      encoding: "base64",
      truncated: true,
    });
    assert.deepEqual(await read({ path: "b.bin" }), { contents: "a\ufffd", lossy: true });
    const big = await read({ path: "big.txt" });
    assert.deepEqual([String(big["contents"]).length, big["truncated"]], [1024 * 1024, true]);
    assert.equal((await ask(live, { subtype: "read_file" }))["error"], "path must be a string");
  });

  it("seed_read_state lets a file be changed that the host has read, as long as it is the same", async () => {
    const path = join(cwd, "a.txt");
    writeFileSync(path, "one");
    const edit = { name: "Edit", input: { file_path: path, old_string: "one", new_string: "two" } };
    const live = start([{ calls: [edit] }, { text: "done" }], { session: { permissionMode: "acceptEdits" } });
    for (const wrong of [{}, { path: 1, mtime: 1 }, { path, mtime: "now" }])
      assert.equal(
        (await ask(live, { subtype: "seed_read_state", ...wrong }))["error"],
        "path must be a string, and mtime a number",
      );
    assert.equal((await ask(live, { subtype: "seed_read_state", path, mtime: statSync(path).mtimeMs }))["subtype"], "success");
    live.say("go");
    await live.result();
    assert.equal(readFileSync(path, "utf8"), "two");
  });

  it("rename_session takes a text that says something", async () => {
    const live = start([]);
    assert.equal((await ask(live, { subtype: "rename_session", title: " A name " }))["subtype"], "success");
    for (const title of ["  ", 1])
      assert.equal((await ask(live, { subtype: "rename_session", title }))["error"], "title must be a text that says something");
  });

  it("thinking_display is one of two words, or null for what the provider does by itself", async () => {
    const live = start([]);
    const display = async (word: JsonValue): Promise<string> =>
      String((await ask(live, { subtype: "set_max_thinking_tokens", thinking_display: word }))["error"]);
    assert.equal(await display("loud"), 'thinking_display cannot be "loud" here; it is summarized or omitted');
    for (const word of ["summarized", "omitted", null]) assert.match(await display(word), /Anthropic's API/);
  });

  it("changes of settings must be an object", async () => {
    const live = start([]);
    assert.equal((await ask(live, { subtype: "apply_flag_settings", settings: [] }))["error"], "settings must be an object");
    assert.equal((await ask(live, { subtype: "set_has_subscribers" }))["subtype"], "success");
  });

  it("cancel_async_message says whether there was such a message", async () => {
    const live = start([]);
    for (const uuid of ["dddddddd-dddd-4ddd-8ddd-dddddddddddd", 7])
      assert.deepEqual((await ask(live, { subtype: "cancel_async_message", message_uuid: uuid }))["response"], {
        cancelled: false,
      });
  });

  it("set_permission_mode is answered, and then the frame tells it", async () => {
    const live = start([]);
    await ask(live, { subtype: "set_permission_mode", mode: "plan" });
    await live.frame(({ subtype }) => subtype === "status", "the mode");
    const told = live.frames.slice(-2).map(({ type, permissionMode }) => [type, permissionMode]);
    assert.deepEqual(told, [
      ["control_response", undefined],
      ["system", "plan"],
    ]);
  });

  it("register_repo_root lists a folder inside of the session's, once, and no other", async () => {
    mkdirSync(join(cwd, "sub"));
    symlinkSync(tmpdir(), join(cwd, "out"));
    const live = start([]);
    const register = async (directory: JsonValue) => await ask(live, { subtype: "register_repo_root", directory });
    const directory = join(realpathSync(cwd), "sub");
    assert.deepEqual((await register(join(cwd, "sub")))["response"], { directory });
    const rules = (await ask(live, { subtype: "list_permission_rules" }))["response"] as { state: JsonObject };
    assert.deepEqual(rules.state["workspaceDirectories"], [{ path: directory, source: "session" }]);
    for (const [wrong, words] of [
      [join(cwd, "sub"), /already a folder/],
      [cwd, /already a folder/],
      [join(cwd, ".."), /not inside/],
      [join(cwd, "out"), /not inside/],
      [join(cwd, "gone"), /no folder/],
      [7, /must be a string/],
    ] as const)
      assert.match(String((await register(wrong))["error"]), words);
  });

  it("register_repo_root has the skills looked for again where it is told to", async () => {
    let looks = 0;
    const reload = async () => {
      looks++;
      return { skills: [], warnings: [] };
    };
    const live = start([], { session: { skills: { found: [], trusted: async () => true, reload } } });
    const seen: number[] = [];
    for (const [name, more] of [
      ["one", {}],
      ["two", { reload_skills: true }],
    ] as const) {
      mkdirSync(join(cwd, name));
      await ask(live, { subtype: "register_repo_root", directory: join(cwd, name), ...more });
      seen.push(looks);
    }
    assert.deepEqual(seen, [0, 1]);
  });

  it("background_tasks moves nothing, and says so where something runs", async () => {
    const live = start([{ calls: [{ name: "Bash", input: { command: "touch x" }, callId: "toolu_1" }] }], {
      permissions: "host",
    });
    assert.deepEqual((await ask(live, { subtype: "background_tasks" }))["response"], {});
    live.say("go");
    const { id } = await live.asked("can_use_tool");
    assert.match(String((await ask(live, { subtype: "background_tasks" }))["error"]), /Unsupported.*run_in_background/);
    live.answer(id, { behavior: "deny", message: "no", interrupt: true });
  });

  it("update_settings is refused with what changes the session", async () => {
    const live = start([]);
    const { error } = await ask(live, { subtype: "update_settings", source: "userSettings", settings: { effortLevel: "low" } });
    assert.match(String(error), /Unsupported.*apply_flag_settings/);
  });

  it("get_settings says what holds for the session now", async () => {
    const live = start([]);
    await ask(live, { subtype: "apply_flag_settings", settings: { effortLevel: "max" } });
    const { applied } = (await ask(live, { subtype: "get_settings" }))["response"] as JsonObject;
    assert.deepEqual(applied, { model: "scripted", effort: "max" });
  });

  it("stop_task needs no task that runs; the others say when there is no such thing", async () => {
    const live = start([]);
    assert.deepEqual((await ask(live, { subtype: "stop_task", task_id: "t" }))["response"], {});
    const resource = { subtype: "mcp_read_resource", serverName: "x" };
    assert.equal((await ask(live, { ...resource, uri: "ui://a" }))["error"], "Server not found: x");
    assert.match(String((await ask(live, { ...resource, uri: "file:///etc/passwd" }))["error"]), /ui:\/\//);
    assert.equal((await ask(live, { subtype: "mcp_reconnect", serverName: "x" }))["error"], "Server not found: x");
    assert.equal((await ask(live, { subtype: "mcp_toggle", serverName: "x", enabled: false }))["error"], "Server not found: x");
  });

  it("mcp_toggle and mcp_reconnect find a server that is there, whatever it does", async () => {
    const live = start([]);
    await ask(live, { subtype: "mcp_set_servers", servers: { gone: { command: "no-such-program-anywhere" } } });
    const status = async (): Promise<unknown> =>
      ((await ask(live, { subtype: "mcp_status" }))["response"] as { mcpServers: JsonObject[] }).mcpServers[0]?.["status"];
    assert.equal((await ask(live, { subtype: "mcp_toggle", serverName: "gone", enabled: false }))["subtype"], "success");
    assert.equal(await status(), "disabled");
    assert.equal((await ask(live, { subtype: "mcp_toggle", serverName: "gone", enabled: true }))["subtype"], "success");
    assert.equal(await status(), "failed");
    assert.equal((await ask(live, { subtype: "mcp_reconnect", serverName: "gone" }))["subtype"], "success");
    assert.equal((await ask(live, { subtype: "mcp_toggle", serverName: 7 }))["error"], "Server not found: 7");
  });

  it("mcp_call calls a tool of a server for the host, and says when there is none", async () => {
    const live = start([]);
    const server = { command: process.execPath, args: [join(process.cwd(), "test/contract/tiny-mcp-server.mjs")] };
    await ask(live, { subtype: "mcp_set_servers", servers: { tiny: server } });
    const call = async (tool: string, more: JsonObject = {}): Promise<JsonObject> =>
      await ask(live, { subtype: "mcp_call", tool, ...more });
    assert.deepEqual((await call("mcp__tiny__add", { arguments: { a: 1, b: 2 } }))["response"], {
      content: '{"sum":3}',
      structuredContent: { sum: 3 },
    });
    assert.match(String((await call("mcp__tiny__fail"))["error"]), /it failed/);
    assert.match(String((await call("mcp__tiny__nothing"))["error"]), /no tool of a server named mcp__tiny__nothing/);
    assert.match(String((await call("Bash", { arguments: { command: "true" } }))["error"]), /Bash/);
    assert.match(String((await call("mcp__tiny__add", { arguments: [1] }))["error"]), /must be an object/);
    assert.match(String((await call("mcp__tiny__add", { check_permissions: true }))["error"]), /check_permissions/);
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
