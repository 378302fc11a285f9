import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { OutriderClient, OutriderError } from "../../packages/runtime/src/exports/client.ts";
import { eventually } from "../e2e/command.ts";
import { Ground, type Json } from "./ground.ts";

describe("the client of the library", () => {
  it("begins sessions, prompts, watches, answers, names, copies, shares and removes", async () => {
    const bash = { calls: [{ name: "Bash", input: { command: "touch made" } }] };
    const ground = await new Ground([bash, { text: "made" }, { text: "more" }]).start();
    const client = new OutriderClient({ url: ground.url, token: ground.owner });
    const { id } = await client.createSession({ name: "mine" });
    const leaving = new AbortController();
    const types: string[] = [];
    const watching = (async () => {
      for await (const frame of client.watch(id, { after: 0, deltas: false, signal: leaving.signal })) {
        types.push(frame.type);
        if (frame.type === "permission.requested") {
          assert.deepEqual((await client.questions(id)).length, 1);
          await client.answerPermission(id, frame.requestId, { decision: "allow", remember: "session" });
        }
        if (frame.type === "turn.ended") leaving.abort();
      }
    })();
    const { outcome, isRepeated } = await client.prompt(id, "go", { key: "k" });
    await watching;
    assert.deepEqual([outcome.text, isRepeated], ["made", false]);
    assert.deepEqual([types.includes("tool.ended"), types.includes("text.delta")], [true, false]);
    assert.equal((await client.renameSession(id, "other")).name, "other");
    const copy = await client.forkSession(id);
    assert.equal((await client.messages(copy.id)).length, (await client.messages(id)).length);
    const { token } = await client.share(id, { expiresInSeconds: 60 });
    const viewer = new OutriderClient({ url: ground.url, token });
    assert.equal((await viewer.getSession(id)).id, id);
    await assert.rejects(viewer.getSession(copy.id), { status: 404, code: "not-found" });
    await assert.rejects(viewer.send(id, "x"), { status: 403, code: "forbidden" });
    await client.cancel(id);
    await client.deleteSession(id);
    await assert.rejects(client.getSession(id), OutriderError);
    assert.deepEqual(
      (await client.listSessions()).sessions.map((one) => one.id),
      [copy.id],
    );
  });

  it("waits for the end of a turn without being somebody whose answer to a question is waited for", async () => {
    const bash = { calls: [{ name: "Bash", input: { command: "touch made" } }] };
    const ground = await new Ground([bash, { text: "Then not." }]).start({ permissionWaitMs: 0 });
    const client = new OutriderClient({ url: ground.url, token: ground.owner });
    const { id } = await client.createSession();
    const result = await client.prompt(id, "go", { key: "k" });
    assert.deepEqual([result.outcome.text, Object.keys(result).includes("type")], ["Then not.", false]);
    const { isRepeated, outcome } = await client.prompt(id, "go", { key: "k" });
    assert.deepEqual([isRepeated, outcome.text], [true, "Then not."]);
  });

  it("says so when the connection ends before the turn, and has its outcome with the same key", async () => {
    const ground = await new Ground([{ text: "Slowly", hang: true }]).start();
    const [cut, opened] = [new AbortController(), new AbortController()];
    /** The answer has begun, and then there is no more of it. */
    const cutting: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      const nothing = new ReadableStream({
        start: (controller) => cut.signal.addEventListener("abort", () => controller.close()),
      });
      opened.abort();
      return new Response(nothing, { status: response.status });
    };
    const { id } = await new OutriderClient({ url: ground.url, token: ground.owner }).createSession();
    const client = new OutriderClient({ url: ground.url, token: ground.owner, fetch: cutting });
    const asking = client.prompt(id, "go", { key: "k" });
    const watch = await ground.watch(`/v1/sessions/${id}/events?after=0`);
    await watch.untilType("turn.started");
    await eventually(() => opened.signal.aborted, "the answer has begun");
    cut.abort();
    await assert.rejects(asking, { code: "closed", retryable: true });
    const again = new OutriderClient({ url: ground.url, token: ground.owner }).prompt(id, "go", { key: "k" });
    await ground.ask("POST", `/v1/sessions/${id}/cancel`);
    assert.equal((await again).outcome.type, "cancelled");
    watch.leave();
  });

  it("comes back by itself when the stream is cut, and tells each stored event once", async () => {
    const ground = await new Ground([{ text: "one" }, { text: "two" }]).start();
    const cuts: AbortController[] = [];
    const cutting: typeof fetch = (input, init) => {
      const cut = new AbortController();
      cuts.push(cut);
      init?.signal?.addEventListener("abort", () => cut.abort());
      return fetch(input, { ...init, signal: cut.signal });
    };
    const client = new OutriderClient({ url: ground.url, token: ground.owner });
    const watcher = new OutriderClient({ url: ground.url, token: ground.owner, fetch: cutting, retryMs: 5 });
    const { id } = await client.createSession();
    const leaving = new AbortController();
    const seqs: number[] = [];
    let ends = 0;
    const watching = (async () => {
      for await (const frame of watcher.watch(id, { after: 0, deltas: false, signal: leaving.signal })) {
        if ("seq" in frame) seqs.push(frame.seq);
        if (frame.type !== "turn.ended") continue;
        cuts.at(-1)?.abort();
        if (++ends === 2) leaving.abort();
      }
    })();
    await client.prompt(id, "a");
    await client.prompt(id, "b");
    await watching;
    assert.deepEqual(
      seqs,
      [...new Set(seqs)].sort((a, b) => a - b),
    );
    assert.ok(cuts.length >= 2);
  });

  it("tells where the server says no, and does not try that again", async () => {
    const ground = await new Ground().start();
    const stranger = new OutriderClient({ url: ground.url, token: "wrong" });
    await assert.rejects(stranger.watch("any", { after: 0 }).next(), { status: 401, code: "unauthorized", retryable: false });
  });
});

