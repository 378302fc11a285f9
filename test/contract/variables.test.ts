import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { ModelServerOptions } from "../../packages/runtime/src/testing/model-server.ts";
import { lines, model, projectRoot, run, tempFolder } from "../e2e/command.ts";

const page = readFileSync(join(projectRoot, "docs/claude-variables.md"), "utf8");
const named = JSON.parse(readFileSync(join(projectRoot, "test/contract/claude-variables.json"), "utf8")) as string[];

describe("the page of Claude Code's variables", () => {
  const [, obeyed = "", without = ""] = /## Obeyed\n([\s\S]*)\n## Without effect\n([\s\S]*)/.exec(page) ?? [];
  const namesIn = (text: string): string[] => [...text.matchAll(/`([A-Z][A-Z0-9_]+)`/g)].map(([, name = ""]) => name);
  const source = sourceIn(join(projectRoot, "packages"));

  it("lists every variable", () => {
    const listed = new Set(namesIn(page));
    assert.deepEqual(
      named.filter((name) => !listed.has(name)),
      [],
    );
  });

  it("says of none that it is obeyed which the code does not know, and of none that it has no effect which the code reads", () => {
    const isRead = (name: string): boolean => new RegExp(`["'.\\s]${name}["':,\\s]`).test(source);
    const byNode = ["NODE_EXTRA_CA_CERTS"]; // read by Node itself too
    const isMade = (name: string): boolean => /^ANTHROPIC_DEFAULT_[A-Z]+_MODEL$/.test(name); // put together of the model's word
    assert.deepEqual(
      namesIn(obeyed).filter((name) => !byNode.includes(name) && !isMade(name) && !isRead(name)),
      [],
    );
    assert.deepEqual(
      namesIn(without.split("stand for every name")[0] ?? "").filter((name) => isRead(name)),
      [],
    );
  });
});

function sourceIn(folder: string): string {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return files
    .filter((name) => /\/src\/.*\.ts$/.test(name) && !name.endsWith(".test.ts"))
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .join("\n");
}

type Told = { frames: Record<string, unknown>[]; requests: Record<string, unknown>[]; cwd: string; code: number | null };

async function tell(env: Record<string, string>, { replies = [{ text: "ok" }], args = [], settings }: Scene = {}): Promise<Told> {
  const cwd = realpathSync(tempFolder("variables"));
  const home = tempFolder("variables-home");
  if (settings) writeFileSync(join(home, "settings.json"), JSON.stringify(settings));
  writeFileSync(join(cwd, "CLAUDE.md"), "PROJECT WORDS");
  const { server, env: own } = await model(replies, home);
  const words = ["-p", "go", "--output-format", "stream-json", "--dangerously-skip-permissions", "--sandbox", "off", ...args];
  const { stdout, code } = await run(words, { cwd, env: { ...own, ...env } });
  return {
    frames: lines(stdout),
    requests: server.requests.map(({ body }) => body as Record<string, unknown>),
    cwd,
    code,
  };
}

type Scene = { replies?: ModelServerOptions["replies"]; args?: string[]; settings?: object };

const bash = (command: string, more = {}) => ({ calls: [{ name: "Bash", input: { command, ...more } }] });
const sent = ({ requests }: Told): string => JSON.stringify(requests);
const bashTool = ({ requests }: Told): { description: string; input_schema: { properties: { timeout: { maximum: number } } } } =>
  ((requests[0]?.["tools"] ?? []) as { name: string }[]).find(({ name }) => name === "Bash") as never; // sent by the command under test

