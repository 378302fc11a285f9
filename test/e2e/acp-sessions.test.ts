import assert from "node:assert/strict";
import { existsSync, readdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { places, refused, TestClient } from "./acp-client.ts";
import { eventually, model, run } from "./command.ts";

const choose = (optionId: string) => () => ({ outcome: { outcome: "selected", optionId } });
const bash = (command: string) => ({ calls: [{ name: "Bash", input: { command } }] });

describe("sessions over ACP", { timeout: 120_000 }, () => {
  it("a folder must be absolute and there", async () => {
    const { home, cwd } = places();
    writeFileSync(join(cwd, "file"), "");
    const { env } = await model([], home);
    const client = new TestClient({ env });
    await client.initialize();
    for (const wrong of ["work", "", join(cwd, "nowhere"), join(cwd, "file")]) {
      const { code, message } = await refused(client.request("session/new", { cwd: wrong, mcpServers: [] }));
      assert.equal(code, -32602, message);
    }
    const relative = { cwd, additionalDirectories: ["here"], mcpServers: [] };
    assert.equal((await refused(client.request("session/new", relative))).code, -32602);
    await client.end();
  });

  it("nothing is stored before the first prompt", async () => {
    const { home, cwd } = places();
    const { env } = await model([{ text: "one" }], home);
    const client = new TestClient({ env });
    const { sessionId } = await client.open(cwd);
    await client.request("session/set_mode", { sessionId, modeId: "plan" });
    const sessions = join(home, "sessions");
    assert.deepEqual(existsSync(sessions) ? readdirSync(sessions) : [], []);
    await client.prompt(sessionId, "hello");
    assert.match((await run(["sessions", "list", "--json"], { env, cwd })).stdout, new RegExp(sessionId));
    await client.end();
  });

  it("a session is copied, and both go on by themselves", async () => {
    const { home, cwd } = places();
    const { env, server } = await model([{ text: "One." }, { text: "Of the copy." }, { text: "Of the original." }], home);
    const client = new TestClient({ env });
    const { sessionId } = await client.open(cwd);
    await client.prompt(sessionId, "remember the blue door");
    const copy = await client.request("session/fork", { sessionId, cwd, mcpServers: [] });
    assert.notEqual(copy.sessionId, sessionId);
    assert.ok(copy.configOptions && copy.modes);
    await client.prompt(copy.sessionId, "into the copy");
    await client.prompt(sessionId, "into the original");
    const [, ofCopy, ofOriginal] = server.requests.map((request) => JSON.stringify(request));
    assert.match(ofCopy ?? "", /blue door[\s\S]*into the copy/);
    assert.match(ofOriginal ?? "", /blue door[\s\S]*into the original/);
    assert.doesNotMatch(ofOriginal ?? "", /into the copy/);
    assert.equal((await refused(client.request("session/fork", { sessionId: "odd", cwd, mcpServers: [] }))).code, -32002);
    assert.equal((await refused(client.request("session/fork", { sessionId, cwd: "here", mcpServers: [] }))).code, -32602);
    await client.end();
  });

  it("how hard the model thinks can be chosen before and in a session", async () => {
    const { home, cwd } = places();
    const { env, server } = await model([{ text: "One." }, { text: "Two." }, { text: "Three." }], home);
    const client = new TestClient({ env, args: ["--model", "claude-opus-4-6"] });
    const { sessionId } = await client.open(cwd);
    const choose = async (value: string) => {
      const { configOptions } = await client.request("session/set_config_option", { sessionId, configId: "effort", value });
      return configOptions.find(({ category }) => category === "thought_level")?.currentValue;
    };
    assert.equal(await choose("low"), "low");
    await client.prompt(sessionId, "one");
    assert.equal(await choose("max"), "max");
    await client.prompt(sessionId, "two");
    assert.equal(await choose("default"), "default");
    await client.prompt(sessionId, "three");
    const efforts = server.requests.map((request) => /"effort":"(\w+)"/.exec(JSON.stringify(request))?.[1]);
    assert.deepEqual(efforts, ["low", "max", undefined]);
    assert.equal((await refused(choose("most"))).code, -32602);
    await client.end();
  });

  it("a stored session is listed, shown again when it is loaded, and goes on", async () => {
    const { home, cwd } = places();
    const usage = { inputTokens: 1000, outputTokens: 1000 };
    const { env, server } = await model(
      [{ ...bash("echo found"), usage }, { text: "First answer.", usage }, { text: "Second answer.", usage }, { text: "Third." }],
      home,
    );
    const args = ["--model", "claude-sonnet-4-6"];
    const before = new TestClient({ env, args, onPermission: choose("allow") });
    const { sessionId } = await before.open(cwd);
    await before.prompt(sessionId, "my first question");
    const spent = before.updates("usage_update").at(-1)?.cost?.amount ?? 0;
    assert.ok(spent > 0);
    await before.end();

    const client = new TestClient({ env, args });
    await client.initialize();
    const { sessions } = await client.request("session/list", { cwd });
    assert.deepEqual(
      sessions.map(({ sessionId, cwd, title }) => ({ sessionId, cwd, title })),
      [{ sessionId, cwd: realpathSync(cwd), title: "my first question" }],
    );
    assert.deepEqual((await client.request("session/list", { cwd: home })).sessions, []);
    assert.equal((await client.request("session/list", {})).sessions.length, 1);

    const loaded = await client.request("session/load", { sessionId, cwd, mcpServers: [] });
    assert.equal(loaded.modes?.currentModeId, "default");
    assert.deepEqual(
      client.told.map(({ update }) => ("status" in update ? `${update.sessionUpdate} ${update.status}` : update.sessionUpdate)),
      [
        "user_message_chunk",
        "tool_call pending",
        "tool_call_update in_progress",
        "tool_call_update completed",
        "agent_message_chunk",
        "usage_update",
      ],
    );
    assert.equal(client.text(sessionId, "user_message_chunk"), "my first question");
    assert.equal(client.text(sessionId), "First answer.");
    assert.equal(client.updates("usage_update").at(-1)?.cost?.amount, spent);
    await client.prompt(sessionId, "and now?");
    assert.match(JSON.stringify(server.requests[2]?.body), /my first question.*First answer\..*and now\?/);
    assert.ok((client.updates("usage_update").at(-1)?.cost?.amount ?? 0) > spent, "what was spent before counts on");

    client.told.length = 0;
    await client.request("session/close", { sessionId });
    assert.equal((await refused(client.prompt(sessionId, "closed"))).code, -32002);
    await client.request("session/resume", { sessionId, cwd, mcpServers: [] });
    assert.equal(client.text(), "");
    assert.equal((await client.prompt(sessionId, "third")).stopReason, "end_turn");
    await client.request("session/delete", { sessionId });
    assert.deepEqual((await client.request("session/list", {})).sessions, []);
    await client.end();
  });

  it("a session is loaded in the mode and with the model that were chosen last, whatever the flags say", async () => {
    const { home, cwd } = places();
    const { env, server } = await model([{ text: "one" }, { text: "two" }], home);
    const args = ["--permission-mode", "acceptEdits"];
    const first = new TestClient({ env, args });
    const { sessionId } = await first.open(cwd);
    await first.request("session/set_mode", { sessionId, modeId: "plan" });
    await first.request("session/set_config_option", { sessionId, configId: "model", value: "other-model" });
    await first.prompt(sessionId, "hello");
    await first.end();
    const second = new TestClient({ env, args });
    await second.initialize();
    const { modes } = await second.request("session/load", { sessionId, cwd, mcpServers: [] });
    await second.prompt(sessionId, "again");
    const asked = server.requests.at(-1)?.body as { model: string };
    assert.deepEqual([modes?.currentModeId, asked.model], ["plan", "other-model"]);
    await second.end();
  });

  it("a session that another process works in is refused until it is free", async () => {
    const { home, cwd } = places();
    const { env } = await model([{ text: "one" }, { text: "two" }], home);
    const first = new TestClient({ env });
    const { sessionId } = await first.open(cwd);
    await first.prompt(sessionId, "hello");
    const second = new TestClient({ env });
    await second.initialize();
    await second.request("session/load", { sessionId, cwd, mcpServers: [] });
    const { code, data } = await refused(second.prompt(sessionId, "mine"));
    assert.deepEqual({ code, ours: data.code }, { code: -32603, ours: "session-locked" });
    await first.end();
    assert.equal((await second.prompt(sessionId, "mine")).stopReason, "end_turn");
    assert.equal(second.text(sessionId), "onetwo");
    await second.end();
  });

  it("what is not there is not found, also when its name is a path", async () => {
    const { home, cwd } = places();
    const { env } = await model([], home);
    const client = new TestClient({ env });
    await client.initialize();
    for (const sessionId of ["nobody", "../../etc/passwd", ""]) {
      const codes = await Promise.all(
        [
          client.request("session/load", { sessionId, cwd, mcpServers: [] }),
          client.request("session/resume", { sessionId, cwd, mcpServers: [] }),
          client.prompt(sessionId, "hello"),
          client.request("session/set_mode", { sessionId, modeId: "plan" }),
        ].map(async (request) => (await refused(request)).code),
      );
      assert.deepEqual(codes, [-32002, -32002, -32002, -32002], sessionId);
    }
    await client.end();
  });

  it("lists page by page", async () => {
    const { home, cwd } = places();
    const { env } = await model(() => ({ text: "ok" }), home);
    const client = new TestClient({ env });
    await client.initialize();
    const ids = new Set<string>();
    for (let count = 0; count < 53; count++) {
      const { sessionId } = await client.request("session/new", { cwd, mcpServers: [] });
      await client.prompt(sessionId, `number ${count}`);
      await client.request("session/close", { sessionId });
      ids.add(sessionId);
    }
    const first = await client.request("session/list", {});
    const second = await client.request("session/list", { cursor: first.nextCursor ?? null });
    assert.deepEqual([first.sessions.length, second.sessions.length, second.nextCursor], [50, 3, undefined]);
    assert.deepEqual(new Set([...first.sessions, ...second.sessions].map(({ sessionId }) => sessionId)), ids);
    assert.equal((await refused(client.request("session/list", { cursor: "what" }))).code, -32602);
    await client.end();
  });
});

describe("modes and models over ACP", { timeout: 120_000 }, () => {
  it("a mode holds from the next call on, and is told", async () => {
    const { home, cwd } = places();
    const write = (name: string) => ({ calls: [{ name: "Write", input: { file_path: name, content: "x" } }] });
    const { env } = await model([write("a"), { text: "1" }, write("b"), { text: "2" }, write("c"), { text: "3" }], home);
    const client = new TestClient({ env, onPermission: choose("reject") });
    const { sessionId, modes, configOptions } = await client.open(cwd);
    assert.deepEqual(
      { current: modes?.currentModeId, offered: modes?.availableModes.map(({ id }) => id) },
      { current: "default", offered: ["default", "acceptEdits", "sandboxed", "plan", "dontAsk"] },
    );
    assert.deepEqual(
      configOptions?.map(({ id, category }) => [id, category]),
      [
        ["mode", "mode"],
        ["model", "model"],
        ["effort", "thought_level"],
      ],
    );
    await client.prompt(sessionId, "one");
    assert.deepEqual([client.questions.length, existsSync(join(cwd, "a"))], [1, false]);
    await client.request("session/set_mode", { sessionId, modeId: "acceptEdits" });
    assert.equal(client.updates("current_mode_update").at(-1)?.currentModeId, "acceptEdits");
    await client.prompt(sessionId, "two");
    assert.deepEqual([client.questions.length, existsSync(join(cwd, "b"))], [1, true]);
    await client.request("session/set_config_option", { sessionId, configId: "mode", value: "plan" });
    await client.prompt(sessionId, "three");
    assert.deepEqual([client.questions.length, existsSync(join(cwd, "c"))], [1, false]);
    await client.end();
  });

  it("bypassing permissions must be offered by whoever starts the agent", async () => {
    const { home, cwd } = places();
    const { env } = await model([bash("echo x > made"), { text: "ok" }], home);
    const without = new TestClient({ env });
    const { sessionId } = await without.open(cwd);
    const { code, data } = await refused(without.request("session/set_mode", { sessionId, modeId: "bypassPermissions" }));
    assert.equal(code, -32602);
    assert.match(data.hint ?? "", /--allow-dangerously-skip-permissions/);
    assert.equal((await refused(without.request("session/set_mode", { sessionId, modeId: "yolo" }))).code, -32602);
    await without.end();

    const client = new TestClient({ env, args: ["--allow-dangerously-skip-permissions"] });
    const opened = await client.open(cwd);
    assert.equal(opened.modes?.currentModeId, "default");
    await client.request("session/set_mode", { sessionId: opened.sessionId, modeId: "bypassPermissions" });
    await client.prompt(opened.sessionId, "go");
    assert.deepEqual([client.questions.length, existsSync(join(cwd, "made"))], [0, true]);
    await client.end();
  });

  it("a model is chosen before the first prompt and between prompts, with or without its provider's name", async () => {
    const { home, cwd } = places();
    const { env, server } = await model(() => ({ text: "ok" }), home);
    const client = new TestClient({ env: { ...env, OPENAI_API_KEY: "other-key" } });
    const { sessionId, configOptions } = await client.open(cwd);
    const option = configOptions?.find(({ id }) => id === "model");
    assert.ok(option?.type === "select" && option.options.length > 3);
    const values = option.options.flatMap((one) => ("value" in one ? [one.value] : []));
    assert.ok(values.includes("claude-sonnet-4-6") && values.includes(String(option.currentValue)));
    const set = async (value: string): Promise<unknown> => {
      const answer = await client.request("session/set_config_option", { sessionId, configId: "model", value });
      return answer.configOptions.find(({ id }) => id === "model")?.currentValue;
    };
    assert.equal(await set("anthropic/claude-opus-4-5"), "claude-opus-4-5");
    await client.prompt(sessionId, "one");
    assert.equal(await set("claude-haiku-4-5"), "claude-haiku-4-5");
    await client.prompt(sessionId, "two");
    assert.equal(await set("made-up-tomorrow"), "made-up-tomorrow");
    await client.prompt(sessionId, "three");
    const { code, message } = await refused(set("openai/gpt-5"));
    assert.deepEqual([code, /cannot go on with openai/.test(message)], [-32602, true], message);
    await client.prompt(sessionId, "four");
    assert.deepEqual(
      server.requests.map(({ body }) => (body as { model: string }).model),
      ["claude-opus-4-5", "claude-haiku-4-5", "made-up-tomorrow", "made-up-tomorrow"],
    );
    const unknown = client.request("session/set_config_option", { sessionId, configId: "colour", value: "red" });
    assert.equal((await refused(unknown)).code, -32602);
    const flag = client.request("session/set_config_option", { sessionId, configId: "model", type: "boolean", value: true });
    assert.equal((await refused(flag)).code, -32602);
    await client.end();
  });
});

describe("permission questions over ACP", { timeout: 120_000 }, () => {
  it("a yes for the session is not asked for again, a yes for the project not even by the next agent", async () => {
    const { home, cwd } = places();
    const { env } = await model(
      (request) =>
        JSON.stringify((request.body as { messages: unknown[] }).messages.at(-1)).includes("tool_result")
          ? { text: "ok" }
          : bash("date > now"),
      home,
    );
    const client = new TestClient({ env, onPermission: choose("allow-session") });
    const { sessionId } = await client.open(cwd);
    await client.prompt(sessionId, "one");
    await client.prompt(sessionId, "two");
    assert.equal(client.questions.length, 1);
    assert.deepEqual(
      client.questions[0]?.options.map(({ kind }) => kind),
      ["allow_once", "allow_always", "allow_always", "reject_once"],
    );
    await client.end();
    const next = new TestClient({ env, onPermission: choose("allow-project") });
    await next.prompt((await next.open(cwd)).sessionId, "three");
    assert.equal(next.questions.length, 1);
    await next.end();
    const last = new TestClient({ env });
    await last.prompt((await last.open(cwd)).sessionId, "four");
    assert.equal(last.questions.length, 0);
    await last.end();
  });

  const noes: [string, () => unknown][] = [
    ["a no", choose("reject")],
    ["a question that was cancelled", () => ({ outcome: { outcome: "cancelled" } })],
    ["an option that was not offered", choose("allow-everything")],
    ["nonsense", () => ({ outcome: "allow" })],
    ["nothing", () => null],
    ["an error", () => Promise.reject(new Error("the window was closed"))],
  ];
  for (const [what, onPermission] of noes)
    it(`${what} is a no, and the model hears of it`, async () => {
      const { home, cwd } = places();
      const { env, server } = await model([bash("touch made"), { text: "I see." }], home);
      const client = new TestClient({ env, onPermission });
      const { sessionId } = await client.open(cwd);
      assert.equal((await client.prompt(sessionId, "go")).stopReason, "end_turn");
      assert.equal(existsSync(join(cwd, "made")), false);
      assert.equal(client.updates("tool_call_update").at(-1)?.status, "failed");
      assert.match(JSON.stringify(server.requests[1]?.body), /"is_error":true/);
      await client.end();
    });

  it("while one is open, other sessions, requests and answers go on", async () => {
    const { home, cwd } = places();
    const { env } = await model((request) => {
      const body = JSON.stringify(request.body);
      if (!body.includes("ask me")) return { text: "quick" };
      return body.includes("tool_result") ? { text: "done" } : bash("touch asked");
    }, home);
    let say: (answer: unknown) => void = () => {};
    const client = new TestClient({
      env,
      onPermission: () =>
        new Promise((resolve) => {
          say = resolve;
        }),
    });
    const { sessionId } = await client.open(cwd);
    const prompt = client.prompt(sessionId, "ask me");
    await eventually(() => client.questions.length > 0, "the question");
    const other = await client.request("session/new", { cwd, mcpServers: [] });
    assert.equal((await client.prompt(other.sessionId, "quick one")).stopReason, "end_turn");
    await client.request("session/set_mode", { sessionId, modeId: "acceptEdits" });
    say(choose("allow")());
    assert.equal((await prompt).stopReason, "end_turn");
    assert.ok(existsSync(join(cwd, "asked")));
    await client.end();
  });

  it("--permission-prompts none: nobody is asked, and what would be asked is denied", async () => {
    const { home, cwd } = places();
    const { env } = await model([bash("touch made"), { text: "I see." }], home);
    const client = new TestClient({ env, args: ["--permission-prompts", "none"], onPermission: choose("allow") });
    await client.prompt((await client.open(cwd)).sessionId, "go");
    assert.deepEqual([client.questions.length, existsSync(join(cwd, "made"))], [0, false]);
    await client.end();
  });
});
