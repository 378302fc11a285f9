import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { Ground } from "./ground.ts";

describe("what a server refuses", () => {
  it("is a schema that would keep everybody else waiting", async () => {
    const ground = await new Ground().start();
    const properties = Object.fromEntries(Array.from({ length: 150_000 }, (_, index) => [`p${index}`, { type: "string" }]));
    const asked = await ground.ask("POST", "/v1/sessions", { body: { outputSchema: { type: "object", properties } } });
    assert.deepEqual([asked.status, asked.json.code], [413, "too-large"]);
  });

  it("is a stream of events that there are none of", async () => {
    const ground = await new Ground().start();
    const id = await ground.session();
    assert.equal((await ground.ask("GET", `/v1/sessions/${id}/events?types=turn.ended,nope`)).status, 400);
    const asked = { body: { text: "never begun" }, headers: { accept: "text/event-stream" } };
    assert.equal((await ground.ask("POST", `/v1/sessions/${id}/messages?types=nope`, asked)).status, 400);
    const { json } = await ground.ask("GET", `/v1/sessions/${id}/messages`);
    assert.deepEqual(json.messages, []);
  });

  it("is a socket whose path the system would cut off", async () => {
    const ground = new Ground();
    const path = join(ground.top, "x".repeat(120));
    await assert.rejects(ground.start({ listen: { type: "socket", path } }), /at most 10\d bytes/);
  });
});
