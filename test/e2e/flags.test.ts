import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { lines, model, projectRoot, run, tempFolder } from "./command.ts";

const home = tempFolder("home");
const project = tempFolder("project");
const json = ["--output-format", "json"];
const everything = join(projectRoot, "node_modules/@modelcontextprotocol/server-everything/dist/index.js");
const echoServer = { mcpServers: { ev: { command: process.execPath, args: [everything, "stdio"] } } };
type Body = { system: unknown; tools: { name: string }[]; thinking?: unknown };

const toolsIn = (body: unknown): string[] => ((body as Body).tools ?? []).map((tool) => tool.name);
const resultOf = (stdout: string): Record<string, unknown> => lines(stdout).at(-1) ?? {};

describe("prompts from files", () => {
  it("take the place of the words, and exclude them", async () => {
    const { env, server } = await model([{ text: "ok" }], home);
    writeFileSync(join(project, "system.md"), "You are a lighthouse.");
    writeFileSync(join(project, "more.md"), "Blink twice.");
    const files = ["--system-prompt-file", "system.md", "--append-system-prompt-file", "more.md"];
    assert.equal((await run(["-p", "x", ...files], { env, cwd: project })).code, 0);
    assert.match(
      JSON.stringify((server.requests[0]?.body as Body | undefined)?.system),
      /You are a lighthouse\.\\n\\nBlink twice\./,
    );
    const both = await run(["-p", "x", "--system-prompt", "a", ...files], { env, cwd: project });
    assert.equal(both.code, 64);
    assert.match(both.stderr, /--system-prompt and --system-prompt-file exclude each other/);
  });
});

describe("--tools", () => {
  it("offers only what is named, or nothing", async () => {
    const { env, server } = await model(() => ({ text: "ok" }), home);
    await run(["-p", "x", "--tools", "Read,Grep"], { env });
    await run(["-p", "x", "--tools="], { env });
    await run(["-p", "x", "--tools", "default"], { env });
    const offered = server.requests.map(({ body }) => toolsIn(body).length);
    assert.deepEqual(toolsIn(server.requests[0]?.body).sort(), ["Grep", "Read"]);
    assert.deepEqual(offered.slice(0, 2), [2, 0]);
    assert.ok((offered[2] ?? 0) > 5);
  });
});

describe("--max-thinking-tokens and --thinking", () => {
  it("say how much the model may think", async () => {
    const { env, server } = await model(() => ({ text: "ok" }), home);
    await run(["-p", "x", "--model", "claude-haiku-4-5", "--max-thinking-tokens", "2048"], { env });
    await run(["-p", "x", "--model", "claude-haiku-4-5", "--thinking=disabled"], { env });
    assert.deepEqual(
      server.requests.map(({ body }) => (body as Body).thinking),
      [{ type: "enabled", budget_tokens: 2048 }, undefined],
    );
  });
});

describe("flags as Claude Code's scripts write them", () => {
  it("--max-turns 0 is no limit, --debug may have a filter", async () => {
    const call = { calls: [{ name: "Bash", input: { command: "echo hi" } }] };
    for (const debug of [["--debug", "api"], ["--debug=api,hooks"], ["--debug"]]) {
      const { env } = await model([call, call, { text: "ok" }], home);
      const { code, stdout, stderr } = await run(["-p", "x", "--max-turns", "0", ...debug], { env, cwd: project });
      assert.deepEqual([code, stdout], [0, "ok\n"]);
      assert.match(stderr, /debug: .*turn\.ended/);
    }
  });
});

