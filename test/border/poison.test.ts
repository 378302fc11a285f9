import assert from "node:assert/strict";
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { ScriptedCall } from "../../packages/runtime/src/model/scripted.ts";
import type { JsonObject } from "../../packages/runtime/src/protocol/content.ts";
import { type RecordedRequest, type ServerReply, startModelServer } from "../../packages/runtime/src/testing/model-server.ts";
import { lines, projectRoot, type Run, run, tempFolder } from "../e2e/command.ts";
import { images, png } from "./images.ts";
import { imagesOf, strictly, toolsOf } from "./strict-wire.ts";

const wires: [name: string, profile: JsonObject, path: string][] = [
  ["anthropic", { type: "anthropic", model: "claude-sonnet-4-6" }, ""],
  ["openai over Chat Completions", { type: "openai-compatible", model: "my-model" }, "/v1"],
  ["openai over Responses", { type: "openai", model: "gpt-5.5", options: { apiSurface: "responses" } }, "/v1"],
  ["gemini", { type: "gemini", model: "gemini-3.5-flash" }, ""],
];

const server = join(projectRoot, "test/border/odd-mcp-server.mjs");

type Reply = (request: RecordedRequest, index: number) => ServerReply;

/** A home whose model refuses what providers refuse, and a folder with an odd MCP server. */
async function place(profile: JsonObject, path: string, reply: Reply) {
  const home = tempFolder("home");
  const cwd = realpathSync(tempFolder("project"));
  const model = await startModelServer({ replies: strictly(reply) });
  after(() => model.close());
  const work = { ...profile, apiKey: "$ENV:WORK_KEY", baseURL: model.url + path };
  writeFileSync(join(home, "settings.json"), JSON.stringify({ currentProvider: "work", providers: { work } }));
  const config = JSON.stringify({ mcpServers: { odd: { command: process.execPath, args: [server] } } });
  const env = { OUTRIDER_HOME: home, WORK_KEY: "k", OUTRIDER_RETRY_BASE_MS: "5" };
  const ask = (...args: string[]): Promise<Run> =>
    run(["-p", ...args, "--output-format", "json", "--mcp-config", config, "--allowedTools", "mcp__odd"], { env, cwd });
  return { home, cwd, env, model, ask };
}

function completed(ended: Run): string {
  const result = lines(ended.stdout).at(-1) ?? {};
  assert.deepEqual([ended.code, result["subtype"], result["error"]], [0, "success", undefined], ended.stdout + ended.stderr);
  return String(result["result"]);
}

const text = ({ body }: RecordedRequest): string => JSON.stringify(body);

/** The names on the wire: not all of them are the tools' own. */
function poisonousCalls({ body }: RecordedRequest): ScriptedCall[] {
  const tools = toolsOf(body);
  const keys = tools.find(({ name }) => name === "mcp__odd__keys")?.schema as { properties: JsonObject } | undefined;
  const search = tools.find(({ name }) => /^mcp__odd_____[0-9a-f]{8}$/.test(name));
  assert.ok(keys && search, tools.map(({ name }) => name).join(", "));
  const plain = ["surrogate", "svg", "empty", "liar", "unknown", "misfit"].map((name) => ({ name: `mcp__odd__${name}` }));
  return [
    ...plain,
    { name: search.name },
    { name: "mcp__odd__keys", input: { [Object.keys(keys.properties)[0] ?? ""]: "x" } },
    { name: "mcp__odd__either", input: { url: "half \ud83d" } },
    { name: "no such tool; at all" },
  ];
}

