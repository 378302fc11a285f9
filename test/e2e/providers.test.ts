import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { findModel, loadCatalog } from "../../packages/runtime/src/model/catalog.ts";
import { ratesAt } from "../../packages/runtime/src/model/price.ts";
import type { AgentEvent } from "../../packages/runtime/src/protocol/events.ts";
import { type ModelServer, type ModelServerOptions, startModelServer } from "../../packages/runtime/src/testing/model-server.ts";
import { bin, launcher, lines, type Run, run, tempFolder } from "./command.ts";

type Json = Record<string, unknown>;

const project = tempFolder("project");
writeFileSync(join(project, "a.txt"), "hello from the file\n");

async function serve(replies: ModelServerOptions["replies"]): Promise<ModelServer> {
  const server = await startModelServer({ replies });
  after(() => server.close());
  return server;
}

/** A new home with these files in it. */
function homeWith(files: { settings?: unknown; models?: unknown } = {}): string {
  const home = tempFolder("home");
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(home, `${name}.json`), typeof content === "string" ? content : JSON.stringify(content));
  }
  return home;
}

/** A home whose current profile is this one. */
function homeOf(profile: Json, more: { models?: unknown } = {}): string {
  return homeWith({ settings: { currentProvider: "work", providers: { work: profile } }, ...more });
}

const quick = { OUTRIDER_RETRY_BASE_MS: "5", OUTRIDER_MAX_RETRIES: "2" };
const key = "s3cret-key-value";

function outrider(args: readonly string[], home: string, env: Record<string, string> = {}): Promise<Run> {
  return run(args, { env: { OUTRIDER_HOME: home, WORK_KEY: key, ...quick, ...env }, cwd: project });
}

function resultOf({ stdout }: Run): Json {
  const results = lines(stdout).filter((frame) => frame["type"] === "result");
  assert.equal(results.length, 1, stdout);
  return results[0] ?? {};
}

const errorOf = (ended: Run): Json => resultOf(ended)["error"] as Json;
const json = ["-p", "what is in a.txt?", "--output-format", "json"];
const stream = ["-p", "what is in a.txt?", "--output-format", "stream-json"];

/** What a run must cost: the table's rates times the tokens of every recorded call, and null as soon as one has no price. */
async function recomputeFromJournal(home: string, result: Json) {
  const journal = readFileSync(join(home, "sessions", `${result["session_id"]}.jsonl`), "utf8");
  const events = journal
    .split("\n")
    .filter(Boolean)
    .map((line): AgentEvent => JSON.parse(line));
  const catalog = await loadCatalog();
  const totals = { calls: 0, inputTokens: 0, outputTokens: 0, cacheRead: 0, cacheWrite: 0, usd: 0 as number | null };
  for (const event of events) {
    if (event.type !== "message.ended") continue;
    const { usage, model } = event.message;
    totals.calls++;
    totals.inputTokens += usage.inputTokens - usage.cacheReadTokens - usage.cacheWriteTokens;
    totals.outputTokens += usage.outputTokens;
    totals.cacheRead += usage.cacheReadTokens;
    totals.cacheWrite += usage.cacheWriteTokens;
    const price = findModel(catalog, { provider: model.provider, model: model.id })?.price;
    if (!price || totals.usd === null) {
      totals.usd = null;
      continue;
    }
    const rates = ratesAt(price, new Date(event.at), usage.inputTokens);
    totals.usd +=
      ((usage.inputTokens - usage.cacheReadTokens - usage.cacheWriteTokens) * rates.input +
        usage.cacheReadTokens * (rates.cacheRead ?? rates.input) +
        usage.cacheWriteTokens * (rates.cacheWrite ?? rates.input) +
        (usage.outputTokens - usage.reasoningTokens) * rates.output +
        usage.reasoningTokens * (rates.reasoning ?? rates.output)) /
      1e6;
  }
  return totals;
}

/** The result says of tokens, calls and cost what the journal says, in total and by model. */
async function checkLedger(home: string, result: Json): Promise<void> {
  const recorded = await recomputeFromJournal(home, result);
  const { usd, calls, ...tokens } = recorded;
  const usage = result["usage"] as Record<string, number>;
  assert.deepEqual(
    {
      inputTokens: usage["input_tokens"],
      outputTokens: usage["output_tokens"],
      cacheRead: usage["cache_read_input_tokens"],
      cacheWrite: usage["cache_creation_input_tokens"],
    },
    tokens,
  );
  assert.equal(result["num_turns"], calls);
  const total = result["total_cost_usd"] as number | null;
  if (usd === null || total === null) assert.deepEqual([total, usd], [null, null]);
  else assert.ok(Math.abs(total - usd) < 1e-9, `${total} instead of ${usd}`);
  const models = Object.values(result["modelUsage"] as Record<string, Record<string, number | null>>);
  const sum = (field: string): number => models.reduce((all, line) => all + Number(line[field]), 0);
  assert.deepEqual(
    {
      inputTokens: sum("inputTokens"),
      outputTokens: sum("outputTokens"),
      cacheRead: sum("cacheReadInputTokens"),
      cacheWrite: sum("cacheCreationInputTokens"),
    },
    tokens,
  );
  if (total !== null) assert.ok(Math.abs(sum("costUSD") - total) < 1e-9, "the models' costs are not the total");
}

type Wire = {
  name: string;
  profile: Json;
  path: string;
  url: string;
  header: [string, string];
  window: number | null;
  longest: number | null;
};