describe("--add-dir", () => {
  it("lets the work reach into another folder", async () => {
    const other = tempFolder("other");
    writeFileSync(join(other, "note.txt"), "beyond the hills");
    const replies = [{ calls: [{ name: "Read", input: { file_path: join(other, "note.txt") } }] }, { text: "ok" }];
    const without = await model(replies, home);
    const denied = await run(["-p", "x", ...json], { env: without.env, cwd: project });
    assert.equal((resultOf(denied.stdout)["permission_denials"] as unknown[]).length, 1);
    const { env, server } = await model(replies, home);
    await run(["-p", "x", "--add-dir", other], { env, cwd: project });
    assert.match(JSON.stringify(server.requests[1]?.body), /beyond the hills/);
    const plain = await model([{ text: "ok" }], home);
    const missing = await run(["-p", "x", "--add-dir", join(other, "nothing"), ...json], { env: plain.env });
    assert.equal(missing.code, 0);
    assert.match(missing.stderr, /--add-dir: .*nothing is not there: it is left out/);
  });
});

describe("--allow", () => {
  it("lets the commands of a preset run, and is refused under a name that is none", async () => {
    const replies = [{ calls: [{ name: "Bash", input: { command: "npm test; echo ran" } }] }, { text: "ok" }];
    const without = await model(replies, home);
    const denied = await run(["-p", "x", ...json], { env: without.env, cwd: project });
    assert.equal((resultOf(denied.stdout)["permission_denials"] as unknown[]).length, 1);
    const { env, server } = await model(replies, home);
    const { stdout } = await run(["-p", "x", "--allow", "cargo,npm", ...json], { env, cwd: project });
    assert.deepEqual(resultOf(stdout)["permission_denials"], []);
    assert.match(JSON.stringify(server.requests[1]?.body), /ran/);
    const wrong = await run(["-p", "x", "--allow", "nmp"], { env });
    assert.equal(wrong.code, 64);
    assert.match(wrong.stderr, /--allow: There is no preset "nmp"; did you mean npm\?/);
  });

  it("is shown rule by rule", async () => {
    const { stdout } = await run(["permissions", "presets", "cargo"]);
    assert.match(stdout, /^Bash\(cargo build:\*\)\nBash\(cargo check:\*\)\n/);
    assert.equal((await run(["permissions", "presets", "crago"])).code, 64);
  });
});

