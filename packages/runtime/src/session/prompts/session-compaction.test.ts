import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createMemoryStore } from "../../journal/memory-store.ts";
import { toMessages } from "../../journal/transcript.ts";
import { createScriptedProvider, type ScriptedReply, type ScriptStep } from "../../model/scripted.ts";
import { textOf } from "../../protocol/content.ts";
import { createRedactor } from "../../util/redact.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import type { SessionOptions } from "../session-options.ts";
import { InteractiveSession } from "../interactive-session.ts";

const root = mkdtempSync(join(tmpdir(), "outrider-compaction-"));
after(() => rmSync(root, { recursive: true, force: true }));

function open(replies: readonly ScriptStep[], options: Partial<SessionOptions> = {}) {
  const provider = createScriptedProvider(replies, { contextWindow: 100_000 });
  const store = options.sessionStore ?? createMemoryStore();
  const session = new InteractiveSession({ cwd: root, provider, sessionStore: store, ...options });
  const ended = async (): Promise<AgentEvent<"compaction.ended">[]> =>
    (await store.read(session.id)).filter((event) => event.type === "compaction.ended");
  return { session, provider, store, ended };
}

const full: ScriptedReply = { text: "first answer", usage: { inputTokens: 84_000, outputTokens: 10 } };
const lengthy: ScriptedReply = { text: "a ".repeat(1_000) };
const summary: ScriptedReply = { text: "what happened", usage: { inputTokens: 700, outputTokens: 30 } };

