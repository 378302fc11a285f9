import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createLocalWorkspace } from "../../workspace/local.ts";
import { createToolMemory, type ToolContext, type ToolOutput } from "../tool.ts";
import { McpServers } from "./mcp-servers.ts";
import { parseMcpServers } from "./server-config.ts";

const root = process.env["OUTRIDER_ROOT"] ?? process.cwd();
const program = join(root, "test/border/odd-mcp-server.mjs");
const env = { PATH: process.env["PATH"] ?? "" };
const workspace = createLocalWorkspace({ root, env, overflowDirectory: "/nowhere" });
const context: ToolContext = {
  callId: "1",
  workspace,
  signal: new AbortController().signal,
  progress() {},
  memory: createToolMemory(),
};

let http: ChildProcess;
let address: string;
const opened: McpServers[] = [];

before(async () => {
  http = spawn(process.execPath, [program, "http"], { env, stdio: ["ignore", "pipe", "inherit"] });
  const [port] = await new Promise<string[]>((done) => http.stdout?.once("data", (bytes) => done([String(bytes).trim()])));
  address = `http://127.0.0.1:${port}`;
});
after(async () => {
  http.kill();
  await Promise.all(opened.map((mcp) => mcp.close()));
});

async function connect(config: object): Promise<McpServers> {
  const mcp = new McpServers({ cwd: root, env });
  opened.push(mcp);
  await mcp.connect(parseMcpServers({ odd: config }, { source: "a test", env: {} }));
  return mcp;
}

async function call(mcp: McpServers, name: string, input: object = {}): Promise<ToolOutput> {
  const tool = mcp.tools.find((each) => each.name === name);
  assert.ok(tool, `${name} is not among ${mcp.tools.map((each) => each.name).join(", ")}`);
  return await tool.execute(input, context);
}

const texts = ({ content }: ToolOutput): string[] => content.map((part) => (part.type === "text" ? part.text : part.mediaType));
const stdio = { command: process.execPath, args: [program] };

describe("a server with odd tools", () => {
  it("offers all of them under names of their own", async () => {
    const mcp = await connect(stdio);
    assert.equal(mcp.states[0]?.status, "connected");
    const names = mcp.tools.map(({ name }) => name.replace("mcp__odd__", ""));
    assert.deepEqual(
      names.map((name) => name.replace(/_[0-9a-f]{8}$/, "_#")),
      [
        "surrogate",
        "bare",
        "a_b_#",
        "a_b",
        "a_b_#",
        "___#",
        "___#",
        "either",
        "keys",
        "misfit",
        "unknown",
        "svg",
        "empty",
        "liar",
        "huge",
      ],
    );
    assert.equal(new Set(names).size, names.length);
    assert.deepEqual(texts(await call(mcp, "mcp__odd__a_b")), ["underscore"]);
    assert.deepEqual(texts(await call(mcp, mcp.tools[2]?.name ?? "")), ["dot"]);
    assert.deepEqual(texts(await call(mcp, mcp.tools[5]?.name ?? "")), ["search"]);
    assert.deepEqual(texts(await call(mcp, "mcp__odd__bare")), ["no schema"]);
  });

  it("keeps the policy of a tool with the name it has now", async () => {
    const mcp = await connect({ ...stdio, tools: [{ name: "a/b", permission_policy: "always_deny" }] });
    assert.deepEqual(mcp.rules, { ask: [], deny: [mcp.tools[4]?.name] });
  });

  it("shows an answer that does not fit its own description, and says so", async () => {
    const [words, note] = texts(await call(await connect(stdio), "mcp__odd__misfit"));
    assert.equal(words, "the words");
    assert.match(note ?? "", /structured answer does not fit the schema it gave for it: .*n/);
  });

  it("shows what stands around a block that is not understood", async () => {
    assert.deepEqual(texts(await call(await connect(stdio), "mcp__odd__unknown")), [
      "before",
      '(a block of the type "video", which is not understood: {"type":"video","data":"AAAA"})',
      "after",
    ]);
  });

  for (const [way, config] of [
    ["stdio", () => stdio],
    ["HTTP", () => ({ type: "http", url: `${address}/json` })],
    ["events over HTTP", () => ({ type: "http", url: `${address}/sse` })],
  ] as const) {
    it(`is heard on after an answer of 200 MB over ${way}, of which the first 16 are kept`, async () => {
      const mcp = await connect(config());
      const [note = "", text = ""] = texts(await call(mcp, "mcp__odd__huge"));
      assert.match(note, /answered with 222\d{6} characters, more than can be held.*the rest is lost/);
      assert.ok(text.startsWith("begins\n0123456789abcde\n0123"), text.slice(0, 100));
      assert.ok(text.length > 15_000_000 && text.length <= 16 * 1024 * 1024, String(text.length));
      assert.deepEqual(texts(await call(mcp, "mcp__odd__a_b")), ["underscore"]);
      assert.equal(mcp.states[0]?.status, "connected");
    });
  }
});
