import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import { type ModelServer, type ServerReply, startModelServer } from "../../testing/model-server.ts";
import type { ProviderDefinition } from "./definition.ts";
import { providerDefinitions, requireProvider } from "./definitions.ts";
import { checkProvider, type LocalServer, probeLocal } from "./probe.ts";

const signal = new AbortController().signal;
const secret = "s3cret-key-value";
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

describe("probeLocal", () => {
  it("finds a server that lists its models", async () => {
    const server = await start([{ body: { object: "list", data: [{ id: "qwen3:8b" }, { id: "gemma" }, { nonsense: 1 }] } }]);
    assert.deepEqual(await probe(server.port), { baseURL: `${server.url}/v1`, models: ["qwen3:8b", "gemma"] });
    assert.deepEqual([server.requests[0]?.method, server.requests[0]?.url], ["GET", "/v1/models"]);
  });

  it("finds nothing where nobody listens, or something else answers, or nothing comes in time", async () => {
    const gone = await startModelServer({ replies: [] });
    await gone.close();
    assert.equal(await probe(gone.port), undefined);
    const odd = await start([{ body: "<html>a development server</html>" }, { status: 404, body: {} }, { body: { ok: 1 } }]);
    for (let n = 0; n < 3; n++) assert.equal(await probe(odd.port), undefined);
    const slow = await start([{ body: { data: [] }, delayMs: 60_000 }]);
    const started = Date.now();
    assert.equal(await probe(slow.port), undefined);
    assert.ok(Date.now() - started < 5_000);
  });

  it("asks nobody for a provider that is not local", async () => {
    assert.equal(await probeLocal(requireProvider("openai"), { signal }), undefined);
    assert.deepEqual(
      providerDefinitions.flatMap(({ name, local }) => (local ? [`${name} ${local.port}`] : [])),
      ["ollama 11434", "lmstudio 1234", "llama.cpp 8080", "vllm 8000"],
    );
  });

  it("ends with its signal", async () => {
    const server = await start([{ delayMs: 60_000 }]);
    const controller = new AbortController();
    const probing = probeLocal(at("ollama", server.port), { signal: controller.signal, timeoutMs: 60_000 });
    controller.abort(new Error("enough"));
    await assert.rejects(probing, { message: "enough" });
  });
});

describe("checkProvider", () => {
  const rows: [name: string, url: string, header: string, value: string][] = [
    ["anthropic", "/v1/models", "x-api-key", secret],
    ["openai", "/v1/models", "authorization", `Bearer ${secret}`],
    ["gemini", "/v1beta/models", "x-goog-api-key", secret],
    ["openrouter", "/api/v1/key", "authorization", `Bearer ${secret}`],
    ["deepseek", "/models", "authorization", `Bearer ${secret}`],
  ];
  for (const [name, url, header, value] of rows) {
    it(`asks ${name} for ${url}`, async () => {
      const server = await start([{ body: { data: [{ id: "a" }] } }]);
      const check = await checkProvider(requireProvider(name), { apiKey: secret, env: {}, baseURL: server.url }, { signal });
      assert.deepEqual(check, { type: "ok", models: ["a"] });
      const [request] = server.requests;
      assert.deepEqual([request?.method, request?.url, request?.headers[header]], ["GET", url, value]);
    });
  }

  it("reads Gemini's list too", async () => {
    const server = await start([{ body: { models: [{ name: "models/gemini-x" }] } }]);
    const check = await checkProvider(requireProvider("gemini"), { apiKey: secret, env: {}, baseURL: server.url }, { signal });
    assert.deepEqual(check, { type: "ok", models: ["gemini-x"] });
  });

  it("asks for a short message where there is no list", async () => {
    const server = await start([{ status: 404, body: "no such page" }, { text: "hello" }]);
    const settings = { apiKey: secret, env: {}, baseURL: server.url };
    const check = await checkProvider(requireProvider("qwen"), settings, { signal });
    assert.deepEqual(check, { type: "ok", models: [] });
    assert.equal(server.requests[1]?.url, "/compatible-mode/v1/chat/completions");
  });

  it("says what is wrong, without the key", async () => {
    const server = await start([
      { status: 401, body: { error: { message: `unknown key ${secret}` } } },
      { status: 500, body: "" },
      { body: "<html>Welcome</html>" },
    ]);
    const settings = { apiKey: secret, env: {}, baseURL: server.url };
    const codes: string[] = [];
    for (let n = 0; n < 3; n++) {
      const check = await checkProvider(requireProvider("groq"), settings, { signal });
      assert.ok(check.type === "failed");
      assert.equal(JSON.stringify(check).includes(secret), false);
      codes.push(check.error.code);
    }
    assert.deepEqual(codes, ["provider-auth", "provider-unavailable", "provider-protocol"]);
    const missing = await checkProvider(requireProvider("groq"), { env: {} }, { signal });
    assert.equal(missing.type === "failed" && missing.error.code, "config");
  });

  it("does not try again: somebody waits for the answer", async () => {
    const server = await start([{ status: 404 }, { status: 529 }]);
    const settings = { apiKey: secret, env: {}, baseURL: server.url };
    const check = await checkProvider(requireProvider("anthropic"), settings, { signal });
    assert.deepEqual([check.type === "failed" && check.error.code, server.requests.length], ["provider-overloaded", 2]);
  });
});

async function start(replies: readonly ServerReply[]): Promise<ModelServer> {
  const server = await startModelServer({ replies });
  closers.push(() => server.close());
  return server;
}

function at(name: string, port: number): ProviderDefinition {
  return { ...requireProvider(name), local: { port, path: "/v1/models" } };
}

function probe(port: number): Promise<LocalServer | undefined> {
  return probeLocal(at("ollama", port), { signal });
}
