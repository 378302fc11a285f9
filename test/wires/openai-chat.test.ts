import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import { LLMock } from "@copilotkit/aimock";
import OpenAI from "openai";
import type { ChatCompletionCreateParamsStreaming, ChatCompletionMessageParam } from "openai/resources/chat/completions";
import { createModelClient, type ModelClientOptions } from "../../packages/runtime/src/model/client.ts";
import { createOpenAIChat } from "../../packages/runtime/src/model/dialects/openai-chat.ts";
import { openAIHttpError } from "../../packages/runtime/src/model/dialects/openai-errors.ts";
import type { ModelClient, ModelEvent, ModelRequest } from "../../packages/runtime/src/model/model.ts";
import {
  type AssistantMessage,
  type AssistantPart,
  noUsage,
  type ToolResultPart,
  userText,
} from "../../packages/runtime/src/protocol/content.ts";
import { RuntimeError } from "../../packages/runtime/src/protocol/errors.ts";
import {
  type ModelServer,
  type ModelServerOptions,
  type ServerReply,
  startModelServer,
} from "../../packages/runtime/src/testing/model-server.ts";

const request: ModelRequest = { model: "gpt-x", system: "be brief", messages: [userText("hi")], tools: [] };
const once = { retry: { maxRetries: 0 } };
const quick = { retry: { baseDelayMs: 2, maxDelayMs: 4 } };
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

