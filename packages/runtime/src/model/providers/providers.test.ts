import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import { type JsonObject, userText } from "../../protocol/content.ts";
import { type ModelServer, type ServerReply, startModelServer } from "../../testing/model-server.ts";
import type { Provider } from "../model.ts";
import { createProvider } from "./create-provider.ts";
import type { ProviderSettings } from "./definition.ts";
import { findProvider, providerDefinitions, requireProvider } from "./definitions.ts";
import { parseModelChoice } from "./model-choice.ts";

const secret = "s3cret-key-value";
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

type Row = {
  name: string;
  settings?: Partial<ProviderSettings>;
  /** Added to the server's URL. */
  path?: string;
  model?: string;
  url: string;
  headers: Record<string, string>;
  /** Of the body; a value of undefined must not be there. */
  body?: Record<string, unknown>;
  nativeSchema: boolean;
};

const authorization = `Bearer ${secret}`;
const chat = { url: "/v1/chat/completions", headers: { authorization }, body: { model: "m", stream: true } };
const vertexEnv = { GOOGLE_OAUTH_ACCESS_TOKEN: secret, GOOGLE_CLOUD_PROJECT: "p1", GOOGLE_CLOUD_LOCATION: "europe-west1" };
const vertexPath = "/v1/projects/p1/locations/europe-west1/publishers";

const rows: Row[] = [
  { name: "anthropic", url: "/v1/messages", headers: { "x-api-key": secret }, nativeSchema: false },
  {
    name: "anthropic",
    settings: { env: { ANTHROPIC_API_KEY: "other", ANTHROPIC_AUTH_TOKEN: secret } },
    path: "/gate/v1/",
    url: "/gate/v1/messages",
    headers: { authorization },
    nativeSchema: false,
  },
  { name: "openai", ...chat, nativeSchema: true },
  { name: "openai", ...chat, model: "gpt-5.2", body: { model: "gpt-5.2" }, nativeSchema: true },
  // It calls tools over nothing else, whoever stands in between.
  { name: "openai", model: "gpt-6.1-sol", url: "/v1/responses", headers: { authorization }, nativeSchema: true },
  {
    name: "openai",
    settings: { apiKey: secret, options: { apiSurface: "responses", user: "me" } },
    path: "/v1",
    url: "/v1/responses",
    headers: { authorization },
    body: { model: "m", user: "me", apiSurface: undefined },
    nativeSchema: true,
  },
  {
    name: "gemini",
    settings: { env: { GOOGLE_API_KEY: secret } },
    model: "models/gemini-3-flash",
    url: "/v1beta/models/gemini-3-flash:streamGenerateContent?alt=sse",
    headers: { "x-goog-api-key": secret },
    body: { model: undefined },
    nativeSchema: true,
  },
  {
    name: "azure",
    model: "my deployment",
    settings: { env: { AZURE_OPENAI_API_KEY: secret, OPENAI_API_VERSION: "2025-04-01-preview" } },
    url: "/openai/deployments/my%20deployment/chat/completions?api-version=2025-04-01-preview",
    headers: { "api-key": secret },
    nativeSchema: true,
  },
  {
    name: "azure",
    settings: { env: { AZURE_OPENAI_AD_TOKEN: secret }, options: { apiVersion: "v9" } },
    url: "/openai/deployments/m/chat/completions?api-version=v9",
    headers: { authorization },
    body: { apiVersion: undefined },
    nativeSchema: true,
  },
  { name: "azure", path: "/openai/v1", url: "/openai/v1/chat/completions", headers: { "api-key": secret }, nativeSchema: true },
  {
    name: "vertex",
    model: "claude-x@1",
    settings: { env: vertexEnv, options: { project: "p1", location: "europe-west1" } },
    url: `${vertexPath}/anthropic/models/claude-x@1:streamRawPredict`,
    headers: { authorization },
    body: { anthropic_version: "vertex-2023-10-16", stream: true, model: undefined, project: undefined, location: undefined },
    nativeSchema: false,
  },
  {
    name: "vertex",
    model: "gemini-3-flash",
    settings: { env: vertexEnv },
    url: `${vertexPath}/google/models/gemini-3-flash:streamGenerateContent?alt=sse`,
    headers: { authorization },
    body: { anthropic_version: undefined },
    nativeSchema: true,
  },
  {
    name: "qwen",
    settings: { apiKey: secret, options: { builtInWebTools: { webSearch: true, webFetch: true }, top_p: 0.5 } },
    url: "/compatible-mode/v1/chat/completions",
    headers: { authorization },
    body: {
      enable_search: true,
      enable_thinking: true,
      search_options: { search_strategy: "agent_max" },
      top_p: 0.5,
      builtInWebTools: undefined,
    },
    nativeSchema: false,
  },
  {
    name: "qwen",
    settings: { apiKey: secret, options: { builtInWebTools: { webSearch: true } } },
    path: "/compatible-mode/v1",
    url: "/compatible-mode/v1/chat/completions",
    headers: { authorization },
    body: { enable_search: true, enable_thinking: undefined, search_options: undefined, builtInWebTools: undefined },
    nativeSchema: false,
  },
  { ...chat, name: "openrouter", url: "/api/v1/chat/completions", body: { cache_control: undefined }, nativeSchema: true },
  {
    ...{ ...chat, name: "openrouter", url: "/api/v1/chat/completions", model: "anthropic/claude-sonnet-5.5", nativeSchema: true },
    body: { cache_control: { type: "ephemeral" } }, // Anthropic caches nothing by itself
  },
  { ...chat, name: "deepseek", url: "/chat/completions", nativeSchema: false },
  { ...chat, name: "groq", url: "/openai/v1/chat/completions", nativeSchema: false },
  { ...chat, name: "mistral", body: { stream_options: undefined }, nativeSchema: true },
  { ...chat, name: "xai", nativeSchema: true },
  { ...chat, name: "together", nativeSchema: false },
  { ...chat, name: "fireworks", url: "/inference/v1/chat/completions", nativeSchema: false },
  { ...chat, name: "openai-compatible", path: "/custom/v2", url: "/custom/v2/chat/completions", nativeSchema: false },
  { ...chat, name: "ollama", settings: {}, headers: {}, nativeSchema: false },
  { ...chat, name: "lmstudio", nativeSchema: false },
  { ...chat, name: "llama.cpp", nativeSchema: false },
  { ...chat, name: "vllm", settings: { env: { VLLM_API_KEY: secret } }, nativeSchema: false },
  { ...chat, name: "gemma", nativeSchema: false },
];

