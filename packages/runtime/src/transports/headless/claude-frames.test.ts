import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type AssistantMessage, type AssistantPart, noUsage } from "../../protocol/content.ts";
import type { ErrorData } from "../../protocol/errors.ts";
import type { AgentEvent, EventBody, SessionFacts } from "../../protocol/events.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import { createRedactor } from "../../util/redact.ts";
import { type ClaudeFormatOptions, createClaudeFormat, loadPartialMessages } from "./claude-format.ts";
import { frameUuid } from "./frame-uuid.ts";

type Frame = { type: string; subtype?: string; uuid: string; [field: string]: unknown };

const facts: SessionFacts = {
  cwd: "/project",
  model: { provider: "p", id: "model-1" },
  tools: ["Bash"],
  permissionMode: "default",
  version: "1.2.3",
};
const begin: EventBody[] = [
  { type: "session.started", ...facts, journalVersion: 1, resumed: false, system: "", toolDefinitions: [] },
  { type: "turn.started", input: { role: "user", content: [{ type: "text", text: "go" }] } },
];
const messageId = "52b26db3-e748-4000-8fa9-5ebca9f823f0";

function messageOf(content: AssistantPart[], more: Partial<AssistantMessage> = {}): EventBody {
  const message: AssistantMessage = { role: "assistant", content, model: facts.model, finish: "stop", usage: noUsage, ...more };
  return { type: "message.ended", messageId, message, durationMs: 1, requestedModel: "model-1" };
}

function encode(bodies: readonly EventBody[], options: Partial<ClaudeFormatOptions> = {}): Frame[] {
  let ids = 0;
  const format = createClaudeFormat("stream-json", { sessionId: "s", newId: () => `u${++ids}`, ...options });
  const at = "2026-01-01T00:00:00.000Z";
  const text = bodies.map((body, index) => format.event({ seq: index + 1, at, sessionId: "s", ...body } as AgentEvent)).join(""); // as the hub does
  return text
    .split("\n")
    .filter(Boolean)
    .map((line): Frame => JSON.parse(line));
}

const blocksIn = (frames: readonly Frame[]): unknown[] =>
  frames.filter(({ type }) => type === "assistant").map((frame) => (frame["message"] as { content: unknown[] }).content[0]);
const kinds = (frames: readonly Frame[]): string[] =>
  frames.map((frame) =>
    [frame.type, frame.subtype ?? (frame["event"] as { type?: string } | undefined)?.type].filter(Boolean).join("/"),
  );
const text = (words: string): EventBody => ({ type: "text.delta", messageId, text: words });

const partialMessages = await loadPartialMessages();

describe("frames of an assistant's message", () => {
  const content: AssistantPart[] = [
    { type: "reasoning", text: "Hm.", providerMetadata: { "anthropic-messages": { signature: "sig" } } },
    { type: "text", text: "Looking." },
    { type: "tool-call", callId: "c1", name: "Bash", input: { command: "ls" } },
  ];
  const streamed: EventBody[] = [
    { type: "reasoning.delta", messageId, text: "Hm." },
    { type: "reasoning.delta", messageId, text: "", signature: "sig" },
    text("Look"),
    text("ing."),
    { type: "tool-input.delta", messageId, callId: "c1", name: "Bash", json: '{"command":' },
    { type: "tool-input.delta", messageId, callId: "c1", name: "Bash", json: '"ls"}' },
  ];

  it("are the same blocks under the same names, with deltas and without", () => {
    const story = [...begin, ...streamed, messageOf(content, { finish: "tool-calls" })];
    const whole = encode(story);
    const partial = encode(story, { partialMessages });
    assert.deepEqual(blocksIn(partial), blocksIn(whole));
    const names = (frames: readonly Frame[]): string[] =>
      frames.filter(({ type }) => type === "assistant").map(({ uuid }) => uuid);
    assert.deepEqual(
      names(partial),
      [0, 1, 2].map((index) => frameUuid(messageId, index)),
    );
    assert.deepEqual(names(whole), names(partial));
  });

  it("wait for the whole message from a block on that cannot be read yet, and keep their order", () => {
    const broken: EventBody[] = [
      text("A"),
      { type: "tool-input.delta", messageId, callId: "c1", name: "Bash", json: '{"comm' },
      { type: "tool-input.delta", messageId, callId: "c2", name: "Bash", json: "{}" },
    ];
    const parts: AssistantPart[] = [
      { type: "text", text: "A" },
      { type: "tool-call", callId: "c1", name: "Bash", input: {}, malformedInput: '{"comm' },
      { type: "tool-call", callId: "c2", name: "Bash", input: {} },
    ];
    const frames = encode([...begin, ...broken, messageOf(parts)], { partialMessages });
    assert.deepEqual(
      blocksIn(frames).map((block) => (block as { id?: string }).id ?? "text"),
      ["text", "c1", "c2"],
    );
  });

  it("replace what was shown of a block that came out otherwise", () => {
    const frames = encode(
      [...begin, text("A"), { type: "reasoning.delta", messageId, text: "B" }, messageOf([{ type: "text", text: "C" }])],
      {
        partialMessages,
      },
    );
    const last = frames.findLast(({ type }) => type === "assistant");
    assert.deepEqual([blocksIn(frames).length, last?.["supersedes"]], [2, [frameUuid(messageId, 0)]]);
  });

  it("show what was said when it is cut off, once, and then that it was", () => {
    const turn = { usage: noUsage, modelCalls: 1, durationMs: 1, modelDurationMs: 1 };
    const frames = encode(
      [
        ...begin,
        { type: "reasoning.delta", messageId, text: "Hm." },
        text("So far"),
        messageOf([{ type: "text", text: "So far" }], { finish: "interrupted" }),
        { type: "turn.ended", outcome: { type: "cancelled", cause: "abort", text: "So far" }, ...turn },
      ],
      { partialMessages },
    );
    assert.deepEqual(blocksIn(frames), [
      { type: "thinking", thinking: "Hm.", signature: "" },
      { type: "text", text: "So far" },
    ]);
    assert.deepEqual(kinds(frames.slice(-5)), [
      "assistant",
      "user",
      "stream_event/content_block_stop",
      "stream_event/message_delta",
      "stream_event/message_stop",
    ]);
  });
});

