import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readdirSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { type Run, run, tempFolder } from "./command.ts";

type Place = {
  readonly project: string;
  readonly home: string;
  write(name: string, content: unknown): void;
  outrider(args: readonly string[], env?: Record<string, string>): Promise<Run>;
};

function place(): Place {
  const folder = realpathSync(tempFolder("trust"));
  const project = join(folder, "project");
  const home = join(folder, "home");
  mkdirSync(project);
  mkdirSync(home);
  return {
    project,
    home,
    write(name, content) {
      const path = join(project, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content, null, 1));
    },
    outrider: (args, env = {}) =>
      run(args, { cwd: project, env: { HOME: home, OUTRIDER_HOME: join(home, ".outrider"), ...env } }),
  };
}

const hooks = { SessionStart: [{ hooks: [{ type: "command", command: "./hook.sh" }] }] };

describe("outrider trust", () => {
  it("TC001, TC002, TC016: shows what would run, remembers a yes, and asks again after a change", async () => {
    const { write, outrider, project, home } = place();
    write(".claude/settings.json", { hooks, permissions: { allow: ["Bash(make:*)"] } });
    write(".mcp.json", { mcpServers: { tools: { command: "node", args: ["server.mjs"] } } });
    write("hook.sh", "touch pwned\n");
    chmodSync(join(project, "hook.sh"), 0o755);
    write("server.mjs", "");

    const shown = await outrider(["trust"]);
    assert.equal(shown.code, 1);
    assert.match(shown.stderr, /^outrider: not trusted\. .*--yes/);
    const lines = shown.stdout.split("\n");
    assert.deepEqual(lines.slice(0, 7), [
      `Project: ${project}`,
      "When it is trusted, this runs or counts:",
      "  hook         SessionStart: ./hook.sh  (.claude/settings.json:3)",
      "  allow-rule   Bash(make:*)  (.claude/settings.json:16)",
      "  mcp-server   tools: node server.mjs  (.mcp.json)",
      "What counts: 4 files: .claude/settings.json, .mcp.json, hook.sh, server.mjs",
      lines[6],
    ]);
    assert.match(lines[6] ?? "", /^Fingerprint: sha256:[0-9a-f]{64}$/);
    assert.equal(lines[7], "Trusted: no (Nobody has said to trust it)");

    const trusted = await outrider(["trust", "--yes"]);
    assert.deepEqual([trusted.code, trusted.stderr], [0, ""]);
    assert.match(trusted.stdout, /Trusted until something of it changes/);
    assert.doesNotMatch(trusted.stdout, /Trusted: no/);
    assert.match((await outrider(["trust"])).stdout, /Trusted already: It was trusted on /);
    assert.ok((await outrider(["trust", "--list"])).stdout.includes(project));

    write("server.mjs", "evil");
    const changed = JSON.parse((await outrider(["trust", "--show", "--json"])).stdout);
    assert.deepEqual(
      [changed.trusted, changed.reason.replace(/\d{4}-\d\d-\d\d/, "DATE")],
      [false, "It has changed since it was trusted on DATE: server.mjs"],
    );

    assert.match((await outrider(["trust", "--revoke"])).stdout, /is trusted no longer\n$/);
    assert.deepEqual(readdirSync(join(home, ".outrider/trust")), []);
    assert.equal((await outrider(["trust", "--list"])).stdout, "No project is trusted\n");
    assert.equal(existsSync(join(project, "pwned")), false, "nothing ran");
  });

  it("shows what could rewrite the terminal as it is written", async () => {
    const { write, outrider } = place();
    write(".claude/settings.json", { env: { "A\u001b[2K": "\u202eevil\r\u009b" } });
    const { stdout } = await outrider(["trust", "--show"]);
    assert.ok(stdout.includes("  environment  A\\u001b[2K=\\u202eevil\\u000d\\u009b  "), stdout);
  });

  it("has nothing to remember where nothing runs", async () => {
    const { write, outrider, home } = place();
    write(".claude/settings.json", { permissions: { deny: ["Bash"] } });
    const { code, stdout } = await outrider(["trust", "--yes"]);
    assert.deepEqual([code, stdout.split("\n")[1]], [0, "It runs and loosens nothing, so there is nothing to trust."]);
    assert.equal(existsSync(join(home, ".outrider/trust")), false);
  });

  it("says what it expects when it is called wrongly", async () => {
    const { outrider } = place();
    for (const args of [["--shwo"], ["now"], ["--show", "--list"], ["--cwd", "/nowhere"], ["--cwd"]]) {
      const { code, stderr } = await outrider(["trust", ...args]);
      assert.equal(code, 64, args.join(" "));
      assert.match(stderr, /^outrider: /);
    }
    const { code, stderr } = await outrider(["trust"], { OUTRIDER_TRUST_PROJECT: "yes" });
    assert.deepEqual([code, /sha256/.test(stderr)], [78, true]);
  });

  it("TC017: stops at a settings file that is no JSON, with file and line", async () => {
    const { write, outrider, project } = place();
    write(".claude/settings.json", '{\n "hooks": }');
    const { code, stderr } = await outrider(["trust", "--yes"]);
    assert.equal(code, 78);
    assert.ok(stderr.includes(join(project, ".claude/settings.json")) && /line 2|:2/.test(stderr), stderr);
  });
});

