import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createFileStore } from "../journal/file-store.ts";
import { createMemoryStore } from "../journal/memory-store.ts";
import { createScriptedProvider, type ScriptedReply, type ScriptStep } from "../model/scripted.ts";
import type { SessionOptions } from "./session-options.ts";
import { chatEntryToMessage, isChatEntry } from "./past/history.ts";
import { InteractiveSession } from "./interactive-session.ts";

const root = mkdtempSync(join(tmpdir(), "outrider-session-"));
after(() => rmSync(root, { recursive: true, force: true }));

function open(replies: readonly ScriptStep[], options: Partial<SessionOptions> = {}) {
  const provider = createScriptedProvider(replies, { contextWindow: 1000 });
  return { provider, session: new InteractiveSession({ cwd: root, provider, ...options }) };
}

function record(session: InteractiveSession): string[] {
  const log: string[] = [];
  session.on("thinking", (on) => log.push(`thinking ${on}`));
  session.on("text_delta", (delta) => log.push(`text ${delta.trim()}`));
  session.on("tool_start", (state) => log.push(`start ${state.toolName} ${state.toolCallId}`));
  session.on("tool_end", (state) => log.push(`end ${state.toolName} ${state.toolCallId} ${state.result}`));
  session.on("context_update", (state) => log.push(`context ${state.usedTokens}/${state.maxTokens}`));
  session.on("complete", (result) => log.push(`complete ${result.response}`));
  session.on("interrupted", (result) => log.push(`interrupted ${result.response}`));
  session.on("error", (error) => log.push(`error ${error.message}`));
  return log;
}

describe("a session's id", () => {
  it("names folders: one that would lead elsewhere is refused, though the journal is in memory", async () => {
    for (const sessionId of ["x/../../victim", "..", "", "a\0b"]) {
      const { session } = open([{ text: "a" }], { sessionId });
      await assert.rejects(session.open(), { code: "usage", message: /^A session id is letters/ });
      await session.shutdown();
    }
  });
});

