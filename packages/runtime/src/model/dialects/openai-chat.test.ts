import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  type AssistantMessage,
  type AssistantPart,
  type ImagePart,
  type JsonObject,
  type Message,
  noUsage,
  type ToolResultPart,
  userText,
} from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { Decoder } from "../dialect.ts";
import type { ModelEvent, ModelRequest } from "../model.ts";
import type { OpenAIChatQuirks } from "./chat-wire.ts";
import { createOpenAIChat } from "./openai-chat.ts";

const bare: ModelRequest = { model: "gpt-x", system: "", messages: [], tools: [] };
const png: ImagePart = { type: "image", mediaType: "image/png", data: "iVBO" };
const head = { id: "chatcmpl-7", object: "chat.completion.chunk", created: 1, model: "gpt-x-0613" };
const pngPart = { type: "image_url", image_url: { url: "data:image/png;base64,iVBO" } };

describe("encode", () => {
  it("sends the whole request", () => {
    const request: ModelRequest = {
      model: "gpt-x",
      system: "Be brief.",
      messages: [userText("hi")],
      tools: [{ name: "Read", description: "Reads", inputSchema: { type: "object", properties: { path: { type: "string" } } } }],
      maxOutputTokens: 100,
      temperature: 0,
      effort: "low",
      outputSchema: { type: "object", properties: {}, additionalProperties: false },
      stopSequences: ["END"],
      options: { seed: 1, stream: false },
    };
    assert.deepEqual(createOpenAIChat().encode(request), {
      model: "gpt-x",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "hi" },
      ],
      tools: [
        {
          type: "function",
          function: {
            name: "Read",
            description: "Reads",
            parameters: { type: "object", properties: { path: { type: "string" } } },
          },
        },
      ],
      max_completion_tokens: 100,
      temperature: 0,
      stop: ["END"],
      response_format: {
        type: "json_schema",
        json_schema: { name: "answer", schema: { type: "object", properties: {}, additionalProperties: false }, strict: true },
      },
      reasoning_effort: "low",
      stream_options: { include_usage: true },
      seed: 1,
      stream: true,
    });
  });

  it("asks for one call at a time where the record says so, and tools are offered", () => {
    const dialect = createOpenAIChat({ recordsOf: "deepseek" });
    const asked = {
      model: "deepseek-flash",
      system: "",
      messages: [userText("hi")],
      tools: [{ name: "T", description: "", inputSchema: {} }],
    };
    const sent = (more: Partial<ModelRequest>): unknown => dialect.encode({ ...asked, ...more })["parallel_tool_calls"];
    assert.equal(sent({ capabilities: { parallelCalls: false } }), false);
    assert.equal(sent({}), undefined);
    assert.equal(sent({ capabilities: { parallelCalls: false }, tools: [] }), undefined);
  });

  it("sends nothing that was not asked for", () => {
    assert.deepEqual(encode({ stopSequences: [] }, { includeUsage: false }), { model: "gpt-x", messages: [], stream: true });
  });

  const fields: [what: string, request: Partial<ModelRequest>, quirks: OpenAIChatQuirks, sent: JsonObject][] = [
    ["another field for the limit", { maxOutputTokens: 5 }, { maxTokensField: "max_tokens" }, { max_tokens: 5 }],
    ["parallel calls only beside tools", {}, { parallelToolCalls: false }, {}],
    ["no schema where the server takes none", { outputSchema: {} }, { nativeSchema: false }, {}],
    ["an effort's own word", { effort: "minimal" }, { effortWords: { minimal: "none" } }, { reasoning_effort: "none" }],
    ["no effort where there is no field for it", { effort: "high" }, { effort: "none" }, {}],
    ["a small budget as low effort", { thinkingTokens: 1_024 }, {}, { reasoning_effort: "low" }],
    ["a middling budget as medium effort", { thinkingTokens: 8_192 }, {}, { reasoning_effort: "medium" }],
    ["a large budget as high effort", { thinkingTokens: 32_000 }, {}, { reasoning_effort: "high" }],
    ["an effort as an object", { effort: "high" }, { effort: "reasoning" }, { reasoning: { effort: "high" } }],
    ["a budget as it is", { thinkingTokens: 9 }, { effort: "reasoning" }, { reasoning: { max_tokens: 9 } }],
    ["thinking on", { effort: "high" }, { effort: "thinking" }, { thinking: { type: "enabled" } }],
    ["thinking off", { effort: "minimal" }, { effort: "thinking" }, { thinking: { type: "disabled" } }],
    [
      "thinking on, with a budget",
      { thinkingTokens: 9 },
      { effort: "enable_thinking" },
      { enable_thinking: true, thinking_budget: 9 },
    ],
    [
      "thinking on, for the chat template",
      { effort: "low" },
      { effort: "chat_template_kwargs" },
      { chat_template_kwargs: { enable_thinking: true } },
    ],
  ];
  for (const [what, request, quirks, sent] of fields) {
    it(`sends ${what}`, () => {
      const { model, messages, stream, stream_options, ...rest } = encode(request, quirks);
      assert.deepEqual(rest, sent);
    });
  }

  it("asks for the parallel calls the server is told to make", () => {
    const tools = [{ name: "Stop", description: "", inputSchema: { type: "object" } }];
    const { tools: sent, parallel_tool_calls } = encode({ tools }, { parallelToolCalls: false });
    assert.deepEqual(
      { sent, parallel_tool_calls },
      {
        sent: [{ type: "function", function: { name: "Stop", description: "", parameters: { type: "object", properties: {} } } }],
        parallel_tool_calls: false,
      },
    );
  });

  it("lets a dialect without native schemas say so", () => {
    assert.deepEqual([createOpenAIChat().nativeSchema, createOpenAIChat({ nativeSchema: false }).nativeSchema], [true, false]);
  });

  const schemas: [what: string, schema: JsonObject, strict: boolean][] = [
    ["closed and required all through", closed({ a: closed({ b: { type: "string" } }) }), true],
    ["with an optional property", { ...closed({ a: { type: "string" } }), required: [] }, false],
    ["with an open object inside", closed({ a: { type: "array", items: { type: "object", properties: {} } } }), false],
    ["with an open definition", { ...closed({}), $defs: { x: { type: "object" } } }, false],
    ["with alternatives that are closed", closed({ a: { anyOf: [closed({}), { type: "null" }] } }), true],
    ["with a keyword that strict mode lacks", closed({ a: { oneOf: [{ type: "string" }] } }), false],
    ["that is no object", { type: "array", items: { type: "string" } }, false],
  ];
  for (const [what, schema, strict] of schemas) {
    it(`${strict ? "enforces" : "only advises"} a schema ${what}`, () => {
      assert.deepEqual(encode({ outputSchema: schema })["response_format"], {
        type: "json_schema",
        json_schema: { name: "answer", schema, strict },
      });
    });
  }
});

