import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { eventually, lines, model, processesWith, run, start, tempFolder } from "./command.ts";

const live = ["--input-format", "stream-json", "--output-format", "stream-json"];
const say = (text: string): string => `${JSON.stringify({ type: "user", content: text })}\n`;

describe("live input of the command", () => {
  it("a malformed line is told of in a frame and nowhere else", async () => {
    const { env, server } = await model([{ text: "one" }], tempFolder());
    const { code, stdout, stderr } = await run(live, { env, stdin: `{"type":"us\n${say("first")}` });
    assert.deepEqual([code, stderr, server.requests.length], [0, "", 1]);
    const frames = lines(stdout).map(({ type, subtype }) => [type, subtype]);
    assert.deepEqual(
      [frames[0], frames.at(-1)],
      [
        ["system", "warning"],
        ["result", "success"],
      ],
    );
  });

  it("empty stdin: nothing to say, exit code 0", async () => {
    const { env } = await model([], tempFolder());
    const { code, stdout, stderr } = await run(live, { env });
    assert.deepEqual([code, stdout, stderr], [0, "", ""]);
  });

  it("a prompt as an argument has no effect and is told of; - is nothing special", async () => {
    const { env, server } = await model([{ text: "one" }, { text: "two" }], tempFolder());
    const { code, stdout } = await run([...live, "hello"], { env, stdin: say("only this") });
    const told = lines(stdout).flatMap(({ subtype, message }) => (subtype === "warning" ? [message] : []));
    assert.deepEqual([code, told.length], [0, 1]);
    assert.match(String(told[0]), /the prompt comes on stdin: the argument has no effect/);
    assert.doesNotMatch(JSON.stringify(server.requests[0]?.body), /"hello"/);
    const plain = await run([...live, "-"], { env, stdin: say("hello") });
    assert.deepEqual([plain.code, plain.stdout.includes('"warning"')], [0, false]);
  });

  it("the exit code is that of the last prompt", async () => {
    const { env } = await model([{ status: 400 }, { text: "ok" }, { text: "ok" }, { status: 400 }], tempFolder());
    assert.equal((await run(live, { env, stdin: say("one") + say("two") })).code, 0);
    assert.equal((await run(live, { env, stdin: say("one") + say("two") })).code, 1);
  });

  it("SIGTERM in a turn: a result, exit code 124, and nothing is left within two seconds", async () => {
    const home = tempFolder();
    const { env } = await model([{ calls: [{ name: "Bash", input: { command: "sleep 1234.5" } }] }], home);
    const cwd = join(home, "work");
    mkdirSync(cwd);
    const flags = [...live, "--dangerously-skip-permissions"];
    const { child, done } = start(flags, { env, cwd, stdin: "open" });
    child.stdin.write(say("wait"));
    await eventually(() => processesWith("sleep\x001234.5").length > 0, "the tool runs");
    const at = Date.now();
    child.kill("SIGTERM");
    const { code, stdout } = await done;
    assert.equal(code, 124);
    assert.equal(lines(stdout).filter(({ type }) => type === "result").length, 1);
    await eventually(() => processesWith("sleep\x001234.5").length === 0, "the tool is gone");
    assert.ok(Date.now() - at < 2500, `${Date.now() - at} ms`);
  });

  it("stdin that stays open after SIGTERM while idle does not keep it", async () => {
    const { env } = await model([{ text: "one" }], tempFolder());
    const { child, done } = start(live, { env, stdin: "open" });
    let seen = "";
    child.stdout.on("data", (text: string) => {
      seen += text;
    });
    child.stdin.write(say("hello"));
    await eventually(() => seen.includes('"type":"result"'), "the result");
    child.kill("SIGTERM");
    const { stdout } = await done;
    assert.equal(lines(stdout).filter(({ type }) => type === "result").length, 1);
  });

  it("writes no copy of the session for others unless it is asked for", async () => {
    const home = tempFolder();
    const { env } = await model([{ text: "one" }, { text: "two" }], home);
    const config = join(home, "claude");
    await run(live, { env: { ...env, CLAUDE_CONFIG_DIR: config }, stdin: say("hello") });
    assert.ok(!existsSync(join(config, "projects")));
    await run(live, { env: { ...env, CLAUDE_CONFIG_DIR: config, OUTRIDER_CLAUDE_SESSIONS: "on" }, stdin: say("hello") });
    assert.ok(existsSync(join(config, "projects")));
    const wrong = await run(live, { env: { ...env, OUTRIDER_CLAUDE_SESSIONS: "maybe" }, stdin: say("hello") });
    assert.equal(wrong.code, 78);
  });

  it("--session-mirror shows each line of it, and is refused where there is none", async () => {
    const folder = tempFolder();
    const { env } = await model([{ text: "hi" }], folder);
    const config = join(folder, "claude");
    const on = { ...env, CLAUDE_CONFIG_DIR: config, OUTRIDER_CLAUDE_SESSIONS: "on" };
    const { stdout } = await run([...live, "--session-mirror"], { env: on, stdin: say("hello") });
    const frames = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string; filePath: string; entries: object[] });
    const mirrored = frames.filter(({ type }) => type === "transcript_mirror");
    const [path = ""] = new Set(mirrored.map(({ filePath }) => filePath));
    const lines = readFileSync(path, "utf8").trim().split("\n");
    assert.deepEqual(
      mirrored.flatMap(({ entries }) => entries.map((entry) => JSON.stringify(entry))),
      lines,
    );
    const without = await run([...live, "--session-mirror"], {
      env: { ...on, OUTRIDER_CLAUDE_SESSIONS: "off" },
      stdin: say("hello"),
    });
    assert.equal(without.code, 64);
    assert.equal((await run(["--session-mirror", "-p", "hi"], { env })).code, 64);
  });
});

