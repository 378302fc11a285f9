import assert from "node:assert/strict";
import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
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

function start(replies: HostOptions["replies"], permissions: HostOptions["permissions"] = "host"): LiveHost {
  host = new LiveHost({ cwd, replies, permissions });
  return host;
}

const touch = { calls: [{ name: "Bash", input: { command: "touch made.txt", description: "makes it" }, callId: "call_1" }] };
const made = (): boolean => existsSync(join(cwd, "made.txt"));

describe("permission questions to the host", () => {
  it("tell what is to be done, and a yes does it", async () => {
    const live = start([touch, { text: "done" }]);
    live.say("go");
    const { id, request } = await live.asked("can_use_tool");
    assert.equal(request["tool_name"], "Bash");
    assert.equal(request["tool_use_id"], "call_1");
    assert.equal(request["description"], "makes it");
    assert.deepEqual(request["input"], { command: "touch made.txt", description: "makes it" });
    assert.ok(Array.isArray(request["permission_suggestions"]));
    live.answer(id, { behavior: "allow" });
    assert.equal((await live.result())["result"], "done");
    assert.ok(made());
  });

  const refusals: Record<string, { answer: JsonObject; words: RegExp }> = {
    "a no with words": { answer: { behavior: "deny", message: "not now" }, words: /not now/ },
    "a no without words": { answer: { behavior: "deny" }, words: /said no/ },
    "another word": { answer: { behavior: "maybe" }, words: /made no sense/ },
    "nothing at all": { answer: {}, words: /made no sense/ },
    "a yes with an impossible rule": {
      answer: { behavior: "allow", updatedPermissions: [{ type: "conquerTheWorld" }] },
      words: /not answered/,
    },
  };
  for (const [name, { answer, words }] of Object.entries(refusals))
    it(`${name} is a no`, async () => {
      const live = start([touch, { text: "then not" }]);
      live.say("go");
      live.answer((await live.asked("can_use_tool")).id, answer);
      const result = await live.result();
      assert.equal(result["result"], "then not");
      assert.equal((result["permission_denials"] as unknown[]).length, 1);
      assert.match(JSON.stringify(live.requests[1]?.messages), words);
      assert.ok(!made());
    });

  it("a no that ends the turn asks the model nothing more", async () => {
    const live = start([touch, { text: "never" }]);
    live.say("go");
    live.answer((await live.asked("can_use_tool")).id, { behavior: "deny", message: "stop", interrupt: true });
    const { subtype, terminal_reason: reason } = await live.result();
    assert.deepEqual([subtype, reason], ["error_during_execution", "aborted_tools"]);
    assert.equal(live.requests.length, 1);
  });

  it("name files by their whole path, and so do refusals in the result", async () => {
    const write = { calls: [{ name: "Write", input: { file_path: "made.txt", content: "x" }, callId: "call_1" }] };
    const live = start([write, { text: "then not" }]);
    live.say("go");
    const { id, request } = await live.asked("can_use_tool");
    const whole = { file_path: join(realpathSync(cwd), "made.txt"), content: "x" };
    assert.deepEqual(request["input"], whole);
    live.answer(id, { behavior: "deny", message: "no" });
    const [denial] = (await live.result())["permission_denials"] as { tool_input: unknown }[];
    assert.deepEqual(denial?.tool_input, whole);
  });

  it("whose answer changes the mode are followed by a status frame that says so", async () => {
    const live = start([touch, { text: "done" }]);
    live.say("go");
    const mode = { type: "setMode", mode: "acceptEdits", destination: "session" };
    live.answer((await live.asked("can_use_tool")).id, { behavior: "allow", updatedPermissions: [mode] });
    await live.result();
    const modes = live.frames.flatMap(({ subtype, permissionMode: told }) => (subtype === "status" && told ? [told] : []));
    assert.deepEqual(modes, ["acceptEdits"]);
  });

  const suggested: Record<string, { input: JsonObject & { command: string }; mode?: string }> = {
    "what changes nothing but files of the project would not be asked when edits are accepted": {
      input: { command: "mkdir -p a && touch a/b" },
      mode: "acceptEdits",
    },
    "what runs a program would be asked all the same": { input: { command: "npm run build" } },
    "so would what changes files elsewhere": { input: { command: "touch /var/tmp/elsewhere-outrider" } },
  };
  for (const [name, { input, mode }] of Object.entries(suggested))
    it(name, async () => {
      const live = start([{ calls: [{ name: "Bash", input, callId: "call_1" }] }, { text: "then not" }]);
      live.say("go");
      const { id, request } = await live.asked("can_use_tool");
      const modes = (request["permission_suggestions"] as JsonObject[]).flatMap(({ mode: word }) => (word ? [word] : []));
      assert.deepEqual(modes, mode ? [mode] : []);
      live.answer(id, { behavior: "deny", message: "no" });
      await live.result();
    });

  it("a yes may change the input, and what is asked about later", async () => {
    const live = start([touch, { calls: [{ name: "Bash", input: { command: "touch second.txt" } }] }, { text: "done" }]);
    live.say("go");
    const { id, request } = await live.asked("can_use_tool");
    assert.deepEqual(request["permission_suggestions"], [
      {
        type: "addRules",
        rules: [{ toolName: "Bash", ruleContent: "touch made.txt" }],
        behavior: "allow",
        destination: "session",
      },
      { type: "setMode", mode: "acceptEdits", destination: "session" },
    ]);
    assert.equal(request["blocked_path"], join(realpathSync(cwd), "made.txt"));
    const rules = [{ toolName: "Bash", ruleContent: "touch second.txt" }];
    live.answer(id, {
      behavior: "allow",
      updatedInput: { command: "touch other.txt" },
      updatedPermissions: [{ type: "addRules", behavior: "allow", rules, destination: "session" }],
    });
    assert.equal((await live.result())["result"], "done");
    assert.deepEqual(
      ["made.txt", "other.txt", "second.txt"].map((name) => existsSync(join(cwd, name))),
      [false, true, true],
    );
  });

  it("a yes with an input that is no object, or an answer without a bottom, is a no", async () => {
    for (const answer of [
      { behavior: "allow", updatedInput: "touch other.txt" },
      { behavior: "allow", updatedInput: JSON.parse(`${"[".repeat(2_000)}${"]".repeat(2_000)}`) as unknown },
    ]) {
      const live = start([touch, { text: "then not" }]);
      live.say("go");
      live.answer((await live.asked("can_use_tool")).id, answer);
      await live.result();
      assert.match(JSON.stringify(live.requests[1]?.messages), /not answered/);
      assert.ok(!made());
      await live.close();
    }
  });

  it("an error is a no", async () => {
    const live = start([touch, { text: "then not" }]);
    live.say("go");
    const { id } = await live.asked("can_use_tool");
    live.send({ type: "control_response", response: { subtype: "error", request_id: id, error: "the callback threw" } });
    await live.result();
    assert.match(JSON.stringify(live.requests[1]?.messages), /the callback threw/);
    assert.ok(!made());
  });

  it("an answer to another question changes nothing", async () => {
    const live = start([touch, { text: "done" }]);
    live.say("go");
    const { id } = await live.asked("can_use_tool");
    live.answer("somebody else's", { behavior: "allow" });
    live.answer(id, { behavior: "deny" });
    await live.result();
    assert.ok(!made());
  });

  it("a host that is gone is a no, and the turn is finished", async () => {
    const live = start([touch, { text: "then not" }]);
    live.say("go");
    await live.asked("can_use_tool");
    await live.end();
    assert.equal(live.results[0]?.["result"], "then not");
    assert.ok(!made());
  });

  it("answers may come in another order than the questions", async () => {
    const write = (name: string) => ({ name: "Write", input: { file_path: name, content: name }, callId: name });
    const live = start([{ calls: [write("a.txt"), write("b.txt")] }, { text: "done" }]);
    live.say("go");
    const first = await live.asked("can_use_tool", 1);
    const second = await Promise.race([live.asked("can_use_tool", 2), sleep(500)]);
    if (second) live.answer(second.id, { behavior: "allow" });
    live.answer(first.id, { behavior: "deny", message: "no a" });
    if (!second) live.answer((await live.asked("can_use_tool", 2)).id, { behavior: "allow" });
    await live.result();
    assert.deepEqual([existsSync(join(cwd, "a.txt")), existsSync(join(cwd, "b.txt"))], [false, true]);
  });

  it("say whose tool it is, where it is a server's", async () => {
    const live = start([{ calls: [{ name: "mcp__clock__now", input: {} }] }, { text: "done" }]);
    live.request("r1", { subtype: "initialize", sdkMcpServers: ["clock"] });
    live.say("go");
    const tool = { name: "now", inputSchema: { type: "object" } };
    const opening = { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "c", version: "1" } };
    for (const [count, result] of [opening, {}, { tools: [tool] }].entries()) {
      const { id, request } = await live.asked("mcp_message", count + 1);
      const { id: message } = request["message"] as JsonObject;
      live.answer(id, { mcp_response: { jsonrpc: "2.0", id: message ?? null, result } });
    }
    const { id, request } = await live.asked("can_use_tool");
    assert.deepEqual(request["mcp_server"], { name: "clock", source: "sdk" });
    assert.deepEqual(request["permission_suggestions"], [
      { type: "addRules", rules: [{ toolName: "mcp__clock__now" }], behavior: "allow", destination: "session" },
    ]);
    live.answer(id, { behavior: "deny" });
    await live.result();
  });

  it("somebody else may answer instead of the host", async () => {
    const live = start([touch, { text: "done" }], async ({ toolName }) => ({ behavior: toolName === "Bash" ? "allow" : "deny" }));
    live.say("go");
    await live.result();
    assert.ok(made());
    assert.ok(live.kinds.every((kind) => kind !== "control_request"));
  });

  it("somebody else who fails says no", async () => {
    const live = start([touch, { text: "then not" }], async () => Promise.reject(new Error("out of order")));
    live.say("go");
    assert.equal((await live.result())["result"], "then not");
    assert.ok(!made());
  });
});
