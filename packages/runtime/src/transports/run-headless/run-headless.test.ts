import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { AgentRunConfig } from "./headless-config.ts";
import type { TrajectoryEvent } from "../atif/lines/trajectory-events.ts";
import { CheckpointHistory } from "./message-history.ts";
import type { AgentStreamOptions, AgentStreamResult, RunnableAgent } from "./runnable-agent.ts";
import { runHeadless } from "./run-headless.ts";
import { validateTrajectory } from "../atif/check/validate.ts";

const temp = mkdtempSync(join(tmpdir(), "outrider-headless-"));
after(() => rmSync(temp, { recursive: true, force: true }));

type Reply = { parts?: unknown[]; finishReason?: string; usage?: unknown; throws?: unknown; rejects?: unknown; stall?: boolean };

const say = (text: string, extra: Partial<Reply> = {}): Reply => ({ parts: [{ type: "text-delta", text }], ...extra });
const call = (id: string): Reply => ({
  parts: [
    { type: "tool-call", toolCallId: id, toolName: "read_file", input: { path: "a" } },
    { type: "tool-result", toolCallId: id, toolName: "read_file", output: { stdout: "hi" } },
  ],
  finishReason: "tool-calls",
  usage: { inputTokens: 10, outputTokens: 2, cachedInputTokens: 4 },
});

/** An agent in the form the AI SDK has, answering from a list; the last reply is given for ever. */
function agentOf(replies: readonly Reply[]): RunnableAgent & { calls: AgentStreamOptions[] } {
  const calls: AgentStreamOptions[] = [];
  return {
    calls,
    async stream(options): Promise<AgentStreamResult> {
      const reply = replies[Math.min(calls.push(options), replies.length) - 1] ?? {};
      if (reply.rejects) throw reply.rejects;
      const parts = reply.parts ?? [];
      return {
        fullStream: (async function* () {
          yield { type: "start" };
          yield* parts;
          if (reply.stall) await new Promise(() => {});
          if (reply.throws) throw reply.throws;
          yield { type: "finish" };
        })(),
        finishReason: Promise.resolve(reply.finishReason ?? "stop"),
        usage: Promise.resolve(reply.usage),
        response: Promise.resolve({ messages: parts.length > 0 ? [{ role: "assistant", content: "…" }] : [] }),
      };
    },
  };
}

async function run(agent: RunnableAgent, options: Partial<AgentRunConfig> = {}) {
  const events: TrajectoryEvent[] = [];
  const outcome = await runHeadless({
    agent,
    sessionId: "ses-1",
    messageHistory: new CheckpointHistory(),
    modelId: "gpt-4o",
    initialUserMessage: { content: "Go" },
    emitEvent: (event) => events.push(event),
    ...options,
  });
  return {
    events,
    outcome,
    kinds: events.map((event) => (event.type === "step" ? `step ${event.step_id} ${event.source}` : event.type)),
  };
}

const withoutTime = (events: readonly TrajectoryEvent[]) => events.map(({ timestamp: _, ...event }) => event);

