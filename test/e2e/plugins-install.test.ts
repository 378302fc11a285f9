import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { tgzOf } from "../support/make-archive.ts";
import { lines, model, projectRoot, run, start, tempFolder } from "./command.ts";

/** A home, a folder to work in and a model that says one word, again and again. */
async function place() {
  const top = realpathSync(tempFolder("install"));
  const [cwd, home] = [join(top, "work"), join(top, "home")];
  for (const folder of [cwd, home]) mkdirSync(folder);
  const made = await model(() => ({ text: "done" }), join(home, ".outrider"));
  const env = { ...made.env, HOME: home };
  const outrider = (...args: string[]) => run(args, { cwd, env });
  const good = async (...args: string[]) => {
    const ended = await outrider(...args);
    assert.equal(ended.code, 0, ended.stderr);
    return ended.stdout;
  };
  return { top, cwd, home, env, outrider, good };
}

type Place = Awaited<ReturnType<typeof place>>;

function write(root: string, name: string, content: string | object): void {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), typeof content === "string" ? content : JSON.stringify(content));
}

const example = join(projectRoot, "examples/plugin");

/** A small bundle with one command and one hook. */
function bundle(root: string, { name = "small", version = "1.0.0", hook = "true" } = {}): string {
  write(root, ".claude-plugin/plugin.json", { name, version });
  write(root, "commands/c.md", `FX ${version}`);
  write(root, "hooks/hooks.json", { hooks: { SessionStart: [{ hooks: [{ type: "command", command: hook }] }] } });
  return root;
}

function git(cwd: string, ...words: string[]): string {
  const who = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"];
  return execFileSync("git", [...who, ...words], {
    cwd,
    encoding: "utf8",
    env: { PATH: process.env["PATH"] ?? "", HOME: cwd },
  }).trim();
}

function commit(repo: string): string {
  if (!existsSync(join(repo, ".git"))) git(repo, "init", "-q");
  git(repo, "add", "-A");
  git(repo, "commit", "-qm", "x");
  return git(repo, "rev-parse", "HEAD");
}

/** Names and contents, but for what runs leave: compiled code, journals, the audit log, whether the sandbox works. */
function treeOf(folder: string): string[] {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const path = join(entry.parentPath, entry.name);
    if (/\.outrider\/(?:cache|sessions|audit|overflow|sandbox-works)(?:\.json|\/|$)/.test(path)) return [];
    return [`${path} ${entry.isFile() ? createHash("sha256").update(readFileSync(path)).digest("hex") : ""}`];
  });
  return found.sort();
}

type Row = {
  readonly id: string;
  readonly version: string;
  readonly state: string;
  readonly commit: string;
  readonly path: string;
};

async function installed({ good }: Place): Promise<Row[]> {
  return JSON.parse(await good("plugins", "list", "--json")) as Row[];
}

async function pluginsOf({ good }: Place): Promise<string[]> {
  const frames = lines(await good("-p", "go", "--output-format", "stream-json", "--verbose"));
  const init = frames.find(({ subtype }) => subtype === "init") as { plugins: { source: string }[] } | undefined;
  return (init?.plugins ?? []).map(({ source }) => source);
}

