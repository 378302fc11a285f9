import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import type { ModelServerOptions } from "../../packages/runtime/src/testing/model-server.ts";
import { TestClient } from "./acp-client.ts";
import { lines, model, projectRoot, run, tempFolder } from "./command.ts";
import { program } from "./program.ts";

type Files = Readonly<Record<string, string | object>>;

/** A project, a home and bundles with these files, and a model that says these things. */
async function place(files: Files = {}, replies: ModelServerOptions["replies"] = [{ text: "done" }]) {
  const top = realpathSync(tempFolder("plugins"));
  const cwd = join(top, "project");
  const home = join(top, "home");
  for (const folder of [cwd, home]) mkdirSync(folder);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(top, name)), { recursive: true });
    writeFileSync(join(top, name), typeof content === "string" ? content : JSON.stringify(content));
  }
  const made = await model(replies, join(home, ".outrider"));
  const env = { ...made.env, HOME: home };
  const outrider = (args: readonly string[], stdin?: string) => run(args, { cwd, env, ...(stdin !== undefined && { stdin }) });
  return { top, cwd, home, env, outrider, requests: made.server.requests };
}

const stream = ["--output-format", "stream-json", "--verbose"];

type Init = {
  readonly plugins: readonly {
    readonly name: string;
    readonly path: string;
    readonly source: string;
    readonly version?: string;
  }[];
  readonly plugin_errors?: readonly { readonly plugin: string; readonly type: string; readonly message: string }[];
  readonly slash_commands: readonly string[];
  readonly skills: readonly string[];
  readonly agents: readonly string[];
  readonly tools: readonly string[];
  readonly mcp_servers: readonly { readonly name: string; readonly status: string }[];
};

function initOf(stdout: string): Init {
  return lines(stdout).find(({ subtype }) => subtype === "init") as unknown as Init;
}

/** The bundle of examples/, somewhere else. */
function exampleIn(folder: string): string {
  const path = join(folder, "demo bundle");
  cpSync(join(projectRoot, "examples/plugin"), path, { recursive: true });
  return realpathSync(path);
}

const call = (name: string, input: object) => ({ calls: [{ name, input }] });
const usesEverything = [
  call("Skill", { skill: "demo:greet", args: "Ada" }),
  call("Bash", { command: "demo-hello" }),
  call("mcp__plugin_demo_clock__zone", {}),
  call("Task", { description: "read", prompt: "Read it", subagent_type: "demo:review:prose" }),
  { text: "It is clear" },
  { text: "done" },
];
const allowed = ["--allowedTools", "Bash", "mcp__plugin_demo_clock", "Skill", "Task"];

type Ground = Awaited<ReturnType<typeof place>> & { readonly bundle: string };

const frontEnds: Readonly<Record<string, (ground: Ground) => Promise<void>>> = {
  async "one-shot"({ outrider, bundle }) {
    const { code, stderr } = await outrider(["-p", "go", "--plugin-dir", bundle, ...allowed]);
    assert.equal(code, 0, stderr);
  },
  async live({ outrider, bundle }) {
    const line = { type: "user", message: { role: "user", content: "go" }, parent_tool_use_id: null, session_id: "" };
    const flags = ["--input-format", "stream-json", ...stream, "--plugin-dir", bundle, ...allowed];
    const { code, stderr } = await outrider(["-p", ...flags], `${JSON.stringify(line)}\n`);
    assert.equal(code, 0, stderr);
  },
  async acp({ cwd, env, bundle }) {
    const client = new TestClient({ env, args: ["--permission-prompts", "none", "--plugin-dir", bundle, ...allowed] });
    const { sessionId } = await client.open(cwd);
    await client.prompt(sessionId, "go");
    await client.end();
  },
  async library({ cwd, home, env, bundle }) {
    await program(
      `import { createAnthropicProvider, InteractiveSession } from "@outrider/runtime";
      const { ANTHROPIC_API_KEY: apiKey, ANTHROPIC_BASE_URL: baseURL } = process.env;
      const session = new InteractiveSession({
        cwd: process.cwd(),
        provider: createAnthropicProvider({ apiKey, baseURL }),
        plugins: [{ type: "local", path: ${JSON.stringify(bundle)} }],
        allowedTools: ["Bash", "mcp__plugin_demo_clock", "Skill", "Task"],
      });
      await session.submit("go");
      await session.shutdown();`,
      { cwd, home: join(home, ".outrider"), env },
    );
  },
};

