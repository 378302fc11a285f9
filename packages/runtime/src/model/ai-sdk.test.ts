import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AssistantMessage, Message } from "../protocol/content.ts";
import { noUsage, userText } from "../protocol/content.ts";
import { type AiSdkCall, type AiSdkModel, type AiSdkOptions, fromAiSdk } from "./ai-sdk.ts";
import { toPrompt } from "./ai-sdk-prompt.ts";
import type { ModelEvent, ModelRequest } from "./model.ts";

const request: ModelRequest = { model: "m", system: "be brief", messages: [userText("hi")], tools: [] };
const quick = { retry: { baseDelayMs: 1, maxDelayMs: 1, maxRetries: 2 } };
const usageV2 = { inputTokens: 10, outputTokens: 5, totalTokens: 15, cachedInputTokens: 4, reasoningTokens: 2 };
const usageV3 = {
  inputTokens: { total: 10, noCache: 5, cacheRead: 4, cacheWrite: 1 },
  outputTokens: { total: 5, text: 3, reasoning: 2 },
};

describe("fromAiSdk", () => {
  it("makes our events of a model's parts, and one message in the end", async () => {
    const { events } = await ask("v2", [
      { type: "stream-start", warnings: [] },
      { type: "response-metadata", id: "resp-1", modelId: "m-2026", timestamp: new Date(0) },
      { type: "reasoning-start", id: "0" },
      { type: "reasoning-delta", id: "0", delta: "hm" },
      { type: "reasoning-delta", id: "0", delta: "", providerMetadata: { maker: { signature: "sig" } } },
      { type: "reasoning-end", id: "0" },
      { type: "text-start", id: "0", providerMetadata: { maker: { itemId: "item-1" } } },
      { type: "text-delta", id: "0", delta: "Hel" },
      { type: "text-delta", id: "0", delta: "lo" },
      { type: "text-end", id: "0" },
      { type: "source", sourceType: "url", id: "s", url: "https://example.com" },
      { type: "tool-input-start", id: "c1", toolName: "Read" },
      { type: "tool-input-delta", id: "c1", delta: '{"path":' },
      { type: "tool-input-delta", id: "c1", delta: '"a"}' },
      { type: "tool-input-end", id: "c1" },
      {
        type: "tool-call",
        toolCallId: "c1",
        toolName: "Read",
        input: '{"path":"a"}',
        providerMetadata: { maker: { thought: "x" } },
      },
      { type: "tool-call", toolCallId: "c2", toolName: "Bash", input: "" },
      { type: "tool-call", toolCallId: "c3", toolName: "Bash", input: '{"command":' },
      { type: "finish", finishReason: "tool-calls", usage: usageV2 },
    ]);
    assert.deepEqual(events, [
      { type: "reasoning.delta", text: "hm" },
      { type: "text.delta", text: "Hel" },
      { type: "text.delta", text: "lo" },
      { type: "tool-input.delta", callId: "c1", name: "Read", json: '{"path":' },
      { type: "tool-input.delta", callId: "c1", name: "Read", json: '"a"}' },
      { type: "tool-input.delta", callId: "c2", name: "Bash", json: "{}" },
      { type: "tool-input.delta", callId: "c3", name: "Bash", json: '{"command":' },
      {
        type: "finished",
        message: {
          role: "assistant",
          content: [
            { type: "reasoning", text: "hm", providerMetadata: { "ai-sdk": { maker: { signature: "sig" } } } },
            { type: "text", text: "Hello", providerMetadata: { "ai-sdk": { maker: { itemId: "item-1" } } } },
            {
              type: "tool-call",
              callId: "c1",
              name: "Read",
              input: { path: "a" },
              providerMetadata: { "ai-sdk": { maker: { thought: "x" } } },
            },
            { type: "tool-call", callId: "c2", name: "Bash", input: {} },
            { type: "tool-call", callId: "c3", name: "Bash", input: {}, malformedInput: '{"command":' },
          ],
          model: { provider: "maker", id: "m-2026" },
          finish: "tool-calls",
          stopReason: "tool-calls",
          usage: { inputTokens: 10, outputTokens: 5, cacheReadTokens: 4, cacheWriteTokens: 0, reasoningTokens: 2 },
          responseId: "resp-1",
        },
      },
    ]);
  });

  it("keeps blocks apart that share an id, and together what is interleaved", async () => {
    const { message } = await ask("v3", [
      { type: "text-start", id: "a" },
      { type: "text-start", id: "b" },
      { type: "text-delta", id: "a", delta: "1" },
      { type: "text-delta", id: "b", delta: "2" },
      { type: "text-delta", id: "a", delta: "3" },
      { type: "text-end", id: "a" },
      { type: "tool-call", toolCallId: "c", toolName: "Read", input: "{}" },
      { type: "text-start", id: "a" },
      { type: "text-delta", id: "a", delta: "4" },
      { type: "finish", finishReason: { unified: "stop" }, usage: usageV3 },
    ]);
    assert.deepEqual(
      message?.content.map((part) => (part.type === "text" ? part.text : part.type)),
      ["13", "2", "tool-call", "4"],
    );
  });

  it("reads the reasons and counts of v3 and later", async () => {
    const { message } = await ask("v3", [
      { type: "text-delta", id: "0", delta: "x" },
      { type: "finish", finishReason: { unified: "length", raw: "MAX_TOKENS" }, usage: usageV3 },
    ]);
    assert.deepEqual(
      [message?.finish, message?.stopReason, message?.usage],
      ["length", "MAX_TOKENS", { inputTokens: 10, outputTokens: 5, cacheReadTokens: 4, cacheWriteTokens: 1, reasoningTokens: 2 }],
    );
    const odd = await ask("v2", [{ type: "finish", finishReason: "unknown", usage: { inputTokens: undefined } }]);
    assert.deepEqual([odd.message?.finish, odd.message?.usage], ["other", noUsage]);
  });

  it("hands the request over in the SDK's terms", async () => {
    const tool = { name: "Read", description: "reads", inputSchema: { type: "object" } };
    const { calls } = await ask("v4", [{ type: "finish", finishReason: { unified: "stop" }, usage: usageV3 }], {
      ...request,
      tools: [tool],
      maxOutputTokens: 100,
      temperature: 0.5,
      stopSequences: ["END"],
      effort: "low",
      outputSchema: { type: "object" },
      options: { maker: { cache: true }, loose: 1 },
    });
    const { abortSignal, ...call } = calls[0] ?? {};
    assert.ok(abortSignal instanceof AbortSignal);
    assert.deepEqual(call, {
      prompt: [
        { role: "system", content: "be brief" },
        { role: "user", content: [{ type: "text", text: "hi" }] },
      ],
      tools: [{ type: "function", ...tool }],
      toolChoice: { type: "auto" },
      maxOutputTokens: 100,
      temperature: 0.5,
      stopSequences: ["END"],
      responseFormat: { type: "json", schema: { type: "object" } },
      reasoning: "low",
      providerOptions: { maker: { cache: true } },
    });
  });

  it("gives back what the model's own tools did", async () => {
    const call = { type: "tool-call", toolCallId: "w1", toolName: "web_search", input: '{"q":"x"}', providerExecuted: true };
    const { events, message } = await ask("v2", [
      { type: "tool-input-start", id: "w1", toolName: "web_search", providerExecuted: true },
      { type: "tool-input-delta", id: "w1", delta: '{"q":"x"}' },
      call,
      { type: "tool-result", toolCallId: "w1", toolName: "web_search", result: [{ title: "t" }], providerExecuted: true },
      { type: "finish", finishReason: "stop", usage: usageV2 },
    ]);
    assert.equal(events.length, 1, "nothing for us to run, nothing to show");
    assert.ok(message);
    assert.deepEqual(toPrompt({ system: "", messages: [message] }, "v2"), [
      {
        role: "assistant",
        content: [
          { type: "tool-call", toolCallId: "w1", toolName: "web_search", input: { q: "x" }, providerExecuted: true },
          {
            type: "tool-result",
            toolCallId: "w1",
            toolName: "web_search",
            output: { type: "json", value: [{ title: "t" }] },
          },
        ],
      },
    ]);
  });

  it("tries again where that may help, and tells what failed", async () => {
    const overloaded = Object.assign(new Error("overloaded"), { statusCode: 529, responseHeaders: { "Retry-After": "0" } });
    const refused = Object.assign(new Error("no"), { statusCode: 401, responseBody: '{"error":{"message":"bad key"}}' });
    const finish = { type: "finish", finishReason: "stop", usage: usageV2 };
    const { events } = await askAgain("v2", [[overloaded], [{ type: "error", error: new Error("socket") }], [finish]]);
    assert.deepEqual(
      events.map((event) => (event.type === "retry.scheduled" ? event.error.code : event.type)),
      ["provider-overloaded", "provider-unavailable", "finished"],
    );
    await assert.rejects(askAgain("v2", [[refused]]), {
      code: "provider-auth",
      message: "maker answered HTTP 401: bad key",
    });
    await assert.rejects(askAgain("v2", [[Object.assign(new Error("odd"), { isRetryable: false })]]), {
      code: "provider-unavailable",
      message: "maker failed: odd",
    });
    const cut = { type: "text-delta", id: "0", delta: "x" };
    await assert.rejects(askAgain("v2", [[cut], [cut], [cut]]), {
      code: "provider-unavailable",
      message: /broke off before its end/,
    });
  });

  it("ends at once when it is aborted, also when the model does not listen", async () => {
    for (const where of ["doStream", "read"] as const) {
      const controller = new AbortController();
      let cancelled = false;
      const stream = {
        getReader: () => ({
          read: () => new Promise<never>(() => {}),
          cancel: async () => {
            cancelled = true;
          },
        }),
      };
      const deaf: AiSdkModel = {
        specificationVersion: "v2",
        provider: "deaf",
        modelId: "m",
        doStream: () => (where === "read" ? Promise.resolve({ stream }) : new Promise<never>(() => {})),
      };
      const events = fromAiSdk(deaf, quick).stream(request, { signal: controller.signal });
      setImmediate(() => controller.abort(new Error("enough")));
      await assert.rejects(collect(events), { message: "enough" });
      assert.equal(cancelled, where === "read");
    }
  });

  it("knows what it was told about itself", () => {
    const model = scripted("v3", []).model;
    const facts = (options?: AiSdkOptions) => {
      const { name, model: id, contextWindow, nativeSchema } = fromAiSdk(model, options);
      return [name, id, contextWindow, nativeSchema];
    };
    assert.deepEqual(facts(), ["maker", "m-1", 128_000, true]);
    assert.deepEqual(facts({ name: "mine", contextWindow: 9, nativeSchema: false }), ["mine", "m-1", 9, false]);
  });
});

