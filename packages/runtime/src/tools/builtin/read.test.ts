import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { ToolBench } from "../../../../../test/support/tool-bench.ts";
import { createToolBench } from "../../../../../test/support/tool-bench.ts";
import { readTool } from "./read.ts";

describe("Read", () => {
  let bench: ToolBench;
  before(() => {
    bench = createToolBench();
  });
  after(() => bench.close());
  const read = (file_path: string, more: object = {}): Promise<string> => bench.say(readTool, { file_path, ...more });

  it("asks to look at the real path", async () => {
    const path = bench.write("a.txt", "x");
    assert.deepEqual(await readTool.access({ file_path: "./sub/../a.txt" }, bench.workspace), {
      kind: "look",
      resources: [path],
    });
  });

  it("numbers lines, without CR and without a line after the final newline", async () => {
    bench.write("crlf.txt", "one\r\ntwo ü 😀\r\n\r\nfour\r\n");
    assert.equal(await read("crlf.txt"), "     1\tone\n     2\ttwo ü 😀\n     3\t\n     4\tfour");
  });

  it("shows 2000 lines at most and says where to go on", async () => {
    bench.write("long.txt", Array.from({ length: 2500 }, () => "x\n").join(""));
    const lines = (await read("long.txt")).split("\n");
    assert.deepEqual(
      [lines.length, lines[1999], lines[2000]],
      [2001, "  2000\tx", "[Lines 1 to 2000 of 2500 are shown. Go on with offset 2001.]"],
    );
    assert.equal((await read("long.txt", { offset: 2499, limit: 5 })).split("\n").length, 2);
    assert.equal(
      await read("long.txt", { offset: 3, limit: 1 }),
      "     3\tx\n[Lines 3 to 3 of 2500 are shown. Go on with offset 4.]",
    );
  });

  it("stops below the engine's limit, at a line end, and can be continued from there", async () => {
    bench.write("wide.txt", Array.from({ length: 400 }, (_, index) => `${index} ${"y".repeat(190)}\n`).join(""));
    const text = await read("wide.txt");
    const last = Number(/of 400 are shown. Go on with offset (\d+)/.exec(text)?.[1]);
    assert.ok(text.length < 30_000);
    assert.ok((await read("wide.txt", { offset: last })).startsWith(`   ${last}\t${last - 1} yyy`));
  });

  it("cuts a huge line between characters", async () => {
    bench.write("huge.txt", `${"a".repeat(1999)}😀${"b".repeat(3_000_000)}\nnext`);
    assert.equal(
      await read("huge.txt"),
      `     1\t${"a".repeat(1999)}… [line cut: it has 3002001 characters; go on with column 2000]\n     2\tnext`,
    );
  });

  it("tells when a file is empty, and when the offset is past the end", async () => {
    bench.write("empty.txt", "");
    bench.write("three.txt", "1\n2\n3");
    assert.equal(await read("empty.txt"), "empty.txt is empty (0 bytes).");
    assert.equal(await read("three.txt", { offset: 9 }), "three.txt has 3 lines; line 9 is past its end. Use an offset up to 3.");
  });

  it("reads UTF-8 and UTF-16 with byte order marks, and marks bytes that are no text", async () => {
    bench.write("bom.txt", "\uFEFFhello");
    bench.write("le.txt", Buffer.from("\uFEFFgrün\r\n", "utf16le"));
    bench.write("be.txt", Buffer.from("\uFEFFgrün\n", "utf16le").swap16());
    bench.write("latin1.txt", Buffer.from("gr\xfcn\n", "latin1"));
    assert.equal(await read("bom.txt"), "     1\thello");
    assert.equal(await read("le.txt"), "     1\tgrün");
    assert.equal(await read("be.txt"), "     1\tgrün");
    bench.write("broken.txt", Buffer.concat([Buffer.from("gr\u00fcn "), Uint8Array.of(0xff)]));
    assert.match(await read("latin1.txt"), /^ {5}1\tgr\u00fcn\n\[The file is stored as Latin-1/);
    assert.equal(
      await read("broken.txt"),
      "     1\tgr\u00fcn \uFFFD\n[Some bytes are not valid UTF-8; they are shown as \uFFFD.]",
    );
  });

  it("answers with an image, told by its bytes and not by its name", async () => {
    const png = Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), Buffer.alloc(20)]);
    bench.write("picture.dat", png);
    assert.deepEqual((await bench.call(readTool, { file_path: "picture.dat" })).content, [
      { type: "image", mediaType: "image/png", data: png.toString("base64") },
    ]);
    bench.write("big.webp", Buffer.concat([Buffer.from("RIFF\0\0\0\0WEBPVP8 "), Buffer.alloc(5 * 1024 * 1024)]));
    assert.equal(
      await read("big.webp"),
      "big.webp is an image of 5.0 MB; images up to 3.75 MB can be shown. Make it smaller first.",
    );
  });

  it("lists the names in a folder, without those of files that rules protect", async () => {
    mkdirSync(join(bench.root, "folder", "sub"), { recursive: true });
    assert.equal(await read("folder/sub"), "folder/sub is a folder with nothing in it to show");
    for (const name of ["b.txt", "a.txt", ".env"]) bench.write(`folder/${name}`, "x");
    assert.equal(await read("folder"), "folder is a folder:\nsub/\n.env\na.txt\nb.txt");
    const mayRead = (path: string): boolean => !path.endsWith(".env");
    const { content } = await readTool.execute({ file_path: "folder" }, { ...bench.context, mayRead });
    assert.deepEqual(content, [
      { type: "text", text: "folder is a folder:\nsub/\na.txt\nb.txt\n[1 file was left out: rules protect it.]" },
    ]);
    for (let number = 0; number < 600; number++) bench.write(`many/${number}`, "");
    const many = (await read("many")).split("\n");
    assert.deepEqual([many.length, many.at(-1)], [502, "[500 of 600 names are shown. Use Glob for the rest.]"]);
  });

  it("refuses other binary files and devices with a reason", async () => {
    bench.write("a.zip", Buffer.from("504b030400", "hex"));
    bench.write("b.bin", Buffer.from([1, 2, 0, 3]));
    assert.equal(
      await read("a.zip"),
      "a.zip is a ZIP archive (or an Office document, JAR or similar) (5 bytes) and cannot be shown as text. A command such as file, strings or xxd tells what is in it.",
    );
    assert.equal(
      await read("b.bin"),
      "b.bin is a binary file (4 bytes) and cannot be shown as text. A command such as file, strings or xxd tells what is in it.",
    );
    assert.equal(
      await read("/dev/zero"),
      "/dev/zero is no regular file (a device, socket or pipe) and is left alone. Name another file.",
    );
  });

  it("shows a window of a file that is too large to be loaded", async () => {
    const path = bench.write("large.log", "");
    const line = `${"x".repeat(99)}\n`;
    for (let part = 0; part < 6; part++) appendFileSync(path, line.repeat(100_000));
    const first = await read("large.log", { limit: 2 });
    assert.equal(
      first,
      `     1\t${"x".repeat(99)}\n     2\t${"x".repeat(99)}\n[Lines 1 to 2 of a file of 57.2 MB are shown. Go on with offset 3, or use Grep.]`,
    );
    assert.match(
      await read("large.log", { offset: 599_999 }),
      /^599999\tx+\n600000\tx+\n\[Lines 599999 to 600000 of .* That is its end\.\]$/,
    );
    assert.equal(
      await read("large.log", { offset: 700_000 }),
      "large.log has 600000 lines; line 700000 is past its end. Use an offset up to 600000.",
    );
    assert.match(await read("large.log"), /\[Lines 1 to 26\d of a file of 57\.2 MB are shown\. Go on with offset 2\d\d/);
  });

  it("cuts one line of hundreds of megabytes, and says of a large binary file what it is", async () => {
    const path = bench.write("one-line.txt", "start ");
    for (let part = 0; part < 6; part++) appendFileSync(path, "y".repeat(10_000_000));
    appendFileSync(path, "\nlast");
    assert.match(
      await read("one-line.txt"),
      /^ {5}1\tstart y+… \[line cut: it has 60000006 bytes\]\n {5}2\tlast\n\[Lines 1 to 2 /,
    );
    writeFileSync(join(bench.root, "sparse"), "");
    truncateSync(join(bench.root, "sparse"), 2 * 1024 ** 3);
    assert.equal(await read("sparse"), "The file is binary and cannot be shown as text.");
  });

  it("names the nearest file when there is none of that name", async () => {
    bench.write("src/settings.ts", "x");
    assert.equal(await read("src/setings.ts"), "src/setings.ts does not exist. Did you mean src/settings.ts?");
    assert.equal(
      await read("src/other-thing-entirely.ts"),
      "src/other-thing-entirely.ts does not exist. Use Glob to find the file.",
    );
    assert.match(await read("nowhere/a.ts"), /does not exist, and neither does its directory/);
  });
});
