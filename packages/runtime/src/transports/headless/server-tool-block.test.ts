import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../protocol/content.ts";
import { toServerToolBlock } from "./server-tool-block.ts";

describe("what a provider's own web tools did", () => {
  const rows: [dialect: string, value: JsonObject, block: JsonObject][] = [
    [
      "anthropic-messages",
      { type: "web_search_tool_result", tool_use_id: "s1", content: [] },
      { type: "web_search_tool_result", tool_use_id: "s1", content: [] },
    ],
    [
      "openai-responses",
      { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "q" } },
      { type: "server_tool_use", id: "ws_1", name: "web_search", input: { query: "q" } },
    ],
    [
      "openai-responses",
      { type: "web_search_call", id: "ws_2", status: "completed", action: { type: "open_page", url: "https://a.org" } },
      { type: "server_tool_use", id: "ws_2", name: "web_fetch", input: { url: "https://a.org" } },
    ],
    [
      "gemini",
      { groundingMetadata: { webSearchQueries: ["q"], groundingChunks: [{ web: { title: "A", uri: "https://a.org" } }] } },
      {
        ...{ type: "web_search_tool_result", tool_use_id: "q" },
        content: [{ type: "web_search_result", title: "A", url: "https://a.org" }],
      },
    ],
    ["openai-responses", { type: "code_interpreter_call", id: "c" }, { type: "code_interpreter_call", id: "c" }],
  ];
  for (const [dialect, value, block] of rows)
    it(`is told in Anthropic's words: ${dialect} ${value["type"] ?? "grounding"}`, () =>
      assert.deepEqual(toServerToolBlock({ type: "opaque", dialect, value }), block));
});
