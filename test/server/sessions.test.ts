import assert from "node:assert/strict";
import { existsSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { Ground } from "./ground.ts";

const bash = (command: string) => ({ calls: [{ name: "Bash", input: { command } }] });

describe("a server of sessions", () => {
  it("creates, lists, shows, names, copies and removes them", async () => {
    const ground = await new Ground([{ text: "one" }, { text: "two" }]).start();
    const created = await ground.ask("POST", "/v1/sessions", { body: { name: "first" } });
    assert.equal(created.status, 201);
    const { id } = created.json;
    assert.equal(created.headers["location"], `/v1/sessions/${id}`);
    assert.deepEqual([created.json.name, created.json.state, created.json.cwd], ["first", "open", ground.cwd]);
    const answer = await ground.ask("POST", `/v1/sessions/${id}/messages`, { body: { text: "hello" } });
    assert.deepEqual([answer.status, answer.json.outcome.type, answer.json.outcome.text], [200, "completed", "one"]);
    const named = await ground.ask("PATCH", `/v1/sessions/${id}`, { body: { name: "renamed" } });
    assert.deepEqual([named.status, named.json.name], [200, "renamed"]);
    const copied = await ground.ask("POST", `/v1/sessions/${id}/fork`, { body: { name: "copy" } });
    assert.equal(copied.status, 201);
    await ground.ask("POST", `/v1/sessions/${copied.json.id}/messages`, { body: { text: "more" } });
    const messages = async (of: string) => (await ground.ask("GET", `/v1/sessions/${of}/messages`)).json.messages.length;
    assert.deepEqual([await messages(id), await messages(copied.json.id)], [2, 4]);
    const page = await ground.ask("GET", "/v1/sessions?limit=1");
    assert.deepEqual([page.json.sessions.length, page.json.next], [1, page.json.sessions[0].id]);
    const rest = await ground.ask("GET", `/v1/sessions?limit=1&before=${page.json.next}`);
    assert.deepEqual([page.json.sessions[0].id, rest.json.sessions[0].id].sort(), [id, copied.json.id].sort());
    assert.equal(rest.json.next, undefined);
    assert.equal((await ground.ask("GET", "/v1/sessions?before=gone")).status, 404, "not the first page again");
    assert.equal((await ground.ask("DELETE", `/v1/sessions/${id}`)).status, 204);
    assert.equal((await ground.ask("GET", `/v1/sessions/${id}`)).status, 404);
    assert.equal((await ground.ask("DELETE", `/v1/sessions/${id}`)).status, 404);
  });

  it("answers a prompt at once with 202, and tells the rest by events", async () => {
    const ground = await new Ground([{ text: "done" }]).start();
    const id = await ground.session();
    const watch = await ground.watch(`/v1/sessions/${id}/events?after=0`);
    const accepted = await ground.ask("POST", `/v1/sessions/${id}/messages`, { body: { text: "go", wait: false } });
    assert.deepEqual([accepted.status, accepted.json.outcome], [202, undefined]);
    const ended = await watch.untilType("turn.ended");
    assert.equal(ended.data.turnId, accepted.json.promptId);
    watch.leave();
  });

  it("answers a prompt with its events, and the result at the end", async () => {
    const ground = await new Ground([{ text: "streamed" }]).start();
    const id = await ground.session();
    const response = await ground.open("POST", `/v1/sessions/${id}/messages`, {
      body: { text: "go" },
      headers: { accept: "text/event-stream" },
    });
    let text = "";
    for await (const chunk of response.setEncoding("utf8")) text += chunk;
    const frames = [...text.matchAll(/^data: (.*)$/gm)].map(([, data = ""]) => JSON.parse(data));
    assert.equal(frames.at(0).type, "accepted");
    assert.deepEqual([frames.at(-1).type, frames.at(-1).outcome.text], ["result", "streamed"]);
    assert.ok(frames.some(({ type }) => type === "text.delta"));
  });

  it("runs a prompt once for each Idempotency-Key, and refuses another request with it", async () => {
    const ground = await new Ground([{ text: "once" }, { text: "twice" }]).start();
    const headers = { "idempotency-key": "k1" };
    const [one, other] = [
      await ground.ask("POST", "/v1/sessions", { body: {}, headers }),
      await ground.ask("POST", "/v1/sessions", { body: {}, headers }),
    ];
    assert.deepEqual([one.status, other.status, one.json.id], [201, 200, other.json.id]);
    const path = `/v1/sessions/${one.json.id}/messages`;
    const first = await ground.ask("POST", path, { body: { text: "a" }, headers });
    const again = await ground.ask("POST", path, { body: { text: "a" }, headers });
    assert.deepEqual([first.json.outcome.text, again.json.outcome.text], ["once", "once"]);
    assert.deepEqual([first.json.isRepeated, again.json.isRepeated, again.json.promptId], [false, true, first.json.promptId]);
    const reused = await ground.ask("POST", path, { body: { text: "b" }, headers });
    assert.deepEqual([reused.status, reused.json.code], [422, "key-reused"]);
  });

  it("asks for permission, takes the first answer, and refuses later ones", async () => {
    const ground = await new Ground([bash("touch made"), { text: "made" }]).start();
    const id = await ground.session();
    const watch = await ground.watch(`/v1/sessions/${id}/events?after=0`);
    const prompt = ground.ask("POST", `/v1/sessions/${id}/messages`, { body: { text: "go" } });
    const { data } = await watch.untilType("permission.requested");
    const listed = await ground.ask("GET", `/v1/sessions/${id}/questions`);
    assert.deepEqual(
      listed.json.questions.map(({ requestId }: { requestId: string }) => requestId),
      [data.requestId],
    );
    const path = `/v1/sessions/${id}/permissions/${data.requestId}`;
    assert.equal((await ground.ask("POST", path, { body: { decision: "perhaps" } })).status, 400);
    assert.equal((await ground.ask("POST", path, { body: { decision: "allow" } })).status, 200);
    assert.equal((await ground.ask("POST", path, { body: { decision: "deny" } })).status, 404);
    assert.equal((await prompt).json.outcome.text, "made");
    assert.ok(existsSync(join(ground.cwd, "made")));
    watch.leave();
  });

  it("denies what nobody who is connected may allow", async () => {
    const ground = await new Ground([bash("touch made"), { text: "not made" }]).start({ permissionWaitMs: 10 });
    const id = await ground.session();
    const viewer = ground.token({ name: "viewer", scopes: ["view"], sessions: [id] });
    const watch = await ground.watch(`/v1/sessions/${id}/events?after=0`, { token: viewer });
    const answer = await ground.ask("POST", `/v1/sessions/${id}/messages`, { body: { text: "go" } });
    assert.equal(answer.json.outcome.text, "not made");
    assert.match((await watch.untilType("permission.resolved")).data.decision, /deny/);
    assert.ok(!existsSync(join(ground.cwd, "made")));
    watch.leave();
  });

  it("steers and cancels a turn", async () => {
    const ground = await new Ground([{ text: "slow", delayMs: 60_000 }]).start();
    const id = await ground.session();
    const watch = await ground.watch(`/v1/sessions/${id}/events?after=0`);
    const prompt = ground.ask("POST", `/v1/sessions/${id}/messages`, { body: { text: "go" } });
    await watch.untilType("turn.started");
    const steered = await ground.ask("POST", `/v1/sessions/${id}/steer`, { body: { text: "faster" } });
    assert.equal(steered.status, 202);
    const { waiting } = (await ground.ask("GET", `/v1/sessions/${id}`)).json;
    assert.deepEqual([waiting[0].id, waiting[0].mode], [steered.json.promptId, "steer"]);
    assert.equal((await ground.ask("DELETE", `/v1/sessions/${id}/prompts/${steered.json.promptId}`)).status, 204);
    assert.equal((await ground.ask("DELETE", `/v1/sessions/${id}/prompts/nobody`)).status, 404);
    assert.equal((await ground.ask("POST", `/v1/sessions/${id}/cancel`)).status, 202);
    assert.equal((await prompt).json.outcome.type, "cancelled");
    watch.leave();
  });

  it("works only in folders below its roots, with links followed", async () => {
    const ground = await new Ground().start();
    mkdirSync(join(ground.cwd, "inner"));
    const ask = async (cwd: string) => (await ground.ask("POST", "/v1/sessions", { body: { cwd } })).status;
    const { symlinkSync } = await import("node:fs");
    symlinkSync(ground.top, join(ground.cwd, "out"));
    assert.equal(await ask(join(ground.cwd, "inner")), 201);
    for (const cwd of [
      ground.top,
      "/",
      join(ground.cwd, ".."),
      join(ground.cwd, "out"),
      join(ground.cwd, "none"),
      `${ground.cwd}x`,
    ])
      assert.equal(await ask(cwd), 403, cwd);
    assert.equal(await ask("inner"), 400);
  });

  it("keeps its files from everybody else", async () => {
    const ground = await new Ground().start();
    await ground.session();
    ground.token({ name: "other", scopes: ["view"] });
    for (const name of ["token", "tokens.json", "sessions.jsonl"])
      assert.equal(statSync(join(ground.folder, name)).mode & 0o777, 0o600, name);
  });

  it("tells those who watch that it ends, keeps what is stored, and opens it again in another process", async () => {
    const ground = await new Ground([{ text: "one" }, { text: "two" }]).start();
    const id = await ground.session();
    await ground.ask("POST", `/v1/sessions/${id}/messages`, { body: { text: "go" } });
    const watch = await ground.watch(`/v1/sessions/${id}/events?after=0`);
    await watch.untilType("turn.ended");
    await ground.server?.close();
    await watch.ended;
    assert.equal(watch.types.at(-1), "stream.ended");
    const last = watch.frames.findLast((frame) => frame.id !== undefined)?.id ?? "";
    await ground.start();
    const after = await ground.watch(`/v1/sessions/${id}/events`, { headers: { "last-event-id": last } });
    const answer = await ground.ask("POST", `/v1/sessions/${id}/messages`, { body: { text: "again" } });
    assert.equal(answer.json.outcome.type, "completed");
    await after.untilType("turn.ended");
    const ids = [...watch.frames, ...after.frames].flatMap((frame) => (frame.id === undefined ? [] : [Number(frame.id)]));
    assert.deepEqual(
      ids,
      [...new Set(ids)].sort((a, b) => a - b),
    );
    after.leave();
  });
});
