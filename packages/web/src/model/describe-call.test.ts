import assert from "node:assert/strict";
import { test } from "node:test";
import { headline, inputText, kindOf, previewOf, readableInput, resultOf } from "./describe-call.ts";
import { editsInInput } from "./edits.ts";

const kinds = {
  Bash: "bash",
  execute_bash: "bash",
  Read: "read",
  str_replace_editor: "edit",
  apply_patch: "edit",
  Grep: "search",
  WebFetch: "web",
  TodoWrite: "list",
  Task: "subagent",
  mcp__x__read_file: "plug",
  frobnicate: "plug",
};
for (const [tool, kind] of Object.entries(kinds)) test(`${tool} is shown as ${kind}`, () => assert.equal(kindOf(tool), kind));

const previews: readonly (readonly [string, unknown, string])[] = [
  ["the first line of a command", { command: "\n npm test\necho", description: "d" }, "npm test"],
  ["a path from the working folder", { file_path: "/p/src/a.ts" }, "src/a.ts"],
  ["a path that only begins alike, whole", { file_path: "/pp/a.ts" }, "/pp/a.ts"],
  ["a pattern and where", { pattern: "x", path: "/p/src" }, "x in src"],
  ["a command in pieces", { cmd: ["ls", "-l"] }, "ls -l"],
  ["how many items", { todos: [{}] }, "1 item"],
  ["the file of a patch", { input: "*** Begin Patch\n*** Update File: a.ts\n" }, "a.ts"],
  ["a value of a tool that nobody knows", { depth: 3 }, "3"],
  ["a text", "hello\nyou", "hello"],
  ["nothing of nothing", {}, ""],
];
for (const [what, input, preview] of previews) test(`a call shows ${what}`, () => assert.equal(previewOf(input, "/p"), preview));

test("how a call went is said in a few words", () => {
  const say = (facts: object): string =>
    resultOf({ status: "ok", kind: "bash", output: "", ...facts } as Parameters<typeof resultOf>[0]);
  assert.deepEqual(
    [
      {},
      { output: "a" },
      { exitCode: 3 },
      { exitCode: 0, output: "a\nb" },
      { status: "error", output: "Error: no such file\nx" },
      { status: "error" },
      { status: "denied" },
      { kind: "edit", output: "changed" },
    ].map(say),
    ["", "1 line", "exit 3", "2 lines", "no such file", "Failed", "Denied", ""],
  );
});

const inputs: readonly (readonly [unknown, string])[] = [
  [{ command: 'node -e "a\\n"' }, 'node -e "a\\n"'],
  [{ command: 'echo "a"', description: "say a", timeout: 5 }, 'command: echo "a"\ndescription: say a\ntimeout: 5'],
  [{ prompt: "one\ntwo", background: true, model: null }, "prompt:\n  one\n  two\nbackground: true\nmodel: null"],
  [{ todos: [] }, '{\n  "todos": []\n}'],
  [{}, "{}"],
  ["as it is", "as it is"],
  [undefined, ""],
  ["{ cut", "{ cut"],
];
for (const [input, text] of inputs)
  test(`the input ${JSON.stringify(input)} is shown as people write it`, () =>
    assert.equal(readableInput(inputText(input)), text));

test("a headline is one sentence without marks", () => {
  assert.equal(headline("## `average([])` divided **by** zero. It is mended."), "average([]) divided by zero.");
  assert.equal(headline("Done. All tests pass."), "Done. All tests pass.");
  assert.equal(headline("x".repeat(300)).length, 120);
  assert.equal(headline("## Done\n\nThe discount was applied twice. It is not now."), "The discount was applied twice.");
  assert.equal(headline("# Summary\n## Changes\n`a.ts` is mended"), "Summary");
  assert.equal(headline("## Done\n\n| a |\n|---|"), "Done");
  assert.equal(headline("## The discount is taken once\n\nMore."), "The discount is taken once");
});

test("an edit that is only told by its input shows what stays and what changes", () => {
  const [edit] = editsInInput({ file_path: "/p/a.ts", old_string: "one\ntwo\nthree\n", new_string: "one\n2\nthree\n" }, "/p");
  assert.deepEqual(
    [edit?.path, edit?.rows.map(({ sign, text }) => `${sign}${text}`)],
    ["a.ts", [" one", "-two", "+2", " three"]],
  );
  assert.deepEqual(
    editsInInput({ file_path: "a", content: "x\ny" })[0]?.rows.map(({ line }) => line),
    [1, 2],
  );
  assert.deepEqual(editsInInput({ file_path: "a" }), []);
});
