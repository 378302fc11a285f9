import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AssistantMessage, AssistantPart, JsonObject, Message, ToolResultPart } from "../../protocol/content.ts";
import { noUsage, userText } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { ModelEvent, ModelRequest } from "../model.ts";
import { anthropicMessages } from "./anthropic-messages.ts";
import { gemini } from "./gemini.ts";

const request: ModelRequest = { model: "gemini-3-pro", system: "", messages: [userText("hi")], tools: [] };
const older = "gemini-2.5-flash";
const hi = [{ role: "user", parts: [{ text: "hi" }] }];
const schema = { type: "object", properties: { path: { type: "string", minLength: 1 } }, required: ["path"] };

describe("encode", () => {
  const rows: [what: string, asked: Partial<ModelRequest>, expected: JsonObject][] = [
    ["leaves out what was not asked for", { system: " \n", stopSequences: [] }, { contents: hi }],
    ["writes the system prompt", { system: "be brief" }, { systemInstruction: { parts: [{ text: "be brief" }] }, contents: hi }],
    [
      "declares tools with their whole schema, and none for a tool without parameters",
      {
        tools: [
          { name: "Read", description: "reads", inputSchema: schema },
          { name: "Now", description: "tells", inputSchema: { type: "object", properties: {}, required: [] } },
          { name: "Map", description: "any keys", inputSchema: { type: "object", additionalProperties: { type: "string" } } },
        ],
      },
      {
        contents: hi,
        tools: [
          {
            functionDeclarations: [
              { name: "Read", description: "reads", parametersJsonSchema: schema },
              { name: "Now", description: "tells" },
              {
                name: "Map",
                description: "any keys",
                parametersJsonSchema: { type: "object", additionalProperties: { type: "string" } },
              },
            ],
          },
        ],
      },
    ],
    [
      "declares schemas in the keywords that the API knows",
      {
        tools: [
          {
            name: "Read",
            description: "reads",
            inputSchema: {
              $schema: "https://json-schema.org/draft/2020-12/schema",
              type: "object",
              properties: {
                kind: { const: "a" },
                count: { type: "integer", exclusiveMinimum: 0, not: { const: 7 } },
                tree: { $ref: "#/$defs/tree" },
                either: {
                  oneOf: [{ type: "string" }, { allOf: [{ properties: { x: { type: "null" } } }], required: ["x", "y"] }],
                },
              },
              patternProperties: { "^x-": {} },
              required: ["kind", "gone"],
              $defs: { tree: { type: "object", properties: { inner: { $ref: "#/$defs/tree", description: "more" } } } },
            },
          },
        ],
      },
      {
        contents: hi,
        tools: [
          {
            functionDeclarations: [
              {
                name: "Read",
                description: "reads",
                parametersJsonSchema: {
                  type: "object",
                  properties: {
                    kind: { enum: ["a"] },
                    count: { type: "integer", minimum: 0 },
                    tree: { type: "object", properties: { inner: { type: "object", description: "more" } } },
                    either: { anyOf: [{ type: "string" }, { properties: { x: { type: "null" } }, required: ["x"] }] },
                  },
                  required: ["kind"],
                },
              },
            ],
          },
        ],
      },
    ],
    [
      "writes limits, temperature and stop sequences",
      { maxOutputTokens: 500, temperature: 0, stopSequences: ["END"] },
      { contents: hi, generationConfig: { maxOutputTokens: 500, temperature: 0, stopSequences: ["END"] } },
    ],
    [
      "asks for JSON of a schema",
      { outputSchema: schema },
      { contents: hi, generationConfig: { responseMimeType: "application/json", responseJsonSchema: schema } },
    ],
    [
      "merges options into what it wrote, and adds their tools",
      {
        temperature: 1,
        maxOutputTokens: 9,
        tools: [{ name: "T", description: "", inputSchema: {} }],
        options: {
          generationConfig: { temperature: 0.5, topP: 0.1 },
          tools: [{ googleSearch: {} }],
          safetySettings: [{ category: "C", threshold: "OFF" }],
        },
      },
      {
        contents: hi,
        generationConfig: { maxOutputTokens: 9, temperature: 0.5, topP: 0.1 },
        tools: [{ functionDeclarations: [{ name: "T", description: "" }] }, { googleSearch: {} }],
        safetySettings: [{ category: "C", threshold: "OFF" }],
      },
    ],
  ];
  for (const [what, asked, expected] of rows) {
    it(what, () => assert.deepEqual(gemini.encode({ ...request, ...asked }), expected));
  }

  const tool = { name: "T", description: "", inputSchema: {} };
  it("sends a schema beside tools only to models that take both, and in words to the others", () => {
    const asked = { ...request, system: "s", tools: [tool], outputSchema: schema };
    assert.deepEqual(gemini.encode(asked)["generationConfig"], {
      responseMimeType: "application/json",
      responseJsonSchema: schema,
    });
    const encoded = gemini.encode({ ...asked, model: older });
    assert.equal(encoded["generationConfig"], undefined);
    assert.ok(JSON.stringify(encoded["systemInstruction"]).includes("minLength"));
    assert.ok(gemini.encode({ ...asked, model: older, tools: [] })["generationConfig"]);
  });

  const thinking: [asked: Partial<ModelRequest>, config: JsonObject | undefined][] = [
    [{}, undefined],
    [{ thinkingTokens: 4_000 }, { thinkingConfig: { thinkingLevel: "LOW", includeThoughts: true } }],
    [{ thinkingTokens: 4_000, model: older }, { thinkingConfig: { thinkingBudget: 4_000, includeThoughts: true } }],
    [{ thinkingTokens: 0, model: older }, { thinkingConfig: { thinkingBudget: 0, includeThoughts: false } }],
    [
      { thinkingTokens: 4_000, maxOutputTokens: 1_000, model: older },
      { thinkingConfig: { thinkingBudget: 4_000, includeThoughts: true }, maxOutputTokens: 5_000 },
    ],
    [{ effort: "low" }, { thinkingConfig: { thinkingLevel: "LOW", includeThoughts: true } }],
    [
      { effort: "high", thinkingTokens: 9, maxOutputTokens: 5 },
      { thinkingConfig: { thinkingLevel: "HIGH", includeThoughts: true }, maxOutputTokens: 5 },
    ],
    [{ effort: "high", model: older }, { thinkingConfig: { thinkingBudget: 24_576, includeThoughts: true } }],
    [{ effort: "max", model: "gemini-2.5-pro" }, { thinkingConfig: { thinkingBudget: 32_768, includeThoughts: true } }],
    [{ effort: "high", thinkingTokens: 9, model: older }, { thinkingConfig: { thinkingBudget: 9, includeThoughts: true } }],
  ];
  for (const [asked, config] of thinking) {
    it(`thinks as asked by ${JSON.stringify(asked)}`, () =>
      assert.deepEqual(gemini.encode({ ...request, ...asked })["generationConfig"], config));
  }

  it("shows documents to Gemini, and tells Gemma of them", () => {
    const pdf = { type: "image", mediaType: "application/pdf", data: "AAAA" } as const;
    const messages: Message[] = [{ role: "user", content: [pdf] }];
    const partOf = (model: string) => (gemini.encode({ ...request, model, messages })["contents"] as JsonObject[])[0]?.["parts"];
    assert.deepEqual(partOf("gemini-3.8-flash"), [{ inlineData: { mimeType: "application/pdf", data: "AAAA" } }]);
    assert.deepEqual(partOf("gemma-4-31b-it"), [{ text: "(a PDF document that this model cannot see)" }]);
  });

  it("merges neighbours of one role, answers calls first and in order, and attaches the images of results", () => {
    const image = { type: "image", mediaType: "image/png", data: "AAAA" } as const;
    const messages: Message[] = [
      userText("one"),
      { role: "user", content: [image, { type: "text", text: "two" }, { type: "text", text: "" }] },
      assistant([
        { type: "text", text: "let me see" },
        { type: "tool-call", callId: "a", name: "Read", input: { path: "x" } },
        { type: "tool-call", callId: "b", name: "Shot", input: "no object", malformedInput: "no object" },
      ]),
      userText("wait"),
      {
        role: "tool",
        content: [
          result("a", {
            name: "Read",
            content: [
              { type: "text", text: "fi" },
              { type: "text", text: "le" },
            ],
          }),
          result("b", { name: "Shot", content: [image] }),
          result("c", { name: "Bash", content: [{ type: "text", text: "exit 1" }], isError: true }),
          result("d", { name: "Bash", content: [] }),
        ],
      },
      userText("go on"),
    ];
    const inlineData = { mimeType: "image/png", data: "AAAA" };
    assert.deepEqual(contentsOf(messages, older), [
      { role: "user", parts: [{ text: "one" }, { inlineData }, { text: "two" }] },
      {
        role: "model",
        parts: [
          { text: "let me see" },
          { functionCall: { name: "Read", args: { path: "x" } } },
          { functionCall: { name: "Shot", args: {} } },
        ],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { name: "Read", response: { output: "file" } } },
          { functionResponse: { name: "Shot", response: { output: "(attached as an image)" } } },
          { functionResponse: { name: "Bash", response: { error: "exit 1" } } },
          { functionResponse: { name: "Bash", response: { output: "(no output)" } } },
          { text: "wait" },
          { inlineData },
          { text: "go on" },
        ],
      },
    ]);
  });

  it("hands back ids the server gave, to models that know them, and keeps made-up ones to itself", () => {
    const messages: Message[] = [
      userText("q"),
      assistant([
        {
          type: "tool-call",
          callId: "f1",
          name: "T",
          input: {},
          providerMetadata: { gemini: { id: "f1", thoughtSignature: "s" } },
        },
        { type: "tool-call", callId: "call_1_1", name: "T", input: {} },
      ]),
      { role: "tool", content: [result("f1"), result("call_1_1")] },
    ];
    const response = { name: "T", response: { output: "done" } };
    assert.deepEqual(contentsOf(messages).slice(1), [
      {
        role: "model",
        parts: [
          { functionCall: { id: "f1", name: "T", args: {} }, thoughtSignature: "s" },
          { functionCall: { name: "T", args: {} } },
        ],
      },
      { role: "user", parts: [{ functionResponse: { id: "f1", ...response } }, { functionResponse: response }] },
    ]);
    assert.ok(!JSON.stringify(contentsOf(messages, older)).includes('"id"'));
  });

  it("stands in for the signature of a call that another model made, where the model asks for one", () => {
    const call: AssistantPart = { type: "tool-call", callId: "a", name: "T", input: {} };
    const messages = [userText("q"), assistant([call, { ...call, callId: "b" }])];
    const functionCall = { name: "T", args: {} };
    assert.deepEqual(contentsOf(messages)[1]?.["parts"], [
      { functionCall, thoughtSignature: "skip_thought_signature_validator" },
      { functionCall },
    ]);
    assert.deepEqual(contentsOf(messages, `models/${older}`)[1]?.["parts"], [{ functionCall }, { functionCall }]);
  });

  it("drops what is not its own, and never sends a content without parts", () => {
    const foreign = { "anthropic-messages": { signature: "x", thoughtSignature: "x" } };
    const messages: Message[] = [
      userText("a"),
      assistant([
        { type: "reasoning", text: "unsigned" },
        { type: "reasoning", text: "of another wire", providerMetadata: foreign },
        { type: "opaque", dialect: "anthropic-messages", value: { type: "secret" } },
        { type: "text", text: "" },
      ]),
      userText("b"),
      assistant([{ type: "text", text: "kept", providerMetadata: foreign }]),
    ];
    assert.deepEqual(contentsOf(messages), [
      { role: "user", parts: [{ text: "a" }, { text: "b" }] },
      { role: "model", parts: [{ text: "kept" }] },
    ]);
  });

  it("leaves the messages it was given alone, and writes the same bytes every time", () => {
    const messages = [
      userText("q"),
      assistant([
        { type: "opaque", dialect: "gemini", value: { functionCall: { name: "T" } } },
        { type: "tool-call", callId: "a", name: "T", input: {} },
      ]),
    ];
    const before = structuredClone(messages);
    const text = JSON.stringify(contentsOf(messages));
    assert.deepEqual(messages, before);
    assert.equal(JSON.stringify(contentsOf(before)), text);
  });
});