describe("encoded messages", () => {
  const call = (callId: string, input: unknown = {}): AssistantPart => ({ type: "tool-call", callId, name: "Read", input });
  const wireCall = (id: string, args: string = "{}"): JsonObject => ({
    id,
    type: "function",
    function: { name: "Read", arguments: args },
  });
  const asked = (...ids: string[]): JsonObject => ({
    role: "assistant",
    content: null,
    tool_calls: ids.map((id) => wireCall(id)),
  });

  const cases: [what: string, messages: Message[], sent: unknown[], quirks?: OpenAIChatQuirks][] = [
    [
      "text and images of a user stay in order",
      [{ role: "user", content: [{ type: "text", text: "a" }, png, { type: "text", text: "b" }] }],
      [{ role: "user", content: [{ type: "text", text: "a" }, pngPart, { type: "text", text: "b" }] }],
    ],
    [
      "an image the model cannot see is told of",
      [{ role: "user", content: [{ type: "text", text: "a" }, png] }],
      [{ role: "user", content: "a\n\n(an image, image/png, that this model cannot see)" }],
      { images: false },
    ],
    ["users in a row are one message", [userText("a"), userText("b")], [{ role: "user", content: "a\n\nb" }]],
    [
      "what is empty is left out",
      [userText("  \n"), assistant([]), assistant([{ type: "text", text: " " }]), userText("x")],
      [{ role: "user", content: "x" }],
    ],
    [
      "an answer of nothing but reasoning is left out",
      [userText("a"), assistant([{ type: "reasoning", text: "hm" }]), userText("b")],
      [{ role: "user", content: "a\n\nb" }],
    ],
    [
      "parallel calls are answered one by one, in their order",
      [
        assistant([{ type: "text", text: "So:" }, call("c1", { path: "é" }), call("c2")]),
        { role: "tool", content: [result("c2", "two"), result("c1", "one")] },
      ],
      [
        { role: "assistant", content: "So:", tool_calls: [wireCall("c1", '{"path":"é"}'), wireCall("c2")] },
        { role: "tool", tool_call_id: "c1", content: "one" },
        { role: "tool", tool_call_id: "c2", content: "two" },
      ],
    ],
    [
      "a result comes before what the user said in between",
      [assistant([call("c1")]), userText("hurry"), { role: "tool", content: [result("c1", "one")] }],
      [asked("c1"), { role: "tool", tool_call_id: "c1", content: "one" }, { role: "user", content: "hurry" }],
    ],
    [
      "a call without a result is answered all the same",
      [assistant([call("c1")]), userText("go on")],
      [asked("c1"), { role: "tool", tool_call_id: "c1", content: "(no result)" }, { role: "user", content: "go on" }],
    ],
    [
      "a result without its call is left out",
      [userText("a"), { role: "tool", content: [result("c9", "lost")] }],
      [{ role: "user", content: "a" }],
    ],
    [
      "a result without output says so",
      [assistant([call("c1")]), { role: "tool", content: [result("c1", "")] }],
      [asked("c1"), { role: "tool", tool_call_id: "c1", content: "(no output)" }],
    ],
    [
      "a call whose input was broken goes back without it",
      [assistant([{ type: "tool-call", callId: "c1", name: "Read", input: {}, malformedInput: '{"pa' }])],
      [asked("c1"), { role: "tool", tool_call_id: "c1", content: "(no result)" }],
    ],
    [
      "images of results follow in one user message",
      [
        assistant([call("c1"), call("c2")]),
        { role: "tool", content: [{ ...result("c1", "1x1"), content: [{ type: "text", text: "1x1" }, png] }, result("c2", "t")] },
        userText("well?"),
      ],
      [
        asked("c1", "c2"),
        { role: "tool", tool_call_id: "c1", content: "1x1\n\n(an image, shown in the next message)" },
        { role: "tool", tool_call_id: "c2", content: "t" },
        {
          role: "user",
          content: [{ type: "text", text: "From the result of Read:" }, pngPart, { type: "text", text: "well?" }],
        },
      ],
    ],
    [
      "images of results stay where the server takes them",
      [assistant([call("c1")]), { role: "tool", content: [{ ...result("c1", ""), content: [png] }] }],
      [asked("c1"), { role: "tool", tool_call_id: "c1", content: [pngPart] }],
      { imagesInToolResults: true },
    ],
    [
      "reasoning stays here by default",
      [
        assistant([
          { type: "reasoning", text: "hm" },
          { type: "text", text: "yes" },
        ]),
      ],
      [{ role: "assistant", content: "yes" }],
    ],
    [
      "reasoning goes back where the server wants it, and beside calls even when there was none",
      [
        assistant([
          { type: "reasoning", text: "hm" },
          { type: "text", text: "yes" },
        ]),
        assistant([call("c1")]),
      ],
      [
        { role: "assistant", content: "yes", reasoning_content: "hm" },
        { ...asked("c1"), reasoning_content: "" },
        { role: "tool", tool_call_id: "c1", content: "(no result)" },
      ],
      { sendReasoning: true },
    ],
    [
      "reasoning goes back in the field the server reads",
      [assistant([{ type: "reasoning", text: "hm" }, call("c1")])],
      [
        { ...asked("c1"), reasoning: "hm" },
        { role: "tool", tool_call_id: "c1", content: "(no result)" },
      ],
      { sendReasoning: true, reasoningField: "reasoning" },
    ],
    [
      "ids are shortened to what OpenAI takes, and stay apart",
      [assistant([call(`${"x".repeat(60)}1`), call(`${"x".repeat(60)}2`)])],
      [
        asked(`${"x".repeat(27)}_434e006c2fac`, `${"x".repeat(27)}_580bb3b663ab`),
        { role: "tool", tool_call_id: `${"x".repeat(27)}_434e006c2fac`, content: "(no result)" },
        { role: "tool", tool_call_id: `${"x".repeat(27)}_580bb3b663ab`, content: "(no result)" },
      ],
    ],
    [
      "ids become nine characters where the server wants that",
      [assistant([call("call_1"), call("abcDEF123")])],
      [
        asked("74196fe72", "abcDEF123"),
        { role: "tool", tool_call_id: "74196fe72", content: "(no result)" },
        { role: "tool", tool_call_id: "abcDEF123", content: "(no result)" },
      ],
      { nineCharacterCallIds: true },
    ],
  ];
  for (const [what, messages, sent, quirks] of cases) {
    it(what, () => assert.deepEqual(encode({ messages }, quirks)["messages"], sent));
  }

  it("leads with the system prompt, in the role the server knows", () => {
    const { messages } = encode({ system: "s", messages: [userText("a")] }, { systemRole: "developer" });
    assert.deepEqual(messages, [
      { role: "developer", content: "s" },
      { role: "user", content: "a" },
    ]);
  });
});

