import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { allModels } from "../packages/runtime/src/model/capabilities/chat.ts";
import { findRecord, listRecords, type ModelRecord } from "../packages/runtime/src/model/capabilities/record.ts";
import { anthropicMessages } from "../packages/runtime/src/model/dialects/anthropic-messages.ts";
import { gemini } from "../packages/runtime/src/model/dialects/gemini.ts";
import { createOpenAIChat } from "../packages/runtime/src/model/dialects/openai-chat.ts";
import { openaiResponses } from "../packages/runtime/src/model/dialects/openai-responses.ts";
import type { Effort, ModelRequest } from "../packages/runtime/src/model/model.ts";
import {
  type AssistantMessage,
  type ImagePart,
  type JsonObject,
  noUsage,
  userText,
} from "../packages/runtime/src/protocol/content.ts";

type Documented = {
  provider: string;
  id: string;
  tier: string;
  contextWindow: number;
  maxOutput: number;
  thinking: string[];
  style: string;
  effort: string[];
  temperature: "allowed" | "rejected" | "default-only";
  images: boolean;
  pdf: boolean;
  parallelCalls: boolean;
  editTool: string;
  forcedToolChoice?: boolean;
  prefill?: boolean;
  released?: string;
  retires?: string;
  cacheMinTokens?: number;
  chatTools?: ModelRecord["chatTools"];
  nativeSchema?: boolean;
  bound?: boolean;
  stopRefused?: boolean;
};

const root = process.env["OUTRIDER_ROOT"] ?? process.cwd();
const { models } = JSON.parse(readFileSync(join(root, "test/fixtures/documented-models.json"), "utf8")) as {
  models: Documented[];
};

const tool = { name: "Read", description: "reads", inputSchema: { type: "object", properties: {} } };
const schema = { type: "object", properties: { n: { type: "integer", minimum: 0 } }, required: ["n"] };
const said: Omit<AssistantMessage, "model"> = {
  role: "assistant",
  content: [{ type: "text", text: "so far" }],
  finish: "stop",
  usage: noUsage,
};
const picture: ImagePart = { type: "image", mediaType: "image/png", data: "AA==" };
const paper: ImagePart = { type: "image", mediaType: "application/pdf", data: "AA==" };
const efforts: (Effort | undefined)[] = [undefined, "minimal", "low", "medium", "high", "xhigh", "max"];

/** Every way a request may be made of what people can ask for. */
function* asked(model: string): Generator<ModelRequest> {
  const parts: Partial<ModelRequest>[] = [
    {},
    { temperature: 0.3 },
    { temperature: 1.9 },
    { maxOutputTokens: 9_999_999 },
    { stopSequences: ["END"] },
  ];
  for (const effort of efforts)
    for (const thinkingTokens of [undefined, 0, 3_000, 40_000])
      for (const tools of [[], [tool]])
        for (const part of parts)
          for (const outputSchema of [undefined, schema])
            yield {
              model,
              system: "s",
              messages: [userText("hi")],
              tools,
              ...(effort && { effort }),
              ...(thinkingTokens !== undefined && { thinkingTokens }),
              ...(outputSchema && { outputSchema }),
              ...part,
            };
  yield { model, system: "s", messages: [userText("hi"), { ...said, model: { provider: "p", id: model } }], tools: [] };
}

type Body = JsonObject & {
  thinking?: JsonObject;
  output_config?: JsonObject;
  reasoning?: JsonObject;
  generationConfig?: JsonObject;
};
type Rule = (body: Body, model: Documented, request: ModelRequest) => string | false | undefined;

/** The most that each maker documents. */
const hottest: Readonly<Record<string, number>> = { anthropic: 1, zai: 1, minimax: 1, mistral: 1.5 };
const tooHot: Rule = (body, { provider }) => {
  const temperature = body["temperature"] ?? body.generationConfig?.["temperature"];
  return temperature !== undefined && Number(temperature) > (hottest[provider] ?? 2) && `temperature ${temperature}`;
};

const within = (value: unknown, most: number): boolean => value === undefined || Number(value) <= most;

