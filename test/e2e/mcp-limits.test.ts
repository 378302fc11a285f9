import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { model, projectRoot, run, tempFolder } from "./command.ts";

const server = { command: process.execPath, args: [join(projectRoot, "test/fixtures/limits-server.mjs")] };

/** What the model is told of these calls, and what the last frame says. */
async function results(
  names: readonly string[],
  { entry = {}, env = {} }: { entry?: object; env?: Record<string, string> } = {},
) {
  const cwd = tempFolder("mcp-limits");
  const calls = names.map((name) => ({ name: `mcp__lim__${name}`, input: {} }));
  const told = await model([{ calls }, { text: "done" }], tempFolder("mcp-limits-home"));
  const config = JSON.stringify({ mcpServers: { lim: { ...server, ...entry } } });
  const ended = await run(["-p", "go", "--mcp-config", config, "--allowedTools", "mcp__lim"], {
    cwd,
    env: { ...told.env, ...env },
  });
  const request = told.server.requests[1]?.body as Request | undefined;
  const texts = request?.messages.at(-1)?.content.map(({ content }) => content.map(({ text }) => text ?? "").join("\n")) ?? [];
  return { ended, texts };
}
type Request = { messages: { content: { content: { text?: string }[] }[] }[] };

describe("limits of servers and their tools", () => {
  it("cut results at what the configuration says for a tool, a server, or the server for itself; the whole is in a file", async () => {
    const entry = { maxResultSizeChars: 2_000, tools: [{ name: "more", maxResultSizeChars: 55_000 }] };
    const { texts } = await results(["much", "more"], { entry });
    assert.ok((texts[0] ?? "").length <= 2_000, "the server's");
    const file = /the whole output is in (\S+)/.exec(texts[0] ?? "")?.[1] ?? "";
    assert.equal(readFileSync(file, "utf8"), "m".repeat(5_000));
    assert.equal(texts[1], "w".repeat(50_000), "the tool's");
    assert.equal((await results(["more"])).texts[0], "w".repeat(50_000), "what the server wants for its tool");
  });

  it("come from MAX_MCP_OUTPUT_TOKENS where nobody says more", async () => {
    const { texts } = await results(["much"], { env: { MAX_MCP_OUTPUT_TOKENS: "250" } });
    assert.ok((texts[0] ?? "").length <= 1_000);
  });

  it("are never more than 500,000 characters, whoever says more", async () => {
    const { texts } = await results(["huge"], { env: { MAX_MCP_OUTPUT_TOKENS: "1000000" } });
    assert.ok((texts[0] ?? "").length <= 500_000, String(texts[0]?.length));
    assert.match(texts[0] ?? "", /the whole output is in/);
  });

  it("count anew with each sign of progress, unless the limit is written down for the server or the tool", async () => {
    assert.equal((await results(["steady"], { env: { MCP_TOOL_TIMEOUT: "2000" } })).texts[0], "steadily");
    const { texts } = await results(["steady"], { entry: { timeout: 1_000 } });
    assert.match(texts[0] ?? "", /did not answer the call: .*(?:timed out|timeout)/i);
  });

  it("end a call of one tool in its own time", async () => {
    const { texts, ended } = await results(["slow", "much"], { entry: { tools: [{ name: "slow", timeout: 1_000 }] } });
    assert.match(texts[0] ?? "", /did not answer the call: .*(?:timed out|timeout)/i);
    assert.match(texts[1] ?? "", /^m+$/);
    assert.equal(ended.code, 0);
  });

  it("refuse a tool whatever else allows it", async () => {
    const { texts } = await results(["much"], { entry: { tools: [{ name: "much", permission_policy: "always_deny" }] } });
    assert.doesNotMatch(texts[0] ?? "", /mmm/);
  });
});

describe("what a server answers that no model is shown", () => {
  it("is kept in files that commands can work with", async () => {
    const { texts } = await results(["sound"]);
    const [, sound = "", archive = ""] =
      /^\(audio, audio\/x-wav, 10 bytes: kept in (\S+\.wav)\)\n\(binary resource file:\/\/\/a\.zip, application\/zip, 4 bytes: kept in (\S+\.zip)\)$/.exec(
        texts[0] ?? "",
      ) ?? [];
    assert.equal(readFileSync(sound, "utf8"), "RIFF-sound");
    assert.deepEqual([...readFileSync(archive)], [0x50, 0x4b, 3, 4]);
  });

  it("is said to be broken where it is, and no file is kept of it", async () => {
    const { texts, ended } = await results(["broken"]);
    assert.equal(texts[0], "(audio, audio/wav, not shown)\n(binary resource unknown)\n(binary resource odd:a)");
    assert.equal(ended.code, 0);
  });
});
