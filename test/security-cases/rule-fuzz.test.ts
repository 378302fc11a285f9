import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { lintRule } from "../../packages/runtime/src/permissions/lint-rule.ts";
import { parseRule } from "../../packages/runtime/src/permissions/rules.ts";
import { unknownTool } from "../../packages/runtime/src/permissions/tool-names.ts";
import { RuntimeError } from "../../packages/runtime/src/protocol/errors.ts";

const pieces = [
  "Bash",
  "Read",
  "Edit",
  "WebFetch",
  "mcp__x__y",
  "(",
  ")",
  "((",
  "))",
  ":*",
  "*",
  "**",
  "/",
  "./",
  "~/",
  "//",
  "domain:",
];
const more = ["\\", "\\*", "[", "]", "{a,b}", "!", " ", "\n", "\0", "é", "\ud800", "git", "rm -rf", "=", "..", "__proto__", ","];
const text = fc
  .array(fc.oneof(fc.constantFrom(...pieces, ...more), fc.string({ maxLength: 5 })), { maxLength: 12 })
  .map((parts) => parts.join(""));

describe("permission rules, whatever is written", () => {
  it("are parsed or refused as a wrong rule, and linted without a throw", () => {
    fc.assert(
      fc.property(text, (written) => {
        let parsed: ReturnType<typeof parseRule> | undefined;
        try {
          parsed = parseRule(written, "a test");
        } catch (error) {
          assert.ok(error instanceof RuntimeError && (error.code === "config" || error.code === "usage"), String(error));
        }
        const problems = lintRule(written);
        assert.equal(
          problems.some(({ level }) => level === "error"),
          parsed === undefined || unknownTool(parsed.tool) !== undefined,
          "the lint knows exactly the rules that cannot be parsed, or name no tool",
        );
        if (parsed) assert.deepEqual(parseRule(parsed.text, "a test"), parsed, "its own text means the same rule");
      }),
      { numRuns: 5_000 },
    );
  });

  it("of great length take time in proportion to it", () => {
    for (const piece of ["*", "a*", "(", "\\", "[", "{a,b}", "**/"]) {
      const startedAt = performance.now();
      lintRule(`Read(${piece.repeat(50_000)})`);
      lintRule(`Bash(${piece.repeat(50_000)})`);
      assert.ok(performance.now() - startedAt < 3_000, piece);
    }
  });
});
