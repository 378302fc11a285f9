import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../protocol/content.ts";
import type { SettingsLayer } from "./layers.ts";
import { executorsInSettings, readExecutors } from "./trust-executors.ts";

describe("what settings of a project would run or loosen", () => {
  const hook = (value: unknown): JsonObject => ({ hooks: { Stop: value } }) as JsonObject;
  const settings: [values: JsonObject, what: string[]][] = [
    [hook([{ matcher: "Bash", hooks: [{ type: "command", command: "a" }] }]), ["Stop: (Bash) a"]],
    [hook([{ matcher: "", hooks: [{ command: "a" }, { url: "http://b" }] }]), ["Stop: a", "Stop: http://b"]],
    [hook([{ hooks: [{ prompt: "p" }, { agent: "g" }, "c"] }]), ["Stop: p", "Stop: g", "Stop: c"]],
    [hook([{ matcher: "Bash", hooks: ["c"] }]), ["Stop: c"]],
    [hook([{ command: "a" }]), ["Stop: a"]],
    [hook({ command: "a" }), ["Stop: a"]],
    [hook("a"), ["Stop: a"]],
    [hook([7, null]), ["Stop: 7", "Stop: null"]],
    [hook([{ odd: 1 }]), ['Stop: {"odd":1}']],
    [hook([{ hooks: "x", odd: 1 }]), ['Stop: {"hooks":"x","odd":1}']],
    [hook([{ command: ["a", "b"] }]), ['Stop: ["a","b"]']],
    [{ hooks: ["a"] }, ["?: a"]],
    [{ hooks: {} }, []],
    [{ hooks: [] }, []],
    [{ hooks: null }, []],
    [{ mcpServers: { a: { command: "node", args: ["x", 1] } } }, ["a: node x 1"]],
    [{ mcpServers: { a: { command: "node", args: "x" } } }, ["a: node"]],
    [{ mcpServers: { a: { command: "node", url: "http://b" } } }, ["a: http://b"]],
    [{ mcpServers: { a: { command: 7 } } }, ['a: {"command":7}']],
    [{ mcpServers: { a: "x" } }, ["a: x"]],
    [{ permissions: { allow: ["Bash(a)", "Read"], deny: ["Edit"] } }, ["Bash(a)", "Read"]],
    [{ permissions: { allow: "Bash" } as JsonObject }, ["Bash"]],
    [{ permissions: { additionalDirectories: ["/a"] } }, ["/a"]],
    [{ env: { A_SECRET: "x", B: "y", C: 1 } }, ["A_SECRET=…", "B=y", "C=1"]],
    [{ sandbox: { mode: "off", denyRead: ["a"] } }, ["sandbox.mode: off"]],
    [{ sandbox: { mode: "require" } }, []],
    [{ unheard: { of: { a: 1 } } }, ['unheard: {"of":{"a":1}}']],
    [{ apiKeyHelper: "./x.sh" }, ["apiKeyHelper: …"]],
    [{ awsAuthRefresh: "./x.sh" }, ["awsAuthRefresh: ./x.sh"]],
    [{ language: "Deutsch", cleanupPeriodDays: 3 }, []],
    [{ enabledPlugins: [], unheard: [] }, []],
  ];
  for (const [values, what] of settings)
    it(`${JSON.stringify(values)}: ${what.join(", ") || "nothing"}`, () =>
      assert.deepEqual(
        executorsInSettings([layer("project", values)]).map((one) => one.what),
        what,
      ));

  it("are of a kind", () => {
    const values = {
      hooks: { Stop: [{ command: "a" }] },
      mcpServers: { a: { command: "b" } },
      env: { A: "b" },
      permissions: { allow: ["Read"], defaultMode: "acceptEdits", additionalDirectories: ["/"] },
      model: "m",
      sandbox: { mode: "off" },
      enabledPlugins: { a: true },
      apiKeyHelper: "./x.sh",
      unheard: 1,
    };
    assert.deepEqual(
      executorsInSettings([layer("local", values)]).map(({ kind }) => kind),
      [
        "hook",
        "mcp-server",
        "environment",
        "allow-rule",
        "mode",
        "directory",
        "provider",
        "sandbox",
        "plugin",
        "command",
        "setting",
      ],
    );
  });

  it("are those of the project and of its checkout, with file and line, not the user's", () => {
    const values = { permissions: { allow: ["Bash"] } };
    const layers = (["user", "project", "local", "flag"] as const).map((scope) => layer(scope, values));
    assert.deepEqual(
      executorsInSettings(layers).map(({ source }) => source),
      ["/project.json:3", "/local.json:3"],
    );
    assert.deepEqual(
      executorsInSettings([{ ...layer("project", values), lineOf: () => undefined }]).map(({ source }) => source),
      ["/project.json"],
    );
  });
});

