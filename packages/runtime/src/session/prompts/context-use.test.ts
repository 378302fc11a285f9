import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createMemoryStore } from "../../journal/memory-store.ts";
import { createScriptedProvider, type ScriptStep } from "../../model/scripted.ts";
import { InteractiveSession } from "../interactive-session.ts";
import type { SessionOptions } from "../session-options.ts";

const cwd = mkdtempSync(join(tmpdir(), "outrider-context-use-"));
after(() => rmSync(cwd, { recursive: true, force: true }));
writeFileSync(join(cwd, "a.txt"), "some words\n".repeat(20));

function open(replies: readonly ScriptStep[], options: Partial<SessionOptions> = {}): InteractiveSession {
  const provider = createScriptedProvider(replies, { contextWindow: 100_000 });
  return new InteractiveSession({ cwd, provider, sessionStore: createMemoryStore(), ...options });
}

const namesOf = async (session: InteractiveSession): Promise<string[]> =>
  (await session.getContextUse()).shares.map(({ name }) => name);

describe("what the next request would be made of", () => {
  it("is the prompt and the tools before anything was said, and nothing that has no tokens", async () => {
    const session = open([]);
    await session.open();
    assert.deepEqual(await namesOf(session), ["system prompt", "tools"]);
    const bare = open([], { builtinTools: [] });
    await bare.open();
    assert.deepEqual(await namesOf(bare), ["system prompt"]);
    await Promise.all([session.shutdown(), bare.shutdown()]);
  });

  it("tells results apart by what was looked at", async () => {
    const calls = [
      { name: "Read", input: { file_path: "a.txt" } },
      { name: "Bash", input: { command: "cat a.txt" } },
      { name: "Grep", input: { pattern: "words", path: "." } },
      { name: "TodoWrite", input: { todos: [] } },
    ];
    const agent = { name: "Task", input: { description: "look", prompt: "Look.", subagent_type: "general-purpose" } };
    const session = open([{ calls }, { calls: [agent] }, { text: "seen" }, { text: "done" }]);
    await session.submit("go");
    assert.deepEqual(await namesOf(session), [
      ...["system prompt", "tools", "prompts", "answers and calls"],
      ...["files", "output of commands", "searches", "other results", "results of agents"],
    ]);
    await session.shutdown();
  });

  it("has a summary in the place of what it sums up", async () => {
    const session = open([{ text: "one" }, { text: "what happened" }, { text: "two" }]);
    await session.submit("first");
    await session.submit("/compact");
    await session.submit("second");
    const names = await namesOf(session);
    assert.deepEqual([names.includes("summary"), names.includes("prompts")], [true, true]);
    await session.shutdown();
  });

  it("adds up to what the provider counted, and says where a summary is due", async () => {
    const session = open([{ text: "one", usage: { inputTokens: 6_000, outputTokens: 10 } }]);
    await session.submit("first");
    const { usedTokens, maxTokens, compactsAt, shares, model } = await session.getContextUse();
    const sum = shares.reduce((all, { tokens }) => all + tokens, 0);
    assert.deepEqual([model, maxTokens], ["scripted", 100_000]);
    assert.ok(usedTokens >= 6_000 && Math.abs(sum - usedTokens) <= shares.length, `${sum} of ${usedTokens}`);
    assert.ok(compactsAt !== undefined && compactsAt > 0 && compactsAt < maxTokens);
    await session.submit("/context auto off");
    assert.equal((await session.getContextUse()).compactsAt, undefined);
    await session.shutdown();
  });
});
