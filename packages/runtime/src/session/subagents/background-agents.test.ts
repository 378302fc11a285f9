import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createMemoryStore } from "../../journal/memory-store.ts";
import { toMessages } from "../../journal/transcript.ts";
import type { ModelRequest } from "../../model/model.ts";
import type { ScriptedReply } from "../../model/scripted.ts";
import {
  type Answer,
  cast,
  eventsOf,
  eventually,
  lastWords,
  reader,
  stageFolder,
  task,
} from "../../../../../test/support/subagent-stage.ts";

const { folder, open } = stageFolder();

const inBackground = (prompt: string, more: object = {}) => task(prompt, { run_in_background: true, ...more });
const call = (name: string, input: object): ScriptedReply => ({ calls: [{ name, input: { ...input } }] });

/** A parent that plays these parts one after the other. */
function inOrder(...replies: ScriptedReply[]): Answer {
  const left = [...replies];
  return () => left.shift() ?? { text: "Nothing more." };
}

/** Something a model waits for until a test says so. */
function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

const texts = (request: ModelRequest | undefined): string => JSON.stringify(request?.messages);

describe("an agent in the background", () => {
  it("answers with its id at once, works after the turn, and wakes the parent with its answer", async () => {
    const late = gate();
    const provider = cast({
      parent: inOrder({ calls: [inBackground("Look")] }, { text: "It works." }, { text: "I heard." }),
      child: async () => {
        await late.opened;
        return { text: "It says seven." };
      },
    });
    const { session, events, close } = open(provider);
    assert.deepEqual(await session.submit("go"), { type: "completed", text: "It works." });
    const [running] = session.listBackgroundTasks();
    assert.deepEqual(
      [running?.id, running?.kind, running?.status, running?.mode, running?.agentType, running?.label],
      ["agent_1", "agent", "running", "background", "reader", "a task"],
    );
    late.open();
    assert.deepEqual(await session.finishBackgroundTasks(), { stopped: [] });
    await close();
    const [result] = eventsOf(events, "tool.ended");
    assert.match(JSON.stringify(result?.result.content), /works in the background as the task agent_1/);
    assert.equal(result?.details?.backgroundTaskId, "agent_1");
    const types = events
      .filter(({ type }) => /^background\.(?!delta)|^task\.|^turn\./.test(type))
      .map(({ type, taskId }) => (taskId === undefined ? type : `${taskId} ${type}`));
    assert.deepEqual(types, [
      "turn.started",
      "background.created",
      "background.started",
      "agent_1 task.started",
      "background.updated",
      "turn.ended",
      "agent_1 task.ended",
      "background.ended",
      "turn.started",
      "background.updated",
      "turn.ended",
    ]);
    const [, woken] = eventsOf(events, "turn.started");
    assert.deepEqual(woken?.tasks, ["agent_1"]);
    assert.match(JSON.stringify(woken?.input), /<task-id>agent_1<[\s\S]*<status>completed<[\s\S]*<result>It says seven\.</);
    const ended = eventsOf(events, "background.ended")[0]?.task;
    assert.deepEqual(
      [ended?.status, ended?.result?.output, typeof ended?.metadata?.["runId"], ended?.metadata?.["callId"]],
      ["completed", "It says seven.", "string", result?.callId],
    );
    const started = eventsOf(events, "task.started")[0];
    assert.deepEqual(
      [started?.background, started?.outputFile, started?.runId],
      [true, ended?.logPath, ended?.metadata?.["runId"]],
    );
  });

  it("is started so by its definition, and not where the call says otherwise", async () => {
    const agents = [{ ...reader, background: true }];
    for (const [input, kinds] of [
      [{}, ["agent"]],
      [{ run_in_background: false }, []],
    ] as const) {
      const provider = cast({
        parent: inOrder({ calls: [task("Look", input)] }, { text: "Ok." }),
        child: () => ({ text: "Done." }),
      });
      const { session, close } = open(provider, { agents });
      await session.submit("go");
      await session.finishBackgroundTasks();
      assert.deepEqual(
        session.listBackgroundTasks().map(({ kind }) => kind),
        kinds,
      );
      await close();
    }
  });

  it("shows what it says and calls while it works, and ends with TaskStop", async () => {
    const stuck = gate();
    const provider = cast({
      parent: inOrder(
        { calls: [inBackground("Look")] },
        call("TaskOutput", { task_id: "agent_1", until: "> Read" }),
        call("TaskStop", { task_id: "agent_1" }),
        { text: "Stopped it." },
      ),
      child: async (request) => {
        if (request.messages.length > 1) await stuck.opened;
        return { text: "Looking.", calls: [{ name: "Read", input: { file_path: "n.txt" } }] };
      },
    });
    const sessionStore = createMemoryStore();
    const { session, events, close } = open(provider, { sessionStore });
    const heard: unknown[] = [];
    session.on("background_task_event", ({ type, ...facts }) => {
      if (type.startsWith("background_task_tool")) heard.push([type, facts]);
    });
    assert.deepEqual(await session.submit("go"), { type: "completed", text: "Stopped it." });
    assert.deepEqual(heard.slice(0, 2), [
      ["background_task_tool_start", { toolName: "Read", firstArg: "n.txt", taskId: "agent_1" }],
      ["background_task_tool_end", { toolName: "Read", success: true, taskId: "agent_1" }],
    ]);
    const stored = await sessionStore.read(session.id);
    assert.ok(!stored.some(({ type }) => type === "background.activity"));
    const results = eventsOf(events, "tool.ended").filter(({ taskId }) => taskId === undefined);
    const words = results.map(({ result }) => JSON.stringify(result.content));
    assert.match(words[1] ?? "", /agent_1 has been running[\s\S]*Looking\.\\n> Read n\.txt/);
    assert.match(words[2] ?? "", /agent_1 was stopped/);
    assert.equal(session.getBackgroundTask("agent_1")?.status, "cancelled");
    stuck.open();
    await close();
    assert.deepEqual(
      eventsOf(events, "task.ended").map(({ outcome }) => outcome.type),
      ["cancelled"],
    );
    assert.equal(eventsOf(events, "turn.started").length, 1, "who stops it is not told of its end");
  });

  it("is known by the name it was given, to every tool", async () => {
    const stuck = gate();
    const launch = { ...inBackground("Look"), input: { ...(inBackground("Look").input as object), name: "bob" } };
    const provider = cast({
      parent: inOrder(
        { calls: [launch] },
        call("TaskOutput", { task_id: "bob", block: false }),
        call("TaskStop", { task_id: "bob" }),
        call("TaskStop", { task_id: "rob" }),
        { text: "Stopped it." },
      ),
      child: async () => {
        await stuck.opened;
        return { text: "late" };
      },
    });
    const { session, events, close } = open(provider);
    await session.submit("go");
    const results = eventsOf(events, "tool.ended").filter(({ taskId }) => taskId === undefined);
    const words = results.map(({ result }) => JSON.stringify(result.content));
    assert.match(words[1] ?? "", /agent_1 /);
    assert.match(words[2] ?? "", /agent_1 was stopped/);
    assert.match(words[3] ?? "", /There is no task \\"rob\\"\. There are: agent_1 \(cancelled\)/);
    assert.equal(session.getBackgroundTask("agent_1")?.status, "cancelled");
    stuck.open();
    await close();
  });

  it("keeps a transcript and a log of its own, without what is secret", async () => {
    const provider = cast({
      parent: inOrder({ calls: [inBackground("Look")] }, { text: "Ok." }, { text: "Heard." }),
      child: () => ({ text: "The key is sk-ant-REDACTED." }),
    });
    const { session, close } = open(provider);
    await session.submit("go");
    await session.finishBackgroundTasks();
    const { logPath = "", transcriptPath = "" } = session.getBackgroundTask("agent_1") ?? {};
    const log = readFileSync(logPath, "utf8");
    const transcript = readFileSync(transcriptPath, "utf8");
    await close();
    assert.match(log, /^The key is [\s\S]*\n\n\[completed\]\n$/);
    assert.match(transcriptPath, /\/subagents\/agent_1\.jsonl$/);
    const types = transcript
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { type: string }).type);
    assert.deepEqual(types, ["task.started", "message.ended", "task.ended"]);
    assert.doesNotMatch(log + transcript, /abcdefghijklmnop/);
  });

  it("fails in the words a foreground one would, and the parent is told", async () => {
    const provider = cast({
      parent: inOrder({ calls: [inBackground("Look")] }, { text: "Ok." }, { text: "Heard." }),
      child: () => ({ text: "Half", calls: [{ name: "Read", input: { file_path: "n.txt" } }] }),
    });
    const { session, events, close } = open(provider, { agents: [{ ...reader, maxTurns: 1 }] });
    await session.submit("go");
    await session.finishBackgroundTasks();
    await close();
    const ended = eventsOf(events, "background.ended")[0]?.task;
    assert.equal(ended?.status, "failed");
    assert.match(ended?.error?.message ?? "", /stopped at its limit of 1 model calls[\s\S]*Half/);
    assert.match(JSON.stringify(eventsOf(events, "turn.started")[1]?.input), /<status>failed<[\s\S]*limit of 1 model calls/);
  });

  it("that cannot begin is the failure of its call, and nothing is told later", async () => {
    const provider = cast({
      parent: inOrder({ calls: [inBackground("Look", { isolation: "worktree" })] }, { text: "Ok." }),
      child: () => ({ text: "Never." }),
    });
    const { session, events, close } = open(provider);
    await session.submit("go");
    await session.finishBackgroundTasks();
    await close();
    const [result] = eventsOf(events, "tool.ended");
    assert.equal(result?.status, "error");
    assert.match(JSON.stringify(result?.result.content), /worktree of its own/);
    assert.deepEqual(eventsOf(events, "task.started"), []);
    assert.equal(eventsOf(events, "turn.started").length, 1);
  });

  it("outlives the turn that is interrupted, and ends with the session", async () => {
    const stuck = gate();
    const parentStuck = gate();
    const left: (ScriptedReply | "wait")[] = [{ calls: [inBackground("Look")] }, "wait"];
    const provider = cast({
      parent: async () => {
        const next = left.shift();
        if (next !== "wait") return next ?? { text: "Ok." };
        await parentStuck.opened;
        return { text: "Late." };
      },
      child: async () => {
        await stuck.opened;
        return { text: "Done." };
      },
    });
    const { session, events, close } = open(provider);
    const submitted = session.submit("go");
    await eventually(() => left.length === 0);
    session.interrupt();
    assert.equal((await submitted).type, "cancelled");
    assert.equal(session.getBackgroundTask("agent_1")?.status, "running");
    await close();
    stuck.open();
    parentStuck.open();
    assert.deepEqual(
      [eventsOf(events, "background.ended")[0]?.task.status, eventsOf(events, "task.ended")[0]?.outcome.type],
      ["cancelled", "cancelled"],
    );
  });

  it("is stopped at the ceiling, and the run says so", async () => {
    const stuck = gate();
    const provider = cast({
      parent: inOrder({ calls: [inBackground("Look")] }, { text: "Ok." }),
      child: async () => {
        await stuck.opened;
        return { text: "Done." };
      },
    });
    const { session, events, close } = open(provider);
    await session.submit("go");
    const { stopped } = await session.finishBackgroundTasks({ agentMs: 0 });
    stuck.open();
    await close();
    assert.deepEqual(
      stopped.map(({ id, status }) => [id, status]),
      [["agent_1", "cancelled"]],
    );
    assert.match(eventsOf(events, "warning.raised").at(-1)?.message ?? "", /Stopped with the run[\s\S]*agent_1 \(a task\)/);
  });
});

