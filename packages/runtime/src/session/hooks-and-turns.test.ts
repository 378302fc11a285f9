import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { HooksByEvent } from "../engine/open-hooks.ts";
import { createMemoryStore } from "../journal/memory-store.ts";
import { createScriptedProvider, type ScriptStep } from "../model/scripted.ts";
import { textOf } from "../protocol/content.ts";
import type { AgentEvent, EventType } from "../protocol/events.ts";
import type { SessionOptions } from "./session-options.ts";
import { InteractiveSession } from "./interactive-session.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-turn-hooks-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const path = (name: string): string => join(folder, name);

function open(replies: readonly ScriptStep[], hooks: HooksByEvent, options: Partial<SessionOptions> = {}) {
  const provider = createScriptedProvider(replies);
  const session = new InteractiveSession({ cwd: folder, provider, hooks, ...options });
  const events: AgentEvent[] = [];
  const reading = (async () => {
    for await (const event of session.events()) events.push(event);
  })();
  const close = async (shutdown: { reason?: string } = {}): Promise<AgentEvent[]> => {
    await session.shutdown(shutdown);
    await reading;
    return events;
  };
  const sent = (index: number): string[] =>
    (provider.requests[index]?.messages ?? []).map((message) => `${message.role}: ${textOf(message.content)}`);
  return { session, provider, events, close, sent };
}

const command = (line: string, more: object = {}) => ({ type: "command" as const, command: line, ...more });
const types = (events: readonly AgentEvent[]): EventType[] =>
  events.map((event) => event.type).filter((type) => !type.endsWith(".delta"));
const reminder = (event: string, text: string): string => `user: <system-reminder>\n${event} hook: ${text}\n</system-reminder>`;

describe("UserPromptSubmit hooks", () => {
  it("keep a prompt from being sent, now and later, and from being stored", async () => {
    const hook = command(`grep -q hunter2 && { echo "that is a password" >&2; exit 2; } || true`);
    const store = createMemoryStore();
    const { session, close, provider, sent } = open(
      [{ text: "Fine." }],
      { UserPromptSubmit: [{ hooks: [hook] }] },
      { sessionStore: store },
    );
    assert.deepEqual(await session.submit("my password is hunter2"), {
      type: "stopped",
      limit: "hook",
      text: "",
      reason: "that is a password",
    });
    assert.equal(provider.requests.length, 0);
    assert.deepEqual(await session.submit("hello"), { type: "completed", text: "Fine." });
    assert.deepEqual(sent(0), ["user: (A prompt stood here. A hook did not let it in, so it was not sent.)", "user: hello"]);
    const events = await close();
    assert.equal(events.filter((event) => event.type === "turn.ended").length, 2);
    assert.doesNotMatch(JSON.stringify(await store.read(session.id)), /hunter2/);
  });

  it("add what they print to the request, and it stays there when the session is resumed", async () => {
    const store = createMemoryStore();
    const hooks: HooksByEvent = { UserPromptSubmit: [{ hooks: [command("echo the branch is main")] }] };
    const first = open([{ text: "Ok." }], hooks, { sessionStore: store });
    await first.session.submit("where am I?");
    const events = await first.close();
    assert.deepEqual(first.sent(0), ["user: where am I?", reminder("UserPromptSubmit", "the branch is main")]);
    assert.deepEqual(types(events).slice(0, 6), [
      "session.started",
      "hook.started",
      "hook.ended",
      "turn.started",
      "input.added",
      "context.updated",
    ]);
    const again = open([{ text: "Ok." }], {}, { sessionStore: store, resumeSessionId: first.session.id });
    await again.session.submit("and now?");
    await again.close();
    assert.deepEqual(again.sent(0).slice(0, 2), first.sent(0));
  });

  it("get what was typed and what was made of it", async () => {
    const seen: unknown[] = [];
    const note = (input: Record<string, unknown>) => void seen.push([input["prompt"], input["expanded_prompt"]]);
    const { session, close } = open([{ text: "a" }, { text: "b" }], { UserPromptSubmit: [{ hooks: [note] }] });
    await session.submit("plain");
    await session.submit("expanded text", undefined, "/short");
    await close();
    assert.deepEqual(seen, [
      ["plain", undefined],
      ["/short", "expanded text"],
    ]);
  });

  it("are cut off by an abort, and the turn still ends once", async () => {
    const { session, close, events } = open([], { UserPromptSubmit: [{ hooks: [command("sleep 64.5")] }] });
    const turn = session.submit("go");
    await eventually(() => events.some((event) => event.type === "hook.started"));
    session.abort();
    assert.deepEqual(await turn, { type: "cancelled", cause: "abort", text: "" });
    assert.deepEqual(types(await close()), [
      "session.started",
      "hook.started",
      "hook.ended",
      "turn.started",
      "turn.ended",
      "session.ended",
    ]);
  });
});

