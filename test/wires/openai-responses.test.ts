import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import { LLMock } from "@copilotkit/aimock";
import OpenAI from "openai";
import { accumulateResponse } from "openai/lib/responses/ResponseAccumulator";
import type { ResponseCreateParamsBase, ResponseInputItem } from "openai/resources/responses/responses";
import { createModelClient, type ModelClientOptions } from "../../packages/runtime/src/model/client.ts";
import { openAIHttpError } from "../../packages/runtime/src/model/dialects/openai-errors.ts";
import { openaiResponses } from "../../packages/runtime/src/model/dialects/openai-responses.ts";
import type { ModelClient, ModelEvent, ModelRequest } from "../../packages/runtime/src/model/model.ts";
import type { AssistantMessage, AssistantPart, Message, ToolResultPart } from "../../packages/runtime/src/protocol/content.ts";
import { userText } from "../../packages/runtime/src/protocol/content.ts";
import { type ErrorCode, RuntimeError } from "../../packages/runtime/src/protocol/errors.ts";
import { type ModelServer, type ServerReply, startModelServer } from "../../packages/runtime/src/testing/model-server.ts";
import { openAIResponsesStream } from "../../packages/runtime/src/testing/openai-responses-stream.ts";

const request: ModelRequest = { model: "gpt-5", system: "be brief", messages: [userText("hi")], tools: [] };
const once = { retry: { maxRetries: 0 } };
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