describe("decode", () => {
  it("streams thoughts, text and parallel calls into one message", () => {
    const { events, message } = decode([
      chunk([{ text: "hm", thought: true }], { usageMetadata: { promptTokenCount: 120, totalTokenCount: 120 } }),
      chunk([{ text: "m", thought: true }]),
      { usageMetadata: { promptTokenCount: 120 } },
      chunk([{ text: "Hel" }, { text: "lo" }]),
      chunk([
        { functionCall: { id: "f1", name: "Read", args: { path: "x" } }, thoughtSignature: "sig" },
        { functionCall: { id: "f2", name: "Now" } },
      ]),
      {
        ...chunk([{ text: "" }], { finishReason: "STOP" }),
        modelVersion: "gemini-3-pro-001",
        responseId: "r1",
        usageMetadata: {
          promptTokenCount: 120,
          cachedContentTokenCount: 100,
          candidatesTokenCount: 20,
          thoughtsTokenCount: 30,
          toolUsePromptTokenCount: 7,
          totalTokenCount: 177,
        },
      },
    ]);
    assert.deepEqual(events, [
      { type: "reasoning.delta", text: "hm" },
      { type: "reasoning.delta", text: "m" },
      { type: "text.delta", text: "Hel" },
      { type: "text.delta", text: "lo" },
      { type: "tool-input.delta", callId: "f1", name: "Read", json: '{"path":"x"}' },
      { type: "tool-input.delta", callId: "f2", name: "Now", json: "{}" },
    ]);
    assert.deepEqual(message, {
      role: "assistant",
      content: [
        { type: "reasoning", text: "hmm" },
        { type: "text", text: "Hello" },
        {
          type: "tool-call",
          callId: "f1",
          name: "Read",
          input: { path: "x" },
          providerMetadata: { gemini: { id: "f1", thoughtSignature: "sig" } },
        },
        { type: "tool-call", callId: "f2", name: "Now", input: {}, providerMetadata: { gemini: { id: "f2" } } },
      ],
      model: { provider: "google", id: "gemini-3-pro-001" },
      finish: "tool-calls",
      stopReason: "STOP",
      usage: { inputTokens: 127, outputTokens: 50, cacheReadTokens: 100, cacheWriteTokens: 0, reasoningTokens: 30 },
      responseId: "r1",
    });
  });

  const finishes: [reason: string, finish: AssistantMessage["finish"], withCall: AssistantMessage["finish"]][] = [
    ["STOP", "stop", "tool-calls"],
    ["MAX_TOKENS", "length", "length"],
    ["CONTINUATION", "length", "length"],
    ["SAFETY", "content-filter", "content-filter"],
    ["PROHIBITED_CONTENT", "content-filter", "content-filter"],
    ["BLOCKLIST", "content-filter", "content-filter"],
    ["SPII", "content-filter", "content-filter"],
    ["IMAGE_SAFETY", "content-filter", "content-filter"],
    ["RECITATION", "content-filter", "content-filter"],
    ["LANGUAGE", "other", "tool-calls"],
    ["OTHER", "other", "tool-calls"],
    ["FINISH_REASON_UNSPECIFIED", "other", "tool-calls"],
    ["INVENTED_LATER", "other", "tool-calls"],
  ];
  for (const [finishReason, finish, withCall] of finishes) {
    it(`reads the finish reason ${finishReason} as ${finish}, with calls as ${withCall}`, () => {
      const { message } = decode([chunk([{ text: "x" }]), { candidates: [{ finishReason }] }]);
      assert.deepEqual([message?.finish, message?.stopReason], [finish, finishReason]);
      const called = decode([chunk([{ functionCall: { name: "T" } }], { finishReason })]);
      assert.equal(called.message?.finish, withCall);
    });
  }

  it("keeps which pages Google's own search found, and does not send that back", () => {
    const groundingMetadata = { groundingChunks: [{ web: { title: "A", uri: "https://a.org" } }] };
    const { message } = decode([chunk([{ text: "yes" }], { finishReason: "STOP", groundingMetadata })]);
    assert.deepEqual(message?.content, [
      { type: "text", text: "yes" },
      { type: "opaque", dialect: "gemini", value: { groundingMetadata } },
    ]);
    const messages = [userText("hi"), ...(message ? [message] : []), userText("more")];
    assert.doesNotMatch(JSON.stringify(gemini.encode({ ...request, messages })), /grounding/);
  });

  it("asks to go on with a token, and goes on by the same request without what was said", () => {
    const stopped = (text: string, continuationToken: string) =>
      decode([
        chunk([{ text }], { continuationToken: "early" }),
        { candidates: [{ finishReason: "CONTINUATION", continuationToken }] },
      ]).message as AssistantMessage; // it ended
    const [one, two] = [stopped("a", "t1"), stopped("b", "t2")];
    assert.deepEqual([one.finish, one.stopReason], ["paused", "CONTINUATION"]);
    assert.deepEqual(one.content, [
      { type: "text", text: "a" },
      { type: "opaque", dialect: "gemini", value: { continuationToken: "t1" } },
    ]);
    const user = { role: "user", parts: [{ text: "hi" }] };
    assert.deepEqual(gemini.encode({ ...request, messages: [userText("hi"), one] }), {
      contents: [user],
      continuationToken: "t1",
    });
    assert.deepEqual(gemini.encode({ ...request, messages: [userText("hi"), one, two] }), {
      contents: [user],
      continuationToken: "t2",
    });
    const later = gemini.encode({
      ...request,
      messages: [userText("hi"), one, assistant([{ type: "text", text: "c" }]), userText("go")],
    });
    assert.deepEqual(later, {
      contents: [user, { role: "model", parts: [{ text: "a" }, { text: "c" }] }, { role: "user", parts: [{ text: "go" }] }],
    });
    assert.equal(
      gemini.encode({ ...request, messages: [userText("hi"), { ...one, finish: "stop" }] })["continuationToken"],
      undefined,
    );
    const called = decode([chunk([{ functionCall: { name: "T" } }], { finishReason: "CONTINUATION", continuationToken: "t" })]);
    assert.equal(called.message?.finish, "length");
  });

  it("tells that several calls at once cannot be kept off", () => {
    const told: string[] = [];
    const asked = {
      ...request,
      capabilities: { parallelCalls: false },
      tools: [{ name: "T", description: "", inputSchema: {} }],
    };
    gemini.encode(asked, (note) => told.push(note));
    gemini.encode({ ...asked, tools: [] }, (note) => told.push(note));
    assert.deepEqual(told, ["Gemini cannot be kept from calling several tools at once"]);
  });

  it("reads a blocked prompt as a filtered answer", () => {
    const { message } = decode([
      { promptFeedback: { blockReason: "PROHIBITED_CONTENT" }, usageMetadata: { promptTokenCount: 9 }, modelVersion: "m" },
    ]);
    assert.deepEqual([message?.finish, message?.stopReason, message?.content], ["content-filter", "PROHIBITED_CONTENT", []]);
    assert.deepEqual(message?.usage, { ...noUsage, inputTokens: 9 });
  });

  const broken: [reason: string, code: string, retryable: boolean][] = [
    ["MALFORMED_FUNCTION_CALL", "provider-protocol", true],
    ["UNEXPECTED_TOOL_CALL", "provider-protocol", true],
    ["MALFORMED_RESPONSE", "provider-protocol", true],
    ["MISSING_THOUGHT_SIGNATURE", "provider-bad-request", false],
  ];
  for (const [finishReason, code, retryable] of broken) {
    it(`throws ${code} for the finish reason ${finishReason}`, () => {
      const candidate = { finishReason, finishMessage: "Malformed function call: print(api.x(" };
      const error = thrownBy(() => decode([chunk([{ text: "x" }]), { candidates: [candidate] }]));
      assert.deepEqual([error.code, error.retryable], [code, retryable]);
      assert.ok(error.message.endsWith(`(${finishReason}): Malformed function call: print(api.x(`), error.message);
    });
  }

  it("is over only with the body: a gateway puts STOP on empty chunks before the text, and says [DONE]", () => {
    const early = chunk([], { finishReason: "STOP" });
    const decoder = gemini.decoder(request, "google");
    const payloads = [early, early, chunk([{ text: "late" }]), early].map((payload) => JSON.stringify(payload));
    const events = [...payloads, "[DONE]"].flatMap((data) => decoder.push({ event: undefined, data }));
    assert.deepEqual(events, [{ type: "text.delta", text: "late" }]);
    const [last] = decoder.end?.() ?? [];
    assert.deepEqual(last?.type === "finished" && last.message.content, [{ type: "text", text: "late" }]);
  });

  it("is not whole without a finish reason", () => {
    assert.equal(decode([chunk([{ text: "half" }]), { usageMetadata: { promptTokenCount: 1 } }]).message, undefined);
    assert.equal(decode([]).message, undefined);
  });

  it("reads the first candidate only, and chunks without any", () => {
    const { events, message } = decode([
      {},
      { candidates: null, usageMetadata: { promptTokenCount: 3, cachedContentTokenCount: 2 } },
      {
        candidates: [
          { index: 1, content: { parts: [{ text: "second" }] } },
          { index: 0, content: { parts: [{ text: "first" }] } },
        ],
      },
      { candidates: [{ content: { role: "model" }, finishReason: "STOP", index: 0 }], usageMetadata: { promptTokenCount: 4 } },
    ]);
    assert.deepEqual(events, [{ type: "text.delta", text: "first" }]);
    assert.deepEqual(message?.usage, { ...noUsage, inputTokens: 4, cacheReadTokens: 2 });
    assert.deepEqual(message?.model, { provider: "google", id: "gemini-3-pro" });
  });

  const inputs: [what: string, args: unknown, expected: JsonObject][] = [
    ["no arguments", undefined, { input: {} }],
    ["null for arguments", null, { input: {} }],
    ["arguments", { a: [1] }, { input: { a: [1] } }],
    ["a list", [1], { input: {}, malformedInput: "[1]" }],
    ["a text", '{"a":', { input: {}, malformedInput: '{"a":' }],
  ];
  for (const [what, args, expected] of inputs) {
    it(`reads a call with ${what}`, () => {
      const { message } = decode([
        { ...chunk([{ functionCall: { name: "T", args } }], { finishReason: "STOP" }), responseId: "r" },
      ]);
      assert.deepEqual(message?.content, [{ type: "tool-call", callId: "call_r_0", name: "T", ...expected }]);
    });
  }

  it("gives calls without an id, or with one that is taken, an id of their own", () => {
    const earlier = assistant([{ type: "tool-call", callId: "old", name: "T", input: {} }]);
    const asked = { ...request, messages: [userText("q"), earlier] };
    const parts = ["same", "same", undefined, "", "old"].map((id) => ({
      functionCall: { name: "T", ...(id !== undefined && { id }) },
    }));
    const idsFor = (responseId: string) =>
      decode([{ ...chunk(parts, { finishReason: "STOP" }), responseId }], asked).message?.content.map(
        (part) => part.type === "tool-call" && [part.callId, part.providerMetadata?.["gemini"]],
      );
    assert.deepEqual(idsFor("r1"), [
      ["same", { id: "same" }],
      ["call_r1_1", undefined],
      ["call_r1_2", undefined],
      ["call_r1_3", undefined],
      ["call_r1_4", undefined],
    ]);
    assert.deepEqual(idsFor("r1"), idsFor("r1"));
    assert.notDeepEqual(idsFor("r1"), idsFor("r2"));
  });

  for (const data of ['{"candidates":[{"con', "", "[]", "null", "<html>"]) {
    it(`refuses the payload ${data || "(empty)"}`, () => {
      const decoder = gemini.decoder(request, "google");
      assert.throws(() => decoder.push({ event: undefined, data }), { code: "provider-protocol", retryable: true });
    });
  }
});

