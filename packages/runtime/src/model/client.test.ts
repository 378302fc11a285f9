import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import { noUsage, userText } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { encodeReply } from "../testing/anthropic-stream.ts";
import { type ModelServer, type ServerReply, startModelServer } from "../testing/model-server.ts";
import { createModelClient, type ModelClientOptions } from "./client.ts";
import { anthropicHttpError, anthropicMessages } from "./dialects/anthropic-messages.ts";
import type { ModelClient, ModelEvent, ModelRequest } from "./model.ts";

const request: ModelRequest = { model: "claude-x", system: "s", messages: [userText("hi")], tools: [] };
const quick = { baseDelayMs: 2, maxDelayMs: 4 };
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

describe("an answer", () => {
  it("is streamed and ends with the whole message", async () => {
    const { client, server } = await setUp([
      { reasoning: "let me see", text: "Grüße, Welt", usage: { inputTokens: 9, outputTokens: 3 } },
    ]);
    const events = await collect(client);
    assert.deepEqual(events, [
      { type: "reasoning.delta", text: "let " },
      { type: "reasoning.delta", text: "me " },
      { type: "reasoning.delta", text: "see" },
      { type: "reasoning.delta", text: "", signature: "scripted-signature" },
      { type: "text.delta", text: "Grüße, " },
      { type: "text.delta", text: "Welt" },
      {
        type: "finished",
        message: {
          role: "assistant",
          content: [
            {
              type: "reasoning",
              text: "let me see",
              providerMetadata: { "anthropic-messages": { signature: "scripted-signature" } },
            },
            { type: "text", text: "Grüße, Welt" },
          ],
          model: { provider: "test", id: "claude-x" },
          finish: "stop",
          stopReason: "end_turn",
          usage: { ...noUsage, inputTokens: 9, outputTokens: 3 },
          requestId: "req_1",
          responseId: "msg_1",
        },
      },
    ]);
    assert.deepEqual(server.requests[0]?.body, anthropicMessages.encode(request));
    assert.equal(server.requests[0]?.headers["x-api-key"], "top-secret-key");
  });

  it("is asked for with whole characters only", async () => {
    const { client, server } = await setUp([{ text: "ok" }]);
    const said = 'half \ud83d, whole 🙂, written \\ud83d and "\\\ud800"';
    await collect(client, { asked: { ...request, messages: [userText(said)] } });
    assert.match(JSON.stringify(server.requests[0]?.body), /half \ufffd, whole 🙂, written \\\\ud83d and \\"\\\\\ufffd\\"/);
  });

  it("is the same however its bytes are cut into pieces", async () => {
    const reply = { text: "naïve 日本語 \u2028 line 🙂 end", calls: [{ name: "Write", input: { text: "🙂\u2029é" } }] };
    const sizes = [1, 2, 3, 7, 64];
    const { client } = await setUp(sizes.map((chunkBytes) => ({ ...reply, chunkBytes })));
    for (const size of sizes) {
      const last = (await collect(client)).at(-1);
      assert.ok(last?.type === "finished");
      const [text, call] = last.message.content;
      assert.deepEqual(text, { type: "text", text: reply.text }, `pieces of ${size} bytes`);
      assert.deepEqual(call?.type === "tool-call" && call.input, { text: "🙂\u2029é" }, `pieces of ${size} bytes`);
    }
  });

  it("is over with its last event, also when the connection stays open", async () => {
    const payload = encodeReply({ text: "done" }, { index: 0, model: "m" });
    const { client } = await setUp([{ raw: `${payload}data: garbage after the end\n\n`, stallAfterBytes: 1e9 }]);
    assert.equal((await collect(client)).at(-1)?.type, "finished");
  });

  it("uses the connection of the answer before", async () => {
    const { client, server } = await setUp([{ text: "one" }, { text: "two" }, { text: "three" }]);
    for (let n = 0; n < 3; n++) {
      await collect(client);
      await new Promise((resolve) => setTimeout(resolve, 20)); // the last bytes of an answer may still be on their way
    }
    assert.equal(server.connections, 1);
  });

  it("of 20,000 pieces arrives whole", async () => {
    const text = "word ".repeat(20_000);
    const { client } = await setUp([{ text }]);
    const events = await collect(client);
    assert.equal(events.length, 20_001);
    const last = events.at(-1);
    assert.deepEqual(last?.type === "finished" && last.message.content, [{ type: "text", text }]);
  });
});

