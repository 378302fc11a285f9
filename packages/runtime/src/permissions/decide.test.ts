import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type PermissionMode, permissionModes } from "../protocol/permission.ts";
import { decide } from "./decide.ts";
import { type Action, parseRule } from "./rules.ts";

const root = "/repo/proj";
type Rules = { allow?: string[]; deny?: string[] };

function effect(action: Action, mode: PermissionMode, rules: Rules = {}): string {
  return full(action, mode, rules).effect;
}

function full(action: Action, mode: PermissionMode, rules: Rules = {}) {
  return decide(
    {
      mode,
      allow: (rules.allow ?? []).map(parseRule),
      deny: (rules.deny ?? []).map(parseRule),
      base: { root, home: "/home/me" },
      readable: ["/spill"],
    },
    [action],
  );
}

const run = (command: string): Action => ({ tool: "Bash", kind: "run", resource: command });
const read = (path: string): Action => ({ tool: "Read", kind: "look", resource: path });
const edit = (path: string): Action => ({ tool: "Write", kind: "edit", resource: path });
const fetchPage = (url: string): Action => ({ tool: "WebFetch", kind: "reach", resource: url });

describe("a permission decision", () => {
  it("follows the mode where no rule speaks", () => {
    const actions: [string, Action][] = [
      ["note", { tool: "TodoWrite", kind: "note", resource: "" }],
      ["read inside", read("/repo/proj/a")],
      ["read spilled output", read("/spill/x.txt")],
      ["read outside", read("/repo/proj-evil/x")],
      ["edit inside", edit("/repo/proj/a")],
      ["edit outside", edit("/etc/passwd")],
      ["run", run("ls")],
      ["reach", fetchPage("https://example.org/")],
    ];
    const table = Object.fromEntries(
      actions.map(([name, action]) => [name, permissionModes.map((mode) => effect(action, mode)).join(" ")]),
    );
    assert.deepEqual(table, {
      // plan default acceptEdits bypassPermissions
      note: "allow allow allow allow",
      "read inside": "allow allow allow allow",
      "read spilled output": "allow allow allow allow",
      "read outside": "ask ask ask allow",
      "edit inside": "deny ask allow allow",
      "edit outside": "deny ask ask allow",
      run: "deny ask ask allow",
      reach: "ask ask ask allow",
    });
  });

  it("lets a deny rule win over everything", () => {
    assert.equal(effect(run("rm -rf x"), "bypassPermissions", { allow: ["Bash"], deny: ["Bash(rm:*)"] }), "deny");
    assert.equal(effect(read("/repo/proj/.env"), "default", { allow: ["Read"], deny: ["Read(./.env)"] }), "deny");
  });

  it("finds what is forbidden in every part of a command", () => {
    for (const command of [
      "cd x && rm y",
      "ls; rm y",
      "ls | rm y",
      "echo $(rm y)",
      "echo `rm y`",
      "A=1 rm y",
      "(rm y)",
      "ls\nrm y",
      " rm y",
      "! rm y",
    ]) {
      assert.equal(effect(run(command), "bypassPermissions", { deny: ["Bash(rm:*)"] }), "deny", command);
    }
  });

  it("allows a command by prefix only when it is one plain command", () => {
    const allow = ["Bash(git diff:*)"];
    assert.equal(effect(run("git diff --stat HEAD"), "default", { allow }), "allow");
    assert.equal(effect(run("git diff"), "default", { allow }), "allow");
    assert.equal(effect(run("git diff -- 'a b.txt'"), "default", { allow }), "allow");
    for (const command of [
      "git diffs",
      "git diff; rm x",
      "git diff && rm x",
      "git diff > x",
      "git diff $(rm x)",
      "git diff `x`",
      "git diff | sh",
      "git diff\nrm x",
      "X=1 git diff",
    ]) {
      assert.equal(effect(run(command), "default", { allow }), "ask", command);
    }
  });

  it("allows exactly the command that was written out", () => {
    const command = "npm test && npm run lint > out.txt";
    assert.equal(effect(run(command), "default", { allow: [`Bash(${command})`] }), "allow");
    assert.equal(effect(run(`${command}; rm x`), "default", { allow: [`Bash(${command})`] }), "ask");
  });

  it("matches paths as globs from the project, the root or home", () => {
    const cases: [string, string, boolean][] = [
      ["Read(./src/**)", "/repo/proj/src/a/b.ts", true],
      ["Read(src/*.ts)", "/repo/proj/src/a.ts", true],
      ["Read(src/*.ts)", "/repo/proj/src/a/b.ts", false],
      ["Read(//etc/hosts)", "/etc/hosts", true],
      ["Read(/etc/hosts)", "/etc/hosts", false],
      ["Read(~/notes/**)", "/home/me/notes/x", true],
      ["Read(//repo/lib/**)", "/repo/library/x", false],
    ];
    for (const [rule, path, matches] of cases) {
      assert.equal(effect(read(path), "plan", { deny: [rule] }) === "deny", matches, `${rule} ${path}`);
    }
  });

  it("counts Edit rules for every tool that changes files and Read rules for every tool that reads them", () => {
    assert.equal(effect(edit("/repo/proj/a"), "default", { allow: ["Edit(./**)"] }), "allow");
    assert.equal(effect({ tool: "Grep", kind: "look", resource: "/x" }, "default", { deny: ["Read(//x)"] }), "deny");
  });

  it("matches domains whole or by their subdomains", () => {
    const allow = ["WebFetch(domain:example.org)"];
    assert.equal(effect(fetchPage("https://docs.example.org/x"), "default", { allow }), "allow");
    assert.equal(effect(fetchPage("https://evilexample.org/"), "default", { allow }), "ask");
    assert.equal(effect(fetchPage("https://example.org.evil.net/"), "default", { allow }), "ask");
  });

  it("never lets an allow rule change things in plan mode", () => {
    assert.equal(effect(run("ls"), "plan", { allow: ["Bash"] }), "deny");
    assert.equal(effect(edit("/repo/proj/a"), "plan", { allow: ["Edit"] }), "deny");
  });

  it("names the rule that would allow what it asks about, and that rule does", () => {
    for (const action of [
      run("npm test"),
      run("a && b"),
      read("/etc/hosts"),
      edit("/repo/proj/src/a.ts"),
      fetchPage("https://example.org/a?b"),
    ]) {
      const { rule = "" } = full(action, "default");
      assert.equal(effect(action, "default", { allow: [rule] }), "allow", rule);
    }
  });

  it("refuses text that is no rule", () => {
    for (const text of ["", "Bash(", "(x)", "rm -rf"]) assert.throws(() => parseRule(text), { code: "usage" }, text);
  });
});
