import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type JsonObject, type Message, noUsage, userText } from "../protocol/content.ts";
import { anthropicMessages } from "./dialects/anthropic-messages.ts";
import { gemini } from "./dialects/gemini.ts";
import { createOpenAIChat } from "./dialects/openai-chat.ts";
import { openaiResponses } from "./dialects/openai-responses.ts";
import { findRefused } from "./find-refused.ts";
import type { ModelRequest } from "./model.ts";

const image = (data: string): { type: "image"; mediaType: string; data: string } => ({
  type: "image",
  mediaType: "image/png",
  data,
});
const thought = {
  type: "reasoning" as const,
  text: "hm",
  providerMetadata: { "anthropic-messages": { signature: "seal".repeat(10) } },
};
const messages: Message[] = [
  { role: "user", content: [{ type: "text", text: "look" }, image("AAAA")] },
  {
    role: "assistant",
    content: [thought, { type: "tool-call", callId: "c1", name: "shot", input: {} }],
    model: { provider: "p", id: "m" },
    finish: "tool-calls",
    usage: noUsage,
  },
  {
    role: "tool",
    content: [
      {
        type: "tool-result",
        callId: "c1",
        name: "shot",
        content: [{ type: "text", text: "two:" }, image("BBBB"), image("CCCC")],
        isError: false,
      },
    ],
  },
  userText("and now?"),
];
const tool = (name: string): ModelRequest["tools"][number] => ({
  name,
  description: "d",
  inputSchema: { type: "object", properties: { a: { type: "string" } } },
});
const request: ModelRequest = { model: "gemini-3-pro", system: "s", messages, tools: [tool("first"), tool("second")] };
const wires = { anthropic: anthropicMessages, chat: createOpenAIChat(), responses: openaiResponses, gemini };

const openAI = (param: string | null, message: string): JsonObject => ({
  error: { message, type: "invalid_request_error", param, code: null },
});
const anthropic = (message: string): JsonObject => ({ type: "error", error: { type: "invalid_request_error", message } });

describe("sealed thinking that cannot be read", () => {
  const sealed = (dialect: string, field: string): Message[] => {
    const providerMetadata = { [dialect]: { type: "reasoning", id: "r", [field]: "gAAA" } };
    const answer = (content: (Message & { role: "assistant" })["content"]): Message => ({
      role: "assistant",
      content,
      model: { provider: "p", id: "m" },
      finish: "stop",
      usage: noUsage,
    });
    return [
      userText("a"),
      answer([
        { type: "reasoning", text: "hm", providerMetadata },
        { type: "text", text: "b" },
      ]),
      userText("c"),
      answer([
        { type: "reasoning", text: "not sealed" },
        { type: "text", text: "d", providerMetadata },
      ]),
      userText("e"),
    ];
  };
  const all = [
    { message: 1, part: 0, seal: true },
    { message: 3, part: 1, seal: true },
  ];
  const text = "The encrypted content gAAA could not be verified. Reason: Encrypted content could not be decrypted or parsed.";
  const google = (message: string): JsonObject => ({ error: { code: 400, message, status: "INVALID_ARGUMENT" } });
  const rows: [wire: "responses" | "gemini", said: JsonObject, parts: object[] | undefined][] = [
    [
      "responses",
      { error: { message: text, type: "invalid_request_error", param: null, code: "invalid_encrypted_content" } },
      all,
    ],
    ["responses", openAI("input[1]", text), all],
    ["responses", { error: { message: "No.", param: "input[1]", code: "invalid_encrypted_content" } }, all],
    ["gemini", google("Thought signature is not valid."), all],
    ["gemini", google("Corrupted thought signature."), all],
    ["gemini", google("Function call is missing a thought_signature in functionCall parts."), undefined],
  ];
  for (const [wire, said, parts] of rows) {
    it(`is all of it, in each answer: ${JSON.stringify(said).slice(0, 100)}`, () => {
      const field = wire === "gemini" ? "thoughtSignature" : "encrypted_content";
      const asked = { ...request, messages: sealed(wires[wire].id, field) };
      const found = findRefused(asked, { sent: JSON.stringify(wires[wire].encode(asked)), said: JSON.stringify(said) });
      assert.deepEqual(found, parts && { parts, tools: [] });
    });
  }

  it("is not meant where a model takes none: the field that asks for it is", () => {
    const asked = { ...request, model: "gpt-x", messages: sealed("openai-responses", "encrypted_content") };
    const said = JSON.stringify(openAI("include", "Encrypted content is not supported with this model."));
    const found = findRefused(asked, { sent: JSON.stringify(openaiResponses.encode(asked)), said });
    assert.deepEqual(found, { parts: [], tools: [], field: "include" });
  });
});

