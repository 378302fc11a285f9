import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, it } from "node:test";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import type { AssistantMessage } from "../protocol/content.ts";
import { userText } from "../protocol/content.ts";
import { encodeReply } from "../testing/anthropic-stream.ts";
import type { ModelEvent } from "./model.ts";
import { createProvider } from "./providers/create-provider.ts";
import { requireProvider } from "./providers/definitions.ts";

type Asked = { url: string; body: Record<string, unknown>; accept: string | undefined };
type Reply = { status?: number; headers?: Record<string, string>; body: string | Uint8Array; cutAt?: number };

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const json = { "content-type": "application/json; charset=utf-8" };
const events = { "content-type": "text/event-stream" };
const anthropicWhole = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-x",
  content: [
    { type: "thinking", thinking: "hm", signature: "sig" },
    { type: "text", text: "Hello" },
    { type: "tool_use", id: "toolu_1", name: "look", input: { path: "a" } },
  ],
  stop_reason: "tool_use",
  stop_sequence: null,
  usage: { input_tokens: 7, output_tokens: 5, cache_read_input_tokens: 2 },
};

describe("an answer in one piece", () => {
  const cases: [provider: string, body: unknown, model: string][] = [
    ["anthropic", anthropicWhole, "claude-x"],
    [
      "openai-compatible",
      {
        id: "c1",
        object: "chat.completion",
        model: "m-1",
        choices: [
          {
            index: 0,
            finish_reason: "tool_calls",
            message: {
              role: "assistant",
              reasoning_content: "hm",
              content: "Hello",
              tool_calls: [{ id: "toolu_1", type: "function", function: { name: "look", arguments: '{"path":"a"}' } }],
            },
          },
        ],
        usage: { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14, prompt_tokens_details: { cached_tokens: 2 } },
      },
      "m-1",
    ],
    [
      "openai",
      {
        id: "r1",
        object: "response",
        status: "completed",
        model: "m-1",
        error: null,
        output: [
          { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "hm" }], encrypted_content: "e" },
          { type: "message", id: "m_1", role: "assistant", content: [{ type: "output_text", text: "Hello", annotations: [] }] },
          { type: "function_call", id: "fc_1", call_id: "toolu_1", name: "look", arguments: '{"path":"a"}', status: "completed" },
        ],
        usage: { input_tokens: 9, output_tokens: 5, input_tokens_details: { cached_tokens: 2 } },
      },
      "m-1",
    ],
    [
      "gemini",
      {
        responseId: "g1",
        modelVersion: "m-1",
        candidates: [
          {
            index: 0,
            finishReason: "STOP",
            content: {
              role: "model",
              parts: [
                { text: "hm", thought: true },
                { text: "Hello" },
                { functionCall: { id: "toolu_1", name: "look", args: { path: "a" } } },
              ],
            },
          },
        ],
        usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 5, cachedContentTokenCount: 2 },
      },
      "m-1",
    ],
  ];
  for (const [provider, body, model] of cases) {
    it(`is understood where a stream was asked for (${provider})`, async () => {
      const { ask } = await setUp(provider, () => ({ headers: json, body: JSON.stringify(body) }));
      const { message } = await ask();
      const words = message.content.map((part) => {
        if (part.type === "tool-call") return [part.type, part.callId, part.name, part.input];
        return part.type === "opaque" ? [part.type] : [part.type, part.text];
      });
      assert.deepEqual(words, [
        ["reasoning", "hm"],
        ["text", "Hello"],
        ["tool-call", "toolu_1", "look", { path: "a" }],
      ]);
      assert.deepEqual([message.finish, message.model.id, message.usage.outputTokens], ["tool-calls", model, 5]);
    });

    it(`is asked for once after two broken streams (${provider})`, async () => {
      const { ask, asked } = await setUp(provider, (_, index) =>
        index === 2 ? { headers: json, body: JSON.stringify(body) } : { headers: events, body: ": hello\n\n", cutAt: 3 },
      );
      const { message, all } = await ask();
      assert.equal(message.finish, "tool-calls");
      assert.equal(all.filter(({ type }) => type === "retry.scheduled").length, 2);
      const isStreamed = asked.map(
        ({ url, body: sent }) => sent["stream"] === true || url.includes(":streamGenerateContent?alt=sse"),
      );
      assert.deepEqual(isStreamed, [true, true, false]);
      assert.equal(asked[2]?.accept, "application/json");
      assert.ok(!("stream_options" in (asked[2]?.body ?? {})));
    });
  }

  it("may be a list of pieces", async () => {
    const piece = (text: string, finishReason?: string): unknown => ({
      candidates: [{ content: { parts: [{ text }] }, finishReason }],
    });
    const { ask } = await setUp("gemini", () => ({ headers: json, body: JSON.stringify([piece("Hel"), piece("lo", "STOP")]) }));
    const { message } = await ask();
    assert.deepEqual(message.content, [{ type: "text", text: "Hello" }]);
  });

  it("tells its error as a stream would", async () => {
    const overloaded = { type: "error", error: { type: "overloaded_error", message: "busy" } };
    const { ask } = await setUp("anthropic", () => ({ headers: json, body: JSON.stringify(overloaded) }), { maxRetries: 0 });
    await assert.rejects(ask(), { code: "provider-overloaded" });
  });

  it("that is none is shown", async () => {
    for (const body of ['{"status":"ok"}', "[]", "no json", ""]) {
      const { ask } = await setUp("anthropic", () => ({ headers: json, body }));
      await assert.rejects(ask(), { code: "provider-protocol", hint: /base URL/ });
    }
  });

  it("is tried once, and then streams are again", async () => {
    const { ask, asked } = await setUp("anthropic", () => ({ headers: events, body: "data: {", cutAt: 6 }), { maxRetries: 4 });
    await assert.rejects(ask(), /gave up after 4 retries/);
    assert.deepEqual(
      asked.map(({ body }) => body["stream"] ?? false),
      [true, true, false, true, true],
    );
  });
});

