import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { AgentEvent } from "../../packages/runtime/src/protocol/events.ts";
import { type ModelServer, type ModelServerOptions, startModelServer } from "../../packages/runtime/src/testing/model-server.ts";
import { eventually, lines, type Run, run, start, tempFolder } from "./command.ts";

type Json = Record<string, unknown>;

const profiles: readonly [wire: string, profile: Json, path: string][] = [
  ["Anthropic Messages", { type: "anthropic", model: "claude-haiku-4-5" }, ""],
  ["OpenAI Chat Completions", { type: "openai-compatible", model: "my-model" }, "/v1"],
  ["OpenAI Responses", { type: "openai", model: "gpt-5.5", options: { apiSurface: "responses" } }, "/v1"],
  ["Gemini", { type: "gemini", model: "gemini-3.5-flash" }, ""],
];

async function place(replies: ModelServerOptions["replies"], wire: (typeof profiles)[number] = profiles[0] ?? assert.fail()) {
  const folder = tempFolder("compaction");
  const project = join(folder, "project");
  const home = join(folder, "home");
  mkdirSync(project);
  mkdirSync(home);
  writeFileSync(join(project, "a.txt"), "hello from the file\n");
  const server = await startModelServer({ replies });
  after(() => server.close());
  const [, profile, path] = wire;
  const work = { ...profile, apiKey: "$ENV:WORK_KEY", baseURL: server.url + path };
  writeFileSync(join(home, "settings.json"), JSON.stringify({ currentProvider: "work", providers: { work } }));
  const options = { env: { OUTRIDER_HOME: home, WORK_KEY: "k", OUTRIDER_RETRY_BASE_MS: "5" }, cwd: project };
  return {
    server,
    options,
    outrider: (...args: string[]): Promise<Run> => run(["-p", ...args, "--output-format", "json"], options),
    begin: (...args: string[]) => start(["-p", ...args, "--output-format", "json"], options),
    journal: (id: unknown): AgentEvent[] =>
      readFileSync(join(home, "sessions", `${id}.jsonl`), "utf8")
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
  };
}

const resultOf = ({ stdout }: Run): Json => lines(stdout).at(-1) ?? {};
const bodies = (server: ModelServer): string[] => server.requests.map(({ body }) => JSON.stringify(body));
const messagesOf = (server: ModelServer, index: number): unknown[] => {
  const { messages } = (server.requests[index]?.body ?? {}) as { messages?: unknown[] };
  // Where a provider is to keep a cache from is no part of what was said.
  return JSON.parse(JSON.stringify(messages ?? []).replaceAll(/,"cache_control":\{[^}]*\}/g, ""));
};
const full = { text: "first answer", usage: { inputTokens: 190_000, outputTokens: 10 } };

describe("a provider that refuses a request as too long", () => {
  for (const wire of profiles) {
    it(`gets a shorter one over ${wire[0]}, once, with every call beside its result`, async () => {
      const tooLong = { fail: { code: "context-overflow", message: "300000 tokens > 200000 maximum" } } as const;
      const read = { calls: [{ name: "Read", input: { file_path: "a.txt" } }] };
      const { server, outrider, journal } = await place(
        [{ text: "hello" }, read, read, tooLong, { text: "The file says hello." }, { text: "done" }],
        wire,
      );
      const first = resultOf(await outrider("one"));
      const ended = await outrider("--resume", String(first["session_id"]), "look at a.txt");
      const result = resultOf(ended);
      assert.deepEqual([ended.code, result["subtype"], result["result"]], [0, "success", "done"], ended.stderr);
      const compactions = journal(result["session_id"]).flatMap((event) =>
        event.type === "compaction.ended" ? [[event.trigger, event.result.type]] : [],
      );
      assert.deepEqual(compactions, [["overflow", "compacted"]]);
      const last = bodies(server).at(-1) ?? "";
      assert.match(last, /The file says hello\./);
      assert.match(last, /look at a\.txt/);
    });
  }

  it("ends the run with a typed error when that was not enough", async () => {
    const tooLong = { fail: { code: "context-overflow", message: "300000 tokens > 200000 maximum" } } as const;
    const { server, outrider } = await place([{ text: "hello" }, tooLong, { text: "summary" }, tooLong]);
    const first = resultOf(await outrider("one"));
    const ended = await outrider("--resume", String(first["session_id"]), "two");
    const { error, subtype } = resultOf(ended) as { error: Json; subtype: string };
    assert.deepEqual([subtype, error["code"], error["retryable"]], ["error_during_execution", "context-overflow", false]);
    assert.equal(ended.code === 0, false);
    assert.equal(server.requests.length, 4);
  });
});

