import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { type HostOptions, LiveHost } from "../../../../../test/support/live-host.ts";
import type { PromptsView } from "./host-notices.ts";

let cwd = "";
let host: LiveHost | undefined;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "outrider-notices-"));
});

afterEach(async () => {
  await host?.close();
  rmSync(cwd, { recursive: true, force: true });
});

function start(replies: HostOptions["replies"], notices: { fates: boolean; states: boolean }): LiveHost {
  host = new LiveHost({ cwd, replies, permissions: "host", live: { notices } });
  return host;
}

const statesOf = (live: LiveHost): unknown[] =>
  live.frames.flatMap(({ subtype, state }) => (subtype === "session_state_changed" ? [state] : []));
const fatesOf = (live: LiveHost): string[] =>
  live.frames.flatMap(({ type, command_uuid: uuid, state }) => (type === "command_lifecycle" ? [`${uuid} ${state}`] : []));

const write = (name: string) => ({ name: "Write", input: { file_path: name, content: name }, callId: name });

describe("what a host is told beside the conversation", () => {
  it("whether the session works, waits for an answer, or has nothing to do", async () => {
    const live = start([{ calls: [write("a.txt")] }, { text: "done" }], { fates: false, states: true });
    live.say("go", { uuid: "u-1" });
    live.answer((await live.asked("can_use_tool")).id, { behavior: "allow" });
    await live.result();
    await live.frame(() => statesOf(live).at(-1) === "idle", "the end of the work");
    assert.deepEqual(statesOf(live), ["running", "requires_action", "running", "idle"]);
    assert.deepEqual(fatesOf(live), []);
    const notice = live.frames.find(({ subtype }) => subtype === "session_state_changed") ?? {};
    assert.deepEqual(
      [notice["type"], notice["sdk_host_only"], typeof notice["uuid"], typeof notice["session_id"]],
      ["system", true, "string", "string"],
    );
  });

  it("is idle only when nothing waits any more", async () => {
    const live = start([{ text: "one" }, { text: "two" }], { fates: false, states: true });
    live.say("first", { priority: "later" });
    live.say("second", { priority: "later" });
    await live.result(2);
    await live.frame(() => statesOf(live).at(-1) === "idle", "the end of the work");
    assert.deepEqual(statesOf(live), ["running", "idle"]);
  });

  it("which of its messages have their result", async () => {
    const prompts: PromptsView = { look: () => ({ uuids: [], waiting: 0 }) };
    host = new LiveHost({ cwd, replies: [{ text: "one" }], live: { prompts } });
    host.say("first", { uuid: "u-1" });
    await host.result();
    assert.deepEqual(prompts.look(), { uuids: ["u-1"], waiting: 0 });
  });

  it("where each of its messages is, when the message has a name", async () => {
    const live = start([{ text: "word ".repeat(2_000) }, { text: "never" }], { fates: true, states: false });
    live.say("a note", { uuid: "note", shouldQuery: false });
    live.say("talk", { uuid: "first" });
    await live.frame(({ type }) => type === "stream_event", "its words");
    live.say("no name", { priority: "later" });
    live.say("not this", { uuid: "second", priority: "later" });
    live.request("r1", { subtype: "interrupt", cancel_queued: true });
    await live.end();
    assert.deepEqual(fatesOf(live).toSorted(), [
      "first completed",
      "first queued",
      "first started",
      "note completed",
      "note queued",
      "second cancelled",
      "second queued",
    ]);
    assert.deepEqual(statesOf(live), []);
  });

  it("once that a message waits, also when it is taken back before it begins", async () => {
    const live = start([{ text: "word ".repeat(2_000) }], { fates: true, states: false });
    live.say("talk");
    await live.frame(({ type }) => type === "stream_event", "its words");
    live.say("not this", { uuid: "second", priority: "later" });
    await live.frame(() => fatesOf(live).includes("second queued"), "that it waits");
    live.request("r1", { subtype: "interrupt", cancel_queued: true });
    await live.end();
    assert.deepEqual(fatesOf(live), ["second queued", "second cancelled"]);
  });
});