/** What the documentation of each wire refuses. A rule answers what is wrong. */
const rules: Readonly<Record<string, Readonly<Record<string, Rule>>>> = {
  anthropic: {
    "a temperature within its range": tooHot,
    "a kind of thinking that the model takes": ({ thinking }, model) =>
      thinking && !model.thinking.includes(String(thinking["type"])) && `thinking.type ${thinking["type"]}`,
    "a budget of at least 1,024 tokens, below the limit": ({ thinking, max_tokens: max }) => {
      const budget = thinking?.["budget_tokens"];
      return budget !== undefined && (Number(budget) < 1_024 || Number(budget) >= Number(max)) && `budget ${budget} of ${max}`;
    },
    "an effort that the model knows": ({ output_config: config }, model) =>
      config?.["effort"] !== undefined && !model.effort.includes(String(config["effort"])) && `effort ${config["effort"]}`,
    "no highest effort while thinking is off": ({ thinking, output_config: config }) =>
      ["disabled", "between_tools"].includes(String(thinking?.["type"])) &&
      ["xhigh", "max"].includes(String(config?.["effort"])) &&
      `effort ${config?.["effort"]}`,
    "a temperature only where it is taken": ({ temperature, thinking }, model) =>
      temperature !== undefined &&
      (model.temperature !== "allowed" || (thinking !== undefined && thinking["type"] !== "disabled")) &&
      "temperature",
    "no more output than the model writes": ({ max_tokens: max }, model) => !within(max, model.maxOutput) && `max_tokens ${max}`,
    "a schema only where the model keeps to one": ({ output_config: config }, model) => {
      const format = config?.["format"] as JsonObject | undefined;
      if (!format) return false;
      return (!model.nativeSchema && "format") || (/minimum/.test(JSON.stringify(format)) && "a keyword that is refused");
    },
    "no words put into the model's mouth": ({ messages }, model) =>
      model.prefill === false && (messages as JsonObject[]).at(-1)?.["role"] === "assistant" && "prefill",
    "the escape where thinking is bound to what came before": ({ thinking }, model) =>
      model.bound && thinking?.["type"] !== "disabled" && !JSON.stringify(thinking).includes("drop_block") && "no escape",
    "the effort that was asked for, where the model has the word": (
      { output_config: config },
      model,
      { effort, thinkingTokens },
    ) =>
      effort !== undefined &&
      thinkingTokens === undefined &&
      model.effort.includes(effort) &&
      config?.["effort"] !== effort &&
      `effort ${effort}`,
    "the budget that was asked for, where the model takes one": ({ thinking }, model, { thinkingTokens }) =>
      thinkingTokens === 3_000 && model.thinking.includes("enabled") && thinking?.["budget_tokens"] !== 3_000 && "no budget",
    "thinking that is off, where it can be": ({ thinking }, model, { thinkingTokens }) =>
      thinkingTokens === 0 &&
      model.thinking.includes("disabled") &&
      thinking !== undefined &&
      thinking["type"] !== "disabled" &&
      "thinks",
    "what is thought to be shown": ({ thinking }, model) =>
      model.effort.includes("xhigh") && thinking?.["type"] === "adaptive" && thinking["display"] === undefined && "no display",
  },
  responses: {
    "an effort that the model knows": ({ reasoning }, model) =>
      reasoning && !model.effort.includes(String(reasoning["effort"])) && `effort ${reasoning["effort"]}`,
    "the effort that was asked for, where the model has the word": ({ reasoning }, model, { effort, thinkingTokens }) =>
      effort !== undefined &&
      thinkingTokens !== 0 &&
      model.effort.includes(effort) &&
      reasoning?.["effort"] !== effort &&
      `effort ${effort}`,
    "a temperature only where it is taken": ({ temperature, reasoning }, model) =>
      temperature !== undefined &&
      model.temperature !== "allowed" &&
      !(model.temperature === "default-only" && reasoning?.["effort"] === "none") &&
      "temperature",
    "no more output than the model writes": ({ max_output_tokens: max }, model) =>
      !within(max, model.maxOutput) && `limit ${max}`,
    "nothing that the wire has no name for": (body) =>
      ["stop", "reasoning_effort", "max_tokens", "max_completion_tokens", "response_format", "messages"].find(
        (name) => name in body,
      ),
    "tools without a shell around them, loose by word": ({ tools }) =>
      (tools as JsonObject[] | undefined)?.some((one) => one["strict"] !== false || one["name"] === undefined) && "tools",
    "its own schema": ({ text }, _, { outputSchema }) => outputSchema !== undefined && text === undefined && "no schema",
  },
  chat: {
    "a temperature within its range": tooHot,
    "an effort that the model knows": ({ reasoning_effort: effort }, model) =>
      effort !== undefined && !model.effort.includes(String(effort)) && `effort ${effort}`,
    "no effort beside tools where the wire takes none": ({ reasoning_effort: effort, tools }, model) =>
      tools !== undefined &&
      ((model.chatTools === "unworded" && effort !== undefined) || (model.chatTools === "off" && effort !== "none")) &&
      `effort ${effort}`,
    "a temperature only where it is taken": ({ temperature, reasoning_effort: effort }, model) =>
      temperature !== undefined &&
      model.temperature !== "allowed" &&
      !(model.provider === "openai" && model.temperature === "default-only" && effort === "none") &&
      "temperature",
    "no more output than the model writes": (body, model) =>
      !within(body["max_tokens"] ?? body["max_completion_tokens"], model.maxOutput) && "limit",
    "no stop sequences where they are refused": ({ stop }, model) => stop !== undefined && model.stopRefused && "stop",
    "thinking switched only where there is a switch": ({ thinking, enable_thinking: enabled }, model) =>
      (thinking !== undefined && !/thinking\.type/.test(model.style) && "thinking") ||
      (enabled !== undefined && !/enable_thinking/.test(model.style) && "enable_thinking"),
  },
  gemini: {
    "a level that the model knows, or a budget": ({ generationConfig }, model) => {
      const { thinkingLevel: level, thinkingBudget: budget } = (generationConfig?.["thinkingConfig"] ?? {}) as JsonObject;
      if (model.style === "thinkingLevel")
        return (
          (budget !== undefined && "a budget") ||
          (level !== undefined && !model.effort.includes(String(level).toLowerCase()) && `level ${level}`)
        );
      const [least = 0, most = 0] = (model.effort.find((text) => text.includes(".."))?.split("..") ?? []).map(Number);
      return (
        (level !== undefined && "a level") ||
        (budget !== undefined &&
          budget !== 0 &&
          (Number(budget) < Math.min(least, 512) || Number(budget) > most) &&
          `budget ${budget}`)
      );
    },
    "a temperature only where it is taken": ({ generationConfig }, model) =>
      generationConfig?.["temperature"] !== undefined && model.temperature !== "allowed" && "temperature",
    "no more output than the model writes": ({ generationConfig }, model) =>
      !within(generationConfig?.["maxOutputTokens"], model.maxOutput + 40_000) && "limit",
    "no words put into the model's mouth from 3.6 on": ({ contents }, model) =>
      /gemini-(?:3\.[6-9]|4)/.test(model.id) && (contents as JsonObject[]).at(-1)?.["role"] === "model" && "prefill",
  },
};

