import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import fc from "fast-check";
import { createMemoryStore } from "../../../journal/memory-store.ts";
import { createScriptedProvider } from "../../../model/scripted.ts";
import { RuntimeError } from "../../../protocol/errors.ts";
import { InteractiveSession } from "../../../session/interactive-session.ts";
import { fromTrajectory } from "./from-trajectory.ts";
import { loadTrajectory, seedSession } from "./load-trajectory.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-import-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const agent = { name: "other", version: "1", model_name: "m" };
const options = { sessionId: "s1", now: () => 0 };
const step = (source: string, message: unknown, extra: object = {}) => ({ source, message, ...extra });
const document = (steps: object[], extra: object = {}) => ({
  schema_version: "ATIF-v1.7",
  agent,
  steps: steps.map((one, index) => ({ step_id: index + 1, ...one })),
  ...extra,
});
const short = (value: unknown) =>
  fromTrajectory(value, options).messages.map(({ role, content }) => [
    role,
    ...content.map((part) => ("text" in part ? part.text : part.type)),
  ]);

describe("fromTrajectory", () => {
  it("reads what others wrote: calls with results, results of nobody, system prompts and notes", () => {
    const calls = [{ tool_call_id: "a:1", function_name: "shell.run", arguments: { command: "ls" } }];
    const imported = fromTrajectory(
      document([
        step("system", "You are Bob."),
        step("user", "Go"),
        step("agent", "Looking", {
          reasoning_content: "Hm",
          tool_calls: calls,
          observation: { results: [{ source_call_id: "a:1", content: "a.txt" }, { content: "Warning: disk full" }] },
        }),
        step("system", "Remember the tests."),
        step("agent", "Done"),
      ]),
      options,
    );
    assert.deepEqual([imported.systemPrompt, imported.warnings], ["You are Bob.", []]);
    const model = { provider: "imported", id: "m" };
    const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
    assert.deepEqual(imported.messages, [
      { role: "user", content: [{ type: "text", text: "Go" }] },
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "Hm" },
          { type: "text", text: "Looking" },
          { type: "tool-call", callId: "a_1", name: "shell_run", input: { command: "ls" } },
        ],
        model,
        finish: "tool-calls",
        usage,
      },
      {
        role: "tool",
        content: [
          { type: "tool-result", callId: "a_1", name: "shell_run", content: [{ type: "text", text: "a.txt" }], isError: false },
        ],
      },
      { role: "user", content: [{ type: "text", text: "Warning: disk full" }] },
      { role: "user", content: [{ type: "text", text: "Remember the tests." }] },
      { role: "assistant", content: [{ type: "text", text: "Done" }], model, finish: "stop", usage },
    ]);
  });

  it("gives each call of a conversation an id of its own", () => {
    const called = step("agent", "", {
      tool_calls: [{ tool_call_id: "0", function_name: "f", arguments: {} }],
      observation: { results: [{ source_call_id: "0", content: "r" }] },
    });
    const { messages } = fromTrajectory(document([step("user", "Go"), called, called]), options);
    assert.deepEqual(
      messages.flatMap(({ role, content }) => (role === "tool" ? content.map((part) => part.callId) : [])),
      ["0", "0-2"],
    );
  });

  it("replaces the context where others replaced it", () => {
    const management = {
      extra: { context_management: { type: "compaction", boundary: "replace" } },
      observation: { results: [{ content: "They talked." }] },
    };
    const messages = short(
      document([
        step("user", "Go"),
        step("agent", "a"),
        step("system", "Compacted", management),
        step("user", "On"),
        step("agent", "b"),
      ]),
    );
    assert.deepEqual(
      messages.map(([role]) => role),
      ["user", "user", "assistant"],
    );
    assert.match(String(messages[0]?.[1]), /<summary>\nThey talked\.\n<\/summary>/);
  });

  it("puts a prompt before a trajectory that begins with an answer", () => {
    const { messages, warnings } = fromTrajectory(document([step("agent", "I begin.")]), options);
    assert.deepEqual([messages.map(({ role }) => role), warnings.length], [["user", "assistant"], 1]);
  });

  it("says what it leaves out", () => {
    const image = [{ type: "image", source: { media_type: "image/png", path: "none.png" } }];
    const child = {
      schema_version: "ATIF-v1.7",
      trajectory_id: "t",
      agent,
      steps: [{ step_id: 1, source: "user", message: "x" }],
    };
    const { warnings, messages } = fromTrajectory(
      document([step("user", image)], { subagent_trajectories: [child], continued_trajectory_ref: "next.json" }),
      options,
    );
    assert.equal(warnings.length, 3);
    assert.deepEqual(messages[0]?.content, [{ type: "text", text: "[image: none.png]" }]);
  });

  it("names the place of what is wrong", () => {
    const wrong = document([
      step("user", "Go"),
      step("agent", "x", { tool_calls: [{ tool_call_id: "c", function_name: "f", arguments: "{}" }] }),
    ]);
    assert.throws(() => fromTrajectory(wrong, options), {
      code: "config",
      message: /trajectory\.steps\[1\]\.tool_calls\[0\]\.arguments: expected object, got string/,
    });
    assert.throws(() => fromTrajectory([], options), { code: "config", message: /trajectory: expected object, got array/ });
  });

  it("takes or refuses anything, and never fails in another way", () => {
    const text = fc.oneof(fc.string(), fc.constantFrom("", "c", "d", "<summary>\n\n</summary>"));
    const extra = fc.option(
      fc.dictionary(
        fc.constantFrom("context_management", "pruned", "status", "finish", "origin", "system_prompt", "x"),
        fc.jsonValue(),
      ),
      { nil: undefined },
    );
    const management = fc.record({
      context_management: fc.record({
        type: fc.constantFrom("compaction", "pruning"),
        boundary: fc.constantFrom("replace", "append"),
        replaced_messages: fc.integer(),
        kept_prompt: fc.integer(),
      }),
      pruned: fc.jsonValue(),
    });
    const part = fc.record({ type: fc.constant("text"), text });
    const result = fc.record({
      source_call_id: fc.constantFrom("c", null),
      content: fc.oneof(text, fc.array(part), fc.constant(null)),
      extra,
    });
    const any = fc.record(
      {
        source: fc.constantFrom("system", "user", "agent"),
        message: fc.oneof(text, fc.array(part)),
        timestamp: fc.constantFrom("2026-01-01T10:00:00Z", "2026-01-01", "2026-W05", null),
        tool_calls: fc.constantFrom([{ tool_call_id: "c", function_name: "f", arguments: {} }], null),
        observation: fc.record({ results: fc.array(result, { maxLength: 2 }) }),
        extra: fc.oneof(extra, management),
      },
      { requiredKeys: ["source", "message"] },
    );
    let taken = 0;
    fc.assert(
      fc.property(fc.array(any, { maxLength: 8 }), (steps) => {
        const given = JSON.parse(
          JSON.stringify(document(steps.map((one) => (one.source === "agent" ? one : { ...one, tool_calls: undefined })))),
        );
        try {
          const { events, messages } = fromTrajectory(given, options);
          taken++;
          assert.deepEqual(
            events.map(({ seq }) => seq),
            events.map((_, index) => index + 1),
          );
          for (const [index, message] of messages.entries())
            if (message.role === "tool") assert.equal(messages[index - 1]?.role, "assistant");
        } catch (error) {
          if (!(error instanceof RuntimeError && error.code === "config")) throw error;
        }
      }),
      { numRuns: 1500 },
    );
    assert.ok(taken > 200, `only ${taken} were valid`);
  });
});

