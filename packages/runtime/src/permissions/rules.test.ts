import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  type Action,
  allows,
  anchorRule,
  denies,
  isCommandTool,
  isWrittenFor,
  namesTool,
  parseRule,
  suggestRule,
  toPathTest,
} from "./rules.ts";

const base = { root: "/repo/proj", home: "/home/me" };
const look = (resource: string, tool = "Read"): Action => ({ tool, kind: "look", resource });
const edit = (resource: string, tool = "Write"): Action => ({ tool, kind: "edit", resource });
const run = (resource: string): Action => ({ tool: "Bash", kind: "run", resource });
const reach = (resource: string, tool = "WebFetch"): Action => ({ tool, kind: "reach", resource });
const note = (tool: string, resource = ""): Action => ({ tool, kind: "note", resource });

describe("the text of a rule", () => {
  it("is a tool, with a pattern or without", () => {
    const patterns = ["Bash", "Bash()", "Bash(*)", "Bash(:*)", "Bash(**)", "Read(**)", "Read( ./a )", "Bash(a\nb)", " Edit "];
    assert.deepEqual(
      patterns.map((text) => parseRule(text).pattern),
      [undefined, undefined, undefined, undefined, "**", undefined, "./a", "a\nb", undefined],
    );
    assert.deepEqual(parseRule(" mcp__a-b__*(x) ", "f"), {
      text: "mcp__a-b__*(x)",
      tool: "mcp__a-b__*",
      pattern: "x",
      source: "f",
    });
    for (const text of ["", "Bash(", "(x)", "rm -rf", "1a", "Bash(x) y"])
      assert.throws(() => parseRule(text), { code: "usage", message: /Expected Tool or Tool\(pattern\)/ }, text);
  });

  it("starts where it was written, when it names files from there", () => {
    const moved = (text: string): string | undefined => anchorRule(parseRule(text), "/else").pattern;
    const same = [
      "Read(//etc/x)",
      "Read(~)",
      "Read(~/x)",
      "Bash(a b)",
      "Shell(x)",
      "WebFetch(domain:x)",
      "mcp__a(x)",
      "Task(x)",
      "Agent(x)",
      "Skill(x)",
    ];
    assert.deepEqual(["Read(./a)", "Edit(a/*)", "Read(/a)"].map(moved), ["//else/a", "//else/a/*", "//else/a"]);
    assert.deepEqual(
      same.filter((text) => moved(text) !== parseRule(text).pattern),
      [],
    );
    assert.equal(moved("Read"), undefined);
    assert.equal(moved("Taskx(a)"), "//else/a");
  });
});

