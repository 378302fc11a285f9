import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createMemoryStore } from "../../journal/memory-store.ts";
import { toMessages } from "../../journal/transcript.ts";
import type { ModelRequest } from "../../model/model.ts";
import type { ScriptedReply } from "../../model/scripted.ts";
import type { AgentDefinition } from "../../tasks/agent-definition.ts";
import { defineTool } from "../../tools/define-tool.ts";
import { cast, eventsOf, handsOut, lastWords, stageFolder, reader, task } from "../../../../../test/support/subagent-stage.ts";

const { folder, open } = stageFolder();

describe("a task", () => {
  it("is done by a turn of its own, with the agent's prompt, its own history and no way to start another", async () => {
    const provider = cast({
      parent: handsOut(task("Read n.txt")),
      child: (request) =>
        request.messages.length === 1
          ? { text: "Looking.", calls: [{ name: "Read", input: { file_path: "n.txt" } }] }
          : { text: "It says seven." },
    });
    const { session, close } = open(provider, { instructions: { text: "House rules.", files: [], warnings: [] } });
    assert.deepEqual(await session.submit("ask somebody"), { type: "completed", text: "Got: It says seven." });
    const events = await close();
    const [, first, second] = provider.requests;
    assert.deepEqual(first?.messages, [{ role: "user", content: [{ type: "text", text: "Read n.txt" }] }]);
    assert.match(first?.system ?? "", /^You read files\.\n\n[\s\S]*Working directory: [\s\S]*\n\nHouse rules\.$/);
    assert.equal(
      first?.tools.some(({ name }) => name === "Task" || name === "Agent"),
      false,
    );
    assert.equal(
      first?.tools.some(({ name }) => name === "Read"),
      true,
    );
    assert.match(lastWords(second as ModelRequest), /seven/);
    const [started] = eventsOf(events, "task.started");
    const [ended] = eventsOf(events, "task.ended");
    const call = eventsOf(events, "tool.started")[0]?.callId ?? "";
    assert.deepEqual(
      {
        agent: started?.agent,
        callId: started?.callId,
        description: started?.description,
        prompt: started?.prompt,
        mode: started?.permissionMode,
      },
      { agent: "reader", callId: call, description: "a task", prompt: "Read n.txt", mode: "default" },
    );
    assert.deepEqual(
      [ended?.outcome, ended?.modelCalls, ended?.callId],
      [{ type: "completed", text: "It says seven." }, 2, call],
    );
    const inner = events.filter((event) => event.taskId === started?.taskId).map((event) => event.type);
    assert.deepEqual(
      inner.filter((type) => !type.endsWith(".delta") && type !== "context.updated"),
      ["task.started", "message.ended", "permission.decided", "tool.started", "tool.ended", "message.ended", "task.ended"],
    );
    assert.equal(inner.includes("text.delta"), true);
    assert.equal(eventsOf(events, "turn.ended")[0]?.modelCalls, 2);
  });

  it("is offered under one name, understood under two, and only where there are agents", async () => {
    const provider = cast({
      parent: handsOut({ name: "Agent", input: { description: "d", prompt: "p" } }),
      child: () => ({ text: "Done." }),
    });
    const { session, close } = open(provider);
    assert.deepEqual(await session.submit("go"), { type: "completed", text: "Got: Done." });
    const [started] = eventsOf(await close(), "session.started");
    assert.deepEqual(
      [started?.agents, started?.tools.filter((name) => name === "Task" || name === "Agent")],
      [["reader"], ["Task"]],
    );
    for (const [options, expected] of [
      [{ agents: [] }, undefined],
      [{ agents: [], builtinAgents: true }, ["general-purpose", "Explore", "Plan"]],
      [{ disallowedTools: ["Agent"] }, undefined],
      [{ agent: { id: "1", type: "reader" } }, undefined],
    ] as const) {
      const other = open(cast({ parent: () => ({ text: "Ok." }), child: () => ({ text: "Ok." }) }), options);
      await other.session.submit("go");
      assert.deepEqual(eventsOf(await other.close(), "session.started")[0]?.agents, expected);
    }
  });

  it("leaves no trace in the conversation: messages, history, context and a resumed request", async () => {
    const sessionStore = createMemoryStore();
    const parts = {
      parent: (request: ModelRequest): ScriptedReply =>
        request.messages.length === 1
          ? { calls: [task("Read n.txt")], usage: { inputTokens: 100 } }
          : { text: "Fine.", usage: { inputTokens: 120 } },
      child: (request: ModelRequest): ScriptedReply =>
        request.messages.length === 1
          ? { text: "A secret thought.", calls: [{ name: "Read", input: { file_path: "n.txt" } }], usage: { inputTokens: 9_000 } }
          : { text: "Seven.", usage: { inputTokens: 9_999 } },
    };
    const provider = cast(parts);
    const { session, close } = open(provider, { sessionStore });
    const shown: string[] = [];
    session.on("text_delta", (delta) => shown.push(delta));
    await session.submit("go");
    const texts = session
      .getFullHistory()
      .filter((entry) => entry.category === "chat")
      .map((entry) => entry.type);
    assert.deepEqual(texts, ["user", "assistant", "tool", "assistant"]);
    assert.equal(shown.join(""), "Fine.");
    assert.equal(session.getContextState().usedTokens, 120);
    assert.deepEqual(session.getActiveTools(), []);
    const live = JSON.stringify(session.getMessages());
    await close();
    const stored = await sessionStore.read(session.id);
    assert.equal(JSON.stringify(toMessages(stored)), live);
    const withoutTask = stored.filter((event) => event.taskId === undefined);
    assert.equal(withoutTask.length < stored.length, true);
    assert.equal(JSON.stringify(toMessages(withoutTask)), live);
    const resumed = cast(parts);
    const again = open(resumed, { sessionStore, resumeSessionId: session.id });
    await again.session.submit("and now?");
    await again.close();
    assert.equal(JSON.stringify(resumed.requests[0]?.messages.slice(0, -1)), live);
    assert.doesNotMatch(live, /secret thought/);
    const taskId = eventsOf(stored, "task.started")[0]?.taskId;
    assert.deepEqual(
      toMessages(stored, taskId).map(({ role }) => role),
      ["user", "assistant", "tool", "assistant"],
    );
  });

  it("runs beside the other tasks of its message, and answers stand in the order of the calls", async () => {
    let arrived = 0;
    let everybodyIsHere = (): void => {};
    const everybody = new Promise<void>((resolve) => {
      everybodyIsHere = resolve;
    });
    const provider = cast({
      parent: handsOut(task("one"), task("two"), task("three")),
      child: async (request) => {
        if (++arrived === 3) everybodyIsHere();
        await everybody; // nobody would get here if they ran one after the other
        return { text: `done ${lastWords(request)}`, delayMs: lastWords(request) === "one" ? 30 : 0 };
      },
    });
    const { session, close } = open(provider);
    assert.deepEqual(await session.submit("go"), { type: "completed", text: "Got: done onedone twodone three" });
    const events = await close();
    assert.equal(new Set(eventsOf(events, "task.started").map((event) => event.taskId)).size, 3);
    for (const { taskId } of eventsOf(events, "task.started")) {
      const said = events.flatMap((event) => (event.type === "text.delta" && event.taskId === taskId ? [event.text] : []));
      const whole = eventsOf(events, "task.ended").find((event) => event.taskId === taskId)?.outcome.text;
      assert.equal(said.join(""), whole);
    }
  });

  it("keeps secrets hidden in texts that come at the same time", async () => {
    const secret = `sk-ant-api03-${"a1B2".repeat(20)}`;
    const provider = cast({
      parent: handsOut(task("one"), task("two")),
      child: () => ({ text: `x ${secret} y` }),
    });
    const { session, close } = open(provider);
    await session.submit("go");
    const events = await close();
    assert.doesNotMatch(JSON.stringify(events), /a1B2a1B2/);
    for (const { taskId, outcome } of eventsOf(events, "task.ended")) {
      const said = events.flatMap((event) => (event.type === "text.delta" && event.taskId === taskId ? [event.text] : []));
      assert.equal(said.join(""), outcome.text);
    }
  });

  it("that fails is a result the model reads, with what is known", async () => {
    const provider = cast({
      parent: handsOut(task("go")),
      child: (request) =>
        request.messages.length === 1
          ? { text: "I begin.", calls: [{ name: "Glob", input: { pattern: "*" } }] }
          : { fail: { code: "provider-bad-request", message: "no such thing" } },
    });
    const { session, close } = open(provider);
    const outcome = await session.submit("go");
    assert.equal(outcome.type, "completed");
    assert.equal(outcome.text, "Got: The subagent failed: no such thing (provider-bad-request). The last it said:\nI begin.");
    const events = await close();
    assert.equal(eventsOf(events, "tool.ended").at(-1)?.status, "error");
    assert.equal(eventsOf(events, "task.ended")[0]?.outcome.type, "failed");
  });

  it("for an unknown agent is refused with the names of those there are, and a rule may forbid one kind", async () => {
    const calls = handsOut(task("go", { subagent_type: "writer" }), task("go", { subagent_type: "reader" }));
    const provider = cast({ parent: calls, child: () => ({ text: "never" }) });
    const { session, close } = open(provider, { disallowedTools: ["Agent(reader)"] });
    const outcome = await session.submit("go");
    assert.match(outcome.text, /There is no agent "writer"\. The agents are: reader\..*The rule Agent\(reader\) forbids it/s);
    assert.deepEqual(eventsOf(await close(), "task.started"), []);
  });

  it("stops at its own limit of turns, which the session's bounds too", async () => {
    const child = (): ScriptedReply => ({ text: "Still at it.", calls: [{ name: "Glob", input: { pattern: "*" } }] });
    for (const [agentTurns, sessionTurns, expected] of [
      [2, undefined, 2],
      [9, 3, 3],
      [undefined, 4, 4],
    ] as const) {
      const provider = cast({ parent: handsOut(task("go")), child });
      const agents = [{ ...reader, ...(agentTurns !== undefined && { maxTurns: agentTurns }) }];
      const { session, close } = open(provider, {
        agents,
        ...(sessionTurns !== undefined && { maxTurns: sessionTurns }),
      });
      const outcome = await session.submit("go");
      assert.match(
        outcome.text,
        /stopped at its limit of \d model calls, before it had finished\. The last it said:\nStill at it\./,
      );
      assert.equal(eventsOf(await close(), "task.ended")[0]?.modelCalls, expected);
    }
  });
});