describe("toPrompt", () => {
  const image = { type: "image" as const, mediaType: "image/png", data: "AAAA" };
  const answer: AssistantMessage = {
    role: "assistant",
    content: [
      { type: "reasoning", text: "another model's", providerMetadata: { gemini: {} } },
      { type: "reasoning", text: "own", providerMetadata: { "ai-sdk": { maker: { signature: "s" } } } },
      { type: "opaque", dialect: "gemini", value: { type: "x" } },
      { type: "text", text: "I look." },
      {
        type: "tool-call",
        callId: "c1",
        name: "Read",
        input: { path: "a" },
        providerMetadata: { "ai-sdk": { maker: { t: 1 } } },
      },
    ],
    model: { provider: "p", id: "m" },
    finish: "tool-calls",
    usage: { ...noUsage },
  };
  const messages: Message[] = [
    { role: "user", content: [{ type: "text", text: "look" }, image, { type: "text", text: " " }] },
    answer,
    {
      role: "tool",
      content: [
        { type: "tool-result", callId: "c1", name: "Read", content: [{ type: "text", text: "seen" }, image], isError: false },
        { type: "tool-result", callId: "c2", name: "Read", content: [], isError: true },
      ],
    },
  ];
  const files = {
    v2: { file: "AAAA", result: "media" },
    v3: { file: "AAAA", result: "image-data" },
    v4: { file: { type: "data", data: "AAAA" }, result: "file-data" },
  };
  for (const [version, { file, result }] of Object.entries(files)) {
    it(`tells a conversation as ${version} models take it`, () => {
      assert.deepEqual(toPrompt({ system: "", messages }, version), [
        {
          role: "user",
          content: [
            { type: "text", text: "look" },
            { type: "file", mediaType: "image/png", data: file },
          ],
        },
        {
          role: "assistant",
          content: [
            { type: "reasoning", text: "own", providerOptions: { maker: { signature: "s" } } },
            { type: "text", text: "I look." },
            { type: "tool-call", toolCallId: "c1", toolName: "Read", input: { path: "a" }, providerOptions: { maker: { t: 1 } } },
          ],
        },
        {
          role: "tool",
          content: [
            {
              type: "tool-result",
              toolCallId: "c1",
              toolName: "Read",
              output: {
                type: "content",
                value: [
                  { type: "text", text: "seen" },
                  { type: result, data: "AAAA", mediaType: "image/png" },
                ],
              },
            },
            { type: "tool-result", toolCallId: "c2", toolName: "Read", output: { type: "error-text", value: "(no output)" } },
          ],
        },
      ]);
    });
  }
});