describe("SessionStart hooks", () => {
  it("run once, before the first prompt, and know whether there was history", async () => {
    const store = createMemoryStore();
    const sources: unknown[] = [];
    const note = (input: Record<string, unknown>) => void sources.push(input["source"]);
    const hooks: HooksByEvent = { SessionStart: [{ hooks: [note] }, { matcher: "startup", hooks: [command("echo use tabs")] }] };
    const first = open([{ text: "a" }, { text: "b" }], hooks, { sessionStore: store });
    await first.session.submit("one");
    await first.session.submit("two");
    await first.close();
    assert.deepEqual(first.sent(0), ["user: one", reminder("SessionStart", "use tabs")]);
    const again = open([{ text: "c" }], hooks, { sessionStore: store, resumeSessionId: first.session.id });
    await again.session.submit("three");
    await again.close();
    assert.deepEqual(sources, ["startup", "resume"]);
  });

  it("may say what the user is to have said first", async () => {
    const first = () => ({ hookSpecificOutput: { hookEventName: "SessionStart", initialUserMessage: "Read TASK.md" } });
    const { session, close, sent } = open([{ text: "in" }], { SessionStart: [{ hooks: [first] }] });
    await session.submit("go");
    await close();
    assert.deepEqual(sent(0), ["user: go", "user: Read TASK.md"]);
  });

  it("that say no keep every prompt out until they say yes", async () => {
    writeFileSync(path("lock"), "");
    const hooks: HooksByEvent = { SessionStart: [{ hooks: [command(`test ! -e ${path("lock")}`, { onFailure: "block" })] }] };
    const { session, provider, close } = open([{ text: "in" }], hooks);
    const refused = await session.submit("one", "one, as people see it");
    assert.deepEqual([refused.type, provider.requests.length], ["stopped", 0]);
    rmSync(path("lock"));
    assert.deepEqual(await session.submit("two"), { type: "completed", text: "in" });
    const [first] = (await close()).filter((event) => event.type === "turn.started");
    assert.deepEqual([textOf(first?.input.content ?? []), first?.displayInput], ["one", "one, as people see it"]);
  });

  it("that end with exit code 2 have failed, as in Claude Code: programs end so for many reasons", async () => {
    const hooks: HooksByEvent = { SessionStart: [{ hooks: [command("echo FX; ls /nowhere")] }] };
    const { session, close } = open([{ text: "in" }], hooks);
    assert.deepEqual(await session.submit("one"), { type: "completed", text: "in" });
    const events = await close();
    const ended = events.find((event) => event.type === "hook.ended");
    assert.deepEqual(ended?.type === "hook.ended" && [ended.status, ended.exitCode], ["failed", 2]);
    assert.match(JSON.stringify(events.filter(({ type }) => type === "warning.raised")), /SessionStart.*exit code 2.*nowhere/);
  });

  it("in the background do not hold up the answer", async () => {
    const gate = path("start-gate");
    const hook = command(`until [ -e ${gate} ]; do sleep 0.02; done`, { async: true });
    const { session, close, events } = open([{ text: "quick" }], { SessionStart: [{ hooks: [hook] }] });
    await session.submit("go");
    assert.equal(
      events.some((event) => event.type === "hook.ended"),
      false,
    );
    writeFileSync(gate, "");
    const all = await close();
    const ended = all.find((event) => event.type === "hook.ended");
    assert.deepEqual([ended?.type === "hook.ended" && ended.status, ended?.turnId], ["ok", undefined]);
    const turn = all.filter((event) => event.turnId !== undefined);
    assert.equal(turn.at(-1)?.type, "turn.ended");
  });
});

