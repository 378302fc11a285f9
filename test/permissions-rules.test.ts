import assert from "node:assert/strict";
import { linkSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { decide } from "../packages/runtime/src/permissions/decide.ts";
import type { Policy } from "../packages/runtime/src/permissions/policy.ts";
import { parseRule } from "../packages/runtime/src/permissions/rules.ts";
import { listFolder } from "./support/command-ground.ts";
import { itHolds } from "./support/it-holds.ts";
import { isPermissionMode } from "../packages/runtime/src/protocol/permission.ts";

/** One line of the fixture. `no`: asked about or denied, whichever. */
type Line = {
  readonly command: string;
  readonly expected: "allow" | "ask" | "deny" | "no";
  readonly why: string;
  readonly allow?: string[];
  readonly ask?: string[];
  readonly deny?: string[];
  readonly mode?: string;
};

const fixture = join(process.env["OUTRIDER_ROOT"] ?? process.cwd(), "test/fixtures/rule-cases.jsonl");
const lines = readFileSync(fixture, "utf8")
  .split("\n")
  .filter(Boolean)
  .map((line) => JSON.parse(line) as Line); // our own file

const top = realpathSync(mkdtempSync(join(tmpdir(), "outrider-rules-")));
const root = join(top, "proj");
const home = join(top, "home");
after(() => rmSync(top, { recursive: true, force: true }));

describe("what a rule covers", () => {
  prepare();
  for (const why of new Set(lines.map((line) => line.why)))
    itHolds(
      why,
      lines.filter((one) => one.why === why),
      async (line) => {
        const { effect, reason } = await decide(policyOf(line), [{ tool: "Bash", kind: "run", resource: line.command }], follow);
        const fits = line.expected === "no" ? effect !== "allow" : effect === line.expected;
        return fits ? undefined : `${JSON.stringify({ ...line, why: undefined })}: ${effect}, ${reason}`;
      },
    );

  it("is tried on many cases", () => {
    assert.ok(lines.length >= 300, `${lines.length} cases`);
  });
});

function policyOf({ allow = [], ask = [], deny = [], mode }: Line): Policy {
  const toRules = (texts: string[]) => texts.map((text) => parseRule(text));
  return {
    mode: isPermissionMode(mode) ? mode : "default",
    allow: toRules(allow),
    ask: toRules(ask),
    deny: toRules(deny),
    base: { root, home },
    readable: [],
    inertGit: async () => "/inert",
    listFolder: async (folder) => listFolder(folder),
  };
}

/** A project with something to protect, and a home beside it. */
function prepare(): void {
  const worktree = ".outrider/worktrees/w";
  const folders = [
    "src/deep",
    "secrets",
    "docs",
    "empty",
    ".git/hooks",
    ".outrider/plans",
    `${worktree}/src`,
    `${worktree}/secrets`,
  ];
  for (const folder of folders) mkdirSync(join(root, folder), { recursive: true });
  mkdirSync(join(home, ".ssh"), { recursive: true });
  for (const file of [
    ".env",
    "a.txt",
    "b.txt",
    "x.txt",
    "src/a.ts",
    "src/b.ts",
    "secrets/key.txt",
    "docs/readme.md",
    ".git/config",
    `${worktree}/secrets/key.txt`,
    `${worktree}/src/a.ts`,
  ])
    writeFileSync(join(root, file), "x\n");
  writeFileSync(join(home, ".ssh/id_rsa"), "x\n");
  symlinkSync("../.env", join(root, "docs/link.txt"));
  symlinkSync("secrets", join(root, "open"));
  symlinkSync(".git", join(root, "gitl"));
  mkdirSync(join(top, "outside"));
  symlinkSync("../outside", join(root, "outlink"));
  writeFileSync(join(top, "outside/secret.txt"), "x\n");
  linkSync(join(root, ".env"), join(root, "hard.txt"));
}

async function follow(path: string): Promise<string> {
  return realpath(path).catch(async () =>
    path === dirname(path) ? path : join(await follow(dirname(path)), path.slice(dirname(path).length)),
  );
}