describe("decode", () => {
  it("streams text and ends with the whole message", () => {
    const events = decode([
      chunk({ role: "assistant", content: "" }),
      chunk({ content: "Grü\u2028" }),
      chunk({ content: "ße" }),
      chunk({}, "stop"),
      { ...head, choices: [], usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 } },
      "[DONE]",
      "garbage after the end",
    ]);
    assert.deepEqual(events, [
      { type: "text.delta", text: "Grü\u2028" },
      { type: "text.delta", text: "ße" },
      {
        type: "finished",
        message: {
          role: "assistant",
          content: [{ type: "text", text: "Grü\u2028ße" }],
          model: { provider: "test", id: "gpt-x-0613" },
          finish: "stop",
          stopReason: "stop",
          usage: { ...noUsage, inputTokens: 9, outputTokens: 3 },
          responseId: "chatcmpl-7",
        },
      },
    ]);
  });

  const contents: [what: string, payloads: unknown[], content: unknown[], events?: unknown[]][] = [
    ["reasoning in reasoning_content", [chunk({ reasoning_content: "hm" })], [{ type: "reasoning", text: "hm" }]],
    ["reasoning in reasoning", [chunk({ reasoning: "hm" })], [{ type: "reasoning", text: "hm" }]],
    [
      "reasoning in both fields only once",
      [chunk({ reasoning: "x", reasoning_content: "x" })],
      [{ type: "reasoning", text: "x" }],
    ],
    [
      "reasoning and text in parts",
      [
        chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }] }),
        chunk({ content: [{ type: "text", text: "yes" }] }),
      ],
      [
        { type: "reasoning", text: "hm" },
        { type: "text", text: "yes" },
      ],
    ],
    [
      "a call in pieces",
      [
        chunk({ tool_calls: [{ index: 0, id: "c1", type: "function", function: { name: "Read", arguments: "" } }] }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: '{"a"' } }] }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: ":1}" } }] }),
      ],
      [toolCall("c1", { a: 1 })],
      [
        { type: "tool-input.delta", callId: "c1", name: "Read", json: '{"a"' },
        { type: "tool-input.delta", callId: "c1", name: "Read", json: ":1}" },
      ],
    ],
    [
      "a whole call in one piece",
      [chunk({ tool_calls: [{ index: 0, id: "c1", function: { name: "Read", arguments: '{"a":1}' } }] })],
      [toolCall("c1", { a: 1 })],
      [{ type: "tool-input.delta", callId: "c1", name: "Read", json: '{"a":1}' }],
    ],
    [
      "parallel calls whose pieces are mixed",
      [
        chunk({ tool_calls: [piece(0, "c1", "Read"), piece(1, "c2", "Read")] }),
        chunk({ tool_calls: [{ index: 1, function: { arguments: '{"b":' } }] }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: '{"a":1}' } }] }),
        chunk({ tool_calls: [{ index: 1, function: { arguments: "2}" } }] }),
      ],
      [toolCall("c1", { a: 1 }), toolCall("c2", { b: 2 })],
    ],
    [
      "parallel calls that all have index 0",
      [chunk({ tool_calls: [piece(0, "c1", "Read", '{"a":1}'), piece(0, "c2", "Read", '{"a":2}')] })],
      [toolCall("c1", { a: 1 }), toolCall("c2", { a: 2 })],
    ],
    [
      "calls without an index",
      [
        chunk({ tool_calls: [piece(undefined, "c1", "Read")] }),
        chunk({ tool_calls: [{ function: { arguments: '{"a":1}' } }] }),
        chunk({ tool_calls: [piece(undefined, "c2", "Read", '{"a":')] }),
        chunk({ tool_calls: [{ id: "c2", function: { arguments: "2}" } }] }),
      ],
      [toolCall("c1", { a: 1 }), toolCall("c2", { a: 2 })],
    ],
    [
      "calls with neither index nor id",
      [chunk({ tool_calls: [piece(undefined, "", "Read", '{"a":1}'), piece(undefined, "", "Read", '{"a":2}')] })],
      [toolCall("call_chatcmpl-7_1", { a: 1 }), toolCall("call_chatcmpl-7_2", { a: 2 })],
    ],
    [
      "ids that are given twice, in one answer or in the conversation",
      [chunk({ tool_calls: [piece(0, "same", "Read"), piece(1, "same", "Read"), piece(2, "old", "Read")] })],
      [toolCall("same"), toolCall("call_chatcmpl-7_2"), toolCall("call_chatcmpl-7_3")],
    ],
    [
      "an id and a name that are repeated in every piece",
      [
        chunk({ tool_calls: [piece(0, "c1", "Read", '{"a"')] }),
        chunk({ tool_calls: [piece(0, "c1", "Read", ":1}")] }),
        chunk({ tool_calls: [piece(0, "c1", "Read", "")] }),
      ],
      [toolCall("c1", { a: 1 })],
    ],
    [
      "an id that changes from piece to piece",
      [
        chunk({ tool_calls: [piece(0, "c1", "Read", '{"a"')] }),
        chunk({ tool_calls: [{ index: 0, id: "c9", function: { arguments: ":1}" } }] }),
      ],
      [toolCall("c1", { a: 1 })],
    ],
    [
      "a name that comes after the first arguments",
      [
        chunk({ tool_calls: [{ index: 0, id: "c1", function: { arguments: '{"a"' } }] }),
        chunk({ tool_calls: [{ index: 0, function: { name: "Read", arguments: ":1}" } }] }),
      ],
      [toolCall("c1", { a: 1 })],
      [{ type: "tool-input.delta", callId: "c1", name: "Read", json: '{"a":1}' }],
    ],
    [
      "arguments that are an object instead of a text",
      [chunk({ tool_calls: [{ index: 0, id: "c1", function: { name: "Read", arguments: { a: 1 } } }] })],
      [toolCall("c1", { a: 1 })],
    ],
    [
      "arguments that were encoded twice",
      [chunk({ tool_calls: [piece(0, "c1", "Read", JSON.stringify('{"a":1}'))] })],
      [toolCall("c1", { a: 1 })],
    ],
    ["no arguments at all", [chunk({ tool_calls: [piece(0, "c1", "Read")] })], [toolCall("c1")]],
    ["null for no arguments", [chunk({ tool_calls: [piece(0, "c1", "Read", "null")] })], [toolCall("c1")]],
    [
      "arguments that are no JSON",
      [chunk({ tool_calls: [piece(0, "c1", "Read", "path=a")] })],
      [{ ...toolCall("c1"), malformedInput: "path=a" }],
    ],
    [
      "arguments that are no object",
      [chunk({ tool_calls: [piece(0, "c1", "Read", "[1]")] })],
      [{ ...toolCall("c1"), malformedInput: "[1]" }],
    ],
    [
      "a call that is never named as none",
      [chunk({ tool_calls: [piece(0, "c1", "", "{}")] }), chunk({ content: "x" })],
      [said("x")],
    ],
    [
      "the old form of a call",
      [chunk({ function_call: { name: "Read", arguments: '{"a"' } }), chunk({ function_call: { arguments: ":1}" } })],
      [toolCall("call_chatcmpl-7_1", { a: 1 })],
    ],
    [
      "what a server wants back with a call",
      [chunk({ tool_calls: [{ ...piece(0, "c1", "Read"), extra_content: { google: { thought_signature: "s" } } }] })],
      [
        {
          ...toolCall("c1"),
          providerMetadata: { "openai-chat": { extra_content: { google: { thought_signature: "s" } } } },
        },
      ],
    ],
    [
      "a whole message instead of deltas",
      [{ ...head, choices: [{ index: 0, message: { role: "assistant", content: "all" } }] }],
      [said("all")],
    ],
    [
      "the whole message after its deltas only once",
      [chunk({ content: "all" }), { ...head, choices: [{ index: 0, message: { content: "all" } }] }],
      [said("all")],
    ],
    [
      "only the first of several choices",
      [
        {
          ...head,
          choices: [
            { index: 1, delta: { content: "no" } },
            { index: 0, delta: { content: "yes" } },
          ],
        },
      ],
      [said("yes")],
    ],
    [
      "nothing in chunks without a choice, without usage, or of another kind",
      [
        { ...head, choices: [], prompt_filter_results: [] },
        { ...head, choices: [{ index: 0, delta: { content: null, tool_calls: null }, finish_reason: null }], usage: null },
        { ...head, choices: null, error: null },
        { type: "ping" },
        " ",
        chunk({ content: "x", invented: { later: true } }),
      ],
      [said("x")],
    ],
  ];
  for (const [what, payloads, content, expected] of contents) {
    it(`reads ${what}`, () => {
      const events = decode([...payloads, chunk({}, "stop"), "[DONE]"]);
      assert.deepEqual(messageOf(events).content, content);
      if (expected) assert.deepEqual(events.slice(0, -1), expected);
    });
  }

  it("hands reasoning that a router signed back as it came", () => {
    const dialect = createOpenAIChat({ sendReasoning: true, reasoningField: "reasoning" });
    const events = decode([
      chunk({ reasoning: "let ", reasoning_details: [{ type: "reasoning.text", text: "let ", index: 0, format: "f" }] }),
      chunk({ reasoning: "me", reasoning_details: [{ type: "reasoning.text", text: "me", index: 0, signature: "s" }] }),
      chunk({ reasoning_details: [{ type: "reasoning.encrypted", data: "xyz", index: 0 }] }),
      chunk({ content: "yes" }, "stop"),
      "[DONE]",
    ]);
    assert.deepEqual(dialect.encode({ ...bare, messages: [messageOf(events)] })["messages"], [
      {
        role: "assistant",
        content: "yes",
        reasoning_details: [
          { type: "reasoning.text", text: "let me", index: 0, format: "f", signature: "s" },
          { type: "reasoning.encrypted", data: "xyz", index: 0 },
        ],
      },
    ]);
  });

  it("hands back what a server wants back with a call", () => {
    const extra_content = { google: { thought_signature: "s" } };
    const events = decode([chunk({ tool_calls: [{ ...piece(0, "c1", "Read"), extra_content }] }, "tool_calls"), "[DONE]"]);
    assert.deepEqual(encode({ messages: [messageOf(events)] })["messages"], [
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: { name: "Read", arguments: "{}" }, extra_content }],
      },
      { role: "tool", tool_call_id: "c1", content: "(no result)" },
    ]);
  });

  it("gives ids of its own when the server names neither the call nor the answer", () => {
    const events = decode([
      { choices: [{ delta: { tool_calls: [{ function: { name: "Read" } }] }, finish_reason: "tool_calls" }] },
      "[DONE]",
    ]);
    assert.deepEqual(messageOf(events).content, [toolCall("call_1_1")]);
  });
});