describe("what a provider complains about", () => {
  const user = { message: 0, part: 1 };
  const [b, c] = [1, 2].map((item) => ({ message: 2, part: 0, item }));
  const rows: [
    what: string,
    wire: keyof typeof wires,
    said: JsonObject | string,
    parts: object[] | undefined,
    tools?: string[],
  ][] = [
    [
      "an image of the prompt, by Anthropic",
      "anthropic",
      anthropic("messages.0.content.1.image.source.base64.data: Could not process image"),
      [user],
    ],
    [
      "an image in a result, by Anthropic",
      "anthropic",
      anthropic("messages.2.content.0.tool_result.content.2.image.source.base64: image exceeds 5 MB maximum"),
      [c ?? {}],
    ],
    [
      "an image in a result that it does not number",
      "anthropic",
      anthropic("messages.2.content.0.tool_result: invalid image"),
      [b ?? {}, c ?? {}],
    ],
    [
      "a thought, by Anthropic",
      "anthropic",
      anthropic("messages.1.content.0: Invalid `signature` in `thinking` block"),
      [{ message: 1, part: 0 }],
    ],
    ["an image that is not named", "anthropic", anthropic("Could not process image"), [b ?? {}, c ?? {}]],
    ["an image in a message, by OpenAI", "chat", openAI("messages.[1].content.[1].image_url", "Invalid image data"), [user]],
    ["an image that follows a result", "chat", openAI("messages[4].content[2].image_url", "unsupported image"), [c ?? {}]],
    ["an item, by OpenAI", "responses", openAI("input[3].output[1].image_url", "Invalid 'input[3]…'"), undefined],
    [
      "an item of a result, by OpenAI",
      "responses",
      openAI(null, "Invalid 'input[2].output[1].image_url': expected a valid image"),
      [b ?? {}],
    ],
    [
      "a part, by Gemini",
      "gemini",
      {
        error: {
          code: 400,
          message: "* GenerateContentRequest.contents[0].parts[1].inline_data.data: invalid",
          status: "INVALID_ARGUMENT",
        },
      },
      [user],
    ],
    [
      "an input image, by Gemini",
      "gemini",
      [{ error: { code: 400, message: "Unable to process input image. Please retry" } }] as unknown as JsonObject,
      [b ?? {}, c ?? {}],
    ],
    [
      "what a router hides",
      "chat",
      {
        error: {
          message: "Provider returned error",
          code: 400,
          metadata: { raw: JSON.stringify(anthropic("messages.1.content.1.image: bad")) },
        },
      },
      [user],
    ],
    ["a tool, by Anthropic", "anthropic", anthropic("tools.1.custom.input_schema: JSON schema is invalid"), [], ["second"]],
    [
      "a function, by OpenAI",
      "responses",
      openAI("tools[0].parameters", "Invalid schema for function 'first': …"),
      [],
      ["first"],
    ],
    [
      "a function by its name alone",
      "chat",
      openAI(null, "Invalid schema for function 'second': In context=('properties','x')"),
      [],
      ["second"],
    ],
    [
      "a declaration, by Gemini",
      "gemini",
      { error: { message: "* GenerateContentRequest.tools[0].function_declarations[1].parameters.type: unknown" } },
      [],
      ["second"],
    ],
    ["the words of the prompt", "anthropic", anthropic("messages.2.content.1.text: not allowed"), undefined],
    ["nothing in particular", "anthropic", anthropic("max_tokens: 99 > 8"), undefined],
    ["nothing in particular, on a page", "chat", "<html>Bad Request</html>", undefined],
    ["a place that is not there", "anthropic", anthropic("messages.77.content.3: odd"), undefined],
  ];
  for (const [what, wire, said, parts, tools = []] of rows) {
    it(`is ${what}`, () => {
      const sent = JSON.stringify(wires[wire].encode(request));
      const found = findRefused(request, { sent, said: typeof said === "string" ? said : JSON.stringify(said) });
      assert.deepEqual(found, parts && { parts, tools });
    });
  }
});
