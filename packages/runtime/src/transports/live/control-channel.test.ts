import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../protocol/content.ts";
import { ControlChannel } from "./control-channel.ts";

function open() {
  const sent: JsonObject[] = [];
  let next = 0;
  const channel = new ControlChannel({ send: (frame) => sent.push(frame), newId: () => `q${++next}` });
  return { channel, sent, signal: new AbortController().signal };
}

describe("ControlChannel", () => {
  it("gives each question its own answer, in whatever order they come", async () => {
    const { channel, sent, signal } = open();
    const first = channel.ask({ subtype: "can_use_tool", tool_name: "A" }, signal);
    const second = channel.ask({ subtype: "can_use_tool", tool_name: "B" }, signal);
    channel.settle("q2", { type: "success", response: { is: "B" } });
    channel.settle("q1", { type: "success", response: { is: "A" } });
    channel.settle("q1", { type: "success", response: { is: "late" } });
    assert.deepEqual(await Promise.all([first, second]), [{ is: "A" }, { is: "B" }]);
    assert.deepEqual(sent[0], {
      type: "control_request",
      request_id: "q1",
      request: { subtype: "can_use_tool", tool_name: "A" },
    });
  });

  it("knows which questions are still to be answered", async () => {
    const { channel, signal } = open();
    const names = (): unknown[] => channel.open("can_use_tool").map(({ request_id: name }) => name);
    const controller = new AbortController();
    const all = Promise.allSettled([
      channel.ask({ subtype: "can_use_tool" }, signal),
      channel.ask({ subtype: "hook_callback" }, signal),
      channel.ask({ subtype: "can_use_tool" }, signal),
      channel.ask({ subtype: "can_use_tool" }, controller.signal),
    ]);
    assert.deepEqual(names(), ["q1", "q3", "q4"]);
    channel.settle("q1", { type: "success", response: {} });
    channel.settle("q3", { type: "error", message: "no" });
    assert.deepEqual(names(), ["q4"]);
    controller.abort();
    assert.deepEqual(names(), []);
    channel.close();
    await all;
  });

  it("asks nothing for a turn that is over, and takes nothing back that was answered", async () => {
    const { channel, sent } = open();
    const controller = new AbortController();
    const asked = channel.ask({ subtype: "can_use_tool" }, controller.signal);
    channel.settle("q1", { type: "success", response: {} });
    controller.abort();
    await asked;
    await assert.rejects(channel.ask({ subtype: "can_use_tool" }, controller.signal));
    assert.equal(sent.length, 1);
    assert.equal(channel.isClosed, false);
  });

  it("rejects on an error answer", async () => {
    const { channel, signal } = open();
    const asked = channel.ask({ subtype: "hook_callback" }, signal);
    channel.settle("q1", { type: "error", message: "it threw" });
    await assert.rejects(asked, { message: "it threw" });
  });

  it("withdraws a question when its turn is aborted, and says so", async () => {
    const { channel, sent } = open();
    const controller = new AbortController();
    const asked = channel.ask({ subtype: "can_use_tool" }, controller.signal);
    controller.abort();
    await assert.rejects(asked, { code: "closed" });
    assert.deepEqual(sent[1], { type: "control_cancel_request", request_id: "q1" });
  });

  it("leaves nothing open when the host goes away", async () => {
    const { channel, signal } = open();
    const asked = channel.ask({ subtype: "can_use_tool" }, signal);
    channel.close();
    await assert.rejects(asked, { code: "closed" });
    await assert.rejects(channel.ask({ subtype: "can_use_tool" }, signal), { code: "closed" });
  });
});