const bearer: [string, string] = ["authorization", `Bearer ${key}`];
const chat = (type: string, model: string, more: Partial<Wire> = {}): Wire => ({
  name: type,
  profile: { type, model },
  path: "/v1",
  url: "/v1/chat/completions",
  header: bearer,
  window: null,
  longest: null,
  ...more,
});
const responses: Wire = {
  name: "openai over Responses",
  profile: { type: "openai", model: "gpt-5.5", options: { apiSurface: "responses" } },
  path: "/v1",
  url: "/v1/responses",
  header: bearer,
  window: 1_000_000,
  longest: 128_000,
};
const gemini: Wire = {
  name: "gemini",
  profile: { type: "gemini", model: "gemini-3.5-flash" },
  path: "",
  url: "/v1beta/models/gemini-3.5-flash:streamGenerateContent?alt=sse",
  header: ["x-goog-api-key", key],
  window: 1_000_000,
  longest: 65_536,
};
const anthropic: Wire = {
  name: "anthropic",
  profile: { type: "anthropic", model: "claude-sonnet-4-6" },
  path: "",
  url: "/v1/messages",
  header: ["x-api-key", key],
  window: 1_000_000,
  longest: 128_000,
};
const compatible = chat("openai-compatible", "my-model");
const openrouter = chat("openrouter", "anthropic/claude-sonnet-4.6", {
  path: "",
  url: "/api/v1/chat/completions",
  window: 1_000_000,
  longest: 128_000,
});
const deepseek = chat("deepseek", "deepseek-v4-flash", { path: "", url: "/chat/completions", window: 1_000_000 });
const wires = [responses, compatible, gemini, anthropic];

function profileOf(wire: Wire, server: ModelServer): Json {
  return { ...wire.profile, apiKey: "$ENV:WORK_KEY", baseURL: server.url + wire.path };
}

/** Mistral counts without being asked, in the chunk that ends the answer, which the scripted server does not do. */
function mistralReply(delta: Json, finish: string, usage: [prompt: number, completion: number]): { raw: string } {
  const [prompt_tokens, completion_tokens] = usage;
  const head = { id: "m", object: "chat.completion.chunk", created: 1, model: "mistral-medium-latest" };
  const first = { ...head, choices: [{ index: 0, delta: { role: "assistant", ...delta }, finish_reason: null }] };
  const last = {
    ...head,
    choices: [{ index: 0, delta: { content: "" }, finish_reason: finish }],
    usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
  };
  return { raw: `data: ${JSON.stringify(first)}\n\ndata: ${JSON.stringify(last)}\n\ndata: [DONE]\n\n` };
}

describe("a run with a tool call", () => {
  const rows: Wire[] = [
    ...wires,
    deepseek,
    chat("groq", "openai/gpt-oss-120b", { path: "", url: "/openai/v1/chat/completions", window: 131_072, longest: 65_536 }),
    chat("mistral", "mistral-medium-latest"),
    chat("xai", "grok-4.5", { window: 500_000, longest: 128_000 }),
    openrouter,
  ];
  for (const wire of rows) {
    it(`works with ${wire.name}: answer, tokens, cost and journal agree`, async () => {
      const isMistral = wire.name === "mistral";
      const call = { id: "abc123def", function: { name: "Read", arguments: '{"file_path":"a.txt"}' } };
      const server = await serve(
        isMistral
          ? [
              mistralReply({ tool_calls: [call] }, "tool_calls", [1_200, 60]),
              mistralReply({ content: "It says hello." }, "stop", [1_500, 20]),
            ]
          : [
              {
                reasoning: "I had better look.",
                text: "Looking.",
                calls: [{ name: "Read", input: { file_path: "a.txt" } }],
                usage: { inputTokens: 1_200, outputTokens: 60, cacheReadTokens: 200, reasoningTokens: 10 },
              },
              { text: "It says hello.", usage: { inputTokens: 1_500, outputTokens: 20, cacheReadTokens: 1_100 } },
            ],
      );
      const home = homeOf(profileOf(wire, server));
      const ended = await outrider(json, home);
      assert.equal(ended.code, 0, ended.stderr);
      const { session_id, uuid, duration_ms, duration_api_ms, total_cost_usd, ...rest } = resultOf(ended);
      const { ttft_ms, ttft_stream_ms, time_to_request_ms, first_content_frame_ms, ...told } = rest;
      const { model_usage_since_last_result: since, subagent_stats, ...result } = told;
      assert.equal((subagent_stats as Json)["spawned"], 0);
      assert.deepEqual(since, result["modelUsage"]);
      const model = String(wire.profile["model"]);
      const cacheRead = isMistral ? 0 : 1_300;
      const priced = wire !== compatible;
      assert.equal(typeof total_cost_usd === "number" && total_cost_usd > 0, priced);
      assert.deepEqual(result, {
        type: "result",
        subtype: "success",
        is_error: false,
        num_turns: 2,
        result: "It says hello.",
        stop_reason: "end_turn",
        terminal_reason: "completed",
        api_error_status: null,
        usage: {
          input_tokens: 2_700 - cacheRead,
          cache_creation_input_tokens: 0,
          cache_read_input_tokens: cacheRead,
          output_tokens: 80,
          cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
          output_tokens_details: { thinking_tokens: isMistral || wire === anthropic ? 0 : 10 },
          server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 },
        },
        modelUsage: {
          [model]: {
            inputTokens: 2_700 - cacheRead,
            outputTokens: 80,
            cacheReadInputTokens: cacheRead,
            cacheCreationInputTokens: 0,
            cacheCreationEphemeral5mInputTokens: 0,
            cacheCreationEphemeral1hInputTokens: 0,
            thinkingTokens: isMistral || wire === anthropic ? 0 : 10, // not told apart on these wires
            webSearchRequests: 0,
            costUSD: total_cost_usd,
            contextWindow: wire.window,
            maxOutputTokens: wire.longest,
            requestedModel: model,
            canonicalModel: model,
            costBasis: priced ? "list" : "unknown",
            provider: wire.profile["type"],
          },
        },
        ...(!priced && {
          warnings: [`The price of openai-compatible/my-model is not known: the cost is not known either`],
        }),
        permission_denials: [],
        tool_calls_seen: 1,
        fast_mode_state: "off",
        result_index: 0,
        queued_turn_count: 0,
      });
      assert.deepEqual(
        server.requests.map((request) => [request.url, request.headers[wire.header[0]]]),
        [
          [wire.url, wire.header[1]],
          [wire.url, wire.header[1]],
        ],
      );
      assert.match(JSON.stringify(server.requests[1]?.body), /hello from the file/);
      await checkLedger(home, { session_id, total_cost_usd, ...result });
    });
  }

  it("is priced by the built-in table to the last digit", async () => {
    const server = await serve([
      {
        calls: [{ name: "Read", input: { file_path: "a.txt" } }],
        usage: { inputTokens: 1_000, outputTokens: 100, cacheWriteTokens: 400 },
      },
      { text: "ok", usage: { inputTokens: 2_000, outputTokens: 10, cacheReadTokens: 1_000 } },
    ]);
    const home = homeOf(profileOf(anthropic, server));
    const result = resultOf(await outrider(json, home));
    // 600 and 1,000 at 3 dollars a million, 400 written at 3.75, 1,000 read at 0.30, 110 answered at 15.
    assert.equal(result["total_cost_usd"], 0.0018 + 0.003 + 0.0015 + 0.0003 + 0.00165);
    await checkLedger(home, result);
  });

  it("passes the profile's options on in the body, on every wire", async () => {
    for (const wire of wires) {
      const server = await serve([{ text: "ok" }]);
      const options = { ...(wire.profile["options"] as Json | undefined), x_own: { list: [1, null, { deep: "$ENV:WORK_KEY" }] } };
      const ended = await outrider(json, homeOf({ ...profileOf(wire, server), options }));
      assert.equal(ended.code, 0, ended.stderr);
      const body = server.requests[0]?.body as Json;
      assert.deepEqual([body["x_own"], body["apiSurface"]], [options.x_own, undefined], wire.name);
    }
  });

  it("tells in its first frame who is asked and how old the prices are", async () => {
    const server = await serve([{ text: "ok" }]);
    const [init] = lines((await outrider(stream, homeOf(profileOf(compatible, server)))).stdout);
    const { asOf } = await loadCatalog();
    assert.deepEqual(
      [init?.["subtype"], init?.["provider"], init?.["model"], init?.["price_as_of"]],
      ["init", "openai-compatible", "my-model", asOf],
    );
  });
});

