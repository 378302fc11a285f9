import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import { LLMock } from "@copilotkit/aimock";
import {
  ApiError,
  FinishReason,
  FunctionCallingConfigMode,
  type GenerateContentResponse,
  GoogleGenAI,
  ThinkingLevel,
} from "@google/genai";
import { createModelClient, type ModelClientOptions } from "../../packages/runtime/src/model/client.ts";
import { gemini, geminiHttpError } from "../../packages/runtime/src/model/dialects/gemini.ts";
import type { ModelClient, ModelEvent, ModelRequest } from "../../packages/runtime/src/model/model.ts";
import type { AssistantMessage, Message } from "../../packages/runtime/src/protocol/content.ts";
import { noUsage, userText } from "../../packages/runtime/src/protocol/content.ts";
import { RuntimeError } from "../../packages/runtime/src/protocol/errors.ts";
import { geminiStream, scriptedSignature } from "../../packages/runtime/src/testing/gemini-stream.ts";
import { type ModelServer, type ServerReply, startModelServer } from "../../packages/runtime/src/testing/model-server.ts";

const request: ModelRequest = { model: "gemini-3-pro", system: "be brief", messages: [userText("hi")], tools: [] };
const once = { retry: { maxRetries: 0 } };
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

describe("an answer over the wire", () => {
  it("is streamed and ends with the whole message", async () => {
    const usage = { inputTokens: 9, outputTokens: 5, cacheReadTokens: 4, reasoningTokens: 2 };
    const { client, server } = await setUp([{ reasoning: "let me see", text: "Grüße, Welt", usage }]);
    assert.deepEqual(await collect(client), [
      { type: "reasoning.delta", text: "let " },
      { type: "reasoning.delta", text: "me " },
      { type: "reasoning.delta", text: "see" },
      { type: "text.delta", text: "Grüße, " },
      { type: "text.delta", text: "Welt" },
      {
        type: "finished",
        message: {
          role: "assistant",
          content: [
            { type: "reasoning", text: "let me see" },
            {
              type: "text",
              text: "Grüße, Welt",
              providerMetadata: { gemini: { thoughtSignature: scriptedSignature, signedFrom: 11 } },
            },
          ],
          model: { provider: "google", id: "gemini-3-pro" },
          finish: "stop",
          stopReason: "STOP",
          usage: { ...noUsage, ...usage },
          responseId: "response_1",
          requestId: "req_1",
        },
      },
    ]);
    assert.deepEqual(server.requests[0]?.body, gemini.encode(request));
  });

  it("is the same with the line ends Google's servers use, however its bytes are cut", async () => {
    const reply = { text: "naïve 日本語 \u2028 line 🙂 end", calls: [{ name: "Write", input: { text: "🙂\u2029é" } }] };
    const raw = encode(reply).replaceAll("\n", "\r\n");
    const sizes = [1, 3, 64];
    const { client } = await setUp(sizes.map((chunkBytes) => ({ raw, chunkBytes })));
    for (const size of sizes) {
      const { content } = messageIn(await collect(client));
      assert.deepEqual(
        content.map((part) => (part.type === "text" ? part.text : part.type === "tool-call" && part.input)),
        [reply.text, { text: "🙂\u2029é" }],
        `pieces of ${size} bytes`,
      );
    }
  });

  it("takes its signatures back on the parts they came with", async () => {
    const { client, server } = await setUp([
      {
        reasoning: "both",
        calls: [
          { name: "Read", input: { path: "a" } },
          { name: "Read", input: { path: "b" } },
        ],
      },
      { reasoning: "enough", text: "The same" },
      { text: "bye" },
    ]);
    const messages: Message[] = [userText("compare")];
    messages.push(messageIn(await collect(client, { ...request, messages })));
    messages.push({
      role: "tool",
      content: ["call_1_1", "call_1_2"].map((callId) => ({
        type: "tool-result",
        callId,
        name: "Read",
        content: [{ type: "text", text: "x" }],
        isError: false,
      })),
    });
    messages.push(messageIn(await collect(client, { ...request, messages })), userText("thanks"));
    await collect(client, { ...request, messages });
    const call = (id: string, path: string) => ({ functionCall: { id, name: "Read", args: { path } } });
    const response = (id: string) => ({ functionResponse: { id, name: "Read", response: { output: "x" } } });
    assert.deepEqual((server.requests[2]?.body as { contents: unknown } | undefined)?.contents, [
      { role: "user", parts: [{ text: "compare" }] },
      { role: "model", parts: [{ ...call("call_1_1", "a"), thoughtSignature: scriptedSignature }, call("call_1_2", "b")] },
      { role: "user", parts: [response("call_1_1"), response("call_1_2")] },
      { role: "model", parts: [{ text: "The same" }, { text: "", thoughtSignature: scriptedSignature }] },
      { role: "user", parts: [{ text: "thanks" }] },
    ]);
  });
});

