import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { AssistantMessage, AssistantPart, JsonObject, Message } from "../../protocol/content.ts";
import { noUsage, userText } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { ModelEvent, ModelRequest } from "../model.ts";
import { anthropicMessages } from "./anthropic-messages.ts";

const request: ModelRequest = { model: "claude-x", system: "", messages: [userText("hi")], tools: [] };
const mark = { cache_control: { type: "ephemeral" } };

describe("encode", () => {
  it("writes a whole request", () => {
    const tool = (name: string) => ({ name, description: `does ${name}`, inputSchema: { type: "object" } });
    const encoded = anthropicMessages.encode({
      ...request,
      system: "be brief",
      tools: [tool("Read"), tool("Write")],
      temperature: 0.5,
      stopSequences: ["END"],
      maxOutputTokens: 500,
    });
    assert.deepEqual(encoded, {
      model: "claude-x",
      max_tokens: 500,
      system: [{ type: "text", text: "be brief", ...mark }],
      tools: [
        { name: "Read", description: "does Read", input_schema: { type: "object" } },
        { name: "Write", description: "does Write", input_schema: { type: "object" }, ...mark },
      ],
      messages: [{ role: "user", content: [{ type: "text", text: "hi", ...mark }] }],
      temperature: 0.5,
      stop_sequences: ["END"],
      stream: true,
    });
  });

  it("leaves out what was not asked for", () => {
    assert.deepEqual(Object.keys(anthropicMessages.encode({ ...request, system: " ", stopSequences: [] })), [
      "model",
      "max_tokens",
      "messages",
      "stream",
    ]);
    assert.equal(anthropicMessages.encode(request)["max_tokens"], 32_000);
  });

  const budgets: [Partial<ModelRequest>, max: number, budget: number | undefined][] = [
    [{ thinkingTokens: 4_000 }, 32_000, 4_000],
    [{ thinkingTokens: 32_000 }, 64_000, 32_000],
    [{ thinkingTokens: 4_000, maxOutputTokens: 1_000 }, 5_000, 4_000],
    [{ thinkingTokens: 10 }, 32_000, 1_024],
    [{ thinkingTokens: 0 }, 32_000, undefined],
  ];
  it("leaves out bound thinking where the model is asked not to think, and only there", () => {
    const thought = { type: "reasoning", text: "t", providerMetadata: { "anthropic-messages": { signature: "s" } } } as const;
    const messages = [userText("q"), assistant([thought]), assistant([thought, { type: "text", text: "a" }]), userText("next")];
    const encode = (model: string, thinkingTokens?: number) =>
      anthropicMessages.encode({ ...request, model, messages, ...(thinkingTokens !== undefined && { thinkingTokens }) });
    const thoughts = (body: JsonObject): number => JSON.stringify(body["messages"]).split('"thinking"').length - 1;
    assert.ok(thoughts(encode("claude-haiku-5-5")) > 0);
    assert.equal(thoughts(encode("claude-haiku-5-5", 0)), 0);
    assert.deepEqual(encode("claude-haiku-5-5", 0)["thinking"], { type: "disabled" });
    assert.ok(thoughts(encode("claude-opus-5", 0)) > 0);
    const between = encode("claude-sonnet-5-5", 0);
    assert.ok(thoughts(between) > 0);
    const loose = { block_binding: { prefix_mismatch_behavior: "drop_block" } };
    assert.deepEqual(between["thinking"], { type: "between_tools", ...loose });
    const named = { ...request, model: "claude-sonnet-5-5", options: { thinking: { type: "between_tools" } } };
    assert.deepEqual(anthropicMessages.encode(named)["thinking"], { ...loose, type: "between_tools" });
  });

  it("keeps the effort of a conversation's first request while the model thinks between calls only, and tells of it", () => {
    const first = userText("q");
    const notes: string[] = [];
    const effortOf = (more: Partial<ModelRequest>): unknown => {
      const asked = { ...request, model: "claude-sonnet-5-5", thinkingTokens: 0, ...more };
      const config = anthropicMessages.encode(asked, (note) => notes.push(note))["output_config"];
      return Object(config)["effort"];
    };
    const later = [first, assistant([{ type: "text", text: "a" }]), userText("next")];
    assert.deepEqual(
      [
        effortOf({ messages: [first], effort: "low" }),
        effortOf({ messages: later, effort: "high" }),
        effortOf({ messages: [userText("q")], effort: "high" }),
      ],
      ["low", "low", "high"],
    );
    assert.deepEqual(
      notes.filter((note) => /first effort/.test(note)),
      ["claude-sonnet-5-5 keeps its first effort: low"],
    );
  });

  it("sends an answer that was paused back as it is", () => {
    const paused: Message = { ...assistant([{ type: "text", text: "looking" }]), finish: "paused" };
    const body = anthropicMessages.encode({ ...request, model: "claude-opus-5-5", messages: [userText("q"), paused] });
    assert.equal((body["messages"] as JsonObject[]).at(-1)?.["role"], "assistant");
  });

  it("leaves out what another model has thought where thinking is bound, before and after a change of the model", () => {
    const thought = { type: "reasoning", text: "t", providerMetadata: { "anthropic-messages": { signature: "s" } } } as const;
    const redacted = { type: "opaque", dialect: "anthropic-messages", value: { type: "redacted_thinking", data: "x" } } as const;
    const by = (id: string): Message => ({
      ...{ role: "assistant", finish: "stop", usage: noUsage, model: { provider: "anthropic", id } },
      content: [thought, redacted, { type: "text", text: "a" }],
    });
    const thoughtBy = (author: string, reader: string): number => {
      const messages = [userText("q"), by(author), userText("next")];
      const body = anthropicMessages.encode({ ...request, model: reader, messages });
      return JSON.stringify(body["messages"]).match(/"type":"(?:redacted_)?thinking"/g)?.length ?? 0;
    };
    assert.deepEqual(
      [
        thoughtBy("claude-opus-5-5-20260922", "us.anthropic.claude-opus-5-5-v1:0"),
        thoughtBy("claude-opus-5-5", "claude-sonnet-5-5"),
        thoughtBy("claude-opus-5-5", "claude-opus-4-6"),
        thoughtBy("claude-opus-4-6", "claude-opus-5-5"),
        thoughtBy("claude-opus-4-6", "claude-sonnet-4-6"),
        thoughtBy("a gateway's name", "claude-opus-5-5"),
      ],
      [2, 0, 0, 0, 2, 2],
    );
  });

  it("does not call a result with an image an error, which the API refuses", () => {
    const result = (image: boolean): Message => ({
      role: "tool",
      content: [
        {
          ...{ type: "tool-result", callId: "a", name: "Shot", isError: true },
          content: [
            { type: "text", text: "failed" },
            ...(image ? [{ type: "image", mediaType: "image/png", data: "AAAA" } as const] : []),
          ],
        },
      ],
    });
    const errors = [true, false].map((image) => JSON.stringify(messagesOf([result(image)])).includes("is_error"));
    assert.deepEqual(errors, [false, true]);
  });

  it("asks for one call at a time where the record says so, and tools are offered", () => {
    const asked = { ...request, model: "claude-opus-5", tools: [{ name: "T", description: "", inputSchema: {} }] };
    const choice = (more: Partial<ModelRequest>): unknown => anthropicMessages.encode({ ...asked, ...more })["tool_choice"];
    assert.deepEqual(choice({ capabilities: { parallelCalls: false } }), { type: "auto", disable_parallel_tool_use: true });
    assert.equal(choice({}), undefined);
    assert.equal(choice({ capabilities: { parallelCalls: false }, tools: [] }), undefined);
  });

  it("adds what a profile says about thinking and effort to its own", () => {
    const options = { thinking: { type: "adaptive", display: "omitted" }, output_config: { task_budget: 5 }, top_k: 3 };
    const old = { ...request, options, model: "claude-opus-4-1-20250805" };
    const encode = (more: object): unknown => {
      const { thinking, output_config: config, top_k: topK } = anthropicMessages.encode({ ...old, ...more });
      return { thinking, config, topK };
    };
    const config = { task_budget: 5 };
    assert.deepEqual(encode({}), { thinking: undefined, config, topK: 3 });
    assert.deepEqual(encode({ model: "claude-opus-4-6" }), { thinking: options.thinking, config, topK: 3 });
    assert.deepEqual(encode({ model: "claude-sonnet-5", effort: "minimal" }), {
      thinking: options.thinking,
      config: { effort: "low", ...config },
      topK: 3,
    });
    assert.deepEqual(encode({ thinkingTokens: 2000 }), {
      thinking: { type: "enabled", budget_tokens: 2000, display: "omitted" },
      config,
      topK: 3,
    });
  });

  for (const [options, max, budget] of budgets) {
    it(`allows ${max} tokens for ${JSON.stringify(options)}`, () => {
      const encoded = anthropicMessages.encode({ ...request, temperature: 0.2, ...options });
      assert.equal(encoded["max_tokens"], max);
      assert.deepEqual(encoded["thinking"], budget && { type: "enabled", budget_tokens: budget });
      assert.equal(encoded["temperature"], budget ? undefined : 0.2);
    });
  }

  it("merges neighbours of one role and puts results before words", () => {
    const messages: Message[] = [
      userText("one"),
      userText("two"),
      assistant([{ type: "tool-call", callId: "a", name: "Read", input: { path: "x" } }]),
      userText("wait"),
      {
        role: "tool",
        content: [
          { type: "tool-result", callId: "a", name: "Read", content: [{ type: "text", text: "file" }], isError: false },
          { type: "tool-result", callId: "b", name: "Read", content: [{ type: "text", text: " " }], isError: true },
        ],
      },
      { role: "user", content: [{ type: "image", mediaType: "image/png", data: "AAAA" }] },
    ];
    assert.deepEqual(messagesOf(messages), [
      {
        role: "user",
        content: [
          { type: "text", text: "one" },
          { type: "text", text: "two", ...mark },
        ],
      },
      { role: "assistant", content: [{ type: "tool_use", id: "a", name: "Read", input: { path: "x" } }] },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "a", content: [{ type: "text", text: "file" }] },
          { type: "tool_result", tool_use_id: "b", content: [{ type: "text", text: "(no output)" }], is_error: true },
          { type: "text", text: "wait" },
          { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" }, ...mark },
        ],
      },
    ]);
  });

  it("hands back what only this wire understands, and drops what it would refuse", () => {
    const redacted = { type: "redacted_thinking", data: "xyz" };
    const parts: AssistantPart[] = [
      { type: "reasoning", text: "signed", providerMetadata: { "anthropic-messages": { signature: "s1" } } },
      { type: "reasoning", text: "cut off before its signature" },
      { type: "reasoning", text: "another wire", providerMetadata: { "openai-responses": { signature: "s2" } } },
      { type: "opaque", dialect: "anthropic-messages", value: redacted },
      { type: "opaque", dialect: "openai-responses", value: { type: "secret" } },
      { type: "text", text: "\n " },
      { type: "tool-call", callId: "fc:1/2", name: "Read", input: {}, malformedInput: '{"pa' },
    ];
    assert.deepEqual(messagesOf([userText("q"), assistant(parts), userText("")])[1], {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "signed", signature: "s1" },
        redacted,
        { type: "tool_use", id: "fc_1_2", name: "Read", input: {}, ...mark },
      ],
    });
  });

  it("never sends a message without content", () => {
    const messages = [userText("a"), assistant([{ type: "text", text: "" }]), userText("b"), userText("  ")];
    assert.deepEqual(messagesOf(messages), [
      {
        role: "user",
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b", ...mark },
        ],
      },
    ]);
  });

  it("ends a conversation the assistant is to go on with without white space", () => {
    assert.deepEqual(messagesOf([userText("q"), assistant([{ type: "text", text: "so far \n" }])])[1], {
      role: "assistant",
      content: [{ type: "text", text: "so far", ...mark }],
    });
  });

  it("marks at most four places for the cache, the same ones every time", () => {
    const messages: Message[] = [];
    for (let n = 0; n < 5; n++) messages.push(userText(`q${n}`), assistant([{ type: "text", text: `a${n}` }]));
    messages.push(userText("last"));
    const whole = { ...request, system: "s", messages, tools: [{ name: "T", description: "", inputSchema: {} }] };
    const text = JSON.stringify(anthropicMessages.encode(whole));
    assert.equal(text.match(/cache_control/g)?.length, 4);
    assert.equal(text, JSON.stringify(anthropicMessages.encode(structuredClone(whole))));
    assert.match(text, /"text":"q4","cache_control".*"text":"last","cache_control"/);
  });

  it("leaves the messages it was given alone", () => {
    const value = { type: "web_search_tool_result", content: [] };
    const messages = [
      userText("q"),
      assistant([
        { type: "opaque", dialect: "anthropic-messages", value },
        { type: "text", text: "a " },
      ]),
    ];
    const before = structuredClone(messages);
    messagesOf(messages);
    assert.deepEqual(messages, before);
  });
});