const chat = (recordsOf: string) => createOpenAIChat({ recordsOf });
const wires: readonly [name: string, of: readonly string[], encode: (provider: string, request: ModelRequest) => JsonObject][] = [
  ["anthropic", ["anthropic"], (_, request) => anthropicMessages.encode(request)],
  ["responses", ["openai"], (_, request) => openaiResponses.encode(request)],
  ["gemini", ["gemini"], (_, request) => gemini.encode(request)],
  [
    "chat",
    ["openai", "deepseek", "qwen", "xai", "mistral", "groq", "moonshot", "zai", "minimax", "meta"],
    (provider, request) => chat(provider).encode(request),
  ],
];

describe("the body of every request that can be asked for", () => {
  it("is checked for at least 40 models", () => assert.ok(models.length >= 80));

  for (const [wire, providers, encode] of wires) {
    const own = models.filter(({ provider }) => providers.includes(provider));
    for (const [what, rule] of Object.entries(rules[wire] ?? {})) {
      it(`${wire}, ${own.length} models: ${what}`, () => {
        const wrong = own.flatMap((model) =>
          [...asked(model.id)].flatMap((request) => {
            const problem = rule(encode(model.provider, request) as Body, model, request);
            return problem ? [`${model.id}: ${problem} for ${JSON.stringify({ ...request, messages: 0, outputSchema: 0 })}`] : [];
          }),
        );
        assert.deepEqual(wrong.slice(0, 5), []);
      });
    }
  }
});

