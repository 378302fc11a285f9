import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { buildSystemPrompt } from "./system-prompt.ts";

describe("buildSystemPrompt", () => {
  const facts = { cwd: "/project", platform: "linux", date: new Date("2026-01-02T03:04:05Z"), tools: ["Read"] };

  it("says where, when and with what, and the language only when one is set", () => {
    const plain = buildSystemPrompt(facts);
    assert.match(plain, /Working directory: \/project\nPlatform: linux\nDate: 2026-01-02\nTools: Read$/);
    assert.equal(buildSystemPrompt({ ...facts, language: " Korean\n" }), `${plain}\nResponse language: Korean`);
    assert.equal(buildSystemPrompt({ ...facts, language: " " }), plain);
    assert.equal(buildSystemPrompt({ ...facts, tools: [] }), plain.replace("\nTools: Read", ""));
    assert.equal(buildSystemPrompt({ ...facts, sandbox: "on" }), plain.replace("\nTools", "\nSandbox: on\nTools"));
  });
});
