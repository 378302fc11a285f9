import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createScriptedProvider, type ScriptStep } from "../../model/scripted.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import type { SessionOptions } from "../../session/session-options.ts";
import { InteractiveSession } from "../../session/interactive-session.ts";
import { createIdSeries } from "../../util/unique-ids.ts";
import { createBasicFormat } from "./basic-format.ts";
import { createCalibanFormat } from "./caliban-format.ts";
import { createClaudeFormat, loadPartialMessages } from "./claude-format.ts";
import type { OutputFormat } from "./output-format.ts";
import { createRedactor } from "../../util/redact.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-task-frames-"));
after(() => rmSync(folder, { recursive: true, force: true }));

type Frame = Record<string, unknown> & { type: string; message: { content: { type: string; text?: string }[] } };

const helper = { name: "helper", description: "helps", prompt: "CUSTOM SYSTEM helper", source: "--agents" };
const usage = { inputTokens: 10, outputTokens: 20 };
/** What was recorded from Claude Code: a subagent runs a command and reports. */
const script: ScriptStep[] = [
  {
    text: "delegating",
    calls: [{ name: "Task", input: { description: "sub", prompt: "sub task", subagent_type: "helper" } }],
    usage,
  },
  { text: "sub pre", calls: [{ name: "Bash", input: { command: "echo in-sub", description: "run" } }], usage },
  { text: "sub result", usage },
  { text: "main done", usage },
];

async function record(
  steps: readonly ScriptStep[],
  options: Partial<SessionOptions> = {},
): Promise<{ events: AgentEvent[]; outcome: Outcome }> {
  const provider = createScriptedProvider(steps, { name: "anthropic", model: "claude-opus-5-5" });
  const session = new InteractiveSession({ cwd: folder, provider, agents: [helper], ...options });
  const events: AgentEvent[] = [];
  const reading = (async () => {
    for await (const event of session.events()) events.push(event);
  })();
  const outcome = await session.submit("go");
  await session.shutdown();
  await reading;
  return { events, outcome };
}

async function encode(format: OutputFormat, { events, outcome }: Awaited<ReturnType<typeof record>>): Promise<Frame[]> {
  const text = events.map((event) => format.event(event)).join("") + (await format.end(createRedactor().value(outcome)));
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

const ids = { sessionId: "s", newId: createIdSeries() };

describe("Claude Code's frames of a subagent", () => {
  it("have the kinds, the order and the fields of a recorded run, and also what it says by itself", async () => {
    const frames = await encode(createClaudeFormat("stream-json", ids), await record(script));
    const whole = frames.filter(({ type }) => type !== "stream_event");
    const callId = whole.find((frame) => frame["subtype"] === "task_started")?.["tool_use_id"];
    const kinds = whole.map((frame) => [
      [frame.type, frame["subtype"]].filter(Boolean).join("/"),
      frame.message?.content[0]?.text ?? frame.message?.content[0]?.type ?? "",
      frame["parent_tool_use_id"] === undefined
        ? ""
        : frame["parent_tool_use_id"] === callId
          ? "child"
          : frame["parent_tool_use_id"],
    ]);
    assert.deepEqual(kinds, [
      ["system/init", "", ""],
      ["assistant", "delegating", null],
      ["assistant", "tool_use", null],
      ["system/task_started", "", ""],
      ["user", "sub task", "child"],
      ["system/task_progress", "", ""],
      ["assistant", "sub pre", "child"],
      ["assistant", "tool_use", "child"],
      ["user", "tool_result", "child"],
      ["assistant", "sub result", "child"],
      ["system/task_updated", "", ""],
      ["system/task_notification", "", ""],
      ["user", "tool_result", null],
      ["assistant", "main done", null],
      ["result/success", "", ""],
    ]);
    const fieldsOf = (subtype: string): string[] => Object.keys(whole.find((frame) => frame["subtype"] === subtype) ?? {}).sort();
    const common = ["run_id", "session_id", "subtype", "task_id", "type", "uuid"];
    assert.deepEqual(
      {
        task_started: fieldsOf("task_started"),
        task_progress: fieldsOf("task_progress"),
        task_updated: fieldsOf("task_updated"),
        task_notification: fieldsOf("task_notification"),
      },
      {
        task_started: [
          ...common,
          "description",
          "is_backgrounded",
          "prompt",
          "spawn_depth",
          "subagent_type",
          "task_type",
          "tool_use_id",
        ].sort(),
        task_progress: [...common, "description", "last_tool_name", "subagent_type", "tool_use_id", "usage"].sort(),
        task_updated: [...common, "patch"].sort(),
        task_notification: [...common, "output_file", "status", "summary", "tool_use_id", "usage"].sort(),
      },
    );
    const child = whole.filter((frame) => frame["parent_tool_use_id"] === callId);
    for (const frame of child)
      assert.deepEqual(
        [frame["subagent_type"], frame["task_description"], typeof frame["agent_id"]],
        ["helper", "sub", "string"],
      );
  });

  it("stream only the conversation itself", async () => {
    const frames = await encode(
      createClaudeFormat("stream-json", { ...ids, partialMessages: await loadPartialMessages() }),
      await record(script),
    );
    const deltas = frames.filter(({ type }) => type === "stream_event").map((frame) => JSON.stringify(frame));
    assert.equal(
      deltas.some((line) => line.includes("main ")),
      true,
    );
    assert.equal(
      deltas.some((line) => line.includes('"text":"sub ')),
      false,
    );
  });

  it("end with what the conversation used, and with what all of it cost", async () => {
    const result = (await encode(createClaudeFormat("json", ids), await record(script))).at(-1);
    const models = result?.["modelUsage"] as Record<string, { inputTokens: number; outputTokens: number; costUSD: number }>;
    const [model] = Object.values(models);
    assert.deepEqual(result?.["usage"], {
      input_tokens: 20,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: 40,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
      output_tokens_details: { thinking_tokens: 0 },
      server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 },
    });
    assert.deepEqual(
      [model?.inputTokens, model?.outputTokens, model?.costUSD, result?.["num_turns"], result?.["tool_calls_seen"]],
      [40, 80, result?.["total_cost_usd"], 2, 2],
    );
  });

  it("tell the call's result with what the subagent did, and its refusals at the end", async () => {
    const run = await record(
      [
        script[0] ?? {},
        { calls: [{ name: "Write", input: { file_path: "x.txt", content: "x" } }] },
        { text: "no" },
        { text: "main done" },
      ],
      {},
    );
    const frames = await encode(createClaudeFormat("stream-json", ids), run);
    const result = frames.at(-1);
    const denials = result?.["permission_denials"] as { tool_name: string; tool_input: unknown }[];
    assert.deepEqual(
      denials.map(({ tool_name, tool_input }) => [tool_name, tool_input]),
      [["Write", { file_path: join(folder, "x.txt"), content: "x" }]],
    );
    const denied = frames.find((frame) => frame["subtype"] === "permission_denied");
    const told = frames.findLast((frame) => frame.type === "user")?.["tool_use_result"] as Record<string, unknown>;
    assert.deepEqual(
      { ...told, totalDurationMs: 0, agentId: typeof told["agentId"] },
      {
        status: "completed",
        prompt: "sub task",
        content: [{ type: "text", text: "no" }],
        agentId: "string",
        agentType: "helper",
        resolvedModel: "claude-opus-5-5",
        totalDurationMs: 0,
        totalTokens: 0,
        totalToolUseCount: 1,
        toolsUsed: ["Write"],
        usage: { input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 },
      },
    );
    assert.equal(denied?.["agent_id"], told["agentId"]);
  });
});

