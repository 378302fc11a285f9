import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { lines, projectRoot, run, tempFolder } from "./command.ts";

const folder = tempFolder("permissions");

describe("outrider permissions", () => {
  it("decides the cases of a file, one line each, and fails when one differs", async () => {
    const good = await run(["permissions", "test", "--cases", join(projectRoot, "test/fixtures/security-cases.jsonl")]);
    assert.deepEqual(
      [good.code, lines(good.stdout).length, good.stderr],
      [0, 151, "151 cases, 0 different, 119 of other areas skipped\n"],
    );
    const file = join(folder, "cases.jsonl");
    const given = { mode: "default", allow: [], deny: [], cwd: "/repo/proj" };
    const cases = [
      { id: "A", area: "shell-permission", given, input: "ls", expected: "deny" },
      { id: "B", area: "sandbox", given: {}, input: "", expected: "" },
    ];
    writeFileSync(file, cases.map((one) => JSON.stringify(one)).join("\n"));
    const bad = await run(["permissions", "test", "--cases", file]);
    assert.deepEqual(
      [bad.code, lines(bad.stdout), bad.stderr],
      [
        1,
        [{ id: "A", expected: "deny", got: "allow", rule: null, reason: "It only looks at the project" }],
        "1 cases, 1 different, 1 of other areas skipped\n",
      ],
    );
  });

  it("explains a decision without running anything", async () => {
    const explained = await run(["permissions", "explain", "Bash(cd x && rm -rf y)", "--disallowedTools", "Bash(rm:*)"], {
      cwd: folder,
    });
    assert.deepEqual(
      [explained.code, explained.stdout],
      [
        0,
        "decision: deny\nreason: The rule Bash(rm:*) forbids it\nrule: Bash(rm:*)\nwritten in: --disallowedTools\nruns: cd x · rm -rf y\n",
      ],
    );
  });

  it("finds what is wrong with rules", async () => {
    const warned = await run(["permissions", "lint", "Bash(node:*)", "Bash(git diff:*)"]);
    assert.deepEqual(
      [warned.code, warned.stdout],
      [0, "warning: Bash(node:*): node can run anything, so this is equal to Bash(*)\n"],
    );
    assert.equal((await run(["permissions", "lint", "Bash("])).code, 1);
  });

  it("says what it expects when it is called wrongly", async () => {
    for (const args of [["tset"], ["test"], ["explain"], ["test", "--cases", "none.jsonl"]]) {
      const { code, stderr } = await run(["permissions", ...args]);
      assert.ok(code === 64 || code === 66, `${args.join(" ")}: ${code}`);
      assert.match(stderr, /^outrider: /);
    }
  });
});