describe("a provider that does not answer well", () => {
  const titles: Record<string, string> = { openai: "OpenAI", gemini: "Gemini", anthropic: "Anthropic" };
  for (const wire of wires) {
    const title = titles[String(wire.profile["type"])] ?? "The OpenAI-compatible server";

    it(`refuses the key of ${wire.name}: who, which status and what to check, without a second try`, async () => {
      const server = await serve(() => ({ status: 401 }));
      const ended = await outrider(json, homeOf(profileOf(wire, server)));
      assert.deepEqual(
        [ended.code, errorOf(ended)["code"], errorOf(ended)["http_status"], errorOf(ended)["retryable"], server.requests.length],
        [1, "provider-auth", 401, false, 1],
      );
      const [first, second, third] = ended.stderr.split("\n");
      assert.ok(first?.startsWith(`outrider: ${title} answered HTTP 401: `), first);
      assert.match(second ?? "", /^Check WORK_KEY of the profile work/);
      assert.match(third ?? "", /^The whole run is recorded in /);
      assert.ok(!ended.stderr.includes(key) && !ended.stdout.includes(key));
    });

    it(`is a web page at the address of ${wire.name}`, async () => {
      const page = { headers: { "content-type": "text/html" }, body: "<html><title>Captive portal</title></html>" };
      const server = await serve(() => page);
      const ended = await outrider(json, homeOf(profileOf(wire, server)));
      assert.deepEqual([ended.code, errorOf(ended)["code"], server.requests.length], [1, "provider-protocol", 1]);
      assert.match(ended.stderr, /^outrider: .*got text\/html: <html><title>Captive portal/);
      assert.match(ended.stderr, /\nCheck the base URL/);
    });

    it(`sends ${wire.name}'s answer without a word in it`, async () => {
      const none = await serve(() => ({ raw: "" }));
      const broken = await outrider(json, homeOf(profileOf(wire, none)));
      assert.deepEqual([broken.code, errorOf(broken)["code"], none.requests.length], [1, "provider-unavailable", 3]);
      const silent = await serve(() => ({ text: "" }));
      const empty = await outrider(json, homeOf(profileOf(wire, silent)));
      assert.deepEqual([empty.code, errorOf(empty)["code"], silent.requests.length], [2, "model-empty-answer", 2]);
    });
  }

  it("is blamed on the variable it was given by when there is no profile", async () => {
    const server = await serve(() => ({ status: 401 }));
    const rows: [env: Record<string, string>, hint: RegExp][] = [
      [{ OPENAI_API_KEY: key, OPENAI_BASE_URL: server.url }, /\nCheck OPENAI_API_KEY; see https:\/\/platform\.openai\.com/],
      [{ GEMINI_API_KEY: key, GOOGLE_GEMINI_BASE_URL: server.url }, /\nCheck .*GEMINI_API_KEY/],
      [{ ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: server.url }, /\nCheck ANTHROPIC_API_KEY/],
    ];
    for (const [env, hint] of rows) {
      const ended = await outrider(json, homeWith(), env);
      assert.equal(ended.code, 1);
      assert.match(ended.stderr, hint);
    }
  });
});

