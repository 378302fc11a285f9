import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { loadInstructions } from "./instructions.ts";
import { NestedInstructions } from "./nested-instructions.ts";
import { readRule } from "./rule-files.ts";
import { patternsOf } from "./rule-patterns.ts";

const top = realpathSync(mkdtempSync(join(tmpdir(), "outrider-rules-")));
after(() => rmSync(top, { recursive: true, force: true }));
let count = 0;

function scene(files: Readonly<Record<string, string>>) {
  const place = join(top, String(++count));
  for (const [name, text] of Object.entries({ "project/.git/HEAD": "", ...files })) {
    mkdirSync(dirname(join(place, name)), { recursive: true });
    writeFileSync(join(place, name), text);
  }
  const cwd = join(place, "project/sub");
  mkdirSync(cwd, { recursive: true });
  const places = { cwd, userHome: join(place, "home"), outriderHome: join(place, "home/.outrider") };
  return { place, load: () => loadInstructions(places) };
}

const saidIn = (text: string | undefined): string[] => text?.match(/FX \w+/g) ?? [];

describe("rules in files", () => {
  it("come behind the instructions of their folder, the user's before the project's, without their heads", () => {
    const { load } = scene({
      "home/.claude/CLAUDE.md": "FX user",
      "home/.claude/rules/a.md": "FX userrule",
      "project/CLAUDE.md": "FX parent",
      "project/.claude/rules/z.md": "---\ndescription: x\n---\nFX parentrule",
      "project/sub/CLAUDE.md": "FX project",
      "project/sub/.claude/CLAUDE.md": "FX dot",
      "project/sub/.claude/rules/deep/b.md": "FX deep",
      "project/sub/.claude/rules/c.md": "FX rule",
      "project/sub/.outrider/rules/o.md": "FX own",
      "project/sub/.claude/rules/not.txt": "FX text",
      "project/sub/CLAUDE.local.md": "FX local",
    });
    const { text, files } = load();
    const expected = ["user", "userrule", "parent", "parentrule", "project", "dot", "own", "rule", "deep", "local"];
    assert.deepEqual(
      saidIn(text),
      expected.map((word) => `FX ${word}`),
    );
    assert.equal(files.length, expected.length);
    assert.doesNotMatch(text, /description: x/);
  });

  it("for some files come with the first such file, and once", () => {
    const { load, place } = scene({
      "home/.claude/rules/sql.md": '---\npaths: "*.sql"\n---\nFX sql',
      "project/sub/.claude/rules/ts.md": '---\npaths:\n  - "src/**/*.{ts,tsx}"\n  - lib/\n---\nFX ts',
      "project/sub/pkg/.claude/rules/go.md": "---\npaths: [x.go, y.go]\n---\nFX go",
    });
    const instructions = load();
    assert.deepEqual([saidIn(instructions.text), instructions.byFile], [[], true]);
    const nested = new NestedInstructions(instructions);
    const touch = (path: string): string[] =>
      saidIn(nested.touch({ paths: [join(place, "project/sub", path)], callId: path })?.text);
    assert.deepEqual(touch("src/a.md"), []);
    assert.deepEqual(touch("src/a.tsx"), ["FX ts"]);
    assert.deepEqual(touch("src/b.ts"), []);
    assert.deepEqual(touch("src/b.sql"), ["FX sql"]);
    assert.deepEqual(touch("pkg/z.go"), []);
    assert.deepEqual(touch("pkg/y.go"), ["FX go"]);
    nested.forget();
    assert.deepEqual(touch("lib/deep/x"), ["FX ts"]);
  });

  it("do not lead out of the project", () => {
    const { load, place } = scene({ "outside/secret.md": "FX secret", "project/sub/.claude/rules/a.md": "FX a" });
    symlinkSync(join(place, "outside/secret.md"), join(place, "project/sub/.claude/rules/b.md"));
    const { text, warnings } = load();
    assert.deepEqual(saidIn(text), ["FX a"]);
    assert.match(warnings.join(), /b\.md was not loaded/);
  });

  const heads: readonly [string, readonly string[]][] = [
    ["paths: a, b/*.ts", ["a", "b/*.ts"]],
    ["paths: '*.{ts,tsx}, docs/**'", ["*.{ts,tsx}", "docs/**"]],
    ['paths: ["a", b]', ["a", "b"]],
    ["paths:\n- a\n- 'b c'", ["a", "b c"]],
    ["paths:\r\n  - a\r\n", ["a"]],
    ["paths:\n- a\n-\n- ''", ["a"]],
    ["globs: a", []],
  ];
  for (const [head, patterns] of heads)
    it(`are for the files of ${JSON.stringify(head)}`, () => {
      const { paths, body } = readRule(`---\n${head}\n---\nbody`);
      assert.deepEqual([paths === undefined ? [] : patternsOf(paths), body], [patterns, "body"]);
    });

  it("without a head are for all files", () => {
    assert.deepEqual(readRule("a\n---\npaths: x\n---\nb"), { paths: undefined, body: "a\n---\npaths: x\n---\nb" });
  });
});
