import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { claudeExecutors, claudeLimits, claudeNames, isClaudeKey } from "./claude-keys.ts";
import { parseJsonObject } from "./json-text.ts";
import { resolveSettings } from "./resolve.ts";
import { type Setting, settingsSchema } from "./schema.ts";

const document = readFileSync(join(process.env["OUTRIDER_ROOT"] ?? process.cwd(), "docs/settings.md"), "utf8");

describe("docs/settings.md", () => {
  it("has the table of all keys as the schema has them, in its order", () => {
    const rows = document.split("\n").flatMap((line) => /^(\| `[\w.*]+` \|.*\|.*\|.*\|)(.*)\|$/.exec(line)?.slice(1, 3) ?? []);
    const facts = rows.filter((_, at) => at % 2 === 0);
    assert.deepEqual(facts, settingsSchema.map(toRow), `The table should be:\n${settingsSchema.map(toRow).join("\n")}`);
    assert.ok(
      rows.every((text) => text.trim() !== ""),
      "a meaning is missing",
    );
  });

  it("has examples that are valid settings", () => {
    const examples = [...document.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text = ""]) => text);
    assert.equal(examples.length, 2);
    for (const text of examples) {
      const layer = {
        scope: "user",
        dialect: "outrider",
        path: "docs/settings.md",
        ...parseJsonObject(text, "example"),
      } as const;
      assert.deepEqual(resolveSettings([layer], { trusted: true }).warnings, []);
    }
  });

  it("names Claude Code's keys that are read under another name, that would run something, and that are not enforced", () => {
    const keys = [...claudeNames.keys(), ...claudeNames.values(), ...claudeExecutors, ...claudeLimits, "sandbox.enabled"];
    assert.deepEqual(
      keys.filter((key) => !document.includes(`\`${key}\``)),
      [],
    );
    assert.deepEqual([...claudeNames.keys()].filter(isClaudeKey), []);
  });
});

function toRow({ key, shape, merge, untrusted }: Setting): string {
  const merges = { replace: "highest", unite: "united", deep: "by field", collect: "side by side" };
  const counts = { ignored: "no", counts: "yes", stricter: "if stricter" };
  return `| \`${key}\` | ${describeShape(shape)} | ${merges[merge]} | ${counts[untrusted]} |`;
}

function describeShape(shape: Setting["shape"]): string {
  switch (shape.type) {
    case "boolean":
      return "true, false";
    case "text":
      return shape.choices?.join(", ") ?? shape.expected ?? "text";
    case "number":
      return shape.least < 1 ? `${shape.least} to ${shape.most}` : `whole number from ${shape.least}`;
    case "texts":
      return "list of texts";
    case "rules":
      return "list of rules";
    case "provider":
      return "provider";
    case "object":
      return "object";
  }
}
