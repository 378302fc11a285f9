import assert from "node:assert/strict";
import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { lines, model, projectRoot, run, tempFolder } from "./command.ts";

/** A project and a home of somebody who works with Claude Code. */
async function place(files: Readonly<Record<string, string | object>>, more: Readonly<Record<string, string>> = {}) {
  const top = realpathSync(tempFolder("claude-home"));
  const cwd = join(top, "project");
  mkdirSync(cwd);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(top, name)), { recursive: true });
    const text = typeof content === "string" ? content : JSON.stringify(content);
    writeFileSync(join(top, name), text.replaceAll("TOP", top));
  }
  const { env, server } = await model(
    Array.from({ length: 8 }, () => ({ text: "done" })),
    join(top, "home/.outrider"),
  );
  const config = Object.fromEntries(Object.entries(more).map(([name, path]) => [name, join(top, path)]));
  const outrider = (...args: string[]) => run(args, { cwd, env: { ...env, HOME: join(top, "home"), ...config } });
  return { top, outrider, asked: (index: number) => JSON.stringify(server.requests[index]?.body) };
}

type Init = { readonly slash_commands: string[]; readonly mcp_servers: { name: string; status: string; source: string }[] };

function initOf(stdout: string): Init {
  return lines(stdout).find(({ subtype }) => subtype === "init") as unknown as Init;
}

const stream = ["-p", "hello", "--output-format", "stream-json", "--verbose"];
const skill = (text: string): string => `---\ndescription: ${text}\n---\n${text}`;

describe("skills and commands of Claude Code's user", { timeout: 120_000 }, () => {
  it("are where CLAUDE_CONFIG_DIR says, and nowhere else then", async () => {
    const files = {
      "moved/skills/there/SKILL.md": skill("THERE"),
      "moved/commands/do/it.md": "DO IT $0",
      "home/.claude/skills/here/SKILL.md": skill("HERE"),
    };
    const { outrider, asked } = await place(files, { CLAUDE_CONFIG_DIR: "moved" });
    const { slash_commands: names } = initOf((await outrider(...stream)).stdout);
    assert.deepEqual([names.includes("there"), names.includes("do:it"), names.includes("here")], [true, true, false]);
    assert.equal((await outrider("-p", "/do:it now")).code, 0);
    assert.match(asked(1), /DO IT now/);
    assert.match((await outrider("skills", "list")).stdout, /\/there/);
  });

  it("that were fetched from an account count behind all others", async () => {
    const files = {
      "home/.claude/skills/synced/own/SKILL.md": skill("FETCHED OWN"),
      "home/.claude/skills/synced/both/SKILL.md": skill("FETCHED BOTH"),
      "project/.claude/skills/both/SKILL.md": skill("PROJECT BOTH"),
    };
    const { outrider, asked } = await place(files);
    await outrider("-p", "/own");
    await outrider("-p", "/both");
    assert.match(asked(0), /Base directory[^"]*FETCHED OWN/);
    assert.match(asked(1), /Base directory[^"]*PROJECT BOTH/);
  });

  it("a plugin among the skills is named, with what makes it count", async () => {
    const files = {
      "home/.claude/skills/kit/.claude-plugin/plugin.json": { name: "kit" },
      "home/.claude/skills/kit/skills/hey/SKILL.md": skill("HEY"),
    };
    const { outrider, top } = await place(files);
    const { stderr } = await outrider("-p", "hello");
    assert.match(
      stderr,
      /home\/\.claude\/skills\/kit is a plugin and no skill: outrider plugins install \S+\/kit makes it count/,
    );
    assert.equal((await outrider("plugins", "install", join(top, "home/.claude/skills/kit"), "--yes")).code, 0);
    assert.ok(initOf((await outrider(...stream)).stdout).slash_commands.includes("kit:hey"));
  });
});

describe("servers that somebody has added to Claude Code", { timeout: 120_000 }, () => {
  const tiny = (name: string) => ({
    command: process.execPath,
    args: [join(projectRoot, "test/contract/tiny-mcp-server.mjs"), name],
  });
  const state = {
    numStartups: 7,
    mcpServers: { everywhere: tiny("1"), both: { command: "false" }, off: tiny("2") },
    projects: {
      "TOP/project": { mcpServers: { here: tiny("3"), both: tiny("4") }, disabledMcpServers: ["off"] },
      "TOP/elsewhere": { mcpServers: { there: tiny("5") } },
    },
  };

  it("count for the user's sessions, the project's own before those for all projects", async () => {
    const { outrider } = await place({ "home/.claude.json": state });
    const { mcp_servers: servers } = initOf((await outrider(...stream)).stdout);
    assert.deepEqual(servers.map(({ name, status, source }) => [name, status, source]).sort(), [
      ["both", "connected", "local"],
      ["everywhere", "connected", "user"],
      ["here", "connected", "local"],
    ]);
    const { stdout } = await outrider("mcp", "list");
    assert.match(stdout, /^everywhere {2}claude {2}starts .*\/home\/\.claude\.json\)$/m);
    assert.match(stdout, /^off {2}claude {2}does not start/m);
    assert.match((await outrider("mcp", "remove", "here")).stderr, /is written down in \S+\.claude\.json: take it out there/);
  });

  it("are not asked for with --bare, with other setting sources, or where nothing can be read", async () => {
    const { outrider, top } = await place({ "home/.claude.json": state });
    for (const flags of [["--bare"], ["--setting-sources", "project"], ["--strict-mcp-config"]])
      assert.deepEqual(initOf((await outrider(...stream, ...flags)).stdout).mcp_servers, [], flags.join(" "));
    for (const text of [
      '{"mcpServers": {"x": ',
      '{"mcpServers": {"x": 7}}',
      '{"mcpServers": {"x": {"url": "http://h/"}}, "projects": []}',
    ]) {
      writeFileSync(join(top, "home/.claude.json"), text);
      const { code, stderr } = await outrider(...stream);
      assert.equal(code, 0, `${text}: ${stderr}`);
    }
  });

  it("are in CLAUDE_CONFIG_DIR where that is another folder", async () => {
    const { outrider } = await place({ "moved/.claude.json": state, "home/.claude.json": {} }, { CLAUDE_CONFIG_DIR: "moved" });
    const { mcp_servers: servers } = initOf((await outrider(...stream)).stdout);
    assert.equal(servers.length, 3);
  });
});