describe("a session that was given what providers refuse", () => {
  for (const [name, profile, path] of wires) {
    it(`goes on, is continued and summarised: ${name}`, async () => {
      const { ask, model } = await place(profile, path, (request, index) =>
        index === 0 ? { calls: poisonousCalls(request) } : { text: `answer ${index}` },
      );
      assert.equal(completed(await ask("do odd things")), "answer 1");
      const [, told] = model.requests;
      assert.ok(told);
      assert.match(text(told), /half \ufffd a character, and \ufffd/);
      assert.match(text(told), /said to be image\/svg\+xml, in truth SVG/);
      assert.match(text(told), /said to be image\/png, 0 bytes\. It is not shown: it is empty/);
      assert.deepEqual(imagesOf(told.body), [{ mediaType: "image/png", data: images.png }]);
      assert.match(text(told), /"search"|search/);
      assert.match(text(told), /\{\\+"\$файл\\+":\\+"x\\+"\}/);
      assert.match(text(told), /There is no tool named no such tool; at all/);
      assert.equal(completed(await ask("--continue", "more \ud800")), "answer 2");
      assert.match(completed(await ask("--continue", "/compact")), /summary/);
      assert.equal(completed(await ask("--continue", "and more")), "answer 4");
    });

    it(`is opened and continued when an older version stored it: ${name}`, async () => {
      const { home, cwd, ask, model } = await place(profile, path, (_, index) => ({ text: `answer ${index}` }));
      const sessions = join(home, "sessions");
      mkdirSync(sessions, { recursive: true });
      writeFileSync(join(sessions, "old.jsonl"), poisonedJournal(cwd));
      assert.equal(completed(await ask("--resume", "old", "go on")), "answer 0");
      assert.equal(imagesOf(model.requests[0]?.body).length, 1);
      assert.equal(completed(await ask("--resume", "old", "go on again")), "answer 1");
      const [first, second] = model.requests.map(({ body }) => conversation(body));
      assert.ok(first && second);
      assert.deepEqual(second.slice(0, first.length - 1), first.slice(0, -1), "the same conversation to the byte");
      completed(await ask("--resume", "old", "/compact"));
      completed(await ask("--resume", "old", "after all"));
    });
  }

  it("takes prompts with such content over stream-json", async () => {
    const { home, env, cwd, model } = await place({ type: "anthropic", model: "claude-sonnet-4-6" }, "", (_, index) => ({
      text: `answer ${index}`,
    }));
    const image = (media_type: string, data: string): object => ({ type: "image", source: { type: "base64", media_type, data } });
    const content = [
      { type: "text", text: "look \ud800" },
      image("image/svg+xml", "PHN2Zy8+"),
      image("image/jpeg", images.png),
      image("image/png", ""),
    ];
    const frames = [content, "again"].map((said) => ({ type: "user", message: { role: "user", content: said } }));
    const stdin = frames.map((frame) => `${JSON.stringify(frame)}\n`).join("");
    const ended = await run(["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"], {
      env,
      cwd,
      stdin,
    });
    assert.equal(ended.code, 0, ended.stdout + ended.stderr);
    assert.equal(model.requests.length, 2);
    assert.match(readFileSync(join(home, "sessions", `${lines(ended.stdout)[0]?.["session_id"]}.jsonl`), "utf8"), /look \ufffd/);
    assert.match(text(model.requests[1] ?? ({ body: "" } as RecordedRequest)), /look \ufffd.*in truth SVG/);
  });

  it("is offered the tools of a server from the registry, and shown its image", async () => {
    const everything = join(projectRoot, "node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    const { env, cwd, model } = await place({ type: "anthropic", model: "claude-sonnet-4-6" }, "", ({ body }, index) => {
      const name = toolsOf(body).find((tool) => /tiny.?image/i.test(tool.name))?.name;
      return index === 0 && name ? { calls: [{ name }] } : { text: `answer ${index}` };
    });
    const config = JSON.stringify({ mcpServers: { all: { command: process.execPath, args: [everything, "stdio"] } } });
    const ended = await run(["-p", "look", "--output-format", "json", "--mcp-config", config, "--allowedTools", "mcp__all"], {
      env,
      cwd,
    });
    assert.equal(completed(ended), "answer 1");
    assert.deepEqual(
      imagesOf(model.requests[1]?.body).map(({ mediaType }) => mediaType),
      ["image/png"],
    );
  });

  it("reads a PNG that is too large for providers, made smaller", async () => {
    const { env, cwd, model } = await place({ type: "anthropic", model: "claude-sonnet-4-6" }, "", (_, index) =>
      index === 0 ? { calls: [{ name: "Read", input: { file_path: "wide.png" } }] } : { text: "seen" },
    );
    writeFileSync(join(cwd, "wide.png"), Buffer.from(png(9_000, 90), "base64"));
    assert.equal(completed(await run(["-p", "look", "--output-format", "json"], { env, cwd })), "seen");
    const [image] = imagesOf(model.requests[1]?.body);
    const bytes = Buffer.from(image?.data ?? "", "base64");
    assert.deepEqual([bytes.readUInt32BE(16), bytes.readUInt32BE(20)], [2_000, 20]);
  });

  it("keeps the first part of an answer of 200 MB in a file, and says so", async () => {
    const { ask, model } = await place({ type: "anthropic", model: "claude-sonnet-4-6" }, "", (_, index) =>
      index === 0
        ? { calls: [{ name: "mcp__odd__huge" }] }
        : index === 1
          ? { calls: [{ name: "mcp__odd__a_b" }] }
          : { text: "done" },
    );
    assert.equal(completed(await ask("much")), "done");
    const told = text(model.requests[1] ?? ({ body: "" } as RecordedRequest));
    assert.match(told, /answered with 222\d{6} characters, more than can be held/);
    const [, file = ""] = /characters omitted; the whole output is in (.+?) …/.exec(told) ?? [];
    assert.ok(readFileSync(file, "utf8").includes("begins\n0123456789abcde\n"));
    assert.match(text(model.requests[2] ?? ({ body: "" } as RecordedRequest)), /underscore/);
  });
});