describe("outrider permissions in a project", () => {
  const explain = ["permissions", "explain", "Bash(make all)", "--json"];

  it("TC011, TC013: an untrusted project forbids but does not allow; flag, variable and record make it count", async () => {
    const { write, outrider, project } = place();
    write(".outrider/settings.json", { permissions: { allow: ["Bash(make:*)"], deny: ["Bash(rm:*)"] } });
    const decision = async (more: string[] = [], env?: Record<string, string>) =>
      JSON.parse((await outrider([...explain, ...more], env)).stdout);
    assert.equal((await decision()).effect, "ask");
    const allowed = {
      effect: "allow",
      reason: "The rule Bash(make:*) allows it",
      by: "rule",
      rule: "Bash(make:*)",
      source: `${join(project, ".outrider/settings.json")}:4`,
      programs: ["make all"],
      place: "outside",
      mode: "default",
      trusted: true,
    };
    assert.deepEqual(await decision(["--trust-project"]), allowed);
    assert.deepEqual(await decision([], { OUTRIDER_TRUST_PROJECT: "1" }), allowed);
    const { fingerprint } = JSON.parse((await outrider(["trust", "--show", "--json"])).stdout);
    assert.deepEqual(await decision([], { OUTRIDER_TRUST_PROJECT: fingerprint }), allowed);
    assert.equal((await outrider(["trust", "--yes"])).code, 0);
    assert.deepEqual(await decision(), allowed);
    assert.equal((await decision(["--setting-sources", "user"])).effect, "ask");
    write(".outrider/settings.json", { permissions: { allow: ["Bash(make:*)"], deny: ["Bash(make:*)"] } });
    const denied = await outrider(["permissions", "explain", "Bash(make all)"]);
    assert.match(
      denied.stdout,
      /^decision: deny\n[\s\S]*written in: .*settings\.json:7\n[\s\S]*project: not trusted \(It has changed/,
    );
  });

  it("explains with --settings and the user's own files", async () => {
    const { outrider, home } = place();
    const inline = JSON.stringify({ permissions: { allow: ["Bash(make:*)"] } });
    assert.match(
      (await outrider(["permissions", "explain", "Bash(make x)", "--settings", inline])).stdout,
      /written in: --settings/,
    );
    mkdirSync(join(home, ".outrider"), { recursive: true });
    writeFileSync(join(home, ".outrider/settings.json"), JSON.stringify({ permissions: { ask: ["Bash(make:*)"] } }));
    assert.match((await outrider(["permissions", "explain", "Bash(make x)", "--settings", inline])).stdout, /^decision: ask/);
  });

  it("finds what is wrong with the rules of all files, with file and line", async () => {
    const { write, outrider, project } = place();
    write(".claude/settings.json", { permissions: { allow: ["Bash(python:*)", "Edit"], deny: ["Edit", "Bash(rm:*)"] } });
    const { code, stdout } = await outrider(["permissions", "lint"]);
    const file = join(project, ".claude/settings.json");
    assert.deepEqual(
      [code, stdout.split("\n").filter(Boolean)],
      [
        0,
        [
          `${file}:4: warning: Bash(python:*): python can run anything, so this is equal to Bash(*)`,
          `${file}:5: warning: Edit: It never counts: ${file}:8 says otherwise`,
        ],
      ],
    );
    write(".claude/settings.json", { permissions: { deny: ["Bash("] } });
    assert.equal((await outrider(["permissions", "lint"])).code, 1);
    write(".claude/settings.json", { permissions: { deny: ["Bash"] } });
    assert.equal((await outrider(["permissions", "lint"])).stdout, "No problems in 1 rules\n");
  });

  it("shows past decisions and forgets remembered answers", async () => {
    const { outrider, home, project } = place();
    assert.deepEqual(await outputOf(outrider(["permissions", "log"])), [0, ""]);
    mkdirSync(join(home, ".outrider/audit"), { recursive: true });
    const record = {
      at: "2025-06-01T12:00:00.000Z",
      sessionId: "s1",
      callId: "c1",
      cwd: project,
      tool: "Bash",
      resource: "rm \u001b[2Kx",
      effect: "deny",
      by: "rule",
      reason: "The rule Bash(rm:*) forbids it",
      rule: "Bash(rm:*)",
      source: "a.json:1",
    };
    const other = { ...record, sessionId: "s2", effect: "allow" };
    writeFileSync(join(home, ".outrider/audit/2025-06.jsonl"), `${JSON.stringify(record)}\nbroken\n${JSON.stringify(other)}\n`);
    const text =
      "2025-06-01T12:00:00.000Z deny  Bash(rm \\u001b[2Kx)  The rule Bash(rm:*) forbids it [rule Bash(rm:*) in a.json:1] s1\n";
    assert.deepEqual(await outputOf(outrider(["permissions", "log", "--denied"])), [0, text]);
    assert.deepEqual(await outputOf(outrider(["permissions", "log", "--session", "s2", "--json"])), [
      0,
      `${JSON.stringify(other)}\n`,
    ]);
    assert.deepEqual(await outputOf(outrider(["permissions", "log", "--since", "2025-07-01"])), [0, ""]);
    assert.equal((await outrider(["permissions", "log", "--since", "soon"])).code, 64);

    mkdirSync(join(home, ".outrider/grants"));
    const grant = { at: record.at, root: project, rule: "Edit(./a.ts)" };
    writeFileSync(join(home, ".outrider/grants", `${encodeURIComponent(project)}.jsonl`), `${JSON.stringify(grant)}\n`);
    assert.deepEqual(await outputOf(outrider(["permissions", "grants"])), [0, "Edit(./a.ts)\n"]);
    const explained = await outrider(["permissions", "explain", "Edit(./a.ts)"]);
    assert.match(explained.stdout, /^decision: allow\n[\s\S]*written in: an answer remembered for this project\n/);
    assert.deepEqual(await outputOf(outrider(["permissions", "grants", "--forget"])), [0, "Forgotten:\nEdit(./a.ts)\n"]);
    assert.match((await outrider(["permissions", "grants"])).stdout, /^No answer is remembered/);
  });
});

async function outputOf(running: Promise<Run>): Promise<[number | null, string]> {
  const { code, stdout } = await running;
  return [code, stdout];
}
