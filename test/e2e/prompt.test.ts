import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { model, run, tempFolder } from "./command.ts";

type Body = { system: { text: string }[]; tools: { name: string; description: string; input_schema: object }[]; model: string };

const editing = ["Edit", "Write"];

function repository(name: string): string {
  const folder = tempFolder(name);
  execFileSync("git", ["init", "-q", "-b", "trunk"], { cwd: folder });
  writeFileSync(join(folder, "package.json"), '{"scripts":{"test":"node --test"}}');
  writeFileSync(join(folder, "AGENTS.md"), "Say please.");
  return folder;
}

describe("outrider prompt", () => {
  it("prints to the letter what a run with the same flags sends, and counts its tokens", async () => {
    const cwd = repository("prompt-same");
    const { server, env } = await model([{ text: "ok" }], tempFolder("prompt-same-home"));
    const flags = ["--permission-mode", "acceptEdits", "--allowedTools", "Bash(npm test:*)", "--append-system-prompt", "More."];
    const raw = await run(["prompt", "--raw", ...flags], { env, cwd });
    const json = JSON.parse((await run(["prompt", "--json", ...flags], { env, cwd })).stdout) as {
      system: string;
      tokens: number;
      parts: { name: string; tokens: number; text: string; reason: string }[];
      tools: { name: string; description: string; inputSchema: object; tokens: number }[];
    };
    await run(["-p", "hi", ...flags], { env, cwd });
    const sent = server.requests[0]?.body as Body;
    assert.equal(raw.stdout, sent.system[0]?.text);
    assert.equal(json.system, sent.system[0]?.text);
    assert.equal(json.parts.map(({ text }) => text).join("\n\n"), json.system);
    assert.deepEqual(
      json.tools.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema })),
      sent.tools.map(({ name, description, input_schema }) => ({ name, description, input_schema })),
    );
    assert.deepEqual(
      json.parts.map(({ name }) => name),
      [
        ...["role", "working", "tools", "commands", "editing", "git", "answer", "environment", "session"],
        ...["instructions", "appended"],
      ],
    );
    assert.ok(json.parts.every(({ tokens, reason }) => tokens > 0 && reason.length > 0));
    const text = await run(["prompt", "--tools", ...flags], { env, cwd });
    assert.match(text.stdout, /── tool Glob, about \d+ tokens with its schema ──\nFinds files by name pattern/);
    assert.match(text.stdout, /── git, about \d+ tokens: .* ──\n# Git\n- Commit/);
    assert.match(text.stdout, new RegExp(`\\ntogether +${json.tokens.toLocaleString("en-US")}\\n$`));
  });

  it("tells of the repository, the project, the rules and the mode", async () => {
    const cwd = repository("prompt-facts");
    const { env } = await model([], tempFolder("prompt-facts-home"));
    const { stdout } = await run(["prompt", "--raw", "--permission-mode", "plan"], { env, cwd });
    assert.match(stdout, /Git: branch trunk; changed before the session began:\n {2}\?\? AGENTS\.md\n {2}\?\? package\.json\n/);
    assert.match(stdout, /Project: Node\.js \(package\.json\); scripts: test\n/);
    assert.match(stdout, /Permission mode: plan\. Look only/);
    assert.match(stdout, /<instructions path="AGENTS\.md">\nSay please\./);
  });

  it("needs no key and asks nobody", async () => {
    const { code, stdout } = await run(["prompt", "--raw"], {
      env: { PATH: process.env["PATH"] ?? "", HOME: tempFolder("prompt-no-key") },
      cwd: tempFolder("prompt-nothing"),
    });
    assert.equal(code, 0);
    assert.match(stdout, /Git: no repository\n/);
  });

  it("refuses words, which would be a prompt", async () => {
    const { code, stderr } = await run(["prompt", "hello"], { cwd: tempFolder("prompt-words") });
    assert.equal(code, 64);
    assert.match(stderr, /takes no words/);
  });
});

describe("/context", () => {
  it("is answered without a model, also as the first prompt", async () => {
    const { server, env } = await model([], tempFolder("context-home"));
    const { code, stdout } = await run(["-p", "/context"], { env, cwd: repository("context") });
    assert.equal(code, 0);
    assert.match(stdout, /^About [\d,]+ of [\d,]+ tokens .*\nsystem prompt +[\d,]+ +[\d.]+ %\ninstructions +/);
    assert.equal(server.requests.length, 0);
  });
});

describe("the system prompt of a session", () => {
  it("stays the same to the letter when the session goes on, whatever has changed in the repository", async () => {
    const cwd = repository("prompt-resume");
    const { server, env } = await model(
      [{ text: "1" }, { text: "2" }, { text: "3" }, { text: "4" }],
      tempFolder("prompt-resume-home"),
    );
    const more = ["--append-system-prompt", "More."];
    for (const flags of [[], ["--continue"], ["--continue", ...more], ["--continue", ...more]]) {
      await run(["-p", "hi", ...flags], { env, cwd });
      writeFileSync(join(cwd, `made-${flags.length}.txt`), "");
    }
    const [first, second, third, fourth] = server.requests.map(({ body }) => (body as Body).system[0]?.text);
    assert.equal(second, first);
    assert.equal(third, `${first}\n\nMore.`);
    assert.equal(fourth, third);
  });

  it("offers nothing that changes files in plan mode, and refuses such a call with the reason", async () => {
    const cwd = repository("prompt-plan");
    const write = { name: "Write", input: { file_path: "x.txt", content: "x" } };
    const { server, env } = await model([{ calls: [write] }, { text: "ok" }, { text: "ok" }], tempFolder("prompt-plan-home"));
    const offered = (index: number): string[] =>
      (server.requests[index]?.body as Body | undefined)?.tools
        .map(({ name }) => name)
        .filter((name) => editing.includes(name)) ?? ["none"];
    await run(["-p", "hi", "--permission-mode", "plan"], { env, cwd });
    assert.deepEqual(offered(0), []);
    assert.match(JSON.stringify(server.requests[1]?.body), /Plan mode only looks/);
    await run(["-p", "hi", "--continue"], { env, cwd });
    assert.deepEqual(offered(2).sort(), editing);
  });
});