describe("MCP servers of a run", () => {
  const call = { calls: [{ name: "mcp__ev__echo", input: { message: "over the wire" } }] };

  it("are asked when a rule allows it, and are in the first frame", async () => {
    const { env, server } = await model([call, { text: "ok" }], home);
    const args = ["-p", "x", "--mcp-config", JSON.stringify(echoServer), "--allowedTools", "mcp__ev__echo"];
    const { code, stdout } = await run([...args, "--output-format", "stream-json"], { env, cwd: project });
    assert.equal(code, 0);
    assert.deepEqual(lines(stdout).find((frame) => frame["subtype"] === "init")?.["mcp_servers"], [
      { name: "ev", status: "connected", source: "dynamic" },
    ]);
    assert.match(JSON.stringify(server.requests[1]?.body), /Echo: over the wire/);
  });

  it("are not asked without a rule", async () => {
    const { env } = await model([call, { text: "ok" }], home);
    const { stdout } = await run(["-p", "x", "--mcp-config", JSON.stringify(echoServer), ...json], { env, cwd: project });
    assert.equal((resultOf(stdout)["permission_denials"] as { tool_name: string }[])[0]?.tool_name, "mcp__ev__echo");
  });

  it("cost a bounded wait when they hang, and the run when they are required", async () => {
    const { env, server } = await model(() => ({ text: "ok" }), home);
    const config = ["--mcp-config", JSON.stringify({ mcpServers: { slow: { command: "sleep", args: ["60"] } } })];
    const patient = await run(["-p", "x", ...config, "--mcp-timeout", "1s"], { env });
    assert.equal(patient.code, 0);
    assert.match(patient.stderr, /MCP server slow is not connected \(failed\): it did not answer within 1000 ms/);
    const strict = await run(["-p", "x", ...config, "--mcp-timeout", "1s", "--require-mcp", ...json], { env });
    assert.equal(strict.code, 78);
    assert.equal(lines(strict.stdout).length, 1);
    assert.equal(server.requests.length, 1);
  });

  it("come from a project's .mcp.json only when it is trusted, and not with --strict-mcp-config", async () => {
    const folder = tempFolder("with-servers");
    mkdirSync(join(folder, ".git"));
    writeFileSync(join(folder, ".mcp.json"), JSON.stringify(echoServer));
    const { env, server } = await model(() => ({ text: "ok" }), home);
    await run(["-p", "x"], { env, cwd: folder });
    await run(["-p", "x", "--trust-project"], { env, cwd: folder });
    await run(["-p", "x", "--trust-project", "--strict-mcp-config"], { env, cwd: folder });
    await run(["-p", "x", "--trust-project", "--bare"], { env, cwd: folder });
    const hasEcho = server.requests.map(({ body }) => toolsIn(body).includes("mcp__ev__echo"));
    assert.deepEqual(hasEcho, [false, true, false, false]);
  });

  it("cost their own tools when one is not written as it should be, and with --require-mcp the run", async () => {
    const { env, server } = await model(() => ({ text: "ok" }), home);
    const servers = { ...echoServer.mcpServers, a: {}, b: { command: "$" + "{NOT_SET_ANYWHERE}" } };
    const args = ["-p", "x", "--mcp-config", JSON.stringify({ mcpServers: servers })];
    const { code, stdout, stderr } = await run([...args, "--output-format", "stream-json"], { env });
    const [init = {}, ...frames] = lines(stdout);
    const told = frames.flatMap(({ subtype, message }) => (subtype === "warning" ? [message] : []));
    const states = (init["mcp_servers"] as Record<string, string>[]).map(({ name, status }) => [name, status]);
    assert.deepEqual(
      [code, states],
      [
        0,
        [
          ["ev", "connected"],
          ["a", "failed"],
          ["b", "failed"],
        ],
      ],
    );
    const wrong = init["mcp_server_errors"] as Record<string, string>[];
    assert.deepEqual(
      wrong.map(({ name, type }) => [name, type]),
      [
        ["a", "invalid_config"],
        ["b", "invalid_config"],
      ],
    );
    assert.match(wrong[0]?.["message"] ?? "", /command must be/);
    assert.match(told.join("\n"), /server "a": command must be.*NOT_SET_ANYWHERE is not set/s);
    assert.deepEqual([stderr, frames.at(-1)?.["warnings"]], ["", told]);
    assert.ok(toolsIn(server.requests[0]?.body).includes("mcp__ev__echo"));
    assert.equal((await run([...args, "--require-mcp"], { env })).code, 78);
  });

  it("are refused when the file is none", async () => {
    for (const config of ["[]", "{", "no-such-file.json"]) {
      const { code, stdout } = await run(["-p", "x", "--mcp-config", config, ...json], {
        env: { OUTRIDER_HOME: home, ANTHROPIC_API_KEY: "k" },
      });
      assert.deepEqual([config, code, lines(stdout).length], [config, 78, 1]);
    }
  });
});

describe("bypassPermissions", () => {
  it("is asked for on the command line, by the mode or by its own flag; a file alone does not do", async () => {
    const { env } = await model(() => ({ text: "ok" }), home);
    const settings = ["--settings", '{"permissions":{"defaultMode":"bypassPermissions"}}'];
    const codes = [
      await run(["-p", "x", "--permission-mode", "bypassPermissions"], { env }),
      await run(["-p", "x", ...settings], { env }),
      await run(["-p", "x", ...settings, "--allow-dangerously-skip-permissions"], { env }),
      await run(["-p", "x", "--dangerously-skip-permissions"], { env }),
    ].map(({ code }) => code);
    assert.deepEqual(codes, [0, 64, 0, 0]);
  });

  it("is refused where settings say so", async () => {
    const { env } = await model(() => ({ text: "ok" }), home);
    const settings = ["--settings", '{"permissions":{"disableBypassPermissionsMode":"disable"}}'];
    const { code, stderr } = await run(["-p", "x", "--dangerously-skip-permissions", ...settings], { env });
    assert.equal(code, 78);
    assert.match(stderr, /disableBypassPermissionsMode/);
  });
});
