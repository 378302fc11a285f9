import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { noUsage, type ToolCallPart, type Usage } from "../../../protocol/content.ts";
import type { AgentEvent, EventBody } from "../../../protocol/events.ts";
import { toTrajectory, toTrajectoryDocument } from "./trajectory.ts";
import { validateTrajectory } from "../check/validate.ts";

const started: EventBody = {
  type: "session.started",
  journalVersion: 1,
  resumed: false,
  system: "Be brief.",
  toolDefinitions: [{ name: "Read", description: "Reads", inputSchema: { type: "object" } }],
  cwd: "/project",
  model: { provider: "acme", id: "m-1" },
  tools: ["Read"],
  permissionMode: "default",
  version: "1.2.3",
};
const prompt = (text: string): EventBody => ({
  type: "turn.started",
  input: { role: "user", content: [{ type: "text", text }] },
});
const ended: EventBody = {
  type: "turn.ended",
  outcome: { type: "completed", text: "Done." },
  usage: noUsage,
  modelCalls: 1,
  durationMs: 1,
  modelDurationMs: 1,
};

function answer(
  text: string,
  { calls = [], usage = {}, model = "m-1" }: { calls?: string[]; usage?: Partial<Usage>; model?: string } = {},
): EventBody {
  const parts = calls.map((callId): ToolCallPart => ({ type: "tool-call", callId, name: "Read", input: { file_path: "a" } }));
  const message = {
    role: "assistant",
    content: [{ type: "text", text }, ...parts],
    model: { provider: "acme", id: model },
    finish: "stop",
    usage: { ...noUsage, ...usage },
  } as const;
  return {
    type: "message.ended",
    messageId: "x",
    message: { ...message, content: [...message.content] },
    durationMs: 5,
    requestedModel: "m-1",
  };
}

function result(callId: string, text: string, extra: object = {}): EventBody {
  const part = { type: "tool-result", callId, name: "Read", content: [{ type: "text", text }], isError: false } as const;
  return {
    type: "tool.ended",
    callId,
    name: "Read",
    status: "ok",
    result: { ...part, content: [...part.content], ...extra },
    durationMs: 3,
  };
}

function toEvents(bodies: readonly (EventBody | (object & { type: string }))[]): AgentEvent[] {
  return bodies.map(
    (body, index) =>
      ({ seq: index + 1, at: new Date(1_775_000_000_000 + index * 1000).toISOString(), sessionId: "s1", ...body }) as AgentEvent,
  );
}