describe("a stream that breaks", () => {
  const reply = { text: "ok é", calls: [{ name: "Read", input: { path: "ü" } }] };
  const raw = encode(reply);

  it("off at any byte fails as something to try again, and never delivers half an answer", async () => {
    const whole = Buffer.byteLength(raw);
    const { client, server } = await setUp((_, index) => ({ raw, dropAfterBytes: index }), once);
    // The last offset is after the finish reason: a connection that is cut there may have had more to say.
    for (let offset = 0; offset <= whole; offset++) await assertBroken(client, `cut after ${offset} of ${whole} bytes`);
    assert.equal(server.requests.length, whole + 1);
  });

  it("in an orderly way is whole only after the chunk with the finish reason", async () => {
    const ends = [...raw.matchAll(/\n\n/g)].map((match) => match.index + 2);
    const { client } = await setUp((_, index) => ({ raw: raw.slice(0, ends[index]) }), once);
    for (const end of ends.slice(0, -1)) await assertBroken(client, `ended after ${end} of ${raw.length} characters`);
    assert.equal(messageIn(await collect(client)).finish, "tool-calls");
  });

  const transient: [what: string, reply: ServerReply, code: string][] = [
    ["an error inside the stream", { text: "hm", fail: { code: "provider-overloaded", message: "busy" } }, "provider-overloaded"],
    ["a status", { fail: { code: "provider-rate-limit", message: "slow" } }, "provider-rate-limit"],
    ["a stream without a finish reason", { raw: 'data: {"candidates":[]}\n\n' }, "provider-unavailable"],
    ["broken JSON", { raw: 'data: {"candidates":\n\n' }, "provider-protocol"],
    [
      "a call the server could not read",
      { raw: 'data: {"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}\n\n' },
      "provider-protocol",
    ],
  ];
  for (const [what, first, code] of transient) {
    it(`is tried again after ${what}`, async () => {
      const { client } = await setUp([first, { text: "fine" }], { retry: { baseDelayMs: 1, maxDelayMs: 2 } });
      const events = await collect(client);
      const retries = events.flatMap((event) => (event.type === "retry.scheduled" ? [event.error.code] : []));
      assert.deepEqual([retries, messageIn(events).content], [[code], [{ type: "text", text: "fine" }]]);
    });
  }
});

