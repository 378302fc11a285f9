import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import type { ModelServerOptions } from "../../packages/runtime/src/testing/model-server.ts";
import { lines, model, run, tempFolder } from "./command.ts";

type Asked = { readonly system: unknown; readonly tools: readonly { readonly name: string }[]; readonly messages: unknown };

async function place(files: Readonly<Record<string, string>>, replies: ModelServerOptions["replies"] = [{ text: "done" }]) {
  const top = realpathSync(tempFolder("memory"));
  const cwd = join(top, "project");
  mkdirSync(cwd);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(top, name)), { recursive: true });
    writeFileSync(join(top, name), content);
  }
  const { server, env } = await model(replies, join(top, "home/.outrider"));
  const outrider = (args: readonly string[], stdin?: string) =>
    run(args, { cwd, env: { ...env, HOME: join(top, "home") }, ...(stdin !== undefined && { stdin }) });
  return { top, cwd, outrider, asked: (index: number) => server.requests[index]?.body as Asked };
}

const userLine = (text: string) =>
  `${JSON.stringify({ type: "user", message: { role: "user", content: [{ type: "text", text }] } })}\n`;
const stream = ["-p", "--output-format", "stream-json", "--verbose"];
const results = (stdout: string): unknown[] =>
  lines(stdout)
    .filter(({ type }) => type === "result")
    .map(({ result, error }) => result ?? (error as { message?: string } | undefined)?.message ?? error);

describe("the project's memory", () => {
  it("is written by a command in a session or by outrider memory, and told to the next session, without its topics", async () => {
    const { outrider, asked, cwd } = await place({});
    const said = await outrider(["-p", "/memory add project build Run make all first"]);
    assert.match(said.stdout, /^Remembered: \[\d{4}-\d\d-\d\d\] \(project\/build\) Run make all first/);
    const again = await outrider(["memory", "add", "project", "build", "run", "make", "all", "first."]);
    assert.equal(again.stdout, "build says so already\n");
    writeFileSync(join(cwd, ".outrider/memory/topics/build.md"), "TOPIC WORDS\n");
    assert.match((await outrider(["memory"])).stdout, /\(project\/build\) Run make all first\n$/);
    assert.equal((await outrider(["memory", "show"])).stdout, "build\n");
    await outrider(["-p", "go"]);
    assert.match(JSON.stringify(asked(0).system), /# Project Memory.*Run make all first/);
    assert.doesNotMatch(JSON.stringify(asked(0)), /TOPIC WORDS/);
    assert.ok(asked(0).tools.some(({ name }) => name === "outrider_command_memory"));
  });

  it("is nothing to a session of a project that has none, to --bare, and no run writes any", async () => {
    const { outrider, asked, cwd } = await place({ "project/a.txt": "x" }, [{ text: "1" }, { text: "2" }]);
    await outrider(["-p", "I prefer tabs, remember that"]);
    assert.deepEqual(readdirSync(cwd), ["a.txt"]);
    assert.ok(!asked(0).tools.some(({ name }) => name.startsWith("outrider_command")));
    await outrider(["memory", "add", "user", "style", "WORDS"]);
    await outrider(["-p", "go", "--bare"]);
    assert.doesNotMatch(JSON.stringify(asked(1)), /WORDS|outrider_command_memory/);
  });

  it("takes what a model proposes when a person says yes, and remembers which topics were looked at", async () => {
    const call = (args: string) => ({ calls: [{ name: "outrider_command_memory", input: { args } }] });
    const { outrider, cwd } = await place({ "project/.outrider/memory/MEMORY.md": "# Ours\n" }, [
      call("add user style Tabs, not spaces"),
      call("approve 1"),
      call("list"),
      { text: "done" },
    ]);
    const id = "0c6f4a52-3f0f-4f0e-9a3e-6f0d9e3b1a12";
    const ended = await outrider(["-p", "go", "--session-id", id, "--output-format", "stream-json"]);
    const told = JSON.stringify(lines(ended.stdout).filter(({ type }) => type === "user"));
    assert.match(told, /It waits for a person to say yes: \/memory approve/);
    assert.match(told, /Only a person decides what is remembered/);
    assert.doesNotMatch(readFileSync(join(cwd, ".outrider/memory/MEMORY.md"), "utf8"), /Tabs/);
    const [record] = JSON.parse((await outrider(["memory", "pending", "--json"])).stdout).pending as { id: string }[];
    const live = await outrider(
      [...stream, "--input-format", "stream-json", "--resume", id],
      [`/memory approve ${record?.id}`, "/memory show style", "/memory used", "/memory approve nothing"].map(userLine).join(""),
    );
    const [approved, shown, used, unknown] = results(live.stdout);
    assert.equal(approved, "Remembered: (user/style) Tabs, not spaces");
    assert.match(String(shown), /^# style\n\n- \[/);
    assert.equal(used, "style");
    assert.match(String(unknown), /Nothing of the id nothing waits/);
    const later = await outrider(["-p", "/memory used", "--resume", id]);
    assert.equal(later.stdout, "style\n");
    assert.match(readFileSync(join(cwd, ".outrider/memory/MEMORY.md"), "utf8"), /\(user\/style\) Tabs/);
  });

  it("holds no secret, and says so", async () => {
    const { outrider, cwd } = await place({});
    const ended = await outrider(["memory", "add", "user", "keys", "the", "password", "is", "hunter2"]);
    assert.equal(ended.code, 64);
    assert.match(ended.stderr, /It was not stored: it holds a password or key/);
    assert.equal(existsSync(join(cwd, ".outrider")), false);
    assert.match((await outrider(["memory", "bogus"])).stderr, /memory does not take bogus/);
  });

  it("may be what Claude Code has noted, for who asks for that", async () => {
    const { outrider, asked, top, cwd } = await place({}, [{ text: "1" }, { text: "2" }, { text: "3" }]);
    const folder = join(top, "home/.claude/projects", cwd.replace(/[^a-zA-Z0-9]/g, "-"), "memory");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "MEMORY.md"), "CLAUDE NOTES\n");
    await outrider(["-p", "go"]);
    await outrider(["-p", "go", "--settings", '{"autoMemoryEnabled":true}']);
    const has = (index: number): boolean => /# Project Memory.*CLAUDE NOTES/.test(JSON.stringify(asked(index).system));
    assert.deepEqual([has(0), has(1)], [false, true]);
  });
});