describe("a session that starts from a trajectory", () => {
  it("shows its model what happened, with the pictures beside the file and no others", async () => {
    const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
    mkdirSync(join(folder, "run/images"), { recursive: true });
    for (const name of ["run/images/dot.png", "secret.png"]) writeFileSync(join(folder, name), Buffer.from(picture, "base64"));
    const path = join(folder, "run/trajectory.json");
    const images = ["images/dot.png", "../secret.png", join(folder, "secret.png")].map((name) => ({
      type: "image",
      source: { media_type: "image/png", path: name },
    }));
    writeFileSync(path, JSON.stringify(document([step("user", images), step("agent", "A dot.")])));
    const store = createMemoryStore();
    const imported = loadTrajectory(path, { sessionId: "s1" });
    await seedSession(store, "s1", imported);
    const provider = createScriptedProvider([{ text: "As I said." }]);
    const session = new InteractiveSession({ cwd: folder, provider, sessionStore: store, resumeSessionId: "s1" });
    const outcome = await session.submit("What was it?");
    await session.shutdown();
    assert.deepEqual([outcome, imported.warnings.length], [{ type: "completed", text: "As I said." }, 2]);
    assert.deepEqual(
      provider.requests[0]?.messages.map(({ role, content }) => [role, content.map((part) => part.type).join()]),
      [
        ["user", "image,text,text"],
        ["assistant", "text"],
        ["user", "text"],
      ],
    );
    await assert.rejects(seedSession(store, "s1", imported), { code: "usage" });
  });

  it("is told why a file cannot be taken", () => {
    assert.throws(() => loadTrajectory(join(folder, "none.json"), options), { code: "no-input" });
    writeFileSync(join(folder, "broken.json"), "{");
    assert.throws(() => loadTrajectory(join(folder, "broken.json"), options), { code: "config", message: /is no JSON/ });
  });
});
