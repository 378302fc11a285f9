import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AssistantMessage, AssistantPart, JsonObject, JsonValue, Message, ToolResultPart } from "../../protocol/content.ts";
import { noUsage, userText } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { ModelEvent, ModelRequest } from "../model.ts";
import { openaiResponses } from "./openai-responses.ts";

const id = "openai-responses";
const request: ModelRequest = { model: "gpt-x", system: "", messages: [userText("hi")], tools: [] };
const reasoning = { id: "rs_1", type: "reasoning", summary: [{ type: "summary_text", text: "hmm" }], encrypted_content: "gAAA" };

const picture = { type: "image" as const, mediaType: "image/png", data: "AAAA" };
const wirePicture = { type: "input_image", image_url: "data:image/png;base64,AAAA", detail: "auto" };

describe("encode", () => {
  it("writes a whole request", () => {
    const encoded = openaiResponses.encode({
      ...request,
      system: "be brief",
      tools: [
        { name: "Read", description: "reads", inputSchema: { type: "object", properties: { path: { type: "string" } } } },
        { name: "Now", description: "tells the time", inputSchema: { type: "object" } },
      ],
      temperature: 0.5,
      maxOutputTokens: 500,
      outputSchema: { type: "object", properties: {} },
    });
    assert.deepEqual(encoded, {
      model: "gpt-x",
      instructions: "be brief",
      input: [{ type: "message", role: "user", content: [{ type: "input_text", text: "hi" }] }],
      tools: [
        {
          type: "function",
          name: "Read",
          description: "reads",
          parameters: { type: "object", properties: { path: { type: "string" } } },
          strict: false,
        },
        {
          type: "function",
          name: "Now",
          description: "tells the time",
          parameters: { type: "object", properties: {} },
          strict: false,
        },
      ],
      max_output_tokens: 500,
      temperature: 0.5,
      text: { format: { type: "json_schema", name: "answer", schema: { type: "object", properties: {} }, strict: false } },
      store: false,
      include: ["reasoning.encrypted_content"],
      stream: true,
    });
  });

  it("asks for one call at a time where the record says so, and tools are offered", () => {
    const asked = { ...request, model: "gpt-5.5", tools: [{ name: "T", description: "", inputSchema: {} }] };
    const sent = (more: Partial<ModelRequest>): unknown => openaiResponses.encode({ ...asked, ...more })["parallel_tool_calls"];
    assert.equal(sent({ capabilities: { parallelCalls: false } }), false);
    assert.equal(sent({}), undefined);
    assert.equal(sent({ capabilities: { parallelCalls: false }, tools: [] }), undefined);
  });

  it("sends reasoning back to the model that made it, and asks for it where a model reasons", () => {
    const answer = (model: string): Message => ({
      role: "assistant",
      content: [
        { type: "reasoning", text: "hmm", providerMetadata: { [id]: reasoning } },
        { type: "text", text: "yes" },
      ],
      model: { provider: "openai", id: model },
      finish: "stop",
      usage: noUsage,
    });
    const rows: [asked: string, answered: string, isSent: boolean, isAskedFor: boolean][] = [
      ["gpt-5.1", "gpt-6.1-sol", false, true],
      ["gpt-6.1-sol", "gpt-6.1-sol", true, true],
      ["gpt-5.1", "gpt-5.1-2025-11-13", true, true],
      ["my-deployment", "gpt-5.1", true, true],
      ["gpt-5.1", "my-deployment", true, true],
      ["gpt-4.1", "gpt-5.1", false, false],
      ["gpt-4o-2024-08-06", "my-deployment", false, false],
    ];
    for (const [model, answered, isSent, isAskedFor] of rows) {
      const body = openaiResponses.encode({ ...request, model, messages: [userText("a"), answer(answered), userText("b")] });
      const types = (body["input"] as JsonObject[]).map(({ type }) => type);
      const expected = isSent ? ["message", "reasoning", "message", "message"] : ["message", "message", "message"];
      assert.deepEqual([types, "include" in body], [expected, isAskedFor], `${model} after ${answered}`);
    }
  });

  it("leaves out what was not asked for", () => {
    assert.deepEqual(Object.keys(openaiResponses.encode({ ...request, system: " ", thinkingTokens: 0 })), [
      "model",
      "input",
      "store",
      "include",
      "stream",
    ]);
  });

  const settings: [what: string, asked: Partial<ModelRequest>, expected: JsonObject][] = [
    ["effort", { effort: "minimal" }, { reasoning: { effort: "minimal", summary: "auto" } }],
    ["few tokens to think with", { thinkingTokens: 1_024 }, { reasoning: { effort: "low", summary: "auto" } }],
    ["some tokens to think with", { thinkingTokens: 16_000 }, { reasoning: { effort: "medium", summary: "auto" } }],
    ["many tokens to think with", { thinkingTokens: 32_000 }, { reasoning: { effort: "high", summary: "auto" } }],
    ["effort before tokens", { effort: "low", thinkingTokens: 32_000 }, { reasoning: { effort: "low", summary: "auto" } }],
    ["no temperature while reasoning", { effort: "high", temperature: 1 }, { reasoning: { effort: "high", summary: "auto" } }],
    ["no limit below the smallest", { maxOutputTokens: 1 }, { max_output_tokens: 16 }],
    ["options that replace", { temperature: 1, options: { temperature: 0, top_p: 0.1 } }, { temperature: 0, top_p: 0.1 }],
    [
      "options that add to an object",
      { effort: "low", outputSchema: {}, options: { reasoning: { summary: null }, text: { verbosity: "low" } } },
      {
        reasoning: { effort: "low", summary: null },
        text: { format: { type: "json_schema", name: "answer", schema: {}, strict: false }, verbosity: "low" },
      },
    ],
    [
      "options that add to a list",
      { tools: [{ name: "T", description: "", inputSchema: {} }], options: { tools: [{ type: "web_search" }] } },
      {
        tools: [
          { type: "function", name: "T", description: "", parameters: { type: "object", properties: {} }, strict: false },
          { type: "web_search" },
        ],
      },
    ],
    ["options that take away", { options: { include: null, store: true } }, { include: null, store: true }],
    ["a stream whatever the options say", { options: { stream: false } }, {}],
  ];
  for (const [what, asked, expected] of settings) {
    it(`sends ${what}`, () => {
      const base = openaiResponses.encode(request);
      assert.deepEqual(openaiResponses.encode({ ...request, ...asked }), { ...base, ...expected });
    });
  }

  const assistantText = (text: string): JsonObject => ({
    type: "message",
    role: "assistant",
    content: [{ type: "output_text", text, annotations: [] }],
  });
  const call: AssistantPart = { type: "tool-call", callId: "c1", name: "Read", input: { path: "x" } };
  const wireCall = { type: "function_call", call_id: "c1", name: "Read", arguments: '{"path":"x"}' };
  const thought: AssistantPart = { type: "reasoning", text: "hmm", providerMetadata: { [id]: reasoning } };
  const conversations: [what: string, messages: Message[], expected: JsonObject[]][] = [
    [
      "words and pictures of the user",
      [{ role: "user", content: [{ type: "text", text: "what is this?" }, { type: "text", text: " " }, picture] }],
      [{ type: "message", role: "user", content: [{ type: "input_text", text: "what is this?" }, wirePicture] }],
    ],
    ["nothing for a message without content", [userText(" "), assistant([{ type: "text", text: "" }])], []],
    [
      "the items of an answer in their order",
      [assistant([thought, { type: "text", text: "I look" }, call])],
      [reasoning, assistantText("I look"), wireCall],
    ],
    [
      "results as text, and as a list only with pictures",
      [
        {
          role: "tool",
          content: [
            result("c1", [
              { type: "text", text: "one" },
              { type: "text", text: "two" },
            ]),
            result("c2", []),
            result("c3", [{ type: "text", text: "see" }, picture]),
            result("c4", [{ type: "image", mediaType: "application/pdf", data: "AAAA" }]),
          ],
        },
      ],
      [
        { type: "function_call_output", call_id: "c1", output: "one\ntwo" },
        { type: "function_call_output", call_id: "c2", output: "(no output)" },
        { type: "function_call_output", call_id: "c3", output: [{ type: "input_text", text: "see" }, wirePicture] },
        {
          ...{ type: "function_call_output", call_id: "c4" },
          output: [{ type: "input_file", filename: "document.pdf", file_data: "data:application/pdf;base64,AAAA" }],
        },
      ],
    ],
    [
      "empty arguments for a call that was malformed",
      [assistant([{ type: "tool-call", callId: "c1", name: "Read", input: {}, malformedInput: '{"pa' }])],
      [{ ...wireCall, arguments: "{}" }],
    ],
    [
      "no reasoning of other wires, none that is only a reference, and none that led to nothing",
      [
        assistant([
          { type: "reasoning", text: "no metadata" },
          { type: "reasoning", text: "other", providerMetadata: { "anthropic-messages": { signature: "s" } } },
          { type: "reasoning", text: "", providerMetadata: { [id]: { id: "rs_2", type: "reasoning", summary: [] } } },
          call,
          thought,
        ]),
        userText("go on"),
      ],
      [wireCall, { type: "message", role: "user", content: [{ type: "input_text", text: "go on" }] }],
    ],
    [
      "open reasoning, which needs no key",
      [
        assistant([
          { type: "reasoning", text: "o", providerMetadata: { [id]: { id: "r", type: "reasoning", content: [{ text: "o" }] } } },
          call,
        ]),
      ],
      [{ id: "r", type: "reasoning", content: [{ text: "o" }] }, wireCall],
    ],
    [
      "items of server tools as they came, those of other wires not at all",
      [
        assistant([
          { type: "opaque", dialect: id, value: { type: "web_search_call", id: "ws_1", status: "completed" } },
          { type: "opaque", dialect: "anthropic-messages", value: { type: "redacted_thinking", data: "x" } },
          { type: "text", text: "found" },
        ]),
      ],
      [{ type: "web_search_call", id: "ws_1", status: "completed" }, assistantText("found")],
    ],
  ];
  for (const [what, messages, expected] of conversations) {
    it(`sends ${what}`, () => assert.deepEqual(inputOf(messages), expected));
  }

  it("shortens ids the API would refuse, the same way for the call and its result", () => {
    const ids = ["x".repeat(65), "gemini:call/1", "call_1", "x".repeat(64)];
    const items = inputOf([
      assistant(ids.map((callId) => ({ type: "tool-call", callId, name: "T", input: {} }))),
      { role: "tool", content: ids.map((callId) => result(callId, [])) },
    ]);
    const sent = items.map((item) => String(item["call_id"]));
    assert.deepEqual(sent.slice(0, 4), sent.slice(4));
    assert.deepEqual(sent.slice(2, 4), ids.slice(2));
    assert.equal(new Set(sent).size, 4);
    for (const callId of sent) assert.match(callId, /^[\w-]{1,64}$/);
  });

  it("leaves the messages it was given alone, and sends the same bytes for the same messages", () => {
    const messages = [userText("q"), assistant([thought, call]), { role: "tool" as const, content: [result("c1", [picture])] }];
    const before = structuredClone(messages);
    const first = JSON.stringify(inputOf(messages));
    assert.deepEqual(messages, before);
    assert.equal(JSON.stringify(inputOf(before)), first);
  });
});

