import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { noUsage } from "../../protocol/content.ts";
import type { AgentEvent, EventBody } from "../../protocol/events.ts";
import { createClaudeFormat } from "./claude-format.ts";
import { createRedactor } from "../../util/redact.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import { createScriptedProvider } from "../../model/scripted.ts";
import { InteractiveSession } from "../../session/interactive-session.ts";
import { toCallResult } from "../acp/call-result.ts";

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

const about = (event: "Setup" | "SessionStart" | "PreToolUse", name: string) => ({ hookId: `h-${event}`, event, name });
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
  it("are written for the setting up always, as for the start", () => {
    const setup = { ...about("Setup", "Setup:init"), background: false };
    assert.deepEqual(
      frames([{ type: "hook.started", ...setup }, ...story.slice(2)], false).map((frame) => Object(frame).hook_event),
      ["Setup"],
    );
  });

  it("are written for the start of a session always, and for the rest when they are asked for", () => {
    assert.deepEqual(frames(story, true), [
      { ...start, subtype: "hook_started", uuid: "u1" },
      { ...start, subtype: "hook_response", uuid: "u2", ...written, exit_code: 0, outcome: "success" },
      { ...tool, subtype: "hook_started", uuid: "u3" },
      { ...tool, subtype: "hook_response", uuid: "u4", ...written, exit_code: 1, outcome: "cancelled" },
    ]);
    assert.deepEqual(frames(story, false), frames(story.slice(0, 2), true));
  });

  it("call a hook that blocks a success where its command went well: what it decided is in its output", () => {
    const blocked = {
      type: "hook.ended",
      ...about("SessionStart", "SessionStart:startup"),
      status: "blocked",
      ...ended,
    } as const;
    const outcomes = frames(
      [
        { ...blocked, exitCode: 0 },
        { ...blocked, exitCode: 2 },
      ],
      true,
    ) as { outcome: string }[];
    assert.deepEqual(
      outcomes.map(({ outcome }) => outcome),
      ["success", "error"],
    );
  });

  it("are followed by results that say which calls were cut off", () => {
    const result = {
      type: "tool-result",
      callId: "c1",
      name: "Bash",
      content: [{ type: "text", text: "Interrupted" }],
      isError: true,
    };
    const cut = { type: "tool.ended", callId: "c1", name: "Bash", status: "interrupted", result, durationMs: 1, notes: [] };
    const [frame] = frames([cut as unknown as EventBody], false) as { tool_result_meta: unknown }[];
    assert.deepEqual(frame?.tool_result_meta, [{ id: "c1", non_execution_kind: "user-rejected" }]);
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

describe("frames of a turn that runs a command", () => {
  const turn = (command: string, outcome: Outcome): EventBody[] => [
    { type: "turn.started", input: { role: "user", content: [{ type: "text", text: `/${command}` }] }, command },
    { type: "turn.ended", outcome, usage: noUsage, modelCalls: 0, modelDurationMs: 0, durationMs: 1 },
  ];
  const said = (bodies: readonly EventBody[]): unknown[] =>
    (frames(bodies, false) as Record<string, unknown>[])
      .filter(({ type }) => type === "assistant")
      .map(({ message, local_command_source, local_command_outcome, local_command_run }) => {
        const { model, stop_reason, content } = message as Record<string, unknown>;
        return { model, stop_reason, content, local_command_source, local_command_outcome, local_command_run };
      });

  it("say what it says as a message that no model wrote, and why it failed", () => {
    const base = { model: "<synthetic>", stop_reason: "end_turn" };
    assert.deepEqual(said(turn("cost", { type: "completed", text: "Cost: $0" })), [
      {
        ...base,
        content: [{ type: "text", text: "Cost: $0" }],
        local_command_source: "<local-command-stdout>Cost: $0</local-command-stdout>",
        local_command_outcome: undefined,
        local_command_run: { command: "cost", args: "" },
      },
    ]);
    assert.deepEqual(said(turn("mine", { type: "completed", text: "Done" })), [
      {
        ...base,
        content: [{ type: "text", text: "Done" }],
        local_command_source: "<local-command-stdout>Done</local-command-stdout>",
        local_command_outcome: undefined,
        local_command_run: undefined,
      },
    ]);
    assert.deepEqual(
      said(turn("deplyo", { type: "failed", text: "", error: { code: "usage", message: "No", retryable: false } })),
      [
        {
          ...base,
          content: [{ type: "text", text: "No" }],
          local_command_source: "<local-command-stderr>No</local-command-stderr>",
          local_command_outcome: { kind: "failed" },
          local_command_run: { command: "deplyo", args: "" },
        },
      ],
    );
    assert.deepEqual(said(turn("clear", { type: "completed", text: "" })), []);
  });

  it("tell that the conversation begins anew only where a command has done it, and what still works beside it", () => {
    const [begin, end] = turn("clear", { type: "completed", text: "" });
    const rewound: EventBody = { type: "session.rewound", to: 1 };
    const kinds = (bodies: readonly (EventBody | undefined)[]): unknown[] =>
      (
        frames(
          bodies.filter((body) => body !== undefined),
          false,
        ) as Record<string, unknown>[]
      ).map(({ type, subtype, trigger }) => [type, subtype ?? trigger]);
    assert.deepEqual(kinds([begin, rewound, end]), [
      ["conversation_reset", "clear"],
      ["system", "background_tasks_changed"],
    ]);
    assert.deepEqual(kinds([rewound]), []);
  });

  it("name it in the result: ours by its name, all others custom, and none where a model was asked", async () => {
    const names = [];
    for (const command of ["cost", "mine", undefined]) {
      const format = createClaudeFormat("json", { sessionId: "s", newId: () => "u" });
      const outcome: Outcome = { type: "completed", text: "ok" };
      const [begin, end] = turn(command ?? "", outcome);
      const shown = createRedactor().value<Outcome>(outcome);
      const bodies = [command === undefined ? { ...begin, command } : begin, end];
      for (const [index, body] of bodies.entries())
        format.event({ seq: index + 1, at: "2026-01-01T00:00:00Z", sessionId: "s", ...body } as AgentEvent);
      names.push((JSON.parse(await format.end(shown)) as Record<string, unknown>)["local_command"]);
    }
    assert.deepEqual(names, ["cost", "custom", undefined]);
  });
});

describe("what hooks say to a call", () => {
  const says = (hookEventName: string) => ({
    hooks: [() => ({ hookSpecificOutput: { hookEventName, additionalContext: "mind the gap" } })],
  });
  const hooks = {
    PreToolUse: [says("PreToolUse")],
    PostToolUse: [says("PostToolUse")],
    PostToolUseFailure: [says("PostToolUseFailure")],
  };
  const bash = (command: string) => ({ calls: [{ name: "Bash", input: { command, description: "d" } }] });

  it("is read by the model and stands in nothing that shows what the tool answered", async () => {
    const provider = createScriptedProvider([bash(`echo '{"a":1}'`), bash("echo no; exit 3"), { text: "Done." }]);
    const session = new InteractiveSession({ cwd: "/", provider, hooks, permissionMode: "bypassPermissions" });
    const format = createClaudeFormat("stream-json", { sessionId: "s", newId: () => "u" });
    const lines: string[] = [];
    const shown: unknown[] = [];
    const reading = (async () => {
      for await (const event of session.events()) {
        lines.push(...format.event(event).split("\n").filter(Boolean));
        if (event.type === "tool.ended") shown.push(Object(toCallResult(event, { input: {}, cwd: "/" }).rawOutput).output);
      }
    })();
    await session.submit("go");
    await session.shutdown();
    await reading;
    const results = lines.map((line) => JSON.parse(line)).filter(({ tool_use_result }) => tool_use_result !== undefined);
    const [worked, failed] = results.map(({ message }) => message.content[0].content);
    assert.deepEqual([worked, results[0].tool_use_result.stdout], ['{"a":1}', '{"a":1}']);
    assert.equal(results[1].tool_use_result, `Error: ${failed}`);
    assert.deepEqual(shown, [worked, failed]);
    assert.doesNotMatch(JSON.stringify(results), /mind the gap/);
    const told = JSON.stringify(provider.requests.at(-1)?.messages);
    for (const name of Object.keys(hooks)) assert.ok(told.includes(`${name} hook: mind the gap`), name);
  });
});
