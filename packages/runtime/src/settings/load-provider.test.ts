import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, it } from "node:test";
import { providerDefinitions } from "../model/providers/definitions.ts";
import { userText } from "../protocol/content.ts";
import { type ModelServer, type ModelServerOptions, startModelServer } from "../testing/model-server.ts";
import { checkNamedProvider, type LoadedProvider, loadProvider, type ProviderChoice } from "./load-provider.ts";
import { parseProviderSettings } from "./profiles.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

type Environment = Record<string, string>;
const retryNever = { OUTRIDER_MAX_RETRIES: "0" };

function load(choice: ProviderChoice, settings: Record<string, unknown> = {}, env: Environment = {}): Promise<LoadedProvider> {
  return loadProvider(choice, parseProviderSettings(settings, "settings.json"), env);
}

async function chosen(choice: ProviderChoice, settings: Record<string, unknown> = {}, env: Environment = {}): Promise<string[]> {
  const { provider } = await load(choice, settings, env);
  return [provider.name, provider.model];
}

async function server(replies: ModelServerOptions["replies"] = () => ({ text: "hi" })): Promise<ModelServer> {
  const started = await startModelServer({ replies });
  closers.push(() => started.close());
  return started;
}

async function ask({ provider, options }: LoadedProvider): Promise<void> {
  const request = { model: provider.model, system: "", messages: [userText("hello")], tools: [], ...(options && { options }) };
  for await (const _ of provider.stream(request, { signal: new AbortController().signal }));
}

