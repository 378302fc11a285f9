import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Ground } from "./ground.ts";
import { Socket } from "./socket.ts";

describe("requests of all kinds", () => {
  it("may be HEAD wherever GET is answered, with the same headers and no body", async () => {
    const ground = await new Ground([{ text: "one" }]).start();
    const id = await ground.session();
    await ground.ask("POST", `/v1/sessions/${id}/messages`, { body: { text: "go" } });
    const { json } = await ground.ask("GET", "/openapi.json");
    const paths = Object.entries(json.paths as Record<string, { get?: object }>).flatMap(([path, { get }]) =>
      get ? [path] : [],
    );
    for (const path of paths) {
      const target = path.replace("{id}", id).replace("{taskId}", "none").replace("{checkpointId}", "none");
      const head = await ground.ask("HEAD", target).catch((error: unknown) => assert.fail(`${target}: ${error}`));
      if (target.endsWith("/events")) {
        assert.deepEqual([head.status, head.text], [200, ""]);
        continue;
      }
      const whole = await ground.ask("GET", target);
      assert.deepEqual(
        [head.status, head.text, head.headers["content-type"]],
        [whole.status, "", whole.headers["content-type"]],
        target,
      );
    }
    assert.match((await ground.ask("PUT", "/v1/sessions")).headers["allow"] ?? "", /GET, HEAD/);
  });

  it("may have an empty object as body where none is needed", async () => {
    const ground = await new Ground().start();
    const id = await ground.session();
    assert.equal((await ground.ask("POST", `/v1/sessions/${id}/resume`, { body: {} })).status, 202);
    assert.equal((await ground.ask("POST", `/v1/sessions/${id}/resume`, { body: { x: 1 } })).status, 400);
    assert.equal((await ground.ask("POST", `/v1/sessions/${id}/resume`, { body: [] })).status, 400);
  });

  it("are told when to come back, whatever the limit", async () => {
    const ground = await new Ground([{ text: "slow", delayMs: 60_000 }]).start();
    const token = ground.token({ name: "small", scopes: ["drive"], limits: { sessions: 1, prompts: 1 } });
    const id = await ground.session({ token });
    await ground.ask("POST", `/v1/sessions/${id}/messages`, { token, body: { text: "go", wait: false } });
    const refused = [
      await ground.ask("POST", "/v1/sessions", { token, body: {} }),
      await ground.ask("POST", `/v1/sessions/${id}/messages`, { token, body: { text: "more" } }),
      await ground.ask("POST", "/v1/chat/completions", {
        token,
        body: { model: "default", messages: [{ role: "user", content: "x" }] },
      }),
    ];
    assert.deepEqual(
      refused.map(({ status, headers }) => [status, headers["retry-after"]]),
      [
        [429, "1"],
        [429, "1"],
        [429, "1"],
      ],
    );
    const few = await new Ground([{ text: "slow", delayMs: 60_000 }]).start({ host: { maxSessions: 1 } });
    const busy = await few.session();
    await few.ask("POST", `/v1/sessions/${busy}/messages`, { body: { text: "go", wait: false } });
    const full = await few.ask("POST", "/v1/sessions", { body: {} });
    assert.deepEqual([full.status, full.headers["retry-after"]], [429, "1"]);
  });
});

const secret = "sk-ant-api03-ABCDEFGHIJKLMNOPQRSTUVWXYZ012345678901234567890123456789abcdef";