describe("the end of an answer", () => {
  const call = { tool_calls: [piece(0, "c1", "Read")] };
  const finishes: [reason: string, delta: JsonObject, finish: string][] = [
    ["stop", { content: "x" }, "stop"],
    ["length", { content: "x" }, "length"],
    ["tool_calls", call, "tool-calls"],
    ["function_call", { function_call: { name: "Read", arguments: "{}" } }, "tool-calls"],
    ["content_filter", { content: "x" }, "content-filter"],
    ["model_context_window_exceeded", { content: "x" }, "context-overflow"],
    ["unheard_of", { content: "x" }, "other"],
    ["stop", call, "tool-calls"],
    ["unheard_of", call, "tool-calls"],
    ["length", call, "length"],
    ["tool_calls", { content: "x" }, "stop"],
    ["stop", { refusal: "I cannot." }, "refusal"],
  ];
  for (const [reason, delta, finish] of finishes) {
    it(`is ${finish} after ${reason} with ${Object.keys(delta)[0]}`, () => {
      const message = messageOf(decode([chunk(delta), chunk({}, reason), "[DONE]"]));
      assert.deepEqual([message.finish, message.stopReason], [finish, reason]);
    });
  }

  it("keeps the words of a refusal", () => {
    const events = decode([chunk({ refusal: "I " }), chunk({ refusal: "cannot." }), chunk({}, "stop"), "[DONE]"]);
    assert.deepEqual([events[0], messageOf(events).content], [{ type: "text.delta", text: "I " }, [said("I cannot.")]]);
  });

  it("names the stop sequence where the server tells it", () => {
    const payload = { ...head, choices: [{ index: 0, delta: {}, finish_reason: "stop", stop_reason: "END" }] };
    const { finish, stopSequence } = messageOf(decode([chunk({ content: "x" }), payload, "[DONE]"], { stopSequences: ["END"] }));
    assert.deepEqual({ finish, stopSequence }, { finish: "stop-sequence", stopSequence: "END" });
  });

  it("refuses a call the output limit fell into, and keeps those before it", () => {
    const { content } = messageOf(
      decode([chunk({ tool_calls: [piece(0, "c1", "Read"), piece(1, "c2", "Read", '{"a')] }), chunk({}, "length"), "[DONE]"]),
    );
    assert.deepEqual(content, [toolCall("c1"), { ...toolCall("c2"), malformedInput: '{"a' }]);
  });

  it("refuses a call of which the limit left only the name", () => {
    const { content } = messageOf(decode([chunk(call, "length"), "[DONE]"]));
    assert.deepEqual(content, [{ ...toolCall("c1"), malformedInput: "" }]);
  });

  it("comes with the body's end when the model was done, also without [DONE]", () => {
    const decoder = createOpenAIChat().decoder(bare, "test");
    assert.deepEqual(feed(decoder, [chunk({ content: "x" }), chunk({}, "stop")]), [{ type: "text.delta", text: "x" }]);
    feed(decoder, [{ choices: [], usage: { prompt_tokens: 2, completion_tokens: 1 } }]);
    const events = decoder.end?.() ?? [];
    assert.deepEqual(messageOf(events).usage, { ...noUsage, inputTokens: 2, outputTokens: 1 });
    assert.deepEqual(decoder.end?.(), [], "only once");
  });

  it("does not come with the body's end before the model was done", () => {
    const decoder = createOpenAIChat().decoder(bare, "test");
    feed(decoder, [chunk({ content: "x" })]);
    assert.deepEqual(decoder.end?.(), []);
  });

  it("comes with [DONE] when the server never gives a reason", () => {
    assert.equal(messageOf(decode([chunk(call), "[DONE]"])).finish, "tool-calls");
    assert.equal(messageOf(decode([chunk({ content: "x" }), "[DONE]"])).finish, "other");
  });

  const cut: [what: string, payloads: unknown[]][] = [
    ["nothing came", []],
    ["a call is cut", [chunk({ tool_calls: [piece(0, "c1", "Read", '{"a')] })]],
  ];
  for (const [what, payloads] of cut) {
    it(`is a failure to try again when [DONE] comes without a reason and ${what}`, () => {
      assert.throws(() => decode([...payloads, "[DONE]"]), {
        code: "provider-unavailable",
        retryable: true,
        message: "test ended its answer before the answer was whole",
      });
    });
  }
});