describe("an answer over the wire", () => {
  it("is streamed and ends with the whole message", async () => {
    const usage = { inputTokens: 9, outputTokens: 5, cacheReadTokens: 4, cacheWriteTokens: 1, reasoningTokens: 2 };
    const { client, server } = await setUp([
      { reasoning: "let me see", text: "Grüße, Welt", calls: [{ name: "Read", input: { path: "ü" } }, { name: "Stop" }], usage },
    ]);
    assert.deepEqual(await collect(client), [
      { type: "reasoning.delta", text: "let " },
      { type: "reasoning.delta", text: "me " },
      { type: "reasoning.delta", text: "see" },
      { type: "text.delta", text: "Grüße, " },
      { type: "text.delta", text: "Welt" },
      { type: "tool-input.delta", callId: "call_1_1", name: "Read", json: '{"path' },
      { type: "tool-input.delta", callId: "call_1_1", name: "Read", json: '":"ü"}' },
      { type: "tool-input.delta", callId: "call_1_2", name: "Stop", json: "{" },
      { type: "tool-input.delta", callId: "call_1_2", name: "Stop", json: "}" },
      {
        type: "finished",
        message: {
          role: "assistant",
          content: [
            { type: "reasoning", text: "let me see" },
            { type: "text", text: "Grüße, Welt" },
            { type: "tool-call", callId: "call_1_1", name: "Read", input: { path: "ü" } },
            { type: "tool-call", callId: "call_1_2", name: "Stop", input: {} },
          ],
          model: { provider: "acme", id: "gpt-x" },
          finish: "tool-calls",
          stopReason: "tool_calls",
          usage,
          responseId: "chatcmpl-1",
          requestId: "req_1",
        },
      },
    ]);
    const [recorded] = server.requests;
    assert.deepEqual([recorded?.url, recorded?.body], ["/v1/chat/completions", createOpenAIChat().encode(request)]);
  });

  it("is the same however its bytes are cut into pieces", async () => {
    const reply = { text: "naïve 日本語 \u2028 line 🙂 end", calls: [{ name: "Write", input: { text: "🙂\u2029é" } }] };
    const sizes = [1, 3, 64];
    const { client } = await setUp(sizes.map((chunkBytes) => ({ ...reply, chunkBytes })));
    for (const size of sizes) {
      const { content } = messageIn(await collect(client));
      assert.deepEqual(
        content.map((part) => (part.type === "text" ? part.text : part.type === "tool-call" && part.input)),
        [reply.text, { text: "🙂\u2029é" }],
        `pieces of ${size} bytes`,
      );
    }
  });

  it("is over with [DONE], also when the connection stays open", async () => {
    const raw = 'data: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\ndata: garbage\n\n';
    const { client } = await setUp([{ raw, stallAfterBytes: 1e9 }]);
    assert.equal(messageIn(await collect(client)).finish, "stop");
  });

  it("of 20,000 pieces arrives whole", async () => {
    const text = "word ".repeat(20_000);
    const { client } = await setUp([{ text }]);
    const events = await collect(client);
    assert.equal(events.length, 20_001);
    assert.deepEqual(messageIn(events).content, [{ type: "text", text }]);
  });

  it("comes without counts from a server that was not asked for them", async () => {
    const { client } = await setUp([{ text: "x", usage: { inputTokens: 5 } }], {
      dialect: createOpenAIChat({ includeUsage: false }),
    });
    assert.deepEqual(messageIn(await collect(client)).usage, noUsage);
  });

  const failures: [what: string, reply: ServerReply, code: string][] = [
    [
      "a failure inside the stream",
      { text: "hm", fail: { code: "provider-overloaded", message: "busy" } },
      "provider-overloaded",
    ],
    ["a rate limit", { fail: { code: "provider-rate-limit", message: "slow" } }, "provider-rate-limit"],
    ["a stream that breaks off", { text: "half a", dropAfterBytes: 300 }, "provider-unavailable"],
    ["a stream without an end", { raw: 'data: {"choices":[{"delta":{"content":"x"}}]}\n\n' }, "provider-unavailable"],
    ["an empty stream", { raw: "" }, "provider-unavailable"],
    ["nothing but [DONE]", { raw: "data: [DONE]\n\n" }, "provider-unavailable"],
  ];
  for (const [what, reply, code] of failures) {
    it(`is asked for again after ${what}`, async () => {
      const { client } = await setUp([reply, { text: "fine" }], quick);
      const events = await collect(client);
      const retried = events.flatMap((event) => (event.type === "retry.scheduled" ? [event.error.code] : []));
      assert.deepEqual([retried, messageIn(events).content], [[code], [{ type: "text", text: "fine" }]]);
    });
  }

  const final: [what: string, reply: ServerReply, code: string][] = [
    ["a refused key", { fail: { code: "provider-auth", message: "no" } }, "provider-auth"],
    ["a conversation too long", { fail: { code: "context-overflow", message: "9 > 8" } }, "context-overflow"],
    ["one too long, said in the stream", { text: "x", fail: { code: "context-overflow", message: "9 > 8" } }, "context-overflow"],
    ["an unpaid bill", { status: 402 }, "provider-auth"],
    ["an exhausted quota", { status: 429, body: { error: { message: "m", code: "insufficient_quota" } } }, "provider-auth"],
  ];
  for (const [what, reply, code] of final) {
    it(`is not asked for again after ${what}`, async () => {
      const { client, server } = await setUp([reply, { text: "too late" }], quick);
      await assert.rejects(collect(client), { code, retryable: false });
      assert.equal(server.requests.length, 1);
    });
  }
});

