import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { HookEventName } from "../protocol/events.ts";
import { parseHookOutput, parseJudgement, readHookOutput } from "./output.ts";

const events: readonly HookEventName[] = [
  "PreToolUse",
  "PostToolUse",
  "UserPromptSubmit",
  "SessionStart",
  "Stop",
  "PermissionRequest",
];

function read(value: unknown, event: HookEventName = "PreToolUse"): unknown {
  const reading = parseHookOutput(JSON.stringify(value), event);
  return reading.ok ? reading.output : reading.problem;
}

describe("what a hook prints", () => {
  it("is context where text is context, and nothing elsewhere", () => {
    assert.deepEqual(parseHookOutput("  the branch is main\n", "SessionStart"), {
      ok: true,
      output: { context: "the branch is main" },
    });
    assert.deepEqual(parseHookOutput("checked\n", "PreToolUse"), { ok: true, output: {} });
    assert.deepEqual(parseHookOutput("\n", "UserPromptSubmit"), { ok: true, output: {} });
  });

  it("is a decision with a reason, in the old words and the new ones", () => {
    assert.deepEqual(read({ decision: "block", reason: "no" }), { decision: "deny", reason: "no" });
    assert.deepEqual(read({ decision: "approve" }), { decision: "allow" });
    assert.deepEqual(read({ hookSpecificOutput: { permissionDecision: "ask", permissionDecisionReason: "sure?" } }), {
      decision: "ask",
      reason: "sure?",
    });
    assert.deepEqual(read({ hookSpecificOutput: { permissionDecision: "defer" } }), { decision: "defer" });
    assert.deepEqual(
      read({
        hookSpecificOutput: {
          decision: { behavior: "deny", message: "not here", interrupt: true },
        },
      }),
      { decision: "deny", reason: "not here", interrupt: true },
    );
  });

  it("is a decision also where it stands beside hookSpecificOutput", () => {
    assert.deepEqual(read({ permissionDecision: "deny", permissionDecisionReason: "no" }), { decision: "deny", reason: "no" });
    assert.match(String(read({ permissionDecision: "denied" })), /permissionDecision/);
  });

  it("counts the stricter of two decisions", () => {
    assert.deepEqual(read({ decision: "approve", hookSpecificOutput: { permissionDecision: "deny" } }), { decision: "deny" });
  });

  it("may change the input, add context, end the turn and speak to the person", () => {
    assert.deepEqual(
      read({
        continue: false,
        stopReason: "enough",
        suppressOutput: true,
        systemMessage: "look here",
        hookSpecificOutput: { updatedInput: { command: "ls" }, additionalContext: "by the way" },
      }),
      { stop: "enough", message: "look here", updatedInput: { command: "ls" }, context: "by the way" },
    );
    assert.deepEqual(read({ continue: false }), { stop: "A hook ended the turn" });
    assert.deepEqual(read({ async: true }), { background: true });
    assert.deepEqual(read({ hookSpecificOutput: { updatedToolOutput: null } }, "PostToolUse"), {});
  });

  it("is a problem when it starts like JSON and is none, or says something that cannot be meant", () => {
    assert.match(String(read({ decision: "blok" })), /"decision" is "blok"; expected one of block/);
    assert.match(String(read({ decision: "x".repeat(58) })), /"decision" is "x{58}"; expected/);
    assert.match(String(read({ decision: "x".repeat(59) })), /"decision" is "x{59}…; expected/);
    assert.match(String(read({ hookSpecificOutput: { permissionDecision: "denied" } })), /permissionDecision/);
    assert.match(String(read({ hookSpecificOutput: { updatedInput: ["a"] } })), /updatedInput/);
    assert.match(String(read({ hookSpecificOutput: { decision: "allow" } })), /"hookSpecificOutput\.decision" is no object/);
    assert.match(String(read({ continue: "false" })), /"continue" is no boolean/);
    assert.match(String(read({ decision: "constructor" })), /expected one of/);
    const cut = parseHookOutput('{"decision": "block", "reas', "PreToolUse");
    assert.match(cut.ok ? "" : cut.problem, /^its output starts like JSON and is none: (?!SyntaxError)./);
    assert.equal(readHookOutput("deny").ok, false);
  });

  it("never crashes the reader", () => {
    const words = fc.constantFrom(
      "decision",
      "continue",
      "hookSpecificOutput",
      "permissionDecision",
      "updatedInput",
      "async",
      "reason",
      "__proto__",
    );
    const json = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom("block", "allow", "deny", true, false, null, 0),
        fc.string(),
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(words, tie("value"), { maxKeys: 5 }),
      ),
    })).value;
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          json.map((value) => JSON.stringify(value)),
          fc.string().map((text) => `{${text}`),
        ),
        fc.constantFrom(...events),
        (text, event) => {
          const reading = parseHookOutput(text, event);
          if (!reading.ok) return assert.ok(reading.problem.length > 0);
          const { decision, updatedInput, context } = reading.output;
          assert.ok(decision === undefined || ["allow", "ask", "deny"].includes(decision));
          assert.ok(updatedInput === undefined || (typeof updatedInput === "object" && !Array.isArray(updatedInput)));
          assert.ok(context === undefined || typeof context === "string");
        },
      ),
      { numRuns: 5000 },
    );
    assert.equal(Object.hasOwn(Object.prototype, "decision"), false);
  });
});

describe("what a judging model answers", () => {
  it("is yes or no with a reason, also with words around it", () => {
    assert.deepEqual(parseJudgement('{"ok": true}'), { ok: true, output: {} });
    assert.deepEqual(parseJudgement('Here:\n```json\n{"ok": false, "reason": "touches production"}\n```'), {
      ok: true,
      output: { decision: "deny", reason: "touches production" },
    });
  });

  it("is a problem when it is neither", () => {
    assert.deepEqual(
      ["", "yes", '{"ok": "true"}', '{"allowed": true}', "{}", "}{"].map((text) => parseJudgement(text).ok),
      [false, false, false, false, false, false],
    );
  });
});
