import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { HooksByEvent } from "../engine/open-hooks.ts";
import { createScriptedProvider, type ScriptStep } from "../model/scripted.ts";
import type { Answer } from "../permissions/gate.ts";
import type { AgentEvent, EventType } from "../protocol/events.ts";
import type { SessionOptions } from "./session-options.ts";
import { InteractiveSession } from "./interactive-session.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-tool-hooks-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const path = (name: string): string => join(folder, name);

const touch = (name: string) => ({ name: "Bash", input: { command: `touch ${name}`, description: "t" } });
const callThenAnswer = (...calls: { name: string; input: unknown }[]): ScriptStep[] => [{ calls }, { text: "Done." }];
const pre = (...hooks: NonNullable<HooksByEvent["PreToolUse"]>[number]["hooks"]): HooksByEvent => ({ PreToolUse: [{ hooks }] });
const decide =
  (permissionDecision: string | undefined, more: object = {}) =>
  () => ({
    hookSpecificOutput: { permissionDecision, permissionDecisionReason: `said ${permissionDecision}`, ...more },
  });

/** One prompt to its end, with everything it left behind. */
async function run(replies: readonly ScriptStep[], options: Partial<SessionOptions>, answer?: Answer | "allow" | "deny") {
  const provider = createScriptedProvider(replies);
  const session = new InteractiveSession({ cwd: folder, provider, answersPermissions: answer !== undefined, ...options });
  if (answer !== undefined) session.on("permission_request", ({ requestId }) => session.answerPermission(requestId, answer));
  const events: AgentEvent[] = [];
  const reading = (async () => {
    for await (const event of session.events()) events.push(event);
  })();
  const outcome = await session.submit("go");
  await session.shutdown();
  await reading;
  const results = only(events, "tool.ended").map(
    ({ status, result }) => [status, result.content.map((part) => (part.type === "text" ? part.text : "")).join("\n")] as const,
  );
  const verdicts = only(events, "permission.decided").map(({ effect, by, reason, rule, source }) => ({
    effect,
    by,
    reason,
    ...(rule !== undefined && { rule }),
    ...(source !== undefined && { source }),
  }));
  return { outcome, events, results, verdicts, provider };
}

function only<T extends EventType>(events: readonly AgentEvent[], type: T): Extract<AgentEvent, { type: T }>[] {
  return events.filter((event): event is Extract<AgentEvent, { type: T }> => event.type === type);
}

