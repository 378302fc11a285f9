import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { lines, model, projectRoot, run, tempFolder } from "./command.ts";

/** Tries every way to cut the letters before it says no: with forty of them, for longer than anybody waits. */
const slow = "^(a+)+$";
const unlucky = `${"a".repeat(40)}!`;

/** One run whose output is frames: the only result, what the command said, and the requests that the model got. */
async function ends(calls: readonly object[], args: readonly string[], cwd = tempFolder("slow")) {
  const replies = [...calls.map((call) => ({ calls: [call] })), { text: "done" }, { text: "done" }, { text: "done" }];
  const told = await model(replies as Parameters<typeof model>[0], tempFolder("slow-home"));
  const ended = await run(["-p", "go", "--output-format", "stream-json", "--verbose", ...args], { cwd, env: told.env });
  const found = lines(ended.stdout).filter(({ type }) => type === "result");
  assert.equal(found.length, 1, `${ended.stdout}\n${ended.stderr}`);
  return { ended, result: found[0] ?? {}, requests: JSON.stringify(told.server.requests.map(({ body }) => body)) };
}

describe("a pattern that would take for ever", () => {
  const server = { command: process.execPath, args: [join(projectRoot, "test/fixtures/limits-server.mjs")] };
  const servers = ["--mcp-config", JSON.stringify({ mcpServers: { lim: server } }), "--allowedTools", "mcp__lim"];

  it("in what a server's tool wants, is a refused call", async () => {
    const { ended, result, requests } = await ends([{ name: "mcp__lim__picky", input: { text: unlucky } }], servers);
    assert.equal(ended.code, 0, ended.stderr);
    assert.equal(result["result"], "done");
    assert.match(requests, /Checking the input against the schema took too long/);
  });

  it("in what a server's tool answers, is a word behind the answer", async () => {
    const { ended, result, requests } = await ends([{ name: "mcp__lim__unlucky", input: {} }], servers);
    assert.equal(ended.code, 0, ended.stderr);
    assert.equal(result["result"], "done");
    assert.match(requests, /checking it took longer than/);
  });

  it("in the schema of the answer, is an answer that does not fit", async () => {
    const schema = JSON.stringify({ type: "object", properties: { a: { type: "string", pattern: slow } } });
    const answers = [unlucky, "aaa"].map((a) => ({ name: "StructuredOutput", input: { a } }));
    const { ended, result } = await ends(answers, ["--json-schema", schema]);
    assert.equal(ended.code, 0, ended.stderr);
    assert.deepEqual(result["structured_output"], { a: "aaa" });
  });

  it("in Monitor, is told to the model, and the task goes on", async () => {
    const cwd = tempFolder("slow");
    writeFileSync(join(cwd, "r.txt"), `${unlucky}\nlast\n`);
    const input = { description: "d", command: "cat r.txt", pattern: slow, timeout_ms: 20_000 };
    const wait = { name: "TaskOutput", input: { task_id: "process_1", until: "last" } };
    const { ended, requests } = await ends([{ name: "Monitor", input }, wait], ["--tools", "Monitor,Bash,Read,TaskOutput"], cwd);
    assert.equal(ended.code, 0, ended.stderr);
    assert.equal(ended.stderr, "");
    assert.match(requests, /Its lines are watched no longer: The pattern took too long/);
  });

  it("in rules of a project's settings, costs nothing", async () => {
    const cwd = tempFolder("slow");
    const name = `${"a".repeat(200)}.txt`;
    writeFileSync(join(cwd, name), "words");
    mkdirSync(join(cwd, ".claude"));
    const deny = [`Read(${"*a".repeat(50)}b)`, `WebFetch(${"*a".repeat(50)}b)`, `Bash(${"*a".repeat(50)}b)`];
    writeFileSync(join(cwd, ".claude/settings.json"), JSON.stringify({ permissions: { deny } }));
    const calls = [
      { name: "Read", input: { file_path: name } },
      { name: "Bash", input: { command: `cat ${name} && ls ${"*a".repeat(50)}` } },
    ];
    const { ended, requests } = await ends(calls, [], cwd);
    assert.equal(ended.code, 0, ended.stderr);
    assert.match(requests, /words/);
  });
});
