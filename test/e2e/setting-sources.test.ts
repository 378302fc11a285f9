import assert from "node:assert/strict";
import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { lines, model, type Run, run, tempFolder } from "./command.ts";

type Place = { readonly cwd: string; readonly outrider: (...args: string[]) => Promise<Run> };

const guard = "echo 'not this one' >&2; exit 2";
const tiny = join(process.env["OUTRIDER_ROOT"] ?? process.cwd(), "test/contract/tiny-mcp-server.mjs");

/** A project with a guard and a server, and a model that calls what the guard is about. */
async function place(): Promise<Place> {
  const cwd = realpathSync(tempFolder("sources"));
  mkdirSync(join(cwd, ".claude"));
  const hooks = { PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command: guard }] }] };
  writeFileSync(join(cwd, ".claude/settings.json"), JSON.stringify({ hooks, permissions: { allow: ["Bash(touch:*)"] } }));
  writeFileSync(join(cwd, ".mcp.json"), JSON.stringify({ mcpServers: { tiny: { command: process.execPath, args: [tiny] } } }));
  const { env } = await model(
    [{ calls: [{ name: "Bash", input: { command: "echo hi" } }] }, { text: "done" }],
    tempFolder("sources-home"),
  );
  return { cwd, outrider: (...args) => run(["-p", "go", ...args], { cwd, env }) };
}

const stream = ["--output-format", "stream-json"];
const initOf = ({ stdout }: Run): Record<string, unknown> => lines(stdout).find(({ subtype }) => subtype === "init") ?? {};
const resultOf = ({ stdout }: Run): Record<string, unknown> => lines(stdout).find(({ type }) => type === "result") ?? {};

describe("setting sources", () => {
  it("that name the project make its hooks, rules and servers count for the run, and init says so", async () => {
    const { outrider } = await place();
    const ended = await outrider(...stream, "--setting-sources", "user,project");
    const { project_trust, mcp_servers } = initOf(ended);
    assert.deepEqual(
      [project_trust, mcp_servers],
      [
        { trusted: true, reason: "The setting sources of this run name it" },
        [{ name: "tiny", status: "connected", source: "project" }],
      ],
    );
    const { permission_denials: denials, warnings } = resultOf(ended);
    assert.deepEqual([(denials as { reason: string }[]).length, warnings], [1, undefined], ended.stdout);
    assert.match(JSON.stringify(denials), /not this one/);
  });

  it("that are not given leave a project untrusted: what it would have guarded and offered is in warnings and on stderr", async () => {
    const { outrider, cwd } = await place();
    const framed = await outrider(...stream);
    const plain = await outrider("--output-format", "json");
    const expected = [
      `hooks (${cwd}/.claude/settings.json:1)`,
      `permissions.allow (${cwd}/.claude/settings.json:1)`,
      `mcpServers.tiny (${cwd}/.mcp.json)`,
    ];
    for (const result of [resultOf(framed), resultOf(plain)]) {
      const [said, ...others] = (result["warnings"] as string[]).filter((text) => text.includes("not trusted"));
      assert.equal(others.length, 0, "said once");
      for (const item of expected) assert.ok(said?.includes(item), said);
    }
    assert.deepEqual(initOf(framed)["project_trust"], { trusted: false, reason: "Nobody has said to trust it" });
    assert.deepEqual([framed.stderr, initOf(framed)["mcp_servers"]], ["", []]);
    for (const item of expected) assert.ok(plain.stderr.includes(item), plain.stderr);
  });

  it("of the user alone say nothing of what they leave out", async () => {
    const { outrider } = await place();
    const { project_trust, mcp_servers } = initOf(await outrider(...stream, "--setting-sources", "user"));
    assert.deepEqual([project_trust, mcp_servers], [undefined, []]);
  });

  it("do not make a broken .mcp.json of an untrusted project an error", async () => {
    const broken = async (...args: string[]): Promise<Run> => {
      const { outrider, cwd } = await place();
      writeFileSync(join(cwd, ".mcp.json"), "{");
      return await outrider("--output-format", "json", ...args);
    };
    const left = await broken();
    assert.equal(left.code, 0);
    assert.match(left.stderr, /mcpServers\.\* \(.*\.mcp\.json\)/);
    assert.equal((await broken("--setting-sources", "project")).code, 0);
  });

  it("that name the project make its agents and styles whole, also where it has nothing that runs", async () => {
    const cwd = realpathSync(tempFolder("sources"));
    const files = {
      ".claude/settings.json": '{ "outputStyle": "Terse" }',
      ".claude/output-styles/terse.md": "---\nname: Terse\n---\nFew words.",
      ".claude/agents/rev.md": "---\nname: rev\ndescription: d\nmodel: haiku\ninitialPrompt: Look first.\n---\nYou review.",
    };
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(cwd, name)), { recursive: true });
      writeFileSync(join(cwd, name), text);
    }
    const { env, server } = await model([{ text: "done" }, { text: "done" }], tempFolder("sources-home"));
    const ask = (...args: string[]): Promise<Run> => run(["-p", "go", "--agent", "rev", ...stream, ...args], { cwd, env });
    await ask("--setting-sources", "user,project");
    await ask();
    const [asked, plain] = server.requests.map(({ body }) => body as { model: string });
    const said = (body: unknown): boolean[] => ["Few words", "Look first"].map((words) => JSON.stringify(body).includes(words));
    assert.deepEqual([asked?.model.includes("haiku"), ...said(asked)], [true, true, true]);
    assert.deepEqual([plain?.model.includes("haiku"), ...said(plain)], [false, false, false]);
  });
});