describe("a subagent's permissions", () => {
  it("are the session's, with fewer tools and a stricter mode, and refusals are told to the one who asked", async () => {
    const agents: AgentDefinition[] = [
      { ...reader, tools: ["Read", "Write", "Bash(ls)"], disallowedTools: ["Read(./n.txt)"], permissionMode: "plan" },
      { ...reader, name: "bold", permissionMode: "bypassPermissions" },
    ];
    const provider = cast({
      parent: handsOut(task("careful", { subagent_type: "reader" }), task("bold", { subagent_type: "bold" })),
      child: (request) => {
        if (request.messages.length > 1) return { text: `${lastWords({ messages: request.messages.slice(0, 1) })} is done.` };
        const careful = [
          { name: "Read", input: { file_path: "n.txt" } },
          { name: "Write", input: { file_path: "new.txt", content: "x" } },
        ];
        const bold = [{ name: "Bash", input: { command: `node -e 'require("fs").writeFileSync("bold.txt", "")'` } }];
        return { calls: lastWords(request) === "careful" ? careful : bold };
      },
    });
    const { session, close } = open(provider, { agents, permissionMode: "acceptEdits" });
    const { text } = await session.submit("go");
    const events = await close();
    const started = eventsOf(events, "task.started");
    assert.deepEqual(
      started.map((event) => [event.agent, event.permissionMode]),
      [
        ["reader", "plan"],
        ["bold", "acceptEdits"],
      ],
    );
    assert.deepEqual(started[0]?.tools, ["Read", "Write"]);
    assert.match(
      text,
      /careful is done\.\n\nCalls the subagent was not permitted:\n- Read: The rule Read\(\.\/n\.txt\) forbids it\n- Write: Plan mode only looks/,
    );
    assert.match(text, /bold is done\.\n\nCalls the subagent was not permitted:\n- Bash: /);
    assert.equal(existsSync(join(folder, "new.txt")) || existsSync(join(folder, "bold.txt")), false);
    assert.match(eventsOf(events, "warning.raised")[0]?.message ?? "", /is not given Bash\(ls\)/);
  });

  for (const kind of ["Explore", "Plan"])
    for (const inBackground of [false, true])
      it(`of ${kind}${inBackground ? " in the background" : ""} hold for no tool that could change a file, whoever brings it`, async () => {
        const made = join(folder, "changed.txt");
        const save = defineTool({
          name: "SaveIt",
          description: "Saves.",
          inputSchema: { type: "object" },
          execute: async () => {
            writeFileSync(made, "x");
            return "Saved.";
          },
        });
        const patch = `*** Begin Patch\n*** Add File: changed.txt\n+x\n*** End Patch`;
        const calls = [
          { name: "SaveIt", input: {} },
          { name: "apply_patch", input: { input: patch } },
          { name: "NotebookEdit", input: { notebook_path: made, new_source: "x", edit_mode: "insert" } },
          { name: "Skill", input: { skill: "anything" } },
          { name: "BackgroundProcess", input: { command: "touch changed.txt" } },
          { name: "Monitor", input: { description: "m", command: "touch changed.txt" } },
          { name: "Bash", input: { command: "touch changed.txt", run_in_background: true } },
          { name: "Task", input: { description: "d", prompt: "Write changed.txt", subagent_type: "general-purpose" } },
        ];
        const provider = cast({
          parent: handsOut(task("look", { subagent_type: kind, run_in_background: inBackground })),
          child: (request) => (request.messages.length > 1 ? { text: "I tried." } : { calls }),
        });
        const options = { builtinAgents: true, tools: [save], allowedTools: ["SaveIt", "Bash"], wakes: false } as const;
        const { session, close } = open(provider, { ...options, permissionMode: "bypassPermissions", schedules: true });
        await session.submit("go");
        await session.finishBackgroundTasks();
        const events = await close();
        const ended = eventsOf(events, "tool.ended").filter(({ taskId }) => taskId !== undefined);
        assert.deepEqual(
          [ended.length, ended.filter(({ status }) => status === "ok"), existsSync(made)],
          [calls.length, [], false],
        );
        assert.ok(!eventsOf(events, "task.started")[0]?.tools.includes("SaveIt"));
      });

  it("are asked of whoever answers for the session", async () => {
    const provider = cast({
      parent: handsOut(task("go")),
      child: (request) =>
        request.messages.length === 1
          ? { calls: [{ name: "Write", input: { file_path: "asked.txt", content: "x" } }] }
          : { text: "Written." },
    });
    const { session, close } = open(provider, { answersPermissions: true });
    const askedBy: (string | undefined)[] = [];
    session.on("permission_request", (request) => {
      askedBy.push(request.taskId);
      session.answerPermission(request.requestId, "allow");
    });
    assert.deepEqual(await session.submit("go"), { type: "completed", text: "Got: Written." });
    assert.deepEqual(askedBy, [eventsOf(await close(), "task.started")[0]?.taskId]);
    assert.equal(existsSync(join(folder, "asked.txt")), true);
  });

  it("do not come with what the session has read", async () => {
    const provider = cast({
      parent: (request) => {
        if (request.messages.length === 1) return { calls: [{ name: "Read", input: { file_path: "m.txt" } }] };
        return request.messages.length === 3 ? { calls: [task("go")] } : { text: lastWords(request) };
      },
      child: (request) =>
        request.messages.length === 1
          ? { calls: [{ name: "Edit", input: { file_path: "m.txt", old_string: "eight", new_string: "nine" } }] }
          : { text: lastWords(request) },
    });
    const { session, close } = open(provider, { permissionMode: "acceptEdits" });
    assert.match((await session.submit("go")).text, /read/i);
    const edit = eventsOf(await close(), "tool.ended").find((event) => event.name === "Edit");
    assert.equal(edit?.status, "error");
  });
});
