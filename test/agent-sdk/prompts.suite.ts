import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { SDKUserMessage } from "@anthropic-ai/claude-agent-sdk";
import { Feed, initOf, kindOf, nextResult, only, readUntil, sent, stage, textOf, userMessage } from "./harness.ts";

describe("prompts", () => {
  it("a string prompt: init, answer, one result, and the iterator ends by itself", async () => {
    const { ask, server, cwd } = await stage([{ text: "Hello there" }]);
    const answered = await ask("Hi");
    const result = only(answered);
    assert.equal(textOf(result), "Hello there");
    assert.equal(answered.thrown, undefined);
    assert.deepEqual(answered.messages.map(kindOf), ["system/init", "assistant", "result/success"]);
    const init = initOf(answered.messages);
    assert.equal(init.cwd, cwd);
    assert.equal(init.session_id, result.session_id);
    assert.equal(init.permissionMode, "default");
    for (const tool of ["Bash", "Read", "Write", "Edit"]) assert.ok(init.tools.includes(tool), tool);
    assert.ok(Array.isArray(init.mcp_servers) && Array.isArray(init.slash_commands) && Array.isArray(init.plugins));
    assert.equal(server.requests.length, 1);
  });

  it("every message has a uuid and the same session id", async () => {
    const { ask } = await stage([{ text: "one", calls: [{ name: "Bash", input: { command: "echo hi" } }] }, { text: "two" }]);
    const { messages } = await ask("Go", { allowedTools: ["Bash"] });
    const ids = messages.map((message) => ("uuid" in message ? message.uuid : undefined));
    assert.ok(ids.every((id) => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(String(id))));
    assert.equal(new Set(ids).size, ids.length);
    assert.equal(new Set(messages.map((message) => message.session_id)).size, 1);
  });

  it("the result has every field that is always there", async () => {
    const { ask } = await stage([{ text: "done", usage: { inputTokens: 100, outputTokens: 20 } }]);
    const result = only(await ask("Go"));
    for (const field of ["duration_ms", "duration_api_ms", "num_turns", "total_cost_usd"] as const)
      assert.equal(typeof result[field], "number", field);
    assert.equal(result.is_error, false);
    assert.equal(result.num_turns, 1);
    assert.equal(result.stop_reason, "end_turn");
    assert.deepEqual(result.permission_denials, []);
    assert.equal(result.usage.input_tokens, 100);
    assert.equal(result.usage.output_tokens, 20);
    assert.equal(Object.values(result.modelUsage)[0]?.inputTokens, 100);
  });

  it("a tool call: its block, its result, and the next answer, in this order", async () => {
    const { ask, server } = await stage([
      { text: "Looking", calls: [{ name: "Bash", input: { command: "echo from-the-shell" } }] },
      { text: "Seen" },
    ]);
    const { messages } = await ask("Look", { allowedTools: ["Bash"] });
    assert.deepEqual(messages.map(kindOf), ["system/init", "assistant", "assistant", "user", "assistant", "result/success"]);
    const [text, call] = messages.filter((message) => message.type === "assistant");
    assert.equal(text?.message.id, call?.message.id);
    assert.equal(call?.message.content[0]?.type, "tool_use");
    assert.match(JSON.stringify(sent(server, 1).messages.at(-1)), /from-the-shell/);
  });

  it("a streaming prompt: many turns, one process, one session id, history kept", async () => {
    const { open, server } = await stage([{ text: "first" }, { text: "second" }, { text: "third" }]);
    const feed = new Feed();
    const query = open(feed);
    const messages = query[Symbol.asyncIterator]();
    const results = [];
    for (const words of ["one", "two", "three"]) {
      feed.say(words);
      results.push(await nextResult(messages));
    }
    feed.end();
    assert.equal((await messages.next()).done, true);
    assert.deepEqual(results.map(textOf), ["first", "second", "third"]);
    assert.equal(new Set(results.map((result) => result.session_id)).size, 1);
    const last = sent(server, 2).messages;
    assert.deepEqual(
      last.map(({ role }) => role),
      ["user", "assistant", "user", "assistant", "user"],
    );
  });

  it("an init comes with every turn", async () => {
    const { ask } = await stage([{ text: "first" }, { text: "second" }]);
    const { messages } = await ask(both("one", "two"));
    assert.deepEqual(messages.map(kindOf), [
      "system/init",
      "assistant",
      "result/success",
      "system/init",
      "assistant",
      "result/success",
    ]);
  });

  it("several messages at once all get their result", async () => {
    const { ask } = await stage([{ text: "a" }, { text: "b" }, { text: "c" }]);
    const { results, thrown } = await ask(both("1", "2", "3"));
    assert.equal(thrown, undefined);
    assert.equal(results.length, 3);
  });

  it("a message sent while a tool runs reaches the model in the same turn, and still gets a result of its own", async () => {
    const { open, server } = await stage([
      { calls: [{ name: "Bash", input: { command: "sleep 1; echo slept" } }] },
      { text: "both done" },
      { text: "spare" },
    ]);
    const feed = new Feed();
    const messages = open(feed, { allowedTools: ["Bash"] })[Symbol.asyncIterator]();
    feed.say("First");
    await readUntil(messages, (message) => message.type === "assistant");
    feed.say("And also this");
    const first = await nextResult(messages);
    const second = await nextResult(messages);
    feed.end();
    assert.equal((await messages.next()).done, true);
    assert.equal(textOf(first), "both done");
    assert.equal(textOf(second), "both done");
    assert.match(JSON.stringify(sent(server, 1).messages), /And also this/);
    assert.equal(server.requests.length, 2);
  });

  it("content in blocks, with an image", async () => {
    const { ask, server } = await stage([{ text: "A dot" }]);
    const data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    const prompt = one({
      type: "user",
      parent_tool_use_id: null,
      message: {
        role: "user",
        content: [
          { type: "text", text: "What is this?" },
          { type: "image", source: { type: "base64", media_type: "image/png", data } },
        ],
      },
    });
    assert.equal(textOf(only(await ask(prompt))), "A dot");
    assert.match(JSON.stringify(sent(server, 0).messages), /iVBORw0KGgo/);
  });

  it("partial messages: raw events whose deltas join to the text, each block told before it stops", async () => {
    const { ask } = await stage([{ text: "one two three four" }]);
    const { messages } = await ask("Go", { includePartialMessages: true });
    const events = messages.flatMap((message) => (message.type === "stream_event" ? [message.event] : []));
    assert.deepEqual([events[0]?.type, events.at(-1)?.type], ["message_start", "message_stop"]);
    const words = events.flatMap((event) =>
      event.type === "content_block_delta" && event.delta.type === "text_delta" ? [event.delta.text] : [],
    );
    assert.ok(words.length > 1);
    assert.equal(words.join(""), "one two three four");
    const kinds = messages.map((message) => (message.type === "stream_event" ? message.event.type : message.type));
    assert.ok(kinds.indexOf("assistant") < kinds.indexOf("content_block_stop"));
  });

  it("without the option there are no partial messages", async () => {
    const { ask } = await stage([{ text: "one two three" }]);
    const { messages } = await ask("Go");
    assert.ok(messages.every((message) => message.type !== "stream_event"));
  });

  it("thinking is a block of its own", async () => {
    const { ask } = await stage([{ reasoning: "Let me see", text: "Yes" }]);
    const { messages } = await ask("Go", { maxThinkingTokens: 2000 });
    const blocks = messages.flatMap((message) => (message.type === "assistant" ? message.message.content : []));
    assert.deepEqual(
      blocks.map(({ type }) => type),
      ["thinking", "text"],
    );
  });

  it("an iterable that ends without a message ends the query quietly", async () => {
    const { ask, server } = await stage([]);
    const { results, thrown } = await ask(both());
    assert.deepEqual(results, []);
    assert.equal(thrown, undefined);
    assert.equal(server.requests.length, 0);
  });

  it("text with line separators, emoji and half a megabyte arrives whole", async () => {
    const { ask, server } = await stage([{ text: "a\u2028b\u2029c \u{1f600} \u0000" }]);
    const long = `${"x".repeat(500_000)} \u2028 end`;
    assert.equal(textOf(only(await ask(long))), "a\u2028b\u2029c \u{1f600} \u0000");
    assert.ok(JSON.stringify(sent(server, 0).messages).includes("x".repeat(500_000)));
  });
});

async function* one(message: SDKUserMessage): AsyncGenerator<SDKUserMessage> {
  yield message;
}

async function* both(...texts: string[]): AsyncGenerator<SDKUserMessage> {
  for (const text of texts) yield userMessage(text);
}

describe("documents in a prompt", () => {
  it("a PDF and an image by its address reach the model as they are", async () => {
    const { ask, server } = await stage([{ text: "read" }]);
    const data = Buffer.from("%PDF-1.7\n").toString("base64");
    const content = [
      { type: "text" as const, text: "Read these" },
      { type: "document" as const, source: { type: "base64" as const, media_type: "application/pdf" as const, data } },
      { type: "image" as const, source: { type: "url" as const, url: "https://example.org/a.png" } },
    ];
    const prompt = (async function* () {
      yield userMessage("", { message: { role: "user", content } });
    })();
    assert.equal(textOf(only(await ask(prompt))), "read");
    const body = JSON.stringify(sent(server, 0).messages);
    assert.ok(body.includes(JSON.stringify(content[1]?.source)), body);
    assert.ok(body.includes('"source":{"type":"url","url":"https://example.org/a.png"}'), body);
  });
});