describe("frames about the conversation as a whole", () => {
  it("tell a compaction by its status and a boundary", () => {
    const about = { compactionId: "k", trigger: "auto", preTokens: 900, durationMs: 12 } as const;
    const done = { type: "compacted", replaced: 4, preface: "", summary: "", files: [], postTokens: 100 } as const;
    const started = { usedTokens: 900, maxTokens: 1000, replaced: 4, chunkTokens: 1, summaryTokens: 1 };
    const told = (result: EventBody<"compaction.ended">["result"]): unknown[] =>
      encode([
        { type: "compaction.started", compactionId: "k", trigger: "auto", ...started },
        { type: "compaction.ended", ...about, result },
      ]).map(({ uuid, session_id, type, ...rest }) => rest);
    assert.deepEqual(told({ ...done, files: [] }), [
      { subtype: "status", status: "compacting" },
      { subtype: "status", status: null, compact_result: "success" },
      { subtype: "compact_boundary", compact_metadata: { trigger: "auto", pre_tokens: 900, post_tokens: 100, duration_ms: 12 } },
    ]);
    assert.deepEqual(told({ type: "refused", reason: "not now" })[1], {
      subtype: "status",
      status: null,
      compact_result: "failed",
      compact_error: "not now",
    });
  });

  it("repeat init with what the host has changed", () => {
    const changed: EventBody = { type: "session.changed", model: { provider: "p", id: "model-2" }, permissionMode: "plan" };
    const frames = encode([...begin, changed, ...begin.slice(1)], { commands: () => ["compact"], keySource: "MY_KEY" });
    assert.deepEqual(
      frames.map(({ model, permissionMode, slash_commands, apiKeySource }) => [
        model,
        permissionMode,
        slash_commands,
        apiKeySource,
      ]),
      [
        ["model-1", "default", ["compact"], "MY_KEY"],
        ["model-2", "plan", ["compact"], "MY_KEY"],
      ],
    );
  });

  it("show what the runtime says by itself in a turn as synthetic, and not what a person adds", () => {
    const added = (origin: EventBody<"input.added">["origin"]): EventBody => ({
      type: "input.added",
      origin,
      input: { role: "user", content: [{ type: "text", text: origin }] },
    });
    const answered = messageOf([{ type: "text", text: "A" }]);
    const frames = encode([...begin, added("hook"), answered, added("continuation"), added("hook"), added("user")]);
    const said = frames.filter(({ type }) => type === "user");
    assert.deepEqual(
      said.map((frame) => [frame["isSynthetic"], (frame["message"] as { content: { text: string }[] }).content[0]?.text]),
      [
        [true, "continuation"],
        [true, "hook"],
      ],
    );
  });
});

describe("a provider's failure", () => {
  const error: ErrorData = {
    ...{ code: "provider-rate-limit", message: "Anthropic answered HTTP 429: slow", retryable: true },
    ...{ httpStatus: 429, errorType: "rate_limit_error" },
  };
  const outcome: Outcome = { type: "failed", text: "", error };
  const told = async (claudeResults: boolean): Promise<unknown[]> => {
    const format = createClaudeFormat("stream-json", { sessionId: "s", newId: () => "u", claudeResults });
    const ended = { type: "turn.ended", outcome, usage: noUsage, modelCalls: 1, modelDurationMs: 0, durationMs: 1 } as const;
    const said = format.event({ seq: 1, at: "2026-01-01T00:00:00Z", sessionId: "s", ...ended });
    const result = await format.end(createRedactor().value<Outcome>(outcome));
    return [said, result].map((line) => {
      const { type, subtype, stop_reason, api_error_status, api_error_type } = JSON.parse(String(line)) as Record<
        string,
        unknown
      >;
      return { type, subtype, stop_reason, api_error_status, api_error_type };
    });
  };
  const kind = { api_error_status: 429, api_error_type: "rate_limit_error" };
  const message = { type: "assistant", subtype: undefined, stop_reason: undefined, ...kind };

  it("is told with the provider's word for it, in the message and in the result", async () => {
    const result = { type: "result", subtype: "error_during_execution", stop_reason: null, ...kind };
    assert.deepEqual(await told(false), [message, result]);
  });

  it("ended the message where Claude Code's results are asked for", async () => {
    const result = { type: "result", subtype: "success", stop_reason: "stop_sequence", ...kind };
    assert.deepEqual(await told(true), [message, result]);
  });
});