describe("a compaction that is killed", () => {
  it("in the middle leaves the context as it was, and is tried again", async () => {
    const { server, outrider, begin, journal } = await place([
      full,
      { text: "half a summ", stallAfterBytes: 400 },
      { text: "a whole summary" },
      { text: "second answer" },
    ]);
    const id = String(resultOf(await outrider("one"))["session_id"]);
    const { child, done } = begin("--resume", id, "two");
    await eventually(() => server.requests.length === 2, "the summary is asked for");
    child.kill("SIGKILL");
    await done;
    assert.deepEqual(
      journal(id).flatMap((event) => (event.type.startsWith("compaction.") ? [event.type] : [])),
      ["compaction.started"],
    );
    const ended = resultOf(await outrider("--resume", id, "three"));
    assert.equal(ended["result"], "second answer");
    const [, before = "", again = ""] = bodies(server);
    assert.match(before, /first answer/);
    assert.match(again, /first answer/);
    assert.match(bodies(server)[3] ?? "", /a whole summary/);
  });

  it("right after its end is not done again: the resumed request begins with what was sent", async () => {
    const { server, outrider, begin } = await place([
      full,
      { text: "the summary" },
      { text: "x", stallAfterBytes: 1 },
      { text: "ok" },
    ]);
    const id = String(resultOf(await outrider("one"))["session_id"]);
    const { child, done } = begin("--resume", id, "two");
    await eventually(() => server.requests.length === 3, "the prompt is sent");
    child.kill("SIGKILL");
    await done;
    assert.equal(resultOf(await outrider("--resume", id, "three"))["result"], "ok");
    const [sent] = messagesOf(server, 2) as { content: unknown[] }[];
    const [resumed] = messagesOf(server, 3) as { content: unknown[] }[];
    assert.match(JSON.stringify(sent), /the summary[\s\S]*"two"/);
    assert.deepEqual(resumed?.content, [...(sent?.content ?? []), { type: "text", text: "three" }]);
  });
});

describe("a fork", () => {
  it("from before a compaction has everything, one from after it the summary, and the original stays as it is", async () => {
    const { server, outrider, journal } = await place([
      full,
      { text: "the summary" },
      { text: "second answer" },
      { text: "from before", usage: { inputTokens: 10 } },
      { text: "from after", usage: { inputTokens: 10 } },
    ]);
    const id = String(resultOf(await outrider("one"))["session_id"]);
    await outrider("--resume", id, "two");
    const events = journal(id);
    const seqOf = (type: AgentEvent["type"], index: number): string =>
      String(events.filter((event) => event.type === type)[index]?.seq);
    const fork = (at: string): Promise<Run> =>
      outrider(
        "--resume",
        id,
        "--fork-session",
        "--resume-session-at",
        at,
        "again",
        "--settings",
        '{"compaction":{"enabled":false}}',
      );
    const before = resultOf(await fork(seqOf("turn.ended", 0)));
    const later = resultOf(await fork(seqOf("turn.ended", 1)));
    assert.deepEqual([before["result"], later["result"]], ["from before", "from after"]);
    const [whole, summarised] = [messagesOf(server, 3), messagesOf(server, 4)].map((messages) => JSON.stringify(messages));
    assert.deepEqual([/first answer/.test(whole ?? ""), /the summary/.test(whole ?? "")], [true, false]);
    assert.deepEqual([/the summary/.test(summarised ?? ""), /second answer/.test(summarised ?? "")], [true, true]);
    assert.deepEqual(journal(id), events);
  });
});

describe("get_context_usage", () => {
  it("says whether the session compacts by itself", async () => {
    const { env, cwd } = await place([]).then(({ options }) => options);
    const request = { type: "control_request", request_id: "r", request: { subtype: "get_context_usage" } };
    const live = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"];
    const enabled = await Promise.all(
      [[], ["--settings", '{"compaction":{"enabled":false}}']].map(async (flags) => {
        const { stdout } = await run([...live, ...flags], { env, cwd, stdin: `${JSON.stringify(request)}\n` });
        const answer = lines(stdout).find(({ type }) => type === "control_response");
        return JSON.stringify(answer).match(/"isAutoCompactEnabled":(\w+)/)?.[1];
      }),
    );
    assert.deepEqual(enabled, ["true", "false"]);
  });
});
