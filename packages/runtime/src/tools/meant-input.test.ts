import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../protocol/content.ts";
import { applyPatchTool } from "./builtin/apply-patch.ts";
import { bashTool } from "./builtin/bash.ts";
import { editTool } from "./builtin/edit.ts";
import { createGlobTool } from "./builtin/glob.ts";
import { createGrepTool } from "./builtin/grep.ts";
import { notebookEditTool } from "./builtin/notebook-edit.ts";
import { readTool } from "./builtin/read.ts";
import { createTaskTool } from "./builtin/task.ts";
import { todoWriteTool } from "./builtin/todo-write.ts";
import { createWebFetchTool } from "./builtin/web-fetch.ts";
import { writeTool } from "./builtin/write.ts";
import { checkInput } from "./input.ts";
import { loadForgiveness, toMeantInput } from "./meant-input.ts";
import type { Tool } from "./tool.ts";

const grep = createGrepTool();
const patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch";

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
    [
      "a range of lines as text",
      readTool,
      { file_path: "a", offset: "[626, 635]" },
      { file_path: "a", offset: 626, limit: 10 },
      ['"offset" was taken as lines 626 to 635 (offset and limit).'],
    ],
    [
      "first and last line",
      readTool,
      { path: "a", start_line: 5, end_line: "-1" },
      { file_path: "a", offset: 5 },
      ['"start_line" and "end_line" were taken as lines 5 to the end (offset and limit).', '"path" was taken for "file_path".'],
    ],
    ["empty text for what is not given", readTool, { file_path: "a", offset: "", pages: "" }, { file_path: "a" }, []],
    ["the whole input as text", readTool, '{"file_path":"a"}', { file_path: "a" }, []],
    ["the input under a name of its own", readTool, { arguments: '{"file_path":"a"}' }, { file_path: "a" }, []],
    ["a list of one", readTool, [{ "file-path": ["a"] }], { file_path: "a" }, ['"file-path" was taken for "file_path".']],
    [
      "a command as its words",
      bashTool,
      { command: ["git", "commit", "-m", "it's done"] },
      { command: "git commit -m 'it'\\''s done'" },
      ['"command" came as a list and was taken as a command line.'],
    ],
    [
      "a command for a shell",
      bashTool,
      { cmd: ["bash", "-lc", "npm test | tail"], timeout_ms: "5000" },
      { command: "npm test | tail", timeout: 5_000 },
      [
        '"cmd" came as a list and was taken as a command line.',
        '"cmd" was taken for "command".',
        '"timeout" came as text and was taken as a number.',
        '"timeout_ms" was taken for "timeout".',
      ],
    ],
    [
      "a command for another folder",
      bashTool,
      { command: "npm test && npm run lint", workdir: "my app" },
      { command: "(cd 'my app' && npm test && npm run lint)" },
      ['"workdir" was taken as a cd for this command only.'],
    ],
    [
      "several commands for another folder",
      bashTool,
      { command: "make; ls", cwd: "src" },
      { command: "(cd src || exit\nmake; ls\n)" },
      ['"cwd" was taken as a cd for this command only.'],
    ],
    [
      "switches that say nothing",
      bashTool,
      { command: "ls", cwd: ".", env: {}, stdin: "" },
      { command: "ls" },
      ['"env" is not a known property and was left out.', '"stdin" is not a known property and was left out.'],
    ],
    [
      "switches of grep",
      grep,
      { query: "a.b(", literal: true, case_sensitive: false, whole_word: "false", dir: "src", context_lines: 1 },
      { pattern: "a\\.b\\(", "-i": true, path: "src", "-C": 1 },
      [
        '"case_sensitive" was taken as -i.',
        '"literal" was taken as a pattern whose characters stand for themselves.',
        '"whole_word" was taken as a pattern between word borders.',
        '"query" was taken for "pattern".',
        '"dir" was taken for "path".',
        '"context_lines" was taken for "-C".',
      ],
    ],
    [
      "counts, and files to leave out",
      grep,
      { pattern: "a", "-c": true, exclude: "*.min.js", path: "undefined" },
      { pattern: "a", output_mode: "count", glob: "!*.min.js" },
      ['"-c" was taken as output_mode.', '"exclude" was taken as a glob with ! before it.'],
    ],
    [
      "several globs",
      createGlobTool(),
      { patterns: ["*.ts", "src/**/*.tsx"], path: "" },
      { pattern: "{*.ts,src/**/*.tsx}" },
      ['"patterns" came as a list and was taken as {*.ts,src/**/*.tsx}.', '"patterns" was taken for "pattern".'],
    ],
    [
      "tasks in other shapes and words",
      todoWriteTool,
      ["a", { title: "b" }, { step: "c", status: "Done" }, { text: "d", completed: true }, { content: "e", status: "cancelled" }],
      {
        todos: [
          { content: "a", status: "pending" },
          { content: "b", status: "pending" },
          { content: "c", status: "completed" },
          { content: "d", status: "completed" },
        ],
      },
      [
        "Tasks that were cancelled are not in the list any more.",
        '"todos[].title" was taken for "todos[].content".',
        '"todos[].step" was taken for "todos[].content".',
        '"todos[].status" was "Done" and was taken for "completed".',
        '"todos[].text" was taken for "todos[].content".',
      ],
    ],
    [
      "a JSON file as what it holds",
      writeTool,
      { path: "a.json", content: { a: [1] }, mode: "overwrite" },
      { file_path: "a.json", content: '{\n  "a": [\n    1\n  ]\n}\n' },
      ['"content" came as a value and was written as JSON.', '"path" was taken for "file_path".'],
    ],
    [
      "one change for a list of them, under other names",
      editTool,
      { file: "a", changes: { oldText: "b", newText: "c" } },
      { file_path: "a", edits: [], old_string: "b", new_string: "c" },
      [
        '"file" was taken for "file_path".',
        '"edits[].oldText" was taken for "edits[].old_string".',
        '"edits[].newText" was taken for "edits[].new_string".',
        '"changes" was taken for "edits".',
      ],
    ],
    [
      "a patch as the words of a program",
      applyPatchTool,
      { command: ["apply_patch", patch] },
      { input: patch },
      ['"command" was taken for "input".'],
    ],
    ["a patch as it is", applyPatchTool, patch, { input: patch }, []],
    ["JSON as a JSON text", readTool, JSON.stringify('{"file_path":"a"}'), { file_path: "a" }, []],
    [
      "the number of a cell",
      notebookEditTool,
      { notebook_path: "a", cell_number: 2, new_source: "x" },
      { notebook_path: "a", cell_id: "cell-2", new_source: "x" },
      ['"cell_number" was taken for the cell at place 2, counted from 0.'],
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
      assert.deepEqual(toMeantInput(tool.inputSchema, input, await loadForgiveness(tool.forgives ?? {})), {
        input: meant,
        notes,
      });
      assert.deepEqual(await checkInput(tool.inputSchema, meant), { ok: true });
    });
  }

  const unclear: [fact: string, tool: Tool, input: unknown][] = [
    ["text that is no number", readTool, { file_path: "a", offset: "the end" }],
    ["a range beside a first line", readTool, { file_path: "a", offset: 3, view_range: [1, 9] }],
    ["a range that ends before it begins", readTool, { file_path: "a", offset: "9-2" }],
    ["several files", readTool, { file_paths: ["a", "b"] }],
    ["two wrapped inputs", readTool, { input: { file_path: "a" }, arguments: { file_path: "b" } }],
    ["a wrapped text", readTool, "a.txt"],
    ["broken JSON", applyPatchTool, '{"input":"*** Begin Patch'],
    ["nothing", applyPatchTool, " "],
    ["several commands", bashTool, { command: ["cd src", "npm test"] }],
    ["variables for a command", bashTool, { command: "ls", env: { A: "1" } }],
    ["two folders", bashTool, { command: "ls", cwd: "a", workdir: "b" }],
    ["text for a list of tasks to add to", todoWriteTool, { merge: true, todos: [{ content: "a", status: "pending" }] }],
    ["a status nobody knows", todoWriteTool, { todos: [{ content: "a", status: "blocked" }] }],
    ["text to put behind the file", writeTool, { file_path: "a", content: "x", append: true }],
    ["a value for a file that is no JSON", writeTool, { file_path: "a.ts", content: { a: 1 } }],
    ["files to leave out beside files to take", grep, { pattern: "a", glob: "*.ts", exclude: "*.test.ts" }],
    ["lines that do not match", grep, { pattern: "a", "-v": true }],
    ["several folders", grep, { pattern: "a", path: ["a", "b"] }],
    ["a new text twice", editTool, { file_path: "a", old_string: "b", new_string: "c", replace: "d" }],
    ["a number with more than digits", readTool, { file_path: "a", offset: "1e3" }],
    ["a property twice under two names", readTool, { path: "a", filePath: "b" }],
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
      const meant = toMeantInput(tool.inputSchema, input, await loadForgiveness(tool.forgives ?? {}));
      assert.equal(meant !== undefined && (await checkInput(tool.inputSchema, meant.input)).ok, false);
    });
  }

  it("is an address without its beginning: rules and hooks see the whole one", async () => {
    const tool = createWebFetchTool();
    const forgiveness = await loadForgiveness(tool.forgives ?? {});
    const meant = (url: string): unknown => toMeantInput(tool.inputSchema, { url }, forgiveness)?.input["url"];
    const fits = async (url: string): Promise<boolean> => (await tool.checkInput?.({ url }))?.ok ?? false;
    assert.deepEqual(await Promise.all(["example.org/a?b", "http://example.org", "localhost:3000", "example"].map(fits)), [
      false,
      true,
      true,
      true,
    ]);
    assert.deepEqual(["example.org/a?b", "example.org:8080"].map(meant), ["https://example.org/a?b", "https://example.org:8080"]);
  });

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
