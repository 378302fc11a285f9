import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { describe, it } from "node:test";
import { startModelServer } from "../../packages/runtime/src/testing/model-server.ts";
import { bin, eventually, isStandalone, lines, run, start, tempFolder } from "../e2e/command.ts";

const top = tempFolder("fresh");
const [home, project, path] = ["home", "project", "bin"].map((name) => join(top, name)) as [string, string, string];
for (const folder of [home, project, path]) mkdirSync(folder);
// All there is: a shell with the simplest programs. The standalone command itself needs none of them, and the build a Node.
for (const name of ["bash", "sh", "cat", "ls"]) symlinkSync(`/bin/${name}`, join(path, name));
const plain = { HOME: home, PATH: path };

describe("a home with nothing in it, a PATH without Node, and the command", () => {
  it("runs the demo", async () => {
    const { code, stdout, stderr } = await run(["demo"], { env: plain, cwd: project });
    assert.equal(code, 0, stdout + stderr);
    assert.match(stdout, /failed before and pass now/);
  });

  it("runs a prompt with tools, and goes on with the session", async (t) => {
    writeFileSync(join(project, "notes.txt"), "The word is heron.\n");
    const model = await startModelServer({
      replies: [
        { calls: [{ name: "Grep", input: { pattern: "heron", path: project, output_mode: "content" } }] },
        { calls: [{ name: "Bash", input: { command: "cat notes.txt" } }] },
        { text: "The word is heron." },
        { text: "Still heron." },
      ],
    });
    t.after(() => model.close());
    const env = { ...plain, ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: model.url };
    const flags = ["--output-format", "json", "--sandbox", "off"];
    const first = await run(["-p", "Which word?", "--allowedTools", "Bash", ...flags], { env, cwd: project });
    const [result] = lines(first.stdout);
    assert.deepEqual([first.code, result?.["result"]], [0, "The word is heron."], first.stderr);
    assert.match(JSON.stringify(model.requests[1]?.body), /notes\.txt.{0,20}The word is heron/);

    const id = String(result?.["session_id"]);
    const second = await run(["-p", "And now?", "--resume", id, ...flags], { env, cwd: project });
    assert.deepEqual([second.code, lines(second.stdout)[0]?.["result"]], [0, "Still heron."], second.stderr);
    assert.match(JSON.stringify(model.requests.at(-1)?.body), /Which word\?/);

    const page = join(top, "report.html");
    const report = await run(["report", id, "-o", page], { env: plain, cwd: project });
    assert.equal(report.code, 0, report.stderr);
    assert.match(readFileSync(page, "utf8"), /^<!doctype html>[\s\S]*<script[\s\S]*Still heron/i);
  });

  it("runs a batch, also in processes of its own, and says who is a worker of an engine", async () => {
    writeFileSync(join(project, "answer.json"), '[{"text":"Done."}]');
    const rows = ["a", "b", "c"].map((id) =>
      JSON.stringify({ id, prompt: "x", model: "scripted/answer.json", check: "cat notes.txt" }),
    );
    writeFileSync(join(project, "notes.txt"), "x\n");
    writeFileSync(join(project, "tasks.jsonl"), rows.join("\n"));
    for (const more of [[], ["--processes", "2"]]) {
      const words = ["batch", "tasks.jsonl", "--bare", "--quiet", "--out", join(top, `batch-${more.length}`), ...more];
      const { code, stdout, stderr } = await run(words, { env: plain, cwd: project });
      assert.deepEqual([code, stdout.split("\n")[0]], [0, "3 of 3 done: 3 passed, 0 not · cost unknown"], stderr);
    }
    if (!isStandalone) return;
    const engine = ["--engine", "restate", "--ingress", "http://127.0.0.1:1", "--admin", "http://127.0.0.1:1", "--store", top];
    const refused = await run(["worker", ...engine, "--port", "39080", "--side-port", "39081"], { env: plain, cwd: project });
    assert.equal(refused.code, 78, refused.stdout);
    assert.match(refused.stderr, /The standalone command is no worker of an engine/);
  });

  it("serves sessions", async (t) => {
    const model = await startModelServer({ replies: [{ text: "Served." }] });
    t.after(() => model.close());
    const env = { ...plain, ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: model.url };
    const server = start(["serve", "--port", "0"], { env, cwd: project, stdin: "open" });
    t.after(() => server.child.kill());
    let said = "";
    for (const stream of [server.child.stdout, server.child.stderr]) stream.on("data", (text: string) => (said += text));
    await eventually(() => /listens on \S+\n/.test(said), "the server listens");
    const url = /listens on (\S+)\n/.exec(said)?.[1] ?? "";
    const token = readFileSync(join(home, ".outrider/server/token"), "utf8").trim();
    const client = ask(url, token);
    const openApi = await client("GET", "/openapi.json");
    assert.equal(openApi.status, 200, openApi.text);
    const made = await client("POST", "/v1/sessions", { cwd: project });
    assert.equal(made.status, 201, made.text);
    server.child.kill("SIGTERM");
    const { code } = await server.done;
    assert.ok(code === 0 || code === 124 || code === 143, `ended with ${code}: ${said}`);
  });

  it("tells what it found of this machine", async () => {
    const { stdout } = await run(["doctor", "--offline", "--json"], { env: plain, cwd: project });
    const told = JSON.parse(stdout) as { about: string }[];
    assert.ok(told.length > 3, stdout);
  });

  it("obeys nothing that lies in the folder it runs in and is meant for its runtime", { skip: !isStandalone }, async () => {
    const place = join(top, "hostile");
    mkdirSync(place);
    writeFileSync(join(place, ".env"), "ANTHROPIC_BASE_URL=http://127.0.0.1:1\nOUTRIDER_HOME=/nonexistent\n");
    writeFileSync(join(place, "bunfig.toml"), 'preload = ["./planted.js"]\n[test]\npreload = ["./planted.js"]\n');
    writeFileSync(join(place, "planted.js"), `require("fs").writeFileSync(${JSON.stringify(join(place, "ran"))}, "");\n`);
    for (const name of ["zod", "@vscode/ripgrep", "ws"]) {
      mkdirSync(join(place, "node_modules", name), { recursive: true });
      writeFileSync(join(place, "node_modules", name, "index.js"), 'require("../../planted.js");\n');
    }
    writeFileSync(join(place, "package.json"), '{ "imports": { "node:fs": "./planted.js" } }');
    const replies = join(place, "replies.json");
    writeFileSync(
      replies,
      JSON.stringify([{ calls: [{ name: "Grep", input: { pattern: "x", path: place } }] }, { text: "Nothing ran." }]),
    );
    const words = ["-p", "go", "--provider", "scripted", "--model", replies, "--sandbox", "off"];
    const { code, stdout, stderr } = await run(words, { env: plain, cwd: place });
    assert.deepEqual([code, stdout, existsSync(join(place, "ran"))], [0, "Nothing ran.\n", false], stderr);
    assert.ok(existsSync(bin));
  });
});

type Answer = { status: number | undefined; text: string };

function ask(url: string, token: string): (method: string, path: string, body?: object) => Promise<Answer> {
  return (method, where, body) =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const sent = request(new URL(where, url), { method, headers }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
        response.on("end", () => resolve({ status: response.statusCode, text }));
      });
      sent.on("error", reject).end(body && JSON.stringify(body));
    });
}
