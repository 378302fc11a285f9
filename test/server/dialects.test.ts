import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import OpenAI from "openai";
import { Ground } from "./ground.ts";

const clientOf = (ground: Ground, apiKey = ground.owner): OpenAI =>
  new OpenAI({ baseURL: `${ground.url}/v1`, apiKey, maxRetries: 0 });
const ask = (content: string) => ({ model: "default", messages: [{ role: "user" as const, content }] });

describe("the server for clients of others", () => {
  it("answers OpenAI's client over its own port, streamed and not, and goes on with a session by its name", async () => {
    const ground = await new Ground([{ text: "one" }, { text: "two" }, { text: "three" }]).start();
    const openai = clientOf(ground);
    const { data, response } = await openai.chat.completions.create(ask("go")).withResponse();
    assert.equal(data.choices[0]?.message.content, "one");
    const session = response.headers.get("x-session-id") ?? "";
    assert.match(session, /^[\w-]{36}$/);
    const stream = await openai.chat.completions.create(
      { ...ask("more"), stream: true },
      { headers: { "x-session-id": session } },
    );
    let text = "";
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
    assert.equal(text, "two");
    assert.equal((await openai.responses.create({ model: "default", input: "again" })).output_text, "three");
    const { sessions } = (await ground.ask("GET", "/v1/sessions")).json;
    assert.equal(sessions.length, 2, "the first two prompts are one session");
  });

  it("streams to the AI SDK's route under the id of the chat", async () => {
    const ground = await new Ground([{ text: "hello" }]).start();
    const message = { id: "m1", role: "user", parts: [{ type: "text", text: "hi" }] };
    const said = await ground.ask("POST", "/v1/sessions/chat-1/chat", {
      body: { id: "chat-1", messages: [message], trigger: "submit-message" },
    });
    assert.deepEqual([said.status, said.headers["x-vercel-ai-ui-message-stream"]], [200, "v1"]);
    assert.match(said.text, /"type":"text-delta".*"delta":"hello".*\ndata: \[DONE\]\n/s);
    assert.equal((await ground.ask("GET", "/v1/sessions/chat-1")).status, 200);
  });

  it("tells an agent's card, and runs a task of A2A", async () => {
    const ground = await new Ground([{ text: "done" }]).start();
    assert.equal((await ground.ask("GET", "/.well-known/agent-card.json")).status, 200);
    const body = {
      jsonrpc: "2.0",
      id: 1,
      method: "SendMessage",
      params: { message: { role: "ROLE_USER", messageId: "m", parts: [{ text: "go" }] } },
    };
    const { json } = await ground.ask("POST", "/v1/a2a", { body });
    assert.match(JSON.stringify(json), /TASK_STATE_COMPLETED/);
  });

  it("lists the tasks of A2A page by page, of a context or a state, and nobody else's", async () => {
    const ground = await new Ground([{ text: "one" }, { text: "two" }, { text: "three" }]).start();
    const call = async (method: string, params: object, token = ground.owner) =>
      (await ground.ask("POST", "/v1/a2a", { token, body: { jsonrpc: "2.0", id: 1, method, params } })).json;
    const send = async (contextId?: string) =>
      await call("SendMessage", { message: { role: "ROLE_USER", messageId: "m", contextId, parts: [{ text: "go" }] } });
    const { contextId } = (await send()).result.task;
    await send(contextId);
    await send();
    const { result } = await call("ListTasks", { pageSize: 2 });
    assert.deepEqual([result.tasks.length, result.totalSize, result.pageSize], [2, 3, 2]);
    const rest = (await call("ListTasks", { pageSize: 2, pageToken: result.nextPageToken })).result;
    assert.deepEqual([rest.tasks.length, rest.nextPageToken], [1, ""]);
    const ofContext = (await call("ListTasks", { contextId, includeArtifacts: true })).result;
    assert.deepEqual([ofContext.totalSize, ofContext.tasks[0].artifacts.length, result.tasks[0].artifacts.length], [2, 1, 0]);
    assert.equal((await call("ListTasks", { status: "TASK_STATE_FAILED" })).result.totalSize, 0);
    const other = ground.token({ name: "other", scopes: ["drive"] });
    assert.equal((await call("ListTasks", {}, other)).result.totalSize, 0);
    assert.equal((await call("ListTasks", { pageSize: 1000 })).error.code, -32602);
  });

  it("tells the address of its card as it was called, also behind a proxy that does TLS, and that a token is needed", async () => {
    const ground = await new Ground().start({ isBehindProxy: true, allowedHosts: ["agents.example.com"] });
    const headers = { host: "agents.example.com", "x-forwarded-proto": "https" };
    const { json } = await ground.ask("GET", "/.well-known/agent-card.json", { headers });
    assert.equal(json.supportedInterfaces[0].url, "https://agents.example.com/v1/a2a");
    assert.deepEqual(json.securitySchemes, { token: { httpAuthSecurityScheme: { scheme: "Bearer" } } });
  });

  it("tells OpenAI's client that a turn has failed, and not to do it again by itself", async () => {
    const ground = await new Ground([{ fail: { code: "provider-unavailable", message: "boom" } }, { text: "Never." }]).start();
    const openai = new OpenAI({ baseURL: `${ground.url}/v1`, apiKey: ground.owner, maxRetries: 2 });
    await assert.rejects(openai.chat.completions.create(ask("go")), { status: 502, message: /boom/ });
    const { sessions } = (await ground.ask("GET", "/v1/sessions")).json;
    assert.equal(sessions.length, 1);
  });

  it("tells OpenAI's client of responses the same", async () => {
    const ground = await new Ground([{ fail: { code: "provider-unavailable", message: "boom" } }, { text: "Never." }]).start();
    const openai = new OpenAI({ baseURL: `${ground.url}/v1`, apiKey: ground.owner, maxRetries: 2 });
    const failed = openai.responses.create({ model: "default", input: "go" });
    await assert.rejects(failed, { status: 502, code: "provider-unavailable", message: /boom/ });
  });

  it("goes on from the response that is named, also when the session has gone on since then", async () => {
    const ground = await new Ground([{ text: "A" }, { text: "B" }, { text: "C" }, { text: "D" }]).start();
    const openai = clientOf(ground);
    const respond = async (input: string, previous?: string) =>
      (await openai.responses.create({ model: "default", input, previous_response_id: previous ?? null })).id;
    const heard = async (id: string) => {
      const path = `/v1/sessions/${id.slice("resp_".length).split(".")[0]}/messages`;
      return (await ground.ask("GET", path)).json.messages.map(
        ({ content }: { content: { text: string }[] }) => content[0]?.text,
      );
    };
    const first = await respond("a");
    const second = await respond("b", first);
    const branch = await respond("c", first);
    const next = await respond("d", branch);
    assert.deepEqual(await heard(second), ["a", "A", "b", "B"]);
    assert.deepEqual(await heard(next), ["a", "A", "c", "C", "d", "D"]);
    await assert.rejects(respond("e", "resp_none.turn"), { status: 404 });
  });

  it("does not give the AI SDK's prompt to the session a second time for another answer", async () => {
    const ground = await new Ground().start();
    const message = { id: "m1", role: "user", parts: [{ type: "text", text: "hi" }] };
    const body = { id: "chat-1", messages: [message], trigger: "regenerate-message" };
    assert.equal((await ground.ask("POST", "/v1/sessions/chat-1/chat", { body })).status, 400);
  });

  it("refuses what an agent cannot give: other answers than one text", async () => {
    const ground = await new Ground().start();
    const openai = clientOf(ground);
    const schema = { type: "json_schema" as const, name: "x", schema: { type: "object" } };
    await assert.rejects(openai.chat.completions.create({ ...ask("go"), n: 2 }), { status: 400 });
    const format = { type: "json_schema" as const, json_schema: schema };
    await assert.rejects(openai.chat.completions.create({ ...ask("go"), response_format: format }), { status: 400 });
    await assert.rejects(openai.responses.create({ model: "default", input: "x", text: { format: schema } }), { status: 400 });
    assert.deepEqual((await ground.ask("GET", "/v1/sessions")).json.sessions, []);
  });

  it("ends the answer of a prompt that somebody takes back before its turn", async () => {
    const ground = await new Ground([{ text: "slow", delayMs: 60_000 }]).start();
    const id = await ground.session();
    const watch = await ground.watch(`/v1/sessions/${id}/events?after=0`);
    await ground.ask("POST", `/v1/sessions/${id}/messages`, { body: { text: "first", wait: false } });
    const waiting = clientOf(ground).chat.completions.create(ask("second"), { headers: { "x-session-id": id } });
    await watch.until(({ type, input }) => type === "prompt.accepted" && JSON.stringify(input).includes("second"));
    await ground.ask("POST", `/v1/sessions/${id}/cancel`);
    assert.equal((await waiting).choices[0]?.finish_reason, "length");
    watch.leave();
  });

  it("lists models to OpenAI's client, the one of the settings first", async () => {
    const ground = await new Ground().start();
    const { data } = await clientOf(ground).models.list();
    assert.deepEqual([data[0]?.id, data[0]?.object, data[0]?.owned_by], ["default", "model", "outrider"]);
    assert.ok(data.length > 10);
  });

  it("takes agents and profiles where OpenAI's client names a model, and lists them", async () => {
    const ground = await new Ground([{ text: "one" }, { text: "two" }]).start();
    const home = join(ground.top, ".outrider");
    mkdirSync(join(home, "agents"), { recursive: true });
    writeFileSync(
      join(home, "agents/reviewer.md"),
      "---\nname: reviewer\ndescription: Reviews.\ntools: Read\n---\nYou review and change nothing.",
    );
    const profile = { type: "openai", model: "gpt-5.5", apiKey: "$ENV:NONE", baseURL: "http://127.0.0.1:1/v1" };
    writeFileSync(join(home, "settings.json"), JSON.stringify({ providers: { fast: profile } }));
    const openai = clientOf(ground);
    const listed = (await openai.models.list()).data.map(({ id }) => id);
    assert.deepEqual(listed.filter((id) => /^(?:agent\/reviewer|agent\/Explore|profile\/)/.test(id)).sort(), [
      ...["agent/Explore", "agent/reviewer", "profile/fast"],
    ]);
    const { response } = await openai.chat.completions.create({ ...ask("go"), model: "agent/reviewer" }).withResponse();
    const id = response.headers.get("x-session-id");
    assert.deepEqual((await ground.ask("GET", `/v1/sessions/${id}/settings`)).json.tools, ["Read"]);
    assert.equal((await openai.responses.create({ model: "agent/reviewer", input: "go" })).output_text, "two");
    await assert.rejects(openai.chat.completions.create({ ...ask("go"), model: "agent/nobody" }), {
      status: 400,
      message: /no agent "nobody"/,
    });
    await assert.rejects(openai.chat.completions.create({ ...ask("go"), model: "profile/none" }), {
      status: 400,
      message: /none/,
    });
    const asked = openai.chat.completions.create({ ...ask("go"), model: "profile/fast" });
    await assert.rejects(asked, ({ message }: Error) => /NONE|127\.0\.0\.1:1|key/.test(message));
    const over = await ground.ask("POST", "/v1/sessions", { body: { provider: "none" } });
    assert.match(over.text, /none/);
    assert.match((await ground.ask("POST", "/v1/sessions", { body: { provider: "fast" } })).text, /variable NONE/);
    const viewer = ground.token({ name: "viewer", scopes: ["view"], of: ["owner"] });
    assert.ok(!(await clientOf(ground, viewer).models.list()).data.some(({ id: name }) => name.startsWith("agent/")));
  });

  it("reads a scripted model from a file of the host for nobody but the owner", async () => {
    const ground = await new Ground().start();
    const openai = clientOf(ground, ground.token({ name: "other", scopes: ["drive"] }));
    const model = `scripted/${join(ground.top, "any.json")}`;
    await assert.rejects(openai.chat.completions.create({ ...ask("go"), model }), { status: 403, message: /admin/ });
    await assert.rejects(openai.responses.create({ input: "go", model }), { status: 403, message: /admin/ });
  });

  it("lets in nobody it would not let in elsewhere, and shows nobody another's session", async () => {
    const ground = await new Ground([{ text: "mine" }, { text: "theirs" }]).start();
    await assert.rejects(clientOf(ground, "wrong").chat.completions.create(ask("go")), { status: 401 });
    const viewer = ground.token({ name: "viewer", scopes: ["view"] });
    await assert.rejects(clientOf(ground, viewer).chat.completions.create(ask("go")), { status: 403 });
    const own = await clientOf(ground).chat.completions.create(ask("go")).withResponse();
    const session = own.response.headers.get("x-session-id") ?? "";
    const other = clientOf(ground, ground.token({ name: "other", scopes: ["drive"] }));
    await assert.rejects(other.chat.completions.create(ask("go"), { headers: { "x-session-id": session } }), { status: 404 });
    assert.equal(
      (await ground.ask("POST", "/v1/chat/completions", { body: ask("go"), headers: { origin: "https://evil.example" } })).status,
      403,
    );
    assert.equal((await ground.ask("POST", "/v1/chat/completions", { body: "nonsense" })).status, 400);
  });

  it("waits for whoever may answer a question, and takes no for the answer where nobody may", async () => {
    const call = (name: string) => ({ calls: [{ name: "Bash", input: { command: `touch ${name}` } }] });
    const script = [call("allowed"), { text: "Made." }, call("refused"), { text: "Not made." }];
    const ground = await new Ground(script).start({ permissionWaitMs: 2_000 });
    const driver = clientOf(ground, ground.token({ name: "driver", scopes: ["drive"] }));
    const id = "asked-about";
    const answering = (async () => {
      for (;;) {
        const watch = await ground.watch(`/v1/sessions/${id}/events?after=0`);
        if (watch.response.statusCode !== 200) continue; // it is not there yet
        const { data } = await watch.untilType("permission.requested");
        await ground.ask("POST", `/v1/sessions/${id}/permissions/${data.requestId}`, { body: { decision: "allow" } });
        watch.leave();
        return;
      }
    })();
    const asked = driver.chat.completions.create(ask("go"), { headers: { "x-session-id": id } });
    assert.equal((await asked).choices[0]?.message.content, "Made.");
    await answering;
    const alone = await driver.chat.completions.create(ask("again"), { headers: { "x-session-id": id } });
    assert.equal(alone.choices[0]?.message.content, "Not made.");
    assert.deepEqual(
      ["allowed", "refused"].map((name) => existsSync(join(ground.cwd, name))),
      [true, false],
    );
  });

  it("ends what it tells when the server ends", async () => {
    const ground = await new Ground([{ text: "slow", delayMs: 60_000 }]).start();
    const answer = await ground.open("POST", "/v1/chat/completions", { body: { ...ask("go"), stream: true } });
    const over = new Promise<void>((resolve) => answer.on("error", () => {}).on("close", resolve));
    answer.resume();
    await ground.server?.close();
    await over;
  });

  it("ends the turn of a client that leaves", async () => {
    const ground = await new Ground([{ text: "slow", delayMs: 20_000 }, { text: "next" }]).start();
    const leaving = new AbortController();
    const stream = clientOf(ground).chat.completions.create({ ...ask("go"), stream: true }, { signal: leaving.signal });
    setTimeout(() => leaving.abort(), 300);
    const read = async (): Promise<void> => {
      for await (const _ of await stream); // its client takes the end for the end of the stream
    };
    await read().catch(() => {}); // or it had not begun yet, on a busy machine
    assert.ok(leaving.signal.aborted);
    const deadline = Date.now() + 10_000;
    const working = async (): Promise<number> =>
      Number(/prompts_active (\d+)/.exec((await ground.ask("GET", "/metrics")).text)?.[1]);
    while ((await working()) > 0 && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(await working(), 0);
  });
});