describe("addresses around the conversation", () => {
  const ground = new Ground([{ calls: [{ name: "Write", input: { file_path: "PLACE", content: "new" } }] }, { text: "written" }]);
  let id = "";
  const get = async (path: string): Promise<Json> => {
    const { status, json, text } = await ground.ask("GET", path);
    assert.equal(status, 200, text);
    return json;
  };
  before(async () => {
    await ground.start();
    id = (await ground.ask("POST", "/v1/sessions", { body: { permissionMode: "acceptEdits" } })).json.id;
    await ground.ask("POST", `/v1/sessions/${id}/messages`, { body: { text: "write" } });
  });

  it("tell commands and run them", async () => {
    const { commands } = await get(`/v1/sessions/${id}/commands`);
    assert.ok(commands.some(({ name }: Json) => name === "context"));
    const ran = await ground.ask("POST", `/v1/sessions/${id}/commands/context`, { body: {} });
    assert.deepEqual([ran.status, ran.json.success], [200, true]);
    assert.equal((await ground.ask("POST", `/v1/sessions/${id}/commands/nothing`)).status, 404);
  });

  it("tell tasks, checkpoints, models, usage, the trajectory and settings", async () => {
    assert.deepEqual(await get(`/v1/sessions/${id}/tasks`), { tasks: [], groups: [] });
    assert.equal((await ground.ask("GET", `/v1/sessions/${id}/tasks/none/log`)).status, 404);
    assert.equal((await ground.ask("POST", `/v1/sessions/${id}/tasks/none/cancel`)).status, 404);
    assert.ok(Array.isArray((await get(`/v1/sessions/${id}/checkpoints`)).checkpoints));
    assert.ok((await get("/v1/models?provider=anthropic")).models.length > 3);
    assert.match((await get(`/v1/sessions/${id}/trajectory`)).schema_version, /^ATIF-v1\.7$/);
    assert.ok((await get(`/v1/sessions/${id}/usage`)).total_steps > 0);
    const settings = await get(`/v1/sessions/${id}/settings`);
    assert.deepEqual([settings.permissionMode, settings.tools.includes("Bash"), settings.mcpServers], ["acceptEdits", true, []]);
  });

  it("change the mode of a session only as far as the scopes go", async () => {
    const token = ground.token({ name: "driver", scopes: ["drive"] });
    const own = await ground.session({ token });
    const change = async (permissionMode: string, as: string) =>
      (await ground.ask("PATCH", `/v1/sessions/${own}/settings`, { body: { permissionMode }, token: as })).status;
    assert.deepEqual(
      [await change("plan", token), await change("acceptEdits", token), await change("bypassPermissions", token)],
      [200, 403, 403],
    );
    assert.deepEqual([await change("acceptEdits", ground.owner), await change("bypassPermissions", ground.owner)], [200, 403]);
    const begun = await ground.ask("POST", "/v1/sessions", { body: { permissionMode: "acceptEdits" }, token });
    assert.equal(begun.status, 403);
  });

  it("have tags: what has not changed is not sent again", async () => {
    const first = await ground.ask("GET", `/v1/sessions/${id}`);
    const tag = String(first.headers["etag"]);
    const same = await ground.ask("GET", `/v1/sessions/${id}`, { headers: { "if-none-match": tag } });
    assert.deepEqual([same.status, same.text], [304, ""]);
    for (const known of [`W/${tag}`, `"other", ${tag}`, "*"])
      assert.equal((await ground.ask("GET", `/v1/sessions/${id}`, { headers: { "if-none-match": known } })).status, 304, known);
    await ground.ask("PATCH", `/v1/sessions/${id}`, { body: { name: "changed" } });
    assert.equal((await ground.ask("GET", `/v1/sessions/${id}`, { headers: { "if-none-match": tag } })).status, 200);
  });

  it("keep to the limits of a token: sessions, prompts, what it may see", async () => {
    const token = ground.token({ name: "small", scopes: ["drive"], limits: { sessions: 1 } });
    await ground.session({ token });
    const second = await ground.ask("POST", "/v1/sessions", { body: {}, token });
    assert.deepEqual([second.status, second.json.code], [429, "limit-reached"]);
    for (const path of ["", "/events?after=0", "/messages", "/trajectory", "/settings", "/questions", "/checkpoints"])
      assert.equal((await ground.ask("GET", `/v1/sessions/${id}${path}`, { token })).status, 404, path);
  });
});
