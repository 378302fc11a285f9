import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { model, projectRoot, run, tempFolder } from "./command.ts";

function project(files: Record<string, string>): string {
  const folder = tempFolder("init");
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

const read = (folder: string, name: string): string => readFileSync(join(folder, name), "utf8");

describe("outrider init", () => {
  it("writes what a project begins with, once, and what it writes holds in a run", async () => {
    const cwd = project({
      "package.json": JSON.stringify({ scripts: { test: "node --test", lint: "biome lint", deploy: "x" } }),
      "pnpm-lock.yaml": "",
      "src/a.ts": "",
      ".github/CODEOWNERS": "",
    });
    const { env, server } = await model(() => ({ text: "ok" }), join(cwd, "../home"));
    const first = await run(["init"], { cwd, env });
    assert.deepEqual([first.code, first.stderr], [0, ""]);
    assert.match(first.stdout, /Found: {3}pnpm; pnpm install --frozen-lockfile, pnpm test, pnpm run lint\n/);
    assert.match(first.stdout, / written +\.github\/workflows\/outrider\.yml\n/);
    const instructions = read(cwd, "AGENTS.md");
    assert.match(instructions, /- Test: `pnpm test`\n- Check: `pnpm run lint`\n[\s\S]*- `src\/`/);
    assert.deepEqual(JSON.parse(read(cwd, ".outrider/settings.json")), {
      permissions: { allow: ["preset:pnpm"], deny: ["Read(./.env)", "Read(./.env.*)"] },
    });
    await run(["-p", "x", "--trust-project"], { cwd, env });
    assert.match(JSON.stringify(server.requests[0]?.body), /Run the tests before you say/);
    const explained = await run(["permissions", "explain", "Bash(pnpm test)", "--trust-project"], { cwd, env });
    assert.match(explained.stdout, /allow/i);
    assert.equal((await run(["permissions", "lint"], { cwd, env })).code, 0);

    writeFileSync(join(cwd, "AGENTS.md"), "mine");
    const again = await run(["init"], { cwd, env });
    assert.equal(again.stdout.match(/there already/g)?.length, 3);
    assert.equal(read(cwd, "AGENTS.md"), "mine");
  });

  it("writes the recipes of the guide", async () => {
    const guide = readFileSync(join(projectRoot, "docs/ci.md"), "utf8");
    const [github, gitlab] = [project({}), project({})];
    await run(["init", "--ci", "github"], { cwd: github });
    await run(["init", "--ci=gitlab"], { cwd: gitlab });
    assert.ok(guide.includes(`\`\`\`yaml\n${read(github, ".github/workflows/outrider.yml")}\`\`\``));
    assert.ok(guide.includes(`\`\`\`yaml\n${read(gitlab, ".gitlab/outrider.yml")}\`\`\``));
    assert.equal(read(gitlab, ".gitlab-ci.yml"), "include:\n  - local: .gitlab/outrider.yml\n");
    const own = project({ ".gitlab-ci.yml": "stages: [x]\n" });
    assert.match((await run(["init"], { cwd: own })).stdout, /Add to \.gitlab-ci\.yml/);
    assert.equal(read(own, ".gitlab-ci.yml"), "stages: [x]\n");
  });

  const found: [name: string, files: Record<string, string>, commands: string[]][] = [
    [
      "npm without tests",
      { "package.json": '{"scripts":{"test":"echo \\"Error: no test specified\\" && exit 1"}}' },
      ["npm install"],
    ],
    [
      "the manager that package.json names",
      { "package.json": '{"packageManager":"yarn@4.1.0","scripts":{"test":"x"}}', "package-lock.json": "" },
      ["yarn install --immutable", "yarn test"],
    ],
    [
      "uv",
      { "pyproject.toml": "[tool.pytest.ini_options]\n[tool.ruff]\n", "uv.lock": "" },
      ["uv sync", "uv run pytest", "uv run ruff check ."],
    ],
    ["Rust", { "Cargo.toml": "" }, ["cargo build", "cargo test", "cargo clippy"]],
    [
      "Go and a Makefile",
      { "go.mod": "", Makefile: "x := 1\ntest: all\n\tgo test\n" },
      ["go build ./...", "go test ./...", "go vet ./...", "make test"],
    ],
    ["a broken package.json", { "package.json": "{" }, ["npm install"]],
    ["nothing", {}, []],
  ];
  for (const [name, files, commands] of found) {
    it(`finds ${name}, and writes nothing with --dry-run`, async () => {
      const cwd = project(files);
      const { code, stdout } = await run(["init", "--dry-run", "--json"], { cwd });
      const { survey, files: written } = JSON.parse(stdout) as {
        survey: { commands: { command: string }[] };
        files: { state: string }[];
      };
      assert.deepEqual([code, survey.commands.map(({ command }) => command)], [0, commands]);
      assert.deepEqual(new Set(written.map(({ state }) => state)), new Set(["would be written"]));
      assert.match((await run(["init", "--dry-run"], { cwd })).stdout, /--- AGENTS\.md\n# /);
      assert.equal(existsSync(join(cwd, "AGENTS.md")), false);
    });
  }

  it("takes Claude Code's files for what they are", async () => {
    const cwd = project({ "CLAUDE.md": "x", ".claude/settings.json": "{}" });
    const { stdout } = await run(["init"], { cwd });
    assert.match(stdout, /there already +AGENTS\.md \(CLAUDE\.md is read\)\n.*there already +\.outrider\/settings\.json/);
    assert.deepEqual([existsSync(join(cwd, "AGENTS.md")), existsSync(join(cwd, ".outrider"))], [false, false]);
  });

  it("does not write through links of the project", async () => {
    const outside = tempFolder();
    const cwd = project({});
    symlinkSync(join(outside, "new.md"), join(cwd, "AGENTS.md"));
    symlinkSync(outside, join(cwd, ".outrider"));
    const { code, stderr } = await run(["init"], { cwd });
    assert.deepEqual([code, existsSync(join(outside, "new.md")), existsSync(join(outside, "settings.json"))], [78, false, false]);
    assert.match(stderr, /leads out of the project/);
  });

  it("refuses words that it does not know", async () => {
    const cwd = project({});
    assert.match((await run(["init", "--ci", "jenkins"], { cwd })).stderr, /takes github, gitlab or none/);
    assert.equal((await run(["init", "--dryrun"], { cwd })).code, 64);
    assert.equal(existsSync(join(cwd, "AGENTS.md")), false);
  });
});
