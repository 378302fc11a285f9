import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { RuntimeError } from "../protocol/errors.ts";
import { builtinAgents, defaultAgent, mergeAgents } from "./agent-definition.ts";
import { parseAgents } from "./parse-agents.ts";

const plain = { description: "helps", prompt: "Help." };

describe("parseAgents", () => {
  it("takes agents by name, as an object or as its JSON", () => {
    const fields = {
      ...plain,
      tools: ["Read", " Grep "],
      disallowedTools: "Bash(rm:*, -f), Write",
      model: "haiku",
      maxTurns: 3,
      permissionMode: "plan",
    };
    const expected = {
      agents: [
        {
          name: "helper",
          ...plain,
          tools: ["Read", "Grep"],
          disallowedTools: ["Bash(rm:*, -f)", "Write"],
          model: "haiku",
          maxTurns: 3,
          permissionMode: "plan",
          source: "--agents",
        },
      ],
      warnings: [],
    };
    assert.deepEqual(parseAgents({ helper: fields }, "--agents"), expected);
    assert.deepEqual(parseAgents(JSON.stringify({ helper: fields }), "--agents"), expected);
  });

  it("leaves out what it does not know and says so", () => {
    assert.deepEqual(
      parseAgents({ helper: { ...plain, observer: "critic", color: "red", model: null, skills: [] } }, "--agents"),
      {
        agents: [{ name: "helper", ...plain, source: "--agents" }],
        warnings: ['--agents: the agent "helper": observer means nothing here and was left out'],
      },
    );
  });

  it("takes an agent that works in a worktree, and leaves out one that wants another isolation", () => {
    const given = { helper: { ...plain, isolation: "worktree" }, far: { ...plain, isolation: "remote" }, other: plain };
    const { agents, warnings } = parseAgents(given, "--agents");
    assert.deepEqual(
      agents.map(({ name, isolation }) => [name, isolation]),
      [
        ["helper", "worktree"],
        ["other", undefined],
      ],
    );
    assert.deepEqual(warnings, [
      '--agents: the agent "far" was left out: it wants isolation "remote", and there is only "worktree" here',
    ]);
  });

  const wrong: readonly [unknown, RegExp][] = [
    ["{", /^--agents is JSON, and this is none/],
    [[plain], /^--agents is an object of agents by name/],
    [{ helper: "x" }, /the agent "helper" is an object/],
    [{ helper: { prompt: "x" } }, /description must be a text/],
    [{ helper: { description: "x", prompt: " " } }, /prompt must be a text/],
    [{ " ": plain }, /needs a name/],
    [{ "a\nb": plain }, /needs a name/],
    [{ helper: { ...plain, tools: 7 } }, /tools must be a list of tool names/],
    [{ helper: { ...plain, tools: ["Read", 7] } }, /tools must be a list of tool names/],
    [{ helper: { ...plain, tools: ["two words"] } }, /tools must be a list of tool names: Not a permission rule: "two words"/],
    [{ helper: { ...plain, model: 7 } }, /model must be a text/],
    [{ helper: { ...plain, maxTurns: 0 } }, /maxTurns must be a whole number above 0/],
    [{ helper: { ...plain, maxTurns: "3" } }, /maxTurns must be a whole number above 0/],
    [{ helper: { ...plain, permissionMode: "yolo" } }, /permissionMode must be one of plan/],
  ];
  for (const [value, message] of wrong) {
    it(`refuses ${JSON.stringify(value)}`, () => {
      assert.throws(() => parseAgents(value, "--agents"), { code: "config", message });
    });
  }

  it("answers or throws a config error, whatever it is given", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.json(),
          fc.jsonValue(),
          fc.dictionary(fc.string(), fc.record({ description: fc.jsonValue(), prompt: fc.jsonValue() })),
        ),
        (value) => {
          try {
            for (const agent of parseAgents(value, "here").agents) assert.equal(agent.prompt.trim() !== "", true);
          } catch (error) {
            assert.equal(error instanceof RuntimeError && error.code, "config");
          }
        },
      ),
    );
  });
});

describe("agents", () => {
  it("of the same name give way to the one before", () => {
    const one = { name: "a", ...plain, source: "flag" };
    const two = { name: "a", ...plain, source: "file" };
    const other = { name: "b", ...plain, source: "file" };
    assert.deepEqual(mergeAgents([[one], [two, other]]), [one, other]);
  });

  it("without a name are the general one, the only one, or none", () => {
    const one = { name: "a", ...plain, source: "flag" };
    assert.equal(defaultAgent([one, ...builtinAgents])?.name, "general-purpose");
    assert.equal(defaultAgent([one])?.name, "a");
    assert.equal(defaultAgent([one, { ...one, name: "b" }]), undefined);
  });

  it("effort and a reminder count, and what is switched off or had anyway is not told of", () => {
    const fields = {
      description: "d",
      prompt: "p",
      effort: "max",
      criticalSystemReminder_EXPERIMENTAL: "stay calm",
      omitClaudeMd: true,
      background: false,
      skills: [],
      mcpServers: ["calc"],
    };
    const expected = {
      name: "a",
      description: "d",
      prompt: "p\n\nstay calm",
      effort: "high",
      omitInstructions: true,
      source: "test",
    };
    assert.deepEqual(parseAgents({ a: fields }, "test"), { agents: [expected], warnings: [] });
    const inline = { description: "d", prompt: "p", mcpServers: [{ calc: { command: "x" } }], background: true };
    const parsed = parseAgents({ a: inline }, "test");
    assert.deepEqual([parsed.warnings, parsed.agents[0]?.background], [[], true]);
    assert.deepEqual(parsed.agents[0]?.mcpServers, { calc: { command: "x" } });
    for (const wrong of [{ memory: "all" }, { hooks: [] }, { mcpServers: [7] }, { initialPrompt: "" }])
      assert.throws(() => parseAgents({ a: { description: "d", prompt: "p", ...wrong } }, "test"), { code: "config" });
    assert.throws(() => parseAgents({ a: { description: "d", prompt: "p", effort: "much" } }, "test"), /low, medium, high/);
  });
});