describe("PreToolUse hooks", () => {
  it("may put a call off: it is not run, the turn ends there, and a later turn may make it again", async () => {
    let said = "defer";
    const provider = createScriptedProvider([
      { calls: [{ ...touch("put-off"), callId: "put-off-1" }] },
      { calls: [touch("put-off")] },
      { text: "Done." },
    ]);
    const options = { cwd: folder, provider, permissionMode: "bypassPermissions" } as const;
    const session = new InteractiveSession({ ...options, hooks: pre(() => decide(said)()) });
    const outcome = await session.submit("go");
    assert.deepEqual(outcome, {
      ...{ type: "stopped", limit: "hook", text: "", reason: "a PreToolUse hook has put off a call of Bash" },
      deferred: { callId: "put-off-1", ...touch("put-off") },
    });
    assert.deepEqual([provider.requests.length, existsSync(path("put-off"))], [1, false]);
    said = "allow";
    assert.equal((await session.submit("now you may")).type, "completed");
    assert.ok(existsSync(path("put-off")));
    await session.shutdown();
  });

  it("that put a call off count more than those that allow or ask, and less than those that refuse", async () => {
    const said = async (...words: string[]) =>
      (await run([{ calls: [touch("never")] }, { text: "" }], { hooks: pre(...words.map((word) => decide(word))) })).outcome;
    assert.ok("deferred" in (await said("allow", "defer", "ask")));
    assert.ok(!("deferred" in (await said("defer", "deny"))));
  });

  it("that exit with 2 keep an allowed tool from running, in every mode, and the model reads why", async () => {
    for (const permissionMode of ["default", "acceptEdits", "dontAsk", "bypassPermissions"] as const) {
      const hook = { type: "command" as const, command: "echo 'no touching' >&2; exit 2" };
      const { results, verdicts } = await run(callThenAnswer(touch("hk001")), {
        permissionMode,
        allowedTools: ["Bash"],
        hooks: pre(hook),
      });
      assert.equal(existsSync(path("hk001")), false, permissionMode);
      assert.deepEqual(results, [["denied", "Not permitted: a PreToolUse hook said no: no touching."]]);
      assert.deepEqual(verdicts, [{ effect: "deny", by: "hook", reason: "a PreToolUse hook said no: no touching" }]);
    }
  });

  it("allow what would be asked about", async () => {
    const { verdicts, results } = await run(callThenAnswer(touch("allowed")), { hooks: pre(decide("allow")) });
    assert.equal(existsSync(path("allowed")), true);
    assert.equal(results[0]?.[0], "ok");
    assert.deepEqual(verdicts, [{ effect: "allow", by: "hook", reason: "a PreToolUse hook allows it" }]);
  });

  it("do not get past a deny rule, plan mode or a protected place", async () => {
    const rule = await run(callThenAnswer(touch("hk006")), { disallowedTools: ["Bash(touch:*)"], hooks: pre(decide("allow")) });
    assert.equal(existsSync(path("hk006")), false);
    assert.deepEqual(rule.verdicts, [
      {
        effect: "deny",
        by: "rule",
        reason: "The rule Bash(touch:*) forbids it",
        rule: "Bash(touch:*)",
        source: "disallowedTools",
      },
    ]);
    const plan = await run(callThenAnswer(touch("plan")), { permissionMode: "plan", hooks: pre(decide("allow")) });
    assert.deepEqual(
      plan.verdicts.map(({ effect, by }) => [effect, by]),
      [["deny", "mode"]],
    );
    const write = { name: "Write", input: { file_path: ".git/hooks/pre-commit", content: "x" } };
    const guarded = await run(callThenAnswer(write), { hooks: pre(decide("allow")) });
    assert.equal(guarded.results[0]?.[0], "denied");
    assert.equal(existsSync(path(".git/hooks/pre-commit")), false);
  });

  it("can have an allowed call asked about", async () => {
    const alone = await run(callThenAnswer(touch("ask")), { allowedTools: ["Bash"], hooks: pre(decide("ask")) });
    assert.match(alone.results[0]?.[1] ?? "", /said ask, and nobody is here/);
    assert.deepEqual(
      alone.verdicts.map(({ effect, by }) => [effect, by]),
      [["deny", "policy"]],
    );
    const attended = await run(callThenAnswer(touch("ask")), { allowedTools: ["Bash"], hooks: pre(decide("ask")) }, "allow");
    assert.deepEqual(attended.verdicts, [{ effect: "allow", by: "user", reason: "the user said yes" }]);
    const strict = await run(callThenAnswer(touch("ask2")), {
      permissionMode: "dontAsk",
      allowedTools: ["Bash"],
      hooks: pre(decide("ask")),
    });
    assert.deepEqual(
      strict.verdicts.map(({ effect, by }) => [effect, by]),
      [["deny", "hook"]],
    );
  });

  it("change the input, which is then checked and judged as if the model had written it", async () => {
    const change = (updatedInput: object, permissionDecision?: string) => pre(decide(permissionDecision, { updatedInput }));
    const moved = await run(callThenAnswer(touch("old")), {
      allowedTools: ["Bash"],
      hooks: change({ command: "touch new", description: "t" }),
    });
    assert.deepEqual([existsSync(path("old")), existsSync(path("new"))], [false, true]);
    assert.deepEqual(only(moved.events, "tool.started")[0]?.input, { command: "touch new", description: "t" });

    const unfit = await run(callThenAnswer(touch("unfit")), { allowedTools: ["Bash"], hooks: change({ command: 7 }, "allow") });
    assert.equal(unfit.results[0]?.[0], "denied");
    assert.match(unfit.results[0]?.[1] ?? "", /changed the input, which no longer fits/);
    assert.equal(existsSync(path("unfit")), false);

    const forbidden = await run(callThenAnswer({ name: "Bash", input: { command: "true", description: "t" } }), {
      disallowedTools: ["Bash(touch:*)"],
      hooks: change({ command: "touch smuggled", description: "t" }, "allow"),
    });
    assert.deepEqual(
      forbidden.verdicts.map(({ effect, by }) => [effect, by]),
      [["deny", "rule"]],
    );
    assert.equal(existsSync(path("smuggled")), false);
  });

  it("add what the model should know to the result", async () => {
    const { results } = await run(callThenAnswer(touch("noted")), {
      allowedTools: ["Bash"],
      hooks: pre(decide(undefined, { additionalContext: "mind the gap" })),
    });
    assert.match(results[0]?.[1] ?? "", /<system-reminder>\nPreToolUse hook: mind the gap\n<\/system-reminder>/);
  });

  it("end the turn with continue: false; calls that wait are not run", async () => {
    const hooks: HooksByEvent = {
      PreToolUse: [
        {
          hooks: [
            { type: "callback", if: "Bash(touch first)", callback: () => ({ continue: false, stopReason: "enough for today" }) },
          ],
        },
      ],
    };
    const { outcome, results, provider } = await run(
      [{ text: "Both.", calls: [touch("first"), touch("second")] }, { text: "never" }],
      { allowedTools: ["Bash"], hooks },
    );
    assert.deepEqual(outcome, { type: "stopped", limit: "hook", reason: "enough for today", text: "Both." });
    assert.deepEqual(
      results.map(([status]) => status),
      ["denied", "interrupted"],
    );
    assert.equal(provider.requests.length, 1);
    assert.deepEqual([existsSync(path("first")), existsSync(path("second"))], [false, false]);
  });

  it("with a condition see the calls its rule catches, however they are written", async () => {
    const seen: unknown[] = [];
    const hooks: HooksByEvent = {
      PreToolUse: [
        {
          matcher: "Bash",
          hooks: [{ type: "callback", if: "Bash(touch:*)", callback: (input) => void seen.push(input["tool_input"]) }],
        },
      ],
    };
    const bash = (command: string) => ({ name: "Bash", input: { command, description: "t" } });
    await run(callThenAnswer(bash("true"), bash("true && touch c1"), bash("bash -c 'touch c2'"), bash("echo touch")), {
      allowedTools: ["Bash"],
      hooks,
    });
    assert.deepEqual(
      seen.map((input) => (input as { command: string }).command),
      ["true && touch c1", "bash -c 'touch c2'"],
    );
  });

  it("get what they need to know, also that nobody is there", async () => {
    const seen: unknown[] = [];
    await run(callThenAnswer(touch("facts")), {
      sessionId: "s1",
      permissionMode: "acceptEdits",
      hooks: pre((input) => void seen.push(input)),
    });
    const [{ prompt_id: promptId, ...facts }] = seen as [Record<string, unknown>];
    assert.equal(typeof promptId, "string");
    assert.deepEqual(
      [facts],
      [
        {
          session_id: "s1",
          transcript_path: "",
          cwd: folder,
          permission_mode: "acceptEdits",
          headless: true,
          effort: { level: "medium" },
          hook_event_name: "PreToolUse",
          tool_name: "Bash",
          tool_input: { command: "touch facts", description: "t" },
          tool_use_id: "call_1_1",
        },
      ],
    );
  });

  it("run for each of several calls side by side, and each verdict is told once, before the call starts", async () => {
    const read = (name: string) => ({ name: "Glob", input: { pattern: name } });
    const hook = { type: "command" as const, command: `grep -q '"pattern":"b"' && { echo "not b" >&2; exit 2; }; sleep 0.05` };
    const { results, events, verdicts } = await run(callThenAnswer(read("a"), read("b"), read("c")), {
      hooks: pre({ ...hook, onFailure: "continue" }),
    });
    assert.deepEqual(results.map(([status]) => status).sort(), ["denied", "ok", "ok"]);
    assert.deepEqual(verdicts.map(({ effect }) => effect).sort(), ["allow", "allow", "deny"]);
    for (const { callId } of only(events, "tool.started")) {
      const order = events.filter((event) => "callId" in event && event.callId === callId).map((event) => event.type);
      assert.deepEqual(
        order.filter((type) => type !== "tool-input.delta"),
        ["hook.started", "hook.ended", "permission.decided", "tool.started", "tool.ended"],
      );
    }
  });
});