describe("runHeadless", () => {
  it("says a run line by line: metadata first, tool results in the step that called", async () => {
    const { events, outcome } = await run(agentOf([call("c1"), say("Done.")]));
    assert.deepEqual(withoutTime(events), [
      { type: "metadata", session_id: "ses-1", agent: { name: "outrider", version: "0.0.0-test", model_name: "gpt-4o" } },
      { type: "step", step_id: 1, source: "user", message: "Go" },
      { type: "turn-start", phase: "new-turn" },
      {
        type: "step",
        step_id: 2,
        source: "agent",
        message: "",
        model_name: "gpt-4o",
        tool_calls: [{ tool_call_id: "c1", function_name: "read_file", arguments: { path: "a" } }],
        observation: { results: [{ source_call_id: "c1", content: '{"stdout":"hi"}' }] },
        metrics: { prompt_tokens: 10, completion_tokens: 2, cached_tokens: 4 },
      },
      { type: "turn-start", phase: "intermediate-step" },
      { type: "step", step_id: 3, source: "agent", message: "Done.", model_name: "gpt-4o" },
    ]);
    assert.deepEqual(outcome, { type: "completed", text: "Done." });
  });

  it("goes on after every word for tool calls and ends at the others", async () => {
    for (const finishReason of ["tool-calls", "tool_calls", "tool_use", "function_call"]) {
      const agent = agentOf([say("a", { finishReason }), say("b", { finishReason: "length" })]);
      await run(agent);
      assert.equal(agent.calls.length, 2, finishReason);
    }
  });

  it("hands each call the history so far and what onBeforeTurn adds", async () => {
    const agent = agentOf([call("c1"), say("Done.")]);
    const turns: unknown[] = [];
    await run(agent, {
      onBeforeTurn: (phase) => ({ system: phase }),
      onTurnComplete: (messages, usage, snapshot, finishReason) => {
        turns.push([messages.length, usage?.inputTokens, typeof snapshot, finishReason]);
      },
    });
    assert.deepEqual(
      agent.calls.map(({ messages, system }) => [messages.length, system]),
      [
        [1, "new-turn"],
        [2, "intermediate-step"],
      ],
    );
    assert.deepEqual(turns, [
      [2, 10, "object", "tool-calls"],
      [3, undefined, "object", "stop"],
    ]);
  });

  it("stops after maxIterations calls, reminders included", async () => {
    const agent = agentOf([call("c1")]);
    const { events, outcome } = await run(agent, { maxIterations: 3 });
    assert.equal(agent.calls.length, 3);
    assert.deepEqual(withoutTime(events.slice(-1)), [
      { type: "error", error: "Max iterations (3) reached", code: "MAX_ITERATIONS" },
    ]);
    assert.equal(outcome.type, "stopped");
    const reminded = agentOf([say("a")]);
    const again = await run(reminded, { maxIterations: 2, onTodoReminder: async () => ({ hasReminder: true, message: "More" }) });
    assert.equal(reminded.calls.length, 2);
    assert.equal(again.kinds.at(-1), "error");
  });

  it("reminds as often as it may and then ends", async () => {
    const { kinds, outcome } = await run(agentOf([say("a")]), {
      maxTodoReminders: 2,
      onTodoReminder: async () => ({ hasReminder: true, message: "More" }),
    });
    assert.equal(kinds.filter((kind) => kind.endsWith("user")).length, 3);
    assert.equal(outcome.type, "stopped");
  });

  it("does not announce a turn whose stream was refused, and still writes the steps before it", async () => {
    const path = join(temp, "refused.json");
    const { kinds, outcome } = await run(agentOf([call("c1"), { rejects: new Error("No such model") }]), {
      atifOutputPath: path,
    });
    assert.deepEqual(kinds, ["metadata", "step 1 user", "turn-start", "step 2 agent", "error"]);
    assert.equal(outcome.type === "failed" && outcome.error.message, "No such model");
    const written = JSON.parse(readFileSync(path, "utf8"));
    assert.deepEqual([written.schema_version, written.steps.length, written.extra], ["ATIF-v1.4", 2, undefined]);
    assert.deepEqual(validateTrajectory(written).problems, []);
  });

  it("ends with TIMEOUT when a model stalls in the middle, but lets tools take their time", async () => {
    const stalled = await run(agentOf([say("Once", { stall: true })]), { streamTimeoutMs: 30 });
    assert.deepEqual(stalled.kinds, ["metadata", "step 1 user", "turn-start", "error"]);
    assert.equal(stalled.events.at(-1)?.type === "error" && Reflect.get(stalled.events.at(-1) ?? {}, "code"), "TIMEOUT");
    const slow: RunnableAgent = {
      stream: () => ({
        fullStream: (async function* () {
          yield { type: "tool-call", toolCallId: "c", toolName: "slow", input: {} };
          await new Promise((resolve) => setTimeout(resolve, 120));
          yield { type: "tool-result", toolCallId: "c", output: "ok" };
        })(),
        finishReason: Promise.resolve("stop"),
        response: Promise.resolve({ messages: [] }),
      }),
    };
    assert.equal((await run(slow, { streamTimeoutMs: 30 })).outcome.type, "completed");
  });

  it("is interrupted once, keeps what was said, and reminds of nothing", async () => {
    const controller = new AbortController();
    const interrupts: unknown[] = [];
    const path = join(temp, "aborted.json");
    const running = run(agentOf([say("Once upon", { stall: true })]), {
      abortSignal: controller.signal,
      onStreamStart: () => void setTimeout(() => controller.abort(), 20),
      onInterrupt: (event) => void interrupts.push(event.reason),
      onTodoReminder: async () => ({ hasReminder: true, message: "More" }),
      atifOutputPath: path,
    });
    const { kinds, outcome } = await running;
    assert.deepEqual(kinds, ["metadata", "step 1 user", "turn-start", "step 2 agent", "interrupt"]);
    assert.deepEqual([outcome, interrupts], [{ type: "cancelled", cause: "abort", text: "Once upon" }, ["caller-abort"]]);
    assert.equal(JSON.parse(readFileSync(path, "utf8")).extra.interrupt_events.length, 1);
  });

  it("is interrupted by a signal that onBeforeTurn gave, too", async () => {
    const controller = new AbortController();
    const { kinds, outcome } = await run(agentOf([say("Once", { stall: true })]), {
      onBeforeTurn: () => ({ abortSignal: controller.signal }),
      onStreamStart: () => void setTimeout(() => controller.abort(), 20),
    });
    assert.deepEqual([kinds.slice(-2), outcome.type], [["step 2 agent", "interrupt"], "cancelled"]);
  });

  it("goes on without a probe that fails", async () => {
    const { outcome } = await run(agentOf([say("Fine.")]), { measureUsage: () => Promise.reject(new Error("no counter")) });
    assert.deepEqual(outcome, { type: "completed", text: "Fine." });
  });

  it("asks again three times when nothing comes, and then says so", async () => {
    const agent = agentOf([{ throws: new Error("No output generated. Check the stream for errors.") }]);
    const { events, outcome } = await run(agent);
    assert.equal(agent.calls.length, 4);
    assert.equal(Reflect.get(events.at(-1) ?? {}, "code"), "NO_OUTPUT");
    assert.equal(outcome.type, "failed");
  });

  it("makes room once when the prompt is too long, and tries once more", async () => {
    const history = new CheckpointHistory({
      compaction: { contextLimit: 100_000, summarizeFn: async (messages) => `${messages.length} messages` },
    });
    history.addUserMessage("Earlier");
    history.addModelMessages([{ role: "assistant", content: "x".repeat(4000) }]);
    const agent = agentOf([{ rejects: new Error("prompt is too long: 210000 tokens") }, say("Fits.")]);
    const { events, kinds, outcome } = await run(agent, { messageHistory: history, agentName: "reviewer" });
    const compactions = ["compaction", "compaction", "compaction", "compaction"];
    assert.deepEqual(kinds, ["metadata", "step 1 user", ...compactions, "turn-start", "step 2 agent"]);
    assert.deepEqual(
      events.flatMap((event) => (event.type === "compaction" ? [[event.event, event.blocking, event.strategy]] : [])),
      [
        ["start", true, "overflow"],
        ["blocking_change", true, "overflow"],
        ["complete", false, "overflow"],
        ["blocking_change", false, "overflow"],
      ],
    );
    assert.equal(events[0]?.type === "metadata" && events[0].agent.name, "reviewer");
    assert.deepEqual([outcome.text, agent.calls[1]?.messages.map(({ role }) => role)], ["Fits.", ["user", "user"]]);
    const never = agentOf([{ rejects: new Error("prompt is too long") }]);
    const failed = await run(never, { disableCompaction: true });
    assert.deepEqual([never.calls.length, Reflect.get(failed.events.at(-1) ?? {}, "code")], [1, "CONTEXT_OVERFLOW"]);
  });

  it("drops what was measured while the history changed", async () => {
    const history = new CheckpointHistory();
    const measureUsage = async () => {
      history.addUserMessage("meanwhile");
      return { promptTokens: 99 };
    };
    await run(agentOf([say("a")]), { messageHistory: history, measureUsage });
    assert.equal(history.getContextUsage().source, "estimated");
    await run(agentOf([say("a")]), { messageHistory: history, measureUsage: async () => ({ promptTokens: 99 }) });
    assert.equal(history.getContextUsage().source, "actual");
  });

  it("counts each inference of a stream with several as a step of its own", async () => {
    const usage = { inputTokens: 1, outputTokens: 1 };
    const parts = [
      { type: "text-delta", text: "One." },
      { type: "finish-step", usage },
      { type: "text-delta", text: "Two." },
      { type: "finish-step", usage },
    ];
    const { kinds } = await run(agentOf([{ parts }]));
    assert.deepEqual(kinds.slice(2), ["turn-start", "step 2 agent", "step 3 agent"]);
  });

  it("tells approvals, and totals that nobody counted as null", async () => {
    const path = join(temp, "approvals.json");
    const parts = [
      { type: "tool-call", toolCallId: "c", toolName: "rm", input: {} },
      { type: "tool-approval-request", approvalId: "a", toolCall: { toolCallId: "c", toolName: "rm" } },
      { type: "tool-output-denied", toolCallId: "c", toolName: "rm" },
    ];
    await run(agentOf([{ parts }]), { atifOutputPath: path });
    const written = JSON.parse(readFileSync(path, "utf8"));
    assert.deepEqual(validateTrajectory(written).problems, []);
    assert.deepEqual(
      [written.extra.approval_events.map(({ state }: { state: string }) => state), written.final_metrics],
      [
        ["pending", "denied"],
        {
          total_prompt_tokens: null,
          total_completion_tokens: null,
          total_cached_tokens: null,
          total_cost_usd: null,
          total_steps: 2,
        },
      ],
    );
  });

  it("writes no file before there is a step", async () => {
    const path = join(temp, "none.json");
    await runHeadless({
      agent: agentOf([{ rejects: new Error("no") }]),
      sessionId: "s",
      messageHistory: new CheckpointHistory(),
      modelId: "m",
      emitEvent: () => {},
      atifOutputPath: path,
    });
    assert.equal(existsSync(path), false);
  });

  it("fails when its trajectory cannot be written", async () => {
    writeFileSync(join(temp, "file"), "");
    const { outcome } = await run(agentOf([say("a")]), { atifOutputPath: join(temp, "file", "x.json") });
    assert.equal(outcome.type === "failed" && outcome.error.code, "storage-failed");
  });
});