describe("a rule", () => {
  it("speaks of tools by kind, by name, by other names, by server and by wildcard", () => {
    const yes: [string, Action][] = [
      ["Edit", edit("/a")],
      ["MultiEdit", edit("/a", "NotebookEdit")],
      ["Read", look("/a", "Grep")],
      ["Shell", run("x")],
      ["Bash", { ...run("x"), tool: "terminal" }],
      ["Write", edit("/a")],
      ["LS", look("/a", "Glob")],
      ["Agent", note("Task")],
      ["mcp__a", reach("", "mcp__a__b")],
      ["mcp__a__b", reach("", "mcp__a__b")],
      ["mcp__*__b", reach("", "mcp__a__b")],
      ["T*", note("TodoWrite")],
    ];
    const no: [string, Action][] = [
      ["Edit", look("/a")],
      ["Read", edit("/a")],
      ["Bash", note("TodoWrite")],
      ["Write", look("/a")],
      ["mcp__a", reach("", "mcp__ab__c")],
      ["mcp__a__b", reach("", "mcp__a__b__c")],
      ["mcp__*__b", reach("", "mcp__a__c")],
      ["Tod", note("TodoWrite")],
      ["Write", edit("/a", "Patch")],
    ];
    assert.deepEqual(
      yes.filter(([text, action]) => !namesTool(parseRule(text), action)),
      [],
    );
    assert.deepEqual(
      no.filter(([text, action]) => namesTool(parseRule(text), action)),
      [],
    );
    assert.deepEqual(["Bash", "Shell", "BashTool", "Read"].map(isCommandTool), [true, true, true, false]);
  });

  it("allows what its pattern names, letter by letter", () => {
    const cases: [string, Action, boolean][] = [
      ["Read(./a)", look("/repo/proj/a"), true],
      ["Read(./a)", look("/repo/proj/A"), false],
      ["Read(./a)", look("/repo/proj/a/b"), false],
      ["Read(./**/x)", look("/repo/proj/x"), true],
      ["Read(./**/x)", look("/repo/proj/a/b/x"), true],
      ["Read(./**/**/x)", look("/repo/proj/a/x"), true],
      ["Read(./**/x)", look("/repo/proj/ax"), false],
      ["Read(./a?)", look("/repo/proj/ab"), true],
      ["Read(./a?)", look("/repo/proj/a/"), false],
      ["Read(./a\\?)", look("/repo/proj/a?"), true],
      ["Read(./a\\?)", look("/repo/proj/ab"), false],
      ["Read(./a.b)", look("/repo/proj/axb"), false],
      ["Read(./[a])", look("/repo/proj/[a]"), true],
      ["Read(./[a])", look("/repo/proj/a"), false],
      ["Read(./**)", look("/repo/proj/a\nb"), true],
      ["Bash(ls)", run("ls"), false],
      ["Bash", run("ls"), true],
      ["WebFetch(domain:example.org)", reach("https://EXAMPLE.org/x"), true],
      ["WebFetch(domain:Example.org)", reach("https://a.example.org/x"), true],
      ["WebFetch(domain:example.org)", reach("https://badexample.org/x"), false],
      ["WebFetch(domain:example.org)", reach("example.org"), false],
      ["WebFetch(https://a/*)", reach("https://a/x"), true],
      ["WebFetch(https://a/*)", reach("https://b/x"), false],
      ["Skill(deploy)", note("Skill", "deploy"), true],
      ["Skill(domain:x)", note("Skill", "domain:x"), true],
      ["Skill(deploy)", note("Skill", "other"), false],
      ["Skill(deploy)", note("Task", "deploy"), false],
      ["WebFetch(domain:*.example.org)", reach("https://a.example.org/x"), true],
      ["WebFetch(domain:*.example.org)", reach("https://example.org/x"), false],
      ["WebFetch(domain:ex*.org)", reach("https://example.org/x"), false],
      ["Read(.env)", look("/repo/proj/sub/.env"), false],
    ];
    for (const [text, action, expected] of cases)
      assert.equal(allows(parseRule(text), action, base), expected, `${text} ${action.resource}`);
  });

  it("forbids what may be meant: other forms of the name, the folder, and what is in it", () => {
    const cases: [string, Action, boolean][] = [
      ["Read(./.env)", look("/repo/proj/.ENV"), true],
      ["Read(./a/**)", look("/repo/proj/a"), true],
      ["Read(./a)", look("/repo/proj/a/b"), true],
      ["Read(./a/)", look("/repo/proj/a/b"), true],
      ["Read(./a)", look("/repo/proj/ab"), false],
      ["Read(./a\\*)", look("/repo/proj/abc"), true],
      ["Edit(./a)", look("/repo/proj/a"), false],
      ["Bash(ls)", run("ls"), false],
      ["Bash", run("ls"), true],
      ["WebFetch(domain:example.org)", reach("https://example.org"), true],
      ["TodoWrite", note("TodoWrite"), true],
    ];
    for (const [text, action, expected] of cases)
      assert.equal(denies(parseRule(text), action, base), expected, `${text} ${action.resource}`);
    assert.equal(toPathTest(parseRule("Read"), base)("/anything"), true);
  });

  it("forbids with a star all that it forbids in Claude Code", () => {
    const cases: [string, Action, boolean][] = [
      ["Skill(ab *)", note("Skill", "ab"), true],
      ["Skill(ab *)", note("Skill", "abc"), true],
      ["Skill(ab:*)", note("Skill", "abc"), true],
      ["Skill(ab:*)", note("Skill", "ab:c"), true],
      ["Skill(ab *)", note("outrider_command_skills", "ab"), true],
      ["Skill(ab*)", note("Skill", "ab/c:d"), true],
      ["Skill(ab *)", note("Skill", "a"), false],
      ["Skill(ab)", note("Skill", "abc"), false],
      ["Agent(plug:*)", note("Task", "plug:x"), true],
      ["Agent(plug:*)", note("Task", "other"), false],
      ["mcp__server__*", reach("", "mcp__server__tool"), true],
      ["mcp__server__get_*", reach("", "mcp__server__get_x"), true],
      ["mcp__server__get_*", reach("", "mcp__server__set_x"), false],
      ["WebFetch(domain:*.example.org)", reach("https://a.b.example.org"), true],
      ["WebFetch(domain:*.example.org)", reach("https://example.org"), true],
      ["WebFetch(domain:*.example.org)", reach("https://badexample.org"), false],
      ["WebFetch(domain:ex*.org)", reach("https://a.example.org"), true],
      ["WebFetch(domain:example.org)", reach("https://example.org./x"), true],
      ["WebFetch(https://a/*)", reach("https://a/x/y?z"), true],
      ["Read(.env)", look("/repo/proj/sub/.env"), true],
      ["Read(./.env.*)", look("/repo/proj/a/b/.env.local"), true],
      ["Read(*.pem)", look("/repo/proj/a/x.pem"), true],
      ["Read(secrets/)", look("/repo/proj/a/secrets/x"), true],
      ["Read(secrets/*)", look("/repo/proj/a/secrets/x"), false],
      ["Read(/.env)", look("/repo/proj/sub/.env"), false],
      ["Read(.env)", look("/repo/else/.env"), false],
      ["Read(a[12])", look("/repo/proj/a1"), true],
      ["Read(a[12])", look("/repo/proj/a[12]"), true],
      ["Read(a[12])", look("/repo/proj/abc"), false],
    ];
    for (const [text, action, expected] of cases)
      assert.equal(denies(parseRule(text), action, base), expected, `${text} ${action.resource}`);
    const anchored = anchorRule(parseRule("Read(.env)"), "/repo");
    assert.deepEqual(
      ["/repo/.env", "/repo/a/.env", "/else/.env"].map((path) => denies(anchored, look(path), base)),
      [true, true, false],
    );
    assert.equal(allows(anchored, look("/repo/a/.env"), base), false);
  });

  it("is judged in a moment, however many wildcards it has", () => {
    const many = "*a".repeat(60);
    const name = `${"a".repeat(240)}c`;
    const cases: [string, Action][] = [
      [`Read(${many}b)`, look(`/repo/proj/${name}`)],
      [`Read(//**/${"a*/**/".repeat(300)}b)`, look(`/${"a/".repeat(1_500)}c`)],
      [`WebFetch(${many}b)`, reach(`https://x/${name}`)],
      [`WebFetch(domain:${many}b)`, reach(`https://${"a".repeat(60)}.example/`)],
      [`mcp__s__${many}b`, note(`mcp__s__${name}`)],
    ];
    for (const [rule, action] of cases)
      assert.deepEqual(
        [allows(parseRule(rule), action, base), denies(parseRule(rule), action, base)],
        [false, false],
        rule.slice(0, 40),
      );
    assert.throws(() => parseRule(`Read(${"*/".repeat(3_000)}a)`), /at most 4096 characters/);
  });

  it("is written for a protected place when it begins there, and not when it only reaches it", () => {
    const cases: [string, Action, boolean][] = [
      ["Edit(./.git/config)", edit("/repo/proj/.git/config"), true],
      ["Edit(./.git/**)", edit("/repo/proj/.git/config"), true],
      ["Edit(./**)", edit("/repo/proj/.git/config"), false],
      ["Edit(//**)", edit("/repo/proj/.git/config"), false],
      ["Edit", edit("/repo/proj/.git/config"), false],
      ["Edit(./src/**)", edit("/repo/proj/src/.git/x"), false],
      ["Read(~/.ssh/**)", look("/home/me/.ssh/x"), true],
      ["Read(~/**)", look("/home/me/.ssh/x"), false],
      ["WebFetch(x)", reach("x"), false],
    ];
    for (const [text, action, expected] of cases) assert.equal(isWrittenFor(parseRule(text), action, base), expected, text);
    assert.equal(isWrittenFor({ ...parseRule("Edit"), exactly: edit("/a") }, edit("/a"), base), true);
  });
});