describe("who is asked", () => {
  it("is said by the first part of the model: a profile, a provider, or nobody's name", async () => {
    const server = await serve(() => ({ text: "ok" }));
    const home = homeWith({
      settings: {
        currentProvider: "work",
        providers: { work: profileOf(compatible, server), other: profileOf(openrouter, server) },
      },
    });
    for (const model of ["other/anthropic/claude-x", "meta-llama/llama-x", "work/m"]) {
      assert.equal((await outrider([...json, "--model", model], home)).code, 0);
    }
    assert.deepEqual(
      server.requests.map((request) => [request.url, (request.body as Json)["model"]]),
      [
        ["/api/v1/chat/completions", "anthropic/claude-x"],
        ["/v1/chat/completions", "meta-llama/llama-x"],
        ["/v1/chat/completions", "m"],
      ],
    );
  });

  it("must be known", async () => {
    const settings = { providers: { work: { type: "openai", apiKey: "$ENV:NO_SUCH_KEY" } } };
    const rows: [args: string[], settings: unknown, stderr: RegExp][] = [
      [["--provider", "opnai"], settings, /^outrider: There is no provider "opnai"; did you mean openai\?\n.*Profiles: work\n$/],
      [
        ["--provider", "work"],
        settings,
        /^outrider: The profile work takes its key from the variable NO_SUCH_KEY, which is not set\n/,
      ],
      [
        ["--model", "mistral/x"],
        settings,
        /^outrider: Mistral needs a key: set MISTRAL_API_KEY\n.*\nmistral\/ was read as the provider/,
      ],
      [[], { currentProvider: "wrok", ...settings }, /settings\.json:1: currentProvider names "wrok".* did you mean work\?\n$/],
      [[], { providers: { work: { type: "opnai" } } }, /settings\.json:1: providers\.work\.type: .*did you mean openai\?\n$/],
      [
        [],
        '{"providers": {"work": {"apiKey": sk-1234567890}}}',
        /settings\.json is not valid JSON: line 1, column 35: expected a value\n$/,
      ],
    ];
    for (const [args, settings, stderr] of rows) {
      const ended = await outrider([...json, ...args], homeWith({ settings }));
      assert.deepEqual([ended.code, errorOf(ended)["code"]], [78, "config"]);
      assert.match(ended.stderr, stderr);
    }
  });

  // Own network: the real ports of local servers, without meeting the real servers or other tests.
  const isolated = spawnSync("unshare", ["-rn", "sh", "-c", "ip link set lo up"]).status === 0;
  it("is a local server that answers, else exit 78", {
    skip: isolated ? false : "needs unshare and ip for a network of its own",
  }, () => {
    const rows: [port: number, expected: string][] = [
      [11434, "ollama"],
      [1234, "lmstudio"],
      [8080, "llama.cpp"],
      [8081, "no model provider"],
    ];
    const home = homeWith();
    for (const [port, expected] of rows) {
      const { stdout, stderr } = spawnSync(
        "unshare",
        ["-rn", "sh", "-c", 'ip link set lo up && exec "$0" -e "$@"', process.execPath, localServer, launcher, bin, String(port)],
        { encoding: "utf8", env: { PATH: process.env["PATH"] ?? "", HOME: home, OUTRIDER_HOME: home }, cwd: project },
      );
      const ended: { code: number; stdout: string; stderr: string } = JSON.parse(stdout || JSON.stringify({ stderr }));
      const result = lines(ended.stdout).at(-1);
      if (expected === "no model provider") {
        assert.deepEqual([ended.code, (result?.["error"] as Json | undefined)?.["code"]], [78, "config"]);
        assert.match(
          ended.stderr,
          /^outrider: No model provider is configured\nThe three quickest ways to continue:\n( {2,}.+\n){4}$/,
        );
      } else {
        const [[model, usage] = ["", {}]] = Object.entries(result?.["modelUsage"] as Record<string, Json>);
        assert.deepEqual([ended.code, result?.["result"], model, usage["provider"]], [0, "hi", "qwen3:8b", expected]);
      }
    }
  });
});

/** Listens where a local server would, runs the command, and prints how that went. */
const localServer = `
  const [launcher, bin, port] = process.argv.slice(1);
  const chunk = (delta, finish_reason = null) => "data: " + JSON.stringify({ id: "1", model: "qwen3:8b", choices: [{ index: 0, delta, finish_reason }] }) + "\\n\\n";
  const server = require("http").createServer((request, response) => {
    request.resume();
    if (request.url === "/v1/models") return response.end(JSON.stringify({ data: [{ id: "qwen3:8b" }, { id: "other" }] }));
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(chunk({ content: "hi" }) + chunk({}, "stop") + "data: [DONE]\\n\\n");
  }).listen(Number(port), "127.0.0.1", () => {
    const args = [bin, "-p", "go", "--output-format", "json"];
    require("child_process").execFile(launcher, args, (error, stdout, stderr) => {
      console.log(JSON.stringify({ code: error ? error.code : 0, stdout, stderr }));
      server.close();
      server.closeAllConnections();
    }).stdin.end();
  });
`;