describe("the provider of a run", () => {
  const two = {
    work: { type: "openai", model: "gpt-w", apiKey: "k" },
    home: { type: "gemini", model: "gemini-h", apiKey: "k" },
  };
  const rows: [fact: string, choice: ProviderChoice, settings: Record<string, unknown>, expected: string[]][] = [
    ["is the current profile", {}, { currentProvider: "work", providers: two }, ["openai", "gpt-w"]],
    ["is another profile by its key", { provider: "home" }, { currentProvider: "work", providers: two }, ["gemini", "gemini-h"]],
    [
      "is the current profile with another model",
      { model: "gpt-x" },
      { currentProvider: "work", providers: two },
      ["openai", "gpt-x"],
    ],
    [
      "is a profile named before the model",
      { model: "home/gemini-x" },
      { currentProvider: "work", providers: two },
      ["gemini", "gemini-x"],
    ],
    [
      "is a profile before the provider of the same name",
      { provider: "openai" },
      { providers: { openai: two.home } },
      ["gemini", "gemini-h"],
    ],
    [
      "is a known provider named before the model",
      { model: "anthropic/claude-x" },
      { currentProvider: "work", providers: two },
      ["anthropic", "claude-x"],
    ],
    [
      "keeps the slashes after the first",
      { model: "openrouter/meta-llama/llama-x:free" },
      {},
      ["openrouter", "meta-llama/llama-x:free"],
    ],
    [
      "takes an id with slashes whole when no provider is called like its beginning",
      { model: "meta-llama/llama-x" },
      { currentProvider: "work", providers: two },
      ["openai", "meta-llama/llama-x"],
    ],
    [
      "does not look into the model when the provider is named apart",
      { provider: "openrouter", model: "anthropic/claude-x" },
      {},
      ["openrouter", "anthropic/claude-x"],
    ],
    ["is the legacy block when no profile is current", {}, { providers: two, provider: two.home }, ["gemini", "gemini-h"]],
    [
      "is the current profile before the legacy block",
      {},
      { currentProvider: "work", providers: two, provider: two.home },
      ["openai", "gpt-w"],
    ],
    ["is the legacy block with its type under name", {}, { provider: { name: "deepseek" } }, ["deepseek", "deepseek-flash"]],
    [
      "is the environment's when there are only profiles that are not current",
      {},
      { providers: two },
      ["anthropic", "claude-sonnet-5-5"],
    ],
    ["has the provider's default model when none is named", { provider: "mistral" }, {}, ["mistral", "mistral-large-4"]],
  ];
  const env = { ANTHROPIC_API_KEY: "k", OPENROUTER_API_KEY: "k", DEEPSEEK_API_KEY: "k", MISTRAL_API_KEY: "k" };
  for (const [fact, choice, settings, expected] of rows) {
    it(fact, async () => {
      assert.deepEqual(await chosen(choice, settings, env), expected);
    });
  }

  it("is the first the environment has a key for, in this order", async () => {
    const keys: [variable: string, name: string, rest?: Environment][] = [
      ["ANTHROPIC_AUTH_TOKEN", "anthropic"],
      ["ANTHROPIC_API_KEY", "anthropic"],
      ["OPENAI_API_KEY", "openai"],
      ["GEMINI_API_KEY", "gemini"],
      ["GOOGLE_API_KEY", "gemini"],
      ["OPENROUTER_API_KEY", "openrouter"],
      ["DEEPSEEK_API_KEY", "deepseek"],
      ["GROQ_API_KEY", "groq"],
      ["MISTRAL_API_KEY", "mistral"],
      ["XAI_API_KEY", "xai"],
      ["TOGETHER_API_KEY", "together"],
      ["FIREWORKS_API_KEY", "fireworks"],
      ["OPENAI_COMPATIBLE_API_KEY", "openai-compatible", { OPENAI_COMPATIBLE_BASE_URL: "http://127.0.0.1:9/v1" }],
      ["DASHSCOPE_API_KEY", "qwen"],
      ["AZURE_OPENAI_API_KEY", "azure", { AZURE_OPENAI_ENDPOINT: "https://me.openai.azure.com" }],
      ["AZURE_OPENAI_AD_TOKEN", "azure", { AZURE_OPENAI_ENDPOINT: "https://me.openai.azure.com" }],
      ["AWS_BEARER_TOKEN_BEDROCK", "bedrock", { AWS_REGION: "eu-west-1" }],
      ["AWS_ACCESS_KEY_ID", "bedrock", { AWS_REGION: "eu-west-1", AWS_SECRET_ACCESS_KEY: "s" }],
      ["GOOGLE_OAUTH_ACCESS_TOKEN", "vertex", { GOOGLE_CLOUD_PROJECT: "p" }],
      ["VLLM_API_KEY", "vllm"],
    ];
    for (const [index, [variable, name]] of keys.entries()) {
      const later = keys.slice(index).map(([key, , rest]): Environment => ({ [key]: "k", ...rest }));
      const env: Environment = Object.assign({}, ...later);
      assert.deepEqual(await chosen({ model: "m" }, {}, { ...env, ANTHROPIC_MODEL: "other" }), [name, "m"], variable);
    }
    assert.deepEqual(await chosen({ model: "m" }, {}, { ANTHROPIC_API_KEY: " ", GROQ_API_KEY: "k" }), ["groq", "m"]);
    const listed = keys.map(([, name]) => name).filter((name, index, all) => name !== all[index - 1]);
    const withKeys = providerDefinitions.filter((definition) => definition.keyVariables.length > 0);
    assert.deepEqual(
      listed,
      withKeys.map((definition) => definition.name),
    );
  });

  it("says where its key comes from: a variable, the settings or nowhere", async () => {
    const source = async (apiKey: string | undefined, env: Environment): Promise<string> =>
      (await load({}, { currentProvider: "a", providers: { a: { type: "openai", model: "m", apiKey } } }, env)).keySource;
    assert.deepEqual(
      [
        await source(undefined, { OPENAI_API_KEY: "k" }),
        await source("$ENV:MINE", { MINE: "k", OPENAI_API_KEY: "k" }),
        await source("written", { OPENAI_API_KEY: "k" }),
        (await load({ provider: "ollama", model: "m" })).keySource,
      ],
      ["OPENAI_API_KEY", "MINE", "settings", "none"],
    );
  });

  it("is a script when that is asked for", async () => {
    const folder = mkdtempSync(join(tmpdir(), "outrider-script-"));
    closers.push(() => rmSync(folder, { recursive: true, force: true }));
    const script = join(folder, "replies.json");
    writeFileSync(script, JSON.stringify([{ text: "hi" }]));
    assert.deepEqual(await chosen({ provider: "scripted", model: script }), ["scripted", "scripted"]);
    assert.deepEqual(await chosen({ model: `scripted/${script}` }), ["scripted", "scripted"]);
    writeFileSync(script, "{");
    await assert.rejects(load({ provider: "scripted", model: script }), {
      code: "config",
      message: /replies\.json is not valid/,
    });
    await assert.rejects(load({ provider: "scripted", model: `${script}.gone` }), { code: "config", message: /Cannot read/ });
    await assert.rejects(load({ provider: "scripted" }), { code: "config", message: /needs a model, which is a file/ });
  });
});

