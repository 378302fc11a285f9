import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { idleState } from "./server-state.ts";

describe("how a server is reached", () => {
  it("is told without variables, headers and logins", () => {
    const states = [
      idleState("a", { type: "stdio", command: "node", args: ["a.mjs"], env: { TOKEN: "x" } }),
      idleState("b", { type: "http", url: "https://me:secret@example.invalid/mcp?a=b@c", headers: { Authorization: "x" } }),
      idleState("c", { type: "sse", url: "https://example.invalid/mcp", headers: {}, disabled: true }),
      idleState("d", { type: "sdk", name: "d" }),
      idleState("e", { type: "broken", problem: "no command" }),
    ];
    assert.deepEqual(
      states.map(({ status, source, reach }) => ({ status, source, reach })),
      [
        { status: "pending", source: undefined, reach: { type: "stdio", command: "node", args: ["a.mjs"] } },
        { status: "pending", source: undefined, reach: { type: "http", url: "https://example.invalid/mcp?a=b@c" } },
        { status: "disabled", source: undefined, reach: { type: "sse", url: "https://example.invalid/mcp" } },
        { status: "pending", source: "sdk", reach: { type: "sdk", name: "d" } },
        { status: "pending", source: undefined, reach: undefined },
      ],
    );
  });
});
