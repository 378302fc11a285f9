import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { mayHold, mayReach } from "./path-patterns.ts";

describe("a folder and the pattern of a rule", () => {
  it("meet where one may hold the other", () => {
    const cases: [string, string, boolean][] = [
      ["/p/.env", "/p", true],
      ["/p/.env", "/p/.env", true],
      ["/p/secrets/**", "/p/secrets/deep", true],
      ["/p/**/*.key", "/p/src", true],
      ["/p/.env", "/p/src", false],
      ["/P/.ENV", "/p", true],
      ["/p/secrets", "/p/secrets-not", false],
      ["/p/secrets/**", "/p/.outrider/worktrees/w/secrets", true],
      ["/p/secrets/**", "/p/.outrider/worktrees/w", true],
      ["/p/secrets/**", "/p/.outrider/worktrees", true],
      ["/p/secrets/**", "/p/.Outrider", true],
      ["/p/sub/secrets", "/p/sub/.outrider/worktrees/w", true],
      ["/p/sub/secrets", "/p/.outrider/worktrees/w/sub", true],
      ["/p/secrets/**", "/p/.outrider/worktrees/w/src", false],
      ["/p/secrets/**", "/p/.outrider/tasks", false],
      ["/p/secrets/**", "/p/.outrider/worktrees-not/w", false],
      ["/p/secrets/**", "/q/.outrider", false],
    ];
    for (const [pattern, folder, expected] of cases) assert.equal(mayReach(pattern, folder), expected, `${pattern} ${folder}`);
  });
});

describe("a pattern of the shell and one of a rule", () => {
  it("may stand for the same file, or for a folder above it", () => {
    const cases: [string, string, boolean, string | undefined][] = [
      ["/p/*.txt", "/p/a.txt", false, "same"],
      ["/p/*.txt", "/p/a.ts", false, undefined],
      ["/p/*", "/p/secrets/x", false, "above"],
      ["/p/*", "/p/.env", false, undefined],
      ["/p/*", "/p/.env", true, "same"],
      ["/p/.*", "/p/.env", false, "same"],
      ["/p/*/key", "/p/secrets/key", false, "same"],
      ["/p/*/key/x", "/p/secrets", false, "same"],
      ["/p/*", "/p/**", false, "same"],
      ["/p/a*", "/p/**/abc", false, "same"],
      ["/p/x*/y/z", "/p/**/z", false, "same"],
      ["/p/x*/y", "/p/**/z", false, "above"],
      ["/q/*", "/p/**", false, undefined],
      ["/p/**", "/p/a/b/c", false, "above"],
      ["/p/**", "/p/a/b/c", true, "same"],
      ["/p/**/c", "/p/a/b/c", true, "same"],
      ["/p/**/c", "/p/a/b/c", false, undefined],
      ["/p/**/d", "/q/c", true, undefined],
      ["/p/**/c", "/p/c", true, "same"],
      ["/p/**/c", "/p/a/c", true, "same"],
      ["/P/*.TXT", "/p/a.txt", false, "same"],
      ["/p/a?/**", "/p/ab/x", false, "same"],
      ["/p/.outrider/worktrees/*/a/x", "/p/a/**", false, "same"],
      ["/p/.out*/w*/*/a/x", "/p/a/**", false, "same"],
      ["/p/*r/*/*/a/x", "/p/a/**", true, "same"],
      ["/p/*r/*/*/a/x", "/p/a/**", false, undefined],
      ["/p/.outrider/worktrees/*/b*", "/p/a/**", false, undefined],
      ["/p/.outrider/worktrees/*", "/p/a/**", false, "above"],
      ["/.outrider/.outrider/w*/a", "/**/worktrees/a", true, "same"],
      ["/p/.o*", "/p/a/**", false, "above"],
      ["/p/.outrider/tasks/*/a", "/p/a/**", false, undefined],
    ];
    for (const [shell, rule, wild, expected] of cases)
      assert.equal(mayHold(shell, rule, wild), expected, `${shell} ${rule} ${wild}`);
  });

  it("are compared in time, however many stars there are", () => {
    const startedAt = performance.now();
    assert.equal(mayHold(`/${"a*/".repeat(40)}x`, `/${"**/a/".repeat(20)}y`, false), "above");
    assert.ok(performance.now() - startedAt < 2_000);
  });
});