describe("what must come back as it was", () => {
  const turns: [what: string, parts: JsonObject[][], sentBack: JsonObject[]][] = [
    [
      "the signature of a call among parallel calls",
      [
        [{ text: "let me think", thought: true }],
        [
          { functionCall: { id: "1", name: "A", args: { x: 1 } }, thoughtSignature: "S1" },
          { functionCall: { id: "2", name: "B", args: {} } },
        ],
      ],
      [
        { functionCall: { id: "1", name: "A", args: { x: 1 } }, thoughtSignature: "S1" },
        { functionCall: { id: "2", name: "B", args: {} } },
      ],
    ],
    [
      "a signature on the last piece of a text",
      [[{ text: "one " }], [{ text: "two " }], [{ text: "three", thoughtSignature: "S2" }]],
      [{ text: "one two " }, { text: "three", thoughtSignature: "S2" }],
    ],
    [
      "a signature on an empty piece after the text",
      [[{ text: "done" }], [{ text: "", thoughtSignature: "S3" }]],
      [{ text: "done" }, { text: "", thoughtSignature: "S3" }],
    ],
    ["a signature on the whole text", [[{ text: "done", thoughtSignature: "S4" }]], [{ text: "done", thoughtSignature: "S4" }]],
    ["a signature on nothing", [[{ thoughtSignature: "S5" }]], [{ text: "", thoughtSignature: "S5" }]],
    [
      "two signed texts in a row",
      [[{ text: "a", thoughtSignature: "S6" }], [{ text: "b" }], [{ text: "c", thoughtSignature: "S7" }]],
      [{ text: "a", thoughtSignature: "S6" }, { text: "b" }, { text: "c", thoughtSignature: "S7" }],
    ],
    [
      "a signed thought, without the unsigned words before it",
      [[{ text: "summary ", thought: true }], [{ text: "end", thought: true, thoughtSignature: "S8" }], [{ text: "so" }]],
      [{ text: "end", thought: true, thoughtSignature: "S8" }, { text: "so" }],
    ],
    [
      "parts only Google understands",
      [
        [{ executableCode: { language: "PYTHON", code: "1+1" }, thoughtSignature: "S9" }],
        [{ codeExecutionResult: { outcome: "OUTCOME_OK", output: "2" } }, { inlineData: { mimeType: "image/png", data: "AA" } }],
        [{ hologram: { depth: 3 } }, {}, { text: "two" }],
      ],
      [
        { executableCode: { language: "PYTHON", code: "1+1" }, thoughtSignature: "S9" },
        { codeExecutionResult: { outcome: "OUTCOME_OK", output: "2" } },
        { inlineData: { mimeType: "image/png", data: "AA" } },
        { hologram: { depth: 3 } },
        { text: "two" },
      ],
    ],
  ];
  for (const [what, parts, sentBack] of turns) {
    it(`is ${what}`, () => {
      const { message } = decode([...parts.map((piece) => chunk(piece)), { candidates: [{ finishReason: "STOP" }] }]);
      assert.ok(message);
      const stored = JSON.parse(JSON.stringify(message)) as AssistantMessage; // as a journal would
      assert.deepEqual(contentsOf([userText("q"), stored, userText("next")])[1], { role: "model", parts: sentBack });
    });
  }

  it("is one text for people, however it is signed", () => {
    const { message } = decode([chunk([{ text: "one " }, { text: "two", thoughtSignature: "S" }], { finishReason: "STOP" })]);
    assert.deepEqual(message?.content, [
      { type: "text", text: "one two", providerMetadata: { gemini: { thoughtSignature: "S", signedFrom: 4 } } },
    ]);
  });

  it("is nothing another wire sees", () => {
    const parts = [
      { text: "said", thoughtSignature: "S" },
      { functionCall: { id: "1", name: "T" }, thoughtSignature: "S" },
      { fileData: {} },
    ];
    const { message } = decode([chunk(parts, { finishReason: "STOP" })]);
    assert.ok(message);
    const body = anthropicMessages.encode({ ...request, messages: [userText("q"), message, userText("next")] });
    assert.deepEqual((body["messages"] as JsonObject[])[1], {
      role: "assistant",
      content: [
        { type: "text", text: "said" },
        { type: "tool_use", id: "1", name: "T", input: {} },
      ],
    });
  });
});

