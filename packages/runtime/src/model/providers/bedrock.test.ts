import assert from "node:assert/strict";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { afterEach, describe, it } from "node:test";
import { crc32 } from "node:zlib";
import { noUsage, userText } from "../../protocol/content.ts";
import { encodeReply } from "../../testing/anthropic-stream.ts";
import { signRequest } from "../auth/sigv4.ts";
import type { ModelEvent } from "../model.ts";
import { createProvider } from "./create-provider.ts";
import type { ProviderSettings } from "./definition.ts";
import { requireProvider } from "./definitions.ts";
import { checkProvider } from "./probe.ts";

const model = "global.anthropic.claude-x-v1:0";
const keys = {
  AWS_ACCESS_KEY_ID: "AKIDEXAMPLE",
  AWS_SECRET_ACCESS_KEY: "the-aws-secret",
  AWS_SESSION_TOKEN: "the-session-token",
};
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

describe("bedrock", () => {
  it("signs its requests and reads the event stream, whatever pieces it comes in", async () => {
    for (const pieceLength of [1, 7, 100_000]) {
      const server = await start((response) => sendReply(response, pieceLength));
      const events = await ask({ env: { ...keys, AWS_REGION: "eu-central-1" }, baseURL: server.url });
      assert.deepEqual(events.at(-1), {
        type: "finished",
        message: {
          role: "assistant",
          content: [
            { type: "text", text: "Grüße 🙂" },
            { type: "tool-call", callId: "call_1_1", name: "Read", input: { path: "a" } },
          ],
          model: { provider: "bedrock", id: model },
          finish: "tool-calls",
          stopReason: "tool_use",
          usage: { ...noUsage, inputTokens: 3, outputTokens: 2 },
          responseId: "msg_1",
        },
      });

      const [request] = server.requests;
      assert.ok(request);
      const { authorization, "x-amz-date": date, "x-amz-security-token": token, "content-type": type, accept } = request.headers;
      assert.deepEqual(
        { url: request.url, token, type, accept },
        {
          url: "/model/global.anthropic.claude-x-v1%3A0/invoke-with-response-stream",
          token: "the-session-token",
          type: "application/json",
          accept: "application/vnd.amazon.eventstream",
        },
      );
      const again = signRequest(
        {
          method: "POST",
          url: `${server.url}${request.url}`,
          headers: { "content-type": "application/json" },
          body: request.body,
        },
        {
          credentials: {
            accessKeyId: keys.AWS_ACCESS_KEY_ID,
            secretAccessKey: keys.AWS_SECRET_ACCESS_KEY,
            sessionToken: keys.AWS_SESSION_TOKEN,
          },
          region: "eu-central-1",
          service: "bedrock",
          now: Date.parse(String(date).replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z")),
        },
      );
      assert.equal(authorization, again["authorization"]);
      const { anthropic_version, model: inBody, stream, region, messages } = JSON.parse(request.body);
      assert.deepEqual(
        [anthropic_version, inBody, stream, region, messages.length],
        ["bedrock-2023-05-31", undefined, undefined, undefined, 1],
      );
    }
  });

  it("sends a Bedrock key as it is, and finds region and address by the environment", async () => {
    const server = await start((response) => sendReply(response, 50));
    await ask({ env: { AWS_BEARER_TOKEN_BEDROCK: "bedrock-key", ...keys, AWS_ENDPOINT_URL_BEDROCK_RUNTIME: server.url } });
    const { authorization, "x-amz-date": date } = server.requests[0]?.headers ?? {};
    assert.deepEqual([authorization, date], ["Bearer bedrock-key", undefined]);

    const definition = requireProvider("bedrock");
    const { baseURL = "" } = definition;
    const key = { value: "k", variable: undefined };
    const connection = await definition.connect({
      definition,
      baseURL,
      key,
      model,
      options: { region: "us-west-2" },
      env: {},
      ca: [],
    });
    const attempt = { body: "{}", signal: new AbortController().signal, now: 0, isWhole: false };
    const { url } = await connection.endpoint(
      { model: "arn:aws:bedrock:x:1:inference-profile/y", system: "", messages: [], tools: [] },
      attempt,
    );
    assert.equal(
      url,
      "https://bedrock-runtime.us-west-2.amazonaws.com/model/arn%3Aaws%3Abedrock%3Ax%3A1%3Ainference-profile%2Fy/invoke-with-response-stream",
    );
  });

  it("tries again after an exception in the stream that may pass, on a body signed anew", async () => {
    let asked = 0;
    const server = await start((response) => {
      asked++;
      if (asked > 1) return sendReply(response, 1_000);
      response.writeHead(200, { "content-type": "application/vnd.amazon.eventstream" });
      response.write(wrap({ type: "message_start", message: { id: "x", usage: {} } }));
      response.end(frame({ ":message-type": "exception", ":exception-type": "throttlingException" }, '{"message":"slow"}'));
    });
    const events = await ask({
      env: { ...keys, AWS_REGION: "r" },
      baseURL: server.url,
      retry: { baseDelayMs: 1, maxDelayMs: 1 },
    });
    const retry = events.find((event) => event.type === "retry.scheduled");
    assert.deepEqual([retry?.error.code, events.at(-1)?.type, asked], ["provider-rate-limit", "finished", 2]);
  });

  it("tells refusals in its own name, without the secrets", async () => {
    const said = { message: "The security token the-session-token included in the request is invalid" };
    const server = await start((response) =>
      response.writeHead(403, { "content-type": "application/json" }).end(JSON.stringify(said)),
    );
    const settings: ProviderSettings = { env: { ...keys, AWS_REGION: "r" }, baseURL: server.url, model };
    await assert.rejects(ask(settings), {
      code: "provider-auth",
      message: "Amazon Bedrock answered HTTP 403: The security token [redacted] included in the request is invalid",
    });
    const check = await checkProvider(requireProvider("bedrock"), settings, { signal: new AbortController().signal });
    assert.equal(check.type === "failed" && check.error.code, "provider-auth");

    const long = await start((response) => response.writeHead(400).end('{"message":"Input is too long for requested model."}'));
    await assert.rejects(ask({ ...settings, baseURL: long.url }), { code: "context-overflow" });
  });

  it("is checked with a short message, since it has no cheaper question", async () => {
    const server = await start((response) => sendReply(response, 1_000));
    const settings: ProviderSettings = { apiKey: "bedrock-key", env: {}, baseURL: server.url, model };
    const check = await checkProvider(requireProvider("bedrock"), settings, { signal: new AbortController().signal });
    assert.deepEqual(check, { type: "ok", models: [] });
    assert.equal(JSON.parse(server.requests[0]?.body ?? "{}").max_tokens, 16);
  });
});

type Seen = { url: string; headers: IncomingHttpHeaders; body: string };

async function start(answer: (response: ServerResponse) => unknown): Promise<{ url: string; requests: Seen[] }> {
  const requests: Seen[] = [];
  const server = process.getBuiltinModule("node:http").createServer(async (incoming, response) => {
    let body = "";
    for await (const chunk of incoming.setEncoding("utf8")) body += chunk;
    requests.push({ url: incoming.url ?? "", headers: incoming.headers, body });
    answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  return { url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`, requests };
}

/** What the scripted server would stream as server-sent events, in Bedrock's frames. */
function sendReply(response: ServerResponse, pieceLength: number): void {
  const reply = {
    text: "Grüße 🙂",
    calls: [{ name: "Read", input: { path: "a" } }],
    usage: { inputTokens: 3, outputTokens: 2 },
  };
  const events = encodeReply(reply, { index: 0, model }).match(/(?<=^data: ).*$/gm) ?? [];
  const bytes = Buffer.concat(events.map((json) => wrap(JSON.parse(json))));
  response.writeHead(200, { "content-type": "application/vnd.amazon.eventstream" });
  for (let start = 0; start < bytes.length; start += pieceLength) response.write(bytes.subarray(start, start + pieceLength));
  response.end();
}

function wrap(payload: object): Buffer {
  const headers = { ":event-type": "chunk", ":content-type": "application/json", ":message-type": "event" };
  return frame(headers, JSON.stringify({ bytes: Buffer.from(JSON.stringify(payload)).toString("base64"), p: "abcd" }));
}

function frame(headers: Record<string, string>, body: string): Buffer {
  const encoded = Buffer.concat(
    Object.entries(headers).map(([name, value]) =>
      Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from([7, 0, value.length]), Buffer.from(value)]),
    ),
  );
  const start = Buffer.alloc(12);
  start.writeUInt32BE(16 + encoded.length + Buffer.byteLength(body), 0);
  start.writeUInt32BE(encoded.length, 4);
  start.writeUInt32BE(crc32(start.subarray(0, 8)), 8);
  const all = Buffer.concat([start, encoded, Buffer.from(body)]);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(all));
  return Buffer.concat([all, checksum]);
}

async function ask(settings: ProviderSettings): Promise<ModelEvent[]> {
  const provider = await createProvider(requireProvider("bedrock"), { model, ...settings });
  closers.push(() => provider.close());
  const events: ModelEvent[] = [];
  const request = { model, system: "", messages: [userText("hi")], tools: [], options: { region: "eu-central-1" } };
  for await (const event of provider.stream(request, { signal: new AbortController().signal })) events.push(event);
  return events;
}
