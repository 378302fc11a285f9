import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { describe, it } from "node:test";
import { Ground, type Json } from "./ground.ts";

const parts = [{ text: "go" }];
const message = { role: "ROLE_USER", messageId: "m", parts };

async function call(ground: Ground, method: string, params: object, token = ground.owner): Promise<Json> {
  return (await ground.ask("POST", "/v1/a2a", { token, body: { jsonrpc: "2.0", id: 1, method, params } })).json;
}

/** The results of a stream, as they come. */
async function open(ground: Ground, method: string, params: object): Promise<{ next(): Promise<Json>; leave(): void }> {
  const response = await ground.open("POST", "/v1/a2a", { body: { jsonrpc: "2.0", id: 1, method, params } });
  const lines = (async function* () {
    let rest = "";
    for await (const chunk of response.setEncoding("utf8")) {
      const whole = `${rest}${chunk}`.split("\n");
      rest = whole.pop() ?? "";
      for (const line of whole) if (line.startsWith("data: ")) yield JSON.parse(line.slice(6)).result as Json;
    }
  })();
  return { next: async () => (await lines.next()).value, leave: () => void response.destroy() };
}

async function readAll(stream: { next(): Promise<Json> }): Promise<Json[]> {
  const all: Json[] = [];
  for (let next = await stream.next(); next; next = await stream.next()) all.push(next);
  return all;
}

/** What a client has of the answer that follows the rules of `append`. */
function answerOf(start: string, told: readonly Json[]): string {
  return told.reduce((text, { artifactUpdate: one }) => {
    if (!one) return text;
    return (one.append ? text : "") + one.artifact.parts[0].text;
  }, start);
}

const steps = [
  { text: "First I look.", calls: [{ name: "Bash", input: { command: "while [ ! -e go ]; do sleep 0.05; done" }, callId: "c" }] },
  { text: "Then I am done." },
];

describe("a task of A2A whose client leaves", () => {
  it("goes on where it was streamed, and whoever subscribes is told what there is and the rest", async () => {
    const ground = await new Ground(steps).start({ defaults: { options: { permissionMode: "bypassPermissions" } } });
    const first = await open(ground, "SendStreamingMessage", { message });
    const { task } = await first.next();
    while (!JSON.stringify(await first.next()).includes("Uses Bash"));
    first.leave();
    const again = await open(ground, "SubscribeToTask", { id: task.id });
    const { task: sofar } = await again.next();
    assert.deepEqual(
      [sofar.id, sofar.status.state, sofar.artifacts[0].parts[0].text],
      [task.id, "TASK_STATE_WORKING", "First I look."],
    );
    writeFileSync(`${ground.cwd}/go`, "");
    const rest = await readAll(again);
    assert.equal(answerOf(sofar.artifacts[0].parts[0].text, rest), "Then I am done.");
    assert.equal(rest.at(-1).statusUpdate.status.state, "TASK_STATE_COMPLETED");
    assert.equal(rest.findLast(({ artifactUpdate }) => artifactUpdate).artifactUpdate.lastChunk, true);
    const { result } = await call(ground, "GetTask", { id: task.id });
    assert.equal(result.artifacts[0].parts[0].text, "Then I am done.");
    assert.equal((await call(ground, "SubscribeToTask", { id: task.id })).error.code, -32004, "it has ended");
  });

  it("is answered at once where the client wants to ask again, and is cancelled to its end", async () => {
    const ground = await new Ground([{ text: "slow", delayMs: 60_000 }]).start();
    const { result } = await call(ground, "SendMessage", { message, configuration: { returnImmediately: true } });
    assert.equal(result.task.status.state, "TASK_STATE_WORKING");
    const other = ground.token({ name: "other", scopes: ["drive"] });
    for (const method of ["SubscribeToTask", "GetTask", "CancelTask"])
      assert.equal((await call(ground, method, { id: result.task.id }, other)).error.code, -32001, method);
    const cancelled = await call(ground, "CancelTask", { id: result.task.id });
    assert.equal(cancelled.result.status.state, "TASK_STATE_CANCELED");
    assert.equal((await call(ground, "CancelTask", { id: result.task.id })).error.code, -32002);
  });
});

describe("what A2A has a number for", () => {
  const asked: readonly [string, string, object, number][] = [
    ["an old method", "message/send", { message }, -32601],
    ["a message to a task that is none", "SendMessage", { message: { ...message, taskId: "none" } }, -32001],
    ["a task that is none", "SubscribeToTask", { id: "none" }, -32001],
    ["a task without a name", "SubscribeToTask", {}, -32602],
    ["a file that is no image", "SendMessage", { message: { ...message, parts: [{ raw: "AA", mediaType: "a/b" }] } }, -32005],
    ["a file that is elsewhere", "SendMessage", { message: { ...message, parts: [{ url: "http://x" }] } }, -32005],
    ["somebody to be called back", "CreateTaskPushNotificationConfig", {}, -32003],
    ["another card", "GetExtendedAgentCard", {}, -32007],
  ];
  it("is answered with it", async () => {
    const ground = await new Ground([{ text: "done" }]).start();
    for (const [what, method, params, code] of asked) assert.equal((await call(ground, method, params)).error?.code, code, what);
    const { result } = await call(ground, "SendMessage", { message: { ...message, parts: [{ data: { wish: "go" } }] } });
    assert.equal(result.task.status.state, "TASK_STATE_COMPLETED", "data is told as text");
    const more = await call(ground, "SendMessage", { message: { ...message, taskId: result.task.id } });
    assert.deepEqual([more.error.code, more.error.message.includes(result.task.contextId)], [-32004, true]);
  });
});