describe("guard hooks", () => {
  it("see the input a person changed in their answer", async () => {
    const judged: unknown[] = [];
    const guard = {
      type: "callback" as const,
      guard: true,
      callback: (input: Record<string, unknown>) => {
        const { command } = input["tool_input"] as { command: string };
        judged.push(command);
        return command.includes("secret") ? { decision: "block", reason: "not that" } : {};
      },
    };
    const updatedInput = { command: "touch secret", description: "t" };
    const { verdicts } = await run(callThenAnswer(touch("public")), { hooks: pre(guard) }, { decision: "allow", updatedInput });
    assert.deepEqual(judged, ["touch public", "touch secret"]);
    assert.deepEqual(verdicts, [{ effect: "deny", by: "hook", reason: "a PreToolUse hook said no: not that" }]);
    assert.deepEqual([existsSync(path("public")), existsSync(path("secret"))], [false, false]);
  });

  it("stay when all hooks are switched off", async () => {
    const source = (name: string, more: object = {}) => ({
      value: { PreToolUse: [{ hooks: [{ type: "command", command: `touch ${path(name)}`, ...more }] }] },
      source: name,
      trusted: true,
    });
    await run(callThenAnswer({ name: "Glob", input: { pattern: "x" } }), {
      hookSettings: { disableAllHooks: true, sources: [source("plain-ran"), source("guard-ran", { guard: true })] },
    });
    assert.deepEqual([existsSync(path("plain-ran")), existsSync(path("guard-ran"))], [false, true]);
  });
});

