import assert from "node:assert/strict";
import { basename, join } from "node:path";
import { describe, it } from "node:test";
import { createCheckpoints } from "../../checkpoints/checkpoints.ts";
import { createMemoryStore } from "../../journal/memory-store.ts";
import type { ModelRequest } from "../../model/model.ts";
import { createReplayProvider } from "../../model/replay.ts";
import { createScriptedProvider, type ScriptedReply } from "../../model/scripted.ts";
import { textOf } from "../../protocol/content.ts";
import { toRecording } from "../past/recorded-calls.ts";
import {
  type Answer,
  cast,
  eventsOf,
  eventually,
  handsOut,
  isChild,
  lastWords,
  stageFolder,
  reader,
  task,
} from "../../../../../test/support/subagent-stage.ts";

const { folder, open } = stageFolder();

describe("a session with subagents", () => {
  it("ends them when it is interrupted, before its turn ends", async () => {
    const provider = cast({ parent: handsOut(task("one"), task("two")), child: () => ({ text: "Halfway", hang: true }) });
    const { session, close, events } = open(provider);
    const turn = session.submit("go");
    const talking = (): Set<string | undefined> => new Set(eventsOf(events, "text.delta").map((event) => event.taskId));
    await eventually(() => talking().size === 2);
    session.abort();
    assert.deepEqual(await turn, { type: "cancelled", cause: "abort", text: "" });
    await close();
    assert.deepEqual(
      eventsOf(events, "task.ended").map((event) => event.outcome),
      [1, 2].map(() => ({ type: "cancelled", cause: "abort", text: "Halfway" })),
    );
    assert.deepEqual(
      eventsOf(events, "tool.ended").map((event) => [event.status, textOf(event.result.content)]),
      [1, 2].map(() => ["interrupted", "The turn was interrupted before the subagent had finished. The last it said:\nHalfway"]),
    );
    const types = events.map((event) => event.type);
    assert.equal(types.lastIndexOf("task.ended") < types.indexOf("turn.ended"), true);
  });

  it("stops the command a subagent runs when it is interrupted, and still ends its events in order", async () => {
    const provider = cast({
      parent: handsOut(task("go")),
      child: () => ({ calls: [{ name: "Bash", input: { command: "trap '' TERM; echo on; while true; do sleep 0.05; done" } }] }),
    });
    const { session, close, events } = open(provider, { permissionMode: "bypassPermissions" });
    const turn = session.submit("go");
    await eventually(() => eventsOf(events, "tool.started").some((event) => event.name === "Bash"));
    session.abort();
    assert.equal((await turn).type, "cancelled");
    const ends = (await close()).map((event) => event.type).filter((type) => type.endsWith(".ended"));
    assert.deepEqual(ends.slice(-5), ["tool.ended", "task.ended", "tool.ended", "turn.ended", "session.ended"]);
  });

  it("stops one of them and goes on with the others", async () => {
    const provider = cast({
      parent: handsOut(task("slow"), task("quick")),
      child: (request) => (lastWords(request) === "slow" ? { text: "Slowly ", hang: true } : { text: "Quick." }),
    });
    const { session, close, events } = open(provider);
    const turn = session.submit("go");
    const slow = (): string | undefined => eventsOf(events, "task.started").find((event) => event.prompt === "slow")?.taskId;
    await eventually(() => eventsOf(events, "text.delta").some((event) => event.taskId === slow()));
    assert.equal(await session.stopTask("nobody"), false);
    assert.equal(await session.stopTask(slow() ?? ""), true);
    assert.deepEqual(await turn, {
      type: "completed",
      text: "Got: The subagent was stopped before it had finished. The last it said:\nSlowly Quick.",
    });
    await close();
  });

  it("never spends more than its budget and one call, however many work at the same time", async () => {
    const catalogOverride = { models: [{ provider: "scripted", model: "scripted", price: { input: 0, output: 1_000 } }] };
    const usage = { outputTokens: 20 }; // 2 cents
    const child = (request: ModelRequest): ScriptedReply =>
      request.messages.length > 8 ? { text: "Done.", usage } : { calls: [{ name: "Glob", input: { pattern: "*" } }], usage };
    const provider = cast({ parent: handsOut(task("1"), task("2"), task("3"), task("4")), child });
    const { session, close } = open(provider, { catalogOverride, maxBudgetUsd: 0.1 });
    const outcome = await session.submit("go");
    assert.deepEqual([outcome.type, outcome.type === "stopped" && outcome.limit], ["stopped", "max-budget"]);
    const events = await close();
    const spent = eventsOf(events, "message.ended").reduce((sum, event) => sum + event.message.usage.outputTokens, 0);
    assert.equal(spent, 120); // 12 cents: the sixth call was the one too many
    assert.equal(eventsOf(events, "task.ended").length, 4);
    assert.deepEqual(new Set(eventsOf(events, "task.ended").map((event) => event.outcome.type)), new Set(["stopped"]));
    const told = eventsOf(events, "tool.ended").filter((event) =>
      /The subagent was stopped: the budget of the session is spent\./.test(JSON.stringify(event)),
    );
    assert.equal(told.length, 4);
  });

  it("lets them work side by side as long as the budget would pay for all", async () => {
    const catalogOverride = { models: [{ provider: "scripted", model: "scripted", price: { input: 1, output: 1 } }] };
    let now = 0;
    let most = 0;
    const child: Answer = async () => {
      most = Math.max(most, ++now);
      await new Promise((resolve) => setTimeout(resolve, 20));
      now--;
      return { text: "Done." };
    };
    const provider = cast({ parent: handsOut(task("1"), task("2"), task("3")), child });
    const { session, close } = open(provider, { catalogOverride, maxBudgetUsd: 5 });
    assert.equal((await session.submit("go")).type, "completed");
    await close();
    assert.equal(most, 3);
  });

  it("does not begin a task with a model of unknown price while it has a budget", async () => {
    const catalogOverride = { models: [{ provider: "scripted", model: "scripted", price: { input: 1, output: 1 } }] };
    const provider = cast({ parent: handsOut(task("go", { model: "mystery" })), child: () => ({ text: "never" }) });
    const { session, close } = open(provider, { catalogOverride, maxBudgetUsd: 5 });
    assert.match((await session.submit("go")).text, /The price of scripted\/mystery is not known/);
    assert.deepEqual(eventsOf(await close(), "task.started"), []);
  });

  it("runs its hooks for them, and tells the hooks whose call it is", async () => {
    const seen: unknown[] = [];
    const note = (input: Record<string, unknown>) => {
      seen.push([
        input["hook_event_name"],
        input["tool_name"] ?? null,
        input["agent_type"] ?? null,
        typeof input["agent_id"],
        input["permission_mode"],
      ]);
      return input["hook_event_name"] === "SubagentStart"
        ? { hookSpecificOutput: { hookEventName: "SubagentStart", additionalContext: "be brief" } }
        : {};
    };
    const every = [{ hooks: [note] }];
    const hooks = { PreToolUse: every, SubagentStart: every, SubagentStop: every, Stop: every };
    const provider = cast({
      parent: handsOut(task("go")),
      child: (request) =>
        request.messages.length < 3 ? { calls: [{ name: "Glob", input: { pattern: "*" } }] } : { text: "Done." },
    });
    const { session, close } = open(provider, { hooks, agents: [{ ...reader, permissionMode: "plan" }] });
    await session.submit("go");
    await close();
    assert.deepEqual(seen, [
      ["PreToolUse", "Agent", null, "undefined", "default"],
      ["SubagentStart", null, "reader", "string", "plan"],
      ["PreToolUse", "Glob", "reader", "string", "plan"],
      ["SubagentStop", null, "reader", "string", "plan"],
      ["Stop", null, null, "undefined", "default"],
    ]);
    assert.match(JSON.stringify(provider.requests[1]?.messages), /be brief/);
  });

  it("does not begin one that a hook refuses", async () => {
    const hooks = { SubagentStart: [{ hooks: [() => ({ decision: "block", reason: "not on Sundays" })] }] };
    const provider = cast({ parent: handsOut(task("go")), child: () => ({ text: "never" }) });
    const { session, close } = open(provider, { hooks });
    assert.match((await session.submit("go")).text, /A hook stopped the subagent: not on Sundays\. It had said nothing yet\./);
    await close();
    assert.equal(provider.requests.length, 2);
  });

  it("asks another model of the provider where the agent or the call names one", async () => {
    const provider = cast({
      parent: handsOut(task("1"), task("2", { model: "third" }), task("3", { model: "haiku" })),
      child: () => ({ text: "." }),
    });
    const { session, close } = open(provider, { agents: [{ ...reader, model: "second" }] });
    await session.submit("go");
    const events = await close();
    assert.deepEqual(
      eventsOf(events, "task.started").map((event) => event.model.id),
      ["second", "third", "scripted"],
    );
    assert.match(eventsOf(events, "warning.raised")[0]?.message ?? "", /scripted has no model called haiku/);
  });

  it("makes room in a subagent's context as in its own", async () => {
    const provider = createScriptedProvider(
      new Array(40).fill((request: ModelRequest): ScriptedReply => {
        if (request.tools.length === 0) return { text: "<summary>they counted</summary>" };
        if (!isChild(request)) return handsOut(task("count"))(request);
        const asked = provider.requests.filter(isChild).length;
        if (asked > 6) return { text: "Counted." };
        return {
          text: "word ".repeat(3_000),
          calls: [{ name: "Glob", input: { pattern: "*" } }],
          usage: { inputTokens: asked * 5_000 },
        };
      }),
      { contextWindow: 20_000 },
    );
    const { session, close } = open(provider);
    const outcome = await session.submit("go");
    const events = await close();
    const compacted = eventsOf(events, "compaction.ended");
    assert.equal(compacted.length > 0 && compacted.every((event) => event.taskId !== undefined), true);
    assert.deepEqual(outcome, { type: "completed", text: "Got: Counted." });
    assert.equal(session.getMessages().length, 4);
  });

  it("keeps files before a subagent changes them, as before its own changes", async () => {
    const checkpoints = createCheckpoints({ directory: join(folder, "kept"), sessionId: "kept", root: folder, sync: false });
    const provider = cast({
      parent: handsOut(task("one"), task("two")),
      child: (request) =>
        request.messages.length === 1
          ? { calls: [{ name: "Write", input: { file_path: `kept-${lastWords(request)}.txt`, content: "x" } }] }
          : { text: "Written." },
    });
    const { session, close } = open(provider, { permissionMode: "acceptEdits", checkpoints: async () => checkpoints });
    assert.equal((await session.submit("go")).type, "completed");
    await close();
    const [checkpoint] = await checkpoints.list();
    const { files } = await checkpoints.inspect(checkpoint?.id ?? "");
    assert.deepEqual(files.map(({ path }) => basename(path)).sort(), ["kept-one.txt", "kept-two.txt"]);
  });

  it("reports a task that a crash cut off as a call of unknown outcome, and does not repeat it", async () => {
    const sessionStore = createMemoryStore();
    const provider = cast({ parent: handsOut(task("go")), child: () => ({ text: "Half ", hang: true }) });
    const first = open(provider, { sessionStore });
    void first.session.submit("go").catch(() => {});
    await eventually(() => eventsOf(first.events, "text.delta").some((event) => event.taskId !== undefined));
    // What a crash leaves is what was stored by then.
    const crashed = createMemoryStore();
    const stored = await sessionStore.read(first.session.id);
    const writer = await crashed.open(first.session.id);
    await writer.append(stored);
    await writer.close();
    await first.close();
    const resumed = cast({
      parent: (request) => ({ text: lastWords({ messages: request.messages.slice(0, -1) }) }),
      child: () => ({ text: "never" }),
    });
    const again = open(resumed, { sessionStore: crashed, resumeSessionId: first.session.id });
    assert.match((await again.session.submit("what happened?")).text, /^Outcome unknown: this call was started/);
    assert.deepEqual(eventsOf(await again.close(), "task.started"), []);
    assert.equal(resumed.requests.length, 1);
  });

  it("has a journal from which everything can be played again, also what happened at the same time", async () => {
    const sessionStore = createMemoryStore();
    const child = (request: ModelRequest): ScriptedReply =>
      request.messages.length === 1
        ? { calls: [{ name: "Read", input: { file_path: "n.txt" } }], delayMs: lastWords(request) === "one" ? 40 : 0 }
        : { text: `${lastWords({ messages: request.messages.slice(0, 1) })}: seven` };
    const { session, close } = open(cast({ parent: handsOut(task("one"), task("two")), child }), { sessionStore });
    const outcome = await session.submit("go");
    await close();
    const cassette = toRecording(await sessionStore.read(session.id), (cwd) => ({ "{{cwd}}": cwd }));
    assert.equal(cassette.calls.length, 6);
    const replay = createReplayProvider(cassette, { places: { "{{cwd}}": folder } });
    const again = open(replay);
    assert.deepEqual(await again.session.submit("go"), outcome);
    await again.close();
    assert.equal(replay.remaining, 0);
  });
});
