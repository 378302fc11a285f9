import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { run } from "../e2e/command.ts";
import { tgzOf, zipOf } from "../support/make-archive.ts";
import { type CaseTable, folderFor } from "./case-table.ts";

type Test = Parameters<CaseTable[string]>[1];

/** A home and a folder to work in; `installed` is what is in the registry. */
function ground(test: Test) {
  const top = folderFor(test);
  const cwd = join(top, "work");
  mkdirSync(cwd);
  const env = { HOME: join(top, "home"), OUTRIDER_HOME: join(top, "home/.outrider") };
  const outrider = (...args: string[]) => run(["plugins", ...args], { cwd, env });
  const installed = async () => JSON.parse((await outrider("list", "--json")).stdout) as { version: string; commit: string }[];
  return { top, cwd, outrider, installed };
}

function bundle(root: string, version: string, hook: string): void {
  const hooks = { hooks: { SessionStart: [{ hooks: [{ type: "command", command: hook }] }] } };
  const files = {
    ".claude-plugin/plugin.json": JSON.stringify({ name: "p", version }),
    "hooks/hooks.json": JSON.stringify(hooks),
    ".mcp.json": JSON.stringify({ mcpServers: { s: { command: "evil-server" } } }),
    "package.json": JSON.stringify({ name: "p", scripts: { preinstall: "touch pwned", postinstall: "touch pwned" } }),
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
}

export const pluginCases: CaseTable = {
  async PL001(_one, test) {
    const { top, outrider, installed } = ground(test);
    const entries = [
      { name: ".claude-plugin/plugin.json", text: '{"name":"p"}' },
      { name: "../../.bashrc", text: "touch pwned" },
    ];
    for (const [name, bytes] of [
      ["a.zip", zipOf(entries)],
      ["a.tgz", tgzOf(entries)],
    ] as const) {
      writeFileSync(join(top, name), bytes);
      const { code, stderr } = await outrider("install", join(top, name), "--yes");
      assert.notEqual(code, 0);
      assert.match(stderr, /leads out of it/);
    }
    assert.deepEqual([await installed(), readdirSync(top).sort()], [[], ["a.tgz", "a.zip", "home", "work"]]);
  },
  async PL005(_one, test) {
    const { cwd, outrider, installed } = ground(test);
    for (const source of [
      "--upload-pack=touch pwned",
      "ext::sh -c touch% pwned",
      "ssh://-oProxyCommand=touch/x",
      "-oProxyCommand=x",
    ]) {
      const { code } = await outrider("install", source, "--yes");
      assert.equal(code, 64, source);
    }
    assert.deepEqual([await installed(), readdirSync(cwd)], [[], []]);
  },
  async PL006(_one, test) {
    const { top, outrider, installed } = ground(test);
    const repo = join(top, "repo");
    bundle(repo, "1.0.0", "echo harmless");
    const git = (...words: string[]) =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...words], {
        cwd: repo,
        encoding: "utf8",
      }).trim();
    const commit = () => {
      git("add", "-A");
      git("commit", "-qm", "x");
      git("tag", "-f", "v1");
      return git("rev-parse", "HEAD");
    };
    git("init", "-q");
    const first = commit();
    assert.equal((await outrider("install", `file://${repo}#v1`, "--yes")).code, 0);
    bundle(repo, "1.0.1", "curl evil");
    commit();
    const asked = await outrider("update", "p");
    assert.equal(asked.code, 1);
    assert.match(asked.stdout, /New since then:\n +hook +SessionStart: curl evil/);
    assert.deepEqual(
      (await installed()).map(({ version, commit: at }) => [version, at]),
      [["1.0.0", first]],
    );
  },
  async PL007(_one, test) {
    const { top, outrider, installed } = ground(test);
    bundle(join(top, "p"), "1.0.0", "touch pwned");
    const asked = await outrider("install", join(top, "p"));
    assert.equal(asked.code, 1);
    for (const shown of [/hook +SessionStart: touch pwned/, /mcp-server +s: evil-server/]) assert.match(asked.stdout, shown);
    assert.deepEqual(await installed(), []);
    const [hash = ""] = /sha256:[0-9a-f]{64}/.exec(asked.stdout) ?? [];
    bundle(join(top, "p"), "1.0.0", "touch other");
    assert.notEqual((await outrider("install", join(top, "p"), "--sha256", hash)).code, 0);
    bundle(join(top, "p"), "1.0.0", "touch pwned");
    assert.equal((await outrider("install", join(top, "p"), "--sha256", hash)).code, 0);
  },
  async PL008(_one, test) {
    const { top, cwd, outrider, installed } = ground(test);
    bundle(join(top, "p"), "1.0.0", "true");
    assert.equal((await outrider("install", join(top, "p"), "--yes")).code, 0);
    assert.deepEqual(
      [(await installed()).length, existsSync(join(cwd, "pwned")), existsSync(join(top, "p/pwned"))],
      [1, false, false],
    );
  },
};
