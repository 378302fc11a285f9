import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { eventually, Feed, initOf, nextResult, processesOf, readUntil, sent, stage, textOf, userMessage } from "./harness.ts";

const longText = "word ".repeat(400);

describe("interrupt", () => {
  it("while the model speaks: within a second, with an error result, and the session stays usable", async () => {
    const { open, server } = await stage([{ text: longText, chunkDelayMs: 20 }, { text: "second turn" }]);
    const feed = new Feed();
    const query = open(feed, { includePartialMessages: true });
    const messages = query[Symbol.asyncIterator]();
    feed.say("Talk");
    await readUntil(messages, (message) => message.type === "stream_event" && message.event.type === "content_block_delta");
    const askedAt = Date.now();
    const ended = nextResult(messages);
    const receipt = await query.interrupt();
    const result = await ended;
    assert.ok(Date.now() - askedAt < 1000, `${Date.now() - askedAt} ms`);
    assert.deepEqual(receipt?.still_queued, []);
    assert.equal(result.subtype, "error_during_execution");
    assert.equal(result.is_error, true);
    assert.ok(result.errors.length > 0);
    feed.say("Again");
    assert.equal(textOf(await nextResult(messages)), "second turn");
    feed.end();
    assert.equal((await messages.next()).done, true);
    assert.match(JSON.stringify(sent(server, 1).messages), /Talk/);
  });

  it("in a running tool: the process and its children are gone", async () => {
    const world = await stage([
      { calls: [{ name: "Bash", input: { command: "touch started.txt; sleep 60; touch late.txt" } }] },
      { text: "next" },
    ]);
    const feed = new Feed();
    const query = world.open(feed, { permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true });
    const messages = query[Symbol.asyncIterator]();
    feed.say("Wait");
    await readUntil(messages, (message) => message.type === "assistant");
    await eventually(() => existsSync(join(world.cwd, "started.txt")), "the tool runs");
    assert.notDeepEqual(processesOf(world, "sleep"), []);
    const askedAt = Date.now();
    const ended = nextResult(messages);
    await query.interrupt();
    assert.equal((await ended).subtype, "error_during_execution");
    assert.ok(Date.now() - askedAt < 2000);
    await eventually(() => processesOf(world, "sleep").length === 0, "the tool is gone");
    feed.say("Go on");
    assert.equal(textOf(await nextResult(messages)), "next");
    feed.end();
  });

  it("idle: is answered, and nothing happens", async () => {
    const { open } = await stage([{ text: "one" }, { text: "two" }]);
    const feed = new Feed();
    const query = open(feed);
    const messages = query[Symbol.asyncIterator]();
    feed.say("One");
    await nextResult(messages);
    await query.interrupt();
    feed.say("Two");
    assert.equal(textOf(await nextResult(messages)), "two");
    feed.end();
  });

  it("keeps messages that wait, and names them", async () => {
    const { open } = await stage([{ text: longText, chunkDelayMs: 20 }, { text: "for the one that waited" }]);
    const feed = new Feed();
    const query = open(feed, { includePartialMessages: true });
    const messages = query[Symbol.asyncIterator]();
    feed.say("Talk");
    await readUntil(messages, (message) => message.type === "stream_event" && message.event.type === "content_block_delta");
    const uuid = "11111111-2222-4333-8444-555555555555";
    feed.say(userMessage("Then this", { uuid }));
    await readUntil(messages, (message) => message.type === "stream_event");
    await new Promise((resolve) => setTimeout(resolve, 200)); // the message is on its way through a pipe that tells nobody
    const receipt = await query.interrupt();
    assert.deepEqual(receipt?.still_queued, [uuid]);
    assert.equal((await nextResult(messages)).subtype, "error_during_execution");
    assert.equal(textOf(await nextResult(messages)), "for the one that waited");
    feed.end();
  });
});

