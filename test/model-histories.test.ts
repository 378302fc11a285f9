import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { anthropicMessages } from "../packages/runtime/src/model/dialects/anthropic-messages.ts";
import { gemini } from "../packages/runtime/src/model/dialects/gemini.ts";
import { createOpenAIChat } from "../packages/runtime/src/model/dialects/openai-chat.ts";
import { openaiResponses } from "../packages/runtime/src/model/dialects/openai-responses.ts";
import type { ModelRequest } from "../packages/runtime/src/model/model.ts";
import {
  type AssistantPart,
  type ImagePart,
  type JsonObject,
  type Message,
  noUsage,
  type TextPart,
  type ToolCallPart,
} from "../packages/runtime/src/protocol/content.ts";

/** Conversations as they become over many models, cut answers and images, and what each wire takes of them. */
type Documented = { provider: string; id: string; temperature: string; images: boolean; pdf: boolean };

const root = process.env["OUTRIDER_ROOT"] ?? process.cwd();
const { models } = JSON.parse(readFileSync(join(root, "test/fixtures/documented-models.json"), "utf8")) as {
  models: Documented[];
};

const tool = { name: "Read", description: "reads", inputSchema: { type: "object", properties: {} } };
const others = ["claude-opus-5-5", "claude-sonnet-4-5", "gpt-5.5", "gpt-6.1-sol", "gemini-4-argon", "kimi-k3.1-pro", "grok-4.7"];
const ids = ["toolu_1", "call_abc", "a".repeat(90), "call:weird/.id", "fc_1", "x y", "функция"];
const picture = (mediaType: string): ImagePart => ({ type: "image", mediaType, data: "AA==" });
const text = (words: string): TextPart => ({ type: "text", text: words });

/** Everything that may stand in a conversation, at random; each call has its result, as sessions see to. */
class Histories {
  #state: number;
  #calls = 0;

  constructor(seed: number) {
    this.#state = seed;
  }