describe("PermissionRequest hooks", () => {
  const request = (output: unknown): HooksByEvent => ({ PermissionRequest: [{ hooks: [() => output] }] });

  it("answer where nobody else is there, and their answer counts", async () => {
    const yes = await run(callThenAnswer(touch("hk007")), {
      hooks: request({ hookSpecificOutput: { decision: { behavior: "allow" } } }),
    });
    assert.equal(existsSync(path("hk007")), true);
    assert.deepEqual(
      yes.verdicts.map(({ effect, by }) => [effect, by]),
      [["allow", "hook"]],
    );
    const no = await run(
      callThenAnswer(touch("hk007-no")),
      { hooks: request({ hookSpecificOutput: { decision: { behavior: "deny", message: "never" } } }) },
      "allow",
    );
    assert.deepEqual(no.verdicts, [{ effect: "deny", by: "hook", reason: "a PermissionRequest hook said no: never" }]);
    assert.deepEqual(only(no.events, "permission.requested"), []);
  });

  it("are not asked about what is allowed or denied anyway", async () => {
    let asked = 0;
    const hooks: HooksByEvent = { PermissionRequest: [{ hooks: [() => void asked++] }] };
    await run(callThenAnswer({ name: "Glob", input: { pattern: "x" } }), { hooks });
    await run(callThenAnswer(touch("denied")), { hooks, disallowedTools: ["Bash(touch:*)"] });
    assert.equal(asked, 0);
    await run(callThenAnswer(touch("denied")), { hooks });
    assert.equal(asked, 1);
  });

  it("may change the input, but not past a deny rule", async () => {
    const updatedInput = { command: "rm -rf x", description: "t" };
    const { verdicts } = await run(callThenAnswer(touch("ok")), {
      disallowedTools: ["Bash(rm:*)"],
      hooks: request({ hookSpecificOutput: { decision: { behavior: "allow", updatedInput } } }),
    });
    assert.deepEqual(
      verdicts.map(({ effect, by }) => [effect, by]),
      [["deny", "rule"]],
    );
  });
});

