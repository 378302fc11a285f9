import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { createMemoryStore } from "../journal/memory-store.ts";
import { createScriptedProvider, type ScriptStep } from "../model/scripted.ts";
import { type HostedRequest, SessionHost, type SessionHostOptions } from "./session-host.ts";

let top = "";
let cwd = "";
let host: SessionHost | undefined;

beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), "outrider-host-")));
  cwd = join(top, "project");
  mkdirSync(cwd);
});
afterEach(async () => {
  await host?.shutdown();
  rmSync(top, { recursive: true, force: true });
});

function start(replies: readonly ScriptStep[], options: SessionHostOptions = {}): SessionHost {
  const around = { env: { PATH: process.env["PATH"] ?? "" }, userHome: top, outriderHome: join(top, ".outrider"), cwd };
  const provider = createScriptedProvider(replies);
  const defaults = { provider, cwd, sandboxMode: "off" as const, ...options.defaults };
  host = new SessionHost({ ...options, around, defaults });
  return host;
}

const answers = (...texts: string[]): ScriptStep[] => texts.map((text) => ({ text }));

async function until(check: () => boolean): Promise<void> {
  for (let tries = 0; !check(); tries++) {
    assert.ok(tries < 400, "it never happened");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe("SessionHost", () => {
  it("creates, lists, closes, opens again, forks and removes sessions", async () => {
    const sessions = start(answers("one", "two", "three"));
    const first = await sessions.create({ session: { type: "new", id: "first" } });
    await first.session.submit("a");
    assert.deepEqual(
      (await sessions.list()).map(({ id, state }) => [id, state]),
      [["first", "open"]],
    );
    await sessions.close("first");
    assert.deepEqual(
      (await sessions.list()).map(({ id, state }) => [id, state]),
      [["first", "stored"]],
    );
    const again = await sessions.open("first");
    assert.equal(again.session.getMessages().length, 2);
    const copy = await sessions.fork("first", { id: "copy" });
    await copy.session.submit("b");
    assert.deepEqual([again.session.getMessages().length, copy.session.getMessages().length], [2, 4]);
    await sessions.remove("first");
    assert.deepEqual(
      (await sessions.list()).map(({ id }) => id),
      ["copy"],
    );
    await assert.rejects(sessions.open("first"), { code: "not-found" });
  });

  it("gives a copy no name of a session that is open: whoever forks gets nobody else's", async () => {
    const sessions = start(answers("a", "b"));
    const alice = await sessions.create({ session: { type: "new", id: "alice" } });
    await alice.session.submit("secret");
    const bob = await sessions.create({ session: { type: "new", id: "bob" } });
    await bob.session.submit("plain");
    for (const id of ["alice", "bob"])
      await assert.rejects(sessions.fork("bob", { id }), { code: "usage", message: /exists already/ });
    const both = await Promise.allSettled([sessions.fork("bob", { id: "copy" }), sessions.fork("bob", { id: "copy" })]);
    assert.deepEqual(both.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
    await assert.rejects(sessions.fork("bob", { at: 1.5 }), { code: "usage" });
  });

  it("refuses names that would lead out of the folders it keeps, also where nothing is stored", async () => {
    const seed = async (): Promise<void> => assert.fail("nothing is begun");
    for (const id of ["x/../../victim", "..", "x".repeat(129)])
      for (const persistent of [true, false]) {
        const sessions = start(answers("a"));
        await assert.rejects(sessions.create({ persistent, session: { type: "new", id, seed } }), {
          code: "usage",
          message: /session id/,
        });
        await assert.rejects(sessions.create({ persistent, session: { type: "new", id } }), {
          code: "usage",
          message: /session id/,
        });
        await sessions.shutdown();
      }
  });

  it("refuses wrong defaults and limits when it is made, by name", () => {
    const wrong: [options: string, message: RegExp][] = [
      ['{"defaults":{"options":{"disallowedTool":["Bash"]}}}', /disallowedTool/],
      ['{"defaults":{"options":{"permissionMode":"yolo"}}}', /permissionMode/],
      ['{"defaults":{"sandboxMode":"on"}}', /sandboxMode/],
      ['{"defaults":{"provder":"x"}}', /provder/],
      ['{"maxSessions":-1}', /maxSessions/],
      ['{"maxSessions":"3"}', /maxSessions/],
      ['{"idleMs":-1}', /idleMs/],
      ['{"defaults":{"outriderHome":"x"}}', /^outriderHome is an option of the host/],
      ['{"defaults":{"options":{"outriderHome":"x"}}}', /^outriderHome is an option of the host/],
    ];
    for (const [options, message] of wrong)
      assert.throws(() => new SessionHost(JSON.parse(options)), { code: "usage", message }, options);
  });

  it("keeps what is the user's in the folder it is told", async () => {
    const outriderHome = join(top, "elsewhere");
    mkdirSync(outriderHome);
    writeFileSync(join(outriderHome, "settings.json"), JSON.stringify({ language: "Latin" }));
    const sessions = start(answers("one"), { outriderHome });
    const { id, session } = await sessions.create();
    await session.submit("a");
    assert.equal(await session.journalLocation(), join(outriderHome, "sessions", `${id}.jsonl`));
    const provider = createScriptedProvider(answers("two"));
    const again = await sessions.create({ provider });
    await again.session.submit("b");
    assert.match(JSON.stringify(provider.requests[0]), /Latin/);
  });

  it("refuses to fork at an event that is not there, and to remove what is not there; closing what is closed is nothing", async () => {
    const sessions = start(answers("one"));
    const { id, session } = await sessions.create();
    await session.submit("a");
    const message = new RegExp(`^Session ${id} has no event 10000, only those up to \\d+$`);
    await assert.rejects(sessions.fork(id, { at: 10_000 }), { code: "not-found", message });
    assert.equal(sessions.size, 1);
    await assert.rejects(sessions.remove("nobody"), { code: "not-found", message: "There is no session nobody" });
    await sessions.close("nobody");
    const forgetful = new SessionHost({ defaults: { provider: createScriptedProvider([]), cwd, bare: true, persistent: false } });
    const held = await forgetful.create();
    await forgetful.remove(held.id);
    await assert.rejects(forgetful.remove(held.id), { code: "not-found" });
    await forgetful.shutdown();
  });

  it("gives everybody who opens it the same session", async () => {
    const sessions = start(answers("one"));
    const made = await sessions.create();
    const [one, other] = await Promise.all([sessions.open(made.id), sessions.open(made.id)]);
    assert.ok(one.session === made.session && other.session === made.session);
    assert.equal(sessions.size, 1);
    await assert.rejects(sessions.create({ session: { type: "new", id: made.id } }), { code: "usage" });
  });

  it("closes a session that nobody uses, and opens it again as it was asked for", async () => {
    const sessions = start(answers("one", "two"), { idleMs: 20 });
    const made = await sessions.create({ options: { systemPrompt: "Be brief.", appendSystemPrompt: "Always." } });
    const held = await sessions.open(made.id);
    await made.session.submit("a");
    made.release();
    made.release();
    await new Promise((resolve) => setTimeout(resolve, 60));
    assert.equal(sessions.size, 1, "somebody still holds it");
    held.release();
    await until(() => sessions.size === 0);
    const again = await sessions.open(made.id);
    assert.notEqual(again.session, made.session);
    assert.equal((await again.session.submit("b")).text, "two");
    assert.equal(again.plan.options.systemPrompt, "Be brief.");
  });

  it("forgets how a session was asked for that was taken out of the store elsewhere", async () => {
    const sessions = start(answers("one"));
    const request = { model: "scripted/other", session: { type: "new", id: "gone" } } as const;
    const made = await sessions.create({ ...request, provider: createScriptedProvider(answers("one")) });
    await made.session.submit("a");
    made.release();
    await sessions.close("gone");
    sessions.forget("gone");
    assert.equal((await sessions.open("gone")).plan.request.model, undefined);
  });

  it("keeps a session that is at work, though nobody holds it", async () => {
    const slow = createScriptedProvider([{ text: "a b c d e f g h" }], { deltaDelayMs: 20 });
    const sessions = start([], { idleMs: 5, defaults: { provider: slow } });
    const made = await sessions.create();
    const turn = made.session.submit("a");
    made.release();
    assert.equal((await turn).type, "completed");
    await until(() => sessions.size === 0);
  });

  it("opens again a session that its user has shut down", async () => {
    const sessions = start(answers("one", "two"));
    const made = await sessions.create();
    await made.session.submit("a");
    await made.session.shutdown();
    const again = await sessions.open(made.id);
    assert.equal((await again.session.submit("b")).text, "two");
  });

  it("does not hold more than it may, and says so", async () => {
    const sessions = start(answers("one"), { maxSessions: 2 });
    const [first] = [await sessions.create(), await sessions.create()];
    await assert.rejects(sessions.create(), { code: "limit-reached", retryable: true });
    await sessions.close(first.id);
    await sessions.create();
  });

  it("closes the session that was released first where it is full, and opens it again when it is wanted", async () => {
    const sessions = start(answers("one", "two", "three"), { maxSessions: 2 });
    const [first, second] = [await sessions.create(), await sessions.create()];
    await first.session.submit("a");
    second.release();
    first.release();
    const [third, fourth] = await Promise.all([sessions.create(), sessions.create()]);
    assert.deepEqual([first.session.isClosed(), second.session.isClosed(), sessions.size], [true, true, 2]);
    await assert.rejects(sessions.open(first.id), { code: "limit-reached" });
    third.release();
    const again = await sessions.open(first.id);
    assert.equal((await again.session.submit("b")).text, "two");
    assert.deepEqual([third.session.isClosed(), fourth.session.isClosed()], [true, false]);
  });

  it("forgets a session that could not be opened", async () => {
    const sessions = start(answers("one"));
    const request = { session: { type: "new", id: "mine" }, options: { outputSchema: { type: "nonsense" } } } as const;
    await assert.rejects(sessions.create(request));
    assert.equal(sessions.size, 0);
    await sessions.create({ session: { type: "new", id: "mine" } });
  });

  it("does not say that it has removed a session that was never open", async () => {
    const sessions = start(answers("one"));
    const opening = assert.rejects(sessions.open("nobody"), { code: "not-found" });
    await assert.rejects(sessions.remove("nobody"), { code: "not-found" });
    await opening;
    await assert.rejects(sessions.remove("nobody"), { code: "not-found" });
  });

  it("takes MCP servers by name, as sessions do, and as files", async () => {
    const mcpServers = { weather: { command: "weather-server" } };
    const sessions = start(answers("one"), { defaults: { mcpServers } });
    const names = async (request: HostedRequest): Promise<string[]> => [...(await sessions.plan(request)).servers.configs.keys()];
    assert.deepEqual(await names({}), ["weather"]);
    assert.deepEqual(await names({ mcpServers: { other: { command: "x" } } }), ["other"]);
    assert.deepEqual(await names({ mcpServers: [{ value: { mcpServers }, source: "a file" }] }), ["weather"]);
  });

  it("keeps the folders and rules of its sessions apart", async () => {
    const other = join(top, "other");
    mkdirSync(join(other, ".outrider"), { recursive: true });
    writeFileSync(join(other, ".outrider", "settings.json"), JSON.stringify({ permissions: { deny: ["Bash"] } }));
    const pwd: ScriptStep = { calls: [{ name: "Bash", input: { command: "pwd" } }] };
    const ask = async (folder: string): Promise<string> => {
      const provider = createScriptedProvider([pwd, { text: "done" }]);
      const { session } = await sessions.create({ cwd: folder, provider, options: { allowedTools: ["Bash(pwd)"] } });
      await session.submit("go");
      return JSON.stringify(session.getMessages().at(-2)?.content);
    };
    const sessions = start([]);
    const [here, there] = await Promise.all([ask(cwd), ask(other)]);
    assert.ok(here.includes(cwd), here);
    assert.ok(!there.includes(`${other}\\n`) && /deny|denied|not allowed|rule/i.test(there), there);
  });

  it("ends every session in its own way, once, and opens none afterwards", async () => {
    const store = createMemoryStore();
    const sessions = start(answers("one", "two"), { defaults: { options: { sessionStore: store } } });
    const made = [await sessions.create(), await sessions.create()];
    await Promise.all([sessions.shutdown(), sessions.shutdown()]);
    for (const { id } of made) assert.equal((await store.read(id)).filter(({ type }) => type === "session.ended").length, 1);
    await assert.rejects(sessions.create(), { code: "closed" });
  });
});
