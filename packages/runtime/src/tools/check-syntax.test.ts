import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { noteSyntax } from "./check-syntax.ts";

const hasParser = "stripTypeScriptTypes" in process.getBuiltinModule("node:module");

describe("a syntax error after a change", () => {
  for (const [name, text, problem] of [
    ["a.json", '{"a": 1,}', /^\[a\.json has a syntax error now: .*JSON/],
    ["a.yaml", "a: [1\nb: 2\n", /^\[a\.yaml has a syntax error now: /],
    ["a.sh", 'if true; then\n  echo "x\n', /^\[a\.sh has a syntax error now: .*line/],
    ["tool", "#!/bin/bash\nfor x in a; do\n", /^\[tool has a syntax error now/],
    ["a.cjs", "const a = ;\n", /^\[a\.cjs has a syntax error now: Unexpected token/],
    ["a.js", "const a = ;\n", /^\[a\.js has a syntax error now: /],
    ["module.js", 'import a from "a";\nexport const b = = a;\n', /^\[module\.js has a syntax error now: /],
    ["a.mjs", "export function f( {\n", /^\[a\.mjs has a syntax error now: /],
    ...(hasParser ? ([["a.ts", "const a: = 1;\n", /^\[a\.ts has a syntax error now: /]] as const) : []),
  ] as const)
    it(`is told of ${name}`, async () => {
      assert.match(await noteSyntax(name, text), problem);
      assert.equal(await noteSyntax(name, text, text), ""); // it was there before
    });

  for (const [name, text] of [
    ["a.json", '{"a": 1}'],
    ["tsconfig.json", '{ /* x */ "a": 1, }'],
    ["b.json", '// x\n{ "a": 1, }'],
    ["a.yaml", "a: 1\n---\nb: 2\n"],
    ["chart.yaml", "a: {{ .Values.x }}\n  b"],
    ["a.sh", "#!/bin/sh\ncat <<EOF\n'\nEOF\n"],
    ["a.cjs", "#!/usr/bin/env node\nreturn require('x');\n"],
    ["a.js", "return require('x');\n"],
    ["module.js", 'import a from "nowhere";\nexport default await a;\nthrow new Error("never run");\n'],
    ["page.js", "const a = <b>c</b>;\n"],
    ["a.mjs", 'import "./none.mjs";\nawait 1;\n'],
    ["a.ts", "enum A { B }\nexport const x: number = 1;\n"],
    ["a.txt", "{"],
    ["a.json", ""],
  ] as const)
    it(`is not seen in ${name}: ${JSON.stringify(text)}`, async () => {
      assert.equal(await noteSyntax(name, text), "");
    });
});