describe("variables of Claude Code", () => {
  it("BASH_DEFAULT_TIMEOUT_MS and BASH_MAX_TIMEOUT_MS are what the model is told, and what ends a command", async () => {
    const told = await tell(
      { BASH_DEFAULT_TIMEOUT_MS: "300", BASH_MAX_TIMEOUT_MS: "900000" },
      { replies: [bash("sleep 20"), { text: "ok" }] },
    );
    const { description, input_schema } = bashTool(told);
    assert.match(description, /300 unless given, at most 900000/);
    assert.equal(input_schema.properties.timeout.maximum, 900_000);
    assert.match(sent(told), /Stopped after 300 ms/);
  });

  it("BASH_MAX_OUTPUT_LENGTH shows more or less of a command's output, in settings too", async () => {
    const replies = [bash("printf 'x%.0s' $(seq 50000)"), { text: "ok" }];
    const shown = (told: Told): number => (/x{1000,}/.exec(sent(told))?.[0] ?? "").length;
    assert.equal(shown(await tell({ BASH_MAX_OUTPUT_LENGTH: "60000" }, { replies })), 50_000);
    assert.ok(shown(await tell({ BASH_MAX_OUTPUT_LENGTH: "4000" }, { replies })) < 4_000);
    const settings = { env: { BASH_MAX_OUTPUT_LENGTH: "60000" } };
    assert.equal(shown(await tell({ BASH_MAX_OUTPUT_LENGTH: "4000" }, { replies, settings })), 50_000);
    assert.ok(shown(await tell({ BASH_MAX_OUTPUT_LENGTH: "much" }, { replies })) < 30_000);
  });

  it("CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR starts every command at the top", async () => {
    const replies = [bash("mkdir -p sub && cd sub"), bash("pwd"), { text: "ok" }];
    const on = await tell({ CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR: "1" }, { replies });
    assert.ok(!sent(on).includes(`${on.cwd}/sub`));
    const off = await tell({}, { replies });
    assert.ok(sent(off).includes(`${off.cwd}/sub`));
  });

  it("CLAUDE_CODE_MAX_TURNS is a limit, and --max-turns wins", async () => {
    const replies = [bash("true"), bash("true"), { text: "ok" }];
    assert.equal((await tell({ CLAUDE_CODE_MAX_TURNS: "1" }, { replies })).code, 75);
    assert.equal((await tell({ CLAUDE_CODE_MAX_TURNS: "1" }, { replies, args: ["--max-turns", "9"] })).code, 0);
  });

  it("CLAUDE_CODE_DISABLE_CLAUDE_MDS and CLAUDE_CODE_SIMPLE leave instruction files out", async () => {
    assert.match(sent(await tell({})), /PROJECT WORDS/);
    for (const name of ["CLAUDE_CODE_DISABLE_CLAUDE_MDS", "CLAUDE_CODE_SIMPLE"])
      assert.doesNotMatch(sent(await tell({ [name]: "1" })), /PROJECT WORDS/, name);
  });

  it("CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD adds the instructions of folders beside the project", async () => {
    const beside = tempFolder("beside");
    mkdirSync(join(beside, ".claude/rules"), { recursive: true });
    writeFileSync(join(beside, "CLAUDE.md"), "OTHER WORDS");
    writeFileSync(join(beside, ".claude/rules/one.md"), "OTHER RULE");
    const args = ["--add-dir", beside];
    const told = await tell({ CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD: "1" }, { args });
    assert.match(sent(told), /PROJECT WORDS[\s\S]*OTHER WORDS[\s\S]*OTHER RULE/);
    assert.doesNotMatch(sent(await tell({}, { args })), /OTHER/);
  });

  it("CLAUDE_AGENT_SDK_DISABLE_BUILTIN_AGENTS leaves no agents", async () => {
    const agents = ({ frames }: Told): unknown => frames.find(({ subtype }) => subtype === "init")?.["agents"];
    assert.notDeepEqual(agents(await tell({})), []);
    assert.deepEqual(agents(await tell({ CLAUDE_AGENT_SDK_DISABLE_BUILTIN_AGENTS: "true" })), []);
  });

  it("CLAUDE_CODE_DISABLE_FILE_CHECKPOINTING keeps no files", async () => {
    const replies = [{ calls: [{ name: "Write", input: { file_path: "a.txt", content: "a" } }] }, { text: "ok" }];
    const home = tempFolder("kept");
    const kept = (env: Record<string, string>): Promise<Told> => tell({ OUTRIDER_HOME: home, ...env }, { replies });
    await kept({ CLAUDE_CODE_DISABLE_FILE_CHECKPOINTING: "1" });
    assert.equal(existsSync(join(home, "checkpoints")), false);
    await kept({});
    assert.equal(existsSync(join(home, "checkpoints")), true);
  });

  it("CLAUDE_CONFIG_DIR holds the user's settings, instructions and agents of Claude Code", async () => {
    const config = tempFolder("config");
    mkdirSync(join(config, "agents"));
    writeFileSync(join(config, "CLAUDE.md"), "USER WORDS");
    writeFileSync(join(config, "settings.json"), JSON.stringify({ permissions: { deny: ["Bash"] } }));
    writeFileSync(join(config, "agents/filed.md"), "---\nname: filed\ndescription: Files.\n---\nYou file.");
    const told = await tell({ CLAUDE_CONFIG_DIR: config }, { replies: [bash("true"), { text: "ok" }] });
    const init = told.frames.find(({ subtype }) => subtype === "init") as { agents: string[] } | undefined;
    const result = told.frames.at(-1) as { permission_denials: unknown[] };
    assert.ok(init?.agents.includes("filed"));
    assert.match(sent(told), /USER WORDS/);
    assert.equal(result.permission_denials.length, 1);
  });

  it("DISABLE_AUTO_COMPACT and CLAUDE_AUTOCOMPACT_PCT_OVERRIDE say when the conversation is summarised", async () => {
    const long = { ...bash("printf 'word %.0s' $(seq 5000)"), usage: { inputTokens: 60_000, outputTokens: 1 } };
    const other = { ...bash("printf 'other %.0s' $(seq 4000)"), usage: { inputTokens: 60_000, outputTokens: 1 } };
    const replies = [long, other, long, other, { text: "a summary" }, { text: "ok" }, { text: "ok" }];
    const compacts = async (env: Record<string, string>): Promise<boolean> =>
      (await tell(env, { replies, args: ["--model", "claude-sonnet-4-5"] })).frames.some(({ status }) => status === "compacting");
    assert.equal(await compacts({ CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: "5" }), true);
    assert.equal(await compacts({ CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: "5", DISABLE_AUTO_COMPACT: "1" }), false);
  });

  it("CLAUDE_CODE_EFFORT_LEVEL and CLAUDE_CODE_DISABLE_THINKING say how hard the model thinks, and flags say it louder", async () => {
    const asked = async (env: Record<string, string>, ...args: string[]) => {
      const { requests } = await tell(env, { args: ["--model", "claude-opus-5", ...args] });
      const { thinking, output_config: config } = requests[0] as {
        thinking?: { type: string };
        output_config?: { effort: string };
      };
      return [thinking?.type, config?.effort];
    };
    assert.deepEqual(await asked({ CLAUDE_CODE_EFFORT_LEVEL: "xhigh" }), ["adaptive", "xhigh"]);
    assert.deepEqual(await asked({ CLAUDE_CODE_EFFORT_LEVEL: "xhigh" }, "--effort", "low"), ["adaptive", "low"]);
    assert.deepEqual(await asked({ CLAUDE_CODE_DISABLE_THINKING: "1" }), ["disabled", undefined]);
  });

  it("CLAUDE_CODE_SUBAGENT_MODEL is the model of agents that are given none", async () => {
    const agents = { bare: { description: "b", prompt: "b" }, own: { description: "o", prompt: "o", model: "opus" } };
    const calls = Object.keys(agents).map((name) => ({
      name: "Task",
      input: { description: "d", prompt: `for ${name}`, subagent_type: name },
    }));
    const replies = [{ calls }, { text: "ok" }, { text: "ok" }, { text: "ok" }];
    const env = { CLAUDE_CODE_SUBAGENT_MODEL: "claude-haiku-4-5" };
    const { requests } = await tell(env, { replies, args: ["--agents", JSON.stringify(agents)] });
    const modelOf = (words: string) => requests.find(({ messages }) => JSON.stringify(messages).startsWith(words))?.["model"];
    const begins = (name: string) => `[{"role":"user","content":[{"type":"text","text":"for ${name}`;
    assert.deepEqual([modelOf(begins("bare")), modelOf(begins("own"))], ["claude-haiku-4-5", "claude-opus-5-5"]);
  });

  it("CLAUDE_CODE_USE_BEDROCK asks Bedrock, unless somebody names a provider", async () => {
    const { frames } = await tell({ CLAUDE_CODE_USE_BEDROCK: "1", AWS_BEARER_TOKEN_BEDROCK: "x", AWS_REGION: "" });
    assert.match(JSON.stringify(frames.at(-1)), /bedrock|AWS/i);
    const named = await tell({ CLAUDE_CODE_USE_BEDROCK: "1" }, { args: ["--provider", "anthropic"] });
    assert.equal(named.code, 0);
  });

  it("CLAUDE_CODE_MAX_RETRIES says how often the model is asked again, in settings too", async () => {
    const replies = () => ({ status: 500, body: { type: "error", error: { type: "api_error", message: "down" } } });
    assert.equal((await tell({ CLAUDE_CODE_MAX_RETRIES: "1" }, { replies })).requests.length, 2);
    const settings = { env: { CLAUDE_CODE_MAX_RETRIES: "0" } };
    assert.equal((await tell({ CLAUDE_CODE_MAX_RETRIES: "1" }, { replies, settings })).requests.length, 1);
  });

  it("MCP_TIMEOUT in the env of settings bounds a server's start", async () => {
    const silent = JSON.stringify({ mcpServers: { silent: { command: "sleep", args: ["30"] } } });
    const { frames } = await tell({}, { args: ["--mcp-config", silent], settings: { env: { MCP_TIMEOUT: "300" } } });
    const init = frames.find(({ subtype }) => subtype === "init") as { mcp_servers: { status: string }[] } | undefined;
    assert.deepEqual(
      init?.mcp_servers.map(({ status }) => status),
      ["failed"],
    );
  });
});

describe("copies of sessions", () => {
  it("OUTRIDER_CLAUDE_SESSIONS=on keeps one of every run where Claude Code keeps its own, also without a host", async () => {
    const config = tempFolder("copies");
    const env = { CLAUDE_CONFIG_DIR: config, OUTRIDER_CLAUDE_SESSIONS: "on" };
    const { frames } = await tell(env, { replies: [bash("true"), { text: "the answer" }] });
    const id = String(frames[0]?.["session_id"]);
    const [file = ""] = readdirSync(config, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(`${id}.jsonl`));
    const copied = lines(readFileSync(join(config, file), "utf8"));
    assert.deepEqual(
      copied.filter(({ type }) => type === "user" || type === "assistant").map(({ type }) => type),
      ["user", "assistant", "user", "assistant"],
    );
    const uuids = frames.filter(({ type }) => type === "assistant").map(({ uuid }) => uuid);
    assert.deepEqual(
      uuids.filter((uuid) => !copied.some((line) => line["uuid"] === uuid)),
      [],
    );
  });
});