describe("Stop hooks", () => {
  it("send the model back to work with a reason, and know that they did", async () => {
    const seen: unknown[] = [];
    const hook = (input: Record<string, unknown>) => {
      seen.push([input["stop_hook_active"], input["last_assistant_message"]]);
      return input["stop_hook_active"] ? {} : { decision: "block", reason: "run the tests" };
    };
    const { session, close, sent } = open([{ text: "Done." }, { text: "Tested." }], { Stop: [{ hooks: [hook] }] });
    assert.deepEqual(await session.submit("go"), { type: "completed", text: "Tested." });
    await close();
    assert.deepEqual(seen, [
      [false, "Done."],
      [true, "Tested."],
    ]);
    assert.deepEqual(sent(1), ["user: go", "assistant: Done.", reminder("Stop", "run the tests")]);
  });

  it("that always block are overruled after eight times, and the answer is kept", async () => {
    const active: unknown[] = [];
    const hook = (input: Record<string, unknown>) => {
      active.push(input["stop_hook_active"]);
      return { decision: "block", reason: "again" };
    };
    const { session, close, provider } = open(
      Array.from({ length: 12 }, (_, index) => ({ text: `answer ${index + 1}` })),
      { Stop: [{ hooks: [hook] }] },
    );
    assert.deepEqual(await session.submit("go"), { type: "completed", text: "answer 9" });
    assert.equal(provider.requests.length, 9);
    assert.deepEqual(active, [false, ...Array.from({ length: 8 }, () => true)]);
    const events = await close();
    assert.match(JSON.stringify(events.filter((event) => event.type === "warning.raised")), /sent the model back 8 times/);
  });

  it("are overruled as often as the session says", async () => {
    const { session, close, provider } = open(
      Array.from({ length: 5 }, (_, index) => ({ text: `answer ${index + 1}` })),
      { Stop: [{ hooks: [() => ({ decision: "block", reason: "again" })] }] },
      { maxObjections: 2 },
    );
    assert.deepEqual(await session.submit("go"), { type: "completed", text: "answer 3" });
    assert.equal(provider.requests.length, 3);
    await close();
  });

  it("neither empty the answer nor replace a structured one", async () => {
    const block = { Stop: [{ hooks: [() => ({ decision: "block", reason: "chatter", continue: true })] }] };
    const quiet = { Stop: [{ hooks: [command("echo chatter")] }] };
    const plain = open([{ text: "The answer." }], quiet);
    assert.deepEqual(await plain.session.submit("go"), { type: "completed", text: "The answer." });
    await plain.close();
    const outputSchema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
    const structured = open([{ calls: [{ name: "StructuredOutput", input: { n: 1 } }] }, { text: "never" }], block, {
      outputSchema,
    });
    assert.deepEqual(await structured.session.submit("go"), { type: "completed", text: '{"n":1}', structured: { n: 1 } });
    const warnings = (await structured.close()).flatMap((event) => (event.type === "warning.raised" ? [event.message] : []));
    assert.match(warnings.join("\n"), /^A Stop hook wanted the model to go on, but its structured answer is final: /);
  });

  it("with continue: false let the turn end with its answer", async () => {
    const { session, close } = open([{ text: "Done." }], {
      Stop: [{ hooks: [() => ({ continue: false, decision: "block", reason: "x" })] }],
    });
    assert.deepEqual(await session.submit("go"), { type: "completed", text: "Done.", endedByHook: true });
    await close();
  });

  it("are not asked when the turn fails or is cancelled", async () => {
    let asked = 0;
    const hooks: HooksByEvent = { Stop: [{ hooks: [() => void asked++] }] };
    const { session, close } = open([{ fail: { code: "provider-auth", message: "no" } }], hooks);
    await session.submit("go");
    await close();
    assert.equal(asked, 0);
  });
});

