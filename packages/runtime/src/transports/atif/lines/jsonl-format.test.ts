import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { after, describe, it } from "node:test";
import { createScriptedProvider, type ScriptStep } from "../../../model/scripted.ts";
import type { SessionOptions } from "../../../session/session-options.ts";
import { InteractiveSession } from "../../../session/interactive-session.ts";
import { LineOutput } from "../../headless/line-output.ts";
import { runPrompt } from "../../headless/run-prompt.ts";
import { createAtifJsonlFormat } from "./jsonl-format.ts";
import { StepLines } from "./step-lines.ts";
import type { TrajectoryEvent } from "./trajectory-events.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-jsonl-"));
writeFileSync(join(folder, "a.txt"), "hi\n");
after(() => rmSync(folder, { recursive: true, force: true }));

const read = { name: "Read", input: { file_path: "a.txt" } };
const at = "2026-04-03T10:00:00.000Z";

async function linesOf(
  replies: readonly ScriptStep[],
  options: Partial<SessionOptions> = {},
  prepare: (session: InteractiveSession) => void = () => {},
) {
  const now = () => Date.parse(at);
  const session = new InteractiveSession({
    cwd: folder,
    provider: createScriptedProvider(replies),
    sessionId: "s1",
    now,
    ...options,
  });
  prepare(session);
  const stream = new PassThrough();
  const format = await createAtifJsonlFormat({ sessionId: session.id, priceOf: () => 0.5, now });
  await runPrompt(session, "Go", { format, output: new LineOutput(stream) });
  await session.shutdown();
  stream.end();
  const text = (await stream.toArray()).join("");
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

const kinds = (lines: { type: string; source?: string; state?: string; event?: string }[]) =>
  lines.map(({ type, source, state, event }) => [type, source ?? state ?? event].filter(Boolean).join(" "));

describe("the atif-jsonl format", () => {
  it("writes the lines of a run, each step whole", async () => {
    const usage = { inputTokens: 520, outputTokens: 80, cacheReadTokens: 500 };
    const lines = await linesOf([
      { text: "I'll look.", calls: [read], usage },
      { reasoning: "Hm.", text: "It says hi.", usage },
    ]);
    const content: string = lines[3].observation.results[0].content;
    assert.match(content, /hi/);
    const metrics = { prompt_tokens: 520, completion_tokens: 80, cached_tokens: 500, cost_usd: 0.5 };
    assert.deepEqual(lines, [
      {
        type: "metadata",
        timestamp: at,
        session_id: "s1",
        agent: { name: "outrider", version: "0.0.0-test", model_name: "scripted" },
      },
      { type: "step", step_id: 1, timestamp: at, source: "user", message: "Go" },
      { type: "turn-start", timestamp: at, phase: "new-turn" },
      {
        type: "step",
        step_id: 2,
        timestamp: at,
        source: "agent",
        message: "I'll look.",
        model_name: "scripted",
        tool_calls: [{ tool_call_id: "call_1_1", function_name: "Read", arguments: { file_path: "a.txt" } }],
        observation: { results: [{ source_call_id: "call_1_1", content }] },
        metrics,
      },
      { type: "turn-start", timestamp: at, phase: "intermediate-step" },
      {
        type: "step",
        step_id: 3,
        timestamp: at,
        source: "agent",
        message: "It says hi.",
        model_name: "scripted",
        reasoning_content: "Hm.",
        metrics,
      },
    ]);
  });

  it("tells approvals that were asked for, and refusals", async () => {
    const write = { name: "Write", input: { file_path: "b.txt", content: "b" } };
    const asked = await linesOf([{ calls: [write] }, { text: "ok" }], { answersPermissions: true }, (session) => {
      session.on("permission_request", ({ requestId }) => session.answerPermission(requestId, "allow"));
    });
    assert.deepEqual(kinds(asked).slice(3, 6), ["approval pending", "approval approved", "step agent"]);
    const denied = await linesOf([{ calls: [write] }, { text: "ok" }]);
    assert.deepEqual(kinds(denied).slice(3, 5), ["approval pending", "approval denied"]);
  });

  it("ends with one line that says why it did not go well", async () => {
    const failed = await linesOf([{ calls: [read] }, { fail: { code: "provider-auth", message: "The key is wrong" } }]);
    assert.deepEqual(
      failed.slice(-2).map(({ type, error, code }) => [type, error, code]),
      [
        ["step", undefined, undefined],
        ["error", "The key is wrong", "provider-auth"],
      ],
    );
    assert.equal(failed.filter(({ type }) => type === "turn-start").length, 1);
    const silent = await linesOf([{ fail: { code: "provider-timeout", message: "Nothing came" } }]);
    assert.equal(silent.at(-1)?.code, "TIMEOUT");
    const stopped = await linesOf([{ calls: [read] }, { text: "never" }], { maxTurns: 1 });
    assert.equal(stopped.at(-1)?.code, "MAX_ITERATIONS");
    const interrupted = await linesOf([{ text: "Once upon", hang: true }], {}, (session) => {
      session.on("text_delta", () => session.abort());
    });
    assert.deepEqual(kinds(interrupted).slice(-2), ["step agent", "interrupt"]);
  });

  it("tells that the session waits for its summary, and when it no longer does", async () => {
    const long = "word ".repeat(4000);
    const usage = { inputTokens: 20_000, outputTokens: 20 };
    const session = new InteractiveSession({
      cwd: folder,
      provider: createScriptedProvider([
        { text: long, usage },
        { text: long, usage },
        { text: "They talked.", usage },
      ]),
    });
    await session.submit(long);
    await session.submit("And now?");
    const lines = new StepLines({ sessionId: session.id });
    const told: TrajectoryEvent[] = [];
    const events = session.events();
    const reading = (async () => {
      for await (const event of events) told.push(...lines.apply(event));
    })();
    assert.ok(await session.compact());
    await session.shutdown();
    await reading;
    assert.deepEqual(
      told.flatMap((line) =>
        line.type === "compaction" ? [[line.event, line.blocking, line.strategy, (line.tokensAfter ?? 0) > 0]] : [],
      ),
      [
        ["start", true, "manual", false],
        ["blocking_change", true, "manual", false],
        ["complete", false, "manual", true],
        ["blocking_change", false, "manual", true],
      ],
    );
  });

  it("introduces itself also when no session could be opened", async () => {
    const lines = await linesOf([], { sessionId: "s1", maxBudgetUsd: -1 });
    assert.deepEqual(kinds(lines), ["metadata", "error"]);
  });
});
