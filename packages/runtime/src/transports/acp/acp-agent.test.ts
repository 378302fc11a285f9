import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { describe, it } from "node:test";
import { listCommands } from "../../session/prompts/session-commands.ts";
import type { SystemCommand } from "../../commands/command.ts";
import { createMemoryStore } from "../../journal/memory-store.ts";
import { createScriptedProvider, type ScriptStep } from "../../model/scripted.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import { InteractiveSession } from "../../session/interactive-session.ts";
import { AcpAgent } from "./acp-agent.ts";
import type { AcpClient, AcpHost, PlannedSession } from "./acp-host.ts";
import type { ContentBlock, SessionUpdate } from "./wire.ts";

const say = (text: string): ContentBlock[] => [{ type: "text", text }];
const { signal } = new AbortController();
const wave: SystemCommand = {
  name: "wave",
  description: "Waves",
  execute: async (_, args) => ({ success: true, message: `Waves to ${args}.` }),
};

/** An agent of this library with a scripted model, and a client that writes down what it is told. */
function agentWith(replies: readonly ScriptStep[], client: Partial<AcpClient> = {}) {
  const told: SessionUpdate[] = [];
  const closed: string[] = [];
  const store = createMemoryStore();
  let count = 0;
  const plan = (sessionId: string, model: string): PlannedSession => ({
    sessionId,
    cwd: tmpdir(),
    provider: "scripted",
    model,
    models: [],
    permissionMode: "default",
    mayBypass: false,
    commands: listCommands(),
    answersPermissions: true,
    price: () => 0,
    withModel: async (chosen) => plan(sessionId, chosen),
    start: async (permissionMode) => {
      const provider = createScriptedProvider(replies);
      return new InteractiveSession({
        cwd: tmpdir(),
        provider,
        sessionStore: store,
        sessionId,
        permissionMode,
        commands: [wave],
      });
    },
    close: async () => void closed.push(sessionId),
  });
  const host: AcpHost = {
    version: "1.2.3",
    store,
    plan: async () => plan(`session-${++count}`, "scripted"),
    checkKey: async () => {},
    removeSession: (id) => store.remove(id),
    warn: () => {},
  };
  const agent = new AcpAgent(host, {
    update: async (_, update) => void told.push(update),
    askPermission: async () => ({}),
    ...client,
  });
  return { agent, told, closed, store };
}

describe("an agent for ACP clients", () => {
  it("runs the session's own commands without asking a model, and names them", async () => {
    const { agent, told } = agentWith([]);
    const { sessionId } = await agent.newSession({ cwd: "/" });
    assert.deepEqual(await agent.prompt({ sessionId, prompt: say("/wave the crowd") }, signal), { stopReason: "end_turn" });
    const names = told.flatMap((update) =>
      update.sessionUpdate === "available_commands_update" ? [update.availableCommands.map(({ name }) => name)] : [],
    );
    assert.deepEqual(names.at(-1)?.slice(0, 2), ["wave", "compact"]);
    assert.deepEqual(told.at(-1), {
      sessionUpdate: "agent_message_chunk",
      content: { type: "text", text: "Waves to the crowd." },
    });
    await agent.close();
  });

  it("what is no command is a prompt, also when it begins with a slash", async () => {
    const { agent, told } = agentWith([{ text: "A folder." }]);
    const { sessionId } = await agent.newSession({ cwd: "/" });
    assert.equal((await agent.prompt({ sessionId, prompt: say("/usr/bin is what?") }, signal)).stopReason, "end_turn");
    assert.ok(told.some((update) => update.sessionUpdate === "agent_message_chunk"));
    await agent.close();
  });

  it("a client that has left holds up no turn", async () => {
    const { agent, store } = agentWith([{ text: "Nobody hears this." }], {
      update: () => Promise.reject(new Error("gone")),
    });
    const { sessionId } = await agent.newSession({ cwd: "/" });
    assert.equal((await agent.prompt({ sessionId, prompt: say("hello") }, signal)).stopReason, "end_turn");
    await agent.close();
    assert.equal((await store.read(sessionId)).at(-1)?.type, "session.ended");
  });

  it("shows no turns that a stored session has left behind", async () => {
    const { agent, told, store } = agentWith([{ text: "one" }, { text: "two" }]);
    const { sessionId } = await agent.newSession({ cwd: "/" });
    await agent.prompt({ sessionId, prompt: say("first") }, signal);
    await agent.prompt({ sessionId, prompt: say("second") }, signal);
    await agent.closeSession(sessionId);
    const events = await store.read(sessionId);
    const journal = await store.open(sessionId);
    const to = events.find((event) => event.type === "turn.ended")?.seq ?? 0;
    await journal.append([
      { type: "session.rewound", to, seq: journal.events.lastSeq + 1, at: "2026-01-01T00:00:00.000Z", sessionId },
    ]);
    await journal.close();
    told.length = 0;
    await agent.loadSession({ sessionId, cwd: "/" });
    const shown = JSON.stringify(told);
    assert.deepEqual(
      [/first/, /one/, /second/, /two/].map((words) => words.test(shown)),
      [true, true, false, false],
    );
    await agent.close();
  });

  it("an aborted request is a cancel", async () => {
    const { agent } = agentWith([{ text: "Well", hang: true }]);
    const { sessionId } = await agent.newSession({ cwd: "/" });
    const request = new AbortController();
    const answered = agent.prompt({ sessionId, prompt: say("hello") }, request.signal);
    setImmediate(() => request.abort());
    assert.equal((await answered).stopReason, "cancelled");
    await agent.close();
  });

  it("holds only so many sessions, lets each of them go, and opens none while it ends", async () => {
    const { agent, closed } = agentWith([]);
    const opened = await Promise.all(Array.from({ length: 64 }, () => agent.newSession({ cwd: "/" })));
    const code = (expected: string) => (error: unknown) => error instanceof RuntimeError && error.code === expected;
    await assert.rejects(agent.newSession({ cwd: "/" }), code("limit-reached"));
    await agent.closeSession(opened[0]?.sessionId ?? "");
    const ending = agent.close();
    await assert.rejects(agent.newSession({ cwd: "/" }), code("closed"));
    await ending;
    assert.equal(new Set(closed).size, 65);
  });
});