describe("an answer over the wire", () => {
  it("is streamed and ends with the whole message", async () => {
    const usage = { inputTokens: 9, outputTokens: 5, cacheReadTokens: 4, cacheWriteTokens: 1, reasoningTokens: 2 };
    const { client, server } = await setUp([
      { reasoning: "let me see", text: "Grüße, Welt", calls: [{ name: "Read", input: { path: "ü" } }], usage },
    ]);
    const item = {
      id: "rs_1_1",
      type: "reasoning",
      summary: [{ type: "summary_text", text: "let me see" }],
      encrypted_content: "encrypted-rs_1_1",
    };
    assert.deepEqual(await collect(client), [
      { type: "reasoning.delta", text: "let " },
      { type: "reasoning.delta", text: "me " },
      { type: "reasoning.delta", text: "see" },
      { type: "text.delta", text: "Grüße, " },
      { type: "text.delta", text: "Welt" },
      { type: "tool-input.delta", callId: "call_1_1", name: "Read", json: '{"path' },
      { type: "tool-input.delta", callId: "call_1_1", name: "Read", json: '":"ü"}' },
      {
        type: "finished",
        message: {
          role: "assistant",
          content: [
            { type: "reasoning", text: "let me see", providerMetadata: { "openai-responses": item } },
            { type: "text", text: "Grüße, Welt" },
            { type: "tool-call", callId: "call_1_1", name: "Read", input: { path: "ü" } },
          ],
          model: { provider: "openai", id: "gpt-5" },
          finish: "tool-calls",
          stopReason: "completed",
          usage,
          responseId: "resp_1",
          requestId: "req_1",
        },
      },
    ]);
    assert.deepEqual(server.requests[0]?.body, openaiResponses.encode(request));
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

  it("is over with its last event, also when the connection stays open", async () => {
    const raw = `${encode({ text: "done" })}data: garbage after the end\n\n`;
    const { client } = await setUp([{ raw, stallAfterBytes: 1e9 }]);
    assert.deepEqual(messageIn(await collect(client)).content, [{ type: "text", text: "done" }]);
  });

  const finishes = ["stop", "length", "tool-calls", "refusal", "content-filter", "other"] as const;
  for (const finish of finishes) {
    it(`can end with ${finish}`, async () => {
      const calls = finish === "tool-calls" ? { calls: [{ name: "Read" }] } : {};
      const { client } = await setUp([{ text: "so far", finish, ...calls }]);
      const message = messageIn(await collect(client));
      assert.deepEqual([message.finish, message.content[0]], [finish, { type: "text", text: "so far" }]);
    });
  }
});

describe("a stream cut at any byte", () => {
  it("fails as something to try again, and never delivers half an answer", async () => {
    const item = { id: "fc_1", type: "function_call", call_id: "c1", name: "Read" };
    const raw = [
      { type: "response.created", response: { id: "resp_1" } },
      { type: "response.output_item.added", output_index: 0, item: { ...item, arguments: "" } },
      { type: "response.function_call_arguments.delta", item_id: "fc_1", output_index: 0, delta: '{"path":"ü"}' },
      { type: "response.output_item.done", output_index: 0, item: { ...item, arguments: '{"path":"ü"}' } },
      { type: "response.completed", response: { id: "resp_1", status: "completed" } },
    ]
      .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      .join("");
    const whole = Buffer.byteLength(raw);
    const { client, server } = await setUp((_, index) => ({ raw, dropAfterBytes: index }), once);
    for (let offset = 0; offset < whole; offset++) {
      const events: ModelEvent[] = [];
      const error = await collect(client, request, events).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      assert.ok(error instanceof RuntimeError, `cut after ${offset} of ${whole} bytes`);
      assert.deepEqual(
        [error.retryable, events.some((event) => event.type === "finished")],
        [true, false],
        `cut after ${offset} bytes`,
      );
    }
    assert.equal(server.requests.length, whole);
    assert.equal(messageIn(await collect(client)).finish, "tool-calls", "cut after the last byte");
  });
});

describe("a failure", () => {
  const failures: [code: ErrorCode, retryable: boolean][] = [
    ["provider-bad-request", false],
    ["context-overflow", false],
    ["provider-auth", false],
    ["provider-rate-limit", true],
    ["provider-unavailable", true],
    ["provider-overloaded", true],
    ["provider-timeout", true],
  ];
  for (const [code, retryable] of failures) {
    it(`keeps its code ${code} inside the stream`, async () => {
      const { client } = await setUp([{ text: "so far", fail: { code, message: "as scripted" } }], once);
      await assert.rejects(collect(client), { code, retryable });
    });
  }

  const statuses: [reply: ServerReply, code: ErrorCode, retryable: boolean][] = [
    [{ fail: { code: "context-overflow", message: "too long" } }, "context-overflow", false],
    [{ status: 400 }, "provider-bad-request", false],
    [{ status: 401 }, "provider-auth", false],
    [{ status: 429, headers: { "retry-after": "3" } }, "provider-rate-limit", true],
    [{ status: 503 }, "provider-unavailable", true],
  ];
  for (const [reply, code, retryable] of statuses) {
    it(`by status keeps its code ${code}`, async () => {
      const { client } = await setUp([reply], once);
      const retryAfterMs = reply.headers ? 3_000 : undefined;
      await assert.rejects(collect(client), { code, retryable, retryAfterMs });
    });
  }

  it("inside the stream is tried again, from the start", async () => {
    const { client } = await setUp([
      { text: "half", fail: { code: "provider-rate-limit", message: "Please try again in 2ms." } },
      { text: "whole" },
    ]);
    const events = await collect(client);
    const retries = events.flatMap((event) => (event.type === "retry.scheduled" ? [event.error.code] : []));
    assert.deepEqual(retries, ["provider-rate-limit"]);
    assert.deepEqual(messageIn(events).content, [{ type: "text", text: "whole" }]);
  });
});

describe("encrypted reasoning", () => {
  it("goes back unchanged, turn after turn, right before what it led to", async () => {
    const { client, server } = await setUp([
      { reasoning: "look first", text: "I look", calls: [{ name: "Read", input: { path: "a" } }] },
      { reasoning: "enough", text: "The end" },
      { text: "bye" },
    ]);
    const messages: Message[] = [userText("what is in a?")];
    messages.push(messageIn(await collect(client, { ...request, messages })));
    messages.push({ role: "tool", content: [resultOf("call_1_1")] });
    messages.push(messageIn(await collect(client, { ...request, messages })), userText("thanks"));
    await collect(client, { ...request, messages });
    const reasoning = (id: string, text: string): object => ({
      id,
      type: "reasoning",
      summary: [{ type: "summary_text", text }],
      encrypted_content: `encrypted-${id}`,
    });
    const said = (text: string): object => ({
      type: "message",
      role: "assistant",
      content: [{ type: "output_text", text, annotations: [] }],
    });
    const asked = (text: string): object => ({ type: "message", role: "user", content: [{ type: "input_text", text }] });
    assert.deepEqual(inputOf(server, 2), [
      asked("what is in a?"),
      reasoning("rs_1_1", "look first"),
      said("I look"),
      { type: "function_call", call_id: "call_1_1", name: "Read", arguments: '{"path":"a"}' },
      { type: "function_call_output", call_id: "call_1_1", output: "x" },
      reasoning("rs_2_1", "enough"),
      said("The end"),
      asked("thanks"),
    ]);
    assert.deepEqual(inputOf(server, 2).slice(0, 5), inputOf(server, 1));
  });
});

describe("the official client", () => {
  const reply: ServerReply = {
    reasoning: "let me see",
    text: "Grüße, Welt",
    calls: [
      { name: "Read", input: { path: "a" } },
      { name: "Read", input: { path: "b" } },
    ],
    usage: { inputTokens: 9, outputTokens: 5, cacheReadTokens: 4, cacheWriteTokens: 1, reasoningTokens: 2 },
  };

  it("accepts the scripted stream, and reads the same answer from it", async () => {
    const { server, client } = await setUp([reply, reply, reply]);
    const ours = messageIn(await collect(client));
    const official = officialClient(server);
    const streamed = official.responses.stream({ model: "gpt-5", input: "hi" });
    const sequence: number[] = [];
    streamed.on("event", (event) => void sequence.push(event.sequence_number));
    let text = "";
    streamed.on("response.output_text.delta", (event) => {
      text += event.delta;
      assert.equal(event.snapshot, text);
    });
    const final = await streamed.finalResponse();
    assert.deepEqual(
      sequence,
      sequence.map((_, index) => index),
    );
    assert.equal(final.output_text, "Grüße, Welt");
    assert.equal(final.status, "completed");
    const calls = final.output.flatMap((item) => (item.type === "function_call" ? [[item.name, item.arguments]] : []));
    assert.deepEqual(calls, [
      ["Read", '{"path":"a"}'],
      ["Read", '{"path":"b"}'],
    ]);
    assert.deepEqual(
      ours.content.flatMap((part) => (part.type === "tool-call" ? [[part.name, JSON.stringify(part.input)]] : [])),
      calls,
    );
    const reasoning = final.output[0];
    assert.ok(reasoning?.type === "reasoning");
    assert.deepEqual(reasoning.summary, [{ type: "summary_text", text: "let me see" }]);
    assert.deepEqual(final.usage, {
      input_tokens: ours.usage.inputTokens,
      input_tokens_details: { cached_tokens: ours.usage.cacheReadTokens, cache_write_tokens: ours.usage.cacheWriteTokens },
      output_tokens: ours.usage.outputTokens,
      output_tokens_details: { reasoning_tokens: ours.usage.reasoningTokens },
      total_tokens: 14,
    });

    // What the pieces add up to must be what the last event says.
    let snapshot: OpenAI.Responses.Response | undefined;
    for await (const event of await official.responses.create({ model: "gpt-5", input: "hi", stream: true })) {
      if (event.type === "response.completed") assert.deepEqual(snapshot?.output, event.response.output);
      snapshot = accumulateResponse(event, snapshot);
    }
    assert.equal(snapshot?.status, "completed");
  });

  const ends: [ServerReply, status: string, text: string][] = [
    [{ text: "cut", finish: "length" }, "incomplete", "cut"],
    [{ text: "no", finish: "refusal" }, "completed", ""],
    [{ text: "half", fail: { code: "provider-unavailable", message: "oops" } }, "failed", "half"],
  ];
  for (const [reply, status, text] of ends) {
    it(`accepts a response that is ${status} (${reply.finish ?? "failed"})`, async () => {
      const { server } = await setUp([reply]);
      const final = await officialClient(server).responses.stream({ model: "gpt-5", input: "hi" }).finalResponse();
      assert.deepEqual([final.status, final.output_text], [status, text]);
    });
  }

  it("throws for a scripted error, in the stream and by status", async () => {
    const fail = { code: "provider-rate-limit", message: "slow down" } as const;
    const { server } = await setUp([{ text: "half", fail }, { fail }]);
    const official = officialClient(server);
    const inStream = official.responses.stream({ model: "gpt-5", input: "hi" }).finalResponse();
    await assert.rejects(inStream, { code: "rate_limit_exceeded" });
    await assert.rejects(official.responses.create({ model: "gpt-5", input: "hi" }), OpenAI.RateLimitError);
  });

  it("sends the same conversation as we do", async () => {
    const first: ServerReply = { reasoning: "look first", text: "I look", calls: [{ name: "Read", input: { path: "a" } }] };
    const { server, client } = await setUp([first, { text: "The end" }, first, { text: "The end" }]);
    const schema = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
    const shared = {
      ...request,
      tools: [{ name: "Read", description: "reads", inputSchema: schema }],
      effort: "low",
      maxOutputTokens: 500,
    } as const;
    const messages: Message[] = [
      {
        role: "user",
        content: [
          { type: "text", text: "what is this?" },
          { type: "image", mediaType: "image/png", data: "AAAA" },
        ],
      },
    ];
    messages.push(messageIn(await collect(client, { ...shared, messages })));
    messages.push({ role: "tool", content: [resultOf("call_1_1")] });
    await collect(client, { ...shared, messages });

    const official = officialClient(server);
    const params = {
      model: "gpt-5",
      instructions: "be brief",
      tools: [{ type: "function", name: "Read", description: "reads", parameters: schema, strict: false }],
      max_output_tokens: 500,
      reasoning: { effort: "low", summary: "auto" },
      store: false,
      include: ["reasoning.encrypted_content"],
    } satisfies ResponseCreateParamsBase;
    const input: ResponseInputItem[] = [
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_text", text: "what is this?" },
          { type: "input_image", image_url: "data:image/png;base64,AAAA", detail: "auto" },
        ],
      },
    ];
    const answer = await official.responses.stream({ ...params, input }).finalResponse();
    for (const item of answer.output) {
      if (item.type === "reasoning" || item.type === "message" || item.type === "function_call") input.push(item);
    }
    input.push({ type: "function_call_output", call_id: "call_3_1", output: "x" });
    await official.responses.stream({ ...params, input }).finalResponse();

    const bodies = server.requests.map(({ body }) => withoutBookkeeping(body));
    assert.deepEqual(bodies[0], bodies[2]);
    assert.deepEqual(bodies[1], JSON.parse(JSON.stringify(bodies[3]).replaceAll(/(rs|call)_3_1/g, "$1_1_1")));
  });
});