describe("a provider that cannot be asked", () => {
  const providers = { work: { type: "openai", apiKey: "$ENV:WORK_KEY" } };
  const rows: [fact: string, choice: ProviderChoice, message: string, hint: RegExp | undefined][] = [
    [
      "names the nearest",
      { provider: "antropic" },
      'There is no provider "antropic"; did you mean anthropic?',
      /Profiles: work$/,
    ],
    ["is no property that every object has", { provider: "constructor" }, 'There is no provider "constructor"', /^Known: /],
    [
      "names the unset variable and the profile",
      { provider: "work" },
      "The profile work takes its key from the variable WORK_KEY, which is not set",
      /^export WORK_KEY=…$/,
    ],
    [
      "names the unset variable and the profile before the model",
      { model: "work/x" },
      "The profile work takes its key from the variable WORK_KEY, which is not set",
      /^export WORK_KEY=…$/,
    ],
    ["names the variable of its key", { provider: "groq" }, "Groq needs a key: set GROQ_API_KEY", /^Keys are issued at https/],
    [
      "tells how the beginning of a model was read",
      { model: "anthropic/claude-sonnet-4.5" },
      "Anthropic needs a key: set ANTHROPIC_AUTH_TOKEN or ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN",
      /\nanthropic\/ was read as the provider; for a model of that name elsewhere, name the provider apart$/,
    ],
    [
      "needs a model where there is no default",
      { provider: "ollama" },
      "Ollama has no default model: name the one to ask",
      /server/,
    ],
  ];
  for (const [fact, choice, message, hint] of rows) {
    it(fact, async () => {
      await assert.rejects(load(choice, { providers }), { code: "config", message, ...(hint && { hint }) });
    });
  }

  it("is told of a number in the environment that is none", async () => {
    const key = { ANTHROPIC_API_KEY: "k" };
    const rows: [name: string, value: string][] = [
      ["OUTRIDER_IDLE_TIMEOUT_MS", "soon"],
      ["OUTRIDER_IDLE_TIMEOUT_MS", "0"],
      ["OUTRIDER_TOTAL_TIMEOUT_MS", "2147483648"],
      ["OUTRIDER_MAX_RETRIES", "-1"],
      ["OUTRIDER_MAX_RETRIES", "1.5"],
    ];
    for (const [name, value] of rows) {
      const message = new RegExp(`^${name} must be a whole number from [01] to 2147483647, not "${value}"$`);
      await assert.rejects(load({}, {}, { ...key, [name]: value }), { code: "config", message });
    }
    assert.deepEqual(await chosen({ model: "m" }, {}, { ...key, OUTRIDER_MAX_RETRIES: " ", OUTRIDER_IDLE_TIMEOUT_MS: "" }), [
      "anthropic",
      "m",
    ]);
  });
});