describe("an installed plugin", () => {
  it("is shown and asked about, counts until it is disabled, and leaves nothing when it is removed", async () => {
    const ground = await place();
    mkdirSync(join(ground.home, ".outrider"), { recursive: true });
    await ground.good("plugins", "list");
    const before = treeOf(ground.home);
    const asked = await ground.outrider("plugins", "install", example);
    assert.equal(asked.code, 1);
    for (const shown of ["PreToolUse (Bash):", "clock: node", "bin/demo-hello", "sha256:"])
      assert.ok(asked.stdout.includes(shown), shown);
    assert.deepEqual(treeOf(ground.home), before);
    const [hash = ""] = /sha256:[0-9a-f]{64}/.exec(asked.stdout) ?? [];
    const wrong = await ground.outrider("plugins", "install", example, "--sha256", "0".repeat(64));
    assert.match(wrong.stderr, /was accepted/);
    assert.deepEqual(treeOf(ground.home), before);
    await ground.good("plugins", "install", example, "--sha256", hash);
    assert.deepEqual(
      (await installed(ground)).map(({ id, state }) => [id, state]),
      [["demo@direct", "enabled"]],
    );
    assert.deepEqual(await pluginsOf(ground), ["demo@direct"]);
    await ground.good("plugins", "disable", "demo");
    assert.deepEqual([(await installed(ground))[0]?.state, await pluginsOf(ground)], ["disabled", []]);
    await ground.good("plugin", "enable", "demo@direct");
    assert.deepEqual(await pluginsOf(ground), ["demo@direct"]);
    rmSync(join(ground.home, ".outrider/plugins/data"), { recursive: true, force: true });
    await ground.good("plugins", "uninstall", "demo");
    assert.deepEqual(treeOf(ground.home), before);
  });

  it("shows every hook before it is accepted, also beside one that settings keep from sending", async () => {
    const ground = await place();
    const path = bundle(join(ground.top, "small"), { hook: "run-me" });
    const http = { type: "http", url: "https://hooks.example.com/x" };
    write(path, "hooks/hooks.json", { hooks: { Stop: [{ hooks: [{ type: "command", command: "run-me" }, http] }] } });
    const asked = await ground.outrider("plugins", "install", path);
    for (const shown of ["Stop: run-me", "Stop: https://hooks.example.com/x", "Note: hooks/hooks.json: a hook of Stop goes to"])
      assert.ok(asked.stdout.includes(shown), asked.stdout);
    await ground.good("plugins", "install", path, "--yes");
    assert.match(await ground.good("plugins", "show", "small"), /Stop: run-me/);
    write(ground.home, ".outrider/settings.json", {
      enabledPlugins: { "small@direct": true },
      allowedHttpHookUrls: ["hooks.example.com"],
    });
    assert.doesNotMatch(await ground.good("plugins", "show", "small"), /never runs/);
    assert.equal((await ground.outrider("plugins", "validate", path)).code, 0);
  });

  it("begins with one that loads as it is, and what means nothing here is refused with what to do", async () => {
    const ground = await place();
    await ground.good("plugins", "init", "fresh");
    assert.match(await ground.good("plugins", "validate", "./fresh"), /^It runs nothing\.$/m);
    assert.match(await ground.good("-p", "/fresh:hello you", "--plugin-dir", "fresh"), /done/);
    const again = await ground.outrider("plugins", "init", "fresh");
    assert.deepEqual([again.code, /is not empty; nothing was written/.test(again.stderr)], [64, true]);
    assert.equal((await ground.outrider("plugins", "init", "no name")).code, 64);
    for (const [action, words] of [
      ["prune", /plugins remove NAME/],
      ["tag", /git tag NAME--vVERSION/],
      ["test", /plugins validate DIR/],
      ["eval", /outrider batch/],
    ] as const) {
      const { code, stderr } = await ground.outrider("plugins", action);
      assert.equal(code, 64);
      assert.match(stderr, words);
    }
  });

  it("does not count when a file of it was changed, until that is accepted", async () => {
    const ground = await place();
    await ground.good("plugins", "install", bundle(join(ground.top, "small")), "--yes");
    const [{ path = "" } = {}] = await installed(ground);
    appendFileSync(join(path, "commands/c.md"), " and more");
    const ended = await ground.outrider("-p", "go", "--output-format", "stream-json", "--verbose");
    assert.match(ended.stdout, /its files have changed since it was installed/);
    assert.equal((await installed(ground))[0]?.state, "changed since it was accepted");
    await ground.good("plugins", "update", "small", "--yes");
    assert.deepEqual(await pluginsOf(ground), ["small@direct"]);
  });

  it("shows on an update what would run that does not run yet, and takes nothing older unasked", async () => {
    const ground = await place();
    const folder = join(ground.top, "small");
    await ground.good("plugins", "install", bundle(folder, { version: "1.9.0", hook: "echo old" }), "--yes");
    bundle(folder, { version: "1.10.0", hook: "echo new" });
    const asked = await ground.outrider("plugins", "update", "small");
    assert.equal(asked.code, 1);
    assert.match(asked.stdout, /New since then:\n +hook +SessionStart: echo new\nNo longer:\n +hook +SessionStart: echo old/);
    assert.equal((await installed(ground))[0]?.version, "1.9.0");
    await ground.good("plugins", "update", "small", "--yes");
    bundle(folder, { version: "1.10.0-rc.1" });
    const older = await ground.outrider("plugins", "update", "small", "--yes");
    assert.match(older.stderr, /would become older: 1\.10\.0-rc\.1 after 1\.10\.0/);
    await ground.good("plugins", "update", "small", "--yes", "--older");
    assert.deepEqual(
      (await installed(ground)).map(({ version }) => version),
      ["1.10.0-rc.1"],
    );
    assert.equal(readdirSync(join(ground.home, ".outrider/plugins/cache/direct/small")).length, 1);
  });

  it("is whole or absent when its installation is killed, and the next one cleans up", async () => {
    const ground = await place();
    const home = join(ground.home, ".outrider/plugins");
    for (const sign of ["lock", "staging", "cache", "installed_plugins.json"]) {
      rmSync(home, { recursive: true, force: true });
      const { child, done } = start(["plugins", "install", example, "--yes"], { cwd: ground.cwd, env: ground.env });
      while (child.exitCode === null && !existsSync(join(home, sign))) await new Promise((resolve) => setImmediate(resolve));
      child.kill("SIGKILL");
      await done;
      const rows = await installed(ground);
      for (const { state } of rows) assert.notEqual(state, "changed since it was accepted", sign);
      const { stdout } = await ground.outrider("-p", "go", "--output-format", "stream-json", "--verbose");
      assert.doesNotMatch(stdout, /plugin_errors/, sign);
      await ground.good("plugins", "install", example, "--yes");
      assert.deepEqual(
        (await installed(ground)).map(({ id }) => id),
        ["demo@direct"],
      );
      assert.deepEqual(
        readdirSync(home).filter((name) => name === "staging" || name === "lock"),
        [],
      );
      assert.equal(readdirSync(join(home, "cache/direct/demo")).length, 1);
      await ground.good("plugins", "remove", "demo");
    }
  });

  it("is there once, with the other, when two are installed at once", async () => {
    const ground = await place();
    const folders = ["one", "two", "three"].map((name) => bundle(join(ground.top, name), { name }));
    const ended = await Promise.all(folders.map((folder) => ground.outrider("plugins", "install", folder, "--yes")));
    assert.deepEqual(
      ended.map(({ code }) => code),
      [0, 0, 0],
      ended.map(({ stderr }) => stderr).join(""),
    );
    assert.deepEqual((await installed(ground)).map(({ id }) => id).sort(), ["one@direct", "three@direct", "two@direct"]);
  });

  it("of a project counts once the project is trusted, and asks again when it changes", async () => {
    const ground = await place();
    mkdirSync(join(ground.cwd, ".git"));
    await ground.good("plugins", "install", bundle(join(ground.top, "small")), "--yes", "--scope", "project");
    assert.deepEqual(await pluginsOf(ground), []);
    await ground.good("trust", "--yes");
    assert.deepEqual(await pluginsOf(ground), ["small@direct"]);
    const cached = join(ground.cwd, ".outrider/plugins/cache/direct/small");
    appendFileSync(join(cached, readdirSync(cached)[0] ?? "", "commands/c.md"), "!");
    assert.deepEqual(await pluginsOf(ground), []);
  });
});

