import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { encodeReply } from "./anthropic-stream.ts";
import { startModelServer } from "./model-server.ts";

const ask = (url: string, body: string = '{"model":"m"}'): Promise<Response> =>
  fetch(`${url}/v1/messages`, { method: "POST", body });

describe("startModelServer", () => {
  it("follows its script and remembers the requests", async () => {
    const server = await startModelServer({
      replies: [
        { text: "one" },
        (request, index) => ({ text: `${JSON.stringify(request.body)} ${index}` }),
        { status: 429, headers: { "retry-after": "3" } },
      ],
    });
    assert.equal(await (await ask(server.url)).text(), encodeReply({ text: "one" }, { index: 0, model: "m" }));
    assert.equal(
      await (await ask(server.url, "no json")).text(),
      encodeReply({ text: '"no json" 1' }, { index: 1, model: "unknown" }),
    );
    const limited = await ask(server.url);
    assert.deepEqual(
      [limited.status, limited.headers.get("retry-after"), await limited.json()],
      [429, "3", { type: "error", error: { type: "rate_limit_error", message: "Scripted status 429" } }],
    );
    const beyond = await ask(server.url);
    assert.deepEqual(
      [beyond.status, await beyond.json()],
      [400, { type: "error", error: { type: "invalid_request_error", message: "The script has 3 replies, but request 4 came" } }],
    );
    assert.deepEqual(
      server.requests.map(({ method, url, body }) => [method, url, body]),
      [
        ["POST", "/v1/messages", { model: "m" }],
        ["POST", "/v1/messages", "no json"],
        ["POST", "/v1/messages", { model: "m" }],
        ["POST", "/v1/messages", { model: "m" }],
      ],
    );
    await server.close();
  });

  it("speaks the wire of the path it is asked on, also when it fails or its script is over", async () => {
    const server = await startModelServer({ replies: [{ text: "hi" }, { status: 500 }] });
    const post = (path: string): Promise<Response> =>
      fetch(`${server.url}${path}`, { method: "POST", body: '{"model":"m","stream":true}' });
    const head =
      '{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[{"index":0,"delta":';
    const chunk = (delta: string, finish: string): string =>
      `data: ${head}${delta},"logprobs":null,"finish_reason":${finish}}]}\n\n`;
    assert.equal(
      await (await post("/openai/v1/chat/completions?api-version=1")).text(),
      `${chunk('{"role":"assistant","content":""}', "null")}${chunk('{"content":"hi"}', "null")}${chunk("{}", '"stop"')}data: [DONE]\n\n`,
    );
    assert.deepEqual(await (await post("/chat/completions")).json(), {
      error: { message: "Scripted status 500", type: "server_error", param: null, code: null },
    });
    assert.deepEqual(await (await post("/chat/completions")).json(), {
      error: {
        message: "The script has 2 replies, but request 3 came",
        type: "invalid_request_error",
        param: null,
        code: null,
      },
    });
    await server.close();
  });

  it("counts in OpenAI's chat only for those who ask", async () => {
    const server = await startModelServer({ replies: () => ({ text: "hi", usage: { inputTokens: 3 } }) });
    const bodies = ['{"stream_options":{"include_usage":true}}', "{}"];
    const texts = await Promise.all(
      bodies.map(async (body) => (await fetch(`${server.url}/v1/chat/completions`, { method: "POST", body })).text()),
    );
    assert.deepEqual(
      texts.map((text) => text.includes('"choices":[],"usage":{"prompt_tokens":3,')),
      [true, false],
    );
    await server.close();
  });

  it("fails by status before the first word, and inside the stream after it", async () => {
    const fail = { code: "provider-overloaded", message: "busy" } as const;
    const server = await startModelServer({ replies: [{ fail }, { text: "so", fail }] });
    assert.equal((await ask(server.url)).status, 529);
    const second = await ask(server.url);
    assert.equal(second.status, 200);
    assert.match(
      await second.text(),
      /"text":"so".*event: error\ndata: \{"type":"error","error":\{"type":"overloaded_error","message":"busy"\}\}\n\n$/s,
    );
    await server.close();
  });

  it("gives every answer's calls ids of their own", async () => {
    const reply = { calls: [{ name: "Read" }] };
    const server = await startModelServer({ replies: () => reply });
    const ids = [];
    for (let n = 0; n < 2; n++) ids.push(/call_\d_\d/.exec(await (await ask(server.url)).text())?.[0]);
    assert.deepEqual(ids, ["call_1_1", "call_2_1"]);
    await server.close();
  });

  it("sends exactly as many bytes as it was told to before it hangs up", async () => {
    const server = await startModelServer({ replies: [{ text: "some words", dropAfterBytes: 123, chunkBytes: 10 }] });
    const response = await ask(server.url);
    let count = 0;
    await assert.rejects(async () => {
      for await (const chunk of response.body ?? []) count += chunk.length;
    });
    assert.equal(count, 123);
    await server.close();
  });

  it("closes at once whatever hangs, stalls or waits", async () => {
    const server = await startModelServer({
      replies: [
        { text: "x", hang: true },
        { stallAfterBytes: 3 },
        { delayMs: 60_000 },
        { firstByteDelayMs: 60_000 },
        { text: "a b c", chunkDelayMs: 60_000 },
      ],
    });
    const asked = Array.from({ length: 5 }, () => ask(server.url).then((response) => response.text()));
    while (server.requests.length < 5) await new Promise((resolve) => setTimeout(resolve, 5));
    await server.close();
    const results = await Promise.allSettled(asked);
    assert.deepEqual(
      results.map(({ status }) => status),
      Array(5).fill("rejected"),
    );
  });
});
