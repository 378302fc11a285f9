import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { PermissionMode } from "../packages/runtime/src/protocol/permission.ts";
import { decide } from "../packages/runtime/src/permissions/decide.ts";
import type { Decision, Policy } from "../packages/runtime/src/permissions/policy.ts";
import { createGround, resolveExisting, toRules } from "./support/command-ground.ts";
import { itHolds } from "./support/it-holds.ts";

type Row = [command: string, expected: string, allow: string[], deny: string[], mode?: PermissionMode];

const ground = createGround();
after(() => ground.remove());

function policyOf(allow: string[], deny: string[], mode: PermissionMode = "default"): Policy {
  return ground.policy({ mode, allow: toRules(allow), deny: toRules(deny) });
}

function judge([command, , allow, deny, mode]: Row): Promise<Decision> {
  return ground.judge(command, { allow: toRules(allow), deny: toRules(deny), mode: mode ?? "default" });
}

function itDecides(fact: string, rows: readonly Row[]): void {
  itHolds(fact, rows, async (row) => {
    const { effect, reason } = await judge(row);
    return effect === row[1] ? undefined : `${JSON.stringify(row).slice(0, 200)}: ${effect}, ${reason}`;
  });
}

const { lookers, doers, ruled } = JSON.parse(
  readFileSync(join(process.env["OUTRIDER_ROOT"] ?? process.cwd(), "test/fixtures/commands.json"), "utf8"),
) as { lookers: string[]; doers: string[]; ruled: Row[] }; // our own file

/** Beyond what is looked at: forbidden where rules forbid something, asked about elsewhere. */
const oversized: Row[] = [
  [`${"env ".repeat(200)}rm x`, "deny", ["Bash(*)"], ["Bash(rm:*)"]],
  [`echo ${"a".repeat(200_000)}`, "deny", ["Bash(*)"], ["Bash(rm:*)"]],
  [`echo ${"a".repeat(200_000)}`, "ask", ["Bash(echo:*)"], []],
  [`${"$(".repeat(500)}rm${")".repeat(500)}`, "deny", ["Bash(*)"], ["Bash(rm:*)"]],
];

const ways = [
  "rm y",
  "cd x && rm y",
  "ls; rm y",
  "ls | rm y",
  "echo $(rm y)",
  "echo `rm y`",
  "A=1 rm y",
  "(rm y)",
  "ls\nrm y",
  "! rm y",
];

describe("a command", () => {
  itDecides(
    "that only looks at the project is not asked about",
    lookers.map((command) => [command, "allow", [], []]),
  );
  itDecides(
    "that may do more is asked about",
    doers.map((command) => [command, "ask", [], []]),
  );
  itDecides("is allowed when every part is, and forbidden when one part is", [...ruled, ...oversized]);
  itDecides(
    "is forbidden however the program is written or started",
    ways.map((command) => [command, "deny", [], ["Bash(rm:*)"], "bypassPermissions"]),
  );

  it("needs a question for git where no git can be kept from obeying a repository", async () => {
    const action = { tool: "Bash", kind: "run", resource: "git status" } as const;
    assert.equal((await decide({ ...policyOf([], []), inertGit: undefined }, [action])).effect, "ask");
    assert.equal((await decide({ ...policyOf(["Bash(git status:*)"], []), inertGit: undefined }, [action])).effect, "allow");
  });

  it("starts where the last one ended", async () => {
    const action = { tool: "Bash", kind: "run", resource: "cat ../.env", cwd: `${ground.root}/src` } as const;
    assert.equal((await decide(policyOf([], []), [action])).effect, "allow");
    assert.equal((await decide(policyOf([], ["Read(./.env)"]), [action])).effect, "deny");
    assert.equal((await decide(policyOf([], []), [{ ...action, cwd: ground.root }])).effect, "ask");
  });

  it("is judged by where links lead", async () => {
    const root = await realpath(await mkdtemp(join(tmpdir(), "outrider-links-")));
    try {
      await mkdir(join(root, "src"));
      await writeFile(join(root, ".env"), "");
      await symlink("/etc", join(root, "out"));
      await symlink("../.env", join(root, "src/notes.txt"));
      const policy: Policy = { ...policyOf([], ["Read(./.env)"], "acceptEdits"), base: { root, home: undefined } };
      const rows: [string, string][] = [
        ["cat src/a", "allow"],
        ["cat src/notes.txt", "deny"],
        ["cat out/passwd", "ask"],
        ["cat src/../out/../etc/passwd", "ask"],
        ["cd out && cat passwd", "ask"],
        ["cd out && cat ../x", "ask"],
        ["echo x > out/x", "ask"],
        ["echo x > src/x", "allow"],
        ["cp src/a out/b", "ask"],
      ];
      for (const [resource, expected] of rows) {
        const { effect, reason } = await decide(policy, [{ tool: "Bash", kind: "run", resource }], resolveExisting);
        assert.equal(effect, expected, `${resource}: ${reason}`);
      }
    } finally {
      await rm(root, { recursive: true });
    }
  });
});