  below(limit: number): number {
    this.#state = (Math.imul(this.#state, 1_103_515_245) + 12_345) >>> 0;
    return (this.#state >>> 8) % limit;
  }

  pick<T>(items: readonly [T, ...T[]]): T {
    return items[this.below(items.length)] ?? items[0];
  }

  next(model: string): Message[] {
    const first: Message = {
      role: "user",
      content: [this.pick([text("hi"), text("hi"), picture("image/png"), picture("application/pdf")])],
    };
    return [first, ...Array.from({ length: 1 + this.below(4) }, () => this.#step(model)).flat()];
  }

  #step(model: string): Message[] {
    const id = this.below(2) === 0 ? model : (others[this.below(others.length)] ?? model);
    const calls = Array.from({ length: this.below(4) }, () => this.#call());
    const content: AssistantPart[] = [
      ...(this.below(3) ? [this.#thought()] : []),
      ...(this.below(3) ? [text(this.pick(["ok", "  ", "", "x\n"]))] : []),
      ...calls.flatMap((call) => (this.below(4) ? [call] : [this.#thought(), call])),
      ...(this.below(5) ? [] : [this.#thought()]),
    ];
    const answer: Message = {
      role: "assistant",
      content,
      model: { provider: "p", id },
      finish: calls.length > 0 ? "tool-calls" : this.pick(["stop", "length"]),
      usage: noUsage,
    };
    const results = calls.map(({ callId, name }) => ({
      type: "tool-result" as const,
      callId,
      name,
      content: this.pick<(TextPart | ImagePart)[]>([
        [text("out")],
        [],
        [picture("image/png")],
        [text("out"), picture("application/pdf")],
      ]),
      isError: this.below(3) === 0,
    }));
    return [
      answer,
      ...(results.length > 0 ? [{ role: "tool" as const, content: results }] : []),
      ...(calls.length > 0 && this.below(2) ? [] : [{ role: "user" as const, content: [text(this.pick(["go", "  "]))] }]),
    ];
  }

  #call(): ToolCallPart {
    const metadata = { gemini: { thoughtSignature: "ts", id: `g${this.#calls}` } };
    const callId = `${ids[this.below(ids.length)]}${this.#calls++}`;
    const input = this.pick<unknown>([{}, { a: 1 }, "bad", null]);
    return { type: "tool-call", callId, name: "Read", input, ...(this.below(3) ? {} : { providerMetadata: metadata }) };
  }

  #thought(): AssistantPart {
    const signed = { "anthropic-messages": { signature: "sig" } };
    const sealed = { "openai-responses": { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "enc" } };
    return this.pick<AssistantPart>([
      { type: "reasoning", text: "", providerMetadata: signed },
      { type: "reasoning", text: "hm", providerMetadata: signed },
      { type: "reasoning", text: "hm", providerMetadata: sealed },
      { type: "reasoning", text: "hm", providerMetadata: { gemini: { thoughtSignature: "ts" } } },
      { type: "reasoning", text: "unsigned" },
      { type: "opaque", dialect: "anthropic-messages", value: { type: "redacted_thinking", data: "x" } },
    ]);
  }
}

type Item = JsonObject & { type?: string; role?: string; content?: Item[]; parts?: Item[] };
type Check = (items: readonly Item[], model: Documented) => string | false | undefined;
const isThinking = ({ type }: Item): boolean => type === "thinking" || type === "redacted_thinking";
const alternate: Check = (turns) =>
  turns.length === 0 || turns[0]?.role !== "user" || turns.some(({ role }, index) => index > 0 && turns[index - 1]?.role === role)
    ? "roles"
    : false;

const claudeChecks: Readonly<Record<string, Check>> = {
  "roles that alternate, the user's first": alternate,
  "no content that is empty or blank": (turns) =>
    turns.some(
      ({ content = [] }) => content.length === 0 || content.some((b) => b.type === "text" && !String(b["text"]).trim()),
    ) && "blank",
  "every call answered in the next turn, before anything else is said": (turns) =>
    turns.some(({ content = [] }, index) => {
      const calls = content.filter(({ type }) => type === "tool_use").map(({ id }) => id);
      const next = (turns[index + 1]?.content ?? []).slice(0, calls.length).map((block) => block["tool_use_id"]);
      return calls.some((id) => !next.includes(id) || !/^[\w-]{1,64}$/.test(String(id)));
    }) && "calls",
  "no images beside an error": (turns) =>
    turns.some(({ content = [] }) =>
      content.some((block) => block["is_error"] && block.content?.some(({ type }) => type === "image")),
    ) && "image in an error",
  "words beside images": (turns) =>
    turns.some(({ role, content = [] }) => role === "user" && content.every(({ type }) => type === "image")) && "only images",
  "signed thinking only, and none at the end of an answer": (turns) =>
    turns.some(
      ({ role, content = [] }) =>
        (role === "assistant" && isThinking(content.at(-1) ?? {})) ||
        content.some((block) => block.type === "thinking" && !block["signature"]),
    ) && "thinking",
  "at most four marks for the cache, none on thinking": (turns) => {
    const marked = turns.flatMap(({ content = [] }) => content.filter((block) => "cache_control" in block));
    return (marked.length > 2 || marked.some(isThinking)) && "marks";
  },
};

const chatChecks: Readonly<Record<string, Check>> = {
  "every call answered right behind it": (list) =>
    list.some((message, index) => {
      const calls = (message["tool_calls"] ?? []) as Item[];
      const answers = list.slice(index + 1, index + 1 + calls.length).map((answer) => answer["tool_call_id"]);
      return calls.some(({ id }) => !answers.includes(String(id)) || String(id).length > 40);
    }) && "calls",
  "no answer of nothing": (list) =>
    list.some((message) => message.role === "assistant" && message.content === null && !message["tool_calls"]) && "empty",
  "images and documents only where they are seen": (list, { images, pdf }) => {
    const words = JSON.stringify(list);
    return (!images && /"image_url"/.test(words) && "image") || (!pdf && /application\/pdf;/.test(words) && "document");
  },
};

const responsesChecks: Readonly<Record<string, Check>> = {
  "every call with its result behind it": (items) =>
    items.some(
      (item, index) =>
        item.type === "function_call" &&
        (!/^[\w-]{1,64}$/.test(String(item["call_id"])) ||
          !items.slice(index).some((one) => one.type === "function_call_output" && one["call_id"] === item["call_id"])),
    ) && "calls",
  "reasoning that led to something, and for models that reason": (items, { temperature }) =>
    items.some(
      (item, index) =>
        item.type === "reasoning" &&
        (temperature === "allowed" || (items[index + 1]?.role ?? "") === "user" || !items[index + 1]),
    ) && "reasoning",
};

const geminiChecks: Readonly<Record<string, Check>> = {
  "roles that alternate, the user's first": alternate,
  "as many responses as calls, with their ids and names": (turns) =>
    turns.some(({ parts = [] }, index) => {
      const named = (list: readonly Item[], field: string): unknown[] =>
        list.flatMap((part) => (part[field] ? [[(part[field] as Item)["id"], (part[field] as Item)["name"]]] : []));
      const calls = named(parts, "functionCall");
      return (
        calls.length > 0 && JSON.stringify(calls) !== JSON.stringify(named(turns[index + 1]?.parts ?? [], "functionResponse"))
      );
    }) && "calls",
  "a signature on the first call, from Gemini 3 on": (turns, { id }) =>
    /gemini-[34]/.test(id) &&
    turns.some(({ parts = [] }) => {
      const call = parts.find((part) => "functionCall" in part);
      return call && !call["thoughtSignature"];
    }) &&
    "unsigned",
};

type Wire = {
  of(provider: string): boolean;
  encode(model: Documented, request: ModelRequest): unknown;
  checks: typeof claudeChecks;
};
const chat = (model: Documented): ReturnType<typeof createOpenAIChat> =>
  createOpenAIChat({ recordsOf: model.provider, ...(model.provider === "mistral" && { nineCharacterCallIds: true }) });
const wires: Readonly<Record<string, Wire>> = {
  "Anthropic's": {
    of: (provider) => provider === "anthropic",
    encode: (_, request) => anthropicMessages.encode(request)["messages"],
    checks: claudeChecks,
  },
  Responses: {
    of: (provider) => provider === "openai",
    encode: (_, request) => openaiResponses.encode(request)["input"],
    checks: responsesChecks,
  },
  "Gemini's": {
    of: (provider) => provider === "gemini",
    encode: (_, request) => gemini.encode(request)["contents"],
    checks: geminiChecks,
  },
  "Chat Completions": {
    of: (provider) => provider !== "anthropic" && provider !== "gemini",
    encode: (model, request) => chat(model).encode(request)["messages"],
    checks: chatChecks,
  },
};

describe("a conversation with cut answers, images and other models' thoughts", () => {
  for (const [name, { of, encode, checks }] of Object.entries(wires)) {
    const own = models.filter(({ provider }) => of(provider));
    for (const [what, check] of Object.entries(checks))
      it(`over ${name} wire, ${own.length} models: ${what}`, () => {
        const histories = new Histories(7);
        const wrong = own.flatMap((model) =>
          Array.from({ length: 60 }, () => {
            const thinkingTokens = histories.pick<number | undefined>([undefined, undefined, 0, 3_000]);
            const messages = histories.next(model.id);
            const request = {
              model: model.id,
              system: "s",
              messages,
              tools: [tool],
              ...(thinkingTokens !== undefined && { thinkingTokens }),
            };
            const items = encode(model, request) as Item[]; // what the dialect has just made
            const problem = check(items, model);
            return problem ? `${model.id}: ${problem} in ${JSON.stringify(items).slice(0, 1_500)}` : undefined;
          }).filter((line) => line !== undefined),
        );
        assert.deepEqual(wrong.slice(0, 2), []);
      });
  }
});