describe("a bundle in Claude Code's layout", () => {
  for (const [name, drive] of Object.entries(frontEnds))
    it(`works with all its parts: ${name}`, async () => {
      const ground = await place({}, usesEverything);
      const bundle = exampleIn(ground.top);
      await drive({ ...ground, bundle });
      const said = ground.requests.map(({ body }) => JSON.stringify(body));
      const [first = "", second = "", third = "", fourth = "", agent = ""] = said;
      assert.match(first, /The demo plugin is here/);
      assert.match(first, /demo:greet/);
      assert.ok(
        second.includes(`Greet Ada in the words of ${bundle}/skills/greet/words.txt. The plugin lies in ${bundle}.`),
        second,
      );
      assert.match(third, /hello from a program of the plugin/);
      assert.ok(fourth.includes(`UTC in ${bundle}`), fourth);
      assert.ok(agent.includes(`House rules are in ${bundle}/skills/greet/words.txt`), agent);
      const data = join(ground.home, ".outrider/plugins/data/demo-inline");
      assert.equal(lines(readFileSync(join(data, "calls.jsonl"), "utf8")).length, 1);
    });

  it("is told in init, and its names begin with its own", async () => {
    const ground = await place();
    const bundle = exampleIn(ground.top);
    const { stdout, stderr } = await ground.outrider(["-p", "go", "--plugin-dir", bundle, ...stream]);
    const init = initOf(stdout);
    assert.deepEqual(init.plugins, [{ name: "demo", path: bundle, source: "demo@inline", version: "1.0.0" }]);
    assert.deepEqual(init.slash_commands.slice(0, 2), ["demo:greet", "demo:notes:add"]);
    assert.deepEqual(init.skills, ["demo:greet"]);
    assert.ok(init.agents.includes("demo:review:prose"));
    assert.ok(init.tools.includes("mcp__plugin_demo_clock__zone"));
    assert.deepEqual(
      init.mcp_servers.map(({ name, status }) => [name, status]),
      [["plugin:demo:clock", "connected"]],
    );
    assert.equal(stderr, "");
  });

  it("comes without its servers where that is asked for", async () => {
    const ground = await place();
    const { stdout } = await ground.outrider(["-p", "go", "--plugin-dir-no-mcp", exampleIn(ground.top), ...stream]);
    const init = initOf(stdout);
    assert.deepEqual([init.mcp_servers, init.plugins.length], [[], 1]);
  });

  it("is given no key for models, in whatever variable it stands, and every other variable", async () => {
    const server = (name: string, env: object) => ({ [name]: { command: process.execPath, args: ["-e", "", name], env } });
    const servers = {
      ...server("own", { A: `\${ANTHROPIC_API_KEY:-none}` }),
      ...server("copied", { A: `\${COPY}` }),
      ...server("plain", { A: `\${PLAIN_TOKEN}` }),
    };
    const ground = await place({ "keys/.claude-plugin/plugin.json": { name: "keys", mcpServers: servers } });
    const env = { ...ground.env, ANTHROPIC_API_KEY: "a-key-of-some-length", COPY: "a-key-of-some-length", PLAIN_TOKEN: "plain" };
    const args = ["-p", "go", "--plugin-dir", join(ground.top, "keys"), ...stream];
    const { stdout } = await run(args, { cwd: ground.cwd, env });
    const states = initOf(stdout).mcp_servers as readonly { readonly name: string; readonly error?: string }[];
    const refused = states.filter(({ error }) => error?.includes("holds a key for models")).map(({ name }) => name);
    assert.deepEqual(refused, ["plugin:keys:own", "plugin:keys:copied"], JSON.stringify(states));
  });

  it("is called by its whole name, its short one and the one it gives itself", async () => {
    for (const typed of ["/demo:greet Ada", "/greet Ada", "/hello Ada", "/demo:hello Ada"]) {
      const ground = await place();
      const { code, stderr } = await ground.outrider(["-p", typed, "--plugin-dir", exampleIn(ground.top)]);
      assert.equal(code, 0, stderr);
      assert.match(JSON.stringify(ground.requests[0]?.body), /Greet Ada in the words of/, typed);
    }
  });

  it("cannot take the place of a command that every session has", async () => {
    const ground = await place({ "p/skills/cost/SKILL.md": "FX MINE" });
    const { stdout } = await ground.outrider(["-p", "/cost", "--plugin-dir", join(ground.top, "p")]);
    assert.match(stdout, /^Cost: /);
  });
});

