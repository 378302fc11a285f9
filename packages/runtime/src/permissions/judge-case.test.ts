import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isAsExpected, judgeCase, parseCase } from "./judge-case.ts";

describe("a case", () => {
  it("is read with all it needs, or refused", () => {
    const whole = { id: "A", area: "path", given: { root: "/x" }, input: "i", expected: "ask" };
    assert.deepEqual(parseCase({ ...whole, more: 1 }), whole);
    assert.deepEqual(parseCase({ ...whole, given: "x" }).given, {});
    for (const broken of [null, "x", { ...whole, id: 1 }, { ...whole, area: undefined }, { ...whole, expected: null }])
      assert.throws(() => parseCase(broken), { code: "usage", message: "A case needs id, area, given, input and expected" });
  });

  const verdicts: [expected: string, got: string, fits: boolean][] = [
    ["allow", "allow", true],
    ["allow inside", "allow", true],
    ["ask", "allow", false],
    ["ask or deny", "deny", false],
    ["error", "deny", true],
    ["error: no path", "deny", true],
    ["error: no path", "error", true],
    ["error or ask", "ask", false],
    ["never allow", "allow", true],
    ["never allow", "ask", false],
    ["not allowed", "ask", true],
    ["refused", "ask", true],
    ["normalised", "allow", false],
    ["content replaced by rename", "content replaced by rename", true],
  ];
  for (const [expected, got, fits] of verdicts)
    it(`that expects "${expected}" and gets "${got}" is ${fits ? "" : "not "}as expected`, () =>
      assert.equal(isAsExpected({ id: "A", expected, got, rule: null, reason: "" }), fits));
});

async function judge(area: string, given: Readonly<Record<string, unknown>>, input: unknown, expected = "ask"): Promise<string> {
  const verdict = await judgeCase({ id: "A", area, given, input, expected });
  assert.deepEqual([verdict?.id, verdict?.expected], ["A", expected]);
  // For a question it is the rule that would answer it.
  return `${verdict?.got}${verdict?.rule && verdict.got !== "ask" ? ` by ${verdict.rule}` : ""}`;
}

describe("a case about a command", () => {
  const rows: [given: Readonly<Record<string, unknown>>, input: unknown, got: string][] = [
    [{}, "make x", "ask"],
    [{ allow: ["Bash(make:*)"] }, "make x", "allow by Bash(make:*)"],
    [{ rules: { allow: ["Bash(make:*)", 5] } }, "make x", "allow by Bash(make:*)"],
    [{ rules: { deny: ["Bash(make:*)"] } }, "make x", "deny by Bash(make:*)"],
    [{ rules: { ask: ["Bash(ls:*)"] } }, "ls", "ask"],
    [{ rules: { deny: [] }, allow: ["Bash(make:*)"] }, "make x", "ask"],
    [{}, { command: "ls" }, "allow"],
    [{}, { command: "make" }, "ask"],
    [{}, 5, "ask"],
    [{}, null, "ask"],
    [{ cwd: 5 }, "ls", "allow"],
    [{ fs: "secret -> x", deny: ["Read(./src/secret)"] }, "cat src/*", "allow"],
    [{ shell: "bash" }, "ls", "allow"],
    [{ shell: "fish" }, "ls", "ask"],
    [{}, "cat /repo/proj/a", "allow"],
    [{}, "cat /other/a", "ask"],
    [{ cwd: "/other" }, "cat /other/a", "allow"],
    [{ mode: "acceptEdits" }, "touch a", "allow"],
    [{ mode: "acceptEdits/plan" }, "touch a", "allow"],
    [{ mode: "unheard-of" }, "touch a", "ask"],
    [{}, "git status", "allow"],
    [{ trusted: true }, "git status", "allow"],
    [{ trusted: false }, "git status", "ask"],
    [{}, "unheard-of --version", "allow"],
    [{}, "cat a/passwd", "allow"],
    [{ fs: "a -> /etc" }, "cat a/passwd", "ask"],
    [{ fs: "a -> /etc" }, "cat ab", "allow"],
    [{ fs: "src/a -> ../b" }, "cat src/a", "allow"],
    [{ fs: "src/a -> ../../b" }, "cat src/a", "ask"],
    [{ fs: "a -> b, b -> /etc/x" }, "cat a", "ask"],
    [{ fs: "a -> ~/x" }, "cat a", "ask"],
    [{ fs: "~/a -> /repo/proj/b" }, "cat ~/a", "allow"],
    [{ fs: "a -> b; b -> a" }, "cat a", "ask"],
    [{}, "cat *", "allow"],
    [{ fs: "a -> /etc/x" }, "cat *", "ask"],
    [{ fs: "src/a -> /etc/x" }, "cat *", "allow"],
    [{ fs: "src/a -> /etc/x" }, "cat src/*", "ask"],
  ];
  for (const [given, input, got] of rows)
    it(`is judged: ${JSON.stringify([given, input])}`, async () =>
      assert.equal(await judge("shell-permission", given, input), got));
});