describe("what a profile says", () => {
  it("is asked for: address, key, model and options, the options untouched", async () => {
    const { url, requests } = await server();
    const options = { top_p: 0.5, metadata: { list: [1, null, { deep: true }], text: "$ENV:WORK_KEY" } };
    const work = { type: "openai-compatible", model: "m", baseURL: `${url}/v1`, apiKey: "$ENV:WORK_KEY", options };
    await ask(await load({ provider: "work" }, { providers: { work } }, { WORK_KEY: "secret-1" }));
    const [request] = requests;
    const body = request?.body as Record<string, unknown>;
    assert.deepEqual(
      [request?.url, request?.headers.authorization, body["model"], body["top_p"], body["metadata"]],
      ["/v1/chat/completions", "Bearer secret-1", "m", options.top_p, options.metadata],
    );
  });

  it("bounds the silence and the window", async () => {
    const { url } = await server(() => ({ text: "never ends", stallAfterBytes: 200 }));
    const work = { type: "anthropic", apiKey: "k", baseURL: url, timeout: 100, contextWindow: 5_000 };
    const loaded = await load({ provider: "work" }, { providers: { work } }, retryNever);
    assert.equal(loaded.provider.contextWindow, 5_000);
    await assert.rejects(ask(loaded), { code: "provider-timeout" });
  });

  it("may take one of the provider's own variables, which is then used like there", async () => {
    const { url, requests } = await server();
    const env = { ANTHROPIC_API_KEY: "api-key", ANTHROPIC_AUTH_TOKEN: "gate-token" };
    for (const variable of Object.keys(env)) {
      const work = { type: "anthropic", apiKey: `$ENV:${variable}`, baseURL: url };
      await ask(await load({ provider: "work" }, { providers: { work } }, env));
    }
    assert.deepEqual(
      requests.map(({ headers }) => [headers["x-api-key"], headers.authorization]),
      [
        ["api-key", undefined],
        [undefined, "Bearer gate-token"],
      ],
    );
  });

  it("is what a refused key is blamed on", async () => {
    const { url } = await server(() => ({ status: 401 }));
    const rows: [type: string, apiKey: string | undefined, hint: RegExp][] = [
      ["anthropic", "$ENV:WORK_KEY", /^Check WORK_KEY of the profile work; see https:\/\/console\.anthropic\.com/],
      ["gemini", "$ENV:WORK_KEY", /^Check WORK_KEY of the profile work; see https:\/\/aistudio/],
      ["openai", "written-out", /^Check the apiKey of the profile work; see https:\/\/platform\.openai\.com/],
      ["openai-compatible", "written-out", /^Check the apiKey of the profile work$/],
      ["groq", undefined, /^Check GROQ_API_KEY; see https:\/\/console\.groq\.com/],
    ];
    for (const [type, apiKey, hint] of rows) {
      const work = { type, model: "m", baseURL: url, ...(apiKey && { apiKey }) };
      const settings = { currentProvider: "work", providers: { work } };
      const env = { WORK_KEY: "secret-1", GROQ_API_KEY: "secret-2" };
      await assert.rejects(ask(await load({}, settings, env)), { code: "provider-auth", httpStatus: 401, hint });
      const { check } = await checkNamedProvider(undefined, parseProviderSettings(settings, "settings.json"), env);
      assert.match(check.type === "failed" ? (check.error.hint ?? "") : check.type, hint);
    }
  });
});

describe("checkNamedProvider", () => {
  it("says which profile works, and with how many models", async () => {
    const { url, requests } = await server(() => ({ body: { data: [{ id: "a" }, { id: "b" }] } }));
    const work = { type: "mistral", baseURL: url, apiKey: "$ENV:WORK_KEY" };
    const settings = parseProviderSettings({ providers: { work } }, "settings.json");
    assert.deepEqual(await checkNamedProvider("work", settings, { WORK_KEY: "secret-1" }), {
      title: "work (Mistral)",
      check: { type: "ok", models: ["a", "b"] },
    });
    assert.deepEqual([requests[0]?.url, requests[0]?.headers.authorization], ["/v1/models", "Bearer secret-1"]);
  });
});

