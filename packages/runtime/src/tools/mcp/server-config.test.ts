import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { RuntimeError } from "../../protocol/errors.ts";
import { toToolName } from "./server-tool.ts";
import { parseMcpServers, toServerName } from "./server-config.ts";

const parse = (value: unknown, env: Record<string, string> = {}) =>
  Object.fromEntries(parseMcpServers(value, { source: ".mcp.json", env }));

const inBraces = (name: string): string => `\${${name}}`;

describe("parseMcpServers", () => {
  it("reads programs and addresses, and puts in variables", () => {
    const value = {
      mcpServers: {
        files: { command: "npx", args: ["-y", "server", inBraces("ROOT:-/srv")], env: { KEY: inBraces("TOKEN") } },
        web: { type: "sse", url: "https://example.com/mcp", headers: { "x-key": "1" } },
      },
    };
    assert.deepEqual(parse(value, { TOKEN: "t" }), {
      files: { type: "stdio", command: "npx", args: ["-y", "server", "/srv"], env: { KEY: "t" } },
      web: { type: "sse", url: "https://example.com/mcp", headers: { "x-key": "1" } },
    });
  });

  const refused: [string, unknown, RegExp][] = [
    ["a server without a program", { a: {} }, /server "a": command must be/],
    ["a variable that is not set", { a: { command: inBraces("NOPE") } }, /the variable NOPE is not set/],
    ["an address of another kind", { a: { url: "file:///etc/passwd" } }, /url must be an http or https address/],
    ["arguments that are no text", { a: { command: "x", args: [1] } }, /args must be a list of strings/],
    ["an unknown type", { a: { type: "carrier-pigeon", command: "x" } }, /the type "carrier-pigeon" is not known/],
    ["a name without letters", { __: { command: "x" } }, /its name has no letter or digit/],
  ];
  for (const [name, value, message] of refused)
    it(`refuses ${name}`, () => {
      assert.throws(
        () => parse(value),
        (error) => error instanceof RuntimeError && error.code === "config" && message.test(error.message),
      );
    });

  it("answers anything with servers or a config error", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        try {
          return parseMcpServers(value, { source: "x", env: {} }) instanceof Map;
        } catch (error) {
          return error instanceof RuntimeError && error.code === "config";
        }
      }),
    );
  });
});

describe("names of tools", () => {
  it("hold one border between server and tool, whatever the server is called", () => {
    assert.equal(toServerName("x__y"), "x_y");
    assert.equal(toToolName("my server.1", "do it"), "mcp__my_server_1__do_it");
  });

  it("stay within what providers take, and apart", () => {
    const first = toToolName("server", "a".repeat(80));
    const second = toToolName("server", `${"a".repeat(79)}b`);
    assert.equal(first.length, 64);
    assert.notEqual(first, second);
  });

  it("limits of calls: only what tightens counts, and what is not known is asked about", () => {
    const tools = [
      { name: "read", permission_policy: "always_allow" },
      { name: "send", permission_policy: "always_ask" },
      { name: "drop", permission_policy: "always_deny" },
      { name: "odd", permission_policy: "perhaps" },
      { name: "plain" },
      { permission_policy: "always_deny" },
      "nonsense",
    ];
    const servers = { a: { command: "x", timeout: 2000, tools }, b: { url: "https://x.example", timeout: 20, tools: "all" } };
    const parsed = parseMcpServers(servers, { source: "test", env: {} });
    const { callTimeoutMs, policies } = parsed.get("a") ?? {};
    assert.deepEqual(
      { callTimeoutMs, policies },
      {
        callTimeoutMs: 2000,
        policies: [
          { tool: "send", effect: "ask" },
          { tool: "drop", effect: "deny" },
          { tool: "odd", effect: "ask" },
        ],
      },
    );
    assert.deepEqual(parsed.get("b"), { type: "http", url: "https://x.example", headers: {} });
  });
});
