import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, describe, it } from "node:test";
import type { JsonObject } from "../../packages/runtime/src/protocol/content.ts";
import { type RecordedRequest, type ServerReply, startModelServer } from "../../packages/runtime/src/testing/model-server.ts";
import { lines, projectRoot, type Run, run, start, tempFolder } from "../e2e/command.ts";

const wires: [name: string, profile: JsonObject, path: string][] = [
  ["anthropic", { type: "anthropic", model: "claude-sonnet-4-6" }, ""],
  ["openai over Chat Completions", { type: "openai-compatible", model: "my-model" }, "/v1"],
  ["openai over Responses", { type: "openai", model: "gpt-5.5", options: { apiSurface: "responses" } }, "/v1"],
  ["gemini", { type: "gemini", model: "gemini-3.5-flash" }, ""],
];
const [anthropic] = wires.map(([, profile]) => profile);

const lists = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
const bash = (depth: number): string => `{"command":"touch made","z":${lists(depth)}}`;

/** Arguments are no text on this wire. */
function geminiCalls(inputs: readonly string[]): string {
  const parts = inputs.map((args) => `{"functionCall":{"name":"Bash","args":${args}}}`);
  return `data: {"candidates":[{"content":{"role":"model","parts":[${parts.join()}]},"finishReason":"STOP"}]}\r\n\r\n`;
}

type Reply = (request: RecordedRequest, index: number) => ServerReply;

async function place(reply: Reply, profile: JsonObject = anthropic ?? {}, path: string = "") {
  const home = tempFolder("home");
  const cwd = tempFolder("project");
  const model = await startModelServer({ replies: reply });
  after(() => model.close());
  const work = { ...profile, apiKey: "$ENV:WORK_KEY", baseURL: model.url + path };
  writeFileSync(join(home, "settings.json"), JSON.stringify({ currentProvider: "work", providers: { work } }));
  const env = { OUTRIDER_HOME: home, WORK_KEY: "k", OUTRIDER_RETRY_BASE_MS: "5" };
  const ask = (...args: string[]): Promise<Run> =>
    run(["-p", ...args, "--output-format", "json", "--permission-mode", "bypassPermissions"], { env, cwd });
  const told = (index: number): string => JSON.stringify(model.requests[index]?.body);
  return { env, cwd, ask, told };
}

function completed(ended: Run): string {
  const result = lines(ended.stdout).at(-1) ?? {};
  assert.deepEqual([ended.code, result["subtype"], result["error"]], [0, "success", undefined], ended.stdout + ended.stderr);
  return String(result["result"]);
}

