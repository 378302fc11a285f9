import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import { userText } from "../../protocol/content.ts";
import { startModelServer } from "../../testing/model-server.ts";
import { type AnthropicOptions, createAnthropicProvider } from "./anthropic.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

describe("createAnthropicProvider", () => {
  it("knows its model and window, and takes others", () => {
    const { name, model, contextWindow } = createAnthropicProvider({ apiKey: "k" });
    assert.deepEqual({ name, model, contextWindow }, { name: "anthropic", model: "claude-sonnet-5-5", contextWindow: 200_000 });
    const other = createAnthropicProvider({ apiKey: "k", model: "m", contextWindow: 1_000_000 });
    assert.deepEqual([other.model, other.contextWindow], ["m", 1_000_000]);
  });

  const rows: [what: string, options: AnthropicOptions, path: string, url: string, auth: (string | undefined)[]][] = [
    ["a key", { apiKey: " key-1\n" }, "", "/v1/messages", ["key-1", undefined]],
    ["a token", { authToken: "token-1" }, "/", "/v1/messages", [undefined, "Bearer token-1"]],
    ["both, of which the token counts", { apiKey: "k", authToken: "t" }, "/v1", "/v1/messages", [undefined, "Bearer t"]],
    ["a gateway's path", { apiKey: "k" }, "/anthropic/v1/", "/anthropic/v1/messages", ["k", undefined]],
    ["a gateway's path without version", { apiKey: "k" }, "/anthropic", "/anthropic/v1/messages", ["k", undefined]],
  ];
  for (const [what, options, path, url, auth] of rows) {
    it(`asks with ${what}`, async () => {
      const server = await startModelServer({ replies: [{ text: "hello" }] });
      const provider = createAnthropicProvider({ ...options, baseURL: `${server.url}${path}` });
      closers.push(() => provider.close(), server.close);
      const request = { model: provider.model, system: "", messages: [userText("hi")], tools: [] };
      let text = "";
      for await (const event of provider.stream(request, { signal: new AbortController().signal })) {
        if (event.type === "text.delta") text += event.text;
      }
      const [seen] = server.requests;
      assert.deepEqual(
        [
          text,
          seen?.method,
          seen?.url,
          seen?.headers["anthropic-version"],
          seen?.headers["x-api-key"],
          seen?.headers.authorization,
        ],
        ["hello", "POST", url, "2023-06-01", ...auth],
      );
    });
  }

  it("says at once what is missing or wrong", () => {
    assert.throws(() => createAnthropicProvider({ apiKey: " " }), {
      code: "provider-auth",
      hint: "Set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN",
    });
    for (const baseURL of ["api.example.com", "ftp://x"]) {
      assert.throws(() => createAnthropicProvider({ apiKey: "k", baseURL }), {
        code: "config",
        message: `The base URL "${baseURL}" is no http or https address`,
      });
    }
  });
});
