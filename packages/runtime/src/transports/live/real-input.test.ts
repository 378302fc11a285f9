import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { createMemoryStore } from "../../journal/memory-store.ts";
import type { JsonObject } from "../../protocol/content.ts";
import { LiveHost } from "../../../../../test/support/live-host.ts";

const jwt = ["eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0NTY3ODkwIn0", "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"].join(".");
const content = `token: ${jwt}\n`;
const write = { calls: [{ name: "Write", input: { file_path: "made.txt", content }, callId: "call_1" }] };

let cwd = "";
let host: LiveHost | undefined;
let store = createMemoryStore();

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "outrider-real-"));
  store = createMemoryStore();
});

afterEach(async () => {
  await host?.close();
  rmSync(cwd, { recursive: true, force: true });
});

function start(options: Partial<ConstructorParameters<typeof LiveHost>[0]> = {}): LiveHost {
  host = new LiveHost({
    ...{ cwd, replies: [write, { text: "done" }], permissions: "host" },
    ...options,
    session: { sessionStore: store, ...options.session },
  });
  return host;
}

/** The file has what the model wrote; the record, the frames beside questions, and what the model is sent have none of it. */
async function expectRealFile(live: LiveHost): Promise<void> {
  const result = await live.result();
  assert.equal(readFileSync(join(cwd, "made.txt"), "utf8"), content);
  const shown = live.frames.filter(({ type }) => type !== "control_request");
  const stored = await store.read(String(result["session_id"]));
  for (const text of [shown, stored, live.requests]) {
    assert.equal(JSON.stringify(text).includes(jwt), false);
    assert.match(JSON.stringify(text), /\[redacted:json-web-token\]/);
  }
}

describe("a call with a secret", () => {
  it("is put to the host as it is, and what the host sends back is what is run", async () => {
    const live = start();
    live.say("go");
    const { id, request } = await live.asked("can_use_tool");
    assert.deepEqual(request["input"], { file_path: join(cwd, "made.txt"), content });
    live.answer(id, { behavior: "allow", updatedInput: request["input"] });
    await expectRealFile(live);
  });

  it("is run as it is when the host answers with the masked input it saw on stdout", async () => {
    const live = start();
    live.say("go");
    const { id } = await live.asked("can_use_tool");
    const frame = await live.frame(({ type }) => type === "assistant", "the call");
    const [block] = (frame["message"] as { content: { input: JsonObject }[] }).content;
    assert.match(JSON.stringify(block?.input), /\[redacted:json-web-token\]/);
    live.answer(id, { behavior: "allow", updatedInput: block?.input });
    await expectRealFile(live);
  });

  it("is put as it is to whoever else answers", async () => {
    const asked: unknown[] = [];
    const live = start({
      permissions: async ({ input }) => {
        asked.push(input);
        return { behavior: "allow", updatedInput: input };
      },
    });
    live.say("go");
    await expectRealFile(live);
    assert.deepEqual(asked, [{ file_path: "made.txt", content }]);
  });

  it("is put as it is to the host's hooks, before and after", async () => {
    const live = start();
    const hook = (id: string) => [{ matcher: "Write", hookCallbackIds: [id] }];
    live.request("init", { subtype: "initialize", hooks: { PreToolUse: hook("pre"), PostToolUse: hook("post") } });
    live.say("go");
    const before = await live.asked("hook_callback");
    const { tool_input: input } = before.request["input"] as JsonObject;
    assert.deepEqual(input, { file_path: join(cwd, "made.txt"), content }); // hooks are told whole paths
    const hookSpecificOutput = { hookEventName: "PreToolUse", permissionDecision: "allow", updatedInput: input };
    live.answer(before.id, { hookSpecificOutput });
    const after = await live.asked("hook_callback", 2);
    assert.deepEqual((after.request["input"] as JsonObject)["tool_input"], input);
    live.answer(after.id, {});
    await expectRealFile(live);
  });

  it("is masked in an answer, which says so", async () => {
    const live = start({ replies: [{ text: `It is ${jwt}` }] });
    live.say("go");
    const { result, warnings } = await live.result();
    assert.equal(result, "It is [redacted:json-web-token]");
    assert.match(JSON.stringify(warnings), /A secret in result is masked: \[redacted:json-web-token\]/);
  });

  it("is masked where the host's own message is shown again", async () => {
    const live = start({ live: { replayUserMessages: true }, replies: [{ text: "done" }] });
    live.say(`use ${jwt}`, { uuid: "6f1c1c9e-9a53-4b0e-8a53-1d2f0a7e9b11" });
    await live.result();
    const again = await live.frame(({ type }) => type === "user", "the message");
    assert.match(JSON.stringify(again), /use \[redacted:json-web-token\]/);
    assert.equal(JSON.stringify(live.frames).includes(jwt), false);
  });
});
