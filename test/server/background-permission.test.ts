import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { type Answer, isChild, task } from "../support/subagent-stage.ts";
import { Ground, type Json } from "./ground.ts";
import { Socket } from "./socket.ts";

/** A model whose agent writes a file when the turn that started it is over. */
function scene() {
  let open = (): void => {};
  const turnOver = new Promise<void>((resolve) => {
    open = resolve;
  });
  const launch = task("Write it", { run_in_background: true });
  const answer: Answer = async (request) => {
    const isFirst = request.messages.length === 1;
    if (!isChild(request)) return isFirst ? { calls: [launch] } : { text: "Ok." };
    await turnOver;
    return isFirst ? { calls: [{ name: "Write", input: { file_path: "made.txt", content: "x" } }] } : { text: "Written." };
  };
  return { ground: new Ground(new Array(10).fill(answer)), open };
}

const isStatus =
  (status: string) =>
  (data: Json): boolean =>
    data.type.startsWith("background.") && data.task?.status === status;

describe("an agent whose turn is over asks", () => {
  for (const [decision, isMade] of [
    ["allow", true],
    ["deny", false],
  ] as const)
    it(`over HTTP, and hears ${decision}`, async () => {
      const { ground, open } = scene();
      await ground.start({ permissionWaitMs: 60_000 });
      const id = await ground.session();
      const watch = await ground.watch(`/v1/sessions/${id}/events?after=0`);
      assert.equal((await ground.ask("POST", `/v1/sessions/${id}/messages`, { body: { text: "go" } })).status < 300, true);
      await watch.untilType("turn.ended");
      open();
      const { data } = await watch.untilType("permission.requested");
      assert.deepEqual([data.taskId, data.tool], ["agent_1", "Write"]);
      await watch.until(isStatus("waiting_permission"));
      const listed = await ground.ask("GET", `/v1/sessions/${id}/questions`);
      assert.equal(listed.json.questions[0]?.requestId, data.requestId);
      const path = `/v1/sessions/${id}/permissions/${data.requestId}`;
      assert.equal((await ground.ask("POST", path, { body: { decision } })).status, 200);
      await watch.until(isStatus("completed"));
      assert.equal(existsSync(join(ground.cwd, "made.txt")), isMade);
      watch.leave();
    });

  it("over WebSocket, and its yes counts", async () => {
    const { ground, open } = scene();
    await ground.start({ permissionWaitMs: 60_000 });
    const id = await ground.session();
    const socket = new Socket(ground);
    await socket.untilType("hello");
    await socket.ask({ type: "subscribe", sessionId: id, after: 0 }, "s");
    socket.say({ type: "submit", prompt: "go" });
    await socket.untilType("complete");
    open();
    const { requestId, taskId } = await socket.untilType("permission_request");
    assert.equal(taskId, "agent_1");
    assert.equal((await socket.ask({ type: "permission-response", requestId, decision: "allow" }, "a")).type, "ok");
    await socket.until(({ type, event }) => type === "background_task_event" && event.type === "background_task_completed");
    assert.equal(existsSync(join(ground.cwd, "made.txt")), true);
    const told = socket.told.flatMap(({ type, event }) => (type === "background_task_event" ? [event.type] : []));
    assert.ok(told.includes("background_task_permission_request") && told.includes("background_task_permission_resolved"));
    socket.socket.close();
  });
});