describe("a plugin from a repository", () => {
  it("is the branch, tag or commit that was asked for, and stays it when the source moves", async () => {
    const ground = await place();
    const repo = join(ground.top, "repo");
    bundle(repo, { version: "1.0.0" });
    const first = commit(repo);
    git(repo, "tag", "v1");
    bundle(repo, { version: "2.0.0" });
    const second = commit(repo);
    git(repo, "checkout", "-q", "-b", "next");
    bundle(repo, { version: "3.0.0" });
    const third = commit(repo);
    git(repo, "checkout", "-q", "main");
    const url = `file://${repo}`;
    for (const [source, version, at] of [
      [url, "2.0.0", second],
      [`${url}#v1`, "1.0.0", first],
      [`${url}#next`, "3.0.0", third],
      [`${url}#${first}`, "1.0.0", first],
    ] as const) {
      await ground.good("plugins", "install", source, "--yes", "--older");
      const [row] = await installed(ground);
      assert.deepEqual([row?.version, row?.commit], [version, at], source);
      assert.equal(existsSync(join(row?.path ?? "", ".git")), false);
    }
    git(repo, "tag", "-f", "v1", second);
    assert.equal((await installed(ground))[0]?.version, "1.0.0");
    await ground.good("plugins", "update", "--yes");
    assert.equal((await installed(ground))[0]?.version, "1.0.0"); // a commit stays what it is
  });

  it("runs nothing that the repository names, and fetches no submodule", async () => {
    const ground = await place();
    const [repo, inner, pwned] = [join(ground.top, "repo"), join(ground.top, "inner"), join(ground.top, "pwned")];
    write(inner, "evil.md", "x");
    commit(inner);
    bundle(repo);
    write(repo, ".gitattributes", "* filter=evil diff=evil merge=evil\n");
    write(repo, ".githooks/post-checkout", `#!/bin/sh\ntouch ${pwned}\n`);
    git(repo, "init", "-q");
    git(repo, "-c", "protocol.file.allow=always", "submodule", "add", "-q", `file://${inner}`, "skills/inner");
    commit(repo);
    for (const name of ["post-checkout", "post-upload-pack"]) write(repo, `.git/hooks/${name}`, `#!/bin/sh\ntouch ${pwned}\n`);
    write(ground.home, ".gitconfig", `[filter "evil"]\n  smudge = touch ${pwned}\n[core]\n  hooksPath = ${repo}/.githooks\n`);
    await ground.good("plugins", "install", `file://${repo}`, "--yes");
    const [row] = await installed(ground);
    assert.deepEqual([existsSync(pwned), existsSync(join(row?.path ?? "", "skills/inner/evil.md"))], [false, false]);
  });
});

