import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import fc from "fast-check";
import type { HookEntry, HooksByEvent } from "../engine/open-hooks.ts";
import type { ModelEvent, ModelRequest, Provider } from "../model/model.ts";
import { createScriptedProvider, type ScriptedReply } from "../model/scripted.ts";
import type { FinishReason } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import type { HookEventName } from "../protocol/events.ts";
import { reader } from "../../../../test/support/subagent-stage.ts";
import { InteractiveSession } from "./interactive-session.ts";
import type { SessionOptions } from "./session-options.ts";

const root = mkdtempSync(join(tmpdir(), "outrider-bounded-"));
writeFileSync(join(root, "a.txt"), "some words\n".repeat(40));
after(() => rmSync(root, { recursive: true, force: true }));

/** What a provider does with one request. `{n}` in it is another number each time. */
type Move = ScriptedReply & { readonly retries?: number; readonly endless?: boolean };

const call = (name: string, input: unknown): Move => ({ calls: [{ name, input }] });
const overflowing: Move = { fail: { code: "context-overflow", message: "prompt is too long" } };
const finishes: FinishReason[] = ["stop", "length", "paused", "context-overflow", "tool-calls", "other", "stop-sequence"];

/** Nothing in these is new when it comes again. */
const idle: Move[] = [
  ...finishes.flatMap((finish): Move[] => [
    { text: "words ", finish },
    { text: "", finish },
    { text: "long ".repeat(600), finish },
  ]),
  { reasoning: "hm", text: "" },
  call("Read", { file_path: "a.txt" }),
  call("Read", { file_path: "none.txt" }),
  call("Bash", { command: "rm a.txt" }),
  call("Bash", { command: "ls # {n}" }),
  call("Bash", { command: "ls", timeout: 1000, description: "look {n}" }),
  call("Nothing", {}),
  call("Nothing{n}", {}),
  call("Read", { nothing: "{n}" }),
  { calls: [{ name: "Write", malformedInput: '{ "file_path": "a{n}' }], finish: "length" },
  { calls: [{ name: "Read", malformedInput: "{" }] },
  {
    calls: [
      { name: "Read", input: { file_path: "a.txt" } },
      { name: "Read", input: {} },
    ],
    finish: "length",
  },
  { ...call("Read", { file_path: "a.txt" }), finish: "context-overflow" },
  call("StructuredOutput", { n: "x" }),
  call("TodoWrite", { todos: [] }),
  overflowing,
  { text: "late", retries: 2 },
];
const novel: Move[] = [
  call("Read", { file_path: "{n}.txt" }),
  call("Bash", { command: "echo {n}" }),
  call("Task", { description: "a task", prompt: "task {n}" }),
  { calls: ["{n}", "{n}b", "{n}c"].map((prompt) => ({ name: "Task", input: { description: "several", prompt } })) },
];
const large: Move[] = [
  { ...call("Read", { file_path: "{n}.txt" }), usage: { inputTokens: 1e9 } },
  { ...call("Read", { file_path: "a.txt" }), usage: { inputTokens: 15_000 } },
  { text: "words ", finish: "length", usage: { inputTokens: 15_000, outputTokens: 15_000 } },
  { text: 'verdict: {"ok": false, "reason": "more"}', usage: { inputTokens: 1 } },
];
const ends: Move[] = [
  { text: "no", finish: "refusal" },
  { text: "no", finish: "content-filter" },
  { fail: { code: "provider-unavailable", message: "gone" } },
  { endless: true },
];

/** A test that would never end fails instead. */
const giveUpAt = 3_000;

/** Answers by the list, over and over, and counts what it was asked, tries again included. */
function endlessProvider(moves: readonly Move[], contextWindow: number): Provider & { asked(): number } {
  let asked = 0;
  let step = 0;
  return {
    name: "endless",
    model: "endless",
    contextWindow,
    nativeSchema: false,
    asked: () => asked,
    async *stream(request: ModelRequest, options: { signal: AbortSignal }): AsyncGenerator<ModelEvent> {
      if (++asked > giveUpAt) throw new RuntimeError("internal", "asked for ever");
      const move = moves[step % moves.length] ?? {};
      const reply = JSON.parse(JSON.stringify(move).replaceAll("{n}", String(++step))) as Move;
      for (let attempt = 1; attempt <= (reply.retries ?? 0); attempt++) {
        const error = new RuntimeError("provider-overloaded", "busy").toJSON();
        yield { type: "retry.scheduled", attempt, maxRetries: 6, delayMs: 0, error };
        asked++; // only when the reader asks on
      }
      if (reply.endless) return; // the stream ends without an answer
      yield* createScriptedProvider([reply]).stream(request, options);
    },
  };
}