describe("a model that is named without its provider", () => {
  const keys = { ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "k" };
  const gateway = { currentProvider: "g", providers: { g: { type: "anthropic", apiKey: "k", baseURL: "http://x.test" } } };
  const routed = { currentProvider: "r", providers: { r: { type: "openrouter", apiKey: "k" } } };
  const rows: [fact: string, model: string, settings: Record<string, unknown>, env: Environment, expected: string[]][] = [
    ["is asked of its maker", "gpt-5.5", {}, keys, ["openai", "gpt-5.5"]],
    ["is asked of its maker by a word", "gpt", {}, keys, ["openai", "gpt-6.1-sol"]],
    [
      "is asked of a profile of its maker",
      "gpt-5.5",
      { providers: { o: { type: "openai", apiKey: "k" } } },
      { ANTHROPIC_API_KEY: "k" },
      ["openai", "gpt-5.5"],
    ],
    [
      "is asked of its maker where the usual provider has no key",
      "gpt-5.5",
      { currentProvider: "work", providers: { work: { type: "anthropic", apiKey: "$ENV:GONE" } } },
      { OPENAI_API_KEY: "k" },
      ["openai", "gpt-5.5"],
    ],
    ["stays where it was when its maker's key is not there", "gpt-5.5", {}, { ANTHROPIC_API_KEY: "k" }, ["anthropic", "gpt-5.5"]],
    ["stays with a profile that has an address of its own", "gpt-5.5", gateway, keys, ["anthropic", "gpt-5.5"]],
    ["stays with a router", "sonnet", routed, keys, ["openrouter", "anthropic/claude-sonnet-5.5"]],
    [
      "is what a profile's word means",
      "",
      { currentProvider: "p", providers: { p: { type: "anthropic", apiKey: "k", model: "haiku" } } },
      {},
      ["anthropic", "claude-haiku-5-5"],
    ],
    [
      "is what a variable's word means",
      "",
      {},
      { ...keys, ANTHROPIC_MODEL: "opus", ANTHROPIC_DEFAULT_OPUS_MODEL: "claude-opus-5" },
      ["anthropic", "claude-opus-5"],
    ],
  ];
  for (const [fact, model, settings, env, expected] of rows)
    it(fact, async () => assert.deepEqual(await chosen(model ? { model } : {}, settings, env), expected));

  it("opusplan is two models", async () => {
    const { provider, planModel } = await load({ model: "opusplan" }, {}, keys);
    assert.deepEqual([provider.model, planModel], ["claude-sonnet-5-5", "claude-opus-5-5"]);
  });
});

