import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Ground, type Said } from "./ground.ts";
import { Socket } from "./socket.ts";

const slow = { text: "slow", delayMs: 60_000 };
const headers = { "idempotency-key": "k" };

describe("an Idempotency-Key", () => {
  it("begins one session, also when it comes many times at once", async () => {
    const ground = await new Ground([{ text: "one" }]).start();
    const all = await Promise.all(
      Array.from({ length: 8 }, () => ground.ask("POST", "/v1/sessions", { body: { name: "once" }, headers })),
    );
    assert.deepEqual(all.map(({ status }) => status).sort(), [200, 200, 200, 200, 200, 200, 200, 201]);
    assert.equal(new Set(all.map(({ json }) => json.id)).size, 1);
    const id = all[0]?.json.id;
    assert.equal((await ground.ask("GET", `/v1/sessions/${id}`)).status, 200);
    const copies = await Promise.all(
      Array.from({ length: 4 }, () => ground.ask("POST", `/v1/sessions/${id}/fork`, { body: {}, headers })),
    );
    assert.deepEqual(copies.map(({ status }) => status).sort(), [200, 200, 200, 201]);
    assert.equal((await ground.ask("GET", "/v1/sessions")).json.sessions.length, 2);
  });

  it("starts one prompt, also when it comes many times at once and while that is at work", async () => {
    const ground = await new Ground([{ text: "once" }, { text: "twice" }]).start();
    const id = await ground.session();
    const send = () => ground.ask("POST", `/v1/sessions/${id}/messages`, { body: { text: "go" }, headers });
    const all = await Promise.all([send(), send(), send()]);
    assert.deepEqual(
      all.map(({ json }) => json.outcome.text),
      ["once", "once", "once"],
    );
    assert.equal(new Set(all.map(({ json }) => json.promptId)).size, 1);
  });

  it("is refused with another request, also after a restart and over a socket", async () => {
    const ground = await new Ground([{ text: "one" }, { text: "two" }]).start();
    const { id } = (await ground.ask("POST", "/v1/sessions", { body: { name: "a" }, headers })).json;
    const at = `/v1/sessions/${id}`;
    await ground.ask("POST", `${at}/messages`, { body: { text: "go" }, headers });
    const copy = (await ground.ask("POST", `${at}/fork`, { body: { name: "copy" }, headers })).json.id;
    const again = async (): Promise<Said[]> => [
      await ground.ask("POST", "/v1/sessions", { body: { name: "b" }, headers }),
      await ground.ask("POST", `${at}/messages`, { body: { text: "stop" }, headers }),
      await ground.ask("POST", `${at}/fork`, { body: { name: "other" }, headers }),
    ];
    const reused = { status: 422, code: "key-reused" };
    const told = (said: Said[]) => said.map(({ status, json }) => ({ status, code: json.code }));
    assert.deepEqual(told(await again()), [reused, reused, reused]);
    await ground.server?.close();
    await ground.start();
    assert.deepEqual(told(await again()), [reused, reused, reused]);
    const same = [
      await ground.ask("POST", "/v1/sessions", { body: { name: "a" }, headers }),
      await ground.ask("POST", `${at}/messages`, { body: { text: "go" }, headers }),
      await ground.ask("POST", `${at}/fork`, { body: { name: "copy" }, headers }),
    ];
    assert.deepEqual([same[0]?.json.id, same[1]?.json.outcome.text, same[2]?.json.id], [id, "one", copy]);
    const socket = new Socket(ground);
    await socket.untilType("hello");
    await socket.ask({ type: "subscribe", sessionId: id }, "s");
    const refused = await socket.ask({ type: "submit", prompt: "stop", key: "k" }, "other");
    assert.deepEqual([refused.type, refused.code], ["protocol_error", "key-reused"]);
    const repeated = await socket.ask({ type: "submit", prompt: "go", key: "k" }, "same");
    assert.deepEqual([repeated.type, repeated.repeated], ["accepted", true]);
    socket.socket.close();
  });

  it("is each token's own", async () => {
    const ground = await new Ground([{ text: "one" }, { text: "two" }]).start();
    const id = await ground.session();
    const token = ground.token({ name: "helper", scopes: ["drive"], of: ["owner"] });
    const send = (as: string) => ground.ask("POST", `/v1/sessions/${id}/messages`, { body: { text: "go" }, headers, token: as });
    const [mine, theirs] = [await send(ground.owner), await send(token)];
    assert.deepEqual([mine.json.outcome.text, theirs.json.outcome.text], ["one", "two"]);
  });
});

describe("limits of a token", () => {
  it("hold for what comes at once", async () => {
    const ground = await new Ground([slow, slow, slow, slow, slow]).start();
    const token = ground.token({ name: "small", scopes: ["drive"], limits: { sessions: 2, prompts: 1 } });
    const begun = await Promise.all(Array.from({ length: 6 }, () => ground.ask("POST", "/v1/sessions", { body: {}, token })));
    assert.deepEqual(begun.map(({ status }) => status).sort(), [201, 201, 429, 429, 429, 429]);
    const ids = begun.flatMap(({ status, json }) => (status === 201 ? [json.id as string] : []));
    const prompts = await Promise.all(
      [...ids, ...ids, ...ids].map((id) =>
        ground.ask("POST", `/v1/sessions/${id}/messages`, { body: { text: "go", wait: false }, token }),
      ),
    );
    assert.deepEqual(prompts.map(({ status }) => status).sort(), [202, 429, 429, 429, 429, 429]);
  });

  it("count what the token itself asks for, whosever session it is", async () => {
    const ground = await new Ground([slow, slow, slow]).start();
    const ann = ground.token({ name: "ann", scopes: ["drive"], limits: { prompts: 2 } });
    const bob = ground.token({ name: "bob", scopes: ["drive"], of: ["ann"], limits: { prompts: 1 } });
    const id = await ground.session({ token: ann });
    const send = async (token: string) =>
      (await ground.ask("POST", `/v1/sessions/${id}/messages`, { body: { text: "go", wait: false }, token })).status;
    assert.deepEqual(
      [await send(bob), await send(bob), await send(ann), await send(ann), await send(ann)],
      [202, 429, 202, 202, 429],
    );
    const socket = new Socket(ground, { token: bob });
    await socket.untilType("hello");
    await socket.ask({ type: "subscribe", sessionId: id }, "s");
    for (const message of [
      { type: "submit", prompt: "x" },
      { type: "command", name: "context" },
    ])
      assert.equal((await socket.ask(message, message.type)).code, "limit-reached", message.type);
    socket.socket.close();
  });
});
