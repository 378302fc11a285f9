import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { eventually } from "../e2e/command.ts";
import { Ground, type Json } from "./ground.ts";
import { Socket, type SocketOptions, upgradeStatus } from "./socket.ts";

const lists = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

describe("GET /v1/ws", () => {
  const ground = new Ground();
  before(async () => {
    await ground.start();
  });

  const upgrades: readonly [name: string, options: () => SocketOptions, status: number][] = [
    ["the token in a header", () => ({}), 101],
    ["the token as a subprotocol", () => ({ token: null, protocols: ["outrider.v1", `outrider.token.${ground.owner}`] }), 101],
    ["the first message will have it", () => ({ token: null, protocols: ["outrider.v1"] }), 101],
    ["no token (TR003)", () => ({ token: null }), 401],
    ["a wrong token", () => ({ token: "wrong" }), 401],
    ["a wrong token as a subprotocol", () => ({ token: null, protocols: ["outrider.v1", "outrider.token.wrong"] }), 401],
    ["the Origin of a page (TR001)", () => ({ origin: "https://evil.example", token: null }), 403],
    ["the Origin of a page with the token (TR002)", () => ({ origin: "https://evil.example" }), 403],
    ["the Origin of another program of this machine", () => ({ origin: "http://localhost:3000" }), 403],
    ["a name that was made to point here", () => ({ headers: { host: "evil.example" } }), 403],
  ];
  for (const [name, options, status] of upgrades)
    it(`${name}: ${status}`, async () => assert.equal(await upgradeStatus(ground, options()), status));

  it("says hello, and takes the token as the first message; a wrong one is let go with 1008", async () => {
    const protocols = ["outrider.v1"];
    const good = new Socket(ground, { token: null, protocols });
    await new Promise((resolve) => good.socket.on("open", resolve));
    const hello = await good.ask({ type: "hello", token: ground.owner }, "1");
    assert.deepEqual([hello.type, hello.protocol, hello.client.name], ["hello", 1, "owner"]);
    good.socket.close();
    for (const message of [{ type: "hello", token: "wrong" }, { type: "hello" }, { type: "submit", prompt: "x" }]) {
      const bad = new Socket(ground, { token: null, protocols });
      await new Promise((resolve) => bad.socket.on("open", resolve));
      bad.say(message);
      assert.equal((await bad.closed).code, 1008);
    }
  });

  it("closes on a message that is too long with 1009 (TR013), and takes no compression (TR014)", async () => {
    const small = await new Ground().start({ limits: { bodyBytes: 1_000 } });
    const socket = new Socket(small, { perMessageDeflate: true });
    await socket.untilType("hello");
    assert.equal(socket.socket.extensions, "");
    socket.say({ type: "submit", prompt: "x".repeat(2_000) });
    assert.equal((await socket.closed).code, 1009);
  });

  it("reads little of a connection that has not said who it is, and as much as ever of one that has", async () => {
    const protocols = ["outrider.v1"];
    const [unknown, known] = [0, 1].map(() => new Socket(ground, { token: null, protocols })) as [Socket, Socket];
    for (const { socket } of [unknown, known]) await new Promise((resolve) => socket.on("open", resolve));
    unknown.say({ type: "hello", token: "x".repeat(1 << 20) });
    assert.equal((await unknown.closed).code, 1006);
    known.say({ type: "hello", token: ground.owner });
    const answer = await known.ask({ type: "subscribe", sessionId: "none", filler: "x".repeat(1 << 20) }, "s");
    assert.equal(answer.message, "There is no session none");
    known.socket.close();
  });

  for (const [name, text, message] of [
    ["no JSON", "{", "Invalid JSON"],
    ["what is nested too deeply", lists(8_000_000), "The message is nested more than 500 levels deep"],
    ["no session", '{"type":"submit","prompt":"x"}', "Subscribe to the session first, and name it with sessionId"],
    ["a session of nobody", '{"type":"subscribe","sessionId":"nobody"}', "There is no session nobody"],
    ["a subscription without a session", '{"type":"subscribe"}', "sessionId is required"],
    ["a position that is none", '{"type":"subscribe","sessionId":"a","after":-1}', "after is the number of an event"],
    ["no subscription", '{"type":"unsubscribe","sessionId":"a"}', "There is no such subscription"],
    ["a list", "[1]", "Subscribe to the session first, and name it with sessionId"],
  ] as const)
    it(`answers ${name} with an error, and goes on`, async () => {
      const socket = new Socket(ground);
      await socket.untilType("hello");
      socket.socket.send(text);
      assert.equal((await socket.untilType("protocol_error")).message, message);
      socket.socket.close();
    });
});