describe("changes while a session lives", () => {
  it("setModel holds for the next call, and init and result say so", async () => {
    const { open, server } = await stage([{ text: "one" }, { text: "two" }, { text: "three" }]);
    const feed = new Feed();
    const query = open(feed, { model: "claude-sonnet-4-6" });
    const messages = query[Symbol.asyncIterator]();
    feed.say("One");
    await nextResult(messages);
    await query.setModel("claude-haiku-4-5");
    feed.say("Two");
    const seen = await readUntil(messages, (message) => message.type === "result");
    assert.equal(initOf(seen).model, "claude-haiku-4-5");
    await query.setModel();
    feed.say("Three");
    await nextResult(messages);
    feed.end();
    assert.deepEqual(
      [0, 1, 2].map((index) => sent(server, index).body["model"]),
      ["claude-sonnet-4-6", "claude-haiku-4-5", "claude-sonnet-4-6"],
    );
  });

  it("setModel before the first prompt", async () => {
    const { open, server } = await stage([{ text: "one" }]);
    const feed = new Feed();
    const query = open(feed, { model: "claude-sonnet-4-6" });
    const messages = query[Symbol.asyncIterator]();
    await query.setModel("claude-haiku-4-5");
    feed.say("One");
    const seen = await readUntil(messages, (message) => message.type === "result");
    assert.equal(initOf(seen).model, "claude-haiku-4-5");
    assert.equal(sent(server, 0).body["model"], "claude-haiku-4-5");
    feed.end();
  });

  it("setModel during a turn holds for its next call", async () => {
    const { open, server } = await stage([{ calls: [{ name: "Bash", input: { command: "sleep 0.5" } }] }, { text: "two" }]);
    const feed = new Feed();
    const query = open(feed, { allowedTools: ["Bash"], model: "claude-sonnet-4-6" });
    const messages = query[Symbol.asyncIterator]();
    feed.say("Go");
    await readUntil(messages, (message) => message.type === "assistant");
    await query.setModel("claude-haiku-4-5");
    assert.equal(textOf(await nextResult(messages)), "two");
    assert.deepEqual([sent(server, 0).body["model"], sent(server, 1).body["model"]], ["claude-sonnet-4-6", "claude-haiku-4-5"]);
    feed.end();
  });

  it("setMaxThinkingTokens turns thinking on and off", async () => {
    const { open, server } = await stage([{ text: "one" }, { text: "two" }, { text: "three" }]);
    const feed = new Feed();
    const query = open(feed, { model: "claude-sonnet-4-6" });
    const messages = query[Symbol.asyncIterator]();
    feed.say("One");
    await nextResult(messages);
    await query.setMaxThinkingTokens(4000);
    feed.say("Two");
    await nextResult(messages);
    await query.setMaxThinkingTokens(null);
    feed.say("Three");
    await nextResult(messages);
    feed.end();
    const budgets = [0, 1, 2].map((index) => JSON.stringify(sent(server, index).body["thinking"] ?? null));
    assert.match(budgets[1] ?? "", /4000/);
    assert.equal(budgets[0], budgets[2]);
  });
});

describe("questions about the session", () => {
  it("initializationResult, supportedCommands, supportedModels, supportedAgents, accountInfo", async () => {
    const { open } = await stage([{ text: "ok" }]);
    const feed = new Feed();
    const query = open(feed, { agents: { helper: { description: "helps a lot", prompt: "You help" } } });
    const messages = query[Symbol.asyncIterator]();
    const init = await query.initializationResult();
    assert.ok(Array.isArray(init.commands) && Array.isArray(init.agents) && init.models.length > 0);
    assert.equal(init.output_style, "default");
    assert.ok(Array.isArray(await query.supportedCommands()));
    const [model] = await query.supportedModels();
    assert.ok(model && model.value !== "" && model.displayName !== "" && typeof model.description === "string");
    const helper = (await query.supportedAgents()).find(({ name }) => name === "helper");
    assert.equal(helper?.description, "helps a lot");
    const account = await query.accountInfo();
    assert.deepEqual([account.apiKeySource, account.apiProvider], ["ANTHROPIC_API_KEY", "firstParty"]);
    feed.say("Hi");
    assert.equal(textOf(await nextResult(messages)), "ok");
    feed.end();
  });

  it("a value of supportedModels may be given to setModel", async () => {
    const { open } = await stage([{ text: "ok" }]);
    const feed = new Feed();
    const query = open(feed);
    for (const { value } of (await query.supportedModels()).slice(0, 3)) await query.setModel(value);
    feed.end();
    query.close();
  });

  it("getContextUsage", async () => {
    const { open } = await stage([{ text: "ok", usage: { inputTokens: 1000, outputTokens: 10 } }]);
    const feed = new Feed();
    const query = open(feed);
    const messages = query[Symbol.asyncIterator]();
    feed.say("Hi");
    await nextResult(messages);
    const usage = await query.getContextUsage();
    assert.ok(usage.totalTokens >= 1000 && usage.maxTokens > usage.totalTokens);
    assert.equal(typeof usage.percentage, "number");
    assert.equal(typeof usage.model, "string");
    assert.ok(Array.isArray(usage.categories) && Array.isArray(usage.mcpTools) && Array.isArray(usage.memoryFiles));
    feed.end();
  });

  it("what is not known is said to be unsupported, and the session lives on", async () => {
    const { open } = await stage([{ text: "ok" }]);
    const feed = new Feed();
    const query = open(feed);
    const messages = query[Symbol.asyncIterator]();
    await assert.rejects(query.updateSettings("userSettings", { outputStyle: "Terse" }), /[Uu]nsupported/);
    feed.say("Hi");
    assert.equal(textOf(await nextResult(messages)), "ok");
    feed.end();
  });

  it("streamInput adds messages to a running query", async () => {
    const { open } = await stage([{ text: "one" }, { text: "two" }]);
    const feed = new Feed();
    const query = open(feed);
    const messages = query[Symbol.asyncIterator]();
    feed.say("One");
    await nextResult(messages);
    void query.streamInput(
      (async function* () {
        yield userMessage("Two");
      })(),
    );
    assert.equal(textOf(await nextResult(messages)), "two");
    feed.end();
  });
});

