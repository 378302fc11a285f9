import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createLocalWorkspace } from "../workspace/local.ts";
import { createToolMemory, type Tool, type ToolContext } from "./tool.ts";
import { withToolSearch } from "./tool-search.ts";

const tool = (name: string, description = "Does something", more: Partial<Tool> = {}): Tool => ({
  ...{ name, description, inputSchema: { type: "object" }, concurrent: true },
  access: async () => ({ kind: "note", resources: [] }),
  execute: async () => ({ content: [] }),
  ...more,
});
const tools = [
  tool("mcp__git__commit", "Makes a commit of what is staged"),
  tool("mcp__git__log", "Shows commits"),
  tool("mcp__mail__send", "Sends a letter"),
  tool("mcp__mail__read", "Reads letters", { alwaysShown: true }),
];
const namesOf = (list: readonly Tool[]): string[] => list.map(({ name }) => name);

async function search(query: string, limit?: number): Promise<string[] | string> {
  const all = withToolSearch(tools, 0);
  const loaded: string[] = [];
  const context: ToolContext = {
    callId: "1",
    workspace: createLocalWorkspace({ root: process.cwd(), env: {}, overflowDirectory: "/nowhere" }),
    signal: new AbortController().signal,
    progress() {},
    memory: createToolMemory(),
    deferredTools: { list: () => all.filter(({ deferred }) => deferred), load: (names) => void loaded.push(...names) },
  };
  const input = { query, ...(limit !== undefined && { max_results: limit }) };
  try {
    await all.at(-1)?.execute(input, context);
    return loaded;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

describe("tool search", () => {
  it("changes nothing where all tools together are small", () => {
    assert.deepEqual(withToolSearch(tools, 1_000), tools);
    assert.deepEqual(withToolSearch([], 0), []);
  });

  it("names what is loaded on demand in the tool that loads it, and leaves alone what is always shown", () => {
    const all = withToolSearch(tools, 10);
    assert.deepEqual(namesOf(all), ["mcp__mail__read", "mcp__git__commit", "mcp__git__log", "mcp__mail__send", "ToolSearch"]);
    assert.deepEqual(namesOf(all.filter(({ deferred }) => deferred)), ["mcp__git__commit", "mcp__git__log", "mcp__mail__send"]);
    assert.match(all.at(-1)?.description ?? "", /mcp__git__commit\nmcp__git__log\nmcp__mail__send$/);
  });

  for (const [query, limit, expected] of [
    ["select:mcp__git__log,mcp__mail__send", undefined, ["mcp__git__log", "mcp__mail__send"]],
    ["select:mcp__git__log, nothing", undefined, ["mcp__git__log"]],
    ["commit", undefined, ["mcp__git__commit", "mcp__git__log"]], // a word in the name comes first
    ["commit", 1, ["mcp__git__commit"]],
    ["+git send letter", undefined, ["mcp__git__commit", "mcp__git__log"]],
    ["LETTER", undefined, ["mcp__mail__send"]],
  ] as const)
    it(`finds by ${JSON.stringify(query)}${limit === undefined ? "" : `, at most ${limit}`}`, async () => {
      assert.deepEqual(await search(query, limit), expected);
    });

  for (const [query, expected] of [
    ["select:nothing", /There is no tool nothing/],
    ["zebra", /No tool fits "zebra"/],
    ["+zebra git", /No tool fits/],
  ] as const)
    it(`says what ${JSON.stringify(query)} does not find`, async () => assert.match(String(await search(query)), expected));
});