describe("sessions over one WebSocket", () => {
  it("are told apart, driven and left; what is said names its session", async () => {
    const ground = await new Ground([{ text: "first" }, { text: "second" }]).start();
    const [one, other] = [await ground.session(), await ground.session()];
    const socket = new Socket(ground);
    await socket.untilType("hello");
    await socket.ask({ type: "subscribe", sessionId: one }, "s1");
    await socket.ask({ type: "subscribe", sessionId: other }, "s2");
    const unnamed = await socket.ask({ type: "get-messages" }, "u");
    assert.equal(unnamed.type, "protocol_error");
    socket.say({ type: "submit", prompt: "a", sessionId: one });
    await socket.until(({ type, sessionId }) => type === "complete" && sessionId === one);
    socket.say({ type: "submit", prompt: "b", sessionId: other });
    await socket.until(({ type, sessionId }) => type === "complete" && sessionId === other);
    const text = (id: string) =>
      socket.told.flatMap((told) => (told.type === "text_delta" && told.sessionId === id ? [told.delta] : [])).join("");
    assert.deepEqual([text(one), text(other)], ["first", "second"]);
    assert.equal((await socket.ask({ type: "unsubscribe", sessionId: one }, "x")).type, "unsubscribed");
    const messages = await socket.ask({ type: "get-messages" }, "m"); // the only one that is left
    assert.deepEqual([messages.sessionId, messages.messages.length], [other, 2]);
    socket.socket.close();
  });

  it("come back with after, without a gap and without anything twice", async () => {
    const ground = await new Ground([{ text: "one" }, { text: "two" }]).start();
    const id = await ground.session();
    const first = new Socket(ground);
    await first.untilType("hello");
    await first.ask({ type: "subscribe", sessionId: id, after: 0 }, "s");
    first.say({ type: "submit", prompt: "a" });
    await first.untilType("complete");
    first.socket.terminate();
    await ground.ask("POST", `/v1/sessions/${id}/messages`, { body: { text: "b" } });
    const seen = Math.max(...first.told.flatMap(({ seq }) => (typeof seq === "number" ? [seq] : [])));
    const second = new Socket(ground);
    await second.untilType("hello");
    await second.ask({ type: "subscribe", sessionId: id, after: seen }, "s");
    await second.untilType("complete");
    const numbers = [...first.told, ...second.told].flatMap(({ seq, type }) =>
      typeof seq === "number" && type !== "subscribed" ? [seq] : [],
    );
    assert.deepEqual(
      numbers,
      [...new Set(numbers)].sort((a, b) => a - b),
    );
    assert.equal(second.told.filter(({ type }) => type === "complete").length, 1);
    second.socket.close();
  });

  it("are answered with another call only by whoever may also drive, over either way", async () => {
    const ground = await new Ground([{ calls: [{ name: "Bash", input: { command: "touch made" } }] }, { text: "ok" }]).start();
    const id = await ground.session();
    const token = ground.token({ name: "approver", scopes: ["approve"], sessions: [id] });
    const [approver, owner] = [new Socket(ground, { token }), new Socket(ground)];
    for (const socket of [approver, owner]) {
      await socket.untilType("hello");
      await socket.ask({ type: "subscribe", sessionId: id }, "s");
    }
    owner.say({ type: "submit", prompt: "go" });
    const { requestId } = await approver.untilType("permission_request");
    const changed = { decision: "allow", updatedInput: { command: "touch other" } };
    const over = await approver.ask({ type: "permission-response", requestId, ...changed }, "a");
    assert.equal(over.type, "protocol_error");
    const path = `/v1/sessions/${id}/permissions/${requestId}`;
    assert.equal((await ground.ask("POST", path, { token, body: changed })).status, 403);
    assert.equal((await ground.ask("POST", path, { body: changed })).status, 200);
    await owner.untilType("complete");
    assert.deepEqual(
      ["made", "other"].map((name) => existsSync(join(ground.cwd, name))),
      [false, true],
    );
    for (const { socket } of [approver, owner]) socket.close();
  });

  it("are approved by whoever may: viewers cannot answer or drive, and hear what was decided", async () => {
    const ground = await new Ground([{ calls: [{ name: "Bash", input: { command: "touch made" } }] }, { text: "ok" }]).start();
    const id = await ground.session();
    const viewer = new Socket(ground, { token: ground.token({ name: "viewer", scopes: ["view"], sessions: [id] }) });
    const owner = new Socket(ground);
    for (const socket of [viewer, owner]) {
      await socket.untilType("hello");
      await socket.ask({ type: "subscribe", sessionId: id }, "s");
    }
    owner.say({ type: "submit", prompt: "go" });
    const { requestId } = await owner.untilType("permission_request");
    assert.equal((await viewer.ask({ type: "permission-response", requestId, decision: "allow" }, "a")).type, "protocol_error");
    assert.equal((await viewer.ask({ type: "submit", prompt: "x" }, "b")).type, "protocol_error");
    assert.equal((await owner.ask({ type: "permission-response", requestId, decision: "allow" }, "c")).type, "ok");
    await viewer.untilType("prompt_resolved");
    await viewer.untilType("complete");
    assert.ok(existsSync(join(ground.cwd, "made")));
    for (const { socket } of [viewer, owner]) socket.close();
  });

  it("end with 1001 when the server does", async () => {
    const ground = await new Ground().start();
    const socket = new Socket(ground);
    await socket.untilType("hello");
    await ground.server?.close();
    assert.equal((await socket.closed).code, 1001);
  });

  it("tell of each turn its own part, also where the model counts no tokens", async () => {
    const ground = await new Ground([{ text: "one" }, { text: "two" }, { text: "three" }]).start();
    const id = await ground.session();
    const socket = new Socket(ground);
    await socket.untilType("hello");
    await socket.ask({ type: "subscribe", sessionId: id, after: 0 }, "s");
    for (const text of ["a", "b", "c"]) await ground.ask("POST", `/v1/sessions/${id}/messages`, { body: { text } });
    await socket.until(({ result }) => result?.response === "three");
    const parts = socket.told.flatMap(({ result }) =>
      result ? [result.history.map(({ data }: Json) => data.content[0].text)] : [],
    );
    assert.deepEqual(parts, [
      ["a", "one"],
      ["b", "two"],
      ["c", "three"],
    ]);
    socket.socket.close();
  });

  it("are dropped when nobody reads them, alone; they come back with after", async () => {
    const text = `${"x".repeat(999)} `.repeat(64);
    const turns = 120;
    const replies = [...Array.from({ length: turns - 1 }, () => ({ text })), { text: "The end." }];
    const ground = await new Ground(replies).start({
      limits: { bufferedBytes: 64 << 10, stalledMs: 300 },
    });
    const id = await ground.session();
    const [slow, good] = [new Socket(ground), new Socket(ground)];
    for (const socket of [slow, good]) {
      await socket.untilType("hello");
      await socket.ask({ type: "subscribe", sessionId: id, after: 0 }, "s");
    }
    slow.socket.pause();
    for (let turn = 0; turn < turns; turn++) await ground.ask("POST", `/v1/sessions/${id}/messages`, { body: { text: "go" } });
    const ends = (...sockets: Socket[]): number =>
      sockets.flatMap(({ told }) => told).filter(({ type }) => type === "complete").length;
    const untilTheEnd = (socket: Socket): Promise<Json> =>
      socket.until(({ type, result }) => type === "complete" && result.response === "The end.");
    await untilTheEnd(good);
    assert.equal(ends(good), turns);
    await eventually(async () => (await socketsOf(ground)) === 1, "only the good one is left");
    slow.socket.resume(); // what had come is read, and then there is the end
    assert.ok([1006, 1013].includes((await slow.closed).code));
    const seen = Math.max(
      0,
      ...slow.told.flatMap(({ seq, type }) => (typeof seq === "number" && type !== "subscribed" ? [seq] : [])),
    );
    const back = new Socket(ground);
    await back.untilType("hello");
    await back.ask({ type: "subscribe", sessionId: id, after: seen }, "s");
    await untilTheEnd(back);
    assert.equal(ends(slow, back), turns);
    for (const { socket } of [good, back]) socket.close();
  });

  it("drop a reader that does not read, alone; it comes back with after (TR016)", async () => {
    const text = `${"x".repeat(999)} `.repeat(64);
    const ground = await new Ground(Array.from({ length: 40 }, () => ({ text }))).start({ limits: { bufferedBytes: 64 << 10 } });
    const id = await ground.session();
    const slow = await ground.open("GET", `/v1/sessions/${id}/events?after=0`); // nobody reads it
    slow.on("error", () => {});
    let isOver = false;
    slow.on("close", () => {
      isOver = true;
    });
    const good = await ground.watch(`/v1/sessions/${id}/events?after=0&deltas=false`);
    for (let count = 0; count < 40; count++) {
      const answer = await ground.ask("POST", `/v1/sessions/${id}/messages`, { body: { text: "go" } });
      assert.equal(answer.json.outcome.type, "completed");
    }
    await good.until(() => good.types.filter((type) => type === "turn.ended").length === 40);
    slow.resume(); // what had come is read, and then there is the end
    await new Promise<void>((resolve) => (isOver ? resolve() : slow.on("close", () => resolve())));
    good.leave();
  });
});

/** Connections to `/v1/ws`, as the server counts them. */
async function socketsOf(ground: Ground): Promise<number> {
  return Number(/^outrider_websockets (\d+)$/m.exec((await ground.ask("GET", "/metrics")).text)?.[1]);
}