describe("usage", () => {
  const cases: [what: string, payload: JsonObject, usage: object][] = [
    [
      "with its details",
      {
        usage: {
          prompt_tokens: 100,
          completion_tokens: 20,
          total_tokens: 120,
          prompt_tokens_details: { cached_tokens: 80, cache_write_tokens: 5 },
          completion_tokens_details: { reasoning_tokens: 7 },
        },
      },
      { inputTokens: 100, outputTokens: 20, cacheReadTokens: 80, cacheWriteTokens: 5, reasoningTokens: 7 },
    ],
    ["that is missing", {}, noUsage],
    ["that is null", { usage: null }, noUsage],
    [
      "with null details",
      { usage: { prompt_tokens: 1, completion_tokens: 2, prompt_tokens_details: null } },
      { ...noUsage, inputTokens: 1, outputTokens: 2 },
    ],
    [
      "that leaves reasoning out of the completion",
      {
        usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 42, completion_tokens_details: { reasoning_tokens: 30 } },
      },
      { ...noUsage, inputTokens: 10, outputTokens: 32, reasoningTokens: 30 },
    ],
    [
      "with hits of the cache beside the prompt",
      { usage: { prompt_tokens: 9, completion_tokens: 1, prompt_cache_hit_tokens: 4, prompt_cache_miss_tokens: 5 } },
      { ...noUsage, inputTokens: 9, outputTokens: 1, cacheReadTokens: 4 },
    ],
    [
      "under Groq's name",
      { x_groq: { usage: { prompt_tokens: 3, completion_tokens: 4 } } },
      { ...noUsage, inputTokens: 3, outputTokens: 4 },
    ],
    [
      "inside the choice",
      { choices: [{ index: 0, delta: {}, usage: { prompt_tokens: 3, completion_tokens: 4 } }] },
      { ...noUsage, inputTokens: 3, outputTokens: 4 },
    ],
  ];
  for (const [what, payload, usage] of cases) {
    it(`reads usage ${what}`, () => {
      const running = { ...chunk({ content: "x" }), usage: { prompt_tokens: 0, completion_tokens: 0 } };
      assert.deepEqual(messageOf(decode([running, chunk({}, "stop"), { ...head, ...payload }, "[DONE]"])).usage, usage);
    });
  }
});