describe("toTrajectory", () => {
  it("is nothing before anything has happened", () => {
    assert.equal(toTrajectory([]), undefined);
  });

  it("tells who worked with which tools, what it cost and how it ended", () => {
    const usage = { inputTokens: 100, outputTokens: 10, cacheReadTokens: 60, cacheWriteTokens: 20, reasoningTokens: 4 };
    const trajectory = toTrajectory(toEvents([started, prompt("Hi"), answer("Done.", { usage }), ended]), {
      priceOf: () => 0.25,
    });
    assert.deepEqual(trajectory, {
      schema_version: "ATIF-v1.7",
      session_id: "s1",
      agent: {
        name: "outrider",
        version: "1.2.3",
        model_name: "m-1",
        tool_definitions: [
          { type: "function", function: { name: "Read", description: "Reads", parameters: { type: "object" } } },
        ],
        extra: { provider: "acme", cwd: "/project", permission_mode: "default" },
      },
      steps: [
        {
          step_id: 1,
          timestamp: "2026-03-31T23:33:20.000Z",
          source: "system",
          message: "Be brief.",
          extra: { system_prompt: true },
        },
        { step_id: 2, timestamp: "2026-03-31T23:33:21.000Z", source: "user", message: "Hi" },
        {
          step_id: 3,
          timestamp: "2026-03-31T23:33:22.000Z",
          source: "agent",
          model_name: "m-1",
          message: "Done.",
          llm_call_count: 1,
          metrics: {
            prompt_tokens: 100,
            completion_tokens: 10,
            cached_tokens: 60,
            cost_usd: 0.25,
            extra: { reasoning_tokens: 4, cache_creation_input_tokens: 20 },
          },
          extra: { provider: "acme", finish: "stop", duration_ms: 5 },
        },
      ],
      final_metrics: {
        total_prompt_tokens: 100,
        total_completion_tokens: 10,
        total_cached_tokens: 60,
        total_cost_usd: 0.25,
        total_steps: 3,
      },
      extra: { outcome: { status: "completed" } },
    });
  });

  it("puts results beside their calls in the order of the calls, with what is known of each", () => {
    const verdict: EventBody = {
      type: "permission.decided",
      callId: "c1",
      tool: "Read",
      effect: "allow",
      by: "rule",
      reason: "allowed",
      rule: "Read",
    };
    const changed: EventBody = { type: "tool.started", callId: "c2", name: "Read", input: { file_path: "b" } };
    const trajectory = toTrajectory(
      toEvents([
        started,
        prompt("Hi"),
        answer("", { calls: ["c1", "c2"] }),
        verdict,
        changed,
        result("c2", "two"),
        result("c1", "one"),
      ]),
    );
    const step = trajectory?.steps[2];
    assert.deepEqual(
      [step?.tool_calls?.map(({ extra }) => extra), step?.observation?.results.map(({ content }) => content)],
      [
        [{ permission: { effect: "allow", by: "rule", reason: "allowed", rule: "Read" } }, { input_run: { file_path: "b" } }],
        ["one", "two"],
      ],
    );
  });

  it("tells apart two calls of one id", () => {
    const trajectory = toTrajectory(
      toEvents([started, prompt("Hi"), answer("", { calls: ["c", "c"] }), result("c", "one"), result("c", "two"), ended]),
    );
    assert.deepEqual(
      trajectory?.steps[2]?.observation?.results.map(({ source_call_id, content }) => [source_call_id, content]),
      [
        ["c", "one"],
        ["c#2", "two"],
      ],
    );
    assert.deepEqual(validateTrajectory(trajectory).problems, []);
  });

  it("knows no total where nobody counted, and no cost as soon as one price is unknown", () => {
    const usage = { inputTokens: 10, outputTokens: 1 };
    const bodies = [started, prompt("Hi"), answer("a", { usage }), answer("b", { usage, model: "m-2" }), ended];
    const partly = toTrajectory(toEvents(bodies), { priceOf: ({ message }) => (message.model.id === "m-1" ? 1 : null) });
    assert.deepEqual([partly?.final_metrics?.total_prompt_tokens, partly?.final_metrics?.total_cost_usd], [20, null]);
    const none = toTrajectory(toEvents([started, prompt("Hi"), answer("a"), ended]), { priceOf: () => 0 });
    assert.deepEqual(none?.final_metrics, {
      total_prompt_tokens: null,
      total_completion_tokens: null,
      total_cached_tokens: null,
      total_cost_usd: null,
      total_steps: 3,
    });
  });

  it("keeps tries, stand-ins and failures where they happened", () => {
    const error = { code: "provider-overloaded", message: "Busy", retryable: true, httpStatus: 529 } as const;
    const retry: EventBody = { type: "retry.scheduled", messageId: "x", attempt: 1, maxRetries: 3, delayMs: 10, error };
    const fallback: EventBody = { type: "fallback.used", messageId: "x", from: "m-1", to: "m-2", error };
    const failed: EventBody = { ...ended, outcome: { type: "failed", error, text: "" } };
    const trajectory = toTrajectory(
      toEvents([started, prompt("Hi"), retry, fallback, answer("a", { model: "m-2" }), retry, failed]),
    );
    const data = { code: "provider-overloaded", message: "Busy", retryable: true, http_status: 529 };
    const outcome = { status: "failed", stop_reason: "provider-overloaded", error: data };
    assert.deepEqual(trajectory?.steps[2]?.extra, {
      provider: "acme",
      finish: "stop",
      duration_ms: 5,
      requested_model: "m-1",
      retries: [{ attempt: 1, delay_ms: 10, error: data }],
      fallback: { from: "m-1", to: "m-2", error: data },
      outcome,
    });
    assert.deepEqual(trajectory?.extra, { outcome });
  });

  it("marks history that another document tells, and counts none of it", () => {
    const usage = { inputTokens: 10, outputTokens: 1 };
    const events = toEvents([
      started,
      prompt("Old"),
      answer("a", { usage }),
      ended,
      prompt("New"),
      answer("b", { usage }),
      ended,
    ]);
    const trajectory = toTrajectory(events, { copiedThrough: 4, priceOf: () => 1 });
    assert.deepEqual(
      [
        trajectory?.steps.map((step) => [step.is_copied_context ?? false, step.metrics?.prompt_tokens]),
        trajectory?.final_metrics?.total_cost_usd,
      ],
      [
        [
          [true, undefined],
          [true, undefined],
          [true, undefined],
          [false, undefined],
          [false, 10],
        ],
        1,
      ],
    );
    const forked = toTrajectory(
      toEvents([
        Object.assign({ forkedFrom: { sessionId: "s0", seq: 4 } }, started),
        prompt("Old"),
        answer("a", { usage }),
        ended,
        Object.assign({}, started, { resumed: true }),
        prompt("New"),
      ]),
    );
    assert.deepEqual(forked?.agent.extra?.["forked_from"], { session_id: "s0", seq: 4 });
    assert.deepEqual(
      forked?.steps.map((step) => step.is_copied_context ?? false),
      [true, true, true, false],
    );
    for (const one of [trajectory, forked]) assert.deepEqual(validateTrajectory(one).problems, []);
  });

  it("marks what was imported: it was done and paid for elsewhere", () => {
    const usage = { inputTokens: 10, outputTokens: 1 };
    const trajectory = toTrajectory(
      toEvents([prompt("Old"), answer("a", { usage }), ended, started, prompt("New"), answer("b", { usage }), ended]),
    );
    assert.deepEqual(
      trajectory?.steps.map((step) => [step.message, step.is_copied_context ?? false]),
      [
        ["Old", true],
        ["a", true],
        ["Be brief.", false],
        ["New", false],
        ["b", false],
      ],
    );
    assert.deepEqual([trajectory?.final_metrics?.total_prompt_tokens, validateTrajectory(trajectory).problems], [10, []]);
  });

  it("embeds what subagents did and refers to it from the call that started them", () => {
    const usage = { inputTokens: 10, outputTokens: 1 };
    const task = {
      type: "task.started",
      taskId: "t1",
      callId: "c1",
      agent: "explorer",
      description: "Look",
      prompt: "Look around",
      model: { provider: "acme", id: "m-2" },
      system: "Explore.",
      tools: [],
      permissionMode: "default",
    };
    const inTask = (body: EventBody) => ({ ...body, taskId: "t1" });
    const events = toEvents([
      started,
      prompt("Hi"),
      answer("", { calls: ["c1"], usage }),
      task,
      inTask(answer("", { calls: ["k"], usage })),
      inTask(result("k", "found")),
      inTask(answer("There is a.", { usage })),
      { ...ended, type: "task.ended", taskId: "t1", callId: "c1" },
      result("c1", "There is a."),
      answer("Done.", { usage }),
      ended,
    ]);
    const document = toTrajectoryDocument(events, { priceOf: () => 1 });
    const { trajectory } = document ?? {};
    assert.deepEqual(validateTrajectory(trajectory, { exists: () => true }), {
      ok: true,
      version: "1.7",
      problems: [],
      warnings: [],
    });
    assert.deepEqual(
      trajectory?.steps.map(({ source }) => source),
      ["system", "user", "agent", "agent"],
    );
    assert.deepEqual(trajectory?.steps[2]?.observation?.results[0]?.subagent_trajectory_ref, [
      { trajectory_id: "t1", session_id: "s1" },
    ]);
    const child = trajectory?.subagent_trajectories?.[0];
    assert.deepEqual(
      [child?.trajectory_id, child?.agent.name, child?.steps.map(({ source }) => source)],
      ["t1", "explorer", ["system", "user", "agent", "agent"]],
    );
    assert.deepEqual([trajectory?.final_metrics?.total_prompt_tokens, trajectory?.final_metrics?.total_cost_usd], [20, 4]);
    assert.deepEqual([...(document?.subagents.keys() ?? [])], ["trajectory.t1.json"]);

    const low = toTrajectoryDocument(events, { version: "1.4", stem: "run" });
    assert.deepEqual(validateTrajectory(low?.trajectory).problems, []);
    assert.deepEqual(low?.trajectory.steps[2]?.observation?.results[0]?.subagent_trajectory_ref, [
      { session_id: "s1", trajectory_path: "run.t1.json" },
    ]);
    assert.deepEqual(validateTrajectory(low?.subagents.get("run.t1.json")).problems, []);
  });

  it("is of version 1.8 with audio, and names sounds and pictures by path", () => {
    const content = [
      { type: "text", text: "Listen:" },
      { type: "audio", mediaType: "audio/x-wav", data: "AAAA" },
      { type: "image", mediaType: "image/tiff", data: "AAAA" },
    ];
    const spoken = { ...prompt("x"), input: { role: "user", content } };
    const document = toTrajectoryDocument(toEvents([started, spoken, answer("I hear."), ended]));
    const path = [...(document?.media.keys() ?? [])][0];
    assert.deepEqual(document?.trajectory.steps[1]?.message, [
      { type: "text", text: "Listen:" },
      { type: "audio", source: { media_type: "audio/wav", path } },
      { type: "text", text: "[image of type image/tiff, not in this file]" },
    ]);
    assert.equal(document?.trajectory.schema_version, "ATIF-v1.8");
    assert.deepEqual(validateTrajectory(document?.trajectory), { ok: true, version: "1.8", problems: [], warnings: [] });
    const low = toTrajectory(toEvents([started, spoken, answer("I hear."), ended]), { version: "1.4" });
    assert.deepEqual(
      [low?.schema_version, low?.steps[1]?.message],
      ["ATIF-v1.4", `Listen:\n[audio: ${path}]\n[image of type image/tiff, not in this file]`],
    );
  });

  it("answers calls that a killed run left open in the words the model hears", () => {
    const trajectory = toTrajectory(
      toEvents([
        started,
        prompt("Hi"),
        answer("", { calls: ["c1", "c2"] }),
        { type: "tool.started", callId: "c1", name: "Read", input: {} },
        { ...started, resumed: true },
        prompt("Again"),
        answer("ok"),
        ended,
      ]),
    );
    const contents = trajectory?.steps[2]?.observation?.results.map(({ content }) => String(content).slice(0, 15));
    assert.deepEqual(contents, ["Outcome unknown", "Not run: the ru"]);
    assert.deepEqual(validateTrajectory(trajectory).warnings, []);
  });
});