describe("what files beside the settings would run or loosen", () => {
  const head = (text: string): string => `---\n${text}\n---\nbody\n`;
  const files: [name: string, text: string, what: string[], commands: string[]][] = [
    [".claude/commands/a.md", "Now !`git status` and ```\n!`x`", ["runs git status", "runs x"], ["", "git status", "x"]],
    [".claude/commands/a.md", "```!\nmake\n```\n", ["runs make"], ["", "make\n"]],
    [".claude/commands/a.md", "words and `code`!", [], [""]],
    [".claude/commands/a.md", "allowed-tools: Bash", [], [""]],
    [
      ".claude/skills/a/SKILL.md",
      head("name: a\nallowed-tools: Bash(*)"),
      ["allowed-tools: Bash(*)"],
      ["name: a", "allowed-tools: Bash(*)"],
    ],
    [".claude/skills/a/SKILL.md", head("hooks:\n  Stop: x"), ["hooks: …"], ["hooks:", "  Stop: x"]],
    [".agents/agents/a.md", `\ufeff${head("permissionMode: plan")}`, ["permissionMode: plan"], ["permissionMode: plan"]],
    [".claude/notes.md", "!`x`", [], []],
    [".claude/a.json", '{"a": ["!`x`", {"b": "c"}], "d": 1, "e": null}', [], ["!`x`", "c"]],
    [".claude/a.json", "allowed-tools: x", [], ["allowed-tools: x"]],
    [".claude/a.sh", "!`x`", [], []],
    [".mcp.json", '{"mcpServers": {"a": {"command": "b"}}}', ["a: b"], ["b"]],
    [".mcp.json", '\ufeff{"a": {"url": "http://b"}}', ["a: http://b"], ["http://b"]],
    [".mcp.json", '{"mcpServers": ["x"]}', ['?: ["x"]'], ["x"]],
    [".mcp.json", '{"a": null, "b": "x"}', ["a: null", "b: x"], ["x"]],
    [".mcp.json", "null", ["?: null"], []],
    [".mcp.json", "[1]", ["?: [1]"], []],
    [".mcp.json", "{", ["a file that is no JSON"], ["{"]],
  ];
  for (const [name, text, what, commands] of files)
    it(`${name} ${JSON.stringify(text)}: ${what.join(", ") || "nothing"}`, () => {
      const found = readExecutors([{ name, path: name, content: true }], () => text);
      assert.deepEqual([found.executors.map((one) => one.what), found.commands], [what, commands]);
    });

  it("is not looked for where there is nothing to read", () => {
    const nothing = { name: ".mcp.json", path: "", content: false };
    const read = (): string => assert.fail("it was read");
    assert.deepEqual(readExecutors([nothing, { name: "x.sh", path: "", content: true }], read), { executors: [], commands: [] });
  });
});

function layer(scope: SettingsLayer["scope"], values: JsonObject): SettingsLayer {
  return { scope, dialect: "outrider", path: `/${scope}.json`, values, lineOf: (keyPath) => keyPath.length };
}