describe("a stream cut at any byte", () => {
  it("fails as something to try again, and never delivers half an answer", async () => {
    const reply = { text: "ok é", calls: [{ name: "Read", input: { path: "ü" } }] };
    const raw = encodeReply(reply, { index: 0, model: "claude-x" });
    const whole = Buffer.byteLength(raw);
    const { client, server } = await setUp((_, index) => ({ raw, dropAfterBytes: index }), { retry: { maxRetries: 0 } });
    for (let offset = 0; offset < whole; offset++) {
      const events: ModelEvent[] = [];
      const error = await collect(client, { into: events }).then(
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
    const events = await collect(client);
    assert.equal(events.filter((event) => event.type === "finished").length, 1, "cut after the last byte");
  });
});

describe("retries", () => {
  const transient: [what: string, reply: ServerReply, code: string][] = [
    ["408", { status: 408 }, "provider-unavailable"],
    ["409", { status: 409 }, "provider-unavailable"],
    ["429", { status: 429 }, "provider-rate-limit"],
    ["500", { status: 500 }, "provider-unavailable"],
    ["503 with a page", { status: 503, body: "<html>busy</html>" }, "provider-unavailable"],
    ["529", { status: 529 }, "provider-overloaded"],
    ["a connection that is cut before the headers", { dropBeforeHeaders: true }, "provider-unavailable"],
    ["a connection that is cut in the middle", { text: "half a", dropAfterBytes: 500 }, "provider-unavailable"],
    ["a stream that ends too early", { raw: "event: ping\ndata: {}\n\n" }, "provider-unavailable"],
    ["an empty stream", { raw: "" }, "provider-unavailable"],
    ["garbage in the stream", { raw: Buffer.from([0xff, 0xfe, 0x00, 0x0a, 0x0a, 0x93]) }, "provider-unavailable"],
    ["broken JSON in the stream", { raw: 'data: {"type":\n\n' }, "provider-protocol"],
    ["an error inside the stream", { text: "hm", fail: { code: "provider-overloaded", message: "busy" } }, "provider-overloaded"],
    ["headers that do not come", { delayMs: 5_000 }, "provider-timeout"],
    ["a first byte that does not come", { firstByteDelayMs: 5_000 }, "provider-timeout"],
    ["a stream that stalls", { text: "hm", stallAfterBytes: 300 }, "provider-timeout"],
  ];
  for (const [what, reply, code] of transient) {
    it(`tries again after ${what}`, async () => {
      const timeouts = { headersMs: 300, firstByteMs: 300, idleMs: 300 };
      const { client } = await setUp([reply, { text: "fine" }], { retry: quick, timeouts });
      const events = await collect(client);
      const retries = events.filter((event) => event.type === "retry.scheduled");
      assert.deepEqual(
        retries.map(
          (event) =>
            event.type === "retry.scheduled" && [event.attempt, event.maxRetries, event.error.code, event.error.retryable],
        ),
        [[1, 6, code, true]],
      );
      assert.deepEqual(events.slice(-2, -1), [{ type: "text.delta", text: "fine" }]);
    });
  }

  const final: [what: string, reply: ServerReply, code: string][] = [
    ["400", { status: 400 }, "provider-bad-request"],
    ["401", { status: 401 }, "provider-auth"],
    ["403", { status: 403 }, "provider-auth"],
    ["404", { status: 404 }, "provider-bad-request"],
    ["413", { status: 413 }, "provider-bad-request"],
    ["a prompt that is too long", { fail: { code: "context-overflow", message: "9 > 8" } }, "context-overflow"],
    [
      "an invalid request inside the stream",
      { text: "x", fail: { code: "provider-bad-request", message: "no" } },
      "provider-bad-request",
    ],
    [
      "a page instead of a stream",
      { body: "<html>Sign in</html>", headers: { "content-type": "text/html" } },
      "provider-protocol",
    ],
    ["JSON instead of a stream", { body: { ok: true } }, "provider-protocol"],
  ];
  for (const [what, reply, code] of final) {
    it(`does not try again after ${what}`, async () => {
      const { client, server } = await setUp([reply, { text: "too late" }], { retry: quick });
      await assert.rejects(collect(client), { code, retryable: false });
      assert.equal(server.requests.length, 1);
    });
  }

  it("waits longer every time, on a new connection, and says how often it tried", async () => {
    const { client, server } = await setUp(() => ({ status: 500 }), {
      retry: { maxRetries: 3, baseDelayMs: 4, maxDelayMs: 8 },
      random: () => 0,
    });
    const events: ModelEvent[] = [];
    await assert.rejects(collect(client, { into: events }), {
      code: "provider-unavailable",
      message: "Anthropic answered HTTP 500: Scripted status 500 (gave up after 3 retries)",
    });
    assert.deepEqual(
      events.map((event) => event.type === "retry.scheduled" && [event.attempt, event.delayMs]),
      [
        [1, 2],
        [2, 4],
        [3, 4],
      ],
    );
    assert.equal(server.connections, 4);
    const bodies = new Set(server.requests.map(({ body }) => JSON.stringify(body)));
    assert.equal(bodies.size, 1);
  });

  it("waits as long as the server asks, by number or by date", async () => {
    const date = "Thu, 01 Jan 2026 00:00:00 GMT";
    const { client } = await setUp(
      [{ status: 429, headers: { "retry-after-ms": "15" } }, { status: 529, headers: { "retry-after": date } }, { text: "fine" }],
      { now: () => Date.parse(date) - 25 },
    );
    const delays = (await collect(client)).flatMap((event) => (event.type === "retry.scheduled" ? [event.delayMs] : []));
    assert.deepEqual(delays, [15, 25]);
  });

  it("fails at once when the server asks for too long a pause", async () => {
    const { client } = await setUp([{ status: 429, headers: { "retry-after": "3600" } }]);
    await assert.rejects(collect(client), {
      code: "provider-rate-limit",
      retryAfterMs: 3_600_000,
      message: "Anthropic answered HTTP 429: Scripted status 429 (the server asks to wait 3600 s)",
    });
  });

  it("shows what answered instead of the model, without the key", async () => {
    const { client } = await setUp([{ body: `<html>you sent top-secret-key</html>`, headers: { "content-type": "text/html" } }]);
    await assert.rejects(collect(client), {
      message: "Expected an answer of the model, got text/html: <html>you sent [redacted]</html>",
    });
  });
});

describe("abort", () => {
  const reason = new Error("enough");
  const stages: [what: string, reply: ServerReply, abortOn: ModelEvent["type"] | "request"][] = [
    ["before the headers", { delayMs: 60_000 }, "request"],
    ["before the first byte", { firstByteDelayMs: 60_000 }, "request"],
    ["in the middle", { text: "word", hang: true }, "text.delta"],
    ["during the pause before a retry", { status: 429, headers: { "retry-after": "100" } }, "retry.scheduled"],
  ];
  for (const [what, reply, abortOn] of stages) {
    it(`ends at once ${what}`, async () => {
      const controller = new AbortController();
      const { client } = await setUp(() => {
        if (abortOn === "request") setTimeout(() => controller.abort(reason), 20);
        return reply;
      });
      const read = async (): Promise<void> => {
        for await (const event of client.stream(request, { signal: controller.signal })) {
          if (event.type === abortOn) setTimeout(() => controller.abort(reason), 5);
        }
      };
      await assert.rejects(read(), reason);
    });
  }
});

async function setUp(
  replies: Parameters<typeof startModelServer>[0]["replies"],
  options: Partial<ModelClientOptions> = {},
): Promise<{ client: ModelClient; server: ModelServer }> {
  const server = await startModelServer({ replies });
  const client = createModelClient({
    name: "test",
    dialect: anthropicMessages,
    endpoint: () => ({ url: `${server.url}/v1/messages`, headers: { "x-api-key": "top-secret-key" } }),
    toError: anthropicHttpError,
    ...options,
  });
  closers.push(() => client.close(), server.close);
  return { client, server };
}

async function collect(
  client: ModelClient,
  { into = [], asked = request }: { into?: ModelEvent[]; asked?: ModelRequest } = {},
): Promise<ModelEvent[]> {
  for await (const event of client.stream(asked, { signal: new AbortController().signal })) into.push(event);
  return into;
}
