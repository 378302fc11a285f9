import assert from "node:assert/strict";
import { resolve } from "node:path";
import { after, before, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import type { JsonObject } from "../../protocol/content.ts";
import { createLocalWorkspace } from "../../workspace/local.ts";
import { createToolMemory, type Tool, type ToolContext, type ToolOutput } from "../tool.ts";
import { McpServers, type McpOptions } from "./mcp-servers.ts";
import { parseMcpServers } from "./server-config.ts";

const everything = {
  command: process.execPath,
  args: [resolve("node_modules/@modelcontextprotocol/server-everything/dist/index.js"), "stdio"],
};
const env = { PATH: process.env["PATH"] ?? "" };
const workspace = createLocalWorkspace({ root: process.cwd(), env, overflowDirectory: "/nowhere" });
const told: string[] = [];
const context = (signal = new AbortController().signal): ToolContext => ({
  ...{ callId: "call-1", workspace, signal, memory: createToolMemory() },
  progress: (text) => told.push(text),
});

async function connect(entry: object = {}, options: Partial<McpOptions> = {}): Promise<McpServers> {
  const mcp = new McpServers({ cwd: process.cwd(), env, ...options });
  await mcp.connect(parseMcpServers({ ev: { ...everything, ...entry } }, { source: "a test", env: {} }));
  return mcp;
}

function run(mcp: McpServers, name: string, input: JsonObject, signal?: AbortSignal): Promise<ToolOutput> {
  const tool = mcp.tools.find((one) => one.name === name);
  assert.ok(tool, `${name} is among ${mcp.tools.map((one: Tool) => one.name)}`);
  return tool.execute(input, context(signal));
}

const textOf = ({ content }: ToolOutput): string =>
  content.map((part) => (part.type === "text" ? part.text : part.mediaType)).join("\n");

describe("what a server has beside tools", { timeout: 60_000 }, () => {
  let mcp: McpServers;
  before(async () => {
    mcp = await connect();
  });
  after(() => mcp.close());

  it("its resources are listed and read by tools of their own", async () => {
    const listed = JSON.parse(textOf(await run(mcp, "ListMcpResourcesTool", {}))) as { server: string; uri: string }[];
    assert.ok(
      listed.some(({ uri }) => uri.includes("{")),
      "templates are among them",
    );
    const first = listed.find(({ uri }) => !uri.includes("{"));
    assert.equal(first?.server, "ev");
    assert.ok(textOf(await run(mcp, "ReadMcpResourceTool", { server: "ev", uri: first?.uri ?? "" })).length > 10);
  });

  it("a resource or a server that is not there is said to the model", async () => {
    await assert.rejects(
      run(mcp, "ReadMcpResourceTool", { server: "ev", uri: "demo://nowhere" }),
      /did not give demo:\/\/nowhere/,
    );
    await assert.rejects(run(mcp, "ReadMcpResourceTool", { server: "other", uri: "x" }), /no MCP server "other".*There are: ev/);
  });

  it("reading one may tell the server something, so it is asked about; listing is not", async () => {
    const access = async (name: string, input: JsonObject) =>
      await mcp.tools.find((tool) => tool.name === name)?.access(input, workspace);
    assert.deepEqual(await access("ReadMcpResourceTool", { server: "ev", uri: "demo://x" }), {
      kind: "reach",
      resources: ["ev:demo://x"],
    });
    assert.deepEqual(await access("ListMcpResourcesTool", {}), { kind: "note", resources: [] });
  });

  it("its prompts are listed as commands and filled in", async () => {
    const { signal } = new AbortController();
    const args = mcp.prompts.find(({ name }) => name === "args-prompt");
    assert.deepEqual(
      [args?.command, args?.arguments[0]?.name, args?.arguments[0]?.required],
      ["mcp__ev__args-prompt", "city", true],
    );
    const filled = await mcp.getPrompt("mcp__ev__args-prompt", { city: "Bern" }, signal);
    assert.match(JSON.stringify(filled), /"role":"user".*Bern/);
    await assert.rejects(mcp.getPrompt("mcp__ev__nothing", {}, signal), /not there/);
  });

  it("it is told which folders the session works in", async () => {
    assert.ok(textOf(await run(mcp, "mcp__ev__get-roots-list", {})).includes(pathToFileURL(process.cwd()).href));
  });

  it("how far a call is reaches whoever watches", async () => {
    await run(mcp, "mcp__ev__trigger-long-running-operation", { duration: 0.2, steps: 2 });
    assert.ok(
      told.some((text) => /2/.test(text)),
      told.join(),
    );
  });

  it("a call that is aborted ends at once, and the server goes on", async () => {
    const stop = new AbortController();
    const call = run(mcp, "mcp__ev__trigger-long-running-operation", { duration: 30, steps: 30 }, stop.signal);
    stop.abort();
    await assert.rejects(call);
    assert.match(textOf(await run(mcp, "mcp__ev__echo", { message: "still here" })), /still here/);
  });

  it("a tool that works as a task is looked after until it is done", async () => {
    const output = await run(mcp, "mcp__ev__simulate-research-query", { topic: "rivers", ambiguous: false });
    assert.match(textOf(output), /rivers/i);
  });
});

describe("questions of a server", { timeout: 60_000 }, () => {
  const name = "mcp__ev__trigger-elicitation-request";
  const answers = async (elicitation: unknown, options: Partial<McpOptions> = {}): Promise<string> => {
    const mcp = await connect(elicitation === undefined ? {} : { elicitation }, options);
    return await mcp.call(name, {}, new AbortController().signal).finally(() => mcp.close());
  };

  it("are dismissed where nobody is there", async () => assert.match(await answers(undefined), /cancel/i));
  it("are declined where that is written down, whoever is there", async () => {
    assert.match(await answers("decline", { elicit: async () => ({ action: "accept", content: {} }) }), /declined/);
  });
  it("are answered by what is written down", async () => assert.match(await answers({ name: "Bob" }), /Bob/));
  it("go to the host where that is not enough", async () => {
    const elicit = async (): Promise<JsonObject> => ({ action: "accept", content: { name: "Host" } });
    assert.match(await answers({ other: "x" }, { elicit }), /Host/);
  });
});