describe("Claude Code's variables", () => {
  const asked = async (env: Environment): Promise<ModelServer["requests"][number]["headers"]> => {
    const model = await server();
    await ask(await load({}, {}, { ANTHROPIC_BASE_URL: model.url, ...env }));
    return model.requests[0]?.headers ?? {};
  };

  it("are obeyed: headers, and the token of a subscription", async () => {
    const own = await asked({ ANTHROPIC_API_KEY: "k", ANTHROPIC_CUSTOM_HEADERS: "X-Team: blue\n\n x-odd :  a: b \n" });
    assert.deepEqual([own["x-team"], own["x-odd"], own["x-api-key"]], ["blue", "a: b", "k"]);
    const subscriber = await asked({ CLAUDE_CODE_OAUTH_TOKEN: "t" });
    assert.deepEqual(
      [subscriber["authorization"], subscriber["anthropic-beta"], subscriber["x-api-key"]],
      ["Bearer t", "oauth-2025-04-20,thinking-binding-controls-2026-08-01", undefined],
    );
    const both = await asked({ CLAUDE_CODE_OAUTH_TOKEN: "t", ANTHROPIC_API_KEY: "k" });
    assert.deepEqual([both["authorization"], both["x-api-key"]], [undefined, "k"]);
  });

  it("add features and fields of the body", async () => {
    const model = await server();
    const env = { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: model.url };
    const more = { ANTHROPIC_BETAS: "one-1, two-2", CLAUDE_CODE_EXTRA_BODY: '{"top_k":5,"anthropic_beta":["three-3"]}' };
    await ask(await load({}, {}, { ...env, ...more }));
    const { headers = {}, body } = model.requests[0] ?? {};
    assert.match(headers["anthropic-beta"]?.toString() ?? "", /one-1,two-2,three-3$/);
    const { top_k, anthropic_beta } = body as { top_k?: number; anthropic_beta?: unknown };
    assert.deepEqual([top_k, anthropic_beta], [5, undefined]);
    for (const wrong of [{ ANTHROPIC_BETAS: "a b" }, { CLAUDE_CODE_EXTRA_BODY: "[1]" }, { CLAUDE_CODE_EXTRA_BODY: "{" }])
      await assert.rejects(load({}, {}, { ...env, ...wrong }), { code: "config" });
  });

  it("are refused where a header is none, without its words", async () => {
    for (const text of ["top-secret", "a b: c", "x: \u0001"]) {
      const env = { ANTHROPIC_API_KEY: "k", ANTHROPIC_CUSTOM_HEADERS: text };
      await assert.rejects(
        load({}, {}, env),
        (error: Error) => /CUSTOM_HEADERS/.test(error.message) && !error.message.includes(text),
      );
    }
  });

  it("say how often and how long to try, unless ours do; what is no number is left alone", async () => {
    const tries = async (env: Environment): Promise<number> => {
      const model = await server(() => ({ status: 500 }));
      const loaded = await load(
        {},
        {},
        { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: model.url, OUTRIDER_RETRY_BASE_MS: "1", ...env },
      );
      await assert.rejects(ask(loaded));
      return model.requests.length;
    };
    assert.equal(await tries({ CLAUDE_CODE_MAX_RETRIES: "1" }), 2);
    assert.equal(await tries({ CLAUDE_CODE_MAX_RETRIES: "1", OUTRIDER_MAX_RETRIES: "0" }), 1);
    assert.equal(await tries({ CLAUDE_CODE_MAX_RETRIES: "many", OUTRIDER_MAX_RETRIES: "2" }), 3);
    const slow = await server(() => ({ delayMs: 60_000 }));
    const env = { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: slow.url, API_TIMEOUT_MS: "50", ...retryNever };
    await assert.rejects(ask(await load({}, {}, env)), { code: "provider-timeout", message: /within 50 ms/ });
  });
});

it("a model that is named where no provider is set up wants its maker's key", async () => {
  await assert.rejects(load({ model: "gpt-5.5" }), { code: "config", message: "OpenAI needs a key: set OPENAI_API_KEY" });
});

describe("a model behind a name that is nearly a provider's", () => {
  const anthropic = { ANTHROPIC_API_KEY: "k" };

  it("is refused with the name that was meant, before another provider is asked for it", async () => {
    const meant = {
      code: "config",
      message: 'There is no provider "opnai"; did you mean openai/gpt-5.5?',
      hint: /--provider anthropic/,
    };
    await assert.rejects(load({ model: "opnai/gpt-5.5" }, {}, anthropic), meant);
    const profiles = {
      currentProvider: "home",
      providers: { home: { type: "gemini", apiKey: "k" }, work: { type: "openai", apiKey: "k" } },
    };
    const short = { providers: { ...profiles.providers, y: { type: "gemini", model: "g", apiKey: "k" } } };
    await assert.rejects(load({ model: "x/gpt-5.5" }, { ...profiles, ...short }), { message: /did you mean y\/gpt-5\.5/ });
    await assert.rejects(load({ model: "wrok/gpt-5.5" }, profiles), { code: "config", message: /did you mean work\/gpt-5\.5/ });
  });

  it("is asked for where the provider is named apart, or has the models of many", async () => {
    assert.deepEqual(await chosen({ provider: "anthropic", model: "opnai/x" }, {}, anthropic), ["anthropic", "opnai/x"]);
    const router = { OPENROUTER_API_KEY: "k" };
    assert.deepEqual(await chosen({ model: "mistralai/x" }, {}, router), ["openrouter", "mistralai/x"]);
    assert.deepEqual(await chosen({ model: "somebody/x" }, {}, anthropic), ["anthropic", "somebody/x"]);
  });
});