describe("another server of this wire (aimock)", () => {
  it("answers with text, with calls and with errors", async () => {
    const mock = new LLMock({ port: 0, chunkSize: 4 });
    mock.onMessage("greet", { content: "Hello from the mock", reasoning: "think", webSearches: ["mocks"] });
    mock.onMessage("call", {
      content: "on it",
      toolCalls: [
        { name: "Read", arguments: '{"path":"a"}' },
        { name: "Read", arguments: '{"path":"b"}' },
      ],
    });
    mock.onMessage("cut", { content: "so far", finishReason: "length" });
    mock.onMessage("fail", { error: { message: "quota", type: "requests", code: "rate_limit_exceeded" }, status: 429 });
    mock.onMessage("break", { content: "never to its end" }, { truncateAfterChunks: 6 });
    await mock.start();
    closers.push(() => mock.stop());
    const client = clientFor(mock.url, once);
    const ask = (text: string): Promise<ModelEvent[]> => collect(client, { ...request, messages: [userText(text)] });

    const greeting = messageIn(await ask("greet"));
    const [reasoning, search, text] = greeting.content;
    assert.ok(reasoning?.type === "reasoning" && search?.type === "opaque");
    assert.deepEqual([reasoning.text, text, greeting.finish], ["think", { type: "text", text: "Hello from the mock" }, "stop"]);
    assert.match(JSON.stringify(reasoning.providerMetadata), /"encrypted_content":"[^"]+"/);
    assert.match(JSON.stringify(search.value), /"query":"mocks"/);

    const called = messageIn(await ask("call"));
    const calls = called.content.filter((part) => part.type === "tool-call");
    assert.deepEqual(
      calls.map(({ name, input }) => [name, input]),
      [
        ["Read", { path: "a" }],
        ["Read", { path: "b" }],
      ],
    );
    assert.equal(new Set(calls.map(({ callId }) => callId)).size, 2);
    assert.equal(called.finish, "tool-calls");

    assert.equal(messageIn(await ask("cut")).finish, "length");
    await assert.rejects(ask("fail"), { code: "provider-rate-limit", retryable: true, httpStatus: 429 });
    await assert.rejects(ask("break"), { code: "provider-unavailable", retryable: true });
    await assert.rejects(ask("nobody knows this"), { code: "provider-bad-request", retryable: false });
  });

  it("finds our results with the calls they answer", async () => {
    const mock = new LLMock({ port: 0 });
    mock.on({ userMessage: "read", hasToolResult: false }, { toolCalls: [{ name: "Read", arguments: "{}", id: "call_r" }] });
    mock.on({ userMessage: "read", toolCallId: "call_r", toolResultContains: "x" }, { content: "It says x" });
    await mock.start();
    closers.push(() => mock.stop());
    const client = clientFor(mock.url, once);
    const messages: Message[] = [userText("read")];
    messages.push(messageIn(await collect(client, { ...request, messages })));
    messages.push({ role: "tool", content: [resultOf("call_r")] });
    const last: AssistantPart | undefined = messageIn(await collect(client, { ...request, messages })).content.at(-1);
    assert.deepEqual(last, { type: "text", text: "It says x" });
  });
});

