import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonValue } from "../protocol/content.ts";
import { createSecretHider } from "./hide-secrets.ts";

const hide = createSecretHider();
const hidden = "(hidden)";

describe("values that are shown", () => {
  const values: [path: string, value: JsonValue, shown: JsonValue][] = [
    ["limits.maxRequests", 5, 5],
    ["model", "m", "m"],
    [
      "providers.a.options",
      { maxTokens: 100, token_limit: 5, stripeKey: "x" },
      { maxTokens: 100, token_limit: 5, stripeKey: hidden },
    ],
    ["providers.a.options", { "Proxy-Authorization": "x" }, { "Proxy-Authorization": hidden }],
    ["providers.a.apiKey", "short", hidden],
    ["providers.a.apiKey", 12345, hidden],
    ["providers.a.apiKey", true, true],
    ["providers.a.apiKey", null, null],
    ["providers.a.apiKey", "$ENV:MINE", "$ENV:MINE"],
    ["providers.a.apiKey", `$${"{MINE}"}`, `$${"{MINE}"}`],
    [
      "mcpServers.a",
      { command: "x", args: ["--token", "abc", "--port", 80] },
      { command: "x", args: ["--token", hidden, "--port", 80] },
    ],
    ["mcpServers.a", { headers: { Anything: "abc" }, url: "u" }, { headers: { Anything: hidden }, url: "u" }],
    ["mcpServers.a", { env: { PLAIN: "abc" } }, { env: { PLAIN: hidden } }],
    ["hooks", { Stop: [{ headers: { Authorization: "Bearer abc" } }] }, { Stop: [{ headers: { Authorization: hidden } }] }],
  ];
  for (const [path, value, shown] of values)
    it(`${path} ${JSON.stringify(value)}: ${JSON.stringify(shown)}`, () =>
      assert.deepEqual(JSON.parse(JSON.stringify(hide(path.split("."), value))), shown));
});