describe("a stream cut at any byte", () => {
  const pieces = [
    { content: "é" },
    { tool_calls: [{ index: 0, id: "c1", function: { name: "Read", arguments: '{"p' } }] },
    { tool_calls: [{ index: 0, function: { arguments: '":"ü"}' } }] },
    { tool_calls: [{ index: 1, id: "c2", function: { name: "Read", arguments: "{}" } }] },
  ].map((delta) => event({ choices: [{ delta }] }));
  const finish = event({ choices: [{ delta: {}, finish_reason: "tool_calls" }] });
  const whole = Buffer.from(`${pieces.join("")}${finish}${event({ choices: [], usage: {} })}data: [DONE]\n\n`);
  const modelIsDone = Buffer.byteLength(pieces.join("") + finish);
  const content: AssistantPart[] = [
    { type: "text", text: "é" },
    { type: "tool-call", callId: "c1", name: "Read", input: { p: "ü" } },
    { type: "tool-call", callId: "c2", name: "Read", input: {} },
  ];

  it("is a failure to try again when the connection is lost, whatever came before", async () => {
    await cutEverywhere({ reply: (offset) => ({ raw: whole, dropAfterBytes: offset }), wholeFrom: whole.length });
  });

  it("is a failure to try again when the body ends before the model was done, and the whole answer after", async () => {
    await cutEverywhere({ reply: (offset) => ({ raw: whole.subarray(0, offset) }), wholeFrom: modelIsDone });
  });

  /** The model's name carries the offset, so that requests may run side by side. */
  async function cutEverywhere({ reply, wholeFrom }: { reply(offset: number): ServerReply; wholeFrom: number }): Promise<void> {
    const { client } = await setUp(({ body }) => reply(offsetIn(body)), once);
    const offsets = Array.from({ length: whole.length + 1 }, (_, offset) => offset);
    const worker = async (): Promise<void> => {
      for (let offset = offsets.pop(); offset !== undefined; offset = offsets.pop()) {
        const events: ModelEvent[] = [];
        const error = await collect(client, { into: events, model: String(offset) }).then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
        const finished = events.flatMap((each) => (each.type === "finished" ? [each.message.content] : []));
        const failed = error instanceof RuntimeError && error.retryable;
        const expected = offset >= wholeFrom ? { finished: [content], failed: false } : { finished: [], failed: true };
        assert.deepEqual({ finished, failed }, expected, `cut after ${offset} of ${whole.length} bytes`);
      }
    };
    await Promise.all(Array.from({ length: 8 }, worker));
  }
});

