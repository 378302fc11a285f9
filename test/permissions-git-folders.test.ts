import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { decide } from "../packages/runtime/src/permissions/decide.ts";
import type { Decision, Policy } from "../packages/runtime/src/permissions/policy.ts";
import { bashTool } from "../packages/runtime/src/tools/builtin/bash.ts";
import { createToolMemory } from "../packages/runtime/src/tools/tool.ts";
import { createLocalWorkspace } from "../packages/runtime/src/workspace/local.ts";
import { listFolder, resolveExisting, toRules } from "./support/command-ground.ts";

const top = realpathSync(mkdtempSync(join(tmpdir(), "outrider-git-folders-")));
after(() => rmSync(top, { recursive: true, force: true }));
const env = { PATH: process.env["PATH"] ?? "", HOME: top };
let count = 0;

type Place = { readonly root: string; readonly mark: string };

/** A project whose folder `at` git takes for a repository that runs a program. */
function place(at: string, { own = true } = {}): Place {
  const root = join(top, `project-${count++}`);
  const mark = `${root}.mark`;
  mkdirSync(root);
  if (own) spawnSync("git", ["init", "-q"], { cwd: root, env });
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, at, path)), { recursive: true });
    writeFileSync(join(root, at, path), text);
  };
  write("HEAD", "ref: refs/heads/main\n");
  write("config", `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = touch ${mark}\n`);
  write("objects/x", "x");
  write("refs/x", "x");
  write("deep/x", "x");
  return { root, mark };
}

function policyIn(root: string, given: Partial<Policy>): Policy {
  const base = { root, home: top };
  return {
    ...{ mode: "default", allow: [], ask: [], deny: [], base, readable: [] },
    listFolder: async (folder) => listFolder(folder),
    ...given,
  };
}

const judge = (root: string, command: string, given: Partial<Policy>, cwd = root): Promise<Decision> =>
  decide(policyIn(root, given), [{ tool: "Bash", kind: "run", resource: command, cwd }], resolveExisting);

async function runIn(root: string, command: string, { git }: Partial<Decision>, cwd = root): Promise<string> {
  const workspace = createLocalWorkspace({ root, env, overflowDirectory: join(top, `overflow-${count++}`) });
  const memory = createToolMemory();
  memory.slot("bash.cwd", () => ({ directory: cwd, record: undefined, readAt: 0 }));
  const context = { callId: "c", workspace, memory, signal: AbortSignal.timeout(60_000), progress() {}, git };
  const { content } = await bashTool.execute({ command }, context);
  await workspace.close();
  return JSON.stringify(content);
}

describe("a rule for git is not about a folder that looks like a repository:", () => {
  const asked: [command: string, at: string, from?: string][] = [
    ["cd src/b && git status", "src/b"],
    ["git -C src/b status", "src/b"],
    ["git -C src -C b status", "src/b"],
    ["cd src/b/deep && git status", "src/b"],
    ["cd src/b && timeout 5 git status", "src/b"],
    ["git status", "."],
    ["git status", "src/b", "src/b"],
  ];
  for (const [command, at, from = "."] of asked)
    it(`asks about ${command} in ${from}, with one in ${at}`, async () => {
      const { root, mark } = place(at, { own: at !== "." });
      const cwd = join(root, from);
      for (const rule of ["Bash(git:*)", "Bash(git status:*)", "Bash(git -C:*)"]) {
        const { effect } = await judge(root, command, { allow: toRules([rule]) }, cwd);
        assert.equal(effect, "ask", rule);
      }
      await runIn(root, command, {}, cwd);
      assert.equal(existsSync(mark), true, "with a git that obeys");
    });

  const run: [command: string, rules: string[], from?: string][] = [
    ["git status", ["Bash(git status)"], "src/b"],
    ['d=$(printf src/b); cd "$d"; git status', ["Bash(git:*)", "Bash(cd:*)"]],
    ["mv src/b src/c; cd src/c && git status", ["Bash(git:*)", "Bash(mv:*)"]],
    ["unset GIT_CONFIG_COUNT; cd src/b; git status", ["Bash(unset GIT_CONFIG_COUNT; cd src/b; git status)"]],
  ];
  for (const [command, rules, from = "."] of run)
    it(`runs nothing of it where it is not seen before: ${command}`, async () => {
      const { root, mark } = place("src/b");
      const cwd = join(root, from);
      const decision = await judge(root, command, { allow: toRules(rules) }, cwd);
      if (decision.effect === "allow") await runIn(root, command, decision, cwd);
      assert.equal(existsSync(mark), false);
      await runIn(root, command, {}, cwd);
      assert.equal(existsSync(mark), true, "with a git that obeys");
    });

  it("works as ever in the project's own repository, beside configuration of the environment", async () => {
    const { root } = place("src/b");
    const allow = toRules(["Bash(git:*)"]);
    for (const command of ["git status --short", "cd src && git status --short"]) {
      const decision = await judge(root, command, { allow });
      assert.equal(decision.effect, "allow", decision.reason);
      assert.match(await runIn(root, command, decision), /\?\? /);
    }
  });
});

describe("files that make a folder look like a repository", () => {
  const write = (root: string, paths: readonly string[], given: Partial<Policy> = { mode: "acceptEdits" }): Promise<Decision> =>
    decide(
      policyIn(root, given),
      paths.map((path) => ({ tool: "Write", kind: "edit", resource: join(root, path) })),
    );

  it("are protected as those in .git are", async () => {
    const { root } = place("src/b");
    const names = ["HEAD", "config", "hooks/post-update", "objects/info/alternates", "refs/heads/main", "commondir", "Config"];
    const allow = toRules(["Edit(./src/**)"]);
    for (const name of names)
      for (const given of [{ allow }, { mode: "acceptEdits" }, { mode: "sandboxed" }] as const)
        assert.equal((await write(root, [`src/b/${name}`], given)).effect, "deny", name);
    for (const command of ["echo x > src/b/config", "cp a src/b/hooks/x", "touch src/b/commondir"])
      assert.equal((await judge(root, command, { allow: toRules(["Bash(cp:*)"]), mode: "acceptEdits" })).effect, "deny", command);
    assert.equal((await write(root, ["src/b/deep/x"])).effect, "allow");
    assert.equal((await write(root, ["src/b/config"], { mode: "bypassPermissions" })).effect, "allow");
    assert.equal((await write(root, ["src/b/config"], { allow: toRules(["Edit(./src/b/config)"]) })).effect, "allow");
  });

  it("are protected where one would complete it, and several in one call", async () => {
    for (const at of ["src/b", "."]) {
      const { root } = place(at);
      rmSync(join(root, at, "refs"), { recursive: true });
      assert.equal((await write(root, [join(at, "refs/x")])).effect, "deny");
      assert.equal((await judge(root, `mkdir ${at}/refs`, { mode: "acceptEdits" })).effect, "deny");
      assert.equal((await write(root, [join(at, "config")])).effect, "allow", "not yet one");
    }
    const { root } = place("src/b");
    assert.equal((await write(root, ["new/HEAD", "new/objects/x", "new/refs/x"])).effect, "deny");
    assert.equal((await write(root, ["new/HEAD", "new/commondir"])).effect, "deny");
  });

  it("are ordinary ones elsewhere", async () => {
    const { root } = place("src/b");
    for (const path of ["config", "src/config", "src/hooks/use.ts", "src/objects/a.ts", "src/refs/a.ts", "HEAD", "info/a"])
      assert.equal((await write(root, [path])).effect, "allow", path);
  });
});
