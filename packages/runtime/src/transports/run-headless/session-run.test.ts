import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { InteractiveSession } from "../../hosting/interactive-session.ts";
import { createScriptedProvider, type ScriptStep } from "../../model/scripted.ts";
import { validateTrajectory } from "../atif/check/validate.ts";
import { createAtifJsonlFormat } from "../atif/lines/jsonl-format.ts";
import type { TrajectoryEvent } from "../atif/lines/trajectory-events.ts";
import type { SessionRunConfig } from "./headless-config.ts";
import { CheckpointHistory } from "./message-history.ts";
import { runHeadless } from "./run-headless.ts";
import { TodoContinuation } from "./todo-continuation.ts";

const temp = mkdtempSync(join(tmpdir(), "outrider-session-run-"));
after(() => rmSync(temp, { recursive: true, force: true }));

const open = (replies: readonly ScriptStep[]) =>
  new InteractiveSession({ cwd: temp, outriderHome: join(temp, "home"), provider: createScriptedProvider(replies) });

async function run(session: InteractiveSession, options: Partial<SessionRunConfig> = {}) {
  const events: TrajectoryEvent[] = [];
  const outcome = await runHeadless({
    agent: session,
    sessionId: "ses-1",
    modelId: "gpt-4o",
    initialUserMessage: { content: "Go" },
    emitEvent: (event) => events.push(event),
    ...options,
  });
  const kinds = events.map((event) => (event.type === "step" ? `step ${event.step_id} ${event.source}` : event.type));
  return { events, outcome, kinds, session };
}

const withoutTime = (events: readonly TrajectoryEvent[]) => events.map(({ timestamp: _, ...event }) => event);