describe("errors inside a stream", () => {
  const cases: [what: string, payload: unknown, code: string, retryable: boolean][] = [
    ["a server error", { error: { message: "m", type: "server_error", code: null } }, "provider-unavailable", true],
    ["a rate limit", { error: { message: "m", type: "tokens", code: "rate_limit_exceeded" } }, "provider-rate-limit", true],
    ["an exhausted account", { error: { message: "m", code: "insufficient_quota" } }, "provider-auth", false],
    ["a refused key", { error: { type: "invalid_request_error", code: "invalid_api_key" } }, "provider-auth", false],
    ["a conversation too long", { error: { message: "m", code: "context_length_exceeded" } }, "context-overflow", false],
    [
      "a conversation too long, in words",
      { error: { message: "This model's maximum context length is 8 tokens", type: "BadRequestError", code: 400 } },
      "context-overflow",
      false,
    ],
    ["a bad request", { error: { message: "m", type: "invalid_request_error" } }, "provider-bad-request", false],
    ["an overload", { error: { message: "m", type: "server_error", code: "overloaded" } }, "provider-overloaded", true],
    ["a timeout", { error: { message: "m", type: "timeout" } }, "provider-timeout", true],
    ["a status for a code", { error: { message: "m", code: 429 } }, "provider-rate-limit", true],
    ["a status as text", { error: { message: "m", code: "502" } }, "provider-unavailable", true],
    ["only words", { error: "out of memory" }, "provider-unavailable", true],
    [
      "an error without a wrapper",
      { object: "error", message: "m", type: "BadRequestError", code: 400 },
      "provider-bad-request",
      false,
    ],
    ["nothing at all", { error: {} }, "provider-unavailable", true],
    ["an end by error", chunk({}, "error"), "provider-unavailable", true],
    ["an end for lack of machines", chunk({}, "insufficient_system_resource"), "provider-overloaded", true],
    ["no JSON", "<html>", "provider-protocol", true],
    ["JSON that is no object", "[1]", "provider-protocol", true],
  ];
  for (const [what, payload, code, retryable] of cases) {
    it(`${what} is ${code}`, () => {
      assert.throws(
        () => decode([chunk({ content: "x" }), payload]),
        (error) => error instanceof RuntimeError && error.code === code && error.retryable === retryable,
      );
    });
  }

  it("are told in the server's words, without keys", () => {
    assert.throws(() => decode([{ error: { message: "no sk-abcdefghijk", type: "server_error" } }]), {
      message: "test broke off its answer with server_error: no [redacted]",
    });
  });

  it("may come as an event of their own", () => {
    const decoder = createOpenAIChat().decoder(bare, "test");
    assert.throws(() => decoder.push({ event: "error", data: '{"message":"m","code":503}' }), { code: "provider-unavailable" });
  });
});

