import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe } from "node:test";
import { BackgroundJobOrchestrator } from "../../packages/runtime/src/exports/index.ts";
import { createWsHandler, createWsTransport, type ServerMessage } from "../../packages/runtime/src/exports/ws.ts";
import { refusedMessages } from "./refused-messages.ts";
import { call, gate, openSession, serve, shows, used } from "./stage.ts";
import { serveSession } from "./ws-server.ts";

describe("the seed's protocol, over the ws package", () => {
  shows(
    [
      "api/handler",
      "client/submit",
      "server/text_delta",
      "server/thinking",
      "server/complete",
      "server/tool_start",
      "server/tool_end",
    ],
    "a client that knows only the seed has a conversation",
    async () => {
      const { cwd, connect } = await serve([{ ...call("Read", { file_path: "a.txt" }), ...used }, { text: "It says hello." }]);
      writeFileSync(join(cwd, "a.txt"), "hello\n");
      const client = await connect();
      assert.equal(await client.converse("what is in a.txt?"), "It says hello.");
      const story = client.received.flatMap(({ type, state, isThinking, result }) => {
        if (type === "thinking") return [`thinking ${isThinking}`];
        if (type === "tool_start" || type === "tool_end") return [`${type} ${(state as { toolName: string }).toolName}`];
        return type === "complete" ? [`complete ${(result as { response: string }).response}`] : [];
      });
      assert.deepEqual(story, ["thinking true", "tool_start Read", "tool_end Read", "thinking false", "complete It says hello."]);
      const { result } = client.received.at(-1) as unknown as { result: Record<string, unknown[]> };
      assert.deepEqual(Object.keys(result).sort(), ["contextState", "history", "response", "toolSummaries", "usage"]);
      assert.equal(result["toolSummaries"]?.length, 1);
      assert.equal((result["history"]?.[0] as { type: string } | undefined)?.type, "user");
    },
  );

  shows(["client/abort", "server/interrupted"], "abort ends the turn, and the client hears that it was interrupted", async () => {
    const { connect } = await serve([{ text: "I think", hang: true }]);
    const client = await connect();
    client.say({ type: "submit", prompt: "go" });
    await client.next("text_delta");
    client.say({ type: "abort" });
    const { result } = await client.next("interrupted");
    assert.equal((result as { response: string }).response, "I think");
  });

  shows(["server/error", "added/typed"], "a failed turn is told with its words and its code", async () => {
    const { connect } = await serve([{ fail: { code: "provider-unavailable", message: "boom" } }]);
    const client = await connect();
    client.say({ type: "submit", prompt: "go" });
    const { message, code, retryable } = await client.next("error");
    assert.deepEqual({ message, code, retryable }, { message: "boom", code: "provider-unavailable", retryable: false });
  });

  shows(
    ["client/cancel-queue", "client/get-pending", "client/get-executing", "server/pending", "server/executing"],
    "what waits is told and dropped; the turn goes on",
    async () => {
      const { opened, open } = gate();
      const { connect } = await serve([() => opened.then(() => ({ text: "first" })), { text: "never" }]);
      const client = await connect();
      const executing = async () => (await client.ask({ type: "get-executing" }, "executing"))["executing"];
      const pending = async () => (await client.ask({ type: "get-pending" }, "pending"))["pending"];
      assert.deepEqual([await executing(), await pending()], [false, null]);
      client.say({ type: "submit", prompt: "one" });
      client.say({ type: "submit", prompt: "two" });
      assert.deepEqual([await executing(), await pending()], [true, "two"]);
      client.say({ type: "cancel-queue" });
      assert.equal(await pending(), null);
      open();
      const { result } = await client.next("complete");
      assert.equal((result as { response: string }).response, "first");
      assert.equal(await executing(), false);
    },
  );

  shows(
    ["client/get-messages", "client/get-context", "server/messages", "server/context"],
    "messages and context are what the session says",
    async () => {
      const { session, connect } = await serve([{ text: "hi", ...used }]);
      const client = await connect();
      await client.converse("hello");
      const { messages } = await client.ask({ type: "get-messages" }, "messages");
      assert.deepEqual(messages, JSON.parse(JSON.stringify(session.getMessages())));
      assert.equal((messages as unknown[]).length, 2);
      const { state } = await client.ask({ type: "get-context" }, "context");
      assert.deepEqual(state, { usedTokens: 100, maxTokens: 1000, usedPercentage: 10, remainingPercentage: 90 });
    },
  );

  shows(
    ["client/command", "server/command_result"],
    "commands are the session's own; one that nobody knows is no success",
    async () => {
      const execute = (_: unknown, args: string) => ({ success: true, message: `did ${args}`, data: { args } });
      const { connect } = await serve([], { commands: [{ name: "do", description: "does", execute }] });
      const client = await connect();
      assert.deepEqual(await client.ask({ type: "command", name: "do", args: "it" }, "command_result"), {
        ...{ type: "command_result", name: "do", message: "did it", success: true, data: { args: "it" } },
      });
      assert.deepEqual(await client.ask({ type: "command", name: "odd" }, "command_result"), {
        ...{ type: "command_result", name: "odd", message: "Unknown command: odd", success: false },
      });
    },
  );

  shows(
    [
      ...["get-background-tasks", "get-background-task", "send-background-task", "read-background-task-log"].map(
        (id) => `client/${id}`,
      ),
      ...["cancel-background-task", "close-background-task"].map((id) => `client/${id}`),
      ...["background_tasks", "background_task", "background_task_log", "background_task_event"].map((id) => `server/${id}`),
      "server/background_task_control_result",
    ],
    "background tasks are listed, read, written to, stopped and closed",
    async () => {
      const start = call("Bash", {
        command: "read line; echo got $line; read line; echo and $line; sleep 600",
        run_in_background: true,
        description: "run",
      });
      const { session, connect } = await serve([start, { text: "Started." }], { allowedTools: ["Bash"], wakes: false });
      const client = await connect();
      await client.converse("go");
      const events = client.received.filter(({ type }) => type === "background_task_event");
      assert.equal((events[0]?.["event"] as { type: string } | undefined)?.type, "background_task_created");
      const [{ id: taskId } = { id: "" }] = session.listBackgroundTasks();
      const lists = async (filter?: object) =>
        ((await client.ask({ type: "get-background-tasks", filter }, "background_tasks"))["tasks"] as unknown[]).length;
      assert.deepEqual([await lists(), await lists({ kind: "process" }), await lists({ status: ["failed"] })], [1, 1, 0]);
      const { task } = await client.ask({ type: "get-background-task", taskId }, "background_task");
      assert.equal((task as { id: string }).id, taskId);
      assert.deepEqual(await client.ask({ type: "get-background-task", taskId: "odd" }, "background_task"), {
        ...{ type: "background_task", taskId: "odd", task: null },
      });
      const control = (action: string, more: object = {}) =>
        client.ask({ type: `${action}-background-task`, taskId, ...more }, "background_task_control_result");
      const done = (action: string) => ({ type: "background_task_control_result", action, taskId, success: true });
      assert.deepEqual(await control("send", { input: "hello\n" }), done("send"));
      assert.deepEqual(await control("send", { input: { stdin: "more\n" } }), done("send"));
      let lines: string[] = [];
      while (lines.length < 2) {
        const { page } = await client.ask({ type: "read-background-task-log", taskId }, "background_task_log");
        ({ lines } = page as { lines: string[] });
      }
      assert.match(lines.join("\n"), /got hello\n.*and more/);
      assert.deepEqual(await control("cancel", { reason: "enough" }), done("cancel"));
      assert.deepEqual(await control("close"), done("close"));
      const { success, message } = await control("close");
      assert.deepEqual([success, typeof message], [false, "string"]);
    },
  );

  shows(
    [
      ...["get-background-job-groups", "get-background-job-group", "wait-background-job-group"].map((id) => `client/${id}`),
      ...["background_job_groups", "background_job_group", "background_job_group_event"].map((id) => `server/${id}`),
    ],
    "groups of tasks are listed, looked at and waited for",
    async () => {
      const start = call("Bash", { command: "read line", run_in_background: true, description: "run" });
      const { session } = openSession([start, { text: "Started." }], { allowedTools: ["Bash"], wakes: false });
      const groups = new BackgroundJobOrchestrator({
        tasks: {
          get: (id) => session.getBackgroundTask(id),
          subscribe: (listener) => {
            session.on("background_task_event", listener);
            return () => session.off("background_task_event", listener);
          },
        },
      });
      const { connect } = await serveSession(session, () => ({ groups }));
      const client = await connect();
      await client.converse("go");
      const taskIds = session.listBackgroundTasks().map(({ id }) => id);
      const { id: groupId } = groups.createGroup({ parentSessionId: session.id, waitPolicy: "wait_all", taskIds });
      const { event } = await client.next("background_job_group_event");
      assert.equal((event as { type: string }).type, "background_job_group_created");
      const listed = await client.ask({ type: "get-background-job-groups" }, "background_job_groups");
      assert.equal((listed["groups"] as unknown[]).length, 1);
      const shown = await client.ask({ type: "get-background-job-group", groupId }, "background_job_group");
      assert.equal((shown["group"] as { status: string }).status, "running");
      client.say({ type: "wait-background-job-group", groupId });
      client.say({ type: "cancel-background-task", taskId: taskIds[0] });
      const waited = await client.next("background_job_group");
      assert.equal((waited["group"] as { status: string }).status, "completed");
      for (const type of ["get-background-job-group", "wait-background-job-group"])
        assert.deepEqual(await client.ask({ type, groupId: "odd" }, "background_job_group"), {
          ...{ type: "background_job_group", groupId: "odd", group: null },
        });
    },
  );

  shows(["server/protocol_error", "added/validation"], "what is no request is refused, in these words", async () => {
    const { connect, provider } = await serve([]);
    const client = await connect();
    for (const [what, message, words] of refusedMessages) {
      client.say(typeof message === "string" ? message : JSON.stringify(message));
      const answer = await client.next("protocol_error", "background_task_control_result");
      assert.equal(answer["message"], words, what);
      assert.match(String(answer["code"]), /^(usage|not-found)$/, what);
    }
    assert.equal(provider.requests.length, 0);
  });

  shows(["api/transport"], "the transport serves an attached session between start and stop", async () => {
    const sent: ServerMessage[] = [];
    const session = openSession([{ text: "a" }, { text: "b" }]).session;
    const transport = createWsTransport({ send: (message) => void sent.push(message) });
    assert.equal(transport.name, "ws");
    await assert.rejects(transport.start(), /not attached/);
    session.attachTransport(transport);
    transport.onMessage('{"type":"get-executing"}');
    await transport.start();
    await transport.start();
    await session.submit("go");
    transport.onMessage('{"type":"get-executing"}');
    const waiting = sent.findIndex(({ type }) => type === "complete");
    assert.deepEqual([sent[0]?.type, waiting > 0], ["protocol_error", true]);
    assert.equal(sent.filter(({ type }) => type === "complete").length, 1);
    await transport.stop();
    const before = sent.length;
    await session.submit("more");
    assert.equal(sent.length, before);
    await session.shutdown();
  });

  shows(["api/cleanup"], "a thousand connections that came and went leave nothing behind", async () => {
    const session = openSession([{ text: "a" }]).session;
    let listeners = 0;
    const { on, off } = session;
    session.on = ((...args: Parameters<typeof on>) => {
      listeners++;
      return on.apply(session, args);
    }) as typeof on;
    session.off = ((...args: Parameters<typeof off>) => {
      listeners--;
      return off.apply(session, args);
    }) as typeof off;
    let sent = 0;
    for (let count = 0; count < 1000; count++) {
      const { cleanup } = createWsHandler({ session, send: () => void sent++, ...(count % 2 === 0 && { after: 0 }) });
      cleanup();
      cleanup();
    }
    await session.submit("go");
    assert.deepEqual([listeners, sent], [0, 0]);
    await session.shutdown();
  });
});