describe("decode", () => {
  it("streams thinking, text and parallel calls into one message", () => {
    const { events, message } = decode([
      start({
        id: "msg_1",
        model: "claude-x-2026",
        usage: { input_tokens: 10, cache_read_input_tokens: 100, cache_creation_input_tokens: 5, output_tokens: 1 },
      }),
      { type: "ping" },
      block(0, { type: "thinking", thinking: "", signature: "" }),
      delta(0, { type: "thinking_delta", thinking: "hmm" }),
      delta(0, { type: "signature_delta", signature: "si" }),
      delta(0, { type: "signature_delta", signature: "g" }),
      stop(0),
      block(1, { type: "text", text: "" }),
      delta(1, { type: "text_delta", text: "Hel" }),
      delta(1, { type: "citations_delta", citation: { cited_text: "x" } }),
      delta(1, { type: "text_delta", text: "lo" }),
      stop(1),
      block(2, { type: "tool_use", id: "t1", name: "Read", input: {} }),
      block(3, { type: "tool_use", id: "t2", name: "Write", input: {} }),
      delta(2, { type: "input_json_delta", partial_json: "" }),
      delta(2, { type: "input_json_delta", partial_json: '{"path":' }),
      delta(3, { type: "input_json_delta", partial_json: '{"a":1}' }),
      delta(2, { type: "input_json_delta", partial_json: '"x"}' }),
      stop(3),
      stop(2),
      end("tool_use", { output_tokens: 42 }),
      { type: "message_stop" },
    ]);
    assert.deepEqual(events, [
      { type: "reasoning.delta", text: "hmm" },
      { type: "reasoning.delta", text: "", signature: "si" },
      { type: "reasoning.delta", text: "", signature: "g" },
      { type: "text.delta", text: "Hel" },
      { type: "text.delta", text: "lo" },
      { type: "tool-input.delta", callId: "t1", name: "Read", json: '{"path":' },
      { type: "tool-input.delta", callId: "t2", name: "Write", json: '{"a":1}' },
      { type: "tool-input.delta", callId: "t1", name: "Read", json: '"x"}' },
    ]);
    assert.deepEqual(message, {
      role: "assistant",
      content: [
        { type: "reasoning", text: "hmm", providerMetadata: { "anthropic-messages": { signature: "sig" } } },
        { type: "text", text: "Hello" },
        { type: "tool-call", callId: "t1", name: "Read", input: { path: "x" } },
        { type: "tool-call", callId: "t2", name: "Write", input: { a: 1 } },
      ],
      model: { provider: "anthropic", id: "claude-x-2026" },
      finish: "tool-calls",
      stopReason: "tool_use",
      usage: { inputTokens: 115, outputTokens: 42, cacheReadTokens: 100, cacheWriteTokens: 5, reasoningTokens: 0 },
      responseId: "msg_1",
    });
  });

  it("reads a piece of text the same however it is written down", () => {
    const read = (data: string): ModelEvent[] => {
      const decoder = anthropicMessages.decoder(request, "test");
      decoder.push({ event: undefined, data: JSON.stringify(block(0, { type: "text", text: "" })) });
      return decoder.push({ event: "content_block_delta", data });
    };
    const piece = fc.oneof(
      fc.string(),
      fc.string({ unit: "grapheme" }),
      fc.string({ unit: "binary" }),
      fc.constantFrom('"', "\\", "\u2028"),
    );
    fc.assert(
      fc.property(piece, fc.nat(3), (text, padding) => {
        const json = JSON.stringify(delta(0, { type: "text_delta", text }));
        const padded = `${json.slice(0, -1)}${" ".repeat(padding)}}`;
        const shuffled = JSON.stringify({ delta: { text, type: "text_delta" }, index: 0, type: "content_block_delta" }, null, 1);
        const expected = text ? [{ type: "text.delta", text }] : [];
        assert.deepEqual([read(json), read(padded), read(shuffled)], [expected, expected, expected]);
      }),
    );
    const [head = "", tail = ""] = JSON.stringify(delta(0, { type: "text_delta", text: "?" })).split("?");
    for (const raw of ["line\nbreak", 'quo"te', "back\\"]) assert.throws(() => read(`${head}${raw}${tail}`), RuntimeError, raw);
    assert.throws(() => read(JSON.stringify(delta(1, { type: "text_delta", text: "nobody's" }))), /never started/);
  });

  it("keeps blocks it does not understand as they came", () => {
    const search = { type: "web_search_tool_result", tool_use_id: "s1", content: [{ url: "u" }] };
    const { message, events } = decode([
      start(),
      block(0, { type: "redacted_thinking", data: "zzz" }),
      block(1, { type: "server_tool_use", id: "s1", name: "web_search", input: {} }),
      delta(1, { type: "input_json_delta", partial_json: '{"query":"q"}' }),
      block(2, search),
      block(3, { type: "hologram", depth: 3 }),
      delta(3, { type: "hologram_delta", depth: 4 }),
      { type: "invented_later", x: 1 },
      end("end_turn"),
      { type: "message_stop" },
    ]);
    const opaque = (value: JsonObject) => ({ type: "opaque", dialect: "anthropic-messages", value });
    assert.deepEqual(message?.content, [
      opaque({ type: "redacted_thinking", data: "zzz" }),
      opaque({ type: "server_tool_use", id: "s1", name: "web_search", input: { query: "q" } }),
      opaque(search),
      opaque({ type: "hologram", depth: 3 }),
    ]);
    assert.deepEqual(events, []);
    assert.deepEqual(
      message && messagesOf([userText("q"), message, userText("go on")])[1]?.["content"],
      message?.content.map((part) => part.type === "opaque" && part.value),
    );
  });

  const finishes: [string | undefined, AssistantMessage["finish"]][] = [
    ["end_turn", "stop"],
    ["max_tokens", "length"],
    ["tool_use", "tool-calls"],
    ["stop_sequence", "stop-sequence"],
    ["pause_turn", "paused"],
    ["refusal", "refusal"],
    ["model_context_window_exceeded", "context-overflow"],
    ["brand_new", "other"],
    [undefined, "other"],
  ];
  for (const [stopReason, finish] of finishes) {
    it(`reads the stop reason ${stopReason} as ${finish}`, () => {
      const { message } = decode([start(), ...(stopReason ? [end(stopReason)] : []), { type: "message_stop" }]);
      assert.deepEqual([message?.finish, message?.stopReason], [finish, stopReason]);
    });
  }

  it("tells which stop sequence matched", () => {
    const delta = { stop_reason: "stop_sequence", stop_sequence: "END" };
    const { message } = decode([start(), { type: "message_delta", delta }, { type: "message_stop" }]);
    assert.equal(message?.stopSequence, "END");
  });

  const inputs: [what: string, start: unknown, json: string[], stopReason: string, expected: JsonObject][] = [
    ["no argument bytes", {}, [], "tool_use", { input: {} }],
    ["arguments that came with the start", { a: 1 }, [], "tool_use", { input: { a: 1 } }],
    ["arguments with the start in a cut answer", { a: 1 }, [], "max_tokens", { input: { a: 1 } }],
    ["no argument bytes in a cut answer", {}, [], "max_tokens", { input: {}, malformedInput: "" }],
    ["cut JSON", {}, ['{"a":', '"b'], "max_tokens", { input: {}, malformedInput: '{"a":"b' }],
    ["a list", {}, ["[1]"], "tool_use", { input: {}, malformedInput: "[1]" }],
    ["a list with the start", [1], [], "tool_use", { input: {}, malformedInput: "[1]" }],
    ["a null", {}, ["null"], "tool_use", { input: {}, malformedInput: "null" }],
  ];
  for (const [what, input, json, stopReason, expected] of inputs) {
    it(`reads a call with ${what}`, () => {
      const deltas = json.map((partial_json) => delta(0, { type: "input_json_delta", partial_json }));
      const { message } = decode([
        start(),
        block(0, { type: "tool_use", id: "t", name: "T", input }),
        ...deltas,
        end(stopReason),
        { type: "message_stop" },
      ]);
      assert.deepEqual(message?.content, [{ type: "tool-call", callId: "t", name: "T", ...expected }]);
    });
  }

  it("gives calls without an id, or with one that is taken, an id of their own", () => {
    const earlier = assistant([{ type: "tool-call", callId: "old", name: "T", input: {} }]);
    const ids = () => {
      const { message } = decode(
        [
          start({ id: "msg_9" }),
          ...["same", "same", undefined, "", "old"].map((id, index) =>
            block(index, { type: "tool_use", name: "T", input: {}, ...(id !== undefined && { id }) }),
          ),
          end("tool_use"),
          { type: "message_stop" },
        ],
        { ...request, messages: [userText("q"), earlier] },
      );
      return message?.content.map((part) => part.type === "tool-call" && part.callId);
    };
    assert.deepEqual(ids(), ["same", "call_msg_9_1", "call_msg_9_2", "call_msg_9_3", "call_msg_9_4"]);
    assert.deepEqual(ids(), ids());
  });

  it("takes text that comes with the start of its block, and drops empty blocks", () => {
    const { events, message } = decode([
      start(),
      block(0, { type: "text", text: "all at once" }),
      block(1, { type: "text", text: "" }),
      block(2, { type: "thinking", thinking: "" }),
      end("end_turn"),
      { type: "message_stop" },
    ]);
    assert.deepEqual(events, [{ type: "text.delta", text: "all at once" }]);
    assert.deepEqual(message?.content, [{ type: "text", text: "all at once" }]);
  });

  it("believes the last count", () => {
    const { message } = decode([
      start({ usage: { input_tokens: 3, output_tokens: 1 } }),
      end("end_turn", { input_tokens: 7, cache_read_input_tokens: 2, cache_creation_input_tokens: null, output_tokens: 9 }),
      end("end_turn", { output_tokens: 9, output_tokens_details: { thinking_tokens: 4 } }),
      { type: "message_stop" },
    ]);
    assert.deepEqual(message?.usage, {
      ...{ ...noUsage, inputTokens: 9, outputTokens: 9, cacheReadTokens: 2 },
      reasoningTokens: 4, // where the API says so
    });
  });

  it("is not finished without message_stop, and says nothing after it", () => {
    assert.equal(decode([start(), end("end_turn")]).message, undefined);
    const decoder = anthropicMessages.decoder(request, "anthropic");
    assert.equal(decoder.push({ event: "message_stop", data: "{}" }).length, 1);
    assert.deepEqual(decoder.push({ event: "message_stop", data: "{}" }), []);
    assert.deepEqual(decoder.push({ event: undefined, data: "not JSON" }), []);
  });

  const errors: [type: string, message: string, code: string, retryable: boolean][] = [
    ["overloaded_error", "Overloaded", "provider-overloaded", true],
    ["rate_limit_error", "slow", "provider-rate-limit", true],
    ["api_error", "oops", "provider-unavailable", true],
    ["timeout_error", "late", "provider-timeout", true],
    ["authentication_error", "who", "provider-auth", false],
    ["permission_error", "no", "provider-auth", false],
    ["invalid_request_error", "bad", "provider-bad-request", false],
    ["invalid_request_error", "prompt is too long: 9 > 8", "context-overflow", false],
    ["not_found_error", "nope", "provider-bad-request", false],
    ["brand_new_error", "?", "provider-unavailable", true],
  ];
  for (const [type, message, code, retryable] of errors) {
    it(`throws ${code} for ${type} (${message}) inside the stream`, () => {
      assert.throws(
        () => decode([start(), { type: "error", error: { type, message } }]),
        (error: unknown) => {
          assert.ok(error instanceof RuntimeError);
          const words = `Anthropic broke off its answer with ${type}: ${message}`;
          const { hint: _, ...told } = error.toJSON();
          const known = type === "brand_new_error" ? {} : { errorType: type };
          assert.deepEqual(told, { code, retryable, message: words, ...known });
          return true;
        },
      );
    });
  }

  for (const data of [
    '{"type":"message_st',
    "",
    "[]",
    "null",
    '{"type":"content_block_delta","index":0}',
    '{"type":"content_block_delta","index":7,"delta":{}}',
  ]) {
    it(`refuses the payload ${data || "(empty)"}`, () => {
      const decoder = anthropicMessages.decoder(request, "anthropic");
      assert.throws(() => decoder.push({ event: undefined, data }), { code: "provider-protocol", retryable: true });
    });
  }
});

function decode(
  payloads: readonly object[],
  asked: ModelRequest = request,
): { events: ModelEvent[]; message: AssistantMessage | undefined } {
  const decoder = anthropicMessages.decoder(asked, "anthropic");
  const events = payloads.flatMap((payload) => decoder.push({ event: undefined, data: JSON.stringify(payload) }));
  const last = events.at(-1);
  return last?.type === "finished" ? { events: events.slice(0, -1), message: last.message } : { events, message: undefined };
}

function start(message: object = {}): object {
  return { type: "message_start", message };
}
function block(index: number, content_block: object): object {
  return { type: "content_block_start", index, content_block };
}
function delta(index: number, delta: object): object {
  return { type: "content_block_delta", index, delta };
}
function stop(index: number): object {
  return { type: "content_block_stop", index };
}
function end(stop_reason: string, usage: object = {}): object {
  return { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage };
}

function assistant(content: AssistantPart[]): AssistantMessage {
  return { role: "assistant", content, model: { provider: "anthropic", id: "m" }, finish: "stop", usage: noUsage };
}

function messagesOf(messages: readonly Message[]): JsonObject[] {
  return anthropicMessages.encode({ ...request, messages })["messages"] as JsonObject[];
}