describe("a model whose server does not take its text apart", () => {
  const tools = [{ name: "Read", description: "", inputSchema: { type: "object", properties: { path: { type: "string" } } } }];
  const read = (text: string): ModelEvent[] =>
    decode(
      [...[...text].map((char) => chunk({ content: char })), chunk({}, "stop"), "[DONE]"],
      { tools },
      { projectThinkTags: true },
    );

  it("has its reasoning and calls found in the text, however it is cut", () => {
    const events = read(
      '<think>\nhm\n</think>\n\nLet me see.\n<tool_call>\n{"name": "Read", "arguments": {"path": "a"}}\n</tool_call>',
    );
    const { content, finish } = messageOf(events);
    assert.deepEqual(
      { content, finish },
      {
        content: [{ type: "reasoning", text: "hm" }, said("Let me see.\n"), toolCall("call_chatcmpl-7_1", { path: "a" })],
        finish: "tool-calls",
      },
    );
    const joined = (type: string): string =>
      events.map((event) => (event.type === type && "text" in event ? event.text : "")).join("");
    assert.deepEqual([joined("reasoning.delta"), joined("text.delta")], ["hm", "Let me see.\n"]);
    assert.deepEqual(
      events.filter(({ type }) => type === "tool-input.delta"),
      [{ type: "tool-input.delta", callId: "call_chatcmpl-7_1", name: "Read", json: '{"path":"a"}' }],
    );
  });

  it("has reasoning whose opening tag was in the prompt moved where it belongs", () => {
    assert.deepEqual(messageOf(read("so it is 391.</think>391")).content, [
      { type: "reasoning", text: "so it is 391." },
      said("391"),
    ]);
  });

  it("hears of a call that nobody can read", () => {
    const { content, finish } = messageOf(read('<tool_call>{"name": "Read", "arguments": {"path": </tool_call>'));
    assert.deepEqual(
      [content.map((part) => part.type === "tool-call" && part.malformedInput), finish],
      [['{"name": "Read", "arguments": {"path":'], "tool-calls"],
    );
  });

  it("keeps its tags as text unless the quirk is on", () => {
    assert.deepEqual(messageOf(decode([chunk({ content: "<think>a</think>" }, "stop"), "[DONE]"])).content, [
      said("<think>a</think>"),
    ]);
  });
});

