import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { ToolBench } from "../../../../../test/support/tool-bench.ts";
import { createToolBench } from "../../../../../test/support/tool-bench.ts";
import { readTool } from "./read.ts";
import { writeTool } from "./write.ts";

describe("Write", () => {
  let bench: ToolBench;
  before(() => {
    bench = createToolBench();
  });
  after(() => bench.close());
  const write = (file_path: string, content: string): Promise<string> => bench.say(writeTool, { file_path, content });

  it("creates a file and its directories, and may overwrite what it wrote itself", async () => {
    assert.deepEqual(await bench.call(writeTool, { file_path: "new/deep/a.txt", content: "a\nb\n" }), {
      content: [{ type: "text", text: "Created new/deep/a.txt (2 lines)." }],
      details: {
        file: join(bench.root, "new/deep/a.txt"),
        diff: [
          { type: "hunk", text: "@@ -0,0 +1,2 @@" },
          { type: "add", text: "a", line: 1 },
          { type: "add", text: "b", line: 2 },
        ],
        created: true,
      },
    });
    assert.equal(await write("new/deep/a.txt", "c"), "Overwrote new/deep/a.txt (1 line).");
    assert.equal(readFileSync(join(bench.root, "new/deep/a.txt"), "utf8"), "c");
  });

  it("overwrites a file only after it was read, and keeps its mode", async () => {
    const path = bench.write("run.sh", "old");
    chmodSync(path, 0o751);
    assert.equal(await write("run.sh", "new"), "run.sh has not been read in this session. Read it first, then change it.");
    assert.equal(readFileSync(path, "utf8"), "old");
    await bench.call(readTool, { file_path: "run.sh" });
    assert.equal(await write("run.sh", "new"), "Overwrote run.sh (1 line).");
    assert.deepEqual([readFileSync(path, "utf8"), statSync(path).mode & 0o777], ["new", 0o751]);
  });

  it("refuses a file that changed since it was read, even with the same size and time", async () => {
    const path = bench.write("stale.txt", "aaaa");
    await bench.call(readTool, { file_path: "stale.txt" });
    const { atime, mtime } = statSync(path);
    writeFileSync(path, "bbbb");
    utimesSync(path, atime, mtime);
    assert.equal(
      await write("stale.txt", "mine"),
      "stale.txt has changed since it was last read. Read it again, then change it.",
    );
    assert.equal(readFileSync(path, "utf8"), "bbbb");
  });

  it("does not mind a touched file with the same content", async () => {
    const path = bench.write("touched.txt", "same");
    await bench.call(readTool, { file_path: "touched.txt" });
    utimesSync(path, new Date(0), new Date(0));
    assert.equal(await write("touched.txt", "mine"), "Overwrote touched.txt (1 line).");
  });

  it("refuses a directory, and says in words what the system refuses", async () => {
    mkdirSync(join(bench.root, "folder"));
    bench.write("file", "x");
    assert.equal(await write("folder", "x"), "folder is a directory. Use Glob to list the files in it.");
    assert.match(await write("file/below", "x"), /could not be written: a part of the path is a file/);
  });
});