describe("StopFailure hooks", () => {
  it("hear why the turn failed, and how hard the model was to think", async () => {
    const heard: unknown[] = [];
    const { session, close } = open([{ fail: { code: "provider-auth", message: "who?" } }], {
      StopFailure: [{ hooks: [({ error, error_details, effort }) => void heard.push({ error, error_details, effort })] }],
    });
    await session.submit("go");
    await close();
    assert.deepEqual(heard, [{ error: "authentication_failed", error_details: "who?", effort: { level: "medium" } }]);
  });
});

describe("SessionEnd hooks", () => {
  it("hear the reason, after the last turn and before the end of the record", async () => {
    const file = path("end.json");
    const { session, close } = open([{ text: "bye" }], { SessionEnd: [{ hooks: [command(`cat > ${file}`)] }] });
    await session.submit("go");
    const events = await close({ reason: "clear" });
    assert.deepEqual(JSON.parse(readFileSync(file, "utf8")).reason, "clear");
    assert.deepEqual(types(events).slice(-4), ["turn.ended", "hook.started", "hook.ended", "session.ended"]);
  });

  it("run when a signal stopped the turn, and are told so", async () => {
    const reasons: unknown[] = [];
    const { session, close, events } = open([{ text: "so far", hang: true }], {
      SessionEnd: [{ hooks: [(input) => void reasons.push(input["reason"])] }],
    });
    const turn = session.submit("go");
    await eventually(() => events.some((event) => event.type === "text.delta"));
    session.abort("signal");
    assert.equal((await turn).type, "cancelled");
    const last = (await close()).at(-1);
    assert.deepEqual([reasons, last?.type === "session.ended" && last.reason], [["terminated"], "terminated"]);
  });

  it("that hang are cut off after a moment", async () => {
    const { session, close } = open([{ text: "bye" }], { SessionEnd: [{ hooks: [command("sleep 65.5")] }] });
    await session.submit("go");
    const startedAt = Date.now();
    const events = await close();
    assert.ok(Date.now() - startedAt < 20_000);
    const ended = events.find((event) => event.type === "hook.ended");
    assert.equal(ended?.type === "hook.ended" && ended.status, "cancelled");
  });

  it("do not run for a session that never began", async () => {
    const { close } = open([], { SessionEnd: [{ hooks: [command(`touch ${path("never")}`)] }] });
    await close();
    assert.equal(existsSync(path("never")), false);
  });
});

describe("a subagent's session", () => {
  it("has hooks of its own at its start and end, and none of a session's", async () => {
    const fired: unknown[] = [];
    const note = (input: Record<string, unknown>) => {
      fired.push([input["hook_event_name"], input["agent_id"], input["agent_type"]]);
      if (input["hook_event_name"] === "SubagentStart") return { hookSpecificOutput: { additionalContext: "be brief" } };
      return undefined;
    };
    const all = Object.fromEntries(
      ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd", "SubagentStart", "SubagentStop"].map((event) => [
        event,
        [{ hooks: [note] }],
      ]),
    ) as HooksByEvent;
    const { session, close, sent } = open([{ text: "Found." }], all, { agent: { id: "a1", type: "explorer" } });
    assert.deepEqual(await session.submit("look"), { type: "completed", text: "Found." });
    await close();
    assert.deepEqual(fired, [
      ["SubagentStart", "a1", "explorer"],
      ["SubagentStop", "a1", "explorer"],
    ]);
    assert.deepEqual(sent(0), ["user: look", reminder("SubagentStart", "be brief")]);
  });

  it("can be kept from starting", async () => {
    const { session, provider, close } = open(
      [],
      { SubagentStart: [{ matcher: "explorer", hooks: [() => ({ decision: "block", reason: "no explorers" })] }] },
      { agent: { id: "a1", type: "explorer" } },
    );
    assert.deepEqual(await session.submit("look"), { type: "stopped", limit: "hook", reason: "no explorers", text: "" });
    assert.equal(provider.requests.length, 0);
    await close();
  });
});