function chunk(delta: JsonObject, finish_reason: string | null = null): JsonObject {
  return { ...head, choices: [{ index: 0, delta, finish_reason }] };
}

function piece(index: number | undefined, id: string, name: string, args: string = ""): JsonObject {
  return { ...(index !== undefined && { index }), ...(id && { id }), type: "function", function: { name, arguments: args } };
}

function toolCall(callId: string, input: JsonObject = {}): AssistantPart {
  return { type: "tool-call", callId, name: "Read", input };
}

function said(text: string): AssistantPart {
  return { type: "text", text };
}

function result(callId: string, text: string): ToolResultPart {
  return { type: "tool-result", callId, name: "Read", content: text ? [{ type: "text", text }] : [], isError: false };
}

function assistant(content: AssistantPart[]): AssistantMessage {
  return { role: "assistant", content, model: { provider: "p", id: "m" }, finish: "stop", usage: noUsage };
}

function closed(properties: JsonObject): JsonObject {
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}

function encode(request: Partial<ModelRequest>, quirks: OpenAIChatQuirks = {}): JsonObject {
  return createOpenAIChat(quirks).encode({ ...bare, ...request });
}

/** The conversation before has a call with the id `old`. */
function decode(payloads: unknown[], request: Partial<ModelRequest> = {}, quirks: OpenAIChatQuirks = {}): ModelEvent[] {
  return feed(
    createOpenAIChat(quirks).decoder({ ...bare, messages: [assistant([toolCall("old")])], ...request }, "test"),
    payloads,
  );
}

function feed(decoder: Decoder, payloads: unknown[]): ModelEvent[] {
  return payloads.flatMap((payload) =>
    decoder.push({ event: undefined, data: typeof payload === "string" ? payload : JSON.stringify(payload) }),
  );
}

function messageOf(events: readonly ModelEvent[]): AssistantMessage {
  const finished = events.filter((event) => event.type === "finished");
  assert.equal(finished.length, 1, "finished exactly once");
  const last = events.at(-1);
  assert.ok(last?.type === "finished");
  return last.message;
}