function chunk(parts: readonly object[], { usageMetadata, ...candidate }: JsonObject = {}): object {
  return { candidates: [{ content: { role: "model", parts }, index: 0, ...candidate }], ...(usageMetadata && { usageMetadata }) };
}

function decode(
  payloads: readonly object[],
  asked: ModelRequest = request,
): { events: ModelEvent[]; message: AssistantMessage | undefined } {
  const decoder = gemini.decoder(asked, "google");
  const events = payloads.flatMap((payload) => decoder.push({ event: undefined, data: JSON.stringify(payload) }));
  const [last] = decoder.end?.() ?? [];
  return { events, message: last?.type === "finished" ? last.message : undefined };
}

function thrownBy(run: () => unknown): RuntimeError {
  try {
    run();
  } catch (thrown) {
    if (thrown instanceof RuntimeError) return thrown;
    throw thrown;
  }
  throw new Error("Nothing was thrown");
}

function assistant(content: AssistantPart[]): AssistantMessage {
  return { role: "assistant", content, model: { provider: "google", id: "m" }, finish: "stop", usage: noUsage };
}

function result(callId: string, part: Partial<ToolResultPart> = {}): ToolResultPart {
  return { type: "tool-result", callId, name: "T", content: [{ type: "text", text: "done" }], isError: false, ...part };
}

function contentsOf(messages: readonly Message[], model: string = request.model): JsonObject[] {
  return gemini.encode({ ...request, model, messages })["contents"] as JsonObject[]; // its own encoding, a list of contents
}