describe("hooks that ask a model", () => {
  it("ask the session's own, with and without tools that look, and their cost is told", async () => {
    writeFileSync(path("policy.txt"), "no deployments");
    const usage = { inputTokens: 5, outputTokens: 2 };
    const script: ScriptStep[] = [
      { calls: [{ name: "Bash", input: { command: "touch judged", description: "t" } }] },
      { text: '{"ok": true}', usage },
      { calls: [{ name: "Read", input: { file_path: "policy.txt" } }], usage },
      { text: '{"ok": false, "reason": "policy.txt says no"}', usage },
      { text: "Could not." },
    ];
    const hooks: HooksByEvent = {
      PreToolUse: [
        {
          hooks: [
            { type: "prompt", prompt: "Is this safe? $ARGUMENTS" },
            { type: "agent", prompt: "Check policy.txt for $ARGUMENTS" },
          ],
        },
      ],
    };
    const { session, provider, close } = open(script, hooks, { allowedTools: ["Bash"] });
    assert.deepEqual(await session.submit("go"), { type: "completed", text: "Could not." });
    const events = await close();
    assert.equal(existsSync(path("judged")), false);
    assert.deepEqual(
      provider.requests.slice(1, 4).map((request) => request.tools.map((tool) => tool.name).sort()),
      [[], ["Glob", "Grep", "Read"], ["Glob", "Grep", "Read"]],
    );
    assert.match(JSON.stringify(provider.requests[3]?.messages), /no deployments/);
    assert.match(JSON.stringify(provider.requests[4]?.messages), /policy\.txt says no/);
    const side = events.flatMap((event) =>
      event.type === "side-call.ended" ? [[event.purpose, event.message.usage.inputTokens]] : [],
    );
    assert.deepEqual(side, [
      ["hook", 5],
      ["hook", 5],
      ["hook", 5],
    ]);
    assert.equal(events.filter((event) => event.type === "message.ended").length, 2);
  });
});

describe("a hook that asks an agent", () => {
  it("says why that came to no answer", async () => {
    const script: ScriptStep[] = [
      { calls: [{ name: "Glob", input: { pattern: "*" } }] },
      { calls: [{ name: "Glob", input: { pattern: "*.txt" } }] },
      { text: "Done." },
    ];
    const hooks: HooksByEvent = { PreToolUse: [{ hooks: [{ type: "agent", prompt: "May it?", maxTurns: 1 }] }] };
    const { session, close } = open(script, hooks);
    assert.equal((await session.submit("go")).type, "completed");
    assert.match(JSON.stringify(await close()), /the agent came to no answer \(max-turns\)/);
  });
});

describe("hooks that are wrongly written", () => {
  it("keep the session from opening, and leave no journal behind", async () => {
    const store = createMemoryStore();
    const hookSettings = {
      sources: [{ value: { PreToolUse: [{ matcher: "Bash(", hooks: [] }] }, source: "~/.outrider/settings.json", trusted: true }],
    };
    const session = new InteractiveSession({
      cwd: folder,
      provider: createScriptedProvider([]),
      sessionId: "bad",
      sessionStore: store,
      hookSettings,
    });
    await assert.rejects(session.open(), {
      code: "config",
      message: /~\/\.outrider\/settings\.json: hooks\.PreToolUse\[0\]\.matcher/,
    });
    assert.deepEqual(await store.read("bad").catch(() => []), []);
    await session.shutdown();
  });
});

async function eventually(check: () => boolean): Promise<void> {
  for (let tries = 0; tries < 1000; tries++) {
    if (check()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("never happened");
}