describe("an answer to a permission question", () => {
  it("says no in its own words", async () => {
    const { results } = await run(callThenAnswer(touch("x")), {}, { decision: "deny", message: "Use make instead." });
    assert.deepEqual(results, [["denied", "Use make instead."]]);
  });

  it("may end the turn", async () => {
    const { outcome, provider } = await run(callThenAnswer(touch("x")), {}, { decision: "deny", interrupt: true });
    assert.deepEqual(outcome, { type: "cancelled", cause: "abort", text: "" });
    assert.equal(provider.requests.length, 1);
  });

  it("may change the call, which must still fit", async () => {
    await run(
      callThenAnswer(touch("asked")),
      {},
      { decision: "allow", updatedInput: { command: "touch answered", description: "t" } },
    );
    assert.deepEqual([existsSync(path("asked")), existsSync(path("answered"))], [false, true]);
    const unfit = await run(callThenAnswer(touch("x")), {}, { decision: "allow", updatedInput: { cmd: "ls" } });
    assert.match(unfit.results[0]?.[1] ?? "", /no longer fits/);
  });

  it("sets off Notification hooks while it is waited for", async () => {
    const seen: unknown[] = [];
    const hooks: HooksByEvent = {
      Notification: [{ matcher: "permission_prompt", hooks: [(input) => void seen.push(input["message"])] }],
    };
    await run(callThenAnswer(touch("x")), { hooks }, "deny");
    assert.equal(seen.length, 1);
    assert.match(String(seen[0]), /^Bash waits for permission: Running a command needs permission in mode default/);
    await run(callThenAnswer(touch("x")), { hooks });
    assert.equal(seen.length, 1);
  });
});

describe("PostToolBatch hooks", () => {
  const batch = (answer: object, seen: unknown[] = []): HooksByEvent => ({
    PostToolBatch: [
      {
        hooks: [
          (input) => {
            seen.push(input["tool_calls"]);
            return answer;
          },
        ],
      },
    ],
  });
  const calls = [{ name: "Glob", input: { pattern: "nothing-here" } }, touch("never")];

  it("hear of all calls of a message at once, refused ones too, and speak to the model behind them", async () => {
    const seen: unknown[] = [];
    const { provider } = await run(callThenAnswer(...calls), {
      hooks: batch({ hookSpecificOutput: { hookEventName: "PostToolBatch", additionalContext: "both done" } }, seen),
    });
    const [[look, made]] = seen as [[Record<string, unknown>, Record<string, unknown>]];
    assert.deepEqual([look["tool_name"], made["tool_name"], made["tool_use_id"]], ["Glob", "Bash", "call_1_2"]);
    assert.match(String(made["tool_response"]), /Not permitted/);
    assert.match(JSON.stringify(provider.requests[1]?.messages.at(-1)), /PostToolBatch hook: both done/);
  });

  it("end the turn with a no", async () => {
    const { outcome, provider } = await run(callThenAnswer(...calls), { hooks: batch({ decision: "block", reason: "enough" }) });
    assert.deepEqual(outcome, { type: "stopped", limit: "hook", reason: "enough", text: "" });
    assert.equal(provider.requests.length, 1);
  });
});

