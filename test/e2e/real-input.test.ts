import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { ModelServerOptions } from "../../packages/runtime/src/testing/model-server.ts";
import { TestClient } from "./acp-client.ts";
import { eventually, lines, model, run, start, tempFolder } from "./command.ts";

const jwt = ["eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0NTY3ODkwIn0", "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"].join(".");
const token = ["ghp", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"].join("_");
const known = "correct-horse-battery-staple";
const secrets = [jwt, token, known];
const content = `jwt=${jwt}\ntoken=${token}\nknown: ${known}\n`;
const write = { calls: [{ name: "Write", input: { file_path: "made.txt", content } }] };

async function stage(replies: ModelServerOptions["replies"] = [write, { text: "done" }]) {
  const home = tempFolder();
  const cwd = join(home, "work");
  mkdirSync(cwd);
  const { env, server } = await model(replies, join(home, "outrider"));
  return { home, cwd, server, env: { ...env, SERVICE_TOKEN: known } };
}

/** Of a frame, what is looked at here. */
type Frame = {
  readonly type: string;
  readonly request_id?: string;
  readonly request?: { readonly input?: object };
  readonly message?: { readonly content: readonly { readonly input?: object }[] };
};

type Stage = Awaited<ReturnType<typeof stage>>;

/** The file holds what the model wrote. Neither what is printed and stored nor what the model is sent holds a secret. */
function expectUnaltered({ home, cwd, server }: Stage, printed: string): void {
  assert.equal(readFileSync(join(cwd, "made.txt"), "utf8"), content);
  const files = readdirSync(join(home, "outrider"), { recursive: true, encoding: "utf8" })
    .map((name) => join(home, "outrider", name))
    .filter((path) => statSync(path).isFile());
  const stored = files.map((path) => readFileSync(path, "latin1")).join("\n");
  const sent = JSON.stringify(server.requests.map(({ body }) => body));
  for (const [where, text] of Object.entries({ printed, stored, sent })) {
    for (const secret of secrets) assert.equal(text.includes(secret), false, `${secret} is in what is ${where}`);
    assert.ok(where === "printed" || text.includes("[redacted:json-web-token]"), where);
  }
}

describe("a call with secrets is run as the model made it, and shown nowhere", { timeout: 120_000 }, () => {
  for (const echo of ["the input it was asked about", "the input it saw on stdout", "no input"])
    it(`when a host over stream-json says yes with ${echo}`, async (t) => {
      const place = await stage();
      const flags = ["--input-format", "stream-json", "--output-format", "stream-json", "--permission-prompt-tool", "stdio"];
      const { child, done } = start([...flags, "--include-partial-messages"], { env: place.env, cwd: place.cwd, stdin: "open" });
      t.after(() => child.kill("SIGKILL"));
      let seen = "";
      child.stdout.on("data", (text: string) => {
        seen += text;
      });
      const frames = () => lines(seen.slice(0, seen.lastIndexOf("\n") + 1)) as Frame[];
      child.stdin.write(`${JSON.stringify({ type: "user", message: { role: "user", content: "go" } })}\n`);
      await eventually(() => frames().some(({ type }) => type === "control_request"), "the question");
      const question = frames().find(({ type }) => type === "control_request");
      assert.deepEqual(question?.request?.input, { file_path: join(place.cwd, "made.txt"), content });
      const shown = frames().find(({ type }) => type === "assistant")?.message?.content[0]?.input;
      assert.notDeepEqual(shown, question?.request?.input);
      const inputs = [question?.request?.input, shown, undefined];
      const updatedInput = inputs[["the input it was asked about", "the input it saw on stdout", "no input"].indexOf(echo)];
      const response = { behavior: "allow", ...(updatedInput && { updatedInput }) };
      child.stdin.end(
        `${JSON.stringify({ type: "control_response", response: { subtype: "success", request_id: question?.request_id, response } })}\n`,
      );
      const { code, stdout, stderr } = await done;
      assert.equal(code, 0, stderr);
      const beside = stdout.split("\n").filter((line) => !line.includes('"type":"control_request"'));
      expectUnaltered(place, beside.join("\n") + stderr);
    });

  it("when a PreToolUse hook sends the input back", async () => {
    const place = await stage();
    const script = join(place.home, "hook.mjs");
    writeFileSync(
      script,
      `let text = ""; for await (const chunk of process.stdin) text += chunk;
       const { tool_input: updatedInput } = JSON.parse(text);
       console.log(JSON.stringify({ hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "allow", updatedInput } }));`,
    );
    const hooks = { PreToolUse: [{ matcher: "Write", hooks: [{ type: "command", command: `${process.execPath} ${script}` }] }] };
    const flags = [
      "--settings",
      JSON.stringify({ hooks }),
      "--output-format",
      "stream-json",
      "--verbose",
      "--include-hook-events",
    ];
    const { code, stdout, stderr } = await run(["-p", "go", ...flags], { env: place.env, cwd: place.cwd });
    assert.equal(code, 0, stderr);
    expectUnaltered(place, stdout + stderr);
  });

  it("when a permission prompt tool sends the input back", async () => {
    const place = await stage();
    const judge = join(place.home, "judge.mjs");
    writeFileSync(judge, judgeServer);
    const config = JSON.stringify({
      mcpServers: { judge: { command: process.execPath, args: [judge, join(place.home, "asked.json")] } },
    });
    const flags = [
      "--mcp-config",
      config,
      "--permission-prompt-tool",
      "mcp__judge__decide",
      "--output-format",
      "stream-json",
      "--verbose",
    ];
    const { code, stdout, stderr } = await run(["-p", "go", ...flags], { env: place.env, cwd: place.cwd });
    assert.equal(code, 0, stderr);
    assert.deepEqual(JSON.parse(readFileSync(join(place.home, "asked.json"), "utf8")).input, { file_path: "made.txt", content });
    expectUnaltered(place, stdout + stderr);
  });

  it("when a client over ACP says yes", async () => {
    const place = await stage();
    const client = new TestClient({
      env: place.env,
      onPermission: () => ({ outcome: { outcome: "selected", optionId: "allow" } }),
    });
    const { sessionId } = await client.open(place.cwd);
    await client.prompt(sessionId, "go");
    const { stderr } = await client.end();
    const [question] = client.questions;
    assert.deepEqual(question?.toolCall.rawInput, { file_path: "made.txt", content });
    assert.match(JSON.stringify(question?.toolCall.content), new RegExp(jwt.replaceAll(".", "\\.")));
    expectUnaltered(place, JSON.stringify(client.told) + stderr);
  });

  it("and is put back by a checkpoint with its real bytes", async () => {
    const change = { calls: [{ name: "Edit", input: { file_path: "made.txt", old_string: "jwt=", new_string: "JWT=" } }] };
    const place = await stage([
      write,
      { text: "done" },
      { calls: [{ name: "Read", input: { file_path: "made.txt" } }] },
      change,
      { text: "changed" },
    ]);
    const flags = ["--permission-mode", "acceptEdits", "--output-format", "json"];
    const { session_id: id } = JSON.parse((await run(["-p", "go", ...flags], { env: place.env, cwd: place.cwd })).stdout);
    const again = await run(["-p", "go on", "--resume", id, ...flags], { env: place.env, cwd: place.cwd });
    assert.equal(again.code, 0, again.stderr);
    assert.equal(readFileSync(join(place.cwd, "made.txt"), "utf8"), content.replace("jwt=", "JWT="));
    const undone = await run(["checkpoints", "rollback", "turn-0002", "--session", id], { env: place.env, cwd: place.cwd });
    assert.equal(undone.code, 0, undone.stderr);
    assert.equal(readFileSync(join(place.cwd, "made.txt"), "utf8"), content);
  });
});

describe("an answer with secrets", { timeout: 60_000 }, () => {
  const schema = JSON.stringify({
    type: "object",
    properties: { jwt: { type: "string" }, known: { type: "string" } },
    required: ["jwt"],
  });
  const structured = (input: object) => [{ text: JSON.stringify(input) }];

  it("is a structured output as the model gave it, where nothing but its look says secret", async () => {
    const place = await stage(structured({ jwt, token }));
    const { stdout } = await run(["-p", "go", "--json-schema", schema, "--output-format", "json"], {
      env: place.env,
      cwd: place.cwd,
    });
    const result = JSON.parse(stdout);
    assert.deepEqual(
      [result.structured_output, JSON.parse(result.result), result.warnings],
      [{ jwt, token }, { jwt, token }, undefined],
    );
  });

  it("is a structured output without the secrets of this machine, and says where they were", async () => {
    const place = await stage(structured({ jwt, known }));
    const { stdout } = await run(["-p", "go", "--json-schema", schema, "--output-format", "json"], {
      env: place.env,
      cwd: place.cwd,
    });
    const result = JSON.parse(stdout);
    assert.deepEqual(result.structured_output, { jwt, known: "[redacted:SERVICE_TOKEN]" });
    assert.deepEqual(result.warnings, ["A secret in structured_output.known is masked: [redacted:SERVICE_TOKEN]"]);
    assert.equal(stdout.includes(known), false);
  });

  for (const flavor of ["claude", "caliban", "robota"])
    it(`is masked in words, and says so: ${flavor}`, async () => {
      const place = await stage([{ text: `It is ${jwt} or ${known}` }]);
      const { stdout } = await run(["-p", "go", "--flavor", flavor, "--output-format", "json"], {
        env: place.env,
        cwd: place.cwd,
      });
      const { result, warnings } = JSON.parse(stdout);
      assert.equal(result, "It is [redacted:json-web-token] or [redacted:SERVICE_TOKEN]");
      assert.deepEqual(warnings, ["A secret in result is masked: [redacted:json-web-token], [redacted:SERVICE_TOKEN]"]);
    });

  it("is masked as text, and stderr says so", async () => {
    const place = await stage([{ text: `It is ${jwt}` }]);
    const { stdout, stderr } = await run(["-p", "go"], { env: place.env, cwd: place.cwd });
    assert.equal(stdout, "It is [redacted:json-web-token]\n");
    assert.match(stderr, /A secret in result is masked: \[redacted:json-web-token\]/);
    assert.equal(existsSync(join(place.cwd, "made.txt")), false);
  });
});

/** An MCP server in a few lines: says yes with the input it was given, and keeps what it was asked. */
const judgeServer = `
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
const write = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize")
    write({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "judge", version: "1" } } });
  else if (method === "tools/list")
    write({ id, result: { tools: [{ name: "decide", inputSchema: { type: "object" } }] } });
  else if (method === "tools/call") {
    writeFileSync(process.argv[2], JSON.stringify(params.arguments));
    const text = JSON.stringify({ behavior: "allow", updatedInput: params.arguments.input });
    write({ id, result: { content: [{ type: "text", text }] } });
  } else if (id !== undefined) write({ id, result: {} });
}
`;