describe("what is nested too deeply", () => {
  for (const [name, profile, path] of wires) {
    it(`in a call costs that call alone: ${name}`, async () => {
      const inputs = [600, 3_000, 100_000].map(bash);
      const calls: ServerReply =
        name === "gemini"
          ? { raw: geminiCalls(inputs) }
          : { calls: inputs.map((malformedInput) => ({ name: "Bash", malformedInput })) }; // sent as it is
      const { ask, told, cwd } = await place((_, index) => (index === 0 ? calls : { text: `answer ${index}` }), profile, path);
      assert.equal(completed(await ask("go")), "answer 1");
      assert.equal(told(1).match(/nested more than 500 levels deep\), so the call was not run/g)?.length, 3);
      assert.equal(existsSync(join(cwd, "made")), false);
      assert.equal(completed(await ask("--continue", "more")), "answer 2");
      assert.match(completed(await ask("--continue", "/compact")), /summary/);
    });
  }

  it("in a structured answer is objected to", async () => {
    const { ask, told } = await place((_, index) => ({
      calls: [{ name: "StructuredOutput", malformedInput: `{"a":${index === 0 ? lists(5_000) : "1"}}` }],
    }));
    const ended = await ask("go", "--json-schema", '{"type":"object"}');
    assert.deepEqual(lines(ended.stdout).at(-1)?.["structured_output"], { a: 1 }, ended.stdout);
    assert.match(told(1), /nested more than 500 levels deep/);
  });

  it("in what an MCP server lists and answers costs that schema or block alone, and is told", async () => {
    const { ask, told } = await place((_, index) =>
      index === 0
        ? { calls: ["schema", "structured", "block", "plain"].map((name) => ({ name: `mcp__deep__${name}` })) }
        : { text: `answer ${index}` },
    );
    const program = { command: process.execPath, args: [join(projectRoot, "test/border/deep-mcp-server.mjs")] };
    const config = ["--mcp-config", JSON.stringify({ mcpServers: { deep: program } })];
    const ended = await ask("go", ...config);
    assert.equal(completed(ended), "answer 1");
    assert.match(
      ended.stderr,
      /MCP server deep: of the tool "schema" the schema of its input is nested more than 500 levels deep/,
    );
    assert.match(ended.stderr, /MCP server deep: 1 tool is left out: without a name/);
    assert.match(ended.stderr, /MCP server deep: 1 tool is left out: with a name that another one has/);
    assert.match(told(1), /schema was called.*beside it.*the structured answer is nested more than 500 levels deep/);
    assert.match(told(1), /a block of the answer is nested more than 500 levels deep.*after it.*plain was called/);
    assert.equal(completed(await ask("--continue", "more", ...config)), "answer 2");
    assert.match(completed(await ask("--continue", "/compact", ...config)), /summary/);
  });

  it("in a hook's output is a problem of the hook, and the call does not run with it", async () => {
    const { ask, cwd } = await place((_, index) =>
      index === 0 ? { calls: [{ name: "Bash", input: { command: "echo ran" } }] } : { text: "done" },
    );
    const file = join(cwd, "said.json");
    const output = { hookEventName: "PreToolUse", permissionDecision: "allow" };
    const said = JSON.stringify({ hookSpecificOutput: { ...output, updatedInput: "HERE" } });
    writeFileSync(file, said.replace('"HERE"', bash(5_000)));
    const hooks = { PreToolUse: [{ hooks: [{ type: "command", command: `cat ${JSON.stringify(file)}` }] }] };
    const ended = await ask("go", "--settings", JSON.stringify({ hooks }));
    assert.equal(completed(ended), "done");
    assert.match(ended.stderr, /nested more than 500 levels deep/);
  });
});

const live = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"];

describe("a host's answer to a permission question", () => {
  const answers: [what: string, updatedInput: string, told: RegExp][] = [
    ["nested too deeply", bash(5_000), /nested more than 500 levels deep/],
    ["a text", '"touch made"', /updatedInput\\*" of the answer is no object/],
    ["a list", "[]", /updatedInput\\*" of the answer is no object/],
  ];
  for (const [what, updatedInput, reason] of answers) {
    it(`whose input is ${what} is a no`, async () => {
      const { env, cwd, told } = await place((_, index) =>
        index === 0 ? { calls: [{ name: "Bash", input: { command: "touch made" } }] } : { text: "done" },
      );
      const user = JSON.stringify({ type: "user", message: { role: "user", content: "go" } });
      const { child, done } = start([...live, "--permission-prompt-tool", "stdio"], { env, cwd, stdin: "open" });
      child.stdin.write(`${user}\n`);
      createInterface({ input: child.stdout }).on("line", (line) => {
        const { request_id: id, type } = JSON.parse(line) as Record<string, string>;
        if (type !== "control_request") return;
        const response = `{"behavior":"allow","updatedInput":${updatedInput}}`;
        child.stdin.end(
          `{"type":"control_response","response":{"subtype":"success","request_id":"${id}","response":${response}}}\n`,
        );
      });
      const ended = await done;
      assert.equal(ended.code, 0, ended.stdout + ended.stderr);
      assert.match(told(1), reason);
      assert.equal(existsSync(join(cwd, "made")), false);
    });
  }
});