describe("a question", () => {
  it("is shown with its secrets to who may answer it, and masked to who may only look or drive", async () => {
    const command = `curl -H "x-api-key: ${secret}" http://127.0.0.1:9/`;
    const ground = await new Ground([{ calls: [{ name: "Bash", input: { command } }] }, { text: "ok" }]).start();
    const driving = ground.token({ name: "driver", scopes: ["drive"] });
    const id = await ground.session({ token: driving });
    const looking = ground.token({ name: "looker", scopes: ["view"], of: ["driver"] });
    const answering = ground.token({ name: "answerer", scopes: ["approve"], of: ["driver"] });
    const [driver, looker, answerer] = [driving, looking, answering].map((token) => new Socket(ground, { token })) as [
      Socket,
      Socket,
      Socket,
    ];
    const sockets = [driver, looker, answerer];
    for (const socket of sockets) {
      await socket.untilType("hello");
      await socket.ask({ type: "subscribe", sessionId: id, after: 0 }, "s");
    }
    const events = await ground.watch(`/v1/sessions/${id}/events?after=0`, { token: looking });
    driver.say({ type: "submit", prompt: "go" });
    const { requestId } = await answerer.untilType("permission_request");
    await looker.untilType("permission_request");
    await driver.untilType("permission_request");
    await events.untilType("permission.requested");
    const late = new Socket(ground, { token: looking });
    await late.untilType("hello");
    await late.ask({ type: "subscribe", sessionId: id }, "s");
    const listed = await ground.ask("GET", `/v1/sessions/${id}/questions`, { token: looking });
    const shown = await ground.ask("GET", `/v1/sessions/${id}`, { token: looking });
    assert.ok(JSON.stringify(answerer.told).includes(secret));
    for (const told of [driver.told, looker.told, late.told, events.frames, listed.json, shown.json])
      assert.ok(!JSON.stringify(told).includes(secret));
    assert.equal(listed.json.questions.length, 1);
    const path = `/v1/sessions/${id}/permissions/${requestId}`;
    assert.equal((await ground.ask("POST", path, { token: looking, body: { decision: "allow" } })).status, 403);
    assert.equal((await ground.ask("POST", path, { token: answering, body: { decision: "deny" } })).status, 200);
    await driver.untilType("complete");
    for (const { socket } of [...sockets, late]) socket.close();
    events.leave();
  });

  it("waits while somebody who may answer is there, and is answered with no a while after the last one has gone", async () => {
    const ground = await new Ground([{ calls: [{ name: "Bash", input: { command: "touch made" } }] }, { text: "ok" }]).start({
      permissionWaitMs: 200,
    });
    const id = await ground.session();
    const [one, other] = [new Socket(ground), await ground.watch(`/v1/sessions/${id}/events?after=0`)];
    await one.untilType("hello");
    await one.ask({ type: "subscribe", sessionId: id }, "s");
    const prompt = ground.ask("POST", `/v1/sessions/${id}/messages`, { body: { text: "go" } });
    await one.untilType("permission_request");
    one.socket.terminate();
    await new Promise((resolve) => setTimeout(resolve, 600)); // longer than a question waits for nobody
    assert.equal((await ground.ask("GET", `/v1/sessions/${id}/questions`)).json.questions.length, 1);
    other.leave();
    assert.equal((await prompt).json.outcome.text, "ok");
    const stored = await ground.watch(`/v1/sessions/${id}/events?after=0`);
    assert.equal((await stored.untilType("permission.resolved")).data.decision, "deny");
    stored.leave();
  });
});

describe("a socket", () => {
  it("is told from the beginning with after: 0", async () => {
    const ground = await new Ground([{ text: "one" }]).start();
    const id = await ground.session();
    const socket = new Socket(ground);
    await socket.untilType("hello");
    await socket.ask({ type: "subscribe", sessionId: id, after: 0 }, "s");
    const started = await socket.untilType("session_started");
    assert.deepEqual([started.seq, started.cwd, started.permissionMode, started.resumed], [1, ground.cwd, "default", false]);
    socket.socket.close();
  });
});

describe("a token that begins no sessions", () => {
  it("sees and approves those of the tokens that it was made for, and no others", async () => {
    const ground = await new Ground([{ text: "one" }]).start();
    const [ann, bob] = ["ann", "bob"].map((name) => ground.token({ name, scopes: ["drive"] }));
    const seen = await ground.session({ token: ann ?? "" });
    const hidden = await ground.session({ token: bob ?? "" });
    const mine = await ground.session();
    const token = ground.token({ name: "looker", scopes: ["view", "approve"], of: ["ann"] });
    const { sessions } = (await ground.ask("GET", "/v1/sessions", { token })).json;
    assert.deepEqual(
      sessions.map(({ id }: { id: string }) => id),
      [seen],
    );
    assert.equal((await ground.ask("GET", `/v1/sessions/${seen}`, { token })).status, 200);
    for (const id of [hidden, mine]) assert.equal((await ground.ask("GET", `/v1/sessions/${id}`, { token })).status, 404);
    assert.equal((await ground.ask("POST", `/v1/sessions/${seen}/messages`, { token, body: { text: "x" } })).status, 403);
  });
});