function conversation(body: unknown): string[] {
  const { messages, input, contents } = body as Record<string, object[] | undefined>;
  return (messages ?? input ?? contents ?? []).map((message) =>
    JSON.stringify(message).replace(/,"cache_control":\{[^}]*\}/g, ""),
  );
}

/** Lines as version 0.0.1 wrote them, with what came in before there was a border. */
function poisonedJournal(cwd: string): string {
  const model = { provider: "scripted", id: "scripted" };
  const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
  const facts = { cwd, model, tools: [], permissionMode: "default", version: "0.0.1", journalVersion: 1, resumed: false };
  const image = (mediaType: string, data: string): object => ({ type: "image", mediaType, data });
  const call = { type: "tool-call", callId: "c 1\ud800", name: "odd.tool 名", input: { "k\udc00": "\ud83d" } };
  const result = [
    { type: "text", text: "half \ud83d" },
    image("image/svg+xml", "PHN2Zy8+"),
    image("image/png", ""),
    image("image/jpeg", images.png),
    image("image/png", Buffer.alloc(6_000_000, 1).toString("base64")),
  ];
  const answer = (content: object[], finish: string): object => ({ role: "assistant", content, model, finish, usage });
  const events = [
    { type: "session.started", ...facts, system: "You are old \ud800.", toolDefinitions: [] },
    {
      type: "turn.started",
      turnId: "t",
      input: { role: "user", content: [{ type: "text", text: "\udfff begin" }, image("image/bmp", "Qk0=")] },
    },
    {
      type: "message.ended",
      turnId: "t",
      messageId: "m",
      message: answer([{ type: "text", text: "I \ud800" }, call], "tool-calls"),
      durationMs: 1,
      requestedModel: "scripted",
    },
    {
      type: "tool.ended",
      turnId: "t",
      callId: call.callId,
      name: call.name,
      status: "ok",
      result: { type: "tool-result", callId: call.callId, name: call.name, content: result, isError: false },
      durationMs: 1,
    },
    {
      type: "message.ended",
      turnId: "t",
      messageId: "n",
      message: answer([{ type: "text", text: "done" }], "stop"),
      durationMs: 1,
      requestedModel: "scripted",
    },
    {
      type: "turn.ended",
      turnId: "t",
      outcome: { type: "completed", text: "done" },
      usage,
      modelCalls: 2,
      durationMs: 1,
      modelDurationMs: 1,
    },
  ];
  return events
    .map((event, index) => `${JSON.stringify({ seq: index + 1, at: "2026-11-15T16:43:35.467Z", sessionId: "old", ...event })}\n`)
    .join("");
}