describe("beside OpenAI's own client", () => {
  const schema = { type: "object", properties: { path: { type: "string" } }, required: ["path"], additionalProperties: false };
  const ours: ModelRequest = {
    model: "gpt-x",
    system: "be brief",
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "what is this?" },
          { type: "image", mediaType: "image/png", data: "iVBO" },
        ],
      },
      assistant([
        { type: "reasoning", text: "hm" },
        { type: "text", text: "Let me see." },
        { type: "tool-call", callId: "c1", name: "Read", input: { path: "a" } },
        { type: "tool-call", callId: "c2", name: "Read", input: { path: "b" } },
      ]),
      { role: "tool", content: [result("c1", "A"), result("c2", "B")] },
      assistant([{ type: "tool-call", callId: "c3", name: "Read", input: {}, malformedInput: '{"pa' }]),
      { role: "tool", content: [result("c3", "That was no JSON")] },
      assistant([{ type: "text", text: "A cat." }]),
      userText("sure?"),
    ],
    tools: [{ name: "Read", description: "Reads a file", inputSchema: schema }],
    maxOutputTokens: 500,
    temperature: 0.5,
    stopSequences: ["END"],
    effort: "low",
    outputSchema: schema,
    options: { seed: 7 },
  };
  const call = (id: string, args: string) => ({
    id,
    type: "function" as const,
    function: { name: "Read", arguments: args },
  });
  const theirMessages: ChatCompletionMessageParam[] = [
    { role: "system", content: "be brief" },
    {
      role: "user",
      content: [
        { type: "text", text: "what is this?" },
        { type: "image_url", image_url: { url: "data:image/png;base64,iVBO" } },
      ],
    },
    { role: "assistant", content: "Let me see.", tool_calls: [call("c1", '{"path":"a"}'), call("c2", '{"path":"b"}')] },
    { role: "tool", tool_call_id: "c1", content: "A" },
    { role: "tool", tool_call_id: "c2", content: "B" },
    { role: "assistant", content: null, tool_calls: [call("c3", "{}")] },
    { role: "tool", tool_call_id: "c3", content: "That was no JSON" },
    { role: "assistant", content: "A cat." },
    { role: "user", content: "sure?" },
  ];
  const theirs: ChatCompletionCreateParamsStreaming = {
    model: "gpt-x",
    messages: theirMessages,
    tools: [{ type: "function", function: { name: "Read", description: "Reads a file", parameters: schema } }],
    max_completion_tokens: 500,
    temperature: 0.5,
    stop: ["END"],
    reasoning_effort: "low",
    response_format: { type: "json_schema", json_schema: { name: "answer", schema, strict: true } },
    stream_options: { include_usage: true },
    seed: 7,
    stream: true,
  };

  it("asks in the same words", async () => {
    const { client, server } = await setUp([{ text: "yes" }, { text: "yes" }]);
    for await (const _ of await officialClient(server).chat.completions.create(theirs)) {
    }
    for await (const _ of client.stream(ours, { signal: new AbortController().signal })) {
    }
    const [official, own] = server.requests;
    assert.deepEqual(own?.body, official?.body);
    assert.deepEqual([own?.url, own?.headers.authorization], [official?.url, official?.headers.authorization]);
  });

  it("is understood when it serves", async () => {
    const usage = { inputTokens: 9, outputTokens: 5, cacheReadTokens: 4, reasoningTokens: 2 };
    const { server } = await setUp([
      {
        text: "Let me see.",
        calls: [
          { name: "Read", input: { path: "ü" } },
          { name: "Read", input: { path: "b" } },
        ],
        usage,
      },
    ]);
    const stream = officialClient(server).chat.completions.stream({ ...theirs, response_format: { type: "text" } });
    const { id, model, choices, usage: counted } = await stream.finalChatCompletion();
    const [choice] = choices;
    assert.deepEqual(
      {
        id,
        model,
        finish: choice?.finish_reason,
        content: choice?.message.content,
        calls: choice?.message.tool_calls?.map(
          (each) => each.type === "function" && [each.id, each.function.name, each.function.arguments],
        ),
      },
      {
        id: "chatcmpl-1",
        model: "gpt-x",
        finish: "tool_calls",
        content: "Let me see.",
        calls: [
          ["call_1_1", "Read", '{"path":"ü"}'],
          ["call_1_2", "Read", '{"path":"b"}'],
        ],
      },
    );
    assert.deepEqual([counted?.prompt_tokens, counted?.total_tokens, counted?.prompt_tokens_details?.cached_tokens], [9, 14, 4]);
  });

  it("is understood when it fails", async () => {
    const { server } = await setUp([
      { fail: { code: "provider-rate-limit", message: "slow down" } },
      { text: "x", fail: { code: "provider-unavailable", message: "gone" } },
      { text: "no.", finish: "refusal" },
      { text: "cut", finish: "length" },
    ]);
    const { completions } = officialClient(server).chat;
    await assert.rejects(async () => completions.create(theirs), { status: 429, code: "rate_limit_exceeded" });
    const broken = await completions.create(theirs);
    await assert.rejects(
      async () => {
        for await (const _ of broken) {
        }
      },
      (error) => error instanceof OpenAI.APIError && error.type === "server_error" && error.message.includes("gone"),
    );
    const said = [];
    for (let n = 0; n < 2; n++) {
      for await (const { choices } of await completions.create(theirs)) {
        const { delta, finish_reason } = choices[0] ?? {};
        said.push(delta?.refusal ?? (delta?.content || finish_reason));
      }
    }
    assert.deepEqual(said.filter(Boolean), ["no.", "stop", "cut", "length"]);
  });
});

