import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Ground } from "./ground.ts";
import { Socket } from "./socket.ts";

describe("a token that is taken away", () => {
  it("ends what goes on with it: events, sockets, prompts that are waited for; the session goes on", async () => {
    const ground = await new Ground([{ text: "slow", delayMs: 60_000 }]).start();
    const token = ground.token({ name: "gone", scopes: ["drive", "approve"] });
    const id = await ground.session({ token });
    const events = await ground.watch(`/v1/sessions/${id}/events?after=0`, { token });
    const socket = new Socket(ground, { token });
    await socket.untilType("hello");
    await socket.ask({ type: "subscribe", sessionId: id }, "s");
    const waiting = ground.ask("POST", `/v1/sessions/${id}/messages`, { token, body: { text: "go" } }).then(
      () => "answered",
      () => "hung up",
    );
    await events.untilType("turn.started");
    ground.tokens.remove("gone");
    await events.ended;
    const { data } = await events.untilType("stream.ended");
    assert.deepEqual([data.error.code, data.error.retryable], ["closed", false]);
    assert.deepEqual(await socket.closed, { code: 1008, reason: "This token counts no longer" });
    assert.equal(await waiting, "hung up");
    assert.equal((await ground.ask("GET", `/v1/sessions/${id}`)).json.state, "working");
  });

  it("drives nothing more over a socket, not even before anybody has looked", async () => {
    const ground = await new Ground([{ text: "never" }]).start();
    const token = ground.token({ name: "gone", scopes: ["drive"] });
    const id = await ground.session({ token });
    const socket = new Socket(ground, { token });
    await socket.untilType("hello");
    await socket.ask({ type: "subscribe", sessionId: id }, "s");
    ground.tokens.remove("gone");
    socket.say({ type: "submit", prompt: "x" });
    assert.equal((await socket.closed).code, 1008);
    assert.equal((await ground.ask("GET", `/v1/sessions/${id}/messages`)).json.messages.length, 0);
  });

  it("is one that has expired, too: a share ends with its time", async () => {
    const ground = await new Ground().start();
    const id = await ground.session();
    const share = await ground.ask("POST", `/v1/sessions/${id}/share`, { body: { expiresInSeconds: 1 } });
    const { token } = share.json;
    const events = await ground.watch(`/v1/sessions/${id}/events?after=0`, { token });
    const socket = new Socket(ground, { token });
    await events.ended;
    assert.equal(events.types.at(-1), "stream.ended");
    assert.equal((await socket.closed).code, 1008);
    assert.equal((await ground.ask("GET", `/v1/sessions/${id}`, { token })).status, 401);
  });

  it("has no say in the formats of others when another token of the same name has come", async () => {
    const ground = await new Ground([{ text: "one" }, { text: "two" }]).start();
    const limits = { sessions: 1 };
    const first = ground.token({ name: "same", scopes: ["drive"], limits });
    const ask = async (token: string): Promise<number> =>
      (
        await ground.ask("POST", "/v1/chat/completions", {
          token,
          body: { model: "default", messages: [{ role: "user", content: "hi" }] },
        })
      ).status;
    assert.equal(await ask(first), 200);
    assert.equal(await ask(first), 429); // it has its one session
    ground.tokens.remove("same");
    const second = ground.token({ name: "same", scopes: ["drive"] });
    assert.equal(await ask(second), 200); // which has no such limit
  });
});

describe("guesses", () => {
  const wrong = (ground: Ground, from?: string) =>
    ground.ask("GET", "/v1/client", { token: "wrong", headers: from === undefined ? {} : { "x-forwarded-for": from } });

  it("never keep the right token out, and no token is no guess", async () => {
    const ground = await new Ground().start();
    for (let tries = 0; tries < 40; tries++) assert.equal((await ground.ask("GET", "/v1/client", { token: null })).status, 401);
    assert.equal((await wrong(ground)).status, 401);
    for (let tries = 0; tries < 40; tries++) await wrong(ground);
    const refused = await wrong(ground);
    assert.equal(refused.status, 429);
    assert.ok(Number(refused.headers["retry-after"]) >= 1);
    assert.equal((await ground.ask("GET", "/v1/client")).status, 200);
    assert.equal((await ground.ask("GET", "/v1/client", { token: null })).status, 401);
  });

  it("are counted behind a proxy by the address that the proxy saw", async () => {
    const ground = await new Ground().start({ isBehindProxy: true });
    for (let tries = 0; tries < 40; tries++) await wrong(ground, `10.0.0.${tries}, 198.51.100.7`); // what a client writes itself does not count
    assert.equal((await wrong(ground, "198.51.100.7")).status, 429);
    assert.equal((await wrong(ground, "198.51.100.8")).status, 401);
  });

  it("are counted by the connection where no proxy was told of", async () => {
    const ground = await new Ground().start();
    for (let tries = 0; tries < 40; tries++) await wrong(ground, `198.51.100.${tries}`);
    assert.equal((await wrong(ground, "198.51.100.99")).status, 429);
  });
});