describe("hooks at the end of a turn", () => {
  it("are told which tasks still work, and hear of the agent's own end", async () => {
    const late = gate();
    const heard: unknown[] = [];
    const provider = cast({
      parent: inOrder({ calls: [inBackground("Look")] }, { text: "Ok." }, { text: "Heard." }),
      child: async () => {
        await late.opened;
        return { text: "Done." };
      },
    });
    const hear = async (input: { readonly [field: string]: unknown }) => {
      heard.push([input["hook_event_name"], input["background_tasks"]]);
      return {};
    };
    const { session, close } = open(provider, { hooks: { Stop: [{ hooks: [hear] }], SubagentStop: [{ hooks: [hear] }] } });
    await session.submit("go");
    late.open();
    await session.finishBackgroundTasks();
    await close();
    const working = { id: "agent_1", type: "subagent", status: "running", description: "a task", agent_type: "reader" };
    assert.deepEqual(heard, [
      ["Stop", [working]],
      ["SubagentStop", [working]],
      ["Stop", []],
    ]);
  });
});

describe("permission for an agent in the background", () => {
  const writes: Answer = (request) =>
    request.messages.length === 1
      ? {
          calls: [
            { name: "Write", input: { file_path: "one.txt", content: "1" } },
            { name: "Write", input: { file_path: "two.txt", content: "2" } },
          ],
        }
      : { text: lastWords(request) };

  it("is waited for after the turn, in a state of its own, and answered for the task or the question", async () => {
    const provider = cast({
      parent: inOrder({ calls: [inBackground("Write")] }, { text: "Ok." }, { text: "Heard." }),
      child: writes,
    });
    const { session, events, close } = open(provider, { answersPermissions: true });
    await session.submit("go");
    await eventually(() => session.getBackgroundTask("agent_1")?.status === "waiting_permission");
    assert.match(session.getBackgroundTask("agent_1")?.currentAction ?? "", /Waits for permission: Write/);
    const asked = () => eventsOf(events, "permission.requested").filter(({ requestId }) => !answered.has(requestId));
    const answered = new Set<string>();
    while (session.getBackgroundTask("agent_1")?.completedAt === undefined) {
      await eventually(() => asked().length > 0 || session.getBackgroundTask("agent_1")?.completedAt !== undefined);
      for (const { requestId, taskId } of asked()) {
        assert.equal(session.signalBeside({ requestId, taskId: taskId ?? "" })?.aborted, false);
        answered.add(requestId);
        session.answerPermission(requestId, "allow");
      }
    }
    await session.finishBackgroundTasks();
    await close();
    assert.equal(existsSync(join(folder, "one.txt")) && existsSync(join(folder, "two.txt")), true);
    const statuses = eventsOf(events, "background.updated").map(({ task: { status } }) => status);
    assert.equal(statuses.includes("waiting_permission"), true);
    assert.equal(eventsOf(events, "background.ended")[0]?.task.status, "completed");
  });

  it("is denied at once where nobody answers", async () => {
    const provider = cast({
      parent: inOrder({ calls: [inBackground("Write")] }, { text: "Ok." }, { text: "Heard." }),
      child: writes,
    });
    const { session, events, close } = open(provider);
    await session.submit("go");
    await session.finishBackgroundTasks();
    await close();
    assert.match(
      eventsOf(events, "background.ended")[0]?.task.result?.output ?? "",
      /Calls the subagent was not permitted:\n- Write/,
    );
  });
});