describe("provider definitions", () => {
  for (const row of rows) {
    const { name, settings, path = "", model = "m", url, headers, body = {}, nativeSchema } = row;
    it(`ask ${name} at ${url}`, async () => {
      const server = await start([{ text: "hello there" }]);
      const given = settings ?? { apiKey: secret };
      const provider = await open(name, { env: {}, ...given, baseURL: `${server.url}${path}`, model });
      const text = await ask(provider, given.options);
      const [request] = server.requests;
      const known = ["authorization", "x-api-key", "x-goog-api-key", "api-key"];
      assert.deepEqual(
        {
          text,
          method: request?.method,
          url: request?.url,
          headers: Object.fromEntries(Object.entries(request?.headers ?? {}).filter(([header]) => known.includes(header))),
          body: Object.fromEntries(Object.keys(body).map((key) => [key, fieldOf(request?.body, key)])),
          facts: [provider.name, provider.model, provider.nativeSchema],
        },
        { text: "hello there", method: "POST", url, headers, body, facts: [name, model, nativeSchema] },
      );
      assert.equal(request?.url.includes(secret), false, "a key in a URL ends up in logs");
    });
  }

  it("are each asked above, but Bedrock, which has a test of its own", () => {
    const asked = new Set([...rows.map(({ name }) => name), "bedrock"]);
    assert.deepEqual([...asked].sort(), providerDefinitions.map(({ name }) => name).sort());
  });

  it("have names of their own, and say where a key comes from wherever one is needed", () => {
    const names = providerDefinitions.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
    for (const { name, keyOptional, keyVariables, setupLink, baseURL } of providerDefinitions) {
      if (!keyOptional) assert.ok(keyVariables.length > 0 && setupLink?.startsWith("https://"), name);
      if (baseURL && !setupLink?.includes("localhost")) assert.match(baseURL, /^https:\/\/|^http:\/\/localhost:\d+\/v1$/, name);
    }
  });

  it("speak Responses to OpenAI itself and Chat Completions to whoever else is there", async () => {
    for (const [baseURL, surface] of [
      [undefined, "openai-responses"],
      ["https://api.openai.com/v1/", "openai-responses"],
      ["http://localhost:1234/v1", "openai-chat"],
    ] as const) {
      const definition = requireProvider("openai");
      const url = (baseURL ?? definition.baseURL ?? "").replace(/\/$/, "");
      const key = { value: "k", variable: undefined };
      const connection = await definition.connect({ definition, baseURL: url, key, model: "m", options: {}, env: {}, ca: [] });
      assert.equal(connection.dialect.id, surface);
    }
    await assert.rejects(open("openai", { apiKey: "k", env: {}, options: { apiSurface: "grpc" } }), { code: "config" });
  });

  it("find the host of each of Vertex's locations", async () => {
    const definition = requireProvider("vertex");
    const { baseURL = "" } = definition;
    const hosts: string[] = [];
    for (const location of ["global", "us", "eu", "europe-west1"]) {
      const env = { GOOGLE_CLOUD_PROJECT: "p1" };
      const key = { value: "k", variable: undefined };
      const connection = await definition.connect({ definition, baseURL, key, model: "m", options: { location }, env, ca: [] });
      const attempt = { body: "", signal: new AbortController().signal, now: 0, isWhole: false };
      const { url } = await connection.endpoint({ model: "m", system: "", messages: [], tools: [] }, attempt);
      hosts.push(new URL(url).host);
    }
    assert.deepEqual(hosts, [
      "aiplatform.googleapis.com",
      "aiplatform.us.rep.googleapis.com",
      "aiplatform.eu.rep.googleapis.com",
      "europe-west1-aiplatform.googleapis.com",
    ]);
  });

  it("read Vertex's errors, which come in a list", async () => {
    const server = await start([{ status: 400, body: [{ error: { code: 400, message: "The input token count exceeds it" } }] }]);
    const provider = await open("vertex", { env: vertexEnv, baseURL: server.url, model: "gemini-x" });
    await assert.rejects(ask(provider), {
      code: "context-overflow",
      message: "Google Vertex AI answered HTTP 400: The input token count exceeds it",
    });
  });

  it("name a key's variables and where it is issued when there is none", async () => {
    await assert.rejects(open("groq", { env: { GROQ_API_KEY: " " } }), {
      code: "config",
      message: "Groq needs a key: set GROQ_API_KEY",
      hint: "Keys are issued at https://console.groq.com/keys",
    });
    await assert.rejects(open("gemini", { env: {} }), {
      message: "Google Gemini needs a key: set GEMINI_API_KEY or GOOGLE_API_KEY",
    });
  });

  it("ask for a base URL, a model, a region or a project when these are missing or wrong", async () => {
    const azure = { apiKey: "k", env: {}, model: "d" };
    await assert.rejects(open("azure", azure), {
      code: "config",
      message: "Azure OpenAI needs a base URL",
      hint: "Set AZURE_OPENAI_ENDPOINT, or baseURL in the settings",
    });
    await assert.rejects(open("azure", { ...azure, baseURL: "example.com" }), { code: "config", message: /no http or https/ });
    await assert.rejects(open("ollama", { env: {} }), { code: "config", message: /name the one to ask/ });
    await assert.rejects(open("bedrock", { apiKey: "k", env: {} }), { code: "config", message: /set AWS_REGION/ });
    await assert.rejects(open("bedrock", { env: { AWS_ACCESS_KEY_ID: "a", AWS_REGION: "r" } }), {
      code: "config",
      message: /AWS_SECRET_ACCESS_KEY is not/,
    });
    await assert.rejects(open("vertex", { apiKey: "k", env: {} }), { code: "config", message: /set GOOGLE_CLOUD_PROJECT/ });
    await assert.rejects(open("vertex", { apiKey: "k", env: {}, options: { project: 7 } }), { message: /must be a text, not 7/ });
    for (const builtInWebTools of [true, { webSearch: "yes" }, { search: true }]) {
      await assert.rejects(open("qwen", { apiKey: "k", env: {}, options: { builtInWebTools } }), { message: /takes webSearch/ });
    }
  });

  it("find base URLs in the environment, with or without a scheme and a port", async () => {
    const server = await start([{ text: "one" }, { text: "two" }]);
    for (const host of [`127.0.0.1:${server.port}`, server.url]) {
      await ask(await open("ollama", { env: { OLLAMA_HOST: host }, model: "m" }));
    }
    assert.deepEqual(
      server.requests.map(({ url }) => url),
      ["/v1/chat/completions", "/v1/chat/completions"],
    );
  });

  it("tell failures in the provider's name without the key", async () => {
    for (const name of ["anthropic", "openai", "gemini", "groq", "qwen"]) {
      const server = await start([{ status: 401, body: { error: { message: `key ${secret} is unknown` } } }]);
      const provider = await open(name, { apiKey: secret, env: {}, baseURL: server.url, model: "m" });
      await assert.rejects(ask(provider), (error: Error & { code: string; hint: string }) => {
        assert.deepEqual([error.code, /401/.test(error.message)], ["provider-auth", true], name);
        assert.equal(JSON.stringify([error.message, error.hint]).includes(secret), false, name);
        return true;
      });
    }
  });

  it("say what to do where a server between has no Responses API", async () => {
    const answers = [{ error: { message: "Not Found" } }, { error: { message: "The model gpt-6.1-sol does not exist" } }];
    const server = await start(answers.map((body) => ({ status: 404, body })));
    const provider = await open("openai", { apiKey: "k", env: {}, baseURL: server.url, model: "gpt-6.1-sol" });
    await assert.rejects(ask(provider), { hint: /apiSurface "chat-completions"/ });
    await assert.rejects(ask(provider), ({ hint = "" }: { hint?: string }) => !hint.includes("apiSurface"));
  });

  it("give a slow server the time its profile asks for", async () => {
    const server = await start([{ text: "never heard", stallAfterBytes: 10 }]);
    const settings = { env: {}, baseURL: server.url, model: "m", timeoutMs: 40, retry: { maxRetries: 0 } };
    const started = Date.now();
    await assert.rejects(ask(await open("ollama", settings)), { code: "provider-timeout" });
    assert.ok(Date.now() - started < 5_000);
  });

  it("take another context window", async () => {
    const own = await open("openai", { apiKey: "k", env: {}, contextWindow: 5 });
    assert.deepEqual([own.contextWindow, (await open("openai", { apiKey: "k", env: {} })).contextWindow], [5, 128_000]);
  });
});