describe("flags of Claude Code", () => {
  const refused: [string, string | undefined][] = [["project-config-root", "/"]];
  for (const [name, value] of refused)
    it(`--${name} is refused in both spellings, and says why`, async () => {
      const { env, server } = await model([], tempFolder());
      const spellings = value === undefined ? [[`--${name}`]] : [[`--${name}=${value}`], [`--${name}`, value]];
      for (const words of spellings) {
        const { code, stderr } = await run([...words, "-p", "hi"], { env });
        assert.equal(code, 64);
        assert.match(stderr, new RegExp(`--${name} is not supported: .{10}`));
      }
      assert.equal(server.requests.length, 0);
    });

  it("refused flags are not in the help", async () => {
    const { stdout } = await run(["--help"]);
    assert.doesNotMatch(stdout, /--project-config-root/);
    assert.match(stdout, /--agent NAME/);
  });

  it("--agent: the prompt, the tools and the model of one of the agents", async () => {
    const { env, server } = await model([{ text: "one" }], tempFolder());
    const agents = JSON.stringify({
      poet: { description: "writes", prompt: "You write poems", tools: ["Read"], model: "haiku" },
    });
    const { code } = await run(["-p", "hi", "--agents", agents, "--agent=poet"], { env });
    assert.equal(code, 0);
    const body = server.requests[0]?.body as { system: unknown; tools: { name: string }[]; model: string };
    assert.match(JSON.stringify(body.system), /You write poems/);
    assert.deepEqual(
      body.tools.map(({ name }) => name),
      ["Read"],
    );
    assert.match(body.model, /haiku/);
    const unknown = await run(["-p", "hi", "--agents", agents, "--agent", "painter"], { env });
    assert.equal(unknown.code, 78);
    assert.match(unknown.stderr, /painter[\s\S]*poet/);
  });

  it("--model sonnet is the newest of that family, default the provider's own", async () => {
    const { env, server } = await model([{ text: "one" }, { text: "two" }, { text: "three" }], tempFolder());
    await run(["-p", "hi", "--model", "opus"], { env });
    await run(["-p", "hi", "--model", "sonnet"], { env });
    await run(["-p", "hi", "--model", "default"], { env });
    const models = server.requests.map(({ body }) => (body as { model: string }).model);
    assert.match(models[0] ?? "", /^claude-opus-./);
    assert.match(models[1] ?? "", /^claude-sonnet-./);
    assert.match(models[2] ?? "", /^claude-./);
  });

  it("--max-thinking-tokens 0 is no thinking, or as little as the model can", async () => {
    const { env, server } = await model(() => ({ text: "done" }), tempFolder());
    const stderr: string[] = [];
    for (const name of ["haiku", "claude-haiku-4-5", "sonnet", "opus"])
      stderr.push((await run(["-p", "hi", "--model", name, "--max-thinking-tokens=0"], { env })).stderr);
    const bodies = server.requests.map(({ body }) => body as { thinking?: { type: string }; output_config?: { effort: string } });
    assert.deepEqual(
      bodies.map(({ thinking, output_config: config }) => [thinking?.type, config?.effort]),
      [
        ["disabled", undefined],
        [undefined, undefined],
        ["between_tools", undefined],
        ["adaptive", "low"],
      ],
    );
    assert.deepEqual(
      stderr.map((text) => /cannot be kept from thinking/.test(text)),
      [false, false, true, true],
    );
  });

  it("--effort max is asked for where the model knows it, else what comes next, and that is told", async () => {
    const { env, server } = await model(() => ({ text: "one" }), tempFolder());
    const plain = await run(["-p", "hi", "--effort=max"], { env });
    const older = await run(["-p", "hi", "--effort=max", "--model", "claude-opus-4-5"], { env });
    assert.deepEqual(
      server.requests.map(({ body }) => (body as { output_config: unknown }).output_config),
      [{ effort: "max" }, { effort: "high" }],
    );
    assert.deepEqual(
      [plain.stderr, older.stderr],
      ["", "outrider: claude-opus-4-5 knows no effort max: it is asked with high\n"],
    );
  });

  it("--debug-file and --debug tell every event", async () => {
    const home = tempFolder();
    const { env } = await model([{ text: "one" }, { text: "two" }], home);
    const file = join(home, "debug.log");
    await run(["-p", "hi", "--debug-file", file], { env });
    assert.match(readFileSync(file, "utf8"), /turn\.started[\s\S]*message\.ended[\s\S]*turn\.ended/);
    assert.match((await run(["-p", "hi", "--debug"], { env })).stderr, /debug: .* turn\.ended/);
  });

  it("--permission-prompt-tool: an MCP tool decides; stdio needs live input; a tool that is not there is a start-up error", async () => {
    const home = tempFolder();
    const call = { calls: [{ name: "Bash", input: { command: "touch made.txt" } }] };
    const { env, server } = await model([call, { text: "done" }], home);
    const judge = join(home, "judge.mjs");
    writeFileSync(judge, judgeServer);
    const config = JSON.stringify({ mcpServers: { judge: { command: process.execPath, args: [judge] } } });
    const flags = ["-p", "hi", "--mcp-config", config, "--permission-prompt-tool"];
    const missing = await run([...flags, "mcp__judge__nobody"], { env, cwd: home });
    assert.equal(missing.code, 78);
    assert.match(missing.stderr, /mcp__judge__decide/);
    assert.equal((await run(["-p", "hi", "--permission-prompt-tool", "stdio"], { env })).code, 64);
    assert.equal(server.requests.length, 0);
    assert.equal((await run([...flags, "mcp__judge__decide"], { env, cwd: home })).code, 0);
    assert.ok(existsSync(join(home, "made.txt")));
  });
});

/** An MCP server in a few lines: every question about `made.txt` is answered with yes. */
const judgeServer = `
import { createInterface } from "node:readline";
const write = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize")
    write({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "judge", version: "1" } } });
  else if (method === "tools/list")
    write({ id, result: { tools: [{ name: "decide", inputSchema: { type: "object" } }] } });
  else if (method === "tools/call") {
    const allowed = JSON.stringify(params.arguments.input).includes("made.txt");
    const text = JSON.stringify(allowed ? { behavior: "allow", updatedInput: params.arguments.input } : { behavior: "deny", message: "no" });
    write({ id, result: { content: [{ type: "text", text }] } });
  }
}
`;