describe("SendMessage", () => {
  it("reaches an agent at work with its next request", async () => {
    const first = gate();
    const provider = cast({
      parent: inOrder(
        { calls: [inBackground("Look", { name: "scout" })] },
        call("SendMessage", { to: "scout", message: "Look at m.txt too." }),
        { text: "Told it." },
        { text: "Heard." },
      ),
      child: async (request) => {
        if (request.messages.length > 1) return { text: lastWords(request) };
        await first.opened;
        return { calls: [{ name: "Read", input: { file_path: "n.txt" } }] };
      },
    });
    const { session, events, close } = open(provider);
    await session.submit("go");
    first.open();
    await session.finishBackgroundTasks();
    await close();
    assert.equal(eventsOf(events, "background.ended")[0]?.task.result?.output, "Look at m.txt too.");
    const [added] = eventsOf(events, "input.added").filter(({ taskId }) => taskId === "agent_1");
    assert.equal(added?.origin, "parent");
  });

  it("that comes too late for the last request is answered before the agent ends", async () => {
    const last = gate();
    const provider = cast({
      parent: inOrder(
        { calls: [inBackground("Look")] },
        call("SendMessage", { to: "agent_1", message: "And m.txt?" }),
        { text: "Told it." },
        { text: "Heard." },
      ),
      child: async (request) => {
        if (request.messages.length > 1) return { text: `Again: ${lastWords(request)}` };
        await last.opened;
        return { text: "Seven." };
      },
    });
    const { session, events, close } = open(provider);
    await session.submit("go");
    last.open();
    await session.finishBackgroundTasks();
    await close();
    const [ended] = eventsOf(events, "task.ended");
    assert.deepEqual([ended?.outcome, ended?.modelCalls], [{ type: "completed", text: "Again: And m.txt?" }, 2]);
  });

  it("wakes an agent that has ended, which goes on with all it knew under its id", async () => {
    const provider = cast({
      parent: inOrder(
        { calls: [inBackground("Look", { name: "scout" })] },
        { text: "Ok." },
        call("SendMessage", { to: "scout", message: "And then?" }),
        { text: "Told it." },
        call("TaskOutput", { task_id: "scout" }),
        { text: "Heard twice." },
      ),
      child: (request) => ({ text: `${request.messages.length} messages` }),
    });
    const { session, provider: _, events, close } = { ...open(provider), provider };
    await session.submit("go");
    await session.finishBackgroundTasks();
    await close();
    assert.deepEqual(
      eventsOf(events, "background.ended").map(({ task: { id, result } }) => [id, result?.output]),
      [
        ["agent_1", "1 messages"],
        ["agent_1", "3 messages"],
      ],
    );
    const sent = eventsOf(events, "tool.ended").find(({ name }) => name === "SendMessage");
    const { message, ...told } = sent?.details?.told ?? {};
    assert.match(String(message), /^agent_1 had ended; it works again/);
    const resumed = { resumedAgentId: "agent_1", revivedAgentId: "agent_1" };
    assert.deepEqual(told, { success: true, pin: { id: "agent_1", name: "scout" }, ...resumed });
    const shown = eventsOf(events, "tool.ended").find(({ name }) => name === "TaskOutput");
    assert.match(JSON.stringify(shown?.result.content), /agent_1 completed .*3 messages/);
    const runs = eventsOf(events, "task.started").map(({ runId }) => runId);
    assert.equal(new Set(runs).size, 2);
    assert.deepEqual(
      toMessages(events, "agent_1").map(({ role }) => role),
      ["user", "assistant", "user", "assistant"],
    );
    assert.equal(eventsOf(events, "turn.started").length, 3);
  });

  it("reaches an agent that still waits for others to end, when it works", async () => {
    const stuck = gate();
    const provider = cast({
      parent: inOrder(
        { calls: Array.from({ length: 17 }, (_, at) => inBackground(`Look ${at}`, { name: `scout-${at}` })) },
        call("SendMessage", { to: "scout-16", message: "Look at m.txt too." }),
        { text: "Told it." },
      ),
      child: async (request) => {
        await stuck.opened;
        return { text: lastWords(request) };
      },
    });
    const { session, events, close } = open(provider, { wakes: false });
    await session.submit("go");
    assert.equal(session.getBackgroundTask("agent_17")?.status, "queued");
    assert.match(JSON.stringify(eventsOf(events, "tool.ended").at(-1)?.result.content), /agent_17 waits .* reads the message/);
    stuck.open();
    await session.finishBackgroundTasks();
    await close();
    const outputs = eventsOf(events, "background.ended").map(({ task: { id, result } }) => `${id} ${result?.output}`);
    assert.ok(outputs.includes("agent_17 Look at m.txt too."), outputs.join("\n"));
    assert.equal(outputs.length, 17);
  });

  it("to an agent that hears nothing more, and has not ended, has it go on after its end", async () => {
    const settling = gate();
    const settled = gate();
    const repository = mkdtempSync(join(folder, "repository-"));
    for (const args of [
      ["init", "-q"],
      ["commit", "-q", "--allow-empty", "-m", "first"],
    ])
      execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...args], { cwd: repository });
    const hold = async () => {
      settling.open();
      await settled.opened;
      return {};
    };
    const provider = cast({
      parent: inOrder({ calls: [inBackground("Look", { isolation: "worktree" })] }, { text: "Ok." }),
      child: (request) => ({ text: `Heard: ${lastWords(request)}` }),
    });
    const options = { cwd: repository, wakes: false, hooks: { WorktreeRemove: [{ hooks: [hold] }] } };
    const { session, events, close } = open(provider, options);
    await session.submit("go");
    await settling.opened;
    const sending = session.sendBackgroundTask("agent_1", "One more thing.");
    settled.open();
    await sending;
    await session.finishBackgroundTasks();
    await close();
    assert.deepEqual(
      eventsOf(events, "task.ended").map(({ outcome }) => outcome.text),
      ["Heard: Look", "Heard: One more thing."],
    );
  });

  it("to an agent that was ended before it had begun says so", async () => {
    const stuck = gate();
    const provider = cast({
      parent: inOrder(
        { calls: Array.from({ length: 17 }, () => inBackground("Look")) },
        call("TaskStop", { task_id: "agent_17" }),
        call("SendMessage", { to: "agent_17", message: "More." }),
        { text: "Ok." },
      ),
      child: async () => {
        await stuck.opened;
        return { text: "Late." };
      },
    });
    const { session, events, close } = open(provider, { wakes: false });
    await session.submit("go");
    stuck.open();
    await close();
    const said = JSON.stringify(eventsOf(events, "tool.ended").at(-1)?.result.content);
    assert.match(said, /agent_17 was ended before it had begun: it knows nothing\. Start another one\./);
  });

  it("to nobody says who there is, and a subagent does not have it", async () => {
    const provider = cast({
      parent: inOrder(call("SendMessage", { to: "nobody", message: "Hello" }), { calls: [task("Look")] }, { text: "Ok." }),
      child: () => ({ text: "Done." }),
    });
    const { session, events, close } = open(provider);
    await session.submit("go");
    await close();
    assert.match(JSON.stringify(eventsOf(events, "tool.ended")[0]?.result.content), /no agent \\"nobody\\"\. None was started/);
    const child = provider.requests.find((request) => !request.tools.some(({ name }) => name === "Task"));
    assert.equal(
      child?.tools.some(({ name }) => name === "SendMessage"),
      false,
    );
  });
});

