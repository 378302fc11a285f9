import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { model, run, tempFolder } from "./command.ts";

/** Well written, and with an error that their reader tells of. */
const kinds: readonly [name: string, good: string, bad: string][] = [
  ["a.yaml", "a: 1\n", "a: [1\n"],
  ["b.yml", "a: 1\n---\nb: 2\n", "a: 1\n b: 2\n"],
  ["c.json", "{}\n", "{,}\n"],
  ["d.sh", "echo hi\n", "if true; then\n"],
  ["e.cjs", "const a = 1;\n", "const = 1;\n"],
];

describe("a file that is changed", () => {
  for (const [name, good, bad] of kinds)
    it(`is told as changed, with its syntax errors: ${name}`, async () => {
      const cwd = tempFolder("changed");
      const told = await model(
        [
          { calls: [{ name: "Write", input: { file_path: name, content: good } }] },
          { calls: [{ name: "Edit", input: { file_path: name, old_string: good, new_string: bad } }] },
          { text: "done" },
        ],
        tempFolder("changed-home"),
      );
      const ended = await run(["-p", "go", "--permission-mode", "acceptEdits", "--output-format", "json"], {
        cwd,
        env: told.env,
      });
      assert.equal(ended.code, 0, ended.stderr);
      assert.equal(readFileSync(join(cwd, name), "utf8"), bad);
      const [, written, edited] = told.server.requests.map(({ body }) => JSON.stringify(body));
      assert.doesNotMatch(written ?? "", /syntax error|failed unexpectedly/);
      assert.match(edited ?? "", new RegExp(`\\[${name} has a syntax error now: `));
      assert.doesNotMatch(edited ?? "", /failed unexpectedly/);
    });
});