describe("beside Google's own client", () => {
  const inputSchema = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
  const outputSchema = { type: "object", properties: { answer: { type: "string" } } };

  it("sends the same request for the same conversation", async () => {
    const { server, client, google } = await setUp([{ text: "ours" }, { text: "theirs" }]);
    const asked: ModelRequest = {
      model: "gemini-3-pro",
      system: "be brief",
      tools: [{ name: "Read", description: "reads a file", inputSchema }],
      maxOutputTokens: 900,
      temperature: 0.3,
      stopSequences: ["END"],
      effort: "low",
      outputSchema,
      options: { generationConfig: { topP: 0.9 }, toolConfig: { functionCallingConfig: { mode: "AUTO" } } },
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "look" },
            { type: "image", mediaType: "image/png", data: "iVBORw0K" },
          ],
        },
        {
          role: "assistant",
          content: [
            { type: "text", text: "reading" },
            {
              type: "tool-call",
              callId: "f1",
              name: "Read",
              input: { path: "a" },
              providerMetadata: { gemini: { id: "f1", thoughtSignature: "c2ln" } },
            },
          ],
          model: { provider: "google", id: "gemini-3-pro" },
          finish: "tool-calls",
          usage: noUsage,
        },
        {
          role: "tool",
          content: [{ type: "tool-result", callId: "f1", name: "Read", content: [{ type: "text", text: "x" }], isError: false }],
        },
      ],
    };
    await collect(client, asked);
    await readAll(
      google.models.generateContentStream({
        model: "gemini-3-pro",
        contents: [
          { role: "user", parts: [{ text: "look" }, { inlineData: { mimeType: "image/png", data: "iVBORw0K" } }] },
          {
            role: "model",
            parts: [
              { text: "reading" },
              { functionCall: { id: "f1", name: "Read", args: { path: "a" } }, thoughtSignature: "c2ln" },
            ],
          },
          { role: "user", parts: [{ functionResponse: { id: "f1", name: "Read", response: { output: "x" } } }] },
        ],
        config: {
          systemInstruction: { parts: [{ text: "be brief" }] },
          tools: [{ functionDeclarations: [{ name: "Read", description: "reads a file", parametersJsonSchema: inputSchema }] }],
          toolConfig: { functionCallingConfig: { mode: FunctionCallingConfigMode.AUTO } },
          maxOutputTokens: 900,
          temperature: 0.3,
          topP: 0.9,
          stopSequences: ["END"],
          thinkingConfig: { thinkingLevel: ThinkingLevel.LOW, includeThoughts: true },
          responseMimeType: "application/json",
          responseJsonSchema: outputSchema,
        },
      }),
    );
    assert.equal(server.requests.length, 2);
    const [ours, theirs] = server.requests;
    assert.deepEqual([ours?.url, ours?.body], [theirs?.url, theirs?.body]);
  });

  it("streams what that client accepts", async () => {
    const usage = { inputTokens: 9, outputTokens: 5, cacheReadTokens: 4, reasoningTokens: 2 };
    const calls = [{ name: "Read", input: { path: "ü" } }, { name: "Now" }];
    const { google } = await setUp([
      { reasoning: "let me see", text: "ok then", calls, usage },
      { text: "cut", finish: "length" },
    ]);
    const chunks = await readAll(google.models.generateContentStream({ model: "gemini-3-pro", contents: "hi" }));
    const parts = chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? []);
    const textOf = (thought: boolean): string =>
      parts.map((part) => ((part.thought ?? false) === thought ? (part.text ?? "") : "")).join("");
    const last = chunks.at(-1);
    assert.deepEqual([textOf(true), textOf(false)], ["let me see", "ok then"]);
    assert.deepEqual(
      chunks.flatMap((chunk) => chunk.functionCalls ?? []),
      [
        { id: "call_1_1", name: "Read", args: { path: "ü" } },
        { id: "call_1_2", name: "Now", args: {} },
      ],
    );
    assert.deepEqual(
      parts.flatMap((part) => part.thoughtSignature ?? []),
      [scriptedSignature],
    );
    assert.deepEqual(
      { ...last?.usageMetadata },
      { promptTokenCount: 9, cachedContentTokenCount: 4, candidatesTokenCount: 3, thoughtsTokenCount: 2, totalTokenCount: 14 },
    );
    assert.deepEqual(
      [last?.candidates?.[0]?.finishReason, last?.modelVersion, last?.responseId],
      [FinishReason.STOP, "gemini-3-pro", "response_1"],
    );
    const cut = await readAll(google.models.generateContentStream({ model: "gemini-3-pro", contents: "hi" }));
    assert.equal(cut.at(-1)?.candidates?.[0]?.finishReason, FinishReason.MAX_TOKENS);
  });

  const failures: [what: string, reply: ServerReply, status: number][] = [
    ["a status", { fail: { code: "provider-rate-limit", message: "slow down" } }, 429],
    ["a status of the script", { status: 503 }, 503],
    ["an error inside the stream", { text: "half", fail: { code: "provider-overloaded", message: "busy" } }, 503],
  ];
  for (const [what, reply, status] of failures) {
    it(`fails for that client too with ${what}`, async () => {
      const { google } = await setUp([reply]);
      await assert.rejects(readAll(google.models.generateContentStream({ model: "m", contents: "hi" })), (error: unknown) => {
        assert.ok(error instanceof ApiError);
        assert.equal(error.status, status);
        return true;
      });
    });
  }
});