describe("a model that is known by its name", () => {
  const ids = ["kimi-k3.1-pro", "glm-5.3", "MiniMax-M3.1-Flash", "muse-spark-1.3", "qwen3.8-max", "deepseek-v4-pro"];
  const chatModels = models.filter(({ id }) => ids.includes(id));

  for (const server of ["openai-compatible", "together", "fireworks"])
    it(`is asked by its record at ${server} too`, () => {
      assert.equal(chatModels.length, ids.length);
      const wrong = chatModels.flatMap((model) =>
        [...asked(model.id)].flatMap((request) =>
          Object.values(rules["chat"] ?? {}).flatMap((rule) => rule(chat(server).encode(request) as Body, model, request) || []),
        ),
      );
      assert.deepEqual(wrong.slice(0, 5), []);
    });

  it("gets its thinking back where its record says so", () => {
    const call = { type: "tool-call" as const, callId: "c", name: "Read", input: {} };
    const sentBack = (server: string, model: string): unknown => {
      const thought = {
        ...said,
        content: [{ type: "reasoning" as const, text: "hm" }, call],
        model: { provider: "p", id: model },
      };
      const body = chat(server).encode({ model, system: "", messages: [userText("hi"), thought], tools: [tool] });
      return (body["messages"] as JsonObject[])[1]?.["reasoning_content"];
    };
    assert.deepEqual(
      [
        sentBack("openai-compatible", "kimi-k3.1-pro"),
        sentBack("fireworks", "accounts/fireworks/models/glm-5.3"),
        sentBack("qwen", "qwen3.8-max"),
        sentBack("openai", "kimi-k3.1-pro"),
        sentBack("openai-compatible", "my-model"),
        sentBack("openai-compatible", "gpt-5.5"),
      ],
      ["hm", "hm", "hm", "hm", undefined, undefined],
    );
  });

  it("is told what the maker's own API is told: the field of the limit, and the role where that is known", () => {
    const request = { model: "gpt-5.5", system: "s", messages: [userText("hi")], tools: [], maxOutputTokens: 9 };
    const sent = (server: string, model: string): unknown => {
      const { messages, max_tokens, max_completion_tokens } = createOpenAIChat({
        recordsOf: server,
        maxTokensField: "max_tokens",
      }).encode({ ...request, model });
      return [(messages as JsonObject[])[0]?.["role"], max_tokens, max_completion_tokens];
    };
    assert.deepEqual(
      [sent("openai-compatible", "gpt-5.5"), sent("openai-compatible", "my-model"), sent("openai", "gpt-5.5")],
      [
        ["system", undefined, 9],
        ["system", 9, undefined],
        ["developer", undefined, 9],
      ],
    );
  });

  it("is not kept from thinking by a router where it cannot be", () => {
    const router = createOpenAIChat({ recordsOf: "openrouter", effort: "reasoning" });
    const asked = (model: string): unknown[] => {
      const notes: string[] = [];
      const request = { model, system: "", messages: [userText("hi")], tools: [], thinkingTokens: 0 };
      return [router.encode(request, (note) => notes.push(note))["reasoning"], notes.length];
    };
    assert.deepEqual(
      ["anthropic/claude-opus-5.5", "openai/gpt-6.1-sol", "moonshotai/kimi-k3.1-pro", "anthropic/claude-opus-5"].map(asked),
      [
        [{ effort: "low" }, 1],
        [{ effort: "low" }, 1],
        [{ effort: "low" }, 1],
        [{ enabled: false }, 0],
      ],
    );
  });
});