describe("an independent server", () => {
  it("answers with text, with counts", async () => {
    const { client } = await setUpMock((mock) => mock.onMessage("hi", { content: "Hello there" }));
    const { content, finish, usage } = messageIn(await collect(client));
    assert.deepEqual({ content, finish }, { content: [{ type: "text", text: "Hello there" }], finish: "stop" });
    assert.ok(usage.inputTokens > 0 && usage.outputTokens > 0, "counts were asked for and came");
  });

  it("answers with reasoning and with parallel calls", async () => {
    const toolCalls = [
      { name: "Read", arguments: '{"path":"a"}' },
      { name: "Read", arguments: '{"path":"b"}' },
    ];
    const { client } = await setUpMock((mock) => mock.onMessage("hi", { content: "So.", reasoning: "hm", toolCalls }));
    const { content, finish } = messageIn(await collect(client));
    assert.deepEqual(
      content.map((part) => (part.type === "tool-call" ? [part.name, part.input] : "text" in part && [part.type, part.text])),
      [
        ["reasoning", "hm"],
        ["text", "So."],
        ["Read", { path: "a" }],
        ["Read", { path: "b" }],
      ],
    );
    const ids = content.flatMap((part) => (part.type === "tool-call" ? [part.callId] : []));
    assert.deepEqual([new Set(ids).size, finish], [2, "tool-calls"]);
  });

  it("is told a result and goes on", async () => {
    const { client } = await setUpMock((mock) => mock.onToolResult("c1", { content: "It says A" }));
    const messages = [
      userText("hi"),
      assistant([{ type: "tool-call", callId: "c1", name: "Read", input: { path: "a" } }]),
      { role: "tool" as const, content: [result("c1", "A")] },
    ];
    assert.deepEqual(messageIn(await collect(client, { messages })).content, [{ type: "text", text: "It says A" }]);
  });

  it("has its errors understood", async () => {
    const { client } = await setUpMock((mock) => {
      mock.onMessage("hi", { content: "too late" });
      mock.nextRequestError(429, { message: "slow down", type: "rate_limit_error", code: "rate_limit_exceeded" });
    });
    await assert.rejects(collect(client), {
      code: "provider-rate-limit",
      retryable: true,
      message: "Acme answered HTTP 429: slow down",
    });
  });
});

async function setUp(
  replies: ModelServerOptions["replies"],
  options: Partial<ModelClientOptions> = {},
): Promise<{ client: ModelClient; server: ModelServer }> {
  const server = await startModelServer({ replies });
  closers.push(server.close);
  return { client: connect(server.url, options), server };
}

async function setUpMock(script: (mock: LLMock) => unknown): Promise<{ client: ModelClient }> {
  const mock = new LLMock({ port: 0 });
  script(mock);
  await mock.start();
  closers.push(() => mock.stop());
  return { client: connect(mock.url, once) };
}

function connect(url: string, options: Partial<ModelClientOptions>): ModelClient {
  const client = createModelClient({
    name: "acme",
    dialect: createOpenAIChat(),
    endpoint: () => ({ url: `${url}/v1/chat/completions`, headers: { authorization: "Bearer top-secret-key" } }),
    toError: openAIHttpError("Acme", "Check ACME_API_KEY"),
    ...options,
  });
  closers.unshift(() => client.close());
  return client;
}

function officialClient(server: ModelServer): OpenAI {
  return new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "top-secret-key", maxRetries: 0 });
}

async function collect(
  client: ModelClient,
  { into = [], ...changes }: Partial<ModelRequest> & { into?: ModelEvent[] } = {},
): Promise<ModelEvent[]> {
  const stream = client.stream({ ...request, ...changes }, { signal: new AbortController().signal });
  for await (const each of stream) into.push(each);
  return into;
}

function messageIn(events: readonly ModelEvent[]): AssistantMessage {
  const last = events.at(-1);
  assert.ok(last?.type === "finished");
  return last.message;
}

function offsetIn(body: unknown): number {
  return typeof body === "object" && body !== null && "model" in body ? Number(body.model) : 0;
}

function event(payload: object): string {
  return `data: ${JSON.stringify(payload)}\n\n`;
}

function assistant(content: AssistantPart[]): AssistantMessage {
  return { role: "assistant", content, model: { provider: "acme", id: "gpt-x" }, finish: "stop", usage: noUsage };
}

function result(callId: string, text: string): ToolResultPart {
  return { type: "tool-result", callId, name: "Read", content: [{ type: "text", text }], isError: false };
}