describe("another server of this wire (aimock)", () => {
  it("answers with text, with calls and with errors", async () => {
    const mock = new LLMock({ port: 0, chunkSize: 4 });
    mock.onMessage("greet", { content: "Hello from the mock", reasoning: "think" });
    mock.onMessage("call", {
      content: "on it",
      toolCalls: [
        { name: "Read", arguments: '{"path":"a"}' },
        { name: "Read", arguments: '{"path":"b"}' },
      ],
    });
    mock.onMessage("fail", { error: { message: "quota" }, status: 429 });
    await mock.start();
    closers.push(() => mock.stop());
    const client = clientFor(mock.url, once);
    const ask = (text: string): Promise<ModelEvent[]> => collect(client, { ...request, messages: [userText(text)] });

    const greeting = messageIn(await ask("greet"));
    assert.deepEqual(greeting.content, [
      { type: "reasoning", text: "think" },
      { type: "text", text: "Hello from the mock" },
    ]);
    assert.equal(greeting.finish, "stop");

    const called = messageIn(await ask("call"));
    assert.deepEqual(
      [called.finish, called.content.map((part) => (part.type === "tool-call" ? [part.name, part.input] : part.type))],
      ["tool-calls", ["text", ["Read", { path: "a" }], ["Read", { path: "b" }]]],
    );
    const ids = called.content.flatMap((part) => (part.type === "tool-call" ? [part.callId] : []));
    assert.equal(new Set(ids).size, 2);

    await assert.rejects(ask("fail"), {
      code: "provider-rate-limit",
      message: "Gemini answered HTTP 429: quota",
      retryable: true,
    });
  });
});

async function setUp(
  replies: Parameters<typeof startModelServer>[0]["replies"],
  options: Partial<ModelClientOptions> = {},
): Promise<{ client: ModelClient; server: ModelServer; google: GoogleGenAI }> {
  const server = await startModelServer({ replies });
  closers.push(server.close);
  const google = new GoogleGenAI({ apiKey: "AIza-test", httpOptions: { baseUrl: server.url } });
  return { client: clientFor(server.url, options), server, google };
}

function clientFor(baseURL: string, options: Partial<ModelClientOptions>): ModelClient {
  const client = createModelClient({
    name: "google",
    dialect: gemini,
    endpoint: ({ model }) => ({
      url: `${baseURL}/v1beta/models/${model}:streamGenerateContent?alt=sse`,
      headers: { "x-goog-api-key": "AIza-test" },
    }),
    toError: geminiHttpError,
    ...options,
  });
  closers.unshift(() => client.close());
  return client;
}

function encode(reply: ServerReply): string {
  const recorded = { method: "POST", url: "", headers: {}, body: {} };
  return geminiStream.encode(reply, { index: 0, model: "gemini-3-pro", request: recorded });
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

async function assertBroken(client: ModelClient, where: string): Promise<void> {
  const events: ModelEvent[] = [];
  const error = await collect(client, request, events).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof RuntimeError, where);
  assert.deepEqual([error.retryable, events.some((event) => event.type === "finished")], [true, false], where);
}

async function readAll(stream: Promise<AsyncIterable<GenerateContentResponse>>): Promise<GenerateContentResponse[]> {
  const chunks: GenerateContentResponse[] = [];
  for await (const chunk of await stream) chunks.push(chunk);
  return chunks;
}