describe("PostToolUse hooks", () => {
  it("see what was done and speak to the model beside the result", async () => {
    const seen: unknown[] = [];
    const hooks: HooksByEvent = {
      PostToolUse: [
        {
          matcher: "Bash",
          hooks: [
            (input) => {
              seen.push(input["tool_response"]);
              return {
                decision: "block",
                reason: "run the formatter",
                hookSpecificOutput: { additionalContext: "it is called fmt" },
              };
            },
          ],
        },
      ],
    };
    const bash = (command: string) => ({ name: "Bash", input: { command, description: "t" } });
    const { results, provider } = await run(callThenAnswer(bash("echo hi"), bash("echo bad >&2; exit 3")), {
      allowedTools: ["Bash"],
      hooks,
    });
    const [{ durationMs, ...response }, ...others] = seen as [Record<string, unknown>];
    assert.equal(typeof durationMs, "number");
    assert.deepEqual(
      [response, others],
      [
        {
          ...{ content: "hi", is_error: false, exitCode: 0 },
          ...{ stdout: "hi", stderr: "", interrupted: false, isImage: false, noOutputExpected: false },
        },
        [], // a call that failed is for PostToolUseFailure hooks
      ],
    );
    assert.equal(results[0]?.[0], "ok");
    assert.match(
      results[0]?.[1] ?? "",
      /hi\n[\s\S]*PostToolUse hook: run the formatter[\s\S]*PostToolUse hook: it is called fmt/,
    );
    assert.match(JSON.stringify(provider.requests[1]?.messages.at(-1)), /run the formatter/);
  });

  it("are not run for what was refused, and may end the turn", async () => {
    let ran = 0;
    const hooks: HooksByEvent = {
      PostToolUse: [{ hooks: [() => ({ continue: false, stopReason: `seen ${++ran}` })] }],
    };
    const refused = await run(callThenAnswer(touch("x")), { hooks });
    assert.deepEqual([ran, refused.outcome.type], [0, "completed"]);
    const done = await run(callThenAnswer({ name: "Glob", input: { pattern: "x" } }), { hooks });
    assert.deepEqual(done.outcome, { type: "stopped", limit: "hook", reason: "seen 1", text: "" });
    assert.equal(done.results[0]?.[0], "ok");
  });

  it("that are cut off by an abort do not undo what was done", async () => {
    const file = path("aborted-after");
    const provider = createScriptedProvider(callThenAnswer(touch("aborted-after")));
    const hooks: HooksByEvent = { PostToolUse: [{ hooks: [{ type: "command", command: "sleep 63.5" }] }] };
    const session = new InteractiveSession({ cwd: folder, provider, allowedTools: ["Bash"], hooks });
    const events = session.events();
    const turn = session.submit("go");
    let status: string | undefined;
    for await (const event of events) {
      if (event.type === "hook.started") session.abort();
      if (event.type === "tool.ended") status = event.status;
      if (event.type === "turn.ended") break;
    }
    assert.equal((await turn).type, "cancelled");
    assert.deepEqual([status, existsSync(file)], ["ok", true]);
    await session.shutdown();
  });
});

describe("a session without hooks", () => {
  it("tells each verdict once, with the rule and where it was written", async () => {
    const { verdicts, events } = await run(
      callThenAnswer(touch("by-rule"), { name: "Glob", input: { pattern: "x" } }, { name: "Nope", input: {} }),
      {
        allowedTools: ["Bash(touch:*)"],
      },
    );
    assert.deepEqual(verdicts, [
      { effect: "allow", by: "rule", reason: "The rule Bash(touch:*) allows it", rule: "Bash(touch:*)", source: "allowedTools" },
      { effect: "allow", by: "mode", reason: "Reading in the project is allowed" },
    ]);
    assert.deepEqual(
      events.filter((event) => event.type.startsWith("hook.")),
      [],
    );
    assert.equal(readFileSync(path("by-rule"), "utf8"), "");
  });
});