describe("requireProvider", () => {
  it("guesses what was meant", () => {
    assert.equal(findProvider("opnrouter"), undefined);
    assert.throws(() => requireProvider("opnrouter"), {
      code: "config",
      message: 'There is no provider "opnrouter"; did you mean openrouter?',
      hint: `Known: ${providerDefinitions.map(({ name }) => name).join(", ")}`,
    });
    assert.throws(() => requireProvider("something else entirely"), {
      message: 'There is no provider "something else entirely"',
    });
  });
});

describe("parseModelChoice", () => {
  const known = providerDefinitions.map(({ name }) => name);
  const choices: [text: string, provider: string | undefined, model: string][] = [
    ["openrouter/anthropic/claude-x", "openrouter", "anthropic/claude-x"],
    ["anthropic/claude-x", "anthropic", "claude-x"],
    ["meta-llama/llama-4", undefined, "meta-llama/llama-4"],
    ["gpt-5", undefined, "gpt-5"],
    ["openai/", undefined, "openai/"],
    ["/x", undefined, "/x"],
    ["llama.cpp/a/b/c", "llama.cpp", "a/b/c"],
  ];
  for (const [text, provider, model] of choices) {
    it(`takes ${text} for ${provider ?? "no provider"} and ${model}`, () => {
      assert.deepEqual(parseModelChoice(text, known), { provider, model });
    });
  }
});

async function start(replies: readonly ServerReply[]): Promise<ModelServer> {
  const server = await startModelServer({ replies });
  closers.push(() => server.close());
  return server;
}

async function open(name: string, settings: ProviderSettings): Promise<Provider> {
  const provider = await createProvider(requireProvider(name), settings);
  closers.push(() => provider.close());
  return provider;
}

async function ask(provider: Provider, options?: JsonObject): Promise<string> {
  const request = { model: provider.model, system: "", messages: [userText("hi")], tools: [], ...(options && { options }) };
  let text = "";
  for await (const event of provider.stream(request, { signal: new AbortController().signal })) {
    if (event.type === "text.delta") text += event.text;
  }
  return text;
}

function fieldOf(body: unknown, name: string): unknown {
  return typeof body === "object" && body !== null ? new Map(Object.entries(body)).get(name) : undefined;
}
