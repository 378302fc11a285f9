import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { bin, launcher, model, run, tempFolder } from "../e2e/command.ts";
import { root } from "./reference.ts";

const folder = join(root, "integrations/harbor");
const temp = mkdtempSync(join(tmpdir(), "outrider-harbor-"));
after(() => rmSync(temp, { recursive: true, force: true }));

const found = spawnSync("python3", ["-c", "import sys; print(sys.version_info >= (3, 10))"], { encoding: "utf8" });
const skip = found.stdout?.trim() === "True" ? false : "there is no python3 of version 3.10 or newer";

/** As much of Harbor as the agent touches: what it calls is written down. */
const stubs: Record<string, string> = {
  "harbor/agents/installed/base.py": `
from dataclasses import dataclass
import os

@dataclass
class CliFlag:
    kwarg: str
    cli: str
    type: str = "str"
    choices: list | None = None
    default: object = None

def with_prompt_template(run):
    return run

@dataclass
class ErrorPattern:
    pattern: str
    exception: type

class ApiRateLimitError(Exception): pass
class ApiUsageLimitError(Exception): pass
class AgentAuthenticationError(Exception): pass
class ModelNotFoundError(Exception): pass
class ApiOverloadedError(Exception): pass
class ApiInternalServerError(Exception): pass
class NetworkConnectionError(Exception): pass

class BaseInstalledAgent:
    ERROR_PATTERNS = [ErrorPattern(r"rate.?limit", ApiRateLimitError)]
    def __init__(self, logs_dir, model_name=None, version=None, mcp_servers=None, **kwargs):
        self.logs_dir, self.model_name, self._version, self.mcp_servers = logs_dir, model_name, version, mcp_servers
        self._flags = kwargs
        self.commands = []
    def version(self):
        return self._version
    def build_cli_flags(self):
        values = [(flag.cli, self._flags.get(flag.kwarg, flag.default)) for flag in self.CLI_FLAGS]
        return " ".join(f"{cli} {value}" for cli, value in values if value is not None)
    async def ensure_system_dependencies(self, environment, names):
        self.commands.append({"dependencies": list(names)})
    async def exec_as_agent(self, environment, command, env=None):
        self.commands.append({"command": command, "env": env})
    def _get_env(self, name):
        return {"GEMINI_API_KEY": "k", "OPENAI_API_KEY": "other"}.get(name)
    async def _seed_load_trajectory(self, environment):
        await self._upload_load_trajectory(environment, "source.json")
    async def _upload_agent_owned_file(self, environment, source, target):
        self.commands.append({"upload": [source, target]})
`,
  "harbor/environments/base.py": "class BaseEnvironment: pass\n",
  "harbor/models/agent/context.py": "class AgentContext: pass\n",
};

const script = `
import asyncio, json, sys
from types import SimpleNamespace
from outrider_harbor import Outrider

server = SimpleNamespace(name="docs", transport="streamable-http", url="http://docs/mcp", command=None, args=None)
agent = Outrider(sys.argv[1], model_name="google/gemini-3", version="0.1.0", mcp_servers=[server], max_turns=5)
asyncio.run(agent.install(None))
asyncio.run(agent.run("-- it's \\"odd\\" $(touch x)", None, None))
agent._load = True
asyncio.run(agent.run("go", None, None))
context = SimpleNamespace()
agent.populate_context_post_run(context)
print(json.dumps({"name": agent.name(), "commands": agent.commands, "context": vars(context)}))
`;

/** The agent's own command, run by bash as Harbor runs it, with another folder for logs. */
const realRun = `
import asyncio, json, os, subprocess, sys
from types import SimpleNamespace
import outrider_harbor

logs = sys.argv[1]
os.makedirs(logs)
outrider_harbor.LOGS = logs
done = {}

class Local(outrider_harbor.Outrider):
    def _get_env(self, name):
        return os.environ.get(name)
    async def exec_as_agent(self, environment, command, env=None):
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "OUTRIDER_HOME")}
        ran = subprocess.run(["bash", "-c", "set -o pipefail; " + command], env={**kept, **(env or {})}, capture_output=True, text=True)
        done.update(exit=ran.returncode, said=ran.stdout + ran.stderr)

agent = Local(logs, model_name="anthropic/claude-sonnet-4-6", max_turns=5)
asyncio.run(agent.run("Make made.txt", None, None))
context = SimpleNamespace()
agent.populate_context_post_run(context)
print(json.dumps({**done, "context": vars(context)}))
`;

