import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { JsonObject } from "../../protocol/content.ts";
import { type HostOptions, LiveHost } from "../../../../../test/support/live-host.ts";

let cwd = "";
let host: LiveHost | undefined;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "outrider-host-tools-"));
});

afterEach(async () => {
  await host?.close();
  rmSync(cwd, { recursive: true, force: true });
});

function start(replies: HostOptions["replies"], more: Partial<HostOptions> = {}): LiveHost {
  host = new LiveHost({ cwd, replies, permissions: "host", ...more });
  return host;
}

async function ask(live: LiveHost, request: JsonObject): Promise<JsonObject> {
  const id = `r${live.frames.length}-${String(request["subtype"])}`;
  live.request(id, request);
  return await live.reply(id);
}

const questions = [{ question: "Which?", header: "Choice", options: ["A", "B"].map((label) => ({ label, description: label })) }];
const question = { calls: [{ name: "AskUserQuestion", input: { questions }, callId: "toolu_1" }] };
const lastMessage = (live: LiveHost): string => JSON.stringify(live.requests.at(-1)?.messages.at(-1));

describe("tools that talk to the person behind the host", () => {
  it("a question goes out as one for permission, and the answers come back in its input", async () => {
    const live = start([question, { text: "ok" }]);
    live.say("hello");
    const { id, request } = await live.asked("can_use_tool");
    assert.deepEqual(
      [request["tool_name"], request["input"], request["tool_use_id"]],
      ["AskUserQuestion", { questions }, "toolu_1"],
    );
    live.answer(id, { behavior: "allow", updatedInput: { questions, answers: { "Which?": ["A", "B"] } } });
    await live.result();
    assert.match(lastMessage(live), /Which\?.*A, B/);
  });

  it("what the user writes beside a choice, and what the choice looked like, reach the model and programs", async () => {
    const live = start([question, { text: "ok" }]);
    live.say("hello");
    const annotations = { "Which?": { preview: "<b>A</b>", notes: "only at night" } };
    const updatedInput = { questions, answers: { "Which?": "A" }, annotations };
    live.answer((await live.asked("can_use_tool")).id, { behavior: "allow", updatedInput });
    await live.result();
    assert.match(lastMessage(live), /\(what was chosen: <b>A<\/b>\) \(the user adds: only at night\)/);
    const told = live.frames.flatMap(({ tool_use_result: value }) => (value === undefined ? [] : [value as JsonObject]));
    assert.deepEqual(told.at(-1)?.["annotations"], annotations);
  });

  it("a yes without an answer, a no, and a no that ends the turn", async () => {
    const live = start([question, { text: "one" }, question, { text: "two" }, question, { text: "never" }]);
    live.say("first");
    live.answer((await live.asked("can_use_tool")).id, { behavior: "allow" });
    await live.result(1);
    assert.match(lastMessage(live), /gave no answer/);
    live.say("second");
    live.answer((await live.asked("can_use_tool", 2)).id, { behavior: "deny", message: "not now" });
    await live.result(2);
    assert.match(lastMessage(live), /not now/);
    live.say("third");
    live.answer((await live.asked("can_use_tool", 3)).id, { behavior: "deny", message: "stop", interrupt: true });
    assert.equal((await live.result(3))["subtype"], "error_during_execution");
  });

  it("nobody is asked where the mode says so, and a plan is not begun twice", async () => {
    const enter = { calls: [{ name: "EnterPlanMode", input: {}, callId: "toolu_in" }] };
    const live = start([question, { text: "one" }, enter, { text: "two" }], { session: { permissionMode: "dontAsk" } });
    live.say("hello");
    await live.result(1);
    assert.match(lastMessage(live), /decide by yourself/);
    await ask(live, { subtype: "set_permission_mode", mode: "plan" });
    live.say("plan");
    await live.result(2);
    assert.match(lastMessage(live), /planning already/);
    assert.ok(!live.kinds.includes("control_request"));
  });

  it("an answer in the user's own words, a no without words, and a question that fails", async () => {
    const live = start([question, { text: "one" }, question, { text: "two" }, question, { text: "three" }]);
    live.say("first");
    const own = { answers: { "Which?": "A" }, response: "rather C" };
    live.answer((await live.asked("can_use_tool")).id, { behavior: "allow", updatedInput: own });
    await live.result(1);
    assert.match(lastMessage(live), /The user has answered\. .*Which\?.* = .*A.* In the user's own words: rather C/);
    live.say("second");
    live.answer((await live.asked("can_use_tool", 2)).id, { behavior: "deny", message: "" });
    await live.result(2);
    assert.match(lastMessage(live), /said no/);
    live.say("third");
    const { id } = await live.asked("can_use_tool", 3);
    live.send({ type: "control_response", response: { subtype: "error", request_id: id, error: "it threw" } });
    await live.result(3);
    assert.match(lastMessage(live), /not answered: it threw/);
  });

  it("an interrupt takes the question back", async () => {
    const live = start([question, { text: "never" }]);
    live.say("hello");
    const { id } = await live.asked("can_use_tool");
    await ask(live, { subtype: "interrupt" });
    await live.frame(
      (frame) => frame["type"] === "control_cancel_request" && frame["request_id"] === id,
      "the question is withdrawn",
    );
    assert.equal((await live.result())["subtype"], "error_during_execution");
  });

  it("into a plan and out of it: the mode before it comes back", async () => {
    const enter = { calls: [{ name: "EnterPlanMode", input: {}, callId: "toolu_in" }] };
    const leave = { calls: [{ name: "ExitPlanMode", input: { plan: "do it" }, callId: "toolu_out" }] };
    const write = { calls: [{ name: "Write", input: { file_path: "made.txt", content: "x" } }] };
    const live = start([leave, enter, write, leave, write, { text: "ok" }], { session: { permissionMode: "acceptEdits" } });
    live.say("hello");
    live.answer((await live.asked("can_use_tool", 1)).id, { behavior: "allow" });
    live.answer((await live.asked("can_use_tool", 2)).id, { behavior: "allow" });
    await live.result();
    const told = live.requests.slice(1).map(({ messages }) => JSON.stringify(messages.at(-1)));
    assert.match(told[0] ?? "", /not in plan mode/);
    assert.match(told[2] ?? "", /Plan mode only looks/);
    assert.match(told[3] ?? "", /approved/);
    assert.equal(readFileSync(join(cwd, "made.txt"), "utf8"), "x");
    const modes = live.frames.flatMap(({ subtype, permissionMode: mode }) => (subtype === "status" && mode ? [mode] : []));
    assert.deepEqual(modes, ["plan", "acceptEdits"]);
    const plans = live.frames.flatMap(({ tool_use_result: result }) => Object(result).plan ?? []);
    assert.deepEqual(plans, ["do it"]);
  });
});

describe("what a host may look at and change", () => {
  it("settings: all of a request or nothing, and a second one takes the place of the first", async () => {
    const touch = { calls: [{ name: "Bash", input: { command: "touch made" } }] };
    const live = start([touch, { text: "one" }, touch, { text: "two" }], { session: { allowedTools: ["Bash"] } });
    const apply = (settings: JsonObject): Promise<JsonObject> => ask(live, { subtype: "apply_flag_settings", settings });
    assert.equal(
      (await apply({ permissions: { deny: ["Bash(touch:*)"] }, effortLevel: "max", model: "other" }))["subtype"],
      "success",
    );
    for (const wrong of [
      { model: "third", outputStyle: "x" },
      { permissions: { deny: ["("] } },
      { effortLevel: "much" },
      { model: 1 },
      { permissions: { defaultMode: "anything" } },
      { permissions: { other: [] } },
      { permissions: "all" },
    ])
      assert.equal((await apply(wrong as JsonObject))["subtype"], "error", JSON.stringify(wrong));
    live.say("first");
    assert.equal(((await live.result(1))["permission_denials"] as unknown[]).length, 1);
    assert.deepEqual([live.requests[0]?.model, live.requests[0]?.effort], ["other", "max"]);
    assert.equal((await ask(live, { subtype: "apply_flag_settings", settings: "all" }))["subtype"], "error");
    assert.equal((await apply({ permissions: null, effortLevel: null, model: null }))["subtype"], "success");
    live.say("second");
    assert.equal(((await live.result(2))["permission_denials"] as unknown[]).length, 0);
    assert.deepEqual([live.requests.at(-1)?.model, live.requests.at(-1)?.effort], ["scripted", undefined]);
  });

  it("settings: folders of the first request are closed by the second", async () => {
    const other = mkdtempSync(join(tmpdir(), "outrider-other-"));
    writeFileSync(join(other, "a.txt"), "beside");
    const live = start([]);
    const apply = (permissions: JsonObject): Promise<JsonObject> =>
      ask(live, { subtype: "apply_flag_settings", settings: { permissions } });
    const read = async (): Promise<unknown> => (await ask(live, { subtype: "read_file", path: join(other, "a.txt") }))["subtype"];
    try {
      assert.equal(await read(), "error");
      await apply({ additionalDirectories: [other], defaultMode: "plan" });
      assert.equal(await read(), "success");
      await apply({});
      assert.equal(await read(), "error");
    } finally {
      rmSync(other, { recursive: true, force: true });
    }
  });

  it("files: what the model may read, cut where that is wanted, and nothing else", async () => {
    writeFileSync(join(cwd, "a.txt"), "hällo");
    const live = start([], { session: { disallowedTools: ["Read(./secret.txt)"] } });
    writeFileSync(join(cwd, "secret.txt"), "x");
    const read = async (more: JsonObject): Promise<unknown> => {
      const reply = await ask(live, { subtype: "read_file", ...more });
      return reply["response"] ?? reply["error"];
    };
    const seen = (await read({ path: "a.txt" })) as JsonObject;
    assert.deepEqual([seen["contents"], seen["lossy"], seen["truncated"]], ["hällo", false, undefined]);
    const cut = (await read({ path: "a.txt", max_bytes: 2 })) as JsonObject;
    assert.deepEqual([cut["lossy"], cut["truncated"]], [true, true]);
    const raw = (await read({ path: "a.txt", encoding: "base64" })) as JsonObject;
    assert.equal(raw["contents"], Buffer.from("hällo").toString("base64"));
    const whole = (await read({ path: "a.txt", max_bytes: 6 })) as JsonObject;
    assert.deepEqual([whole["lossy"], whole["truncated"]], [false, undefined]);
    for (const path of ["secret.txt", "/etc/hostname", ".", "missing", 7])
      assert.equal(typeof (await read({ path })), "string", String(path));
    for (const path of [".", "missing"]) assert.equal(await read({ path }), `${path} is no file`);
  });

  it("a file the host saw being read may be changed, unless it is another one by now", async () => {
    const edit = (old: string): HostOptions["replies"][number] => ({
      calls: [{ name: "Edit", input: { file_path: "a.txt", old_string: old, new_string: "new" } }],
    });
    writeFileSync(join(cwd, "a.txt"), "old");
    const live = start([edit("old"), { text: "one" }, edit("old"), { text: "two" }], {
      session: { permissionMode: "acceptEdits" },
    });
    const seed = (mtime: number): Promise<JsonObject> => ask(live, { subtype: "seed_read_state", path: "a.txt", mtime });
    await seed(1000);
    assert.equal((await ask(live, { subtype: "seed_read_state", path: "/etc/hostname", mtime: 1 }))["subtype"], "error");
    live.say("first");
    await live.result(1);
    assert.equal(readFileSync(join(cwd, "a.txt"), "utf8"), "old");
    await seed(Date.now() + 10_000);
    live.say("second");
    await live.result(2);
    assert.equal(readFileSync(join(cwd, "a.txt"), "utf8"), "new");
  });

  it("a name for the session, and no way to show thoughts differently", async () => {
    const live = start([]);
    assert.equal((await ask(live, { subtype: "rename_session", title: "Mine" }))["subtype"], "success");
    assert.equal((await ask(live, { subtype: "rename_session", title: " " }))["subtype"], "error");
    const display = await ask(live, {
      subtype: "set_max_thinking_tokens",
      max_thinking_tokens: 2000,
      thinking_display: "omitted",
    });
    assert.match(String(display["error"]), /thinking_display/);
  });
});

describe("/compact as a prompt", () => {
  it("asks no model where there is nothing to summarise, and looks like a turn", async () => {
    const live = start([{ text: "ok" }]);
    live.say("/compact");
    const result = await live.result(1);
    assert.deepEqual([result["num_turns"], result["is_error"]], [0, false]);
    assert.match(String(result["result"]), /nothing to summarise/i);
    assert.equal(live.kinds[0], "system/init");
    live.say("hi");
    await live.result(2);
    assert.equal(live.requests.length, 1);
    assert.doesNotMatch(JSON.stringify(live.requests[0]?.messages), /compact/);
  });

  it("a path, or what was put together by the host, is a prompt; an unknown command asks nobody", async () => {
    const live = start([{ text: "one" }, { text: "two" }]);
    live.say("/etc/hosts is a file");
    assert.equal((await live.result(1))["result"], "one");
    live.say("/compact", { client_composed: true });
    assert.equal((await live.result(2))["result"], "two");
    live.say("/compactt now");
    assert.match(JSON.stringify((await live.result(3))["errors"]), /compactt.*compact/);
    assert.equal(live.requests.length, 2);
  });
});