describe("outrider providers", () => {
  it("lists profiles and providers with the state of their keys", async () => {
    const home = homeWith({
      settings: {
        currentProvider: "work",
        providers: {
          work: { type: "openai", model: "gpt-5.5", apiKey: "$ENV:WORK_KEY" },
          gone: { type: "openai", apiKey: "$ENV:NO_SUCH_KEY" },
          plain: { type: "gemma", model: "g", apiKey: "lm-studio", baseURL: "http://localhost:1234/v1" },
          bare: { type: "groq", model: "x" },
        },
        provider: { name: "deepseek", apiKey: key },
      },
    });
    const { code, stdout, stderr } = await outrider(["providers"], home, { GROQ_API_KEY: "k" });
    assert.deepEqual([code, stderr], [0, ""]);
    const words = stdout.split("\n").map((line) => line.trim().replace(/ {2,}/g, " | "));
    assert.deepEqual(words.slice(0, 6), [
      "Profiles (* is the current one)",
      "* work | openai/gpt-5.5 | key in WORK_KEY",
      "gone | openai | needs NO_SUCH_KEY",
      "plain | gemma/g | key in the settings | http://localhost:1234/v1",
      "bare | groq/x | key in GROQ_API_KEY",
      "(provider) | deepseek | key in the settings",
    ]);
    assert.ok(words.includes("groq | key in GROQ_API_KEY | openai/gpt-oss-120b | https://console.groq.com/keys"));
    assert.ok(words.includes("mistral | needs MISTRAL_API_KEY | mistral-large-4 | https://console.mistral.ai/api-keys"));
    assert.ok(words.includes("ollama | no key needed | https://ollama.com/download"));
    assert.ok(!stdout.includes(key) && !stdout.includes("lm-studio"));
    assert.equal((await outrider(["providers", "list"], home, { GROQ_API_KEY: "k" })).stdout, stdout);
  });

  it("tests whether key and address are good, and says why not", async () => {
    const list = { body: { data: [{ id: "a" }, { id: "b" }] } };
    const server = await serve((request) => (request.headers.authorization === `Bearer ${key}` ? list : { status: 401 }));
    const work = profileOf(compatible, server);
    const home = homeWith({
      settings: {
        currentProvider: "work",
        providers: {
          work,
          wrong: { ...work, type: "mistral", apiKey: "another-key" },
          gone: { ...work, baseURL: "http://127.0.0.1:9/v1" },
          unset: { ...work, apiKey: "$ENV:NO_SUCH_KEY" },
        },
      },
    });
    const rows: [name: string[], code: number, stdout: RegExp, stderr: RegExp][] = [
      [["work"], 0, /^work \(The OpenAI-compatible server\): works, 2 models\n$/, /^$/],
      [[], 0, /^work .*works, 2 models\n$/, /^$/],
      [
        ["wrong"],
        1,
        /^$/,
        /^outrider: wrong \(Mistral\): Mistral answered HTTP 401: .*\nCheck the apiKey of the profile wrong; see https:.*\n$/,
      ],
      [["gone"], 1, /^$/, /^outrider: gone \(.*\): .*127\.0\.0\.1/],
      [["unset"], 78, /^$/, /^outrider: The profile unset takes its key from the variable NO_SUCH_KEY, which is not set\n/],
      [["groq"], 78, /^$/, /^outrider: Groq: Groq needs a key: set GROQ_API_KEY\n/],
      [["gorq"], 78, /^$/, /^outrider: There is no provider "gorq"; did you mean groq\?\n/],
      [["work", "more"], 64, /^$/, /^outrider: providers test does not take more\n/],
    ];
    for (const [name, code, stdout, stderr] of rows) {
      const ended = await outrider(["providers", "test", ...name], home);
      assert.equal(ended.code, code, ended.stderr);
      assert.match(ended.stdout, stdout);
      assert.match(ended.stderr, stderr);
    }
  });

  it("adds profiles that runs then use", async () => {
    const server = await serve(() => ({ text: "ok" }));
    const home = join(homeWith(), "not-there-yet");
    const path = join(home, "settings.json");
    const add = (...args: string[]) => outrider(["providers", "add", ...args], home);
    const first = await add(
      "openai-compatible",
      "--base-url",
      `${server.url}/v1`,
      "--model=org/My Model",
      "--api-key-env",
      "WORK_KEY",
    );
    assert.deepEqual(first, {
      ...first,
      code: 0,
      stdout: `Wrote the profile my-model in ${path}; it is the current one.\nTry it: outrider providers test my-model\n`,
      stderr: "",
    });
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.match(
      (await add("openai-compatible", "--base-url", server.url, "--model", "my-model")).stdout,
      /^Wrote the profile my-model-2 in [^;]*\n/,
    );
    assert.match(
      (await add("anthropic", "--api-key-env", "LATER_KEY", "--name", "later", "--current")).stderr,
      /^outrider: LATER_KEY is not set yet/,
    );
    assert.match((await add("groq", "--api-key-env", "WORK_KEY", "--name", "later")).stdout, /^Replaced the profile later/);
    const written = readFileSync(path, "utf8");
    assert.deepEqual(JSON.parse(written), {
      currentProvider: "later",
      providers: {
        "my-model": { type: "openai-compatible", model: "org/My Model", apiKey: "$ENV:WORK_KEY", baseURL: `${server.url}/v1` },
        "my-model-2": { type: "openai-compatible", model: "my-model", baseURL: server.url },
        later: { type: "groq", model: "openai/gpt-oss-120b", apiKey: "$ENV:WORK_KEY" },
      },
    });
    assert.equal((await outrider([...json, "--provider", "my-model"], home)).code, 0);
    assert.deepEqual(
      server.requests.map((request) => [request.headers.authorization, (request.body as Json)["model"]]),
      [[`Bearer ${key}`, "org/My Model"]],
    );

    const refused: [args: string[], code: number, stderr: RegExp][] = [
      [[], 64, /providers add needs a provider/],
      [["--model", "x"], 64, /providers add needs a provider/],
      [["opnai"], 64, /There is no provider "opnai"; did you mean openai\?/],
      [["openai", "--mdoel", "x"], 64, /has no flag --mdoel; did you mean --model\?/],
      [["openai", "--model"], 64, /--model needs a value/],
      [["openai", "--model", "--current"], 64, /--model needs a value/],
      [["openai", "--name", ""], 64, /--name needs a name without spaces and slashes/],
      [["openai", "--name", "a/b", "--api-key-env", "WORK_KEY"], 64, /--name needs a name without spaces and slashes/],
      [["openai", "--api-key-env", "sk-live-1234"], 64, /--api-key-env takes the name of a variable/],
      [["openai"], 78, /OpenAI needs a key: set OPENAI_API_KEY/],
      [["openai-compatible", "--model", "m"], 78, /needs a base URL/],
      [["openai-compatible", "--base-url", server.url], 78, /has no default model/],
      [["openai-compatible", "--model", "m", "--base-url", "localhost:1"], 78, /"localhost:1" is no http or https address/],
    ];
    for (const [args, code, stderr] of refused) {
      const ended = await add(...args);
      assert.deepEqual([ended.code, ended.stdout], [code, ""], args.join(" "));
      assert.match(ended.stderr, stderr);
      assert.doesNotMatch(ended.stderr, /sk-live/);
    }
    assert.equal(readFileSync(path, "utf8"), written);
  });

  it("explains itself", async () => {
    const help = await outrider(["providers", "--help"], homeWith());
    assert.deepEqual([help.code, help.stderr], [0, ""]);
    assert.match(help.stdout, /^Usage:\n {2}outrider providers list/);
    assert.equal((await outrider(["providers", "test", "-h"], homeWith())).stdout, help.stdout);
    const wrong = await outrider(["providers", "tset"], homeWith());
    assert.equal(wrong.code, 64);
    assert.match(wrong.stderr, /providers has no action "tset"; did you mean test\?/);
  });
});