describe("runHeadless with a session", () => {
  const usage = { inputTokens: 7, outputTokens: 3, cacheReadTokens: 5 };

  it("tells a step for each answer of the turn", async () => {
    writeFileSync(join(temp, "a.txt"), "hi\n");
    const session = open([
      { text: "Looking.", calls: [{ name: "Read", input: { file_path: "a.txt" } }], usage },
      { text: "It says hi.", usage },
    ]);
    const { kinds, outcome, events } = await run(session, { atifOutputPath: join(temp, "session.json") });
    await session.shutdown();
    assert.deepEqual(kinds, ["metadata", "step 1 user", "turn-start", "step 2 agent", "turn-start", "step 3 agent"]);
    assert.deepEqual(outcome, { type: "completed", text: "It says hi." });
    assert.deepEqual(Reflect.get(events[3] ?? {}, "metrics"), { prompt_tokens: 7, completion_tokens: 3, cached_tokens: 5 });
    assert.deepEqual(validateTrajectory(JSON.parse(readFileSync(join(temp, "session.json"), "utf8"))).problems, []);
  });

  it("is interrupted with what it had said, and goes on until its list is done", async () => {
    const controller = new AbortController();
    const hanging = open([{ text: "Once upon", hang: true }]);
    hanging.on("text_delta", () => controller.abort());
    const aborted = await run(hanging, { abortSignal: controller.signal });
    await hanging.shutdown();
    assert.deepEqual(aborted.kinds.slice(-2), ["step 2 agent", "interrupt"]);

    const todos = (status: string) => ({ calls: [{ name: "TodoWrite", input: { todos: [{ content: "Test", status }] } }] });
    const session = open([todos("pending"), { text: "Later." }, todos("completed"), { text: "All done." }]);
    const todo = new TodoContinuation({ session });
    const { outcome, kinds } = await run(session, { onTodoReminder: () => todo.getReminder() });
    await session.shutdown();
    assert.deepEqual(outcome, { type: "completed", text: "All done." });
    assert.equal(kinds.filter((kind) => kind.endsWith("user")).length, 2);
  });

  it("says what a provider's failure was", async () => {
    const session = open([{ fail: { code: "provider-auth", message: "The key is wrong" } }]);
    const { outcome, kinds } = await run(session);
    await session.shutdown();
    assert.deepEqual([kinds.at(-1), outcome.type === "failed" && outcome.error.code], ["error", "provider-auth"]);
  });

  it("writes the lines that the command writes", async () => {
    const replies = [
      { text: "Looking.", calls: [{ name: "Read", input: { file_path: "a.txt" } }], usage },
      { text: "It says hi.", usage },
    ];
    writeFileSync(join(temp, "a.txt"), "hi\n");
    const { events, session } = await run(open(replies), { modelId: "scripted" });
    await session.shutdown();

    const other = open(replies);
    const format = await createAtifJsonlFormat({ sessionId: "ses-1" });
    let text = "";
    const reading = (async () => {
      for await (const event of other.events()) {
        text += format.event(event);
        if (event.type === "turn.ended") return;
      }
    })();
    const outcome = await other.submit("Go");
    await reading;
    text += await format.end(other.shown(outcome));
    await other.shutdown();
    const lines = text.trim().split("\n");
    assert.deepEqual(withoutTime(events), withoutTime(lines.map((line) => JSON.parse(line) as TrajectoryEvent)));
  });

  it("shows people the words that are meant for them, and keeps the caller's history", async () => {
    const history = new CheckpointHistory();
    const turns: unknown[] = [];
    const { events, session } = await run(open([{ text: "Done.", usage }]), {
      messageHistory: history,
      initialUserMessage: { content: "long words for the model", eventContent: "short" },
      onTurnComplete: (messages, counted, _snapshot, finishReason) =>
        void turns.push([messages.length, counted?.inputTokens, finishReason]),
    });
    await session.shutdown();
    assert.equal(Reflect.get(events[1] ?? {}, "message"), "short");
    assert.deepEqual(history.getAll(), [
      { role: "user", content: "long words for the model" },
      { role: "assistant", content: "Done." },
    ]);
    assert.deepEqual(turns, [[2, 7, "stop"]]);
  });

  it("begins with the last prompt of a history, and fails where there is none", async () => {
    const history = new CheckpointHistory();
    history.addUserMessage("From before");
    const going = await run(open([{ text: "Fine." }]), { messageHistory: history, initialUserMessage: undefined });
    await going.session.shutdown();
    assert.deepEqual([Reflect.get(going.events[1] ?? {}, "message"), going.outcome.type], ["From before", "completed"]);
    const none = await run(open([{ text: "Fine." }]), { initialUserMessage: undefined });
    await none.session.shutdown();
    assert.deepEqual([none.kinds, none.outcome.type], [["metadata", "error"], "failed"]);
  });

  it("stops after maxIterations requests, those between tool calls included", async () => {
    const look = (pattern: string): ScriptStep => ({
      text: `Looking for ${pattern}.`,
      calls: [{ name: "Glob", input: { pattern } }],
    });
    const { outcome, events, session } = await run(open([look("a"), { text: "One." }, look("b"), look("c"), look("d")]), {
      maxIterations: 4,
      onTodoReminder: async () => ({ hasReminder: true, message: "More" }),
    });
    await session.shutdown();
    assert.deepEqual(outcome, {
      type: "stopped",
      limit: "max-turns",
      text: "Looking for c.",
      reason: "Max iterations (4) reached",
    });
    assert.deepEqual(withoutTime(events.slice(-1)), [
      { type: "error", error: "Max iterations (4) reached", code: "MAX_ITERATIONS" },
    ]);
    assert.equal(events.filter(({ type }) => type === "turn-start").length, 4);
  });

  it("counts a reminder as an iteration", async () => {
    const { outcome, events, session } = await run(open([{ text: "One." }, { text: "Two." }, { text: "Three." }]), {
      maxIterations: 2,
      onTodoReminder: async () => ({ hasReminder: true, message: "More" }),
    });
    await session.shutdown();
    assert.deepEqual(outcome, { type: "stopped", limit: "max-turns", text: "Two.", reason: "Max iterations (2) reached" });
    assert.equal(Reflect.get(events.at(-1) ?? {}, "code"), "MAX_ITERATIONS");
  });

  it("rejects when its reader throws, and leaves no turn behind", async () => {
    const session = open([{ text: "Once upon", hang: true }]);
    const broken = runHeadless({
      agent: session,
      sessionId: "ses-1",
      modelId: "m",
      initialUserMessage: { content: "Go" },
      emitEvent: ({ type }) => {
        if (type === "turn-start") throw new Error("nobody reads");
      },
    });
    await assert.rejects(broken, /nobody reads/);
    assert.equal(session.isExecuting(), false);
    await session.shutdown();
  });

  it("refuses options that only another agent can have", async () => {
    const session = open([{ text: "Hi." }]);
    const config = { agent: session, sessionId: "s", modelId: "m", streamTimeoutMs: 5, shouldContinue: () => true };
    await assert.rejects(runHeadless(config), { code: "usage", message: /no shouldContinue, streamTimeoutMs where/ });
    await session.shutdown();
  });
});