describe("a permission question of a session that says somebody answers", () => {
  const asks: readonly ScriptStep[] = [
    { calls: [{ name: "Write", input: { file_path: "x.txt", content: "" } }] },
    { text: "end" },
  ];
  const ask = async (prepare: (session: InteractiveSession) => void): Promise<unknown> => {
    const { session, provider } = open(asks, { answersPermissions: true });
    prepare(session);
    assert.equal((await session.submit("go")).type, "completed");
    await session.shutdown();
    return JSON.stringify(provider.requests[1]?.messages.at(-1));
  };

  it("is answered with no where nobody hears it", async () => {
    assert.match(String(await ask(() => {})), /nobody listens to permission_request or reads the events/);
    const unasked = await ask((session) => void session.events({ types: ["turn.ended"] }));
    assert.match(String(unasked), /nobody listens/);
  });

  it("is answered with no when everybody who was asked has thrown, and not before", async (t) => {
    t.mock.method(process, "emitWarning", () => {});
    const broken = async (): Promise<never> => await Promise.reject(new Error("asker failed"));
    assert.match(String(await ask((session) => session.on("permission_request", broken))), /has thrown: asker failed/);
    const second = await ask((session) =>
      session
        .on("permission_request", broken)
        .on("permission_request", ({ requestId }) =>
          setImmediate(() => session.answerPermission(requestId, { decision: "deny", message: "a person's no" })),
        ),
    );
    assert.match(String(second), /a person's no/);
  });
});

describe("a store that fails", () => {
  it("is said to be it, when it is opened and when it is closed", async () => {
    const refuses = { ...createMemoryStore(), open: async () => await Promise.reject(new Error("locked")) };
    const closed = open([{ text: "x" }], { sessionStore: refuses }).session;
    const outcome = await closed.submit("go");
    assert.equal(outcome.type === "failed" && outcome.error.code, "storage-failed");
    await closed.shutdown();
    const memory = createMemoryStore();
    const sessionStore = {
      ...memory,
      open: async (id: string) => {
        const journal = await memory.open(id);
        const { events, location, warnings } = journal;
        const close = async (): Promise<never> => await Promise.reject(new Error("stuck"));
        return { events, location, warnings, append: journal.append.bind(journal), close };
      },
    };
    const { session } = open([{ text: "x" }], { sessionStore });
    await session.submit("go");
    await assert.rejects(session.shutdown(), { code: "storage-failed", message: /Cannot close the journal: stuck/ });
  });
});

describe("what listeners and the history tell of tools", () => {
  it("names the first argument that says something, whatever the input is", async () => {
    const calls = [
      { name: "Grep", input: { path: ".", pattern: "x" } },
      { name: "Read", input: { offset: 1, file_path: "nowhere.txt" } },
      { name: "Odd", input: { n: [1, 2], other: "x" } },
      { name: "Odd", input: {} },
      { name: "Odd", input: null },
      { name: "Odd", input: "words" },
    ];
    const { session } = open([{ calls: calls as NonNullable<ScriptedReply["calls"]> }, { text: "done" }]);
    const seen: string[] = [];
    session.on("tool_start", ({ toolName, firstArg }) => seen.push(`${toolName} ${firstArg}`));
    await session.submit("go");
    assert.deepEqual(seen, ["Grep .", "Read nowhere.txt", "Odd [1,2]", "Odd ", "Odd ", "Odd "]);
    const summaries = session.getFullHistory().filter(({ type }) => type === "tool-summary");
    assert.equal(summaries.length, 1);
    await session.shutdown();
  });

  it("has a summary of tools only for turns that used some", async () => {
    const { session } = open([{ calls: [{ name: "Glob", input: { pattern: "*.none" } }] }, { text: "one" }, { text: "two" }]);
    await session.submit("first");
    await session.submit("second");
    const summaries = session.getFullHistory().filter(({ type }) => type === "tool-summary");
    assert.deepEqual(
      summaries.map(({ data }) => (data as { summary: string }).summary),
      ["1 tool call (Glob)"],
    );
    await session.shutdown();
  });
});

describe("InteractiveSession", () => {
  it("tells its listeners the story of a turn", async () => {
    writeFileSync(join(root, "a.txt"), "hello\n");
    const { session } = open([
      {
        text: "Reading.",
        calls: [{ name: "Read", input: { file_path: "a.txt" }, callId: "c1" }],
        usage: { inputTokens: 90, outputTokens: 10 },
      },
      { text: "Hello.", usage: { inputTokens: 150, outputTokens: 50 } },
    ]);
    const log = record(session);
    const outcome = await session.submit("what is in a.txt?");
    assert.deepEqual(outcome, { type: "completed", text: "Hello." });
    assert.deepEqual(log, [
      "thinking true",
      "text Reading.",
      "context 100/1000",
      "start Read c1",
      "end Read c1 success",
      "text Hello.",
      "context 200/1000",
      "thinking false",
      "complete Hello.",
    ]);
    assert.deepEqual(session.getContextState(), {
      usedTokens: 200,
      maxTokens: 1000,
      usedPercentage: 20,
      remainingPercentage: 80,
    });
    await session.shutdown();
  });

  it("shows a refused call as one that began and was denied", async () => {
    const { session } = open([{ calls: [{ name: "Bash", input: { command: "touch x" }, callId: "c1" }] }, { text: "No." }]);
    const log = record(session);
    await session.submit("go");
    assert.deepEqual(
      log.filter((line) => /start|end/.test(line)),
      ["start Bash c1", "end Bash c1 denied"],
    );
    await session.shutdown();
  });

  it("keeps a history of messages and events with tool and usage summaries", async () => {
    writeFileSync(join(root, "edit.txt"), "one\ntwo\n");
    const { session } = open(
      [
        { calls: [{ name: "Read", input: { file_path: "edit.txt" } }] },
        { calls: [{ name: "Edit", input: { file_path: "edit.txt", old_string: "two", new_string: "2" } }] },
        { text: "Done.", usage: { inputTokens: 100, outputTokens: 20 } },
      ],
      { permissionMode: "acceptEdits" },
    );
    await session.submit("expanded prompt", "/edit");
    const history = session.getFullHistory();
    assert.deepEqual(
      history.map((entry) => `${entry.category}:${entry.type}`),
      [
        "chat:user",
        "chat:assistant",
        "event:tool-start",
        "event:tool-end",
        "chat:tool",
        "chat:assistant",
        "event:tool-start",
        "event:tool-end",
        "chat:tool",
        "chat:assistant",
        "event:tool-summary",
        "event:usage-summary",
      ],
    );
    assert.deepEqual(history.filter(isChatEntry).map(chatEntryToMessage), session.getMessages());
    const [user, summary, usage] = [history[0], history.at(-2), history.at(-1)];
    assert.equal(user?.type === "user" && user.data.displayInput, "/edit");
    assert.ok(summary?.type === "tool-summary");
    assert.equal(summary.data.summary, "2 tool calls (Read, Edit)");
    assert.deepEqual(
      summary.data.tools[1]?.diffLines
        ?.filter((line) => line.type === "add" || line.type === "remove")
        .map(({ type, text }) => [type, text]),
      [
        ["remove", "two"],
        ["add", "2"],
      ],
    );
    assert.ok(usage?.type === "usage-summary");
    assert.deepEqual(
      [usage.data.promptTokens, usage.data.completionTokens, usage.data.totalTokens, usage.data.kind],
      [100, 20, 120, "exact"],
    );
    await session.shutdown();
  });

  it("lets prompts wait as far as it has room, refuses the next, and starts the waiting ones by itself", async () => {
    const { session, provider } = open([{ text: "first", delayMs: 30 }, { text: "second" }], { inbox: { maxPrompts: 1 } });
    const first = session.submit("one");
    const second = session.submit("two", "shown two");
    await assert.rejects(session.submit("three"), { code: "busy", retryable: true });
    assert.equal(session.getPendingPrompt(), "shown two");
    assert.equal(session.isExecuting(), true);
    assert.deepEqual([(await first).text, (await second).text], ["first", "second"]);
    assert.equal(provider.requests.length, 2);
    assert.equal(session.getPendingPrompt(), null);
    await session.shutdown();
  });

  it("drops the waiting prompt on cancelQueue and goes on with the running one", async () => {
    const { session, provider } = open([{ text: "first", delayMs: 20 }]);
    const first = session.submit("one");
    const second = session.submit("two");
    session.cancelQueue();
    assert.deepEqual(await second, { type: "cancelled", cause: "abort", text: "" });
    assert.equal((await first).type, "completed");
    assert.equal(provider.requests.length, 1);
    await session.shutdown();
  });

  it("aborts the running turn and the waiting prompt, and takes the next one", async () => {
    const { session } = open([{ text: "never ends", hang: true }, { text: "next" }]);
    const log = record(session);
    const first = session.submit("one");
    const second = session.submit("two");
    session.on("text_delta", (delta) => delta.includes("ends") && session.abort());
    assert.deepEqual(
      [await first, (await second).type],
      [{ type: "cancelled", cause: "abort", text: "never ends" }, "cancelled"],
    );
    assert.equal(log.at(-1), "interrupted never ends");
    assert.deepEqual(await session.submit("three"), { type: "completed", text: "next" });
    await session.shutdown();
  });

  it("knows the text and the tools of the moment", async () => {
    const { session } = open(
      [{ text: "Running.", calls: [{ name: "Bash", input: { command: "echo hi" }, callId: "c1" }] }, { text: "one two" }],
      { allowedTools: ["Bash(echo hi)"] },
    );
    const moments: unknown[] = [];
    session.on("tool_start", () =>
      moments.push(session.getActiveTools().map((state) => [state.toolName, state.firstArg, state.isRunning])),
    );
    session.on("text_delta", () => moments.push(session.getStreamingText()));
    await session.submit("go");
    assert.deepEqual(moments, ["Running.", [["Bash", "echo hi", true]], "one ", "one two"]);
    assert.deepEqual([session.getStreamingText(), session.getActiveTools()], ["", []]);
    await session.shutdown();
  });

  it("goes on from the store with its history, name and files", async () => {
    const store = createFileStore(join(root, "sessions"));
    const first = open([{ text: "I am here." }], { sessionStore: store, sessionId: "keep-1" });
    await first.session.submit("hello");
    await first.session.setName("greeting");
    await first.session.shutdown();
    const second = open([{ text: "Still here." }], { sessionStore: store, resumeSessionId: "keep-1" });
    await second.session.submit("and now?");
    assert.deepEqual(
      second.provider.requests[0]?.messages.map((message) => message.role),
      ["user", "assistant", "user"],
    );
    assert.equal(second.session.getName(), "greeting");
    assert.equal(second.session.getFullHistory().filter((entry) => entry.category === "chat").length, 4);
    await second.session.shutdown();
    const lines = readFileSync(join(root, "sessions/keep-1.jsonl"), "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      lines.map((line) => line.seq),
      [...lines.map((line) => line.seq)].sort((a, b) => a - b),
    );
  });

  it("shows the history of a resumed session as it was, and results with the history of their time", async () => {
    writeFileSync(join(root, "a.txt"), "hello\n");
    const store = createFileStore(join(root, "sessions"));
    const calls = [{ name: "Read", input: { file_path: "a.txt" }, callId: "c1" }];
    const first = open([{ text: "Reading.", calls }, { text: "Hello." }], { sessionStore: store, sessionId: "keep-2" });
    await first.session.submit("read it");
    const before = first.session.getFullHistory();
    await first.session.shutdown();
    const second = open([{ text: "One." }, { text: "Two." }], { sessionStore: store, resumeSessionId: "keep-2" });
    const results: { readonly history: readonly { readonly id: string }[] }[] = [];
    second.session.on("complete", (result) => results.push(result));
    await second.session.submit("one");
    await second.session.submit("two");
    const after = second.session.getFullHistory();
    assert.deepEqual(after.slice(0, before.length), before);
    assert.deepEqual(
      results.map(({ history }) => history.length),
      [before.length + 2, before.length + 4],
    );
    assert.equal(new Set(after.map(({ id }) => id)).size, after.length);
    assert.deepEqual(
      [...(await second.session.past("turn.started"))].map(({ input }) => input.content),
      [[{ type: "text", text: "read it" }]],
    );
    await second.session.shutdown();
  });

  it("refuses a taken id, an unknown one to resume, and a prompt after shutdown", async () => {
    const store = createFileStore(join(root, "sessions-2"));
    const first = open([{ text: "ok" }], { sessionStore: store, sessionId: "taken" });
    await first.session.submit("hello");
    await first.session.shutdown();
    await assert.rejects(first.session.submit("again"), { code: "closed" });
    const taken = await open([], { sessionStore: store, sessionId: "taken" }).session.submit("x");
    const unknown = await open([], { sessionStore: store, resumeSessionId: "nobody" }).session.submit("x");
    assert.deepEqual(
      [taken, unknown].map((outcome) => outcome.type === "failed" && outcome.error.code),
      ["usage", "not-found"],
    );
  });

  it("does not let a listener that throws stop the turn or the process, and reports it once", async () => {
    const { session } = open([{ text: "fine words come in pieces" }]);
    const events = session.events();
    const warned: Error[] = [];
    const hear = (warning: Error): void => void warned.push(warning);
    process.on("warning", hear);
    session.on("text_delta", () => {
      throw new Error("listener bug");
    });
    const outcome = await session.submit("go");
    await session.shutdown();
    await new Promise((resolve) => setImmediate(resolve)); // Node tells of warnings between two rounds
    process.off("warning", hear);
    const told: string[] = [];
    for await (const event of events) if (event.type === "warning.raised") told.push(event.message);
    assert.equal(outcome.type, "completed");
    assert.deepEqual([warned.map(({ name }) => name), told.length], [["OutriderListenerError"], 1]);
    assert.match(told[0] ?? "", /^A listener of "text_delta" has thrown: Error: listener bug\n {4}at /);
  });

  it("gives child processes no secrets", async () => {
    const { session } = open([{ calls: [{ name: "Bash", input: { command: "env" }, callId: "c1" }] }, { text: "ok" }], {
      allowedTools: ["Bash"],
    });
    let output = "";
    session.on("tool_end", (state) => {
      output = state.toolResultData ?? "";
    });
    await session.submit("go");
    assert.match(output, /^PATH=/m);
    assert.doesNotMatch(output, /API_KEY|TOKEN=/);
    await session.shutdown();
  });
});
