import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { ToolBench } from "../../../../../test/support/tool-bench.ts";
import { createToolBench } from "../../../../../test/support/tool-bench.ts";
import { createGlobTool } from "./glob.ts";

for (const ripgrep of [true, false]) {
  describe(`Glob ${ripgrep ? "with ripgrep" : "with the built-in walk"}`, () => {
    const glob = createGlobTool({ ripgrep });
    let bench: ToolBench;
    before(() => {
      bench = createToolBench();
      for (const [index, path] of tree.entries()) {
        const file = bench.write(path, contents[path] ?? "");
        utimesSync(file, 1000 + index, 1000 + index);
      }
      symlinkSync("..", join(bench.root, "src/loop"));
      symlinkSync("loop-b", join(bench.root, "loop-a"));
      symlinkSync("loop-a", join(bench.root, "loop-b"));
    });
    after(() => bench.close());
    const find = async (pattern: string, path?: string): Promise<string[]> =>
      (await bench.say(glob, { pattern, ...(path && { path }) })).split("\n");

    it("finds files at any depth, the newest first, and no ignored ones", async () => {
      assert.deepEqual(await find("**/*.ts"), ["src/.hidden/h.ts", "src/deep/c.ts", "src/b.ts", "src/a.ts", "top.ts"]);
      assert.deepEqual(await find("*.ts"), ["top.ts"]);
    });

    it("knows braces, classes, negated groups and hidden files", async () => {
      assert.deepEqual(await find("src/{a,b}.ts"), ["src/b.ts", "src/a.ts"]);
      assert.deepEqual(await find("src/[ab].ts"), ["src/b.ts", "src/a.ts"]);
      assert.deepEqual(await find("src/!(a).ts"), ["src/b.ts"]);
      assert.deepEqual(await find(".env*"), [".env"]);
    });

    it("gives up on a pattern that would take for ever", async () => {
      bench.write(`long/${"a".repeat(120)}!`, "");
      const pattern = `long/${"*a".repeat(30)}`;
      assert.match(await bench.say(glob, { pattern }), /takes too long on the paths here; use fewer wildcards/);
      assert.deepEqual(await find(`${pattern}*!`), [`long/${"a".repeat(120)}!`]);
    });

    it("follows nested ignore files, negations, the repository's exclude file and nested repositories", async () => {
      assert.deepEqual(await find("*/*.log"), ["nested/own.log", "logs/keep.log"]);
      assert.deepEqual(await find("nested/**"), ["nested/own.log", "nested/.gitignore"]);
      assert.deepEqual(await find("pkg/**"), ["pkg/build/kept.js", "pkg/.gitignore"]);
      assert.deepEqual(await find("**/excluded.txt"), ["No files match **/excluded.txt in the working directory."]);
      assert.deepEqual(await find("**/HEAD"), ["No files match **/HEAD in the working directory."]);
    });

    it("applies the rules from above when it starts below", async () => {
      assert.deepEqual(await find("**/*.log", "logs"), ["logs/keep.log"]);
    });

    it("looks into an ignored directory that is named", async () => {
      assert.deepEqual(await find("node_modules/x/**/*.ts"), ["node_modules/x/index.ts"]);
      assert.deepEqual(await find("**/*.ts", "node_modules"), ["node_modules/x/index.ts"]);
    });

    it("takes ./, absolute patterns, a plain name and a way up", async () => {
      assert.deepEqual(await find("./src/*.ts"), ["src/b.ts", "src/a.ts"]);
      assert.deepEqual(await find(`${bench.root}/src/*.ts`), ["src/b.ts", "src/a.ts"]);
      assert.deepEqual(await find("src/a.ts"), ["src/a.ts"]);
      assert.deepEqual(await find("../*.ts", "src"), ["top.ts"]);
    });

    it("asks to look at the directory where the search starts", async () => {
      assert.deepEqual(await glob.access({ pattern: "deep/**/*.ts", path: "src" }, bench.workspace), {
        kind: "look",
        resources: [join(bench.root, "src/deep")],
      });
    });

    it("says when nothing matches, and why that may be", async () => {
      assert.deepEqual(await find("*.rs"), [
        "No files match *.rs in the working directory. To search the directories below it too, use **/*.rs.",
      ]);
      assert.deepEqual(await find("nowhere/**"), ["No files found: nowhere does not exist."]);
      assert.deepEqual(await find("*", "top.ts"), ["top.ts is not a directory."]);
    });

    it("shows 100 of 5,000 files and says that there are more", async () => {
      for (let folder = 0; folder < 50; folder++) mkdirSync(join(bench.root, `many/d${folder}`), { recursive: true });
      for (let index = 0; index < 5000; index++) bench.write(`many/d${index % 50}/f${index}.dat`, "");
      const lines = await find("**/*.dat");
      assert.deepEqual(
        [lines.length, lines.at(-1)],
        [101, "[The 100 newest of 5000 files are shown. Narrow the pattern to see others.]"],
      );
    });

    it("finds the same in a folder that is no repository", async () => {
      const plain = createToolBench();
      try {
        plain.write(".gitignore", "*.log\n/src/gen/\n");
        for (const path of ["src/a.ts", "src/a.log", "src/Z.LOG", "src/gen/g.ts", "src/sub/b.ts"]) plain.write(path, "");
        const say = (input: object): Promise<string> => plain.say(glob, input);
        assert.equal((await say({ pattern: "src/**" })).split("\n").sort().join(), "src/Z.LOG,src/a.ts,src/sub/b.ts");
        assert.equal((await say({ pattern: "**/*", path: "src" })).split("\n").sort().join(), "src/Z.LOG,src/a.ts,src/sub/b.ts");
      } finally {
        await plain.close();
      }
    });

    it("stops when it is told to", async () => {
      const stopped = createToolBench({ signal: AbortSignal.abort(new Error("stopped")) });
      try {
        stopped.write("a", "");
        await assert.rejects(stopped.call(glob, { pattern: "**" }), /stopped/);
      } finally {
        await stopped.close();
      }
    });
  });
}

const contents: Readonly<Record<string, string>> = {
  ".gitignore": "node_modules/\n*.log\n!keep.log\nbuild/\n/dist\n# a comment\n",
  "pkg/.gitignore": "!build/\nbuild/dropped.js\n",
  ".git/info/exclude": "excluded.txt\n",
  "nested/.gitignore": "*.md\n",
};

/** Written in this order, each a second later than the one before. */
const tree = [
  ".git/HEAD",
  ".git/info/exclude",
  ".gitignore",
  ".env",
  "top.ts",
  "src/a.ts",
  "src/b.ts",
  "src/deep/c.ts",
  "src/.hidden/h.ts",
  "src/excluded.txt",
  "logs/keep.log",
  "logs/drop.log",
  "dist/out.ts",
  "node_modules/x/index.ts",
  "pkg/.gitignore",
  "pkg/build/kept.js",
  "pkg/build/dropped.js",
  "pkg/build/trace.log",
  "nested/.gitignore",
  "nested/readme.md",
  "nested/.git/HEAD",
  "nested/own.log",
];
