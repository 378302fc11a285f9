import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { lines, model, projectRoot, run, tempFolder } from "./command.ts";

type Scene = { user?: object; project?: object; replies?: Parameters<typeof model>[0]; agents?: Record<string, string> };

/** A home with Claude Code's settings, a project with its own, and a model. */
async function scene({ user, project, replies = [{ text: "done" }], agents = {} }: Scene) {
  const home = tempFolder("claude-home");
  const cwd = tempFolder("claude-project");
  for (const [folder, settings] of [
    [home, user],
    [cwd, project],
  ] as const) {
    mkdirSync(join(folder, ".claude"));
    if (settings) writeFileSync(join(folder, ".claude/settings.json"), JSON.stringify(settings));
  }
  if (Object.keys(agents).length > 0) mkdirSync(join(cwd, ".claude/agents"));
  for (const [name, text] of Object.entries(agents)) writeFileSync(join(cwd, `.claude/agents/${name}.md`), text);
  const { server, env } = await model(replies, join(home, "outrider"));
  return { cwd, server, env: { ...env, HOME: home } };
}

const modelsOf = (server: Awaited<ReturnType<typeof scene>>["server"]) =>
  server.requests.map(({ body }) => (body as { model: string }).model);
const asked = ["--setting-sources", "user,project,local"];
const log = (name: string) => ({ hooks: [{ type: "command", command: `echo ${name} $(cat) >> hooks.log` }] });
const hooks = { Setup: [log("setup")], SessionStart: [log("start")] };

describe("Setup hooks", () => {
  it("run with --init and --maintenance before the session starts, once", async () => {
    const { cwd, env } = await scene({ project: { hooks }, replies: () => ({ text: "done" }) });
    assert.equal((await run(["-p", "go", "--init", ...asked], { cwd, env })).code, 0);
    const told = readFileSync(join(cwd, "hooks.log"), "utf8").split("\n").filter(Boolean);
    assert.deepEqual(
      told.map((line) => line.split(" ")[0]),
      ["setup", "start"],
    );
    assert.match(told[0] ?? "", /"trigger":\s*"init"/);
    assert.equal((await run(["-p", "go", ...asked], { cwd, env })).code, 0);
    assert.equal((await run(["-p", "go", "--maintenance", ...asked], { cwd, env })).code, 0);
    const later = readFileSync(join(cwd, "hooks.log"), "utf8");
    assert.equal(later.match(/^setup/gm)?.length, 2);
    assert.match(later, /"trigger":\s*"maintenance"/);
  });

  it("run alone with --init-only: no model is asked, nothing is written to stdout or kept", async () => {
    const { cwd, env, server } = await scene({ project: { hooks } });
    const ended = await run(["--init-only", ...asked], { cwd, env });
    assert.deepEqual([ended.code, ended.stdout, ended.stderr, server.requests.length], [0, "", "", 0]);
    assert.match(readFileSync(join(cwd, "hooks.log"), "utf8"), /^setup[\s\S]*\nstart/);
    assert.equal(existsSync(join(env.OUTRIDER_HOME, "sessions")), false);
  });
});

describe("a hook that asks an MCP server", () => {
  it("denies a call with what the server's tool answers", async () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands in files
    const verdict = { hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason: "no ${tool_name}" };
    const hook = { type: "mcp_tool", server: "tiny", tool: "echo", input: { hookSpecificOutput: verdict } };
    const { cwd, env, server } = await scene({
      user: { hooks: { PreToolUse: [{ matcher: "Bash", hooks: [hook] }] } },
      replies: [{ calls: [{ name: "Bash", input: { command: "touch made" } }] }, { text: "done" }],
    });
    const servers = { mcpServers: { tiny: { command: "node", args: [join(projectRoot, "test/contract/tiny-mcp-server.mjs")] } } };
    const ended = await run(["-p", "go", "--allowedTools", "Bash", "--mcp-config", JSON.stringify(servers)], { cwd, env });
    assert.equal(ended.code, 0, ended.stderr);
    assert.equal(existsSync(join(cwd, "made")), false);
    assert.match(JSON.stringify(server.requests[1]?.body), /no Bash/);
  });
});

