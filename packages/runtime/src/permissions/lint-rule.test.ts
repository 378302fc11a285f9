import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { lintRule } from "./lint-rule.ts";

describe("lintRule", () => {
  it("finds rules that are wider or narrower than they look", () => {
    const level = (rule: string): string =>
      lintRule(rule)
        .map((problem) => problem.level)
        .join();
    const wide = [
      "Bash",
      "Bash(*)",
      "Bash(node:*)",
      "Bash(sh:*)",
      "Bash(sudo:*)",
      "Bash(python3 *)",
      "Bash(xargs:*)",
      "Bash(env *)",
      "Bash(find:*)",
    ];
    const odd = ["Bash(git diff && *)", "Read(/etc/hosts)", "WebFetch(https://example.org/*)"];
    const fine = [
      "Bash(git diff:*)",
      "Bash(npm test)",
      "Bash(node build.js)",
      "Read(./src/**)",
      "Read(//etc/hosts)",
      "WebFetch(domain:x.org)",
      "Edit",
    ];
    assert.deepEqual(
      [...wide, ...odd].filter((rule) => level(rule) !== "warning"),
      [],
    );
    assert.deepEqual(
      fine.filter((rule) => level(rule) !== ""),
      [],
    );
    assert.match(lintRule("Bash(xargs:*)")[0]?.message ?? "", /needs a rule of its own/);
    assert.match(lintRule("Bash(node:*)")[0]?.message ?? "", /equal to Bash\(\*\)/);
    assert.match(lintRule("Wrte", false)[0]?.message ?? "", /There is no tool "Wrte"; did you mean Write\?/);
    assert.equal(level("Bash("), "error");
    assert.deepEqual(lintRule("Bash", false), []);
  });
});