describe("outrider models", () => {
  it("shows windows and prices, with their date, as a table and as JSON", async () => {
    const table = await outrider(["models", "anthropic"], homeWith());
    assert.deepEqual([table.code, table.stderr], [0, ""]);
    assert.match(table.stdout, /^model +window +input +output +cached\n/);
    assert.match(table.stdout, /\nanthropic\/claude-sonnet-4-5 +200k +3 +15 +0\.3\n/);
    assert.match(table.stdout, /\nUS dollars per million tokens, as of \d{4}-\d\d-\d\d; \? is unknown\n$/);
    const listed = lines((await outrider(["models", "--json", "anthropic"], homeWith())).stdout);
    assert.deepEqual(
      listed.find((model) => model["id"] === "claude-sonnet-4-5"),
      {
        provider: "anthropic",
        id: "claude-sonnet-4-5",
        contextWindow: 200_000,
        price: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75, cacheWrite1h: 6 },
      },
    );
    const all = lines((await outrider(["models", "--json"], homeWith())).stdout);
    const providers = new Set(all.map((model) => model["provider"]));
    for (const name of ["anthropic", "openai", "gemini", "bedrock", "xai", "openrouter"]) assert.ok(providers.has(name), name);
    assert.ok(
      all.length > 500 && all.every((model) => model["price"] === null || typeof (model["price"] as Json)["input"] === "number"),
    );
  });

  it("knows what models.json adds, and ends with 66 where nothing is known", async () => {
    const own = { provider: "ollama", model: "qwen3:8b", contextWindow: 40_960, price: { input: 0, output: 0 } };
    const home = homeWith({ models: { models: [own] } });
    assert.deepEqual(lines((await outrider(["models", "ollama", "--json"], home)).stdout), [
      { provider: "ollama", id: "qwen3:8b", contextWindow: 40_960, price: { input: 0, output: 0 } },
    ]);
    const rows: [args: string[], code: number, stderr: RegExp][] = [
      [["antropic"], 66, /^outrider: The table has no models of antropic; did you mean anthropic\?\n/],
      [["lmstudio"], 66, /^outrider: The table has no models of lmstudio\n/],
      [["openai", "gemini"], 64, /^outrider: models takes one provider, not openai and gemini\n/],
      [["--jsn"], 64, /^outrider: models has no flag --jsn/],
    ];
    for (const [args, code, stderr] of rows) {
      const ended = await outrider(["models", ...args], home);
      assert.deepEqual([ended.code, ended.stdout], [code, ""]);
      assert.match(ended.stderr, stderr);
    }
  });
});

describe("outrider models --refresh", () => {
  const listed = {
    data: [
      {
        id: "claude-opus-4-5",
        retires_at: "2026-12-01T00:00:00Z",
        max_input_tokens: 300_000,
        max_tokens: 20_000,
        capabilities: {
          effort: { supported: true, low: { supported: true }, high: { supported: false } },
          structured_outputs: { supported: false },
        },
      },
      { id: "claude-only-here", max_input_tokens: 123_000 },
      { id: "nothing-said" },
      { id: 7 },
    ],
  };

  it("keeps what the provider says about its models, and runs go by it until models.json says otherwise", async () => {
    const server = await serve(({ url }) => (url.startsWith("/v1/models") ? { body: JSON.stringify(listed) } : { text: "ok" }));
    const home = homeOf(profileOf({ ...anthropic, profile: { type: "anthropic", model: "claude-opus-4-5" } }, server));
    const refreshed = await outrider(["models", "work", "--refresh", "--json"], home);
    assert.deepEqual([refreshed.code, server.requests[0]?.url], [0, "/v1/models?limit=1000"], refreshed.stderr);
    assert.match(refreshed.stderr, /anthropic says something about 2 models/);
    const models = lines((await outrider(["models", "anthropic", "--json"], home)).stdout);
    assert.deepEqual(models.find(({ id }) => id === "claude-only-here")?.["contextWindow"], 123_000);
    const ended = await outrider([...json, "--effort", "high", "--max-tokens", "50000"], home);
    const body = server.requests.at(-1)?.body as Json;
    assert.deepEqual([body["max_tokens"], body["output_config"]], [20_000, { effort: "low" }], ended.stderr);
    assert.match(String(resultOf(ended)["warnings"]), /claude-opus-4-5 is switched off on 2026-12-01/);
    writeFileSync(join(home, "models.listed.json"), "{broken");
    assert.equal((await outrider(json, home)).code, 0);
  });
});

