import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createToolBench, type ToolBench } from "../../../../test/support/tool-bench.ts";
import { createGlobTool } from "./builtin/glob.ts";
import { readTool } from "./builtin/read.ts";

describe("names of files", () => {
  let bench: ToolBench;
  before(() => {
    bench = createToolBench();
    for (const name of ["src/deep/b.tsx", "src/other/index.ts", "test/b.ts", "lib/util.ts"]) bench.write(name, "x\n");
    mkdirSync(join(bench.root, "src/empty"));
  });
  after(() => bench.close());

  for (const [missing, said] of [
    ["src/b.tsx", /src\/b\.tsx does not exist\. Did you mean src\/deep\/b\.tsx/],
    ["src/deep/nope/util.ts", /and neither does its directory\. Did you mean lib\/util\.ts\?/],
    ["nowhere/at/all.md", /and neither does its directory\. Use Glob to find the file\./],
  ] as const)
    it(`that do not exist are answered with those that do: ${missing}`, async () => {
      assert.match(await bench.say(readTool, { file_path: missing }), said);
    });

  for (const ripgrep of [true, false])
    it(`are those of folders where the pattern ends in a slash${ripgrep ? "" : ", without ripgrep too"}`, async () => {
      const glob = createGlobTool({ ripgrep });
      const found = (text: string): string[] => text.split("\n").sort();
      assert.deepEqual(found(await bench.say(glob, { pattern: "src/*/" })), ["src/deep/", "src/empty/", "src/other/"]);
      assert.deepEqual(found(await bench.say(glob, { pattern: "**/deep/" })), ["src/deep/"]);
      assert.equal(
        await bench.say(glob, { pattern: "src" }),
        "No files match src in the working directory. A folder does: src/ finds folders, src/** the files in them.",
      );
      assert.match(await bench.say(glob, { pattern: "docs/*/" }), /No files found|No folders match/);
      assert.deepEqual(found(await bench.say(glob, { pattern: "src/*" })), [
        "No files match src/* in src. 3 folders do: src/*/ finds folders, src/*/** the files in them.",
      ]);
    });
});

describe("long lines", () => {
  let bench: ToolBench;
  before(() => {
    bench = createToolBench();
  });
  after(() => bench.close());

  it("are read on from the column where they were cut", async () => {
    bench.write("long.txt", `short\n${"a".repeat(2000)}${"b".repeat(1500)}\n`);
    const first = await bench.say(readTool, { file_path: "long.txt" });
    assert.match(first, /a… \[line cut: it has 3500 characters; go on with column 2001\]$/);
    const rest = await bench.say(readTool, { file_path: "long.txt", offset: 2, column: 2001 });
    assert.equal(rest, `     2\t${"b".repeat(1500)}`);
    assert.match(await bench.say(readTool, { file_path: "long.txt", column: 2001, limit: 1 }), /1\t\[line ends at column 5\]/);
  });

  it("are not cut in the middle of a letter", async () => {
    bench.write("odd.txt", `${"a".repeat(1999)}\u{1f600}tail\n`);
    const first = await bench.say(readTool, { file_path: "odd.txt" });
    assert.match(first, /a… \[line cut: it has 2005 characters; go on with column 2000\]$/);
    assert.equal(await bench.say(readTool, { file_path: "odd.txt", column: 2000 }), "     1\t\u{1f600}tail");
  });
});

describe("a PDF", () => {
  let bench: ToolBench;
  before(() => {
    bench = createToolBench();
  });
  after(() => bench.close());
  const pdf = Buffer.from("%PDF-1.4\n%%EOF\n");

  it("is handed to the model as the document it is", async () => {
    bench.write("a.pdf", pdf);
    const { content } = await bench.call(readTool, { file_path: "a.pdf" });
    assert.deepEqual(content, [{ type: "image", mediaType: "application/pdf", data: pdf.toString("base64") }]);
  });

  for (const [pages, said] of [
    ["x", /pages is a number or a range, like 3 or 1-5, not "x"\./],
    ["5-2", /pages is a number or a range/],
    ["1-99", /At most 20 pages at a time; ask for 1-20 first\./],
  ] as const)
    it(`is answered with what to send for pages ${pages}`, async () => {
      bench.write("a.pdf", pdf);
      assert.match(await bench.say(readTool, { file_path: "a.pdf", pages }), said);
    });

  it("is what pages are for", async () => {
    bench.write("a.txt", "x\n");
    assert.match(await bench.say(readTool, { file_path: "a.txt", pages: "1" }), /a\.txt is no PDF; pages are for those/);
  });

  it("that is too large is to be read in pages", async () => {
    bench.write("large.pdf", Buffer.concat([pdf, Buffer.alloc(11 * 1024 * 1024, 32)]));
    assert.match(
      await bench.say(readTool, { file_path: "large.pdf" }),
      /large\.pdf is a PDF of 11\.0 MB; up to 10\.5 MB can be shown whole\./,
    );
  });
});