describe("the key and the address", () => {
  const keysOf = (server: Awaited<ReturnType<typeof scene>>["server"]) =>
    server.requests.map(({ headers }) => [headers["x-api-key"], headers.authorization]);

  it("come from the program that apiKeyHelper names, asked again when the key is refused", async () => {
    const apiKeyHelper = "echo x >> count; echo key-$(wc -l < count | tr -d ' ')";
    const { cwd, env, server } = await scene({
      user: { apiKeyHelper },
      replies: [{ status: 401 }, { text: "done" }],
    });
    const ended = await run(["-p", "go", "--output-format", "stream-json"], { cwd, env: { ...env, ANTHROPIC_API_KEY: "" } });
    assert.equal(ended.code, 0, ended.stderr);
    assert.deepEqual(keysOf(server), [
      ["key-1", "Bearer key-1"],
      ["key-2", "Bearer key-2"],
    ]);
    assert.equal(lines(ended.stdout).find(({ subtype }) => subtype === "init")?.["apiKeySource"], "apiKeyHelper");
  });

  it("serve the fallback model as well", async () => {
    const { cwd, env, server } = await scene({
      user: { apiKeyHelper: "echo key" },
      replies: [{ status: 404 }, { text: "done" }],
    });
    const models = ["--model", "claude-opus-4-8", "--fallback-model", "claude-sonnet-5"];
    const ended = await run(["-p", "go", ...models], { cwd, env: { ...env, ANTHROPIC_API_KEY: "" } });
    assert.equal(ended.code, 0, ended.stderr);
    assert.deepEqual(modelsOf(server), ["claude-opus-4-8", "claude-sonnet-5"]);
  });

  it("say why there is none when the program fails, and no project names one", async () => {
    const failing = await scene({ user: { apiKeyHelper: "echo locked >&2; exit 3" } });
    const failed = await run(["-p", "go"], { cwd: failing.cwd, env: { ...failing.env, ANTHROPIC_API_KEY: "" } });
    assert.equal(failed.code, 78);
    assert.match(failed.stderr, /the apiKeyHelper ended with exit code 3 and said: locked/);
    const foreign = await scene({ project: { apiKeyHelper: "touch made; echo key" } });
    const refused = await run(["-p", "go", ...asked], { cwd: foreign.cwd, env: { ...foreign.env, ANTHROPIC_API_KEY: "" } });
    assert.deepEqual([refused.code, existsSync(join(foreign.cwd, "made"))], [78, false]);
  });

  it("come from env of the user's settings, and programs get no key", async () => {
    const { cwd, env, server } = await scene({
      replies: [{ calls: [{ name: "Bash", input: { command: "env > seen" } }] }, { text: "done" }],
    });
    const { ANTHROPIC_BASE_URL, ...rest } = env;
    const settings = { env: { ANTHROPIC_BASE_URL, ANTHROPIC_AUTH_TOKEN: "own-token", ANTHROPIC_MODEL: "claude-haiku-4-5" } };
    writeFileSync(join(env.HOME, ".claude/settings.json"), JSON.stringify(settings));
    const ended = await run(["-p", "go", "--allowedTools", "Bash"], { cwd, env: { ...rest, ANTHROPIC_API_KEY: "" } });
    assert.equal(ended.code, 0, ended.stderr);
    assert.deepEqual(keysOf(server)[0], [undefined, "Bearer own-token"]);
    assert.deepEqual(modelsOf(server), ["claude-haiku-4-5", "claude-haiku-4-5"]);
    assert.doesNotMatch(readFileSync(join(cwd, "seen"), "utf8"), /own-token/);
  });
});

describe("the setting agent", () => {
  it("makes the conversation that agent, and one that is not there is told of", async () => {
    const reviewer = "---\nname: reviewer\ndescription: reviews\n---\nYou review and nothing else.";
    const there = await scene({ project: { agent: "reviewer" }, agents: { reviewer } });
    assert.equal((await run(["-p", "go", ...asked], there)).code, 0);
    assert.match(JSON.stringify(there.server.requests[0]?.body), /You review and nothing else/);
    const absent = await scene({ user: { agent: "nobody" } });
    const ended = await run(["-p", "go"], absent);
    assert.equal(ended.code, 0);
    assert.match(ended.stderr, /The setting agent names "nobody", and there is no such agent/);
  });
});

describe("fallback models", () => {
  it("are asked one after the other", async () => {
    const replies = (request: { body: unknown }) =>
      (request.body as { model: string }).model === "claude-haiku-4-5" ? { text: "here" } : { status: 404 };
    const { cwd, env, server } = await scene({ replies });
    const models = ["--model", "claude-opus-4-8", "--fallback-model", "claude-sonnet-5,claude-haiku-4-5"];
    const ended = await run(["-p", "go", ...models], { cwd, env });
    assert.equal(ended.code, 0, ended.stderr);
    assert.deepEqual(modelsOf(server), ["claude-opus-4-8", "claude-sonnet-5", "claude-haiku-4-5"]);
  });
});