describe("an answer that is remembered", () => {
  const isSame = (known: Action, action: Action): boolean => allows({ ...parseRule("Bash"), exactly: known }, action, base);

  it("is about the very same thing, from the same place", () => {
    const yes: [Action, Action][] = [
      [run("ls"), run("ls")],
      [{ ...run("ls"), cwd: "/repo/proj" }, run("ls")],
      [look("/a"), look("/a", "Grep")],
      [edit("/a"), edit("/a", "Edit")],
      [reach("https://a.org/x"), reach("https://a.org/y")],
      [reach("query", "WebSearch"), reach("query", "WebSearch")],
      [note("Skill", "x"), note("Skill", "x")],
    ];
    const no: [Action, Action][] = [
      [run("ls"), run("ls ")],
      [run("task:a"), run("task:b")],
      [{ ...run("ls"), cwd: "/repo/proj/src" }, run("ls")],
      [run("ls"), { ...run("ls"), shell: "zsh" }],
      [run("ls"), { ...run("ls"), tool: "Terminal" }],
      [look("/a"), edit("/a")],
      [look("/a"), look("/b")],
      [reach("https://a.org/x"), reach("https://b.a.org/x")],
      [reach("https://a.org/x"), reach("https://a.org/x", "Other")],
      [reach("query", "WebSearch"), reach("other", "WebSearch")],
      [reach("https://a.org/x"), reach("a.org")],
      [note("Skill", "x"), note("Skill", "y")],
    ];
    assert.deepEqual(
      yes.filter(([known, action]) => !isSame(known, action)),
      [],
    );
    assert.deepEqual(
      no.filter(([known, action]) => isSame(known, action)),
      [],
    );
  });
});

describe("the rule that is suggested", () => {
  it("is for this and nothing else", () => {
    const cases: [Action, string][] = [
      [run(" rm * "), "Bash(rm \\*)"],
      [look("/repo/proj/a"), "Read(./a)"],
      [edit("/repo/proj/a*?"), "Edit(./a\\*\\?)"],
      [look("/repo/project"), "Read(//repo/project)"],
      [reach("https://A.org/x"), "WebFetch(domain:a.org)"],
      [reach("words", "WebSearch"), "WebSearch"],
      [note("Skill", "x"), "Skill"],
    ];
    for (const [action, expected] of cases) assert.equal(suggestRule(action, base), expected);
  });
});
