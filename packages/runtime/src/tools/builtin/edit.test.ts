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
    const broken = Buffer.concat([Buffer.from("gr\u00fcn a"), Uint8Array.of(0xff)]);
    const { said, file } = await edit(broken, { old_string: "a", new_string: "b" });
    assert.match(said, /not valid UTF-8/);
    assert.deepEqual(file, broken);
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

  it("finds a text whose lines are all indented one step less or more, and indents the new text like it", async () => {
    const file = "class A {\n\tf() {\n\t\tif (x) {\n\t\t\treturn 1;\n\t\t}\n\t}\n}\n";
    const less = await edit(file, {
      old_string: "\tif (x) {\n\t\treturn 1;\n\t}\n",
      new_string: "\tif (x) {\n\t\tlog(x);\n\n\t\treturn 2;\n\t}\n",
    });
    assert.equal(less.file.toString(), "class A {\n\tf() {\n\t\tif (x) {\n\t\t\tlog(x);\n\n\t\t\treturn 2;\n\t\t}\n\t}\n}\n");
    assert.match(
      less.said,
      /^Replaced 1 occurrence in file\.txt\. old_string was taken for lines 3 to 5, which differ from it only in white space\. It lacks 1 tab before every line; new_string got them too\. Now around line 3:\n/,
    );
    const more = await edit("  a:\n    b: 1\n", {
      old_string: "    a:\n      b: 1",
      new_string: "    a:\n      b: 2\n      c: 3",
    });
    assert.equal(more.file.toString(), "  a:\n    b: 2\n    c: 3\n");
    assert.match(more.said, /taken for lines 1 to 2, .* It has 2 spaces too many before every line/);
  });

  it("finds a text with spaces for tabs, and one that lacks white space at the ends of lines", async () => {
    const spaces = await edit("function f() {\n\tif (a) {\n\t\treturn 1;\n\t}\n}\n", {
      old_string: "    if (a) {\n        return 1;\n    }",
      new_string: "    if (a) {\n        if (b) {\n            return 2;\n        }\n    }",
    });
    assert.equal(spaces.file.toString(), "function f() {\n\tif (a) {\n\t\tif (b) {\n\t\t\treturn 2;\n\t\t}\n\t}\n}\n");
    assert.match(spaces.said, /new_string was indented like those lines\./);
    const ends = await edit("one  \r\ntwo\t\r\nthree\r\n", { old_string: "one\ntwo\nthree", new_string: "one\n2\nthree" });
    assert.equal(ends.file.toString(), "one  \r\n2\r\nthree\r\n");
    assert.match(ends.said, /Only the ends of lines differed\./);
  });

  it("finds a text with other quotation marks and dashes, and keeps those of the file where nothing changes", async () => {
    const { said, file } = await edit("He said \u201chi\u201d \u2014 it\u2019s late.\n", {
      old_string: '"hi" - it\'s late.',
      new_string: '"hi" - it\'s early.',
    });
    assert.equal(file.toString(), "He said \u201chi\u201d \u2014 it\u2019s early.\n");
    assert.match(said, /other quotation marks, dashes or spaces/);
    const line = await edit("\tsay(\u2018x\u2019);\n", { old_string: "say('x');", new_string: "say('y');" });
    assert.equal(line.file.toString(), "\tsay(\u2018y\u2019);\n");
  });

  it("guesses nothing where two places fit, lines do not tell how deep they are, or brackets are all there is", async () => {
    const twice = "if (a) {\n  go(1);\n}\nif (b) {\n    go(1);\n}\n";
    const change = { old_string: "\tgo(1);", new_string: "\tgo(2);" };
    const cases: [content: string, change: Change][] = [
      [twice, change],
      [" \u201ca\u201d \u201ca\u201d", { old_string: '"a"', new_string: "b" }],
      ["x:\n  a\n    b\n", { old_string: "\ta\n\tb", new_string: "\ta\n\tc" }],
      ["\ta\n\t\tb\n", { old_string: "a\n  b", new_string: "a\n      c" }],
      ["    a\n", { old_string: "\t\ta\n", new_string: "\t\ta\n b\n" }],
      ["\t}\n", { old_string: "    }", new_string: "" }],
      ["  a \n", { old_string: "a\t", new_string: "b", replace_all: true }],
    ];
    for (const [content, wanted] of cases) {
      const { said, file } = await edit(content, wanted);
      assert.deepEqual([said.split(".")[0], file.toString()], ["old_string is not in file", content]);
    }
  });

  it("makes several edits of one file, or none of them", async () => {
    const content = "one\ntwo\nthree\n";
    const further = { old_string: "2", new_string: "zwei" };
    const path = bench.write("several.txt", content);
    await bench.call(readTool, { file_path: path });
    const first = { file_path: path, old_string: "two", new_string: "2" };
    assert.equal(
      await bench.say(editTool, { ...first, edits: [further, { old_string: "five", new_string: "5" }] }),
      "Nothing was changed, because edit 3 of 3 cannot be made: old_string is not in several.txt. " +
        "Nothing like it was found; Read the part of the file you want to change.",
    );
    assert.equal(readFileSync(path, "utf8"), content);
    assert.match(await bench.say(editTool, { ...first, edits: [further] }), /^Replaced 1 .*\nReplaced 1 .*zwei/s);
    assert.equal(readFileSync(path, "utf8"), "one\nzwei\nthree\n");
    const empty = { file_path: path, old_string: "one", new_string: "1", edits: [{ old_string: "", new_string: "x" }] };
    assert.match(await bench.say(editTool, empty), /edit 2 of 2 cannot be made: old_string is empty/);
    assert.match(
      await bench.say(editTool, { file_path: "other.txt", old_string: "", new_string: "x", edits: [further] }),
      /takes no further edits/,
    );
  });

  it("shows the place in a file that was not read, which counts as read then, and nothing else of it", async () => {
    const path = bench.write("fresh.txt", "first\nkey = 1\nlast\n");
    const change = { file_path: path, old_string: "key = 1", new_string: "key = 2" };
    assert.match(
      await bench.say(editTool, { ...change, old_string: "first\nkey = 9" }),
      /^fresh\.txt has not been read in this session\. Read it first/,
    );
    assert.match(
      await bench.say(editTool, { ...change, old_string: "t\n", edits: [] }),
      /^fresh\.txt has not been read in this session\. Read it/,
    );
    assert.equal(
      await bench.say(editTool, change),
      "fresh.txt has not been read in this session, so that nothing was changed. The text is there (line 2), and the file counts as read now: " +
        "send the same edit again if this is the place you mean.\n     2\tkey = 1",
    );
    assert.equal(readFileSync(path, "utf8"), "first\nkey = 1\nlast\n");
    assert.match(await bench.say(editTool, change), /^Replaced 1 occurrence/);
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
