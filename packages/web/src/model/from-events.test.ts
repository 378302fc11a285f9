import assert from "node:assert/strict";
import { test } from "node:test";
import type { AgentEvent } from "@outrider/runtime";
import { fromEvents } from "./read-run.ts";
import { allSteps } from "./run-builder.ts";
import type { RunModel } from "./run-model.ts";

type Told = { readonly type: AgentEvent["type"]; readonly ms?: number; readonly [key: string]: unknown };
const began = Date.parse("2026-01-02T03:04:05.000Z");
const usage = { inputTokens: 100, outputTokens: 10, cacheReadTokens: 60, cacheWriteTokens: 30, reasoningTokens: 0 };
const opened: Told = { type: "session.started", cwd: "/p", version: "9", permissionMode: "default", resumed: false };

function runOf(told: readonly Told[], priceOf: () => number | null = () => 0.5): RunModel {
  const events = told.map(({ ms = 0, ...event }, at) => ({
    seq: at + 1,
    at: new Date(began + ms).toISOString(),
    sessionId: "s1",
    ...event,
  }));
  return fromEvents(events as unknown as AgentEvent[], { priceOf });
}

const prompt = (text: string, ms = 0): Told => ({
  type: "turn.started",
  ms,
  input: { role: "user", content: [{ type: "text", text }] },
});
const answer = (content: readonly unknown[], ms: number, durationMs = 100): Told => ({
  ...{ type: "message.ended", ms, durationMs, requestedModel: "m", messageId: `m${ms}` },
  message: { role: "assistant", content, model: { provider: "p", id: "m" }, finish: "stop", usage },
});
const says = (text: string): unknown => ({ type: "text", text });
const calls = (callId: string, name: string, input: unknown): unknown => ({ type: "tool-call", callId, name, input });
const started = (callId: string, ms: number): Told => ({ type: "tool.started", ms, callId, name: "", input: {} });
const ended = (callId: string, ms: number, facts: object = {}): Told => ({
  ...{ type: "tool.ended", ms, callId, name: "", status: "ok", durationMs: 50 },
  ...{ result: { content: [{ type: "text", text: "one\ntwo\n" }] }, ...facts },
});
const over = (outcome: object, ms = 900): Told => ({ type: "turn.ended", ms, outcome });

test("a prompt, an answer with a call and the last word are three steps, with their times", () => {
  const run = runOf([
    ...[opened, prompt("Fix it"), answer([says("I look."), calls("c1", "Bash", { command: "ls" })], 200)],
    ...[
      started("c1", 210),
      ended("c1", 260),
      answer([says("**Done.** More.")], 600),
      over({ type: "completed", text: "Done with it all. More." }),
    ],
  ]);
  assert.deepEqual(
    run.steps.map(({ n, kind, at, tookMs, text }) => ({ n, kind, at, tookMs, text: text?.text })),
    [
      { n: 1, kind: "prompt", at: 0, tookMs: undefined, text: "Fix it" },
      { n: 2, kind: "answer", at: 100, tookMs: 160, text: "I look." },
      { n: 3, kind: "answer", at: 500, tookMs: 100, text: "**Done.** More." },
    ],
  );
  const [call] = run.steps[1]?.calls ?? [];
  assert.deepEqual(
    { ...call, input: call?.input.text, output: call?.output?.text },
    {
      id: "c1",
      tool: "Bash",
      kind: "bash",
      preview: "ls",
      result: "2 lines",
      status: "ok",
      at: 210,
      tookMs: 50,
      input: "ls",
      output: "one\ntwo",
    },
  );
  assert.equal(run.steps[2]?.isFinal, true);
  assert.deepEqual(run.outcome, { state: "completed", what: "Done with it all." });
  assert.deepEqual(run.totals.usage, { input: 20, cached: 120, written: 60, output: 20 });
  assert.equal(run.totals.costUsd, 1);
  assert.deepEqual([run.totals.modelMs, run.totals.toolMs, run.totals.calls, run.totals.errors], [200, 50, 1, 0]);
  assert.deepEqual([run.id, run.task, run.durationMs, run.startedAt], ["s1", "Fix it", 900, "2026-01-02T03:04:05.000Z"]);
});

test("a price that nobody knows leaves the cost open, and is never taken for nothing", () => {
  assert.equal(runOf([opened, prompt("x"), answer([says("y")], 10)], () => null).totals.costUsd, undefined);
});