describe("models.json", () => {
  it("prices what the table does not know, and wins over what it knows", async () => {
    const usage = { inputTokens: 1_000, outputTokens: 100 };
    const rows: [wire: Wire, price: Json, usd: number][] = [
      [compatible, { input: 2, output: 10 }, 0.003],
      [anthropic, { input: 30, output: 150, request: 1 }, 0.046],
      [anthropic, { input: 0, output: 0 }, 0],
    ];
    for (const [wire, price, usd] of rows) {
      const server = await serve([{ text: "ok", usage }]);
      const models = [{ provider: wire.profile["type"], model: wire.profile["model"], contextWindow: 12_345, price }];
      const result = resultOf(await outrider(json, homeOf(profileOf(wire, server), { models: { models } })));
      const [line] = Object.values(result["modelUsage"] as Record<string, Json>);
      assert.deepEqual(
        [result["total_cost_usd"], line?.["costUSD"], line?.["contextWindow"], result["warnings"]],
        [usd, usd, 12_345, undefined],
      );
    }
  });

  it("ends the run with 78 and its name when it is broken", async () => {
    const rows: [models: unknown, stderr: RegExp][] = [
      ["{]", /^outrider: .*\/models\.json is not valid JSON: line 1, column 2: expected a name in double quotes\n$/],
      [
        { models: [{ provider: "x", model: "y", price: { input: "3" } }] },
        /^outrider: .*\/models\.json: .*price\.input must be a number/,
      ],
    ];
    for (const [models, stderr] of rows) {
      const server = await serve([]);
      const home = homeOf(profileOf(compatible, server), { models });
      for (const args of [json, ["models"]]) {
        const ended = await outrider(args, home);
        assert.deepEqual([ended.code, server.requests.length], [78, 0]);
        assert.match(ended.stderr, stderr);
      }
    }
  });
});

describe("--fallback-model", () => {
  const overloaded = (model: string): ModelServerOptions["replies"] => {
    return (request) => {
      const asked = (request.body as Json)["model"];
      return asked === model ? { status: 529 } : { text: `from ${asked}`, usage: { inputTokens: 1_000, outputTokens: 100 } };
    };
  };

  it("is asked after the retries, told in a frame, and paid at its own price", async () => {
    const server = await serve(overloaded("claude-sonnet-4-6"));
    const home = homeOf(profileOf(anthropic, server));
    const ended = await outrider([...stream, "--fallback-model", "claude-haiku-4-5"], home);
    assert.equal(ended.code, 0, ended.stderr);
    const frames = lines(ended.stdout);
    const frame = frames.find((line) => line["subtype"] === "model_fallback");
    assert.deepEqual(
      [frame?.["type"], frame?.["trigger"], frame?.["original_model"], frame?.["fallback_model"]],
      ["system", "overloaded", "claude-sonnet-4-6", "claude-haiku-4-5"],
    );
    assert.equal(frames.filter((line) => line["subtype"] === "api_retry").length, 2);
    const result = resultOf(ended);
    const models = result["modelUsage"] as Record<string, Json>;
    assert.deepEqual(
      [result["result"], result["total_cost_usd"], result["num_turns"], Object.keys(models)],
      ["from claude-haiku-4-5", 0.0015, 1, ["claude-haiku-4-5"]],
    );
    assert.deepEqual(
      server.requests.map((request) => (request.body as Json)["model"]),
      ["claude-sonnet-4-6", "claude-sonnet-4-6", "claude-sonnet-4-6", "claude-haiku-4-5"],
    );
    await checkLedger(home, result);
  });

  it("may be of another profile", async () => {
    const server = await serve(overloaded("claude-sonnet-4-6"));
    const home = homeWith({
      settings: {
        currentProvider: "work",
        providers: { work: profileOf(anthropic, server), spare: profileOf(openrouter, server) },
      },
    });
    const ended = await outrider([...json, "--fallback-model", "spare/openai/gpt-oss-120b"], home);
    const result = resultOf(ended);
    const [[model, line] = ["", {}]] = Object.entries(result["modelUsage"] as Record<string, Json>);
    assert.deepEqual(
      [ended.code, result["result"], model, line["provider"]],
      [0, "from openai/gpt-oss-120b", "openai/gpt-oss-120b", "openrouter"],
    );
    assert.equal(server.requests.at(-1)?.url, "/api/v1/chat/completions");
    await checkLedger(home, result);
  });

  it("is not asked when the request itself is refused, and must be known from the start", async () => {
    const server = await serve(() => ({ status: 400 }));
    const home = homeOf(profileOf(anthropic, server));
    const refused = await outrider([...json, "--fallback-model", "claude-haiku-4-5"], home);
    assert.deepEqual([refused.code, errorOf(refused)["code"], server.requests.length], [1, "provider-bad-request", 1]);
    const unknown = await outrider([...json, "--fallback-model", "groq/x"], home);
    assert.deepEqual([unknown.code, server.requests.length], [78, 1]);
    assert.match(unknown.stderr, /Groq needs a key/);
  });

  const isAnthropic = { type: "anthropic", model: "claude-sonnet-4-6" };

  it("costs an unknown sum when its price is unknown", async () => {
    const server = await serve(overloaded("claude-sonnet-4-6"));
    const home = homeOf(profileOf(anthropic, server));
    const result = resultOf(await outrider([...json, "--fallback-model", "my-own-model"], home));
    assert.deepEqual([result["result"], result["total_cost_usd"]], ["from my-own-model", null]);
    await checkLedger(home, result);
  });

  it("is asked of the provider of the run when it names none", async () => {
    const server = await serve(overloaded("gpt-5.5"));
    const work = { ...isAnthropic, apiKey: key, baseURL: server.url };
    const other = { type: "openai", model: "gpt-5.5", apiKey: key, baseURL: server.url };
    const home = homeWith({ settings: { currentProvider: "work", providers: { work, other } } });
    await outrider([...json, "--provider", "other", "--fallback-model", "gpt-5-mini"], home);
    assert.equal(server.requests.at(-1)?.url, "/v1/chat/completions");
  });

  it("is sent the options of its own profile", async () => {
    const server = await serve(overloaded("claude-sonnet-4-6"));
    const work = { ...isAnthropic, apiKey: key, baseURL: server.url, options: { top_k: 5 } };
    const other = { type: "openai", apiKey: key, baseURL: server.url, options: { service_tier: "flex" } };
    const home = homeWith({ settings: { currentProvider: "work", providers: { work, other } } });
    await outrider([...json, "--fallback-model", "other/gpt-5-mini"], home);
    const body = server.requests.at(-1)?.body as Json;
    assert.deepEqual([body["model"], body["top_k"], body["service_tier"]], ["gpt-5-mini", undefined, "flex"]);
  });

  it("has a line of its own beside a model of the same name", async () => {
    const usage = { inputTokens: 1_000, outputTokens: 100 };
    const server = await serve(({ url }, index) => {
      if (index === 0) return { calls: [{ name: "Read", input: { file_path: "a.txt" } }], usage };
      return url.startsWith("/first") ? { status: 529 } : { text: "ok", usage };
    });
    const work = { type: "openai-compatible", model: "same", baseURL: `${server.url}/first` };
    const other = { type: "vllm", baseURL: `${server.url}/second` };
    const home = homeWith({ settings: { currentProvider: "work", providers: { work, other } } });
    await checkLedger(home, resultOf(await outrider([...json, "--fallback-model", "other/same"], home)));
  });
});