describe("a session whose context gets full", () => {
  it("summarises before the next prompt; the journal, and a resumed session, tell the request that was sent", async () => {
    const first = open([full, summary, { text: "second answer", usage: { inputTokens: 900 } }]);
    await first.session.submit("one");
    const outcome = await first.session.submit("two");
    await first.session.shutdown();
    assert.deepEqual(outcome, { type: "completed", text: "second answer" });
    const sent = first.provider.requests[2];
    assert.deepEqual(
      sent?.messages.map((message) => message.role),
      ["user", "user"],
    );
    assert.equal(textOf(sent?.messages[1]?.content ?? []), "two");
    const events = await first.store.read(first.session.id);
    const asked = events.findIndex(
      (event) => event.type === "message.ended" && textOf(event.message.content) === "second answer",
    );
    assert.equal(JSON.stringify(toMessages(events.slice(0, asked))), JSON.stringify(sent?.messages));

    const again = open([{ text: "third" }], { sessionStore: first.store, resumeSessionId: first.session.id });
    await again.session.submit("three");
    await again.session.shutdown();
    const resent = again.provider.requests[0];
    assert.equal(JSON.stringify(resent?.messages.slice(0, 2)), JSON.stringify(sent?.messages));
    assert.equal(resent?.system, sent?.system);
  });

  it("counts what the summary used, tells listeners, and shows it in the history", async () => {
    const { session, store } = open([full, summary, { text: "ok", usage: { inputTokens: 900, outputTokens: 5 } }]);
    const told: string[] = [];
    session.on("compact", (report) => told.push(`${report.trigger} ${report.preTokens > report.postTokens} ${report.summary}`));
    await session.submit("one");
    await session.submit("two");
    await session.shutdown();
    assert.deepEqual(told, ["auto true what happened"]);
    const [, second] = (await store.read(session.id)).filter((event) => event.type === "turn.ended");
    assert.deepEqual([second?.usage.inputTokens, second?.usage.outputTokens, second?.modelCalls], [1_600, 35, 1]);
    assert.equal(session.getFullHistory().filter((entry) => entry.type === "compaction").length, 1);
    assert.equal(session.getContextState().usedTokens, 905);
  });

  it("compacts and asks once more after the provider's overflow", async () => {
    const overflow: ScriptedReply = { fail: { code: "context-overflow", message: "prompt is too long" } };
    const lucky = open([lengthy, overflow, summary, { text: "made it" }]);
    await lucky.session.submit("one");
    assert.deepEqual(await lucky.session.submit("two"), { type: "completed", text: "made it" });
    await lucky.session.shutdown();
    assert.deepEqual(
      (await lucky.ended()).map(({ trigger }) => trigger),
      ["overflow"],
    );

    const unlucky = open([lengthy, overflow, summary, overflow]);
    await unlucky.session.submit("one");
    const outcome = await unlucky.session.submit("two");
    await unlucky.session.shutdown();
    assert.equal(outcome.type === "failed" && outcome.error.code, "context-overflow");
    assert.equal(unlucky.provider.requests.length, 4);
  });

  it("does not hold calls against a model that no longer knows them", async () => {
    writeFileSync(join(root, "same.txt"), "same");
    const look: ScriptedReply = { calls: [{ name: "Read", input: { file_path: "same.txt" } }] };
    const ways: Record<string, ScriptedReply[]> = {
      "refused as too long": [look, look, { fail: { code: "context-overflow", message: "too long" } }, summary, look, look],
      "cut off at the end of the window": [look, look, { text: "half", finish: "context-overflow" }, summary, look, look],
      "summarised in time": [look, { ...look, usage: { inputTokens: 84_000, outputTokens: 10 } }, summary, look, look],
    };
    for (const [way, replies] of Object.entries(ways)) {
      const { session, provider } = open([lengthy, ...replies, { text: "done" }]);
      await session.submit("one");
      assert.equal((await session.submit("two")).type, "completed", way);
      await session.shutdown();
      assert.doesNotMatch(JSON.stringify(provider.requests.at(-1)?.messages), /You have made this call/, way);
    }
    const { session, provider } = open([look, look, look, { text: "done" }]);
    await session.submit("one");
    await session.shutdown();
    assert.match(JSON.stringify(provider.requests.at(-1)?.messages), /You have made this call 3 times/);
  });

  it("makes room again for a later request that is too long, when one went well in between", async () => {
    const overflow: ScriptedReply = { fail: { code: "context-overflow", message: "prompt is too long" } };
    const half: ScriptedReply = { text: "half ".repeat(3_000), finish: "length" };
    const { session, ended } = open([lengthy, overflow, summary, half, overflow, summary, { text: "done" }]);
    await session.submit("one");
    assert.equal((await session.submit("two")).type, "completed");
    await session.shutdown();
    assert.deepEqual(
      (await ended()).map(({ trigger, result }) => `${trigger} ${result.type}`),
      ["overflow compacted", "overflow compacted"],
    );
  });

  it("goes on with an answer that was cut off because the window was full", async () => {
    const cut: ScriptedReply = { text: "half ", finish: "context-overflow" };
    const { session, provider } = open([lengthy, cut, summary, { text: "and half" }]);
    await session.submit("one");
    assert.deepEqual(await session.submit("two"), { type: "completed", text: "half and half" });
    await session.shutdown();
    assert.match(JSON.stringify(provider.requests[3]?.messages.at(-1)), /Go on exactly where it stopped/);
  });

  it("ends when its summary is refused like everything else", async () => {
    const cut: ScriptedReply = { text: "x", finish: "context-overflow" };
    const short = open(new Array<ScriptedReply>(50).fill(cut));
    const outcome = await short.session.submit("go");
    await short.session.shutdown();
    assert.deepEqual([outcome.type === "failed" && outcome.error.code, short.provider.requests.length], ["context-overflow", 2]);

    // A longer one is asked for in smaller parts while there are any.
    const long = open([lengthy, ...new Array<ScriptedReply>(50).fill(cut)]);
    await long.session.submit("one");
    const refused = await long.session.submit("two");
    await long.session.shutdown();
    assert.equal(refused.type === "failed" && refused.error.code, "context-overflow");
    assert.equal(long.provider.requests.length <= 1 + 3, true, `${long.provider.requests.length} requests`);
  });

  it("believes a provider once that finds a short conversation too long, and then asks for a gain", async () => {
    const cut: ScriptedReply = { text: "x", finish: "context-overflow" };
    const always = open(
      [{ text: "a" }, ...new Array<ScriptedReply>(50).fill(cut)].map(
        (reply) => (request) => (request.tools.length === 0 ? summary : reply),
      ),
    );
    await always.session.submit("one");
    const outcome = await always.session.submit("two");
    const next = await always.session.submit("three");
    await always.session.shutdown();
    assert.deepEqual(
      [outcome, next].map((each) => each.type === "failed" && each.error.code),
      ["context-overflow", "context-overflow"],
    );
    assert.equal(always.provider.requests.length, 1 + 3 + 3);
    const [first, second] = await always.ended();
    const gain = ({ preTokens, result }: NonNullable<typeof first>): number =>
      result.type === "compacted" ? preTokens - result.postTokens : Number.NaN;
    assert.deepEqual([first && gain(first) < 0, second && gain(second) > 0], [true, true]);
  });

  it("takes no summary that is longer than what it would stand for", async () => {
    const overflow: ScriptedReply = { fail: { code: "context-overflow", message: "prompt is too long" } };
    const { session, provider, ended } = open([lengthy, overflow, { text: "word ".repeat(2_000) }, { text: "never" }]);
    await session.submit("one");
    const outcome = await session.submit("two");
    await session.shutdown();
    assert.deepEqual([outcome.type === "failed" && outcome.error.code, provider.requests.length], ["context-overflow", 3]);
    assert.deepEqual(
      (await ended()).map(({ result }) => result.type),
      ["failed"],
    );
  });

  it("makes parts of a refused record that get fewer, however small it is", async () => {
    const cut: ScriptedReply = { text: "x", finish: "context-overflow" };
    const replies: ScriptedReply[] = [lengthy, cut, cut, ...new Array<ScriptedReply>(500).fill({ text: "part ".repeat(300) })];
    const { session, provider } = open(replies);
    await session.submit("one");
    await session.submit("two");
    await session.shutdown();
    assert.equal(provider.requests.length < 12, true, `${provider.requests.length} requests`);
  });

  it("compacts when asked to, with a focus, but not while a turn runs", async () => {
    const { session, provider } = open([{ text: "a" }, summary, { text: "b", delayMs: 50 }], {
      instructions: { text: "Rules.", files: [], warnings: [], compactInstructions: "keep ports" },
    });
    assert.equal(await session.compact(), undefined);
    await session.submit("one");
    const report = await session.compact("focus on auth");
    assert.equal(report?.summary, "what happened");
    assert.match(textOf(provider.requests[1]?.messages[0]?.content ?? []), /keep ports[\s\S]*focus on auth/);
    const turn = session.submit("two");
    await assert.rejects(session.compact(), { code: "busy" });
    await turn;
    await session.shutdown();
    assert.match(textOf(provider.requests[2]?.messages[0]?.content ?? []), /what happened/);
    assert.match(provider.requests[2]?.system ?? "", /\n\nRules\.$/);
  });

  it("tells which instruction files it was given, and what was left out of them", async () => {
    const instructions = {
      text: "Rules.",
      files: [{ path: "/project/AGENTS.md", bytes: 6, scope: "project" as const }],
      warnings: ["CLAUDE.md was not loaded: it leads out of the project"],
    };
    const { session, store } = open([], { instructions, systemPrompt: "Mine.", language: "Korean" });
    await session.open();
    await session.shutdown();
    const events = await store.read(session.id);
    const started = events.find((event) => event.type === "session.started");
    assert.deepEqual(
      [started?.system, started?.instructionFiles],
      ["Mine.\n\nRules.", [{ path: "/project/AGENTS.md", bytes: 6 }]],
    );
    assert.match(JSON.stringify(events.filter((event) => event.type === "warning.raised")), /leads out of the project/);
  });

  it("can be aborted while it summarises, and then takes the next prompt", async () => {
    const { session } = open([{ text: "a" }, { hang: true }, { text: "b" }]);
    await session.submit("one");
    const compacting = session.compact();
    for await (const event of session.events()) if (event.type === "compaction.started") break;
    session.abort();
    await assert.rejects(compacting);
    assert.deepEqual(await session.submit("two"), { type: "completed", text: "b" });
    await session.shutdown();
  });

  it("rejects with what went wrong when a compaction was asked for", async () => {
    const { session } = open([{ text: "a" }, { fail: { code: "provider-auth", message: "wrong key" } }]);
    await session.submit("one");
    await assert.rejects(session.compact(), { code: "provider-auth" });
    await session.shutdown();
  });

  it("does nothing by itself when it is off, and can be switched on", async () => {
    const { session, provider } = open([full, full, summary, { text: "c" }], { compaction: { threshold: false } });
    await session.submit("one");
    await session.submit("two");
    assert.equal(provider.requests.length, 2);
    await session.setAutoCompactThreshold(0.5);
    await session.submit("three");
    assert.equal(provider.requests.length, 4);
    assert.equal(await session.getAutoCompactThreshold(), 0.5);
    await session.shutdown();
  });

  it("refuses a threshold that is no share before there is a journal", async () => {
    const { session, store } = open([], { compaction: { threshold: 84 } });
    await assert.rejects(session.open(), { code: "config" });
    assert.deepEqual(await store.list(), []);
  });

  /** What the files take afterwards must be less than what the summary saves. */
  const long = "a long answer ".repeat(100);

  it("reads files again that were in use, but not those a rule forbids", async () => {
    writeFileSync(join(root, "a.txt"), "new content of a");
    writeFileSync(join(root, "private.txt"), "secret");
    const read = (path: string): ScriptedReply => ({ text: long, calls: [{ name: "Read", input: { file_path: path } }] });
    const store = createMemoryStore();
    const first = open([read("a.txt"), read("private.txt"), { text: "done" }], { sessionStore: store });
    await first.session.submit("look");
    await first.session.shutdown();
    const second = open([summary], {
      sessionStore: store,
      resumeSessionId: first.session.id,
      disallowedTools: ["Read(private.txt)"],
    });
    await second.session.compact();
    const [message] = second.session.getMessages();
    await second.session.shutdown();
    const shown = textOf(message?.content ?? []);
    assert.match(shown, /<file path="a.txt">\nnew content of a\n<\/file>/);
    assert.doesNotMatch(shown, /secret/);
  });

  it("hides secrets in the summary, its focus and the files it reads again: the model is sent what is recorded", async () => {
    const secret = "hunter2-hunter2-hunter2";
    writeFileSync(join(root, "config.txt"), `${"x".repeat(50)} password=${secret} end`);
    const read: ScriptedReply = { text: long, calls: [{ name: "Read", input: { file_path: "config.txt" } }] };
    const { session, provider, store } = open([read, { text: "a" }, { text: `it is ${secret}` }, { text: "last" }], {
      redactor: createRedactor({ env: { DB_PASSWORD: secret } }),
    });
    await session.submit("one");
    await session.compact(`keep ${secret}`);
    await session.submit("two");
    await session.shutdown();
    const sent = provider.requests.slice(2);
    assert.doesNotMatch(JSON.stringify(sent), /hunter2/);
    assert.match(JSON.stringify(sent[1]), /<file path=[^>]*config.txt[^>]*>.{0,4}x{50} password=\[redacted:DB_PASSWORD\] end/);
    const events = await store.read(session.id);
    const asked = events.findIndex((event) => event.type === "message.ended" && textOf(event.message.content) === "last");
    assert.equal(JSON.stringify(toMessages(events.slice(0, asked))), JSON.stringify(sent[1]?.messages));
  });

  it("has one end, also when it is interrupted while PostCompact hooks are told of it", async () => {
    const { session, ended } = open([full, summary, { text: "b" }], {
      hooks: {
        PostCompact: [
          {
            hooks: [
              async () => {
                session.abort();
                await new Promise((resolve) => setTimeout(resolve, 20));
                return {};
              },
            ],
          },
        ],
      },
    });
    await session.submit("one");
    assert.equal((await session.submit("two")).type, "cancelled");
    await session.shutdown();
    assert.deepEqual(
      (await ended()).map(({ result }) => result.type),
      ["compacted"],
    );
  });

  it("knows the window of another model a host has chosen", async () => {
    const provider = {
      ...createScriptedProvider([
        { text: "a", usage: { inputTokens: 60_000 } },
        summary,
        { text: "b", usage: { inputTokens: 900 } },
      ]),
      contextWindow: 200_000,
      contextWindowIsGuess: true,
    };
    const session = new InteractiveSession({
      cwd: root,
      provider,
      model: "large",
      catalogOverride: {
        models: [
          { provider: "scripted", model: "large", contextWindow: 100_000 },
          { provider: "scripted", model: "small", contextWindow: 64_000 },
        ],
      },
    });
    await session.submit("one");
    assert.equal(session.getContextState().maxTokens, 100_000);
    (await session.controls()).setModel("small");
    assert.deepEqual(await session.submit("two"), { type: "completed", text: "b" });
    assert.equal(session.getContextState().maxTokens, 64_000);
    await session.shutdown();
  });

  it("says what does not fit, and not that nothing was summarised, when a single prompt is too long", async () => {
    const { session } = open([{ fail: { code: "context-overflow", message: "prompt is too long" } }]);
    const outcome = await session.submit("one");
    await session.shutdown();
    assert.match(
      outcome.type === "failed" ? outcome.error.message : "",
      /^The conversation does not fit into the model's context window of 100000 tokens: system prompt and tools take/,
    );
  });

  it("asks for a summary that the answer's own limit leaves room for", async () => {
    const { session, provider } = open([{ text: "a" }, summary], { maxOutputTokens: 600 });
    await session.submit("one");
    await session.compact();
    await session.shutdown();
    assert.match(textOf(provider.requests[1]?.messages[0]?.content ?? []), /Use at most 300 words/);
  });

  it("asks PreCompact hooks and tells PostCompact hooks", async () => {
    const told: unknown[] = [];
    const { session, ended } = open([full, summary, { text: "b" }], {
      hooks: {
        PreCompact: [{ matcher: "auto", hooks: [(input) => void told.push([input["trigger"], input["custom_instructions"]])] }],
        PostCompact: [{ hooks: [(input) => void told.push(input["compact_summary"])] }],
      },
    });
    await session.submit("one");
    await session.submit("two");
    await session.shutdown();
    assert.deepEqual(told, [["auto", null], "what happened"]);
    assert.equal((await ended()).length, 1);
  });

  it("is a new start to SessionStart hooks, and what they say then is read with the next request", async () => {
    const told: unknown[] = [];
    const { session, provider } = open([full, summary, { text: "b" }, { text: "c" }], {
      hooks: {
        SessionStart: [
          {
            matcher: "compact",
            hooks: [
              (input) => {
                told.push([input["source"], input["model"]]);
                return { hookSpecificOutput: { hookEventName: "SessionStart", additionalContext: "remember the tide" } };
              },
            ],
          },
        ],
      },
    });
    await session.submit("one");
    await session.submit("two");
    await session.submit("three");
    await session.shutdown();
    assert.deepEqual(told, [["compact", "scripted"]]);
    assert.match(JSON.stringify(provider.requests.at(-1)?.messages), /remember the tide/);
  });

  it("stops at its budget when the summary was too much", async () => {
    const { session } = open([full, { text: "s", usage: { inputTokens: 900_000 } }], {
      maxBudgetUsd: 2,
      catalogOverride: { models: [{ provider: "scripted", model: "scripted", price: { input: 3, output: 3 } }] },
    });
    await session.submit("one");
    const outcome = await session.submit("two");
    await session.shutdown();
    assert.deepEqual(outcome, { type: "stopped", limit: "max-budget", text: "" });
  });

  it("stops at its budget, too, when the summary was for a request that a provider refused as too long", async () => {
    const refused: ScriptStep = { fail: { code: "context-overflow", message: "too long" } };
    const { session } = open([{ text: "a" }, refused, { text: "s", usage: { inputTokens: 900_000 } }, { text: "never" }], {
      maxBudgetUsd: 2,
      catalogOverride: { models: [{ provider: "scripted", model: "scripted", price: { input: 3, output: 3 } }] },
    });
    await session.submit("one");
    const outcome = await session.submit("two");
    await session.shutdown();
    assert.deepEqual(outcome, { type: "stopped", limit: "max-budget", text: "" });
  });

  it("stays small over hundreds of turns and many compactions", async () => {
    let turns = 0;
    const reply: ScriptStep = (request) => {
      if (request.tools.length === 0) return { text: `summary ${turns}` };
      return { text: `answer ${++turns} ${"word ".repeat(100)}` };
    };
    const { session, store, ended } = open(
      Array.from({ length: 1_000 }, () => reply),
      { compaction: { threshold: 0.12 } },
    );
    let largest = 0;
    for (let turn = 0; turn < 500; turn++) {
      await session.submit(`prompt ${turn} ${"word ".repeat(20)}`);
      if (turn % 50 === 0) largest = Math.max(largest, session.getMessages().length);
    }
    const messages = session.getMessages();
    await session.shutdown();
    assert.equal(turns, 500);
    const compactions = (await ended()).length;
    assert.equal(compactions >= 10, true, `${compactions} compactions`);
    assert.equal(largest < 400, true, `${largest} messages`);
    assert.equal(session.getFullHistory().length < 2_100, true);
    assert.equal(JSON.stringify(messages), JSON.stringify(toMessages(await store.read(session.id))));
  });
});