describe("decode", () => {
  it("streams reasoning, text and parallel calls into one message", () => {
    const { events, message } = decode([
      created(),
      { type: "response.in_progress", response: { id: "resp_1" } },
      added(0, { id: "rs_1", type: "reasoning", summary: [] }),
      { type: "response.reasoning_summary_part.added", item_id: "rs_1", output_index: 0, summary_index: 0, part: {} },
      { type: "response.reasoning_summary_text.delta", item_id: "rs_1", output_index: 0, summary_index: 0, delta: "h" },
      { type: "response.reasoning_summary_text.delta", item_id: "rs_1", output_index: 0, summary_index: 0, delta: "mm" },
      { type: "response.reasoning_summary_text.done", item_id: "rs_1", output_index: 0, summary_index: 0, text: "hmm" },
      done(0, reasoning),
      added(1, { id: "msg_1", type: "message", role: "assistant", status: "in_progress", content: [] }),
      { type: "response.content_part.added", item_id: "msg_1", output_index: 1, content_index: 0, part: { type: "output_text" } },
      { type: "response.output_text.delta", item_id: "msg_1", output_index: 1, content_index: 0, delta: "Hel" },
      { type: "response.output_text.annotation.added", item_id: "msg_1", output_index: 1, content_index: 0, annotation: {} },
      { type: "response.output_text.delta", item_id: "msg_1", output_index: 1, content_index: 0, delta: "lo" },
      { type: "response.output_text.done", item_id: "msg_1", output_index: 1, content_index: 0, text: "Hello" },
      done(1, messageItem("Hello")),
      added(2, { id: "fc_1", type: "function_call", call_id: "c1", name: "Read", arguments: "" }),
      added(3, { id: "fc_2", type: "function_call", call_id: "c2", name: "Write", arguments: "" }),
      { type: "response.function_call_arguments.delta", item_id: "fc_1", output_index: 2, delta: '{"path":' },
      { type: "response.function_call_arguments.delta", item_id: "fc_2", output_index: 3, delta: '{"a":1}' },
      { type: "response.function_call_arguments.delta", item_id: "fc_1", output_index: 2, delta: '"x"}' },
      { type: "response.function_call_arguments.done", item_id: "fc_2", output_index: 3, arguments: '{"a":1}' },
      { type: "response.function_call_arguments.done", item_id: "fc_1", output_index: 2, arguments: '{"path":"x"}' },
      done(2, callItem("c1", '{"path":"x"}', "fc_1")),
      done(3, { ...callItem("c2", '{"a":1}', "fc_2"), name: "Write" }),
      completed({
        id: "resp_1",
        model: "gpt-x-2026",
        output: [
          reasoning,
          messageItem("Hello"),
          callItem("c1", '{"path":"x"}', "fc_1"),
          { ...callItem("c2", '{"a":1}'), name: "Write" },
        ],
        usage: {
          input_tokens: 115,
          input_tokens_details: { cached_tokens: 100, cache_write_tokens: 5 },
          output_tokens: 42,
          output_tokens_details: { reasoning_tokens: 7 },
          total_tokens: 157,
        },
      }),
    ]);
    assert.deepEqual(events, [
      { type: "reasoning.delta", text: "h" },
      { type: "reasoning.delta", text: "mm" },
      { type: "text.delta", text: "Hel" },
      { type: "text.delta", text: "lo" },
      { type: "tool-input.delta", callId: "c1", name: "Read", json: '{"path":' },
      { type: "tool-input.delta", callId: "c2", name: "Write", json: '{"a":1}' },
      { type: "tool-input.delta", callId: "c1", name: "Read", json: '"x"}' },
    ]);
    assert.deepEqual(message, {
      role: "assistant",
      content: [
        { type: "reasoning", text: "hmm", providerMetadata: { [id]: reasoning } },
        { type: "text", text: "Hello" },
        { type: "tool-call", callId: "c1", name: "Read", input: { path: "x" } },
        { type: "tool-call", callId: "c2", name: "Write", input: { a: 1 } },
      ],
      model: { provider: "openai", id: "gpt-x-2026" },
      finish: "tool-calls",
      stopReason: "completed",
      usage: { inputTokens: 115, outputTokens: 42, cacheReadTokens: 100, cacheWriteTokens: 5, reasoningTokens: 7 },
      responseId: "resp_1",
    });
  });

  const textDelta = (delta: string, where: object = {}): object => ({ type: "response.output_text.delta", delta, ...where });
  const argumentsDelta = (delta: string, where: object = {}): object => ({
    type: "response.function_call_arguments.delta",
    delta,
    ...where,
  });
  const hello: [AssistantPart[], string] = [[{ type: "text", text: "Hello" }], "Hello"];
  const read: AssistantPart = { type: "tool-call", callId: "c1", name: "Read", input: { path: "x" } };
  const write: AssistantPart = { type: "tool-call", callId: "c2", name: "Read", input: { a: 1 } };
  const startedMessage = { id: "msg_1", type: "message", content: [] };

  const texts: [what: string, payloads: object[], content: AssistantPart[], streamed: string][] = [
    [
      "text of output_text.done alone",
      [added(0, startedMessage), { type: "response.output_text.done", output_index: 0, content_index: 0, text: "Hello" }],
      ...hello,
    ],
    [
      "text of content_part.done alone",
      [{ type: "response.content_part.done", output_index: 0, content_index: 0, part: { type: "output_text", text: "Hello" } }],
      ...hello,
    ],
    ["text of output_item.done alone", [done(0, messageItem("Hello"))], ...hello],
    ["text of the last event alone", [completed({ output: [messageItem("Hello")] })], ...hello],
    ["text that came with its item", [added(0, messageItem("Hello"))], ...hello],
    [
      "text whose deltas are not all there",
      [added(0, startedMessage), textDelta("Hel", { output_index: 0 }), done(0, messageItem("Hello"))],
      ...hello,
    ],
    [
      "text that was corrected at the end",
      [added(0, startedMessage), textDelta("Hallo", { output_index: 0 }), done(0, messageItem("Hello"))],
      hello[0],
      "Hallo",
    ],
    [
      "text whose end is told without it",
      [
        added(0, startedMessage),
        textDelta("Hello", { output_index: 0 }),
        { type: "response.output_text.done", output_index: 0, text: "" },
        done(0, messageItem("")),
      ],
      ...hello,
    ],
    ["deltas without an item", [textDelta("Hel"), textDelta("lo")], ...hello],
    [
      "deltas without any place",
      [added(0, startedMessage), textDelta("Hel"), textDelta("lo"), done(0, messageItem("Hello"))],
      ...hello,
    ],
    [
      "deltas under ever new ids",
      [
        added(0, { ...startedMessage, id: "a" }),
        textDelta("Hel", { item_id: "b", output_index: 0 }),
        textDelta("lo", { item_id: "c", output_index: 0 }),
        done(0, { ...messageItem("Hello"), id: "d" }),
        completed({ output: [{ ...messageItem("Hello"), id: "e" }] }),
      ],
      ...hello,
    ],
    [
      "pieces of one message apart",
      [
        added(0, startedMessage),
        textDelta("Hel", { output_index: 0, content_index: 0 }),
        textDelta("lo", { output_index: 0, content_index: 1 }),
      ],
      [
        { type: "text", text: "Hel" },
        { type: "text", text: "lo" },
      ],
      "Hello",
    ],
  ];
  for (const [what, payloads, content, streamed] of texts) {
    it(`reads ${what}`, () => {
      const { events, message } = decode([created(), ...payloads, completed()]);
      assert.deepEqual(message?.content, content);
      assert.equal(events.map((event) => (event.type === "text.delta" ? event.text : "?")).join(""), streamed);
    });
  }

  const calls: [what: string, payloads: object[], content: AssistantPart[], streamed: string[]][] = [
    ["a call of output_item.done alone", [done(0, callItem("c1"))], [read], ['c1 Read {"path":"x"}']],
    ["calls of the last event alone", [completed({ output: [callItem("c1")] })], [read], ['c1 Read {"path":"x"}']],
    [
      "arguments that came before their call",
      [argumentsDelta('{"path":', { output_index: 0 }), argumentsDelta('"x"}', { output_index: 0 }), done(0, callItem("c1"))],
      [read],
      ['c1 Read {"path":"x"}'],
    ],
    [
      "arguments of arguments.done alone",
      [
        added(0, callItem("c1", "")),
        { type: "response.function_call_arguments.done", output_index: 0, arguments: '{"path":"x"}' },
      ],
      [read],
      ['c1 Read {"path":"x"}'],
    ],
    [
      "arguments that are an object",
      [done(0, { ...callItem("c1"), arguments: { path: "x" } })],
      [read],
      ['c1 Read {"path":"x"}'],
    ],
    [
      "calls that all have the same place",
      [
        added(0, callItem("c1", "", "fc_1")),
        added(0, callItem("c2", "", "fc_2")),
        argumentsDelta('{"path":"x"}', { item_id: "fc_1", output_index: 0 }),
        argumentsDelta('{"a":1}', { item_id: "fc_2", output_index: 0 }),
        done(0, callItem("c1", '{"path":"x"}', "fc_1")),
        done(0, callItem("c2", '{"a":1}', "fc_2")),
      ],
      [read, write],
      ['c1 Read {"path":"x"}', 'c2 Read {"a":1}'],
    ],
    [
      "calls under ever new ids",
      [
        added(0, callItem("c1", "", "a")),
        added(1, callItem("c2", "", "b")),
        argumentsDelta('{"path":"x"}', { item_id: "c", output_index: 0 }),
        argumentsDelta('{"a":1}', { item_id: "d", output_index: 1 }),
        done(1, callItem("c2", '{"a":1}', "e")),
        done(0, callItem("c1", '{"path":"x"}', "f")),
      ],
      [read, write],
      ['c1 Read {"path":"x"}', 'c2 Read {"a":1}'],
    ],
    [
      "calls that ended in another order than they are told in the end",
      [
        done(1, callItem("c2", '{"a":1}', "x")),
        done(0, callItem("c1", '{"path":"x"}', "y")),
        completed({ output: [callItem("c1"), callItem("c2", '{"a":1}')] }),
      ],
      [read, write],
      ['c2 Read {"a":1}', 'c1 Read {"path":"x"}'],
    ],
    [
      "calls whose place and ids are others in the end",
      [
        done(0, callItem("c1", '{"path":"x"}', "a")),
        done(1, callItem("c2", '{"a":1}', "b")),
        completed({ output: [reasoning, callItem("c1", '{"path":"x"}', "c"), callItem("c2", '{"a":1}', "d")] }),
      ],
      [{ type: "reasoning", text: "hmm", providerMetadata: { [id]: reasoning } }, read, write],
      ['c1 Read {"path":"x"}', 'c2 Read {"a":1}'],
    ],
    [
      "arguments that were corrected at the end",
      [added(0, callItem("c1", "")), argumentsDelta('{"y"', { output_index: 0 }), done(0, callItem("c1"))],
      [read],
      ['c1 Read {"y"'],
    ],
    [
      "a call between words",
      [done(0, messageItem("one")), done(1, callItem("c1")), done(2, messageItem("two"))],
      [{ type: "text", text: "one" }, read, { type: "text", text: "two" }],
      ['c1 Read {"path":"x"}'],
    ],
    [
      "items the stream left out, in the order of the last event",
      [
        added(1, startedMessage),
        textDelta("Hi", { output_index: 1 }),
        completed({ output: [{ ...reasoning }, messageItem("Hi"), callItem("c1")] }),
      ],
      [{ type: "reasoning", text: "hmm", providerMetadata: { [id]: reasoning } }, { type: "text", text: "Hi" }, read],
      ['c1 Read {"path":"x"}'],
    ],
  ];
  for (const [what, payloads, content, streamed] of calls) {
    it(`reads ${what}`, () => {
      const { events, message } = decode([created(), ...payloads, completed()]);
      assert.deepEqual(message?.content, content);
      const shown = events.flatMap((event) =>
        event.type === "tool-input.delta" ? [`${event.callId} ${event.name} ${event.json}`] : [],
      );
      assert.deepEqual(shown, streamed);
    });
  }

  const inputs: [what: string, json: string, status: "completed" | "incomplete", expected: JsonObject][] = [
    ["no arguments", "", "completed", { input: {} }],
    ["no argument bytes in a cut answer", "", "incomplete", { input: {}, malformedInput: "" }],
    ["cut JSON", '{"a":"b', "incomplete", { input: {}, malformedInput: '{"a":"b' }],
    ["whole arguments in a cut answer", '{"a":1}', "incomplete", { input: { a: 1 } }],
    ["a list", "[1]", "completed", { input: {}, malformedInput: "[1]" }],
    ["a null", "null", "completed", { input: {}, malformedInput: "null" }],
  ];
  for (const [what, json, status, expected] of inputs) {
    it(`reads a call with ${what}`, () => {
      const { message } = decode([
        created(),
        added(0, callItem("c", "")),
        ...(json ? [argumentsDelta(json, { output_index: 0 })] : []),
        { type: `response.${status}`, response: { status } },
      ]);
      assert.deepEqual(message?.content, [{ type: "tool-call", callId: "c", name: "Read", ...expected }]);
    });
  }

  it("gives calls without an id, or with one that is taken, an id of their own", () => {
    const earlier = assistant([{ type: "tool-call", callId: "old", name: "T", input: {} }]);
    const ids = (): unknown => {
      const { message, events } = decode(
        [
          created("resp_9"),
          ...["same", "same", undefined, "", "old"].map((call_id, index) =>
            done(index, { type: "function_call", name: "T", arguments: "{}", ...(call_id !== undefined && { call_id }) }),
          ),
          done(5, { type: "function_call", id: "fc_5", name: "T", arguments: "{}" }),
          completed(),
        ],
        { ...request, messages: [userText("q"), earlier] },
      );
      const called = message?.content.map((part) => part.type === "tool-call" && part.callId);
      assert.deepEqual(
        called,
        events.map((event) => event.type === "tool-input.delta" && event.callId),
      );
      return called;
    };
    assert.deepEqual(ids(), ["same", "call_resp_9_1", "call_resp_9_2", "call_resp_9_3", "call_resp_9_4", "fc_5"]);
    assert.deepEqual(ids(), ids());
  });

  it("makes one text of the parts of a reasoning item, and keeps the item", () => {
    const summary = [
      { type: "summary_text", text: "first" },
      { type: "summary_text", text: "second" },
    ];
    const item = { id: "rs_1", type: "reasoning", summary, encrypted_content: "gAAA" };
    const delta = (summary_index: number, delta: string): object => ({
      type: "response.reasoning_summary_text.delta",
      output_index: 0,
      summary_index,
      delta,
    });
    const { events, message } = decode([
      created(),
      added(0, { id: "rs_1", type: "reasoning", summary: [], encrypted_content: "gA" }),
      delta(0, "fir"),
      delta(0, "st"),
      delta(1, "second"),
      done(0, item),
      completed({ output: [item] }),
    ]);
    assert.deepEqual(message?.content, [{ type: "reasoning", text: "first\n\nsecond", providerMetadata: { [id]: item } }]);
    assert.deepEqual(events, [
      { type: "reasoning.delta", text: "fir" },
      { type: "reasoning.delta", text: "st" },
      { type: "reasoning.delta", text: "\n\nsecond" },
    ]);
  });

  const thoughts: [what: string, payloads: object[], content: AssistantPart[]][] = [
    [
      "without words, only to be handed back",
      [added(0, { id: "r", type: "reasoning", summary: [] }), done(0, { ...reasoning, summary: [] })],
      [{ type: "reasoning", text: "", providerMetadata: { [id]: { ...reasoning, summary: [] } } }],
    ],
    [
      "in the open",
      [
        added(0, { id: "r", type: "reasoning", summary: [], content: [] }),
        { type: "response.content_part.added", output_index: 0, content_index: 0, part: { type: "output_text", text: "" } },
        { type: "response.reasoning_text.delta", output_index: 0, content_index: 0, delta: "so" },
        { type: "response.reasoning_text.done", output_index: 0, content_index: 0, text: "so" },
        { type: "response.content_part.done", output_index: 0, content_index: 0, part: { type: "output_text", text: "so" } },
        done(0, { id: "r", type: "reasoning", summary: [], content: [{ type: "reasoning_text", text: "so" }] }),
      ],
      [
        {
          type: "reasoning",
          text: "so",
          providerMetadata: {
            [id]: { id: "r", type: "reasoning", summary: [], content: [{ type: "reasoning_text", text: "so" }] },
          },
        },
      ],
    ],
    [
      "that was cut off, which cannot be handed back",
      [
        added(0, { id: "r", type: "reasoning", summary: [], encrypted_content: "half" }),
        { type: "response.reasoning_summary_text.delta", output_index: 0, summary_index: 0, delta: "so" },
      ],
      [{ type: "reasoning", text: "so" }],
    ],
  ];
  for (const [what, payloads, content] of thoughts) {
    it(`reads reasoning ${what}`, () => {
      assert.deepEqual(decode([created(), ...payloads, completed()]).message?.content, content);
    });
  }

  it("keeps items it does not understand as they came, if they came to their end", () => {
    const search = { id: "ws_1", type: "web_search_call", status: "completed", action: { type: "search", query: "q" } };
    const python = { id: "ci_1", type: "code_interpreter_call", status: "completed", code: "1+1", outputs: null };
    const { message, events } = decode([
      created(),
      added(0, { ...search, status: "in_progress" }),
      { type: "response.web_search_call.searching", output_index: 0, item_id: "ws_1" },
      done(0, search),
      added(1, { ...python, code: "" }),
      { type: "response.code_interpreter_call_code.delta", output_index: 1, item_id: "ci_1", delta: "1+1" },
      { type: "response.code_interpreter_call_code.done", output_index: 1, item_id: "ci_1", code: "1+1" },
      done(1, python),
      added(2, { id: "h", type: "hologram" }),
      { type: "keepalive" },
      { type: "response.invented.later", x: 1 },
      {
        type: "response.incomplete",
        response: {
          output: [search, python, { id: "h", type: "hologram", status: "in_progress" }],
          incomplete_details: { reason: "max_output_tokens" },
        },
      },
    ]);
    assert.deepEqual(message?.content, [
      { type: "opaque", dialect: id, value: search },
      { type: "opaque", dialect: id, value: python },
    ]);
    assert.deepEqual(events, []);
    assert.deepEqual(message && inputOf([message]), [search, python]);
  });

  it("remembers which phase of the answer a text was, and says so when it is sent back", () => {
    const { message } = decode([
      created(),
      done(0, { ...messageItem("I look"), phase: "commentary" }),
      done(1, callItem("c1")),
      done(2, { ...messageItem("That is it"), phase: "final_answer" }),
      done(3, { ...messageItem("no phase"), phase: null }),
      completed(),
    ]);
    assert.equal(message?.content.filter((part) => part.type === "text").length, 3);
    assert.deepEqual(message && inputOf([message]).map(({ type, phase }) => [type, phase]), [
      ["message", "commentary"],
      ["function_call", undefined],
      ["message", "final_answer"],
      ["message", undefined],
    ]);
  });

  it("sends the reasoning of the last turn back unchanged, right before what followed it", () => {
    const second = { ...reasoning, id: "rs_2", encrypted_content: "gBBB", summary: [] };
    const first = decode([
      created(),
      done(0, reasoning),
      done(1, messageItem("I look")),
      done(2, second),
      done(3, callItem("c1")),
      completed(),
    ]).message;
    assert.ok(first);
    const stored: AssistantMessage = JSON.parse(JSON.stringify(first));
    const input = inputOf([userText("q"), stored, { role: "tool", content: [result("c1", [{ type: "text", text: "file" }])] }]);
    assert.deepEqual(
      input.map((item) => item["id"] ?? item["type"]),
      ["message", "rs_1", "message", "rs_2", "function_call", "function_call_output"],
    );
    assert.deepEqual([input[1], input[3]], [reasoning, second]);
  });

  const refusal = { id: "msg_1", type: "message", content: [{ type: "refusal", refusal: "I cannot" }] };
  const finishes: [what: string, payloads: object[], AssistantMessage["finish"], stopReason: string][] = [
    ["a completed answer", [done(0, messageItem("x")), completed({ status: "completed" })], "stop", "completed"],
    ["an answer with calls", [done(0, callItem("c")), completed()], "tool-calls", "completed"],
    ["the output limit", [incomplete("max_output_tokens")], "length", "max_output_tokens"],
    ["the content filter", [incomplete("content_filter")], "content-filter", "content_filter"],
    ["a reason nobody knows", [incomplete("brand_new")], "other", "brand_new"],
    ["an end without a reason", [{ type: "response.incomplete", response: {} }], "length", "incomplete"],
    ["a response that says it is incomplete", [completed({ status: "incomplete" })], "length", "incomplete"],
    ["a response that was cancelled", [completed({ status: "cancelled" })], "other", "cancelled"],
    [
      "a refusal in pieces",
      [
        added(0, startedMessage),
        { type: "response.refusal.delta", output_index: 0, content_index: 0, delta: "I can" },
        { type: "response.refusal.done", output_index: 0, content_index: 0, refusal: "I cannot" },
        completed(),
      ],
      "refusal",
      "completed",
    ],
    ["a refusal in the last event", [completed({ output: [refusal] })], "refusal", "completed"],
  ];
  for (const [what, payloads, finish, stopReason] of finishes) {
    it(`reads ${what} as ${finish}`, () => {
      const { message } = decode([created(), ...payloads]);
      assert.deepEqual([message?.finish, message?.stopReason], [finish, stopReason]);
      if (finish === "refusal") assert.deepEqual(message?.content, [{ type: "text", text: "I cannot" }]);
    });
  }

  it("counts nothing where the server does not count", () => {
    const { message } = decode([created(), completed({ usage: { input_tokens: 3, output_tokens: 1 } })]);
    assert.deepEqual(message?.usage, { ...noUsage, inputTokens: 3, outputTokens: 1 });
    assert.deepEqual(decode([created(), completed({ usage: null })]).message?.usage, noUsage);
  });

  it("is not finished before its last event, and says nothing after it", () => {
    assert.equal(decode([created(), done(0, messageItem("x"))]).message, undefined);
    const decoder = openaiResponses.decoder(request, "openai");
    assert.deepEqual(decoder.push({ event: undefined, data: "[DONE]" }), []);
    assert.equal(decoder.push({ event: "response.completed", data: '{"response":{}}' }).length, 1);
    for (const data of ['{"type":"response.completed","response":{}}', "not JSON", "[DONE]"]) {
      assert.deepEqual(decoder.push({ event: undefined, data }), []);
    }
  });

  const failures: [error: JsonObject, code: string, retryable: boolean, retryAfterMs?: number][] = [
    [{ code: "server_error", message: "oops" }, "provider-unavailable", true],
    [{ code: "rate_limit_exceeded", message: "Please try again in 6.57s. Visit" }, "provider-rate-limit", true, 6_570],
    [{ code: "rate_limit_exceeded", message: "Please try again in 120ms." }, "provider-rate-limit", true, 120],
    [{ code: "server_is_overloaded", message: "busy" }, "provider-overloaded", true],
    [{ code: "vector_store_timeout", message: "late" }, "provider-timeout", true],
    [{ code: "context_length_exceeded", message: "too long" }, "context-overflow", false],
    [{ code: "invalid_prompt", message: "no" }, "provider-bad-request", false],
    [{ code: "image_too_large", message: "no" }, "provider-bad-request", false],
    [{ code: "bio_policy", message: "no" }, "provider-bad-request", false],
    [{ code: "insufficient_quota", message: "pay" }, "provider-auth", false],
    [{ code: "invalid_api_key", message: "who" }, "provider-auth", false],
    [{ code: "brand_new", message: "?" }, "provider-unavailable", true],
    [{ type: "invalid_request_error", code: null, message: "bad" }, "provider-bad-request", false],
    [{ type: "invalid_request_error", code: "context_length_exceeded", message: "long" }, "context-overflow", false],
    [{ type: "tokens", code: "rate_limit_exceeded", message: "slow" }, "provider-rate-limit", true],
    [{ type: "rate_limit_error", message: "slow" }, "provider-rate-limit", true],
    [{}, "provider-unavailable", true],
  ];
  const forms: [what: string, payload: (error: JsonObject) => object][] = [
    ["response.failed", (error) => ({ type: "response.failed", response: { status: "failed", error } })],
    ["a completed response that failed", (error) => completed({ status: "failed", error })],
    ["an error event", (error) => ({ type: "error", error, sequence_number: 2 })],
    ["an error without a type", (error) => ({ error })],
    [
      "a failed response that does not say so",
      (error) => ({ type: "response.failed", response: { error, status: "completed" } }),
    ],
  ];
  for (const [error, code, retryable, retryAfterMs] of failures) {
    it(`throws ${code} for ${JSON.stringify(error)} in every form`, () => {
      const flat = [["a flat error event", (error: JsonObject) => ({ ...error, type: "error" })]] as const;
      for (const [what, form] of error["type"] ? forms : [...forms, ...flat]) {
        assert.throws(
          () => decode([created(), form(error)]),
          (thrown: unknown) => {
            assert.ok(thrown instanceof RuntimeError, what);
            const actual = [thrown.code, thrown.retryable, thrown.retryAfterMs];
            assert.deepEqual(actual, [code, retryable, retryAfterMs], what);
            return true;
          },
        );
      }
    });
  }

  it("takes an event named error for one, whatever its payload is called", () => {
    const decoder = openaiResponses.decoder(request, "openai");
    const data = JSON.stringify({ type: "invalid_request_error", message: "bad" });
    assert.throws(() => decoder.push({ event: "error", data }), { code: "provider-bad-request", retryable: false });
  });

  it("says what the server said, without keys", () => {
    const error = { code: "invalid_prompt", message: "no: sk-abcdefgh12345678" };
    assert.throws(() => decode([{ type: "error", error }]), {
      message: "openai broke off its answer with invalid_prompt: no: [redacted]",
    });
  });

  for (const data of [
    '{"type":"response.comple',
    "",
    "[]",
    "null",
    '{"type":"response.completed"}',
    '{"type":"response.output_item.added"}',
  ]) {
    it(`refuses the payload ${data || "(empty)"}`, () => {
      const decoder = openaiResponses.decoder(request, "openai");
      assert.throws(() => decoder.push({ event: undefined, data }), { code: "provider-protocol", retryable: true });
    });
  }
});

