import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type AssistantMessage, type AssistantPart, noUsage } from "../../protocol/content.ts";
import type { AgentEvent, EventBody, SessionFacts } from "../../protocol/events.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import { type CalibanFormatOptions, createCalibanFormat } from "./caliban-format.ts";
import { createRedactor } from "../../util/redact.ts";

type Frame = { type: string; subtype?: string; [field: string]: unknown };

const facts: SessionFacts = {
  cwd: "/project",
  model: { provider: "anthropic", id: "claude-sonnet-4-5" },
  tools: ["Bash"],
  permissionMode: "default",
  version: "1.2.3",
};
const begin: EventBody[] = [
  { type: "session.started", ...facts, journalVersion: 1, resumed: false, system: "", toolDefinitions: [] },
  { type: "turn.started", input: { role: "user", content: [{ type: "text", text: "go" }] } },
];

function said(content: AssistantPart[] | string, more: Partial<AssistantMessage> = {}): EventBody {
  const parts: AssistantPart[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
  const message: AssistantMessage = {
    role: "assistant",
    content: parts,
    model: facts.model,
    finish: "stop",
    usage: noUsage,
    ...more,
  };
  return { type: "message.ended", messageId: "m", message, durationMs: 1, requestedModel: facts.model.id };
}

const call: AssistantPart = { type: "tool-call", callId: "c1", name: "Bash", input: { command: "ls" } };
const ran: EventBody = {
  type: "tool.ended",
  callId: "c1",
  name: "Bash",
  status: "ok",
  result: { callId: "c1", isError: false, content: [{ type: "text", text: "a" }] } as never, // what frames read of it
  durationMs: 5,
};

const shown = (outcome: Outcome) => createRedactor().value(outcome);

type Run = { events?: (EventBody & { taskId?: string })[]; outcomes: Outcome[]; options?: Partial<CalibanFormatOptions> };

async function encode({ events = [], outcomes, options = {} }: Run): Promise<Frame[]> {
  const format = createCalibanFormat("stream-json", { sessionId: "s", ...options });
  const at = "2026-01-01T00:00:00.000Z";
  let text = [...begin, ...events]
    .map((body, index) => format.event({ seq: index + 1, at, sessionId: "s", ...body } as AgentEvent)) // as the hub does
    .join("");
  for (const outcome of outcomes) text += await format.end(shown(outcome));
  return text
    .split("\n")
    .filter(Boolean)
    .map((line): Frame => JSON.parse(line));
}

const lastOf = async (run: Run): Promise<Frame | undefined> => (await encode(run)).at(-1);

describe("caliban's result", () => {
  it("has words for an error, a hook's own where it stopped the run, and none beside any other subtype", async () => {
    const error = { code: "model-output-limit" as const, message: "Cut off", retryable: false };
    const cut = await lastOf({ outcomes: [{ type: "failed", error, text: "half" }] });
    assert.deepEqual([cut?.subtype, cut?.["error"], cut?.["last_assistant_text"]], ["max_tokens", undefined, "half"]);
    const hook = await lastOf({ outcomes: [{ type: "stopped", limit: "hook", text: "", reason: "no prompts today" }] });
    assert.deepEqual([hook?.subtype, hook?.["error"]], ["error", "Stopped by a hook: no prompts today"]);
    for (const limit of ["max-turns", "max-budget"] as const)
      assert.equal((await lastOf({ outcomes: [{ type: "stopped", limit, text: "" }] }))?.["error"], undefined);
  });

  it("tells what was said last in the whole run, and counts the calls of its own conversation", async () => {
    const error = { code: "provider-auth" as const, message: "bad key", retryable: false };
    const events = [said("one"), said([call]), ran, { ...said("a child's words"), taskId: "t" }, { ...ran, taskId: "t" }];
    const result = await lastOf({ events, outcomes: [{ type: "failed", error, text: "" }] });
    assert.deepEqual([result?.["last_assistant_text"], result?.["tool_calls_seen"]], ["one", 1]);
  });

  it("always has a number for the cost, and a warning when a price is not known", async () => {
    const usage = { ...noUsage, inputTokens: 100_000 };
    const outcome: Outcome = { type: "completed", text: "hi" };
    const known = await lastOf({ events: [said("hi", { usage })], outcomes: [outcome] });
    assert.deepEqual([known?.["total_cost_usd"], known?.["warnings"]], [0.3, undefined]);
    const nobody = said("hi", { usage, model: { provider: "nobody", id: "knows" } });
    const partly = await lastOf({
      events: [said("hi", { usage }), { ...nobody, requestedModel: "knows" } as EventBody],
      outcomes: [outcome],
    });
    assert.deepEqual(
      [partly?.["total_cost_usd"], partly?.["warnings"]],
      [0.3, ["The price of nobody/knows is not known and not in total_cost_usd"]],
    );
  });

  it("comes once for several prompts; one that failed before the last is a warning", async () => {
    const error = { code: "provider-auth" as const, message: "bad key", retryable: false };
    const failed: Outcome = { type: "failed", error, text: "" };
    const format = createCalibanFormat("stream-json", { sessionId: "s", live: true });
    const apply = (bodies: readonly EventBody[]): string =>
      bodies
        .map((body) => format.event({ seq: 1, at: "2026-01-01T00:00:00.000Z", sessionId: "s", ...body } as AgentEvent))
        .join("");
    let text = apply(begin) + (await format.end(shown(failed)));
    text += apply(begin.slice(1)) + (await format.end(shown({ type: "cancelled", cause: "abort", text: "" })));
    text += apply(begin.slice(1)) + (await format.end(shown(failed))) + ((await format.close?.(shown(failed))) ?? "");
    const frames = text
      .trimEnd()
      .split("\n")
      .map((line): Frame => JSON.parse(line));
    assert.deepEqual(
      frames.map(({ type, subtype, message }) => [type, subtype, message]),
      [
        ["system", "init", undefined],
        ["warning", "prompt_failed", "bad key"],
        ["result", "error", undefined],
      ],
    );
  });
});

describe("caliban's progress", () => {
  it("warns when another model answers than the one that was asked", async () => {
    const error = { code: "provider-overloaded" as const, message: "Busy", retryable: true };
    const frames = await encode({
      events: [{ type: "fallback.used", messageId: "m", from: "big", to: "small", error }],
      outcomes: [],
    });
    assert.deepEqual(frames[1], {
      type: "warning",
      subtype: "model_mismatch",
      message: "big could not answer (Busy); small is asked instead",
      details: { requested: "big", actual: "small" },
    });
  });

  it("names the kind of trouble behind a retry", async () => {
    const retry = (code: "provider-unavailable" | "provider-timeout", httpStatus?: number): EventBody => ({
      type: "retry.scheduled",
      messageId: "m",
      attempt: 1,
      maxRetries: 3,
      delayMs: 5,
      error: { code, message: "", retryable: true, ...(httpStatus !== undefined && { httpStatus }) },
    });
    const events = [retry("provider-unavailable", 502), retry("provider-unavailable"), retry("provider-timeout")];
    const frames = await encode({ events, outcomes: [] });
    assert.deepEqual(
      frames.slice(1).map((frame) => frame["error_category"]),
      ["server_error", "network", "timeout"],
    );
  });

  it("shows what a hook decided, and both ends of one that nobody waits for", async () => {
    const hook = { hookId: "h", event: "PreToolUse" as const, name: "PreToolUse:Bash" };
    const answer = { hookSpecificOutput: { permissionDecision: "deny", permissionDecisionReason: "not today" } };
    const ended = { type: "hook.ended" as const, ...hook, status: "ok" as const, exitCode: 0, stderr: "", durationMs: 1 };
    const events: EventBody[] = [
      { type: "hook.started", ...hook, background: false },
      { ...ended, stdout: JSON.stringify(answer) },
      { type: "hook.started", ...hook, background: true },
      { ...ended, stdout: "{broken" },
    ];
    const frames = await encode({ events, outcomes: [], options: { includeHookEvents: true } });
    const common = { hook: "PreToolUse:Bash", hookId: "h" };
    assert.deepEqual(
      frames.slice(1).map((frame) => frame["hookSpecificOutput"]),
      [
        { ...answer.hookSpecificOutput, status: "ok", exitCode: 0, ...common },
        { status: "dispatched", ...common },
        { status: "ok", exitCode: 0, ...common },
      ],
    );
    assert.equal((await encode({ events, outcomes: [] })).length, 1);
  });
});
