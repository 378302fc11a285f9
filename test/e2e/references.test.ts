import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import type { ModelServerOptions } from "../../packages/runtime/src/testing/model-server.ts";
import { lines, model, run, tempFolder } from "./command.ts";

const everything = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/dist/index.js");
const servers = [
  "--mcp-config",
  JSON.stringify({ mcpServers: { "ev srv": { command: process.execPath, args: [everything, "stdio"] } } }),
];
const stream = ["--output-format", "stream-json", "--verbose"];

type Asked = { readonly messages: readonly { readonly role: string; readonly content: readonly { readonly text?: string }[] }[] };

async function place(files: Readonly<Record<string, string>>, replies: ModelServerOptions["replies"] = [{ text: "done" }]) {
  const top = tempFolder("references");
  const cwd = join(top, "project");
  mkdirSync(cwd);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), content);
  }
  const { server, env } = await model(replies, join(top, "home/.outrider"));
  const outrider = (args: readonly string[], stdin?: string) =>
    run(args, { cwd, env: { ...env, HOME: join(top, "home") }, ...(stdin !== undefined && { stdin }) });
  const texts = (index: number): string[] =>
    ((server.requests[index]?.body as Asked | undefined)?.messages ?? []).flatMap(({ content }) =>
      content.flatMap(({ text }) => text ?? []),
    );
  return { cwd, server, outrider, texts };
}

const userLine = (text: string, more = {}) =>
  `${JSON.stringify({ type: "user", message: { role: "user", content: [{ type: "text", text }] }, ...more })}\n`;

describe("what a prompt names with @", () => {
  const files = { "a.txt": "FX a\n", "with space.txt": "FX spaced\n", "d/x.txt": "x", "secret.txt": "FX secret\n" };
  const typed = 'look @a.txt and @missing.txt, @d and @"with space.txt"; thanks @john.doe';
  const told = [
    typed,
    '<file path="a.txt">\n     1\tFX a\n</file>',
    '<file path="d">\nd is a folder:\nx.txt\n</file>',
    '<file path="with space.txt">\n     1\tFX spaced\n</file>',
  ];

  it("reaches the model the same way one-shot and live, and no frame shows it", async () => {
    const one = await place(files);
    const ended = await one.outrider(["-p", typed, ...stream]);
    assert.equal(ended.code, 0, ended.stderr);
    assert.deepEqual(one.texts(0), told);
    assert.doesNotMatch(ended.stdout, /FX/);
    const live = await place(files);
    await live.outrider(["-p", ...stream, "--input-format", "stream-json"], userLine(typed));
    assert.deepEqual(live.texts(0), told);
  });

  it("is left alone in what a program has put together", async () => {
    const { outrider, texts } = await place(files);
    await outrider(["-p", ...stream, "--input-format", "stream-json"], userLine("@a.txt", { client_composed: true }));
    assert.deepEqual(texts(0), ["@a.txt"]);
  });

  it("is refused by the rules that hold for Read, in words for both", async () => {
    const { outrider, texts } = await place(files);
    const ended = await outrider(["-p", "@secret.txt", "--disallowedTools", "Read(./secret.txt)"]);
    assert.equal(ended.code, 0);
    assert.match(ended.stderr, /@secret\.txt was not read: /);
    assert.match(texts(0)[1] ?? "", /^\[@secret\.txt was not read: /);
  });

  it("may be a resource of a server, as far as rules allow it", async () => {
    const address = "ev srv:demo://resource/static/document/architecture.md";
    const { outrider, texts } = await place({}, [{ text: "one" }, { text: "two" }]);
    await outrider(["-p", `@"${address}"`, ...servers]);
    assert.match(texts(0)[1] ?? "", /was not read: /);
    const ended = await outrider(["-p", `@"${address}"`, ...servers, "--allowedTools", "ReadMcpResourceTool"]);
    assert.equal(ended.code, 0, ended.stderr);
    assert.match(texts(1)[1] ?? "", /^<file path="ev srv:demo:[^>]*>\n[\s\S]*Everything/);
  });
});

describe("a prompt that a server has written", () => {
  it("is a command, listed at the start, filled in with what is typed", async () => {
    const { outrider, texts } = await place({});
    const ended = await outrider(["-p", '/mcp__ev_srv__args-prompt "San José" CA', ...servers, ...stream]);
    assert.equal(ended.code, 0, ended.stderr);
    const init = lines(ended.stdout).find(({ subtype }) => subtype === "init") ?? {};
    assert.ok((init["slash_commands"] as string[]).includes("mcp__ev_srv__args-prompt"));
    assert.match(texts(0)[0] ?? "", /<command-name>\/mcp__ev_srv__args-prompt<\/command-name>/);
    assert.match(texts(0)[1] ?? "", /San José.*CA/);
  });

  it("says which argument is missing, and what is near to a name that is not there; no model is asked", async () => {
    const { outrider, server } = await place({});
    const missing = await outrider(["-p", "/mcp__ev_srv__args-prompt", ...servers]);
    assert.equal(missing.code, 64);
    assert.match(missing.stderr, /Missing required argument: city\. Usage: \/mcp__ev_srv__args-prompt city state/);
    const unknown = await outrider(["-p", "/mcp__ev_srv__args-promt", ...servers]);
    assert.match(unknown.stderr, /Did you mean \/mcp__ev_srv__args-prompt\?/);
    assert.equal(server.requests.length, 0);
  });
});
