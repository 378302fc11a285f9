import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { noUsage, userText } from "../protocol/content.ts";
import type { ModelClient, ModelEvent, ModelRequest } from "./model.ts";
import { createScriptedProvider, parseScript } from "./scripted.ts";

const request: ModelRequest = { model: "m", system: "s", messages: [userText("hi")], tools: [] };

describe("createScriptedProvider", () => {
  it("says its replies in order, word by word", async () => {
    const provider = createScriptedProvider([
      {
        reasoning: "think",
        text: "Hello  wide\nworld",
        calls: [
          { name: "Read", input: { path: "x" } },
          { name: "Bad", malformedInput: "{" },
        ],
      },
      (asked, index) => ({ text: `${asked.model} ${index}`, finish: "length", usage: { outputTokens: 7 } }),
    ]);
    assert.deepEqual(await collect(provider), [
      { type: "reasoning.delta", text: "think" },
      { type: "text.delta", text: "Hello  " },
      { type: "text.delta", text: "wide\n" },
      { type: "text.delta", text: "world" },
      { type: "tool-input.delta", callId: "call_1_1", name: "Read", json: '{"path":"x"}' },
      { type: "tool-input.delta", callId: "call_1_2", name: "Bad", json: "{" },
      {
        type: "finished",
        message: {
          role: "assistant",
          content: [
            { type: "reasoning", text: "think" },
            { type: "text", text: "Hello  wide\nworld" },
            { type: "tool-call", callId: "call_1_1", name: "Read", input: { path: "x" } },
            { type: "tool-call", callId: "call_1_2", name: "Bad", input: {}, malformedInput: "{" },
          ],
          model: { provider: "scripted", id: "m" },
          finish: "tool-calls",
          usage: noUsage,
        },
      },
    ]);
    const last = (await collect(provider)).at(-1);
    assert.ok(last?.type === "finished");
    assert.deepEqual(
      [last.message.content, last.message.finish, last.message.usage],
      [[{ type: "text", text: "m 1" }], "length", { ...noUsage, outputTokens: 7 }],
    );
  });

  it("remembers what it was asked as it was then", async () => {
    const provider = createScriptedProvider([{ text: "a" }, { text: "b" }]);
    const messages = [userText("one")];
    await collect(provider, { ...request, messages });
    messages.push(userText("two"));
    await collect(provider, { ...request, messages });
    assert.deepEqual(
      provider.requests.map((asked) => asked.messages),
      [[userText("one")], [userText("one"), userText("two")]],
    );
  });

  it("says which reply is missing", async () => {
    const provider = createScriptedProvider([{ text: "only" }]);
    await collect(provider);
    await assert.rejects(collect(provider), { code: "config", message: "The script has 1 reply, but reply 2 was asked for" });
  });

  it("fails after what it said", async () => {
    const provider = createScriptedProvider([
      { text: "so", fail: { code: "provider-overloaded", message: "busy", retryable: true, httpStatus: 529 } },
    ]);
    const events: ModelEvent[] = [];
    await assert.rejects(collect(provider, request, events), {
      code: "provider-overloaded",
      message: "busy",
      retryable: true,
      httpStatus: 529,
    });
    assert.deepEqual(events, [{ type: "text.delta", text: "so" }]);
  });

  for (const reply of [{ text: "hm", hang: true }, { delayMs: 60_000 }]) {
    it(`ends at once when it is aborted: ${JSON.stringify(reply)}`, async () => {
      const controller = new AbortController();
      const reason = new Error("enough");
      const provider = createScriptedProvider([reply]);
      setTimeout(() => controller.abort(reason), 10);
      await assert.rejects(async () => {
        for await (const _ of provider.stream(request, { signal: controller.signal }));
      }, reason);
    });
  }
});

describe("parseScript", () => {
  it("takes a list, or an object that holds it", () => {
    const replies = [
      { text: "a", reasoning: "r", usage: { inputTokens: 1 }, delayMs: 0, finish: "length" },
      { calls: [{ name: "Read", input: { path: "x" }, callId: "c", malformedInput: "{" }], hang: false },
      { fail: { code: "provider-auth", message: "no", retryable: false } },
    ];
    assert.deepEqual(parseScript(replies), replies);
    assert.deepEqual(parseScript({ replies }), replies);
  });

  const rows: [unknown, string][] = [
    ["text", 'A script is a list of replies, or an object with a list of "replies"'],
    [{ replies: {} }, 'A script is a list of replies, or an object with a list of "replies"'],
    [[{}, "x"], "reply 2 must be an object"],
    [[{ text: 1 }], "reply 1.text must be a text"],
    [[{ tetx: "a" }], 'reply 1 has no field "tetx"; did you mean "text"?'],
    [[{ calls: {} }], "reply 1.calls must be a list of calls"],
    [[{ calls: [{ input: {} }] }], 'reply 1.calls[0] needs "name"'],
    [[{ calls: [{ name: "A", input: [] }] }], "reply 1.calls[0].input must be an object"],
    [[{ usage: { inputTokens: -1 } }], "reply 1.usage.inputTokens must be a number, 0 or more"],
    [[{ hang: "yes" }], "reply 1.hang must be true or false"],
    [[{ fail: { code: "provider-auth" } }], 'reply 1.fail needs "message"'],
  ];
  for (const [value, message] of rows) {
    it(`refuses ${JSON.stringify(value)}`, () => assert.throws(() => parseScript(value), { code: "config", message }));
  }

  it("lists what it would have taken", () => {
    assert.throws(() => parseScript([{ finish: "done" }]), {
      message: /^reply 1\.finish must be one of stop, stop-sequence, length/,
    });
    assert.throws(() => parseScript([{ fail: { code: "oops", message: "" } }]), {
      message: /^reply 1\.fail\.code must be one of config, provider-auth/,
    });
  });
});

async function collect(client: ModelClient, asked: ModelRequest = request, into: ModelEvent[] = []): Promise<ModelEvent[]> {
  for await (const event of client.stream(asked, { signal: new AbortController().signal })) into.push(event);
  return into;
}
