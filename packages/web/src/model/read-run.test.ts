import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readRun } from "./read-run.ts";

const atif = join(process.cwd(), "test/fixtures/atif/cases");
const lines = (...frames: readonly object[]): string => frames.map((frame) => JSON.stringify(frame)).join("\n");

for (const name of readdirSync(atif).filter((file) => /^valid.*\.json$/.test(file) && !/cont-/.test(file)))
  test(`every step of ${name} is told`, () => {
    const text = readFileSync(join(atif, name), "utf8");
    const { steps } = JSON.parse(text) as { steps: unknown[] };
    const run = readRun(text);
    assert.ok(run && run.source === "trajectory" && run.steps.length >= steps.length);
  });

const tool = { type: "tool_use", id: "t1", name: "Bash", input: { command: "false" } };
const frames = [
  { type: "system", subtype: "init", session_id: "abc", cwd: "/p", permissionMode: "default", claude_code_version: "2.1" },
  {
    type: "assistant",
    session_id: "abc",
    message: {
      id: "m1",
      model: "claude",
      content: [{ type: "text", text: "I try." }],
      usage: { input_tokens: 5, cache_read_input_tokens: 7, output_tokens: 1 },
    },
  },
  {
    type: "assistant",
    session_id: "abc",
    message: {
      id: "m1",
      model: "claude",
      content: [tool],
      usage: { input_tokens: 5, cache_read_input_tokens: 7, output_tokens: 2 },
    },
  },
  {
    type: "user",
    session_id: "abc",
    message: { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", is_error: true, content: "Exit code 1\nno" }] },
  },
  {
    type: "assistant",
    session_id: "abc",
    message: { id: "m2", model: "claude", content: [{ type: "text", text: "It fails." }] },
  },
];

test("lines of one answer are one step, and its result is in its call", () => {
  const run = readRun(
    lines(...frames, { type: "result", subtype: "success", result: "It fails always.", total_cost_usd: 0.25, duration_ms: 1200 }),
  );
  assert.deepEqual(
    [run?.source, run?.id, run?.totals.costUsd, run?.durationMs, run?.outcome],
    ["stream-json", "abc", 0.25, 1200, { state: "completed", what: "It fails always." }],
  );
  assert.deepEqual(
    run?.steps.map((step) => [step.text?.text, step.calls.map(({ status, result }) => [status, result])]),
    [
      ["I try.", [["error", "exit 1"]]],
      ["It fails.", []],
    ],
  );
  assert.deepEqual(run?.steps[0]?.usage, { input: 5, cached: 7, written: 0, output: 2 });
});

const failures = [
  [{ subtype: "error_max_turns", is_error: true }, "stopped", "the limit of turns was reached"],
  [{ subtype: "error_during_execution", is_error: true, errors: ["it broke", "twice"] }, "failed", "it broke; twice"],
  [{ subtype: "success", is_error: true, result: "API Error: 401" }, "failed", "API Error: 401"],
] as const;
for (const [result, state, what] of failures)
  test(`a result of ${result.subtype} that is an error is told as ${state}`, () => {
    const run = readRun(lines(...frames, { type: "result", ...result }));
    assert.deepEqual([run?.outcome.state, run?.outcome.what], [state, what]);
  });

test("one array of frames is read like lines, and lines that are none are left out", () => {
  assert.equal(readRun(JSON.stringify(frames))?.steps.length, 2);
  assert.equal(readRun(`noise\n${lines(...frames)}\n{"cut`)?.steps.length, 2);
});

test("a transcript without a result is unfinished and has the times of its lines", () => {
  const at = (seconds: number, frame: object): object => ({
    ...frame,
    timestamp: `2026-01-01T00:00:0${seconds}.000Z`,
    sessionId: "abc",
    version: "2.1",
  });
  const asked = { type: "user", message: { role: "user", content: "Try it" } };
  const run = readRun(lines(at(0, asked), ...frames.slice(1).map((frame, index) => at(index + 1, frame))));
  assert.deepEqual(
    [run?.source, run?.task, run?.outcome.state, run?.agent],
    ["transcript", "Try it", "unfinished", "Claude Code 2.1"],
  );
  assert.deepEqual(
    run?.steps.map((step) => step.at),
    [0, 1000, 4000],
  );
});

test("frames of a subagent are in the call that started it", () => {
  const task = {
    type: "assistant",
    message: {
      id: "m1",
      content: [{ type: "tool_use", id: "t9", name: "Task", input: { subagent_type: "Explore", prompt: "look" } }],
    },
  };
  const inner = {
    type: "assistant",
    parent_tool_use_id: "t9",
    message: { id: "m5", content: [{ type: "text", text: "inside" }] },
  };
  const back = { type: "user", message: { content: [{ type: "tool_result", tool_use_id: "t9", content: "found" }] } };
  const run = readRun(lines(task, inner, back, { type: "result", subtype: "success", result: "ok" }));
  assert.equal(run?.steps.length, 1);
  assert.deepEqual(
    [run?.steps[0]?.calls[0]?.subagent?.name, run?.steps[0]?.calls[0]?.subagent?.steps[0]?.text?.text],
    ["Explore", "inside"],
  );
});

for (const text of ["", "hello", "{}", "[]", '{"type":"system","subtype":"init"}', "[1,2]", '{"steps":1}'])
  test(`${JSON.stringify(text)} tells of no run`, () => assert.equal(readRun(text), undefined));

test("the task is what a person asked for, not the system prompt before it", () => {
  const steps = [
    { step_id: 1, source: "system", message: "You are an agent." },
    { step_id: 2, source: "user", message: "Fix it" },
    { step_id: 3, source: "agent", message: "Done." },
  ];
  assert.equal(readRun(JSON.stringify({ schema_version: "ATIF-v1.7", steps }))?.task, "Fix it");
});

test("numbers that cannot be are taken for unknown ones", () => {
  const run = readRun(
    lines(...frames, { type: "result", subtype: "success", result: "x", duration_ms: -5, total_cost_usd: 1e308 }),
  );
  assert.deepEqual([run?.durationMs, run?.totals.costUsd], [undefined, undefined]);
});

test("a call whose result is not among the lines does not run for ever", () => {
  const run = readRun(lines(...frames.slice(0, 3), ...frames.slice(4), { type: "result", subtype: "success", result: "Done." }));
  const [call] = run?.steps.flatMap((step) => step.calls) ?? [];
  assert.deepEqual([call?.status, call?.result, run?.totals.errors], ["interrupted", "No result", 0]);
});
