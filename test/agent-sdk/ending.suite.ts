import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { AbortError } from "@anthropic-ai/claude-agent-sdk";
import {
  collect,
  eventually,
  Feed,
  isAlive,
  nextResult,
  only,
  processesOf,
  readUntil,
  type Stage,
  stage,
  textOf,
} from "./harness.ts";

const longText = "word ".repeat(2000);
const longTool = { calls: [{ name: "Bash", input: { command: "touch started.txt; sleep 300 & sleep 300; wait" } }] };
const everything = { permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true } as const;

describe("the end of a query", () => {
  it("abort while the model speaks: AbortError, and the process is gone within two seconds", async () => {
    const world = await stage([{ text: longText, chunkDelayMs: 20 }]);
    const abortController = new AbortController();
    const query = world.open("Talk", { abortController, includePartialMessages: true });
    const pid = await processOf(query);
    const messages = query[Symbol.asyncIterator]();
    await readUntil(messages, (message) => message.type === "stream_event");
    const at = Date.now();
    abortController.abort();
    await assert.rejects(async () => {
      while (!(await messages.next()).done);
    }, AbortError);
    await eventually(() => !isAlive(pid), "the command is gone");
    assert.ok(Date.now() - at < 2500, `${Date.now() - at} ms`);
  });

  it("abort in a tool: the tool and its children are gone within two seconds", async () => {
    const world = await stage([longTool]);
    const abortController = new AbortController();
    const query = world.open("Wait", { abortController, ...everything });
    const pid = await processOf(query);
    const ended = collect(query);
    await toolRuns(world);
    const at = Date.now();
    abortController.abort();
    await ended;
    await eventually(() => !isAlive(pid) && processesOf(world, "sleep").length === 0, "both are gone");
    assert.ok(Date.now() - at < 2500, `${Date.now() - at} ms`);
  });

  it("close: the same", async () => {
    const world = await stage([longTool]);
    const query = world.open("Wait", everything);
    const pid = await processOf(query);
    const ended = collect(query);
    await toolRuns(world);
    const at = Date.now();
    query.close();
    await ended;
    await eventually(() => !isAlive(pid) && processesOf(world, "sleep").length === 0, "both are gone");
    assert.ok(Date.now() - at < 2500, `${Date.now() - at} ms`);
  });

  it("return from the loop: the same", async () => {
    const world = await stage([{ text: "one" }, { text: "two" }]);
    const feed = new Feed();
    feed.say("One");
    const query = world.open(feed);
    const pid = await processOf(query);
    for await (const message of query) if (message.type === "result") break;
    await eventually(() => !isAlive(pid), "the command is gone");
  });

  it("after a background process of a tool the query still ends", async () => {
    const world = await stage([
      { calls: [{ name: "Bash", input: { command: "sleep 300 > /dev/null 2>&1 & echo started" } }] },
      { text: "ok" },
    ]);
    const at = Date.now();
    assert.equal(textOf(only(await world.ask("Go", everything))), "ok");
    assert.ok(Date.now() - at < 8000);
    await eventually(() => processesOf(world, "sleep").length === 0, "nothing is left");
  });

  it("the end of the input during a turn lets it finish", async () => {
    const world = await stage([{ text: "slow ".repeat(20), chunkDelayMs: 10 }]);
    const feed = new Feed();
    feed.say("Talk");
    feed.end();
    const answered = await world.ask(feed);
    assert.match(textOf(only(answered)), /slow/);
    assert.equal(answered.thrown, undefined);
  });
});

describe("errors", () => {
  it("a wrong key: no retries, an error result, and the iterator throws", async () => {
    const world = await stage(() => ({ status: 401 }));
    const at = Date.now();
    const { results, thrown } = await world.ask("Hi");
    assert.equal(world.server.requests.length, 1);
    assert.equal(results.length, 1);
    assert.equal(results[0]?.is_error, true);
    assert.ok(thrown);
    assert.ok(Date.now() - at < 5000);
  });

  it("no key at all: the same, without a request", async () => {
    const world = await stage([]);
    const { results, thrown } = await world.ask("Hi", { env: { ANTHROPIC_API_KEY: "" } });
    assert.equal(results[0]?.is_error, true);
    assert.ok(thrown);
    assert.equal(world.server.requests.length, 0);
  });

  it("a failure that passes is retried, and told", async () => {
    const world = await stage([{ status: 529 }, { text: "ok" }]);
    const answered = await world.ask("Hi");
    assert.equal(textOf(only(answered)), "ok");
    const retry = answered.messages.find((message) => message.type === "system" && message.subtype === "api_retry");
    assert.ok(retry?.type === "system" && retry.subtype === "api_retry");
    assert.equal(retry.attempt, 1);
    assert.equal(retry.error_status, 529);
  });

  it("an error in one turn leaves the session usable", async () => {
    const world = await stage([{ status: 400 }, { text: "better" }]);
    const feed = new Feed();
    const messages = world.open(feed)[Symbol.asyncIterator]();
    feed.say("One");
    assert.equal((await nextResult(messages)).is_error, true);
    feed.say("Two");
    assert.equal(textOf(await nextResult(messages)), "better");
    feed.end();
    assert.equal((await messages.next()).done, true);
  });

  it("broken settings are refused at the start, with the reason", async () => {
    const world = await stage([{ text: "never" }]);
    const { thrown } = await world.ask("Hi", { settings: '{"permissions": ' });
    assert.ok(thrown);
    assert.equal(world.server.requests.length, 0);
  });

  it("stderr reaches the callback", async () => {
    const world = await stage([]);
    await world.ask("Hi", { extraArgs: { workload: "x" } });
    assert.match(world.stderr.join(""), /--workload/);
  });

  it("every error result has a list of errors", async () => {
    const world = await stage(() => ({ status: 500 }));
    const { results } = await world.ask("Hi", { env: { OUTRIDER_MAX_RETRIES: "1" } });
    const [result] = results;
    assert.ok(result && (result.subtype === "success" || result.errors.length > 0));
  });
});

async function processOf(query: { initializationResult(): Promise<unknown> }): Promise<number> {
  const { pid } = (await query.initializationResult()) as { pid: number }; // every executable tells it
  assert.ok(isAlive(pid));
  return pid;
}

async function toolRuns(world: Stage): Promise<void> {
  await eventually(() => existsSync(join(world.cwd, "started.txt")), "the tool runs");
  await eventually(() => processesOf(world, "sleep").length > 0, "its children run");
}