describe("marketplaces", () => {
  const list = (name: string, plugins: object[]) => ({ name, owner: { name: "o" }, plugins });

  it("are added, searched by name, keyword and category, installed from, updated and removed", async () => {
    const ground = await place();
    const [one, two] = [join(ground.top, "one"), join(ground.top, "two")];
    bundle(join(one, "plugins/small"), { version: "1.0.0" });
    write(join(one, "plugins/bare"), "commands/b.md", "FX");
    write(
      one,
      ".claude-plugin/marketplace.json",
      list("first", [
        { name: "small", source: "./plugins/small", description: "Does little", category: "chores" },
        { name: "bare", source: "./plugins/bare", version: "0.9.0", keywords: ["empty"] },
      ]),
    );
    bundle(join(two, "p"), { name: "other" });
    write(two, ".claude-plugin/marketplace.json", list("second", [{ name: "other", source: "./p", tags: ["chores"] }]));
    commit(two);
    await ground.good("plugins", "marketplace", "add", one);
    await ground.good("plugins", "marketplace", "add", `file://${two}`);
    assert.match(await ground.good("plugins", "marketplace", "list"), /^first .*\nsecond /);
    const found = async (...words: string[]) =>
      (JSON.parse(await ground.good("plugins", "search", ...words, "--json")) as { name: string }[]).map(({ name }) => name);
    assert.deepEqual(
      [await found("chores"), await found("empty"), await found("SMALL"), await found("nothing")],
      [["small", "other"], ["bare"], ["small"], []],
    );
    for (const id of ["small@first", "bare@first", "other@second"]) await ground.good("plugins", "install", id, "--yes");
    assert.deepEqual((await pluginsOf(ground)).sort(), ["bare@first", "other@second", "small@first"]);
    assert.deepEqual(
      (await installed(ground)).map(({ version }) => version),
      ["1.0.0", "0.9.0", "1.0.0"],
    );
    bundle(join(two, "p"), { name: "other", version: "1.1.0" });
    commit(two);
    await ground.good("plugins", "update", "other", "--yes");
    assert.equal((await installed(ground)).find(({ id }) => id === "other@second")?.version, "1.1.0");
    rmSync(one, { recursive: true });
    const broken = await ground.outrider("plugins", "search", "--json");
    assert.deepEqual([broken.code, JSON.parse(broken.stdout).length], [0, 1]);
    assert.match(broken.stderr, /first: .* is not there/);
    await ground.good("plugins", "marketplace", "remove", "first");
    await ground.good("plugins", "marketplace", "remove", "second");
    assert.match(await ground.good("plugins", "marketplace", "list"), /No marketplace/);
  });

  it("that settings name are known, and fetched only when something of them is wanted", async () => {
    const ground = await place();
    const market = join(ground.top, "market");
    bundle(join(market, "p"));
    write(market, ".claude-plugin/marketplace.json", list("declared", [{ name: "small", source: "./p" }]));
    const source = { source: "directory", path: market };
    write(ground.home, ".outrider/settings.json", { extraKnownMarketplaces: { declared: { source } } });
    assert.match(await ground.good("plugins", "marketplace", "list"), /^declared {2}not fetched/);
    await ground.good("plugins", "install", "small@declared", "--yes");
    assert.deepEqual(await pluginsOf(ground), ["small@declared"]);
  });

  it("may name an archive with its hash, and a package of a registry, whose scripts never run", async () => {
    const ground = await place();
    const files = (name: string) => [
      { name: `package/.claude-plugin/plugin.json`, text: JSON.stringify({ name, version: "1.0.0" }) },
      { name: "package/package.json", text: JSON.stringify({ name, scripts: { postinstall: "touch pwned" } }) },
    ];
    const [archive, tarball] = [tgzOf(files("arc")), tgzOf(files("pack"))];
    const server = createServer((request, response) => {
      const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
      if (request.url === "/arc.tgz") response.end(archive);
      else if (request.url === "/pack.tgz") response.end(tarball);
      else if (request.url === "/pack/latest") response.end(JSON.stringify({ dist: { tarball: `${url}/pack.tgz`, integrity } }));
      else response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const sha256 = createHash("sha256").update(archive).digest("hex");
    const market = join(ground.top, "market");
    write(
      market,
      ".claude-plugin/marketplace.json",
      list("net", [
        { name: "arc", source: { source: "archive", url: `${url}/arc.tgz`, sha256 } },
        { name: "wrong", source: { source: "archive", url: `${url}/arc.tgz`, sha256: "0".repeat(64) } },
        { name: "pack", source: { source: "npm", package: "pack", registry: url } },
      ]),
    );
    try {
      await ground.good("plugins", "marketplace", "add", market);
      await ground.good("plugins", "install", "arc@net", "--yes");
      await ground.good("plugins", "install", "pack@net", "--yes");
      assert.match((await ground.outrider("plugins", "install", "wrong@net", "--yes")).stderr, /was promised/);
      assert.deepEqual((await pluginsOf(ground)).sort(), ["arc@net", "pack@net"]);
      assert.equal(existsSync(join(ground.cwd, "pwned")), false);
    } finally {
      server.close();
    }
  });
});

describe("a plugin in an archive", () => {
  it("counts for the run that names its file or its address, and nothing is left of it", async () => {
    const ground = await place();
    const archive = tgzOf([
      { name: "arc/.claude-plugin/plugin.json", text: JSON.stringify({ name: "arc", version: "1.0.0" }) },
      { name: "arc/skills/go/SKILL.md", text: "FX GO" },
    ]);
    const server = createServer((request, response) => {
      if (request.url === "/arc.tgz") response.end(archive);
      else response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const sha256 = createHash("sha256").update(archive).digest("hex");
    writeFileSync(join(ground.cwd, "arc.tgz"), archive);
    const temporary = join(ground.top, "tmp");
    mkdirSync(temporary);
    const initOf = async (...flags: string[]) => {
      const args = ["-p", "go", "--output-format", "stream-json", ...flags];
      const { stdout } = await run(args, { cwd: ground.cwd, env: { ...ground.env, TMPDIR: temporary } });
      const init = lines(stdout).find(({ subtype }) => subtype === "init") ?? {};
      const commands = init["slash_commands"] as string[];
      return { isThere: commands.includes("arc:go"), errors: JSON.stringify(init["plugin_errors"] ?? []) };
    };
    try {
      for (const flags of [
        ["--plugin-dir", "arc.tgz"],
        ["--plugin-url", `${url}/arc.tgz`],
        ["--plugin-url", `${url}/arc.tgz#sha256=${sha256}`],
      ])
        assert.deepEqual(await initOf(...flags), { isThere: true, errors: "[]" }, flags.join(" "));
      const refused: readonly [string, RegExp][] = [
        [`${url}/arc.tgz#sha256=${"0".repeat(64)}`, /was promised/],
        [`${url}/nosuch.tgz`, /HTTP 404/],
        ["ftp://127.0.0.1/arc.tgz", /only https is taken/],
        ["file:///etc/passwd", /only https is taken/],
      ];
      for (const [address, words] of refused) {
        const { isThere, errors } = await initOf("--plugin-url", address);
        assert.equal(isThere, false, address);
        assert.match(errors, words);
      }
      assert.deepEqual(
        readdirSync(temporary).filter((name) => name.startsWith("outrider-plugin-")),
        [],
      );
    } finally {
      server.close();
    }
  });
});

describe("plugins that Claude Code has installed", () => {
  it("count where its settings switch them on", async () => {
    const ground = await place();
    const path = join(ground.home, ".claude/plugins/cache/m/small/1.0.0");
    cpSync(bundle(join(ground.top, "small")), path, { recursive: true });
    const record = { scope: "user", installPath: path, version: "1.0.0" };
    write(ground.home, ".claude/plugins/installed_plugins.json", { version: 2, plugins: { "small@m": [record] } });
    write(ground.home, ".claude/settings.json", { enabledPlugins: { "small@m": true, "off@m": false, "odd@m": ["1.0.0"] } });
    assert.deepEqual(await pluginsOf(ground), ["small@m"]);
  });
});
