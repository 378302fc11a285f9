import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Ground, type Json, type Watch } from "./ground.ts";

const slow = { text: "slow", delayMs: 60_000 };

/** A session with somebody's turn at work, and a second prompt of theirs that waits. */
async function busySession(): Promise<{ ground: Ground; id: string; watch: Watch }> {
  const ground = await new Ground([slow, { text: "next" }]).start();
  const id = await ground.session();
  const watch = await ground.watch(`/v1/sessions/${id}/events?after=0`);
  for (const text of ["theirs", "theirs too"])
    await ground.ask("POST", `/v1/sessions/${id}/messages`, { body: { text, wait: false } });
  await watch.untilType("turn.started");
  return { ground, id, watch };
}

/** Nothing of the others has ended, and what was taken back never begins. */
async function othersGoOn({ ground, id, watch }: { ground: Ground; id: string; watch: Watch }): Promise<void> {
  await watch.untilType("prompt.cancelled");
  assert.ok(!watch.types.includes("turn.ended"), watch.types.join());
  const { state, waiting } = (await ground.ask("GET", `/v1/sessions/${id}`)).json;
  assert.deepEqual([state, waiting.length], ["working", 1]);
  watch.leave();
}

const asked: readonly (readonly [string, (id: string) => { path: string; body: Json; headers?: Record<string, string> }])[] = [
  [
    "OpenAI's chat",
    (id) => ({
      path: "/v1/chat/completions",
      body: { model: "default", stream: true, messages: [{ role: "user", content: "mine" }] },
      headers: { "x-session-id": id },
    }),
  ],
  [
    "OpenAI's responses",
    (id) => ({
      path: "/v1/responses",
      body: { model: "default", input: "mine", previous_response_id: `resp_${id}.any` },
    }),
  ],
  [
    "the AI SDK",
    (id) => ({
      path: `/v1/sessions/${id}/chat`,
      body: { id, messages: [{ id: "m", role: "user", parts: [{ type: "text", text: "mine" }] }] },
    }),
  ],
  [
    "AG-UI",
    (id) => ({
      path: "/v1/ag-ui",
      body: { threadId: id, runId: "r", messages: [{ id: "m", role: "user", content: "mine" }] },
    }),
  ],
  [
    "A2A",
    (id) => ({
      path: "/v1/a2a",
      body: {
        ...{ jsonrpc: "2.0", id: 1, method: "SendMessage" },
        params: { message: { role: "ROLE_USER", messageId: "m", contextId: id, parts: [{ text: "mine" }] } },
      },
    }),
  ],
];

describe("a client of another format that leaves", () => {
  for (const [name, request] of asked)
    it(`takes back what it asked for, and nothing of the others: ${name}`, async () => {
      const busy = await busySession();
      const { path, ...rest } = request(busy.id);
      const leaving = new AbortController();
      const headers = { authorization: `Bearer ${busy.ground.owner}`, "content-type": "application/json", ...rest.headers };
      const asking = fetch(`${busy.ground.url}${path}`, {
        ...{ method: "POST", headers, body: JSON.stringify(rest.body), signal: leaving.signal },
      }).then(
        (response) => response.text().catch(() => ""),
        () => "",
      );
      await busy.watch.until(({ type, input }: Json) => type === "prompt.accepted" && JSON.stringify(input).includes("mine"));
      leaving.abort();
      await asking;
      await othersGoOn(busy);
    });

  it("takes back what it asked for, and nothing of the others: MCP", async () => {
    const busy = await busySession();
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
    const requestInit = { headers: { authorization: `Bearer ${busy.ground.owner}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${busy.ground.url}/mcp`), { requestInit }));
    const leaving = new AbortController();
    const reply = client.callTool(
      { name: "reply", arguments: { sessionId: busy.id, prompt: "mine" } },
      { signal: leaving.signal },
    );
    reply.catch(() => {});
    await busy.watch.until(({ type, input }: Json) => type === "prompt.accepted" && JSON.stringify(input).includes("mine"));
    leaving.abort();
    await othersGoOn(busy);
    await client.close();
  });
});

describe("a task of A2A that has ended", () => {
  it("cannot be cancelled, and what runs in its context goes on", async () => {
    const ground = await new Ground([{ text: "done" }, slow]).start();
    const call = async (method: string, params: object): Promise<Json> =>
      (await ground.ask("POST", "/v1/a2a", { body: { jsonrpc: "2.0", id: 1, method, params } })).json;
    const { task } = (await call("SendMessage", { message: { role: "ROLE_USER", messageId: "m", parts: [{ text: "go" }] } }))
      .result;
    const watch = await ground.watch(`/v1/sessions/${task.contextId}/events`);
    await ground.ask("POST", `/v1/sessions/${task.contextId}/messages`, { body: { text: "more", wait: false } });
    await watch.untilType("turn.started");
    assert.equal((await call("CancelTask", { id: task.id })).error.code, -32002);
    assert.equal((await call("GetTask", { id: task.id })).result.status.state, "TASK_STATE_COMPLETED");
    assert.equal((await ground.ask("GET", `/v1/sessions/${task.contextId}`)).json.state, "working");
    watch.leave();
  });
});