describe("what is not asked for as it was wished", () => {
  it("is told, on every wire", () => {
    const told = (
      encode: (request: ModelRequest, tell: (note: string) => void) => JsonObject,
      request: Partial<ModelRequest> & { model: string },
    ) => {
      const notes: string[] = [];
      encode({ system: "", messages: [userText("hi")], tools: [], ...request }, (note) => notes.push(note));
      return notes;
    };
    assert.deepEqual(
      [
        told(anthropicMessages.encode, { model: "claude-opus-5-5", temperature: 1, effort: "minimal", maxOutputTokens: 500_000 }),
        told(anthropicMessages.encode, { model: "claude-sonnet-4-5", temperature: 1, thinkingTokens: 2_000 }),
        told(openaiResponses.encode, { model: "gpt-6.1-sol", thinkingTokens: 0, stopSequences: ["x"] }),
        told(chat("openai").encode, { model: "gpt-5.5", effort: "high", tools: [tool] }),
        told(gemini.encode, { model: "gemini-3.8-flash", effort: "minimal", temperature: 0 }),
        told(gemini.encode, { model: "gemini-2.5-pro", thinkingTokens: 0 }),
        told(anthropicMessages.encode, { model: "claude-fable-5-2", thinkingTokens: 0, effort: "xhigh" }),
        told(chat("qwen").encode, { model: "qwen3.7-max", effort: "max" }),
        told(chat("mistral").encode, { model: "devstral-2512", messages: [{ role: "user", content: [picture, paper] }] }),
        told(gemini.encode, { model: "gemma-4-31b-it", messages: [{ role: "user", content: [paper] }] }),
        told(anthropicMessages.encode, { model: "claude-haiku-4-5", temperature: 1.5 }),
        told(chat("minimax").encode, { model: "MiniMax-M3.1-Flash", temperature: 0 }),
      ],
      [
        [
          "claude-opus-5-5 knows no effort minimal: it is asked with low",
          "claude-opus-5-5 takes no temperature: it is asked without",
          "claude-opus-5-5 writes at most 128000 tokens: that is asked for instead of 500000",
        ],
        ["claude-sonnet-4-5 takes no temperature while it thinks: it is asked without"],
        [
          "gpt-6.1-sol cannot be kept from thinking: it is asked to think as little as it can (effort low)",
          "The Responses API takes no stop sequences: it is asked without",
        ],
        ['gpt-5.5 takes no effort beside tools over Chat Completions: it is asked without (apiSurface "responses" takes both)'],
        [
          "gemini-3.8-flash knows no effort minimal: it is asked with low",
          "gemini-3.8-flash takes no temperature: it is asked without",
        ],
        ["gemini-2.5-pro thinks with 128 to 32768 tokens: it is asked with 128"],
        ["claude-fable-5-2 cannot be kept from thinking: effort xhigh counts"],
        ["qwen3.7-max knows no efforts: it is asked to think"],
        [
          "devstral-2512 sees no images: they are left out, and it is told so",
          "devstral-2512 reads no PDF documents: they are left out, and it is told so",
        ],
        ["gemma-4-31b-it reads no PDF documents: they are left out, and it is told so"],
        ["claude-haiku-4-5 takes temperatures from 0 to 1: it is asked with 1"],
        ["MiniMax-M3.1-Flash takes temperatures from 0.01 to 1: it is asked with 0.01"],
      ],
    );
  });

  it("tools over Chat Completions are refused before they are sent, where OpenAI has them over Responses only", () => {
    const own = createOpenAIChat({ recordsOf: "openai", isMaker: true });
    const request = { model: "gpt-6.1-sol", system: "", messages: [userText("hi")], tools: [tool] };
    assert.throws(() => own.encode(request), { code: "config", message: "gpt-6.1-sol calls tools over the Responses API only" });
    assert.ok(own.encode({ ...request, tools: [] }));
  });
});

describe("a record", () => {
  const facts: readonly [what: string, ours: (record: ModelRecord) => unknown, documented: (model: Documented) => unknown][] = [
    ["tier", ({ tier }) => tier, ({ tier }) => tier],
    ["window", ({ contextWindow }) => contextWindow, (model) => model.contextWindow],
    ["limit", ({ maxOutputTokens }) => maxOutputTokens, (model) => model.maxOutput],
    ["release", ({ released }) => released, (model) => model.released],
    ["end", ({ retires }) => retires, (model) => model.retires],
    ["images", ({ images }) => images, (model) => model.images],
    ["parallel calls", ({ parallelCalls }) => parallelCalls, (model) => model.parallelCalls],
    ["edit tool", ({ editTool }) => editTool, (model) => (model.editTool === "apply_patch" ? "patch" : "replace")],
    ["forced tools", ({ forcedToolChoice }) => forcedToolChoice, (model) => model.forcedToolChoice ?? true],
  ];
  for (const [what, ours, documented] of facts) {
    it(`has the ${what} that is documented, for every model`, () => {
      const wrong = models.flatMap((model) => {
        const table = allModels[model.provider];
        const record = table && findRecord(table, model.id);
        const [own, said] = [record && ours(record), documented(model)];
        return own === said ? [] : [`${model.id}: ${own}, not ${said}`];
      });
      assert.deepEqual(wrong, []);
    });
  }

  it("is there for every documented model, and each line of a table can be read", () => {
    assert.deepEqual(
      models.filter(({ provider, id }) => {
        const table = allModels[provider];
        return !table || findRecord(table, id)?.guessed !== undefined || !findRecord(table, id);
      }),
      [],
    );
    for (const table of Object.values(allModels))
      for (const record of listRecords(table)) assert.ok(record.contextWindow > 0 && record.maxOutputTokens > 0, record.id);
  });
});
