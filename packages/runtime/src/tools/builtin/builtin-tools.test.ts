import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkInput } from "../input.ts";
import { createToolBench } from "../../../../../test/support/tool-bench.ts";
import { createBuiltinTools } from "./builtin-tools.ts";
import { todoList, todoWriteTool } from "./todo-write.ts";
import { createWebSearchTool } from "./web-search.ts";

describe("createBuiltinTools", () => {
  it("lists every tool once, under the names models know", () => {
    assert.deepEqual(
      createBuiltinTools().map((tool) => tool.name),
      ["Bash", "Read", "Write", "Edit", "NotebookEdit", "Glob", "Grep", "WebFetch", "WebSearch", "TodoWrite"],
    );
  });

  it("describes every property and accepts no unknown one", async () => {
    for (const tool of createBuiltinTools()) {
      const { properties, additionalProperties } = tool.inputSchema as {
        properties: Record<string, { description?: string }>;
      } & typeof tool.inputSchema;
      assert.equal(additionalProperties, false, tool.name);
      for (const [name, property] of Object.entries(properties)) assert.ok(property.description, `${tool.name}.${name}`);
      assert.equal((await checkInput(tool.inputSchema, { surprise: 1 })).ok, false, tool.name);
    }
  });

  it("runs only what looks or reaches beside other calls", () => {
    const concurrent = createBuiltinTools().filter((tool) => tool.concurrent);
    assert.deepEqual(
      concurrent.map((tool) => tool.name),
      ["Read", "Glob", "Grep", "WebFetch", "WebSearch"],
    );
  });
});

describe("WebSearch", () => {
  it("tells the model not to try again, and a person what to do, when nothing is set up", async () => {
    const bench = createToolBench();
    try {
      const said = await bench.say(createWebSearchTool(), { query: "news" });
      assert.match(said, /do not try it again[\s\S]*library option `webSearch`/);
    } finally {
      await bench.close();
    }
  });

  it("asks the backend and holds its answer to the domains", async () => {
    const bench = createToolBench();
    const asked: unknown[] = [];
    const tool = createWebSearchTool({
      async webSearch({ signal, ...query }) {
        asked.push(query, signal.aborted);
        return [
          { title: "One", url: "https://docs.example.com/1", snippet: "First." },
          { title: "Two", url: "https://bad.example.com/2" },
          { title: "Three", url: "https://example.org/3" },
        ];
      },
    });
    try {
      const input = { query: "things", allowed_domains: ["example.com"], blocked_domains: ["bad.example.com"] };
      assert.deepEqual(await tool.access(input, bench.workspace), { kind: "reach", resources: ["things"] });
      assert.equal(await bench.say(tool, input), "1. One\n   https://docs.example.com/1\n   First.");
      assert.equal(
        await bench.say(tool, { query: "none", allowed_domains: ["nowhere.example"] }),
        'Nothing was found for "none".',
      );
      assert.deepEqual(asked.slice(0, 2), [
        { query: "things", allowedDomains: ["example.com"], blockedDomains: ["bad.example.com"] },
        false,
      ]);
    } finally {
      await bench.close();
    }
  });
});

describe("TodoWrite", () => {
  it("keeps the list for the session and answers with it in short", async () => {
    const bench = createToolBench();
    try {
      const todos = [
        { content: "Read", status: "completed" },
        { content: "Write", status: "in_progress", activeForm: "Writing" },
        { content: "Test", status: "pending" },
      ];
      assert.equal((await checkInput(todoWriteTool.inputSchema, { todos })).ok, true);
      assert.deepEqual(await todoWriteTool.access({ todos }, bench.workspace), { kind: "note", resources: [] });
      assert.equal(await bench.say(todoWriteTool, { todos }), "Task list: 1 of 3 completed.\n[x] Read\n[>] Write\n[ ] Test");
      assert.deepEqual(todoList(bench.context.memory).todos, todos);
      assert.equal(await bench.say(todoWriteTool, { todos: [] }), "The task list is empty now.");
      assert.deepEqual(todoList(bench.context.memory).todos, []);
    } finally {
      await bench.close();
    }
  });
});
