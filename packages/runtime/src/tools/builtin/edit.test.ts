import assert from "node:assert/strict";
import { chmodSync, existsSync, lstatSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { ToolBench } from "../../../../../test/support/tool-bench.ts";
import { createToolBench } from "../../../../../test/support/tool-bench.ts";
import { editTool } from "./edit.ts";
import { readTool } from "./read.ts";
import { writeTool } from "./write.ts";

describe("Edit", () => {
  let bench: ToolBench;
  before(() => {
    bench = createToolBench();
  });
  after(() => bench.close());

  type Change = { old_string: string; new_string: string; replace_all?: boolean };

  /** Writes the file, reads it with the tool, edits it; answers with the words and what the file holds then. */
  async function edit(content: string | Uint8Array, change: Change): Promise<{ said: string; file: Buffer }> {
    const path = bench.write("file.txt", content);
    await bench.call(readTool, { file_path: path });
    const said = await bench.say(editTool, { file_path: path, ...change });
    return { said, file: readFileSync(path) };
  }

  it("replaces an exact, unique text and shows the lines around it", async () => {
    const path = bench.write("a.ts", "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n");
    chmodSync(path, 0o755);
    await bench.call(readTool, { file_path: "a.ts" });
    const output = await bench.call(editTool, { file_path: "a.ts", old_string: "four\n", new_string: "4\n4b\n" });
    assert.deepEqual(output, {
      content: [
        {
          type: "text",
          text: [
            "Replaced 1 occurrence in a.ts. Now around line 4:",
            "     1\tone",
            "     2\ttwo",
            "     3\tthree",
            "     4\t4",
            "     5\t4b",
            "     6\tfive",
            "     7\tsix",
            "     8\tseven",
          ].join("\n"),
        },
      ],
      details: {
        file: path,
        diff: [
          { type: "hunk", text: "@@ -1,7 +1,8 @@" },
          { type: "context", text: "one", line: 1 },
          { type: "context", text: "two", line: 2 },
          { type: "context", text: "three", line: 3 },
          { type: "remove", text: "four", line: 4 },
          { type: "add", text: "4", line: 4 },
          { type: "add", text: "4b", line: 5 },
          { type: "context", text: "five", line: 6 },
          { type: "context", text: "six", line: 7 },
          { type: "context", text: "seven", line: 8 },
        ],
      },
    });
    assert.equal(statSync(path).mode & 0o777, 0o755);
    assert.match(await bench.say(editTool, { file_path: "a.ts", old_string: "4b", new_string: "x" }), /^Replaced 1/);
  });

  it("takes dollar signs and backslashes literally", async () => {
    const { file } = await edit("price: X", { old_string: "X", new_string: "$& $1 $$ \\n $`" });
    assert.equal(file.toString(), "price: $& $1 $$ \\n $`");
  });

  it("keeps CRLF in a file edited with LF strings", async () => {
    const { file } = await edit("a\r\nb\r\nc\r\n", { old_string: "a\nb\n", new_string: "a\nnew\nb\n" });
    assert.equal(file.toString(), "a\r\nnew\r\nb\r\nc\r\n");
  });

  it("changes no ending elsewhere in a mixed file, and takes the ending of the place", async () => {
    const first = await edit("a\r\nb\nc\r\nd\n", { old_string: "b", new_string: "b1\nb2" });
    assert.equal(first.file.toString(), "a\r\nb1\nb2\nc\r\nd\n");
    const second = await edit("a\r\nb\nc\r\nd\n", { old_string: "c", new_string: "c1\nc2" });
    assert.equal(second.file.toString(), "a\r\nb\nc1\r\nc2\r\nd\n");
  });

  it("keeps LF when the strings come with CRLF", async () => {
    const { file } = await edit("a\nb\nc", { old_string: "a\r\nb", new_string: "x\r\ny" });
    assert.equal(file.toString(), "x\ny\nc");
  });

  it("keeps byte order marks and UTF-16, and a missing final newline", async () => {
    const change = { old_string: "grün", new_string: "blau 😀" };
    assert.equal((await edit("\uFEFFist grün", change)).file.toString(), "\uFEFFist blau 😀");
    const utf16 = await edit(Buffer.from("\uFEFFist grün", "utf16le"), change);
    assert.deepEqual(utf16.file, Buffer.from("\uFEFFist blau 😀", "utf16le"));
    const bigEndian = await edit(Buffer.from("\uFEFFist grün", "utf16le").swap16(), change);
    assert.deepEqual(bigEndian.file, Buffer.from("\uFEFFist blau 😀", "utf16le").swap16());
  });

  it("refuses a file that is not valid text, which it would damage", async () => {
    const latin1 = Buffer.from("gr\xfcn a", "latin1");
    const { said, file } = await edit(latin1, { old_string: "a", new_string: "b" });
    assert.match(said, /not valid UTF-8/);
    assert.deepEqual(file, latin1);
  });

  it("refuses a text that is there several times, unless all are to be replaced", async () => {
    const content = "x = 1\ny\nx = 2\nx = 3 x\n";
    const refused = await edit(content, { old_string: "x", new_string: "z" });
    assert.equal(
      refused.said,
      "old_string is in file.txt 4 times (lines 1, 3, 4). Add lines around it until it is unique, or set replace_all to change every one.",
    );
    assert.equal(refused.file.toString(), content);
    const all = await edit(content, { old_string: "x", new_string: "xx", replace_all: true });
    assert.equal(all.file.toString(), "xx = 1\ny\nxx = 2\nxx = 3 xx\n");
    assert.match(all.said, /^Replaced 4 occurrences \(lines 1, 3, 4\)/);
  });

  it("says at which line the text is when only white space differs", async () => {
    const { said } = await edit("function f() {\n\treturn 1;\n}\n", {
      old_string: "function f() {\n    return 1;\n}",
      new_string: "",
    });
    assert.equal(
      said,
      "old_string is not in file.txt. Line 1 matches when white space and quotation marks are ignored. The file has:\n" +
        "     1\tfunction f() {\n     2\t\treturn 1;\n     3\t}",
    );
  });

  it("says where a text that begins right goes wrong, and when it has line numbers in it", async () => {
    const content = "alpha\nbeta\ngamma\n";
    const wrong = await edit(content, { old_string: "alpha\nbeta\ndelta", new_string: "" });
    assert.equal(
      wrong.said,
      "old_string is not in file.txt. Lines 1 to 2 match its beginning, but then line 3 is:\n     3\tgamma",
    );
    const numbered = await edit(content, { old_string: "     1\talpha", new_string: "" });
    assert.match(numbered.said, /starts with the line numbers that Read shows/);
    const nothing = await edit(content, { old_string: "omega", new_string: "" });
    assert.match(nothing.said, /Nothing like it was found/);
    const done = await edit("const answer = 42;\n", { old_string: "const answer = 41;", new_string: "const answer = 42;" });
    assert.match(done.said, /new_string is already there \(line 1\)/);
  });

  it("refuses equal strings, a file never read and a file changed since", async () => {
    const path = bench.write("unread.txt", "a");
    assert.match(await bench.say(editTool, { file_path: path, old_string: "a", new_string: "a" }), /are the same/);
    assert.match(await bench.say(editTool, { file_path: path, old_string: "a", new_string: "b" }), /has not been read/);
    await bench.call(readTool, { file_path: path });
    writeFileSync(path, "a!");
    assert.match(await bench.say(editTool, { file_path: path, old_string: "a", new_string: "b" }), /has changed since/);
    assert.equal(readFileSync(path, "utf8"), "a!");
    assert.match(
      await bench.say(editTool, { file_path: "unred.txt", old_string: "a", new_string: "b" }),
      /Did you mean unread.txt\?/,
    );
  });

  it("creates a file with an empty old_string only where there is none, or an empty one", async () => {
    const create = (file_path: string): Promise<string> => bench.say(editTool, { file_path, old_string: "", new_string: "x\n" });
    assert.equal(await create("fresh/new.txt"), "Created fresh/new.txt (1 line).");
    assert.match(await create("fresh/new.txt"), /exists and is not empty/);
    bench.write("hollow.txt", "");
    assert.equal(await create("hollow.txt"), "Filled the empty file hollow.txt (1 line).");
    assert.ok(existsSync(join(bench.root, "fresh/new.txt")));
  });

  it("edits through a symbolic link and leaves the link in place", async () => {
    const path = bench.write("target.txt", "old");
    const link = join(bench.root, "link.txt");
    symlinkSync("target.txt", link);
    assert.deepEqual(await editTool.access({ file_path: "link.txt", old_string: "", new_string: "" }, bench.workspace), {
      kind: "edit",
      resources: [path],
    });
    await bench.call(readTool, { file_path: "link.txt" });
    await bench.call(editTool, { file_path: "link.txt", old_string: "old", new_string: "new" });
    assert.deepEqual([lstatSync(link).isSymbolicLink(), readFileSync(path, "utf8")], [true, "new"]);
  });

  it("does not write the placeholder of a secret over the secret", async () => {
    bench.write(".env", "KEY=abc123\nDEBUG=0\n");
    await bench.call(readTool, { file_path: ".env" });
    assert.match(
      await bench.say(editTool, { file_path: ".env", old_string: "KEY=[redacted:secret]", new_string: "KEY=x" }),
      /old_string is not in \.env\. It holds \[redacted:secret\], which stands for a secret that is not shown to you/,
    );
    const whole = { file_path: ".env", old_string: "DEBUG=0", new_string: "DEBUG=1\nKEY=[redacted:secret]" };
    assert.match(await bench.say(editTool, whole), /writing it would lose the secret/);
    assert.match(
      await bench.say(writeTool, { file_path: ".env", content: "KEY=[redacted:secret]\nDEBUG=1\n" }),
      /writing it would lose the secret/,
    );
    assert.equal(readFileSync(join(bench.root, ".env"), "utf8"), "KEY=abc123\nDEBUG=0\n");
    await bench.call(editTool, { file_path: ".env", old_string: "DEBUG=0", new_string: "DEBUG=1" });
    assert.equal(readFileSync(join(bench.root, ".env"), "utf8"), "KEY=abc123\nDEBUG=1\n");
  });
});
