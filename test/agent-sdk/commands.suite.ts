import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type HookInput, SYSTEM_PROMPT_DYNAMIC_BOUNDARY } from "@anthropic-ai/claude-agent-sdk";
import { collect, Feed, initOf, kindOf, nextResult, only, sent, stage, textOf } from "./harness.ts";

const longAnswer = "word ".repeat(400);

describe("/compact as a prompt", () => {
  it("gives way to a summary, tells so, and the conversation goes on from it", async () => {
    const { open, server } = await stage([
      { text: longAnswer },
      { text: longAnswer },
      { text: "They spoke about words" },
      { text: "Going on" },
    ]);
    const heard: HookInput[] = [];
    const listen = async (input: HookInput) => {
      heard.push(input);
      return {};
    };
    const feed = new Feed();
    const query = open(feed, { hooks: { PreCompact: [{ hooks: [listen] }], PostCompact: [{ hooks: [listen] }] } });
    feed.say("first");
    await nextResult(query);
    feed.say("second");
    await nextResult(query);
    feed.say("/compact dwell on the words");
    const seen: string[] = [];
    const compacted = await (async () => {
      for (;;) {
        const { value } = await query.next();
        if (!value) throw new Error("It ended");
        seen.push(kindOf(value));
        if (value.type === "system" && value.subtype === "compact_boundary")
          assert.equal(value.compact_metadata.trigger, "manual");
        if (value.type === "result") return value;
      }
    })();
    assert.equal(compacted.subtype, "success");
    assert.equal(compacted.num_turns, 0);
    assert.deepEqual(
      seen.filter((kind) => ["system/init", "system/compact_boundary", "result/success"].includes(kind)),
      ["system/init", "system/compact_boundary", "result/success"],
    );
    assert.deepEqual(
      heard.map((input) => input.hook_event_name),
      ["PreCompact", "PostCompact"],
    );
    assert.match(JSON.stringify(sent(server, 2).messages), /dwell on the words/);
    feed.say("and on");
    assert.equal(textOf(await nextResult(query)), "Going on");
    const told = JSON.stringify(sent(server, 3).messages);
    assert.match(told, /They spoke about words.*and on/);
    assert.doesNotMatch(told, /\/compact/);
    feed.end();
    await collect(query);
  });

  it("with nothing to summarise it says so, and asks no model", async () => {
    const { ask, server } = await stage([]);
    const result = only(await ask("/compact"));
    assert.equal(result.subtype, "success");
    assert.match(textOf(result), /nothing to summarise/i);
    assert.equal(server.requests.length, 0);
  });

  it("is listed where commands are, and verbatimPrompts sends it to the model instead", async () => {
    const { ask, open, server } = await stage([{ text: "ok" }, { text: "ok" }, { text: "ok" }]);
    const query = open("Hi");
    const names = (await query.supportedCommands()).map(({ name }) => name);
    assert.equal(names[0], "compact");
    assert.deepEqual(initOf((await collect(query)).messages).slash_commands, names);
    await ask("/compact", { verbatimPrompts: true });
    assert.match(JSON.stringify(sent(server, 1).messages), /\/compact/);
    const unknown = only(await ask("/compct words"));
    assert.match(JSON.stringify(unknown), /Unknown command \\"\/compct\\"\. Did you mean \/compact\?/);
    assert.equal(server.requests.length, 2);
  });

  it("an interrupt ends it, and the session goes on", async () => {
    const { open } = await stage([
      { text: longAnswer },
      { text: longAnswer },
      { text: "never", delayMs: 20_000 },
      { text: "Still here" },
    ]);
    const feed = new Feed();
    const query = open(feed);
    feed.say("first");
    await nextResult(query);
    feed.say("second");
    await nextResult(query);
    feed.say("/compact");
    for (;;) {
      const { value } = await query.next();
      if (value?.type === "system" && value.subtype === "status") break;
    }
    await query.interrupt();
    assert.equal((await nextResult(query)).subtype, "error_during_execution");
    feed.say("third");
    assert.equal(textOf(await nextResult(query)), "Still here");
    feed.end();
    await collect(query);
  });
});

describe("a system prompt in pieces", () => {
  it("the mark for caching is not read by the model", async () => {
    const { ask, server } = await stage([{ text: "ok" }]);
    await ask("Hi", { systemPrompt: ["the same for all", SYSTEM_PROMPT_DYNAMIC_BOUNDARY, "for this one"] });
    assert.match(sent(server, 0).system, /the same for all.*for this one/);
    assert.doesNotMatch(sent(server, 0).system, /BOUNDARY/);
  });
});