describe("how hard, how long and how wild", () => {
  const sampling = { temperature: 0.2 };
  const rows: [wire: Wire, effort: Json, thinking: Json, limits: Record<string, unknown>][] = [
    [
      responses,
      { reasoning: { effort: "high", summary: "auto" } },
      { reasoning: { effort: "low", summary: "auto" } },
      { max_output_tokens: 500, temperature: undefined },
    ],
    [compatible, { reasoning_effort: "high" }, { reasoning_effort: "low" }, { max_tokens: 500, ...sampling }],
    [
      gemini,
      { generationConfig: { thinkingConfig: { thinkingLevel: "HIGH", includeThoughts: true } } },
      { generationConfig: { thinkingConfig: { thinkingLevel: "LOW", includeThoughts: true } } },
      { generationConfig: { maxOutputTokens: 500, ...sampling } },
    ],
    [
      anthropic,
      { output_config: { effort: "high" } },
      { thinking: { type: "enabled", budget_tokens: 2_000 } },
      { max_tokens: 500, ...sampling },
    ],
    [deepseek, { thinking: { type: "enabled" } }, { thinking: { type: "enabled" } }, { max_tokens: 500, ...sampling }],
    [openrouter, { reasoning: { effort: "high" } }, { reasoning: { max_tokens: 2_000 } }, { max_tokens: 500, ...sampling }],
  ];
  for (const [wire, effort, thinking, limits] of rows) {
    it(`is said in the words of ${wire.name}`, async () => {
      const server = await serve(() => ({ text: "ok" }));
      const home = homeOf(profileOf(wire, server));
      const sent: [flags: string[], expected: Record<string, unknown>][] = [
        [["--effort", "high"], effort],
        [["--thinking", "2000"], thinking],
        [["--max-tokens", "500", "--temperature", "0.2"], limits],
      ];
      for (const [index, [flags, expected]] of sent.entries()) {
        const ended = await outrider([...json, ...flags], home);
        assert.equal(ended.code, 0, ended.stderr);
        const body = server.requests[index]?.body as Json;
        assert.deepEqual(Object.fromEntries(Object.keys(expected).map((name) => [name, body[name]])), expected);
      }
    });
  }

  it("is refused with exit 64 when it is no such thing", async () => {
    const server = await serve([]);
    const home = homeOf(profileOf(compatible, server));
    const rows: [flags: string[], stderr: RegExp][] = [
      [["--thinking", "0"], /--thinking needs a whole number above 0, not "0"/],
      [["--thinking=-5"], /--thinking needs a whole number/],
      [["--max-tokens", "1e3"], /--max-tokens needs a whole number/],
      [["--temperature", "2.1"], /--temperature needs a number from 0 to 2, not "2\.1"/],
      [["--temperature", "warm"], /--temperature needs a number from 0 to 2/],
      [["--temperature="], /--temperature needs a number from 0 to 2/],
    ];
    for (const [flags, stderr] of rows) {
      const ended = await outrider([...json, ...flags], home);
      assert.deepEqual([ended.code, errorOf(ended)["code"], server.requests.length], [64, "usage", 0]);
      assert.match(ended.stderr, stderr);
    }
  });
});
