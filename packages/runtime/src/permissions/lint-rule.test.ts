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
      "WebFetch",
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
    const messages: [string, RegExp | undefined, boolean?][] = [
      ["Bash(*:*)", /^\* can run anything/],
      ["Bash(make:*)", /^make runs what files say/],
      ["Bash(docker *)", /^docker runs what files say/],
      ["Bash(make:*)", undefined, false],
      ["Bash(/usr/bin/node:*)", /^node can run anything/],
      ["Bash(node build.js:*)", undefined],
      ["Bash(node\\*)", undefined],
      ["Bash(sudo ls *)", /needs a rule of its own|can run anything/],
      ["Shell(node:*)", /^node can run anything/],
      ["Bash(a > *)", /allows nothing/, false],
      ["Bash(a | b)", undefined],
      ["WebFetch(https://a.org/*)", /WebFetch\(domain:a\.org\)/],
      ["WebFetch(*x)", /domain:example\.org/],
      ["WebSearch(x)", undefined],
      ["Edit(/etc/x)", /written Edit\(\/\/etc\/x\)/],
      ["Edit(/src/x)", undefined],
      ["Skill(/etc/x)", undefined],
    ];
    for (const [text, message, allowing] of messages) {
      const [first] = lintRule(text, allowing);
      if (message) assert.match(first?.message ?? "", message, text);
      else assert.equal(first, undefined, text);
    }
    assert.equal(level("Bash("), "error");
    assert.deepEqual(lintRule("Bash", false), []);
  });
});
