import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../protocol/content.ts";
import { bashTool } from "./builtin/bash.ts";
import { editTool } from "./builtin/edit.ts";
import { createGlobTool } from "./builtin/glob.ts";
import { createGrepTool } from "./builtin/grep.ts";
import { notebookEditTool } from "./builtin/notebook-edit.ts";
import { readTool } from "./builtin/read.ts";
import { createTaskTool } from "./builtin/task.ts";
import { todoWriteTool } from "./builtin/todo-write.ts";
import { checkInput } from "./input.ts";
import { toMeantInput } from "./meant-input.ts";
import type { Tool } from "./tool.ts";

const grep = createGrepTool();

describe("an input that does not fit", () => {
  const understood: [fact: string, tool: Tool, input: unknown, meant: JsonObject, notes: string[]][] = [
    [
      "numbers and booleans as text",
      grep,
      { pattern: "a", "-A": " 3 ", "-i": "TRUE" },
      { pattern: "a", "-A": 3, "-i": true },
      ['"-A" came as text and was taken as a number.', '"-i" came as text and was taken as a boolean.'],
    ],
    [
      "a number below the least one",
      readTool,
      { file_path: "a", offset: 0 },
      { file_path: "a", offset: 1 },
      ['"offset" was 0; 1 is the least, and was used.'],
    ],
    [
      "a number above the most",
      bashTool,
      { command: "ls", timeout: "900000" },
      { command: "ls", timeout: 600_000 },
      ['"timeout" came as text and was taken as a number.', '"timeout" was 900000; 600000 is the most, and was used.'],
    ],
    [
      "another name of a property",
      editTool,
      { path: "a", old_str: "b", newString: "c" },
      { file_path: "a", old_string: "b", new_string: "c" },
      ['"path" was taken for "file_path".', '"old_str" was taken for "old_string".', '"newString" was taken for "new_string".'],
    ],
    ["lines of context", grep, { pattern: "a", context: 2 }, { pattern: "a", "-C": 2 }, ['"context" was taken for "-C".']],
    [
      "a list as text, whose items have more than is known",
      todoWriteTool,
      { todos: '[{"id":"1","content":"x","status":"pending","priority":"high"}]' },
      { todos: [{ content: "x", status: "pending" }] },
      [
        '"todos" came as text and was taken as an array.',
        '"todos[].id" is not a known property and was left out.',
        '"todos[].priority" is not a known property and was left out.',
      ],
    ],
    [
      "0 for a time limit that is not given",
      bashTool,
      { command: "ls", timeout: 0 },
      { command: "ls" },
      ['"timeout" was 0 and was taken as not given.'],
    ],
    [
      "0 for a number of lines that is not given",
      readTool,
      { file_path: "a", limit: "0" },
      { file_path: "a" },
      ['"limit" was 0 and was taken as not given.'],
    ],
    [
      "a list of changes without one of its own",
      editTool,
      { file_path: "a", edits: '[{"old_str":"b","new_string":"c"},{"old_string":"d","new_string":"e","replace_all":1}]' },
      { file_path: "a", old_string: "b", new_string: "c", edits: [{ old_string: "d", new_string: "e", replace_all: true }] },
      ['"edits" came as text and was taken as an array.', '"edits[].old_str" was taken for "edits[].old_string".'],
    ],
    [
      "words of a list in other letters, 1 for true",
      grep,
      { pattern: "a", output_mode: "Files-With-Matches", "-i": 1 },
      { pattern: "a", output_mode: "files_with_matches", "-i": true },
      ['"output_mode" was "Files-With-Matches" and was taken for "files_with_matches".'],
    ],
    [
      "a task without a description, in the background or not as text",
      createTaskTool([{ name: "general-purpose", description: "Works.", prompt: "Work.", source: "test" }]),
      { prompt: " Look for the cause of the failure, then tell. ", run_in_background: "false" },
      {
        prompt: " Look for the cause of the failure, then tell. ",
        run_in_background: false,
        description: "Look for the cause of",
      },
      ['"run_in_background" came as text and was taken as a boolean.'],
    ],
    [
      "a deletion of a cell without a new source",
      notebookEditTool,
      { notebook_path: "a", cell_id: "c", edit_mode: "DELETE" },
      { notebook_path: "a", cell_id: "c", edit_mode: "delete", new_source: "" },
      ['"edit_mode" was "DELETE" and was taken for "delete".'],
    ],
    ["null for what is not given", readTool, { file_path: "a", offset: null, limit: null }, { file_path: "a" }, []],
    [
      "a property nobody knows",
      createGlobTool(),
      { pattern: "*", recursive: true },
      { pattern: "*" },
      ['"recursive" is not a known property and was left out.'],
    ],
  ];
  for (const [fact, tool, input, meant, notes] of understood) {
    it(`is understood: ${fact}`, async () => {
      assert.equal((await checkInput(tool.inputSchema, input)).ok, false);
      assert.deepEqual(toMeantInput(tool.inputSchema, input, tool.forgives ?? {}), { input: meant, notes });
      assert.deepEqual(await checkInput(tool.inputSchema, meant), { ok: true });
    });
  }

  const unclear: [fact: string, tool: Tool, input: unknown][] = [
    ["text that is no number", readTool, { file_path: "a", offset: "[626, 635]" }],
    ["a number with more than digits", readTool, { file_path: "a", offset: "1e3" }],
    ["a property twice under two names", readTool, { path: "a", filePath: "b" }],
    ["a command for another folder", bashTool, { command: "ls", cwd: "/" }],
    ["a command for the background", bashTool, { command: "serve", run_in_background: true }],
    ["no object", readTool, ["a"]],
    [
      "a list of changes beside half of one",
      editTool,
      { file_path: "a", old_string: "b", edits: [{ old_string: "c", new_string: "d" }] },
    ],
    ["a task of nothing", createTaskTool([]), { prompt: "", subagent_type: "x" }],
    ["a missing property", readTool, { limit: "5" }],
    ["a list that is none", todoWriteTool, { todos: "[broken" }],
  ];
  for (const [fact, tool, input] of unclear) {
    it(`is not guessed at: ${fact}`, async () => {
      const meant = toMeantInput(tool.inputSchema, input, tool.forgives ?? {});
      assert.equal(meant !== undefined && (await checkInput(tool.inputSchema, meant.input)).ok, false);
    });
  }

  it("of another's tool changes in its types only", () => {
    const schema: JsonObject = {
      type: "object",
      properties: { count: { type: "integer", minimum: 1 }, name: { type: "string" }, any: { type: ["integer", "string"] } },
      additionalProperties: false,
    };
    assert.deepEqual(toMeantInput(schema, { count: "0", Name: "x", name: 7, any: "5", more: 1 }, {}), {
      input: { count: 0, Name: "x", name: "7", any: "5", more: 1 },
      notes: ['"count" came as text and was taken as a number.'],
    });
  });

  it("of another's tool keeps its names, and loses null for what is not given", () => {
    const schema: JsonObject = { type: "object", properties: { file_path: { type: "string" }, depth: { type: "integer" } } };
    assert.equal(toMeantInput(schema, { filePath: "a" }, {}), undefined);
    assert.deepEqual(toMeantInput(schema, { filePath: "a", depth: null }, {}), { input: { filePath: "a" }, notes: [] });
  });

  it("keeps names that mean something to JavaScript", () => {
    const schema: JsonObject = { type: "object", properties: { n: { type: "integer" } } };
    const input = JSON.parse('{"__proto__":{"a":1},"constructor":1,"n":"2"}') as JsonObject;
    assert.equal(JSON.stringify(toMeantInput(schema, input, {})?.input), '{"__proto__":{"a":1},"constructor":1,"n":2}');
  });
});