describe("Task with resume", () => {
  it("goes on with an agent of an earlier process, and waits for it", async () => {
    const sessionStore = createMemoryStore();
    const child: Answer = (request) => ({ text: `${request.messages.length} messages` });
    const first = open(cast({ parent: inOrder({ calls: [task("Look")] }, { text: "Ok." }), child }), { sessionStore });
    await first.session.submit("go");
    const taskId = eventsOf(await first.close(), "task.started")[0]?.taskId ?? "";
    const provider = cast({
      parent: (request) =>
        request.messages.at(-1)?.role === "tool" ? { text: lastWords(request) } : { calls: [task("More", { resume: taskId })] },
      child,
    });
    const again = open(provider, { sessionStore, resumeSessionId: first.session.id });
    assert.deepEqual(await again.session.submit("go on"), { type: "completed", text: "3 messages" });
    await again.close();
    const request = provider.requests.find(({ tools }) => !tools.some(({ name }) => name === "Task"));
    assert.match(texts(request), /"Look"[\s\S]*1 messages[\s\S]*"More"/);
  });

  it("finds an agent that somebody waited for by the name it was given", async () => {
    const provider = cast({
      parent: inOrder(
        { calls: [task("Look", { name: "scout" })] },
        { calls: [task("More", { resume: "scout" })] },
        { text: "Ok." },
      ),
      child: (request) => ({ text: `${request.messages.length} messages` }),
    });
    const { session, events, close } = open(provider);
    await session.submit("go");
    await close();
    assert.deepEqual(
      eventsOf(events, "task.ended").map(({ outcome }) => outcome.text),
      ["1 messages", "3 messages"],
    );
    assert.equal(new Set(eventsOf(events, "task.started").map(({ taskId }) => taskId)).size, 1);
  });

  it("is refused while the agent works, and where there is no such agent", async () => {
    const stuck = gate();
    const provider = cast({
      parent: inOrder(
        { calls: [inBackground("Look")] },
        { calls: [task("More", { resume: "agent_1" }), task("More", { resume: "agent_7" })] },
        { text: "Ok." },
        { text: "Heard." },
      ),
      child: async () => {
        await stuck.opened;
        return { text: "Done." };
      },
    });
    const { session, events, close } = open(provider);
    await session.submit("go");
    const words = eventsOf(events, "tool.ended").map(({ result }) => JSON.stringify(result.content));
    stuck.open();
    await close();
    assert.match(words[1] ?? "", /agent_1 is still at work/);
    assert.match(words[2] ?? "", /no agent \\"agent_7\\"\. There are: agent_1 \(reader\)/);
  });
});