const chainOf = (length: number): string => Array.from({ length }, (_, at) => `l${at} -> l${at + 1}`).join(", ");

describe("a case about a path", () => {
  const edit = { allow: ["Edit"] };
  const rows: [given: Readonly<Record<string, unknown>>, input: unknown, got: string, expected?: string][] = [
    [{}, { path: "a" }, "allow"],
    [{}, { tool: "Edit", path: "a" }, "ask"],
    [edit, { tool: "Edit", path: "a" }, "allow by Edit"],
    [{}, { path: "/etc/passwd" }, "ask"],
    [{ root: "/etc" }, { path: "/etc/passwd" }, "allow"],
    [{ root: "/etc" }, { path: "passwd" }, "allow"],
    [{ deny: ["Read(./a)"] }, { path: "a (a file)" }, "deny by Read(./a)"],
    [{ deny: ["Read(./a)"] }, { path: "src/../a" }, "deny by Read(./a)"],
    [{}, {}, "error"],
    [{}, "a", "error"],
    [{}, null, "error"],
    [{}, { path: "l0", fs: chainOf(39) }, "allow"],
    [{}, { path: "l0", fs: chainOf(40) }, "error"],
    [{}, { tool: "WebFetch", path: "é" }, "ask", "normalised"],
    [{}, { path: "a\0b" }, "error"],
    [{}, { path: "https://x/y" }, "error"],
    [{}, { path: "a:b" }, "allow"],
    [{ deny: ["Read(~/a)"] }, { path: "~/a" }, "deny by Read(~/a)"],
    [{ deny: ["Read(~/**)"] }, { path: "~" }, "deny by Read(~/**)"],
    [{}, { path: "~a" }, "allow"],
    [{}, { path: "a", fs: "a -> /etc/x" }, "ask"],
    [{}, { path: "a", fs: "a -> b, b -> a" }, "error"],
    [{}, { path: "/lib/a" }, "ask"],
    [{ additional_dirs: ["/lib"] }, { path: "/lib/a" }, "allow"],
    [{ additional_dirs: ["/lib -> /real"] }, { path: "/lib/a" }, "allow"],
    [{ additional_dirs: ["/lib -> /real"] }, { path: "/real/a" }, "allow"],
    [{}, { path: "é" }, "normalised", "normalised"],
    [{}, { path: "a", race: "symlink to /etc/x" }, "deny"],
    [{}, { path: "a", race: "nothing" }, "allow"],
    [{}, { tool: "Edit", path: "a", race: "symlink to /etc/x" }, "ask"],
    [edit, { tool: "Edit", path: "a", fs: "hard link to b" }, "content replaced by rename by Edit"],
    [{}, { tool: "Edit", path: "a", fs: "hard link to b" }, "ask"],
    [{}, { path: "a", fs: "hard link to b" }, "allow"],
    [{}, { path: "con.txt" }, "allow"],
    [{}, { path: "con.txt", os: "win32" }, "deny"],
    [{ deny: ["Read(./ABC)"] }, { path: "abc" }, "deny by Read(./ABC)"],
  ];
  for (const [given, input, got, expected] of rows)
    it(`is judged: ${JSON.stringify([given, input])}`, async () =>
      assert.equal(await judge("path", given, input, expected), got));

  it("tells why", async () => {
    const reason = async (input: unknown): Promise<string | undefined> =>
      (await judgeCase({ id: "A", area: "path", given: {}, input, expected: "x" }))?.reason;
    assert.equal(await reason({ path: "" }), "It is no path");
    assert.equal(await reason({ path: "ftp://x" }), "A URL is no path");
    assert.equal(await reason({ path: "a", fs: "a -> a" }), "/repo/proj/a is a circle of links");
    assert.equal(
      await reason({ path: "a", race: "symlink to /etc/x" }),
      "It leads to /etc/x, which is not the file permission was given for",
    );
  });
});

describe("a verdict", () => {
  it("tells the rule, or that there is none", async () => {
    const found = await judgeCase({
      id: "A",
      area: "shell-permission",
      given: { mode: "unheard-of" },
      input: "ls",
      expected: "x",
    });
    assert.deepEqual(found, { id: "A", expected: "x", got: "allow", rule: null, reason: "It only looks at the project" });
    const asked = await judgeCase({
      id: "A",
      area: "shell-permission",
      given: { mode: "unheard-of" },
      input: "make",
      expected: "x",
    });
    assert.match(asked?.reason ?? "", /in mode default/);
  });
});

describe("a case about something else", () => {
  it("is left to others", async () => {
    assert.equal(await judgeCase({ id: "A", area: "sandbox", given: {}, input: "ls", expected: "ask" }), undefined);
  });
});
