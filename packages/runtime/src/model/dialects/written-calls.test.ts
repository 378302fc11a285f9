import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ToolDefinition } from "../../protocol/content.ts";
import { parseWrittenCalls } from "./written-calls.ts";

const tools: ToolDefinition[] = [
  {
    name: "Read",
    description: "",
    inputSchema: { type: "object", properties: { path: { type: "string" }, limit: { type: "number" } } },
  },
  { name: "list_files", description: "", inputSchema: { type: "object" } },
];

describe("parseWrittenCalls", () => {
  const read = [{ name: "Read", input: { path: "a" } }];
  const cases: [what: string, text: string, calls: unknown[]][] = [
    ["JSON with arguments", ' {"name": "Read", "arguments": {"path": "a"}} ', read],
    ["JSON with parameters", '{"name": "Read", "parameters": {"path": "a"}}', read],
    ["JSON whose arguments are a text", '{"name": "Read", "arguments": "{\\"path\\": \\"a\\"}"}', read],
    ["JSON in OpenAI's own form", '{"type": "function", "function": {"name": "Read", "arguments": {"path": "a"}}}', read],
    ["JSON without arguments", '{"name": "list_files"}', [{ name: "list_files", input: {} }]],
    [
      "a list of calls",
      '[{"name": "Read", "arguments": {"path": "a"}}, {"name": "list_files"}]',
      [...read, { name: "list_files", input: {} }],
    ],
    [
      "a Python dict",
      "{'name': 'Read', 'arguments': {'path': 'it\\'s', 'deep': [True, None, (1, -2.5)],}}",
      [{ name: "Read", input: { path: "it's", deep: [true, null, [1, -2.5]] } }],
    ],
    ["a Python call", 'Read(path="a", limit=10)', [{ name: "Read", input: { path: "a", limit: 10 } }]],
    ["a Python call by position", "Read('a', 10)", [{ name: "Read", input: { path: "a", limit: 10 } }]],
    [
      "wrapped Python calls, one per line",
      'print(default_api.Read(path="a"))\nlist_files()',
      [...read, { name: "list_files", input: {} }],
    ],
    ["a text over several lines", 'Read(path="""a\n"b"\\n\\u00e9\\d""")', [{ name: "Read", input: { path: 'a\n"b"\né\\d' } }]],
    [
      "elements, typed by the schema",
      "<function=Read>\n<parameter=path>\n12\n</parameter>\n<parameter=limit>\n12\n</parameter>\n</function>",
      [{ name: "Read", input: { path: "12", limit: 12 } }],
    ],
    [
      "broken JSON as a call with broken input",
      '{"name": "Read", "arguments": {"path": "a}',
      [{ name: "Read", input: {}, malformedInput: '{"name": "Read", "arguments": {"path": "a}' }],
    ],
    ["arguments that are no object", '{"name": "Read", "arguments": "a"}', [{ name: "Read", input: {}, malformedInput: '"a"' }]],
    ["a tool that was not offered as none", '{"name": "Write", "arguments": {}}', []],
    ["one that was not offered among others as none", "list_files()\nWrite()", []],
    ["code as none", "import numpy as np\nnp.zeros(3)", []],
    ["words as none", "Read the file", []],
    ["nothing as none", "", []],
  ];
  for (const [what, text, calls] of cases) {
    it(`reads ${what}`, () => assert.deepEqual(parseWrittenCalls(text, tools), calls));
  }
});