const endings = [
  {
    name: "a failure",
    outcome: { type: "failed", error: { code: "x", message: "The key is wrong\nmore", hint: "Set it" }, text: "" },
    state: "failed",
    what: "The key is wrong",
    cause: "Set it",
  },
  {
    name: "a limit",
    outcome: { type: "stopped", limit: "max-turns", text: "" },
    state: "stopped",
    what: "the limit of turns was reached",
  },
  {
    name: "a signal",
    outcome: { type: "cancelled", cause: "signal", text: "" },
    state: "interrupted",
    what: "a signal ended the process",
  },
];
for (const { name, outcome, ...expected } of endings)
  test(`${name} is told as what it is`, () => {
    assert.deepEqual(runOf([opened, prompt("x"), over(outcome)]).outcome, expected);
  });

test("a log without an end is unfinished, also when an earlier turn had ended", () => {
  const run = runOf([opened, prompt("a"), over({ type: "completed", text: "fine" }), prompt("b", 950)]);
  assert.equal(run.outcome.state, "unfinished");
});

test("a call that failed is named as the cause unless all went well in the end", () => {
  const failing = [
    opened,
    prompt("x"),
    answer([calls("c1", "Bash", { command: "npm test" })], 100),
    ended("c1", 300, { status: "error", details: { exitCode: 2 } }),
  ];
  const stopped = runOf([...failing, over({ type: "stopped", limit: "max-turns", text: "" })]);
  assert.deepEqual(stopped.outcome.failure, { step: 2, tool: "Bash", preview: "npm test", result: "exit 2" });
  assert.equal(runOf([...failing, over({ type: "completed", text: "ok then" })]).outcome.failure, undefined);
  assert.equal(stopped.totals.errors, 1);
});

test("a call without an end has an unknown outcome once the run began it, and counts as an error only if it never ends", () => {
  const run = runOf([
    opened,
    prompt("x"),
    answer([calls("c1", "Bash", { command: "ls" }), calls("c2", "Read", { file_path: "/p/a.ts" })], 100),
    started("c1", 120),
  ]);
  assert.deepEqual(
    run.steps[1]?.calls.map(({ status, preview }) => [status, preview]),
    [
      ["running", "ls"],
      ["unknown", "a.ts"],
    ],
  );
});

test("edits are told by file, with the steps that made them, and only those that were made", () => {
  const diff = [
    { type: "hunk", text: "@@" },
    { type: "remove", text: "a" },
    { type: "add", text: "b", line: 3 },
  ];
  const run = runOf([
    ...[
      opened,
      prompt("x"),
      answer([calls("c1", "Edit", { file_path: "/p/a.ts" }), calls("c2", "Edit", { file_path: "/p/b.ts" })], 100),
    ],
    ended("c1", 200, { details: { file: "/p/a.ts", diff } }),
    ended("c2", 200, { status: "denied", details: { file: "/p/b.ts", diff } }),
    ...[
      answer([calls("c3", "Edit", { file_path: "/p/a.ts" })], 300),
      ended("c3", 400, { details: { file: "/p/a.ts", diff, created: true } }),
    ],
  ]);
  assert.deepEqual(
    run.files.map(({ path, added, removed, edits }) => ({ path, added, removed, steps: edits.map(({ step }) => step) })),
    [{ path: "a.ts", added: 2, removed: 2, steps: [2, 3] }],
  );
  assert.deepEqual([run.totals.added, run.totals.removed], [2, 2]);
  assert.deepEqual(run.files[0]?.edits[0]?.edit.rows.at(-1), { sign: "+", text: "b", line: 3 });
});

test("what a person decided, and how long that took, is on record; what the mode lets is not", () => {
  const run = runOf([
    ...[opened, prompt("x"), answer([calls("c1", "Bash", { command: "rm x" }), calls("c2", "Bash", { command: "ls" })], 100)],
    { type: "permission.requested", ms: 200, requestId: "r", callId: "c1", tool: "Bash", input: {}, reason: "" },
    { type: "permission.resolved", ms: 1200, requestId: "r", callId: "c1", decision: "deny", by: "user", reason: "no" },
    { type: "permission.decided", ms: 1200, callId: "c1", tool: "Bash", effect: "deny", by: "user", reason: "no" },
    { type: "permission.decided", ms: 1200, callId: "c2", tool: "Bash", effect: "allow", by: "mode", reason: "" },
    ended("c1", 1250, { status: "denied" }),
  ]);
  assert.deepEqual(run.permissions, [
    { step: 2, tool: "Bash", preview: "rm x", allowed: false, by: "user", reason: "no", waitMs: 1000 },
  ]);
  assert.equal(run.totals.waitMs, 1000);
  assert.deepEqual(
    run.steps[1]?.calls[0]?.notes?.map((note) => note.kind),
    ["denied"],
  );
});