const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };

const hookKinds = ["block", "prompt", "agent"] as const;
const hookEvents: HookEventName[] = ["Stop", "SubagentStop", "PreToolUse", "PostToolUse", "PreCompact", "UserPromptSubmit"];
const hookOf: Record<(typeof hookKinds)[number], HookEntry> = {
  block: async () => ({ decision: "block", reason: "go on" }),
  prompt: { type: "prompt", prompt: "May it?" },
  agent: { type: "agent", prompt: "May it?", maxTurns: 4 },
};

const hooks: fc.Arbitrary<HooksByEvent> = fc
  .array(fc.tuple(fc.constantFrom(...hookEvents), fc.constantFrom(...hookKinds)), { maxLength: 3 })
  .map((pairs) => Object.fromEntries(pairs.map(([event, kind]) => [event, [{ hooks: [hookOf[kind]] }]])));

type Setting = Pick<SessionOptions, "maxTurns" | "loops" | "hooks" | "outputSchema" | "agents" | "compaction" | "maxRequests">;

const setting = fc.record(
  {
    maxTurns: fc.integer({ min: 1, max: 30 }),
    loops: fc.constantFrom({ noteAt: 0, stopAt: 0 }, { stopAt: 3 }),
    hooks,
    outputSchema: fc.constant(schema),
    agents: fc.constant([reader]),
    compaction: fc.constantFrom({ threshold: 0.2 }, { threshold: false as const }),
  },
  { requiredKeys: [] },
);

/** Runs prompts, each to its end; answers how many requests each one made. */
async function askedFor(moves: readonly Move[], options: Setting & { window: number }): Promise<number[]> {
  const { window, ...rest } = options;
  const provider = endlessProvider(moves, window);
  const session = new InteractiveSession({ cwd: root, provider, ...rest });
  const ended: string[] = [];
  const reading = (async () => {
    for await (const event of session.events()) if (event.type === "turn.ended") ended.push(event.outcome.type);
  })();
  const counts: number[] = [];
  for (const prompt of ["one", "two"]) {
    const before = provider.asked();
    const outcome = await session.submit(prompt);
    counts.push(provider.asked() - before);
    assert.equal(ended.length, counts.length, "exactly one end for each prompt");
    assert.equal(ended.at(-1), outcome.type);
  }
  const before = provider.asked();
  await session.compact().catch(() => undefined);
  counts.push(provider.asked() - before);
  await session.shutdown();
  await reading;
  assert.equal(ended.length, 2);
  return counts;
}

describe("whatever the provider answers", () => {
  it("a prompt ends once, within its ceiling", async () => {
    const maxRequests = 40;
    const move = fc.oneof(fc.constantFrom(...idle), fc.constantFrom(...novel), fc.constantFrom(...large), {
      arbitrary: fc.constantFrom(...ends),
      weight: 1,
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(move, { minLength: 1, maxLength: 8 }),
        setting,
        fc.constantFrom(4_000, 20_000, 200_000),
        async (moves, options, window) => {
          const counts = await askedFor(moves, { ...options, maxRequests, window });
          assert.equal(Math.max(...counts) <= maxRequests, true, `asked ${counts.join(", ")} times`);
        },
      ),
      { numRuns: 100, endOnFailure: true },
    );
  });

  it("a prompt that makes no progress ends long before the ceiling that is always there", async () => {
    let most = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...idle), { minLength: 1, maxLength: 8 }),
        fc.option(fc.constant(schema), { nil: undefined }),
        fc.boolean(),
        async (moves, outputSchema, isBlocked) => {
          const counts = await askedFor(moves, {
            window: 200_000,
            ...(outputSchema && { outputSchema }),
            ...(isBlocked && { hooks: { Stop: [{ hooks: [hookOf.block] }] } }),
          });
          most = Math.max(most, ...counts);
          assert.equal(most <= 100, true, `asked ${counts.join(", ")} times`);
        },
      ),
      { numRuns: 100, endOnFailure: true },
    );
    assert.equal(most > 10, true, "the providers tried");
  });

  it("a prompt that always finds something new to do ends at the ceiling that is always there", async () => {
    const provider = endlessProvider([call("TodoWrite", { todos: [{ content: "step {n}", status: "pending" }] })], 200_000);
    const session = new InteractiveSession({ cwd: root, provider });
    assert.deepEqual(await session.submit("go"), { type: "stopped", limit: "max-requests", text: "" });
    assert.equal(provider.asked(), 2_000);
    await session.shutdown();
  });
});
