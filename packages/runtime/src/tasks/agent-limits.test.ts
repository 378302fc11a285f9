import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { least } from "../util/least.ts";
import { stricterMode, toolsOf } from "./agent-limits.ts";

const agent = { name: "a", description: "d", prompt: "p", source: "s" };
const spawner = { name: "Task", facts: { kind: "note", startsAgents: true } as const };
const offered = [...["Bash", "Read", "Glob", "mcp__db__query", "mcp__db__drop"].map((name) => ({ name })), spawner];
const names = (more: object): string[] => toolsOf({ ...agent, ...more }, [...offered, ...offered]).tools.map(({ name }) => name);

describe("an agent's tools", () => {
  it("are the session's but the one that starts agents", () => {
    assert.deepEqual(names({}), ["Bash", "Read", "Glob", "mcp__db__query", "mcp__db__drop"]);
    assert.deepEqual(names({ tools: ["*"] }), ["Bash", "Read", "Glob", "mcp__db__query", "mcp__db__drop"]);
    assert.deepEqual(names({ tools: ["Task", "Agent", "Read"] }), ["Read"]);
    const ownSpawner = { ...spawner, name: "Delegate" };
    assert.deepEqual(toolsOf(agent, [ownSpawner, { name: "Read" }]).tools, [{ name: "Read" }]);
  });

  it("are those it names, by any name, less those it is denied", () => {
    assert.deepEqual(names({ tools: ["LS", "Read"] }), ["Read", "Glob"]);
    assert.deepEqual(names({ tools: ["mcp__db"], disallowedTools: ["mcp__db__drop"] }), ["mcp__db__query"]);
    assert.deepEqual(names({ disallowedTools: ["mcp__*", "Shell"] }), ["Read", "Glob"]);
    assert.deepEqual(names({ tools: [] }), []);
  });

  it("are those that are known to change no file, where it only looks", () => {
    const known = (["look", "note", "reach", "run", "edit"] as const).map((kind) => ({ name: kind, facts: { kind } }));
    const { tools } = toolsOf({ ...agent, onlyLooks: true }, [...known, ...offered]);
    assert.deepEqual(
      tools.map(({ name }) => name),
      ["look", "note", "reach", "run"],
    );
  });

  it("with a pattern are not given, since the pattern could not be kept; denied with one they stay and the rule holds", () => {
    const { tools, deny, warnings } = toolsOf(
      { ...agent, tools: ["Read", "Bash(ls)", "Nothing"], disallowedTools: ["Read(./x)"] },
      offered,
    );
    assert.deepEqual(
      tools.map(({ name }) => name),
      ["Read"],
    );
    assert.deepEqual(
      deny.map(({ text, source }) => [text, source]),
      [["Read(./x)", "s"]],
    );
    assert.deepEqual(
      warnings.map((warning) => warning.slice(0, 40)),
      ["The agent a is not given Bash(ls): its t", "The agent a is to have the tool Nothing,"],
    );
    const misspelt = toolsOf({ ...agent, tools: ["*", "Raed"] }, offered).warnings;
    assert.match(misspelt.join(), /^The agent a is to have the tool Raed, .* did you mean Read\?$/);
  });
});

describe("an agent's limits", () => {
  it("never loosen the session's", () => {
    assert.deepEqual(
      (
        [
          ["default", undefined],
          ["default", "plan"],
          ["default", "bypassPermissions"],
          ["bypassPermissions", "acceptEdits"],
          ["dontAsk", "default"],
        ] as const
      ).map(([session, own]) => stricterMode(session, own)),
      ["default", "plan", "default", "acceptEdits", "dontAsk"],
    );
    assert.deepEqual([least(undefined, undefined), least(3, undefined), least(undefined, 5), least(3, 5)], [undefined, 3, 5, 3]);
  });
});