test("what a subagent does is in its call, and its cost in the whole", () => {
  const run = runOf([
    ...[opened, prompt("x"), answer([calls("c1", "Task", { description: "Look" })], 100)],
    {
      type: "task.started",
      ms: 110,
      taskId: "t",
      callId: "c1",
      agent: "Explore",
      description: "Look",
      prompt: "Look around",
      model: { provider: "p", id: "small" },
    },
    { ...answer([says("found")], 300), taskId: "t" },
    { type: "task.ended", ms: 310, taskId: "t", callId: "c1", durationMs: 200 },
    ended("c1", 320),
  ]);
  const [call] = run.steps[1]?.calls ?? [];
  assert.equal(call?.result, "2 steps");
  assert.deepEqual(
    [call?.subagent?.name, call?.subagent?.model, call?.subagent?.durationMs, call?.subagent?.costUsd],
    ["Explore", "small", 200, 0.5],
  );
  assert.equal(allSteps(run.steps).length, 4);
  assert.equal(run.totals.costUsd, 1);
  assert.equal(run.totals.subagentMs, 200);
});

test("retries, hooks, summaries and changes are told where they happened", () => {
  const run = runOf([
    ...[opened, prompt("x")],
    { type: "retry.scheduled", messageId: "m", attempt: 1, maxRetries: 3, delayMs: 40, error: { message: "529" } },
    { type: "retry.scheduled", messageId: "m", attempt: 2, maxRetries: 3, delayMs: 60, error: { message: "529" } },
    answer([calls("c1", "Bash", { command: "ls" })], 300),
    {
      type: "hook.ended",
      hookId: "h",
      event: "PreToolUse",
      name: "check",
      callId: "c1",
      status: "blocked",
      durationMs: 7,
      stdout: "",
      stderr: "",
    },
    {
      type: "compaction.ended",
      ms: 400,
      compactionId: "k",
      preTokens: 20_000,
      durationMs: 5,
      result: { type: "compacted", replaced: 4, summary: "so far", postTokens: 900, preface: "", files: [] },
    },
    { type: "session.changed", ms: 500, model: { provider: "p", id: "other" } },
    { type: "warning.raised", ms: 500, message: "mind the gap" },
  ]);
  assert.deepEqual(run.steps[1]?.retries, { count: 2, waitMs: 100, why: "529" });
  assert.deepEqual(run.hooks, [{ event: "PreToolUse", name: "check", runs: 1, failed: 0, blocked: 1, ms: 7 }]);
  assert.deepEqual(
    run.steps.slice(2).map(({ rule }) => [rule?.kind, rule?.title]),
    [
      ["compaction", "Compaction · 20 k → 900 tokens, 4 messages summarised"],
      ["change", "Model changed to other"],
      ["warning", "mind the gap"],
    ],
  );
});

test("what is too long is kept by both ends, and masks are counted", () => {
  const long = `${"line\n".repeat(40_000)}the end`;
  const run = runOf([
    opened,
    prompt("x"),
    answer([calls("c1", "Bash", { command: "ls" })], 100),
    ended("c1", 200, { result: { content: [{ type: "text", text: `${long} [redacted:TOKEN]` }] } }),
  ]);
  const output = run.steps[1]?.calls[0]?.output;
  assert.ok(output?.cut);
  assert.ok(
    output.text.startsWith("line\n") && output.text.length < 64 * 1024 && output.cut.tail.endsWith("the end [redacted:TOKEN]"),
  );
  assert.equal(output.text.split("\n").length - 1 + output.cut.lines + output.cut.tail.split("\n").length, 40_001);
  assert.match(run.notes.join(" "), /1 value is cut at 64 kB.*1 secret is masked \(TOKEN\)/);
});

test("what a command answers is a step, once, and a question that its turn leaves open waits for nobody", () => {
  const cost = { ...prompt("/cost"), command: "cost" };
  const told = runOf([opened, cost, over({ type: "completed", text: "$0.10 so far" })]);
  assert.deepEqual(
    told.steps.map(({ kind, text }) => [kind, text?.text]),
    [
      ["prompt", "/cost"],
      ["answer", "$0.10 so far"],
    ],
  );
  const skill = runOf([
    ...[opened, { ...prompt("/review"), command: "review" }, answer([says("Fine.")], 200)],
    over({ type: "completed", text: "Fine." }),
  ]);
  assert.equal(skill.steps.length, 2);

  const cut = runOf([
    ...[opened, prompt("go"), answer([calls("c1", "Bash", { command: "make" })], 200), started("c1", 210)],
    { type: "permission.requested", ms: 220, requestId: "r1", callId: "c1", tool: "Bash", input: {}, reason: "asks" },
    over({ type: "failed", text: "", error: { code: "closed", message: "killed", retryable: false } }),
  ]);
  assert.equal(cut.steps[1]?.calls[0]?.status, "unknown");
});