function decode(
  payloads: readonly object[],
  asked: ModelRequest = request,
): { events: ModelEvent[]; message: AssistantMessage | undefined } {
  const decoder = openaiResponses.decoder(asked, "openai");
  const events = payloads.flatMap((payload) => decoder.push({ event: undefined, data: JSON.stringify(payload) }));
  const last = events.at(-1);
  return last?.type === "finished" ? { events: events.slice(0, -1), message: last.message } : { events, message: undefined };
}

function created(responseId = "resp_1"): object {
  return { type: "response.created", response: { id: responseId, status: "in_progress", output: [] } };
}
function added(output_index: number, item: object): object {
  return { type: "response.output_item.added", output_index, item };
}
function done(output_index: number, item: object): object {
  return { type: "response.output_item.done", output_index, item };
}
function completed(response: object = {}): object {
  return { type: "response.completed", response };
}
function incomplete(reason: string): object {
  return { type: "response.incomplete", response: { status: "incomplete", incomplete_details: { reason } } };
}
function messageItem(text: string): JsonObject {
  return { id: "msg_1", type: "message", role: "assistant", content: [{ type: "output_text", text, annotations: [] }] };
}
function callItem(call_id: string, json = '{"path":"x"}', itemId = `fc_${call_id}`): JsonObject {
  return { id: itemId, type: "function_call", call_id, name: "Read", arguments: json };
}

function assistant(content: AssistantPart[]): AssistantMessage {
  return { role: "assistant", content, model: { provider: "openai", id: "m" }, finish: "stop", usage: noUsage };
}
function result(callId: string, content: ToolResultPart["content"]): ToolResultPart {
  return { type: "tool-result", callId, name: "Read", content, isError: false };
}

function inputOf(messages: readonly Message[]): JsonObject[] {
  const input: JsonValue | undefined = openaiResponses.encode({ ...request, messages })["input"];
  assert.ok(Array.isArray(input));
  return input.map((item) => {
    assert.ok(typeof item === "object" && item !== null && !Array.isArray(item));
    return item;
  });
}