type Parts = readonly (object | Error)[];

/** One list of parts per attempt; an error in the first place is what the call itself fails with. */
function scripted(version: string, attempts: readonly Parts[]): { model: AiSdkModel; calls: AiSdkCall[] } {
  const calls: AiSdkCall[] = [];
  const model: AiSdkModel = {
    specificationVersion: version,
    provider: "maker",
    modelId: "m-1",
    async doStream(call) {
      const parts = attempts[calls.push(call) - 1] ?? [];
      if (parts[0] instanceof Error) throw parts[0];
      return { stream: ReadableStream.from(parts) };
    },
  };
  return { model, calls };
}

type Answered = { events: ModelEvent[]; calls: AiSdkCall[]; message: AssistantMessage | undefined };

function ask(version: string, parts: Parts, asked: ModelRequest = request): Promise<Answered> {
  return askAgain(version, [parts], asked);
}

async function askAgain(version: string, attempts: readonly Parts[], asked: ModelRequest = request): Promise<Answered> {
  const { model, calls } = scripted(version, attempts);
  const events = await collect(fromAiSdk(model, quick).stream(asked, { signal: new AbortController().signal }));
  const last = events.at(-1);
  return { events, calls, message: last?.type === "finished" ? last.message : undefined };
}

async function collect(stream: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}