test("how an earlier turn ended stands between it and the next one; the last end is the run's", () => {
  const run = runOf([
    ...[opened, prompt("One"), answer([says("I try.")], 200), over({ type: "failed", error: { code: "x", message: "no room" } })],
    ...[prompt("Two", 1000), answer([says("Done.")], 1200), over({ type: "completed", text: "Done." }, 1300)],
    ...[prompt("Three", 1400), over({ type: "stopped", limit: "max-turns", text: "" }, 1500)],
  ]);
  assert.deepEqual(
    run.steps.map(({ rule, text }) => rule?.title ?? text?.text),
    ["One", "I try.", "The turn failed: no room", "Two", "Done.", "Three"],
  );
  assert.equal(run.outcome.state, "stopped");
});

test("a turn that failed before any answer names the model that was asked, and no cost", () => {
  const run = runOf([
    { ...opened, model: { provider: "p", id: "asked" }, commit: "0123abcd" },
    prompt("Fix it"),
    over({ type: "failed", error: { code: "provider-bad-request", message: "No credit." }, text: "" }),
  ]);
  const told = [run.models, run.totals.costUsd, run.outcome.state, run.commit];
  assert.deepEqual(told, [["asked"], undefined, "failed", "0123abcd"]);
});

test("a call that was cut off with its turn does not run any more", () => {
  const told = [opened, prompt("Fix it"), answer([calls("c1", "Bash", { command: "sleep 600" })], 200), started("c1", 210)];
  const lastCall = (run: RunModel): unknown => {
    const { status, result } = run.steps[1]?.calls[0] ?? {};
    return { status, result };
  };
  assert.deepEqual(lastCall(runOf(told)), { status: "running", result: "" });
  const cut = runOf([...told, over({ type: "cancelled", cause: "abort" })]);
  assert.deepEqual(lastCall(cut), { status: "interrupted", result: "No result" });
});

test("only what was waited for is told as waiting", () => {
  const waitOf = (by: string, ms: number): number | undefined =>
    runOf([
      ...[opened, prompt("Fix it"), answer([calls("c1", "Bash", { command: "ls" })], 200)],
      { type: "permission.requested", ms: 210, requestId: "r", callId: "c1", tool: "Bash", input: {}, reason: "" },
      { type: "permission.resolved", ms: 210 + ms, requestId: "r", callId: "c1", decision: "deny", by, reason: "" },
    ]).steps[1]?.calls[0]?.waitMs;
  assert.deepEqual([waitOf("policy", 4), waitOf("policy", 60_000), waitOf("user", 4)], [undefined, 60_000, 4]);
});

test("a run takes until its last turn ends, not until somebody closes the session", () => {
  const told = [opened, prompt("Fix it"), answer([says("Done.")], 600), over({ type: "completed", text: "Done." }, 900)];
  assert.equal(runOf([...told, { type: "session.ended", ms: 600_900, reason: "idle" }]).durationMs, 900);
});

test("what a call waited for an answer is no part of the time it ran", () => {
  const asked = (more: readonly Told[]): RunModel =>
    runOf([
      ...[opened, prompt("Fix it"), answer([calls("c1", "Bash", { command: "ls" })], 200)],
      { type: "permission.requested", ms: 210, requestId: "r", callId: "c1", tool: "Bash", input: {}, reason: "" },
      { type: "permission.resolved", ms: 9_210, requestId: "r", callId: "c1", decision: "allow", by: "user", reason: "" },
      ...more,
    ]);
  const ran = asked([started("c1", 9_220), ended("c1", 9_520, { durationMs: 9_310 })]).steps[1];
  assert.deepEqual([ran?.calls[0]?.tookMs, ran?.calls[0]?.waitMs, ran?.tookMs], [300, 9_000, 9_420]);
  const refused = asked([ended("c1", 9_220, { durationMs: 9_010, status: "denied" })]).steps[1];
  assert.equal(refused?.calls[0]?.tookMs, 10);
});