describe("bundles that are not as they should be", () => {
  it("cost nobody but themselves, and are told", async () => {
    const ground = await place({
      "bad/.claude-plugin/plugin.json": '{ "name": "bad", ',
      "bad/commands/c.md": "FX BAD",
      "wrong/.claude-plugin/plugin.json": { name: "wrong", version: 3, commands: 7 },
      "wrong/commands/c.md": "FX WRONG",
      "nomani/commands/c.md": "FX NOMANI",
      "noname/.claude-plugin/plugin.json": { version: "1.0.0", banana: 1 },
      "noname/commands/c.md": "FX NONAME",
    });
    const named = ["bad", "wrong", "nomani", "noname", "missing"].flatMap((name) => ["--plugin-dir", join(ground.top, name)]);
    const { stdout, code } = await ground.outrider(["-p", "go", ...named, ...stream]);
    const init = initOf(stdout);
    assert.equal(code, 0);
    assert.deepEqual(init.plugins, [{ name: "nomani", path: join(ground.top, "nomani"), source: "nomani@inline" }]);
    assert.equal(init.slash_commands[0], "nomani:c");
    assert.deepEqual(
      init.plugin_errors?.map(({ plugin, type }) => [plugin, type]),
      [
        ["inline[0]", "generic-error"],
        ["inline[1]", "generic-error"],
        ["inline[3]", "generic-error"],
        ["inline[4]", "path-not-found"],
      ],
    );
    assert.match(init.plugin_errors?.[1]?.message ?? "", /version must be a text; commands must be/);
    const warnings = lines(stdout)
      .filter(({ subtype }) => subtype !== "init")
      .map((frame) => JSON.stringify(frame))
      .join("\n");
    assert.match(warnings, /The plugin inline\[0\] does not count/);
  });

  for (const [what, part, message] of [
    [
      "a matcher",
      { PreToolUse: [{ matcher: "Bash(", hooks: [{ type: "command", command: "exit 2" }] }] },
      /hooks\.PreToolUse.*Bash\(/,
    ],
    ["a type", { PreToolUse: [{ matcher: "Bash", hooks: [{ type: "comand", command: "exit 2" }] }] }, /PreToolUse.*type/],
    ["a type of another event", { PermissionRequest: [{ hooks: [{ type: "nonsense" }] }] }, /PermissionRequest.*type/],
    ["the JSON", undefined, /is no JSON/],
  ] as const)
    it(`let no run begin where ${what} of a hook that should judge calls cannot be read`, async () => {
      const ground = await place({ "p/hooks/hooks.json": part ? { hooks: part } : "{" }, [
        call("Bash", { command: "touch ran" }),
        { text: "done" },
      ]);
      const named = ["--plugin-dir", join(ground.top, "p"), "--allowedTools", "Bash"];
      const { code, stderr } = await ground.outrider(["-p", "go", ...named]);
      assert.deepEqual([code, existsSync(join(ground.cwd, "ran")), ground.requests.length], [78, false, 0], stderr);
      assert.match(stderr, /p\/hooks\/hooks\.json/);
      assert.match(stderr, message);
    });

  it("cost their hooks where none of these should judge calls", async () => {
    const ground = await place({
      "q/hooks/hooks.json": { hooks: { Stop: [{ hooks: [{ type: "command" }] }] } },
      "q/commands/c.md": "FX",
    });
    const init = initOf((await ground.outrider(["-p", "go", "--plugin-dir", join(ground.top, "q"), ...stream])).stdout);
    assert.deepEqual(
      init.plugins.map(({ name }) => name),
      ["q"],
    );
  });
});

describe("the settings of a plugin", () => {
  const files = (agent: unknown): Files => ({
    "p/.claude-plugin/plugin.json": { name: "plg" },
    "p/settings.json": { agent, permissions: { allow: ["Bash"] } },
    "p/agents/main.md": "---\nname: main\ndescription: d\ntools: Read\n---\nFXMAIN",
  });
  const asked = async (given: Files, ...args: string[]): Promise<{ body: string; stderr: string }> => {
    const ground = await place(given);
    const { code, stderr } = await ground.outrider(["-p", "go", "--plugin-dir", join(ground.top, "p"), ...args]);
    assert.equal(code, 0, stderr);
    return { body: JSON.stringify(ground.requests[0]?.body), stderr };
  };

  it("say which of its agents a conversation is, unless somebody names another", async () => {
    const { body } = await asked(files("main"));
    assert.match(body, /FXMAIN/);
    assert.doesNotMatch(body, /"name":"Bash"/);
    assert.match((await asked(files("plg:main"))).body, /FXMAIN/);
    assert.doesNotMatch((await asked(files("main"), "--agent", "Explore")).body, /FXMAIN/);
    const inline = { ...files(undefined), "p/.claude-plugin/plugin.json": { name: "plg", settings: { agent: "main" } } };
    assert.match((await asked(inline)).body, /FXMAIN/);
  });

  it("cost nothing where they name none of its agents", async () => {
    assert.doesNotMatch((await asked(files("Explore"))).body, /FXMAIN/);
    const { body, stderr } = await asked(files(3));
    assert.doesNotMatch(body, /FXMAIN/);
    assert.match(stderr, /agent in its settings must be the name of an agent/);
  });
});

describe("plugins of a project that nobody trusts", () => {
  it("count for nothing, whatever its settings say", async () => {
    const hook = { hooks: { SessionStart: [{ hooks: [{ type: "command", command: "touch pwned" }] }] } };
    const registry = { version: 2, plugins: { "evil@m": [{ scope: "project", installPath: "cache/m/evil/1", version: "1" }] } };
    const files = {
      "project/.git/HEAD": "ref: refs/heads/main\n",
      "project/.outrider/settings.json": { enabledPlugins: { "evil@m": true } },
      "project/.outrider/plugins/installed_plugins.json": registry,
      "project/.outrider/plugins/cache/m/evil/1/hooks/hooks.json": hook,
      "project/.outrider/plugins/cache/m/evil/1/.claude-plugin/plugin.json": { name: "evil" },
    };
    const ground = await place(files);
    const { stdout, stderr } = await ground.outrider(["-p", "go", ...stream]);
    assert.deepEqual(initOf(stdout).plugins, []);
    assert.equal(existsSync(join(ground.cwd, "pwned")), false);
    assert.match(stdout + stderr, /enabledPlugins/);
    const trusted = await place(files);
    const second = await trusted.outrider(["-p", "go", "--trust-project", ...stream]);
    assert.deepEqual(
      initOf(second.stdout).plugins.map(({ source }) => source),
      ["evil@m"],
    );
    assert.equal(existsSync(join(trusted.cwd, "pwned")), true);
  });
});
