import assert from "node:assert/strict";
import { utimesSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { findRipgrep, runRipgrep } from "../ripgrep.ts";
import type { ToolBench } from "../../../../../test/support/tool-bench.ts";
import { createToolBench } from "../../../../../test/support/tool-bench.ts";
import { createGrepTool } from "./grep.ts";

const withRipgrep = createGrepTool();
const builtIn = createGrepTool({ ripgrep: false });

describe("Grep", () => {
  let bench: ToolBench;
  before(() => {
    bench = createToolBench();
    for (const [index, [path, content]] of Object.entries(tree).entries()) {
      utimesSync(bench.write(path, content), 1000 + index, 1000 + index);
    }
  });
  after(() => bench.close());

  it("runs on ripgrep here, so that the comparison below compares two things", async () => {
    assert.match((await findRipgrep(bench.context)) ?? "none", /rg$/);
  });

  for (const [fact, input, answer] of agreements()) {
    it(`${fact}, with ripgrep and without`, async () => {
      const both = [await bench.say(withRipgrep, input), await bench.say(builtIn, input)];
      assert.deepEqual(both, [answer, answer]);
    });
  }

  it("asks to look at the real path of where it searches", async () => {
    assert.deepEqual(await builtIn.access({ pattern: "x", path: "./src" }, bench.workspace), {
      kind: "look",
      resources: [join(bench.root, "src")],
    });
  });

  it("refuses a broken pattern with the parser's words", async () => {
    for (const tool of [withRipgrep, builtIn]) assert.match(await bench.say(tool, { pattern: "(open" }), /regex parse error/);
  });

  it("stops a pattern that would take for ever in the built-in search", async () => {
    bench.write("evil.txt", `${"a".repeat(40)}b\n`);
    assert.match(await bench.say(builtIn, { pattern: "^(a+)+$", path: "evil.txt" }), /takes too long/);
    assert.equal(await bench.say(withRipgrep, { pattern: "^(a+)+$", path: "evil.txt" }), "No matches found.");
  });

  it("reads no ripgrep configuration, not even one that the environment names", async () => {
    const config = bench.write("rgconfig", "--invert-match\n");
    const run: typeof bench.workspace.run = (command) =>
      bench.workspace.run({ ...command, env: { ...command.env, RIPGREP_CONFIG_PATH: config } });
    const said = await withRipgrep.execute(
      { pattern: "needle\\(", path: "src/a.ts", output_mode: "content" },
      { ...bench.context, workspace: { ...bench.workspace, run } },
    );
    assert.deepEqual(said.content, [{ type: "text", text: "src/a.ts:2:  needle();" }]);
  });

  it("says that ripgrep was ended, even when it had nothing to say", async () => {
    const ended = { ripgrep: "/bin/sh", args: ["-c", "kill -9 $$"], separator: "\n", context: bench.context } as const;
    await assert.rejects(runRipgrep({ ...ended, onRecord: () => true }), { message: "The search was ended by SIGKILL." });
  });

  it("searches without ripgrep when none can be started", async () => {
    const workspace = { ...bench.workspace, run: () => Promise.reject(new Error("no programs here")) };
    const alone = createToolBench();
    try {
      const context = { ...alone.context, workspace };
      const output = await withRipgrep.execute({ pattern: "needle", path: "src", glob: "a.*" }, context);
      assert.deepEqual(output.content, [{ type: "text", text: "src/a.ts" }]);
    } finally {
      await alone.close();
    }
  });

  it("names paths outside the workspace in full", async () => {
    const other = createToolBench();
    try {
      const path = other.write("far.txt", "needle\n");
      assert.equal(await bench.say(withRipgrep, { pattern: "needle", path: other.root }), path);
    } finally {
      await other.close();
    }
  });

  it("says where a folder ignores all that is in it", async () => {
    bench.write("closed/.gitignore", "*\n");
    bench.write("closed/x.txt", "pin\n");
    const note = "[The .gitignore of this folder hides what is in it: search the folders in it one by one.]";
    for (const tool of [withRipgrep, builtIn])
      assert.equal(await bench.say(tool, { pattern: "pin", path: "closed" }), `No matches found.\n${note}`);
  });

  it("cuts endless matches early and says so", async () => {
    bench.write("big/log.txt", "needle in a line\n".repeat(200_000));
    for (const tool of [withRipgrep, builtIn]) {
      const lines = (await bench.say(tool, { pattern: "needle", path: "big", output_mode: "content" })).split("\n");
      assert.deepEqual(
        [lines.length, lines[249], lines[250]],
        [
          251,
          "big/log.txt:250:needle in a line",
          "[The first 250 lines are shown; there are more. Narrow the search, raise head_limit, or go on with offset 250.]",
        ],
      );
    }
  });
});

const tree: Readonly<Record<string, string | Uint8Array>> = {
  ".gitignore": "*.log\nignored/\n",
  ".hidden": "needle in hiding\n",
  "app.log": "needle in a log\n",
  "ignored/x.ts": "needle ignored\n",
  ".git/config": "needle of git\n",
  "binary.bin": Buffer.from("needle\0needle\n"),
  "crlf.txt": "first needle\r\nsecond\r\n",
  "latin1.txt": Buffer.from("needle gr\xfcn\n", "latin1"),
  "src-b/z.ts": "const needle = 1;\n",
  "src/a.ts": "function f() {\n  needle();\n  // Needle\n}\n\nend\nneedle needle\nlast\n",
  "src/b.js": "no\nneedle: {}\n-x option\n",
  "src/deep/c.tsx": "start\nof\nneedle",
  "utf16.txt": Buffer.from("\uFEFFneedle ü\r\n", "utf16le"),
};

type Agreement = [fact: string, input: object, answer: string];

function agreements(): Agreement[] {
  return [
    [
      "lists files, newest first, without ignored and binary ones",
      { pattern: "needle" },
      "utf16.txt\nsrc/deep/c.tsx\nsrc/b.js\nsrc/a.ts\nsrc-b/z.ts\nlatin1.txt\ncrlf.txt\n.hidden",
    ],
    [
      "shows lines sorted by path, in any encoding and line ending",
      { pattern: "needle\\b", output_mode: "content" },
      ".hidden:1:needle in hiding\ncrlf.txt:1:first needle\nlatin1.txt:1:needle gr\uFFFDn\nsrc/a.ts:2:  needle();\nsrc/a.ts:7:needle needle\n" +
        "src/b.js:2:needle: {}\nsrc/deep/c.tsx:3:needle\nsrc-b/z.ts:1:const needle = 1;\nutf16.txt:1:needle ü",
    ],
    [
      "anchors at line ends, also before CR",
      { pattern: "needle$", output_mode: "content", glob: "*.txt" },
      "crlf.txt:1:first needle",
    ],
    [
      "counts matching lines",
      { pattern: "needle", output_mode: "count", path: "src" },
      "src/a.ts:2\nsrc/b.js:1\nsrc/deep/c.tsx:1\n[4 in 3 files.]",
    ],
    [
      "shows context and what is left out between",
      { pattern: "needle", path: "src/a.ts", output_mode: "content", "-C": 1 },
      "src/a.ts-1-function f() {\nsrc/a.ts:2:  needle();\nsrc/a.ts-3-  // Needle\n--\nsrc/a.ts-6-end\nsrc/a.ts:7:needle needle\nsrc/a.ts-8-last",
    ],
    [
      "shows lines before and after in different numbers, without line numbers",
      { pattern: "^end", path: "src", output_mode: "content", "-B": 2, "-A": 1, "-n": false },
      "src/a.ts-}\nsrc/a.ts-\nsrc/a.ts:end\nsrc/a.ts-needle needle",
    ],
    [
      "shows only what matches, each match on its own line",
      { pattern: "ne+d(le)?", path: "src", output_mode: "content", "-o": true, "-C": 2 },
      "src/a.ts:2:needle\nsrc/a.ts:7:needle\nsrc/a.ts:7:needle\nsrc/b.js:2:needle\nsrc/deep/c.tsx:3:needle",
    ],
    [
      "shows only what matches over lines, in lines",
      { pattern: "\\(\\) \\{.*?needle", path: "src", multiline: true, output_mode: "content", "-o": true },
      "src/a.ts:1:() {\nsrc/a.ts:2:  needle",
    ],
    [
      "goes on after the lines that were shown",
      { pattern: "needle", path: "src", output_mode: "content", head_limit: 2, offset: 1 },
      "src/a.ts:7:needle needle\nsrc/b.js:2:needle: {}\n" +
        "[2 lines behind the first 1 are shown; there are more. Narrow the search, raise head_limit, or go on with offset 3.]",
    ],
    [
      "goes on after the files that were shown",
      { pattern: "needle", path: "src", head_limit: 1, offset: 1 },
      "src/b.js\n[1 behind the newest 1 of 3 files are shown. Narrow the search, raise head_limit, or go on with offset 2.]",
    ],
    [
      "goes on after the counts that were shown",
      { pattern: "needle", path: "src", output_mode: "count", offset: 2 },
      "src/deep/c.tsx:1\n[4 in 3 files, 1 of them shown.]",
    ],
    [
      "says when it is past the last line",
      { pattern: "needle", path: "src", output_mode: "content", offset: 4 },
      "There are 4 lines; offset 4 is past their end.",
    ],
    [
      "says when it is far past it",
      { pattern: "needle", path: "src", output_mode: "content", offset: 9 },
      "There are 4 lines; offset 9 is past their end.",
    ],
    [
      "says when it is past the last file",
      { pattern: "needle", path: "src", offset: 3 },
      "There are 3 files; offset 3 is past their end.",
    ],
    [
      "ignores case when told",
      { pattern: "NEEDLE", "-i": true, path: "src", output_mode: "count" },
      "src/a.ts:3\nsrc/b.js:1\nsrc/deep/c.tsx:1\n[5 in 3 files.]",
    ],
    ["takes flags at the start of the pattern", { pattern: "(?i)// NEEDLE", output_mode: "content" }, "src/a.ts:3:  // Needle"],
    [
      "matches over lines",
      { pattern: "f\\(\\).*?Needle", multiline: true, output_mode: "content" },
      "src/a.ts:1:function f() {\nsrc/a.ts:2:  needle();\nsrc/a.ts:3:  // Needle",
    ],
    [
      "counts matches over lines",
      { pattern: "needle\\s", multiline: true, output_mode: "count", glob: "src/*" },
      "src/a.ts:2\n[2 in 1 file.]",
    ],
    [
      "says that a line break needs multiline",
      { pattern: "a\\nb" },
      "The pattern contains a line break, which never matches within one line. Set multiline: true.",
    ],
    ["filters by name", { pattern: "needle", glob: "*.{ts,tsx}" }, "src/deep/c.tsx\nsrc/a.ts\nsrc-b/z.ts"],
    ["takes several globs", { pattern: "needle", glob: "*.ts, *.tsx" }, "src/deep/c.tsx\nsrc/a.ts\nsrc-b/z.ts"],
    ["takes several globs between blanks", { pattern: "needle", glob: "*.ts *.tsx !z.*" }, "src/deep/c.tsx\nsrc/a.ts"],
    ["takes no blank in a name for the end of a glob", { pattern: "needle", glob: "my files/**" }, "No matches found."],
    [
      "says what a backslash before a sign means",
      { pattern: "needles\\|nothing", path: "src" },
      "No matches found.\n[\\| stands for the character | itself here; without the backslash | has its meaning in patterns.]",
    ],
    ["filters by path from the workspace", { pattern: "needle", glob: "src/**" }, "src/deep/c.tsx\nsrc/b.js\nsrc/a.ts"],
    ["filters by path from the searched directory", { pattern: "needle", glob: "deep/*.tsx", path: "src" }, "src/deep/c.tsx"],
    ["leaves out what a glob with ! names", { pattern: "needle", glob: "!*.{ts,js}", path: "src" }, "src/deep/c.tsx"],
    ["does not bring ignored files back by a glob", { pattern: "needle", glob: "*.log" }, "No matches found."],
    ["filters by type", { pattern: "needle", type: "ts" }, "src/deep/c.tsx\nsrc/a.ts\nsrc-b/z.ts"],
    ["filters by type and name together", { pattern: "needle", type: "ts", glob: "a*" }, "src/a.ts"],
    ["takes a pattern that looks like an option", { pattern: "-x option", output_mode: "content" }, "src/b.js:3:-x option"],
    ["takes a pattern that looks like a dangerous option", { pattern: "--pre=touch" }, "No matches found."],
    ["looks ahead", { pattern: "needle(?= needle)", output_mode: "content" }, "src/a.ts:7:needle needle"],
    ["searches an ignored file or directory that is named", { pattern: "needle", path: "ignored" }, "ignored/x.ts"],
    [
      "searches an ignored file that is named",
      { pattern: "needle", path: "app.log", output_mode: "content" },
      "app.log:1:needle in a log",
    ],
    [
      "shows no more than asked for",
      { pattern: "needle", head_limit: 2, output_mode: "content" },
      ".hidden:1:needle in hiding\ncrlf.txt:1:first needle\n[The first 2 lines are shown; there are more. Narrow the search, raise head_limit, or go on with offset 2.]",
    ],
    [
      "shows no more files than asked for",
      { pattern: "needle", head_limit: 1 },
      "utf16.txt\n[The 1 newest of 8 files are shown. Narrow the search, raise head_limit, or go on with offset 1.]",
    ],
    ["knows characters beyond ASCII", { pattern: "needle [ü😀]", output_mode: "content" }, "utf16.txt:1:needle ü"],
    ["says when nothing matches", { pattern: "no such thing" }, "No matches found."],
    [
      "says when there is nothing to search",
      { pattern: "x", path: "nowhere" },
      "nowhere does not exist. Use Glob to find the right path.",
    ],
  ];
}