describe("rewindFiles", () => {
  it("puts files back to how they were at a user message", async () => {
    const { open, cwd } = await stage([
      { calls: [{ name: "Read", input: { file_path: "a.txt" } }] },
      { calls: [{ name: "Write", input: { file_path: "a.txt", content: "changed once" } }] },
      { text: "one" },
      { calls: [{ name: "Write", input: { file_path: "b.txt", content: "new" } }] },
      { text: "two" },
    ]);
    const file = join(cwd, "a.txt");
    writeFileSync(file, "original");
    const feed = new Feed();
    const query = open(feed, {
      permissionMode: "acceptEdits",
      enableFileCheckpointing: true,
      extraArgs: { "replay-user-messages": null },
    });
    const messages = query[Symbol.asyncIterator]();
    feed.say("Change it");
    const first = await readUntil(messages, (message) => message.type === "result");
    const replayed = first.find((message) => message.type === "user" && "isReplay" in message && message.isReplay);
    assert.ok(replayed && "uuid" in replayed && typeof replayed.uuid === "string");
    const second = "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee";
    feed.say(userMessage("And another", { uuid: second }));
    await nextResult(messages);
    assert.equal(readFileSync(file, "utf8"), "changed once");

    const dry = await query.rewindFiles(second, { dryRun: true });
    assert.equal(dry.canRewind, true);
    assert.ok(existsSync(join(cwd, "b.txt")));
    const undone = await query.rewindFiles(second);
    assert.equal(undone.canRewind, true);
    assert.ok(undone.filesChanged?.some((path) => path.endsWith("b.txt")));
    assert.ok(!existsSync(join(cwd, "b.txt")));
    assert.equal(readFileSync(file, "utf8"), "changed once");

    const all = await query.rewindFiles(replayed.uuid);
    assert.equal(all.canRewind, true);
    assert.equal(readFileSync(file, "utf8"), "original");
    feed.end();
  });

  it("without the option it says that it is not enabled", async () => {
    const { open } = await stage([{ text: "one" }]);
    const feed = new Feed();
    const query = open(feed);
    const messages = query[Symbol.asyncIterator]();
    feed.say("Hi");
    const { uuid } = await nextResult(messages);
    await assert.rejects(query.rewindFiles(uuid), /not enabled/);
    feed.end();
  });

  it("a message nobody knows cannot be rewound to", async () => {
    const { open } = await stage([{ text: "one" }]);
    const feed = new Feed();
    const query = open(feed, { enableFileCheckpointing: true });
    const messages = query[Symbol.asyncIterator]();
    feed.say("Hi");
    await nextResult(messages);
    const unknown = "00000000-0000-4000-8000-000000000000";
    const { canRewind, error } = await query.rewindFiles(unknown, { dryRun: true });
    assert.deepEqual([canRewind, typeof error], [false, "string"]);
    await assert.rejects(query.rewindFiles(unknown), /There is no checkpoint/);
    feed.end();
  });
});
