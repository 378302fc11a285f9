import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { readMatcher } from "./matcher.ts";

function matches(pattern: string, subject: string): boolean {
  const matcher = readMatcher(pattern);
  assert.ok(matcher.ok, `${pattern} was refused`);
  return matcher.matches(subject);
}

function problemOf(pattern: string): string {
  const matcher = readMatcher(pattern);
  return matcher.ok ? "" : matcher.problem;
}

describe("a matcher", () => {
  it("matches whole names, never a part of one", () => {
    assert.deepEqual(
      ["Bash", "Write", "NotBash", "BashOutput", "bash"].map((name) => matches("Bash|Write", name)),
      [true, true, false, false, false],
    );
  });

  it("is a list of names where it holds nothing but names, and matches wherever it fits where it holds more", () => {
    const patterns = ["Bash", "Read|Bash", "Edit, Bash", "^Ba.*", ".*sh", "as.", "Ba", "bash", "mcp__srv", "mcp__srv__.*"];
    assert.deepEqual(
      patterns.map((pattern) => matches(pattern, "Bash")),
      [true, true, true, true, true, true, false, false, false, false],
    );
    assert.deepEqual([matches("mcp__srv", "mcp__srv__a"), matches("mcp__srv__.*", "mcp__srv__a")], [false, true]);
  });

  it("matches everything when it is empty or a star", () => {
    assert.deepEqual([matches("", "Bash"), matches("*", "mcp__a__b"), matches("", "")], [true, true, true]);
  });

  it("is a regular expression", () => {
    assert.equal(matches("mcp__(github|gitlab)__.*", "mcp__gitlab__create_issue"), true);
    assert.equal(matches("mcp__[^_]+__write.*", "mcp__memory__read"), false);
    assert.equal(matches("(?:Multi)?Edit", "MultiEdit"), true);
  });

  it("refuses what is no regular expression, is too long, or could take for ever", () => {
    const refused = [
      "(",
      "[a-",
      "a".repeat(600),
      "(a+)+",
      "((a+))+",
      "(x(ya+z))+",
      "(a|a)*b",
      "((a|b)){2,}",
      "(a?)*",
      ".*.*.*.*x",
      "(a)\\1",
      "(?<x>a)\\k<x>",
      "a{2,}){2,}(?:", // closes the group around it and opens another
    ];
    assert.deepEqual(
      refused.filter((pattern) => problemOf(pattern) === ""),
      [],
    );
  });

  it("does not mistake brackets, escapes and group marks for repeats", () => {
    const fine = [
      "[*+?]",
      "a\\*b\\+",
      "(?:ab)+",
      "(?=B)Bash",
      "(?<!x)y",
      "a{2}b{1,3}",
      "a*b*c*",
      "[*+*+*+]x",
      "[\\]*]x",
      "\\(\\w+\\)",
    ];
    assert.deepEqual(
      fine.filter((pattern) => problemOf(pattern) !== ""),
      [],
    );
  });

  it("runs a hook rather than look at a name that is too long to be one", () => {
    assert.deepEqual([matches("Ba.h", "x".repeat(1000)), matches("Bash", "x".repeat(1000))], [true, false]);
  });

  it("answers at once for every pattern it accepts", () => {
    const piece = fc.constantFrom("a", "b", "(", ")", "|", "*", "+", "?", "{2,}", "[ab]", "\\w", ".", "(?:", "^", "$");
    const pattern = fc.array(piece, { maxLength: 24 }).map((pieces) => pieces.join(""));
    fc.assert(
      fc.property(pattern, (text) => {
        const matcher = readMatcher(text);
        if (!matcher.ok) return;
        const startedAt = performance.now();
        for (const subject of ["a".repeat(200), "ab".repeat(100), `${"a".repeat(199)}!`]) matcher.matches(subject);
        assert.ok(performance.now() - startedAt < 3000, text);
      }),
      { numRuns: 2000 },
    );
  });
});