/** What Harbor makes of the words of failed runs, and what npm is told to install. */
const failures = `
import asyncio, json, re, sys
from outrider_harbor import Outrider

class Environment:
    uploads = []
    async def upload_file(self, source, target):
        self.uploads.append([str(source), target])

def classify(text):
    found = [(match.end(), pattern.exception.__name__) for pattern in Outrider.ERROR_PATTERNS for match in re.finditer(pattern.pattern, text, re.I)]
    return max(found)[1] if found else None

commands = []
for package in json.loads(sys.argv[2]):
    agent = Outrider("logs", package=package)
    agent.skills_dir = "/skills"
    asyncio.run(agent.install(Environment()))
    asyncio.run(agent.run("go", None, None))
    commands.append([command["command"] for command in agent.commands if "command" in command])
print(json.dumps({"classes": [classify(text) for text in json.loads(sys.argv[1])], "commands": commands, "uploads": Environment.uploads}))
`;

const usage = { inputTokens: 120, outputTokens: 20, cacheReadTokens: 100 };

function writeStubs(place: string): void {
  for (const [name, text] of Object.entries(stubs)) {
    mkdirSync(dirname(join(place, name)), { recursive: true });
    writeFileSync(join(place, name), text);
  }
}

describe("the Harbor agent", () => {
  it("is Python", { skip }, () => {
    const checked = spawnSync(
      "python3",
      ["-c", "import sys; compile(open(sys.argv[1]).read(), sys.argv[1], 'exec')", join(folder, "outrider_harbor.py")],
      { encoding: "utf8" },
    );
    assert.deepEqual([checked.status, checked.stderr], [0, ""]);
  });

  it("installs and runs the command, and reads what it used from the trajectory", { skip }, () => {
    writeStubs(temp);
    const metrics = {
      total_prompt_tokens: 100,
      total_completion_tokens: 10,
      total_cached_tokens: 50,
      total_cost_usd: 0.5,
      total_steps: 1,
      extra: { side_calls: { count: 1, prompt_tokens: 7, completion_tokens: 2, cached_tokens: 0 } },
    };
    const child = { final_metrics: { total_prompt_tokens: 20, total_completion_tokens: null, total_cached_tokens: 3 } };
    writeFileSync(
      join(temp, "trajectory.json"),
      JSON.stringify({
        steps: [{}],
        final_metrics: metrics,
        extra: { outcome: { status: "completed" } },
        subagent_trajectories: [child],
      }),
    );
    const output = execFileSync("python3", ["-B", "-c", script, temp], {
      encoding: "utf8",
      env: { PATH: process.env["PATH"] ?? "", PYTHONPATH: `${temp}:${folder}` },
    });
    const { name, commands, context } = JSON.parse(output);
    assert.deepEqual([name, commands[0]], ["outrider", { dependencies: ["curl", "bash", "git", "ca_certificates"] }]);
    assert.match(commands[1].command, /npm install --global --prefix .* outrider@0\.1\.0 /);
    const run: string = commands[2].command;
    assert.deepEqual(commands[2].env, { GEMINI_API_KEY: "k" });
    assert.deepEqual(
      [commands[3], /--load-trajectory \/logs\/agent\/load-trajectory\.json/.test(commands[4].command)],
      [{ upload: ["source.json", "/logs/agent/load-trajectory.json"] }, true],
    );
    // The words the shell would hand over, whatever the instruction holds.
    const echo = run.slice(run.indexOf("outrider --print"), run.indexOf(" </dev/null")).replace("outrider", "printf '%s\\n'");
    assert.deepEqual(execFileSync("bash", ["-c", echo], { encoding: "utf8", cwd: temp }).trimEnd().split("\n"), [
      "--print",
      "--trajectory",
      "/logs/agent/trajectory.json",
      "--verbose",
      "--allow-dangerously-skip-permissions",
      "--model",
      "gemini/gemini-3",
      "--mcp-config",
      '{"mcpServers": {"docs": {"type": "http", "url": "http://docs/mcp"}}}',
      "--max-turns",
      "5",
      "--permission-mode",
      "bypassPermissions",
      "--",
      `-- it's "odd" $(touch x)`,
    ]);
    for (const { command } of [commands[1], commands[2], commands[4]]) execFileSync("bash", ["-n", "-c", command]);
    assert.deepEqual(context, {
      n_input_tokens: 127,
      n_cache_tokens: 53,
      n_output_tokens: 12,
      cost_usd: 0.5,
      metadata: { outcome: { status: "completed" }, n_steps: 1, n_subagents: 1 },
    });
  });

  it("runs the built command as Harbor would: it may do everything, and what it did is counted", { skip }, async () => {
    const place = tempFolder("harbor-run");
    const { env } = await model(
      [
        { text: "Writing.", calls: [{ name: "Write", input: { file_path: "made.txt", content: "x" } }], usage },
        { text: "Done.", usage },
      ],
      join(place, "home"),
    );
    writeStubs(place);
    const shim = join(place, ".outrider-agent/bin/outrider");
    mkdirSync(dirname(shim), { recursive: true });
    writeFileSync(shim, `#!/bin/sh\nexec '${launcher}' '${bin}' "$@"\n`, { mode: 0o755 });
    const python = spawn("python3", ["-B", "-c", realRun, join(place, "logs")], {
      cwd: place,
      env: { PATH: process.env["PATH"] ?? "", HOME: place, PYTHONPATH: `${place}:${folder}`, ...env },
    });
    let output = "";
    python.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    let complaints = "";
    python.stderr.setEncoding("utf8").on("data", (text: string) => {
      complaints += text;
    });
    const [code] = await once(python, "close");
    assert.deepEqual([code, complaints], [0, ""]);
    const { exit, said, context } = JSON.parse(output);
    assert.equal(exit, 0, said);
    assert.match(said, /Done\.$/m);
    assert.equal(readFileSync(join(place, "made.txt"), "utf8"), "x");
    assert.deepEqual(
      [context.n_input_tokens, context.n_cache_tokens, context.n_output_tokens, context.metadata],
      [240, 200, 40, { outcome: { status: "completed" }, n_steps: 4, n_subagents: 0 }],
    );
    assert.ok(context.cost_usd > 0);
  });

  it("sorts what the command says of failures, installs tarballs and tells of skills", { skip }, async () => {
    const place = tempFolder("harbor-failures");
    writeStubs(place);
    const said: string[] = [];
    for (const status of [429, 401, 404, 529, 500]) {
      const { env } = await model(() => ({ status }), join(place, `home-${status}`));
      said.push((await run(["-p", "x", "--verbose"], { env: { ...env, OUTRIDER_MAX_RETRIES: "0" }, cwd: place })).stderr);
    }
    const nobody = { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: "http://127.0.0.1:9", OUTRIDER_HOME: join(place, "home") };
    said.push((await run(["-p", "x"], { env: nobody, cwd: place })).stderr, "Something else");
    const tarball = join(place, "outrider.tgz");
    writeFileSync(tarball, "");
    const output = execFileSync(
      "python3",
      ["-B", "-c", failures, JSON.stringify(said), JSON.stringify([tarball, "https://x/o.tgz"])],
      {
        encoding: "utf8",
        env: { PATH: process.env["PATH"] ?? "", PYTHONPATH: `${place}:${folder}` },
      },
    );
    const { classes, commands, uploads } = JSON.parse(output);
    assert.deepEqual(classes, [
      "ApiRateLimitError",
      "AgentAuthenticationError",
      "ModelNotFoundError",
      "ApiOverloadedError",
      "ApiInternalServerError",
      "NetworkConnectionError",
      null,
    ]);
    assert.deepEqual(uploads, [[tarball, "/tmp/outrider-package.tgz"]]);
    assert.match(commands[0][0], /npm install .* \/tmp\/outrider-package\.tgz /);
    assert.match(commands[1][0], /npm install .* https:\/\/x\/o\.tgz /);
    assert.match(commands[0][1], /--add-dir \/skills --append-system-prompt 'Instructions for kinds of work/);
  });

  it("is registered under the version that is published", () => {
    const { version } = JSON.parse(readFileSync(join(root, "packages/cli/package.json"), "utf8"));
    const entry = JSON.parse(readFileSync(join(folder, "agent.json"), "utf8"));
    assert.deepEqual([entry.version, entry.distribution.npx.package], [version, `outrider@${version}`]);
    assert.match(
      readFileSync(join(folder, "pyproject.toml"), "utf8"),
      new RegExp(`^version = "${version.replaceAll(".", "\\.")}"$`, "m"),
    );
  });
});
