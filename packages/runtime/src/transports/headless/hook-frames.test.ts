import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AgentEvent, EventBody } from "../../protocol/events.ts";
import { createClaudeFormat } from "./claude-format.ts";
import { createRedactor } from "../../util/redact.ts";
import type { Outcome } from "../../protocol/outcome.ts";

function frames(bodies: readonly EventBody[], includeHookEvents: boolean): unknown[] {
  let ids = 0;
  const format = createClaudeFormat("stream-json", { sessionId: "s", newId: () => `u${++ids}`, includeHookEvents });
  const text = bodies
    .map((body, index) => format.event({ seq: index + 1, at: "", sessionId: "s", ...body } as AgentEvent))
    .join("");
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

const about = (event: "SessionStart" | "PreToolUse", name: string) => ({ hookId: `h-${event}`, event, name });
const ended = { stdout: "out", stderr: "err", durationMs: 1 };
const story: EventBody[] = [
  { type: "hook.started", ...about("SessionStart", "SessionStart:startup"), background: false },
  { type: "hook.ended", ...about("SessionStart", "SessionStart:startup"), status: "ok", exitCode: 0, ...ended },
  { type: "hook.started", ...about("PreToolUse", "PreToolUse:Bash"), callId: "c1", background: false },
  { type: "hook.ended", ...about("PreToolUse", "PreToolUse:Bash"), callId: "c1", status: "timeout", ...ended },
];

const start = {
  type: "system",
  session_id: "s",
  hook_id: "h-SessionStart",
  hook_name: "SessionStart:startup",
  hook_event: "SessionStart",
};
const tool = { type: "system", session_id: "s", hook_id: "h-PreToolUse", hook_name: "PreToolUse:Bash", hook_event: "PreToolUse" };
const written = { output: "outerr", stdout: "out", stderr: "err" };

describe("frames about hooks", () => {
  it("are written for the start of a session always, and for the rest when they are asked for", () => {
    assert.deepEqual(frames(story, true), [
      { ...start, subtype: "hook_started", uuid: "u1" },
      { ...start, subtype: "hook_response", uuid: "u2", ...written, exit_code: 0, outcome: "success" },
      { ...tool, subtype: "hook_started", uuid: "u3" },
      { ...tool, subtype: "hook_response", uuid: "u4", ...written, outcome: "cancelled" },
    ]);
    assert.deepEqual(frames(story, false), frames(story.slice(0, 2), true));
  });

  it("are written for refusals with the tool, the reason and the rule, and not for what is allowed", () => {
    const verdict = { callId: "c1", tool: "Bash", reason: "The rule Bash(rm:*) forbids it", rule: "Bash(rm:*)", source: "x" };
    const decided: EventBody[] = [
      { type: "permission.decided", ...verdict, effect: "allow", by: "rule" },
      { type: "permission.decided", ...verdict, effect: "deny", by: "rule" },
    ];
    assert.deepEqual(frames(decided, false), [
      {
        type: "system",
        subtype: "permission_denied",
        session_id: "s",
        uuid: "u1",
        tool_name: "Bash",
        tool_use_id: "c1",
        message: "The rule Bash(rm:*) forbids it",
        decision_reason_type: "rule",
        decision_reason: "Bash(rm:*)",
        decided_by: "rule",
      },
    ]);
  });

  it("end with a result that says a hook stopped it, and why", async () => {
    const format = createClaudeFormat("json", { sessionId: "s", newId: () => "u" });
    const result = JSON.parse(
      await format.end(createRedactor().value<Outcome>({ type: "stopped", limit: "hook", text: "so far", reason: "enough" })),
    );
    const { subtype, is_error, terminal_reason, errors, last_assistant_text } = result;
    assert.deepEqual(
      { subtype, is_error, terminal_reason, errors, last_assistant_text },
      {
        subtype: "error_during_execution",
        is_error: true,
        terminal_reason: "hook_stopped",
        errors: ["enough"],
        last_assistant_text: "so far",
      },
    );
  });
});