async function setUp(
  replies: Parameters<typeof startModelServer>[0]["replies"],
  options: Partial<ModelClientOptions> = {},
): Promise<{ client: ModelClient; server: ModelServer }> {
  const server = await startModelServer({ replies });
  closers.push(() => server.close());
  return { client: clientFor(server.url, options), server };
}

function clientFor(url: string, options: Partial<ModelClientOptions>): ModelClient {
  const client = createModelClient({
    name: "openai",
    dialect: openaiResponses,
    endpoint: () => ({ url: `${url}/v1/responses`, headers: { authorization: "Bearer top-secret-key" } }),
    toError: openAIHttpError("OpenAI", "Check OPENAI_API_KEY"),
    retry: { baseDelayMs: 2, maxDelayMs: 4 },
    ...options,
  });
  closers.push(() => client.close());
  return client;
}

function officialClient(server: ModelServer): OpenAI {
  return new OpenAI({ apiKey: "k", baseURL: `${server.url}/v1`, organization: null, project: null, maxRetries: 0 });
}

async function collect(client: ModelClient, asked: ModelRequest = request, into: ModelEvent[] = []): Promise<ModelEvent[]> {
  for await (const event of client.stream(asked, { signal: new AbortController().signal })) into.push(event);
  return into;
}

function messageIn(events: readonly ModelEvent[]): AssistantMessage {
  const last = events.at(-1);
  assert.ok(last?.type === "finished");
  return last.message;
}

function encode(reply: ServerReply): string {
  const asked = { method: "POST", url: "/v1/responses", headers: {}, body: {} };
  return openAIResponsesStream.encode(reply, { index: 0, model: "gpt-5", request: asked });
}

function resultOf(callId: string): ToolResultPart {
  return { type: "tool-result", callId, name: "Read", content: [{ type: "text", text: "x" }], isError: false };
}

function inputOf(server: ModelServer, index: number): unknown[] {
  const body = server.requests[index]?.body;
  assert.ok(typeof body === "object" && body !== null && "input" in body && Array.isArray(body.input));
  return body.input;
}

/** What the API adds to messages and calls, and does not need back; the client's helper adds its own notes too. */
function withoutBookkeeping(body: unknown): unknown {
  const drop = new Set(["status", "logprobs", "parsed", "parsed_arguments"]);
  return JSON.parse(JSON.stringify(body), function (this: { type?: unknown }, name: string, value: unknown) {
    if (drop.has(name)) return undefined;
    return name === "id" && this.type !== "reasoning" ? undefined : value;
  });
}