describe("a compressed answer", () => {
  const stream = encodeReply({ text: "Hello there" }, { index: 0, model: "claude-x" });
  const encodings: [name: string, body: Uint8Array][] = [
    ["gzip", gzipSync(stream)],
    ["x-gzip", gzipSync(stream)],
    ["deflate", deflateSync(stream)],
    ["br", brotliCompressSync(stream)],
    ["gzip, br", brotliCompressSync(gzipSync(stream))],
    ["identity", Buffer.from(stream)],
  ];
  for (const [encoding, body] of encodings) {
    it(`is read (${encoding})`, async () => {
      const { ask, asked } = await setUp("anthropic", () => ({ headers: { ...events, "content-encoding": encoding }, body }));
      const { message } = await ask();
      assert.deepEqual(message.content, [{ type: "text", text: "Hello there" }]);
      assert.equal(asked.length, 1);
    });
  }

  it("is read in one piece, and as an error", async () => {
    const whole = gzipSync(JSON.stringify(anthropicWhole));
    const refused = gzipSync(
      JSON.stringify({ type: "error", error: { type: "invalid_request_error", message: "no such field" } }),
    );
    const { ask } = await setUp("anthropic", (_, index) => ({
      headers: { ...json, "content-encoding": "gzip" },
      ...(index === 0 ? { body: whole } : { status: 400, body: refused }),
    }));
    assert.equal((await ask()).message.finish, "tool-calls");
    await assert.rejects(ask(), /no such field/);
  });

  it("that breaks off is asked for again", async () => {
    const body = gzipSync(stream);
    const { ask, asked } = await setUp("anthropic", (_, index) => ({
      headers: { ...events, "content-encoding": "gzip" },
      body: index === 0 ? body.subarray(0, body.length - 12) : body,
    }));
    assert.deepEqual((await ask()).message.content, [{ type: "text", text: "Hello there" }]);
    assert.equal(asked.length, 2);
  });

  it("in an unknown encoding is named", async () => {
    const { ask } = await setUp("anthropic", () => ({ headers: { ...events, "content-encoding": "zstd" }, body: "x" }));
    await assert.rejects(ask(), /encoded with zstd/);
  });
});

describe("a stream that says everything twice", () => {
  it("is heard once, also where the model repeats itself", async () => {
    const words = encodeReply({ text: "ha ha ha ha" }, { index: 0, model: "claude-x" });
    const doubled = words
      .split("\n\n")
      .flatMap((event) => (event ? [event, event] : []))
      .join("\n\n");
    const { ask } = await setUp("anthropic", () => ({ headers: events, body: `${doubled}\n\n` }));
    assert.deepEqual((await ask()).message.content, [{ type: "text", text: "ha ha ha ha" }]);
  });

  it("is told from a model that repeats itself", async () => {
    const chunk = (delta: object, finish_reason: string | null = null): string =>
      `data: ${JSON.stringify({ id: "c", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
    const ha = chunk({ role: "assistant", content: "ha" });
    const { ask } = await setUp("openai-compatible", () => ({
      headers: events,
      body: `${ha}${ha}${ha}${chunk({}, "stop")}data: [DONE]\n\n`,
    }));
    assert.deepEqual((await ask()).message.content, [{ type: "text", text: "hahaha" }]);
  });
});

async function setUp(
  name: string,
  reply: (asked: Asked, index: number) => Reply,
  retry: { maxRetries?: number } = {},
): Promise<{ ask: () => Promise<{ message: AssistantMessage; all: ModelEvent[] }>; asked: Asked[] }> {
  const asked: Asked[] = [];
  const server = createServer(async (incoming, response) => {
    let text = "";
    for await (const chunk of incoming) text += chunk;
    const request = { url: incoming.url ?? "", body: JSON.parse(text), accept: incoming.headers.accept };
    const { status = 200, headers, body, cutAt } = reply(request, asked.push(request) - 1);
    response.writeHead(status, headers);
    if (cutAt === undefined) return void response.end(body);
    response.write(body.slice(0, cutAt), () => response.socket?.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const provider = await createProvider(requireProvider(name), {
    apiKey: "k",
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    model: name === "anthropic" ? "claude-x" : "m-1",
    env: {},
    options: name === "openai" ? { apiSurface: "responses" } : {},
    retry: { baseDelayMs: 1, maxDelayMs: 2, ...retry },
  });
  closers.push(
    () => provider.close?.(),
    () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  );
  const ask = async (): Promise<{ message: AssistantMessage; all: ModelEvent[] }> => {
    const all: ModelEvent[] = [];
    const request = { model: provider.model, system: "s", messages: [userText("hi")], tools: [] };
    for await (const event of provider.stream(request, { signal: new AbortController().signal })) all.push(event);
    const last = all.at(-1);
    assert.ok(last?.type === "finished");
    return { message: last.message, all };
  };
  return { ask, asked };
}
