import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { createFileStore } from "../journal/file-store.ts";
import { createMemoryStore } from "../journal/memory-store.ts";
import { createScriptedProvider, type ScriptStep } from "../model/scripted.ts";
import type { AgentEvent } from "../protocol/events.ts";
import { defineTool as defineOwnTool } from "../tools/define-tool.ts";
import { defineTool } from "../tools/tool.ts";
import { InMemorySandboxClient } from "../workspace/memory-sandbox.ts";
import { inspectProject, rememberTrust } from "../settings/trust.ts";
import { InteractiveSession, type InteractiveSessionOptions } from "./interactive-session.ts";
import { openProject } from "./project.ts";

let top = "";
let cwd = "";
let home = "";
let outriderHome = "";

beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), "outrider-hosted-")));
  cwd = join(top, "project");
  home = join(top, "home");
  outriderHome = join(home, ".outrider");
  mkdirSync(join(cwd, ".git"), { recursive: true });
  mkdirSync(outriderHome, { recursive: true });
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

function put(path: string, content: string | object): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
}

async function reasonsOf(session: InteractiveSession): Promise<string[]> {
  const reasons: string[] = [];
  for await (const { reason } of session.events({ types: ["permission.decided"] })) reasons.push(reason);
  return reasons;
}

const bash = (command: string): ScriptStep => ({ calls: [{ name: "Bash", input: { command } }] });
const write = (file_path: string, content: string): ScriptStep => ({
  calls: [{ name: "Write", input: { file_path, content } }],
});

type Told = {
  readonly session: InteractiveSession;
  readonly events: readonly AgentEvent[];
  readonly requests: ReturnType<typeof createScriptedProvider>["requests"];
};

/** A session of this folder and this user, from its first prompt to its end. */
async function run(replies: readonly ScriptStep[], options: Partial<InteractiveSessionOptions> = {}): Promise<Told> {
  const provider = createScriptedProvider(replies);
  const session = new InteractiveSession({ cwd, provider, home, outriderHome, sandboxMode: "off", ...options });
  const events: AgentEvent[] = [];
  const reading = (async () => {
    for await (const event of session.events()) events.push(event);
  })();
  const outcome = await session.submit("go");
  assert.equal(outcome.type, "completed", JSON.stringify(outcome));
  await session.shutdown();
  await reading;
  return { session, events, requests: provider.requests };
}

function statuses(events: readonly AgentEvent[]): string[] {
  return events.flatMap((event) => (event.type === "tool.ended" ? [event.status] : []));
}