describe("the end of a subagent that failed", () => {
  it("says why", async () => {
    const run = await record([
      script[0] ?? {},
      { fail: { code: "provider-bad-request", message: "no such thing" } },
      { text: "oh" },
    ]);
    const frames = await encode(createClaudeFormat("stream-json", ids), run);
    const { patch } = frames.find(({ subtype }) => subtype === "task_updated") as unknown as { patch: Record<string, unknown> };
    assert.deepEqual({ ...patch, end_time: 0 }, { status: "failed", end_time: 0, error: "no such thing" });
  });
});

describe("other frames", () => {
  it("say of a subagent only what the call that started it says", async () => {
    const run = await record(script);
    const caliban = await encode(createCalibanFormat("stream-json", { sessionId: "s", includePartialMessages: true }), run);
    const basic = await encode(createBasicFormat("stream-json", ids), run);
    for (const frames of [caliban, basic]) {
      const shown = JSON.stringify(frames.filter(({ type }) => type !== "tool_result"));
      assert.match(shown, /main /);
      assert.doesNotMatch(shown, /sub pre|in-sub|"sub "/);
    }
    const result = caliban.at(-1);
    assert.deepEqual(
      [result?.["turns"], result?.["total_input_tokens"], caliban.filter(({ type }) => type === "tool_use").length],
      [2, 40, 1],
    );
  });
});

describe("the frames of an agent that goes on", () => {
  it("belong to the call that started it, and its new beginning and end to the one that had it go on", async () => {
    const input = { description: "sub", prompt: "sub task", subagent_type: "helper", name: "scout" };
    const steps: ScriptStep[] = [
      { calls: [{ name: "Task", callId: "first", input }] },
      { text: "one" },
      { calls: [{ name: "Task", callId: "second", input: { description: "sub", prompt: "more", resume: "scout" } }] },
      { text: "two" },
      { text: "done" },
    ];
    const frames = await encode(createClaudeFormat("stream-json", ids), await record(steps));
    const said = frames.filter(({ type, agent_id }) => type === "assistant" && agent_id !== undefined);
    assert.deepEqual(
      said.map((frame) => [frame.message.content[0]?.text, frame["parent_tool_use_id"]]),
      [
        ["one", "first"],
        ["two", "first"],
      ],
    );
    assert.deepEqual(
      frames.filter(({ subtype }) => subtype === "task_started").map(({ tool_use_id: id }) => id),
      ["first", "second"],
    );
  });
});

describe("the frames of a schedule", () => {
  const plan: ScriptStep[] = [
    { calls: [{ name: "CronCreate", input: { cron: "0 9 * * 1", prompt: "look" } }] },
    { text: "done" },
  ];

  it("are what the call tells, as in Claude Code; caliban's also show the task, as what it is", async () => {
    const recorded = await record(plan, { schedules: true });
    const [frames, others] = [
      await encode(createClaudeFormat("stream-json", ids), recorded),
      await encode(createCalibanFormat("stream-json", ids), recorded),
    ];
    assert.deepEqual(
      frames.filter(({ subtype }) => /task/.test(String(subtype))),
      [],
    );
    const told = frames.find(({ tool_use_result: result }) => result !== undefined)?.["tool_use_result"];
    assert.deepEqual(Object.keys(told ?? {}), ["id", "humanSchedule", "recurring", "durable", "nextFireAt", "durationMs"]);
    assert.equal(others.find(({ subtype }) => subtype === "task_started")?.["task_type"], "scheduled");
  });
});
