import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findPromptReferences, findReferences, parseLines } from "./references.ts";

const names = (text: string): string[] => findPromptReferences(text).map(({ written }) => written);

describe("what a text names with @", () => {
  const cases: readonly (readonly [text: string, ...names: string[]])[] = [
    ["look at @docs/a.md.", "docs/a.md"],
    ["@Makefile and @./Makefile", "Makefile", "./Makefile"],
    ["mail user@example.org"],
    ["(@a.ts), [@b.ts] {@c.ts}", "a.ts", "b.ts", "c.ts"],
    ["twice @a.ts and @a.ts", "a.ts"],
    ['@"with space.txt" @"unclosed', "with space.txt"],
    ["@a.ts#L2-3: why?", "a.ts#L2-3"],
    ["@types/node@22", "types/node@22"],
    ["@@ -1,3 +1,4 @@"],
    ["@ alone, @. and @!"],
    ["in `@code.ts` and\n```\n@fenced.ts\n```\n@prose.ts", "prose.ts"],
    ['<context ref="x">\n@inner.ts\n</context>\n@outer.ts', "outer.ts"],
    ["@docs:file:///a/b.md?", "docs:file:///a/b.md"],
    ["@a.ts,@b.ts", "a.ts"],
    ["a\n@b.ts\tthen @c.ts", "b.ts", "c.ts"],
    ["no sign at all"],
    ["@app/[id]/page.tsx and @app/(shop)/{a}.ts.", "app/[id]/page.tsx", "app/(shop)/{a}.ts"],
    ["@f(1).txt, (@f(2).txt) [@g[3].txt](link)", "f(1).txt", "f(2).txt", "g[3].txt"],
    ["@[slug].tsx @(group)/a.ts", "[slug].tsx", "(group)/a.ts"],
    ['@app.route("/x") and @Component({ a })', "app.route", "Component"],
    ["@a(b]c) @x)y(z", "a", "x"],
    ["@( @[ @)"],
  ];
  for (const [text, ...expected] of cases) it(JSON.stringify(text), () => assert.deepEqual(names(text), expected));

  it("is a path where nobody is called that", () => {
    const written = findReferences('@a.ts @./a @../a @/a @~/a @"a" @.hidden');
    assert.deepEqual(
      written.map(({ isPath }) => isPath),
      [false, true, true, true, true, true, false],
    );
  });

  it("has a shorter name where a bracket may be the writer's own", () => {
    assert.deepEqual(findReferences("@src(see below) @src(x) @a.ts"), [
      { written: "src", isPath: false },
      { written: "src(x)", isPath: false, short: "src" },
      { written: "a.ts", isPath: false },
    ]);
  });

  it("may be lines of a file", () => {
    assert.deepEqual(["a#L2-3", "a#L2-L3", "a#L7", "a#L3-2", "a#L0", "a#x", "#L2"].map(parseLines), [
      { name: "a", lines: { offset: 2, limit: 2 } },
      { name: "a", lines: { offset: 2, limit: 2 } },
      { name: "a", lines: { offset: 7, limit: 1 } },
      { name: "a", lines: { offset: 3, limit: 1 } },
      { name: "a#L0" },
      { name: "a#x" },
      { name: "#L2" },
    ]);
  });
});