describe("a session of a program", () => {
  it("holds the instructions, agents, rules and language of its folder and its user", async () => {
    put(join(cwd, "AGENTS.md"), "Say please.");
    put(join(home, ".claude", "CLAUDE.md"), "Say thanks.");
    put(join(outriderHome, "agents", "helper.md"), "---\nname: helper\ndescription: Helps.\n---\nYou help.");
    put(join(outriderHome, "settings.json"), {
      language: "Latin",
      permissions: { deny: ["Bash(touch:*)"], allow: ["Bash(true)"] },
    });
    const { requests, events } = await run([bash("touch a.txt"), bash("true"), { text: "done" }]);
    const system = requests[0]?.system ?? "";
    for (const words of ["Say please.", "Say thanks.", "Latin"]) assert.ok(system.includes(words), words);
    assert.ok(requests[0]?.tools.find(({ name }) => name === "Task")?.description.includes("helper"));
    assert.deepEqual(statuses(events), ["denied", "ok"]);
  });

  it("holds nothing but its options when it is bare", async () => {
    put(join(cwd, "AGENTS.md"), "Say please.");
    put(join(outriderHome, "settings.json"), { permissions: { deny: ["Bash(touch:*)"] } });
    const { requests, events } = await run([bash("touch a.txt"), { text: "done" }], { bare: true, allowedTools: ["Bash"] });
    assert.equal(requests[0]?.system.includes("Say please."), false);
    assert.deepEqual([statuses(events), existsSync(join(cwd, "a.txt"))], [["ok"], true]);
    assert.equal(existsSync(join(outriderHome, "checkpoints")), false);
  });

  it("holds what its options say when it is bare: settings, agent and servers among them", async () => {
    const settings = JSON.stringify({ permissions: { deny: ["Bash(touch:*)"] } });
    const { events, requests } = await run([bash("touch a.txt"), { text: "done" }], {
      ...{ bare: true, settings, mainAgent: "worker", allowedTools: ["Bash"] },
      agents: [{ name: "worker", description: "Works.", prompt: "You work.", tools: ["Bash"], source: "test" }],
    });
    assert.deepEqual([statuses(events), requests[0]?.tools.map(({ name }) => name)], [["denied"], ["Bash"]]);
    const missing = { value: { mcpServers: { gone: { command: "no-such-program-anywhere" } } }, source: "test" };
    const provider = createScriptedProvider([]);
    const session = new InteractiveSession({
      cwd,
      provider,
      home,
      outriderHome,
      bare: true,
      mcpServers: [missing],
      requireServers: true,
    });
    await assert.rejects(session.open(), { code: "config" });
    await session.shutdown();
  });

  it("does not trust a project that was trusted before, where that is ruled out", async () => {
    const hook = { type: "command", command: `echo ran >> ${join(top, "ran.txt")}` };
    put(join(cwd, ".outrider", "settings.json"), { hooks: { UserPromptSubmit: [{ hooks: [hook] }] } });
    const layers = (await openProject({ cwd }, { env: {}, userHome: home, outriderHome, cwd })).layers;
    await rememberTrust(await inspectProject({ outriderHome, root: cwd, layers, env: {} }), {
      outriderHome,
      env: { HOME: home },
    });
    await run([{ text: "done" }], { trustProject: false });
    assert.equal(existsSync(join(top, "ran.txt")), false);
    await run([{ text: "done" }]);
    assert.equal(existsSync(join(top, "ran.txt")), true);
  });

  it("waits for no server when it is aborted or shut down while it is opened", async () => {
    put(join(outriderHome, "settings.json"), { mcpServers: { silent: { command: "sleep", args: ["60"] } } });
    const provider = createScriptedProvider([{ text: "done" }]);
    const session = new InteractiveSession({ cwd, provider, home, outriderHome, sandboxMode: "off" });
    const startedAt = performance.now();
    const turn = session.submit("go");
    setTimeout(() => session.abort(), 50);
    assert.equal((await turn).type, "cancelled");
    const told: string[] = [];
    session.on("interrupted", ({ response }) => told.push(response));
    const atOnce = session.submit("go");
    session.abort();
    assert.equal((await atOnce).type, "cancelled");
    assert.deepEqual(told, [""]);
    await session.shutdown();
    assert.ok(performance.now() - startedAt < 5_000);
  });

  it("runs a project's hooks only when somebody trusts it, and says what it left out", async () => {
    const hook = { type: "command", command: `echo ran >> ${join(top, "ran.txt")}` };
    put(join(cwd, ".outrider", "settings.json"), { hooks: { UserPromptSubmit: [{ hooks: [hook] }] } });
    const { events } = await run([{ text: "done" }]);
    assert.equal(existsSync(join(top, "ran.txt")), false);
    assert.ok(events.some(({ type }) => type === "settings.ignored"));
    await run([{ text: "done" }], { trustProject: true });
    assert.equal(existsSync(join(top, "ran.txt")), true);
  });

  it("keeps files before it changes them", async () => {
    put(join(cwd, "a.txt"), "before");
    const provider = createScriptedProvider([
      { calls: [{ name: "Read", input: { file_path: "a.txt" } }] },
      write("a.txt", "after"),
      { text: "done" },
    ]);
    const session = new InteractiveSession({
      cwd,
      provider,
      home,
      outriderHome,
      sandboxMode: "off",
      permissionMode: "acceptEdits",
    });
    await session.submit("go");
    const [checkpoint] = await session.listEditCheckpoints();
    assert.ok(checkpoint);
    await session.rollbackEditCheckpoint(checkpoint.id);
    await session.shutdown();
    const { readFileSync } = await import("node:fs");
    assert.equal(readFileSync(join(cwd, "a.txt"), "utf8"), "before");
  });

  it("is asked once about a tool that does not say what its calls are about, where the answer holds for the session", async () => {
    const deploy = defineOwnTool({ name: "deploy", description: "", inputSchema: {}, execute: () => "done" });
    const calls = { calls: [{ name: "deploy", input: { to: "here" } }] };
    const session = new InteractiveSession({
      ...{ cwd, home, outriderHome, tools: [deploy], answersPermissions: true },
      provider: createScriptedProvider([calls, { calls: [{ name: "deploy", input: { to: "there" } }] }, { text: "ok" }]),
    });
    let questions = 0;
    session.on("permission_request", ({ requestId }) => {
      questions++;
      session.answerPermission(requestId, { decision: "allow", remember: "session" });
    });
    const decided = reasonsOf(session);
    assert.equal((await session.submit("go")).type, "completed");
    await session.shutdown();
    assert.equal(questions, 1);
    assert.match((await decided)[0] ?? "", /^the user said yes, for this session too: every call of deploy$/);
  });

  it("loads and writes nothing of the user's with bare", async () => {
    const grants = join(outriderHome, "grants");
    const ask = async (bare: boolean): Promise<number> => {
      let questions = 0;
      const session = new InteractiveSession({
        ...{ cwd, home, outriderHome, bare, answersPermissions: true, builtinTools: ["Bash"] },
        provider: createScriptedProvider([bash("touch x"), { text: "ok" }]),
      });
      session.on("permission_request", ({ requestId }) => {
        questions++;
        session.answerPermission(requestId, { decision: "allow", remember: "project" });
      });
      await session.submit("go");
      await session.shutdown();
      return questions;
    };
    assert.equal(await ask(true), 1);
    assert.deepEqual(readdirSync(outriderHome), []);
    assert.equal(await ask(false), 1);
    assert.equal(readdirSync(grants).length, 1);
    assert.deepEqual([await ask(false), await ask(true)], [0, 1], "a remembered answer does not count with bare");
  });

  it("goes on in a copy, and the original stays as it is", async () => {
    const store = createFileStore(join(top, "sessions"));
    const { session: first } = await run([{ text: "one" }], { sessionStore: store });
    const before = await store.read(first.id);
    for (const bare of [false, true]) {
      const { session: fork, requests } = await run([{ text: "two" }], {
        sessionStore: store,
        resumeSessionId: first.id,
        forkSession: true,
        bare,
      });
      assert.notEqual(fork.id, first.id);
      assert.equal(requests[0]?.messages.length, 3, "it knows what was said");
      assert.deepEqual(await store.read(first.id), before);
    }
    const { session: resumed } = await run([{ text: "three" }], { sessionStore: store, resumeSessionId: first.id });
    assert.equal(resumed.id, first.id);
    assert.ok((await store.read(first.id)).length > before.length);
  });

  it("leaves no folder of its own behind where nothing is stored", async () => {
    const long = `${"x".repeat(200)}\n`.repeat(2_000);
    put(join(cwd, "long.txt"), long);
    const { events, session } = await run([bash("cat long.txt"), { text: "done" }]);
    const path = events.flatMap((event) => (event.type === "tool.ended" ? [event.details?.fullOutputPath ?? ""] : []))[0];
    assert.ok(path, "the output was too long");
    assert.equal(existsSync(path), false);
    assert.equal(existsSync(join(outriderHome, "overflow", session.id)), false);
  });

  it("names what is wrong with its folder or settings when it is opened, and stores nothing", async () => {
    const store = createMemoryStore();
    const provider = createScriptedProvider([{ text: "done" }]);
    put(join(outriderHome, "settings.json"), { permissions: { deny: ["Bsh"] } });
    const session = new InteractiveSession({ cwd, provider, home, outriderHome, sessionStore: store });
    await assert.rejects(session.open(), { code: "config" });
    await session.shutdown();
    const nowhere = new InteractiveSession({ cwd: join(top, "nowhere"), provider, home, outriderHome, sessionStore: store });
    await assert.rejects(nowhere.open(), { code: "usage" });
    await nowhere.shutdown();
    assert.deepEqual(await store.list(), []);
  });

  it("brings another machine back to the state in which it left it, and gives a copy a fresh one", async () => {
    const store = createMemoryStore();
    const sandboxClient = new InMemorySandboxClient();
    const allowed = { sessionStore: store, sandboxClient, allowedTools: ["Write", "Read"] } as const;
    const { session: first } = await run([write("/work/a.txt", "kept"), { text: "done" }], allowed);
    await sandboxClient.writeFile("/work/a.txt", "changed by somebody else");
    await run([{ text: "done" }], { ...allowed, resumeSessionId: first.id });
    assert.equal(new TextDecoder().decode(Buffer.from(await sandboxClient.readFile("/work/a.txt"))), "kept");
    await sandboxClient.writeFile("/work/a.txt", "fresh");
    await run([{ text: "done" }], { ...allowed, resumeSessionId: first.id, forkSession: true });
    assert.equal(new TextDecoder().decode(Buffer.from(await sandboxClient.readFile("/work/a.txt"))), "fresh");
  });
});

describe("tools that come later", () => {
  it("are offered only where neither a bare name nor the main agent takes them away", async () => {
    const tool = (name: string) =>
      defineTool({
        name,
        description: name,
        inputSchema: {},
        concurrent: true,
        access: async () => ({ kind: "note", resources: [] }),
        execute: async () => ({ content: [] }),
      });
    const names = ["mcp__mail__send", "mcp__mail__read", "mcp__notes__add"];
    const provider = createScriptedProvider([{ text: "done" }]);
    const session = new InteractiveSession({
      ...{ cwd, provider, home, outriderHome, sandboxMode: "off", mainAgent: "postman" },
      agents: [{ name: "postman", description: "Reads.", prompt: "You read.", tools: ["mcp__mail"], source: "test" }],
      disallowedTools: ["mcp__mail__send"],
    });
    (await session.controls()).replaceTools(names.map(tool));
    await session.submit("go");
    assert.deepEqual(
      provider.requests[0]?.tools.map(({ name }) => name),
      ["mcp__mail__read"],
    );
    const system = provider.requests[0]?.system ?? "";
    assert.match(system, /^You read\.\n\n/);
    assert.ok(system.includes(cwd) && /permission mode/i.test(system), system);
    await session.shutdown();
  });
});
