import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createToolBench, type ToolBench } from "../../../../test/support/tool-bench.ts";
import { editTool } from "./builtin/edit.ts";
import { readTool } from "./builtin/read.ts";
import { writeTool } from "./builtin/write.ts";
import { decodeText, encodeText } from "./text-file.ts";

const words = "Gr\u00fc\u00dfe, na\u00efve\r\nsecond\n";
const wide = Buffer.from(words, "utf16le");
const stored: readonly (readonly [encoding: string, bytes: Uint8Array])[] = [
  ["utf-8", Buffer.from(words)],
  ["utf-8-bom", Buffer.from(`\uFEFF${words}`)],
  ["utf-16le", Buffer.from(`\uFEFF${words}`, "utf16le")],
  ["utf-16be", Buffer.from(`\uFEFF${words}`, "utf16le").swap16()],
  ["utf-16le-plain", wide],
  ["utf-16be-plain", Buffer.from(wide).swap16()],
  ["windows-1252", Buffer.from(words, "latin1")],
];

describe("a text", () => {
  for (const [encoding, bytes] of stored)
    it(`in ${encoding} is read, and written back as it was`, () => {
      const decoded = decodeText(bytes);
      assert.deepEqual(decoded, { text: words, encoding, exact: true });
      assert.deepEqual(Buffer.from(encodeText(words, decoded?.encoding ?? "utf-8")), Buffer.from(bytes));
    });

  it("of single bytes keeps every one of them", () => {
    const all = Uint8Array.from([...Array(256).keys()].filter((byte) => byte > 31 || byte === 9 || byte === 10));
    const decoded = decodeText(all);
    assert.equal(decoded?.encoding, "windows-1252");
    assert.deepEqual(Buffer.from(encodeText(decoded?.text ?? "", "windows-1252")), Buffer.from(all));
    assert.match(decoded?.text ?? "", /\u20ac/);
  });

  it("keeps a second byte order mark, also where it is not exact", () => {
    const bytes = Buffer.concat([Buffer.from("\uFEFF\uFEFFgr\u00fcn "), Buffer.from([0xff])]);
    assert.equal(decodeText(bytes)?.text, "\uFEFFgr\u00fcn \ufffd");
  });

  it("of UTF-8 with a broken letter stays UTF-8, and is not exact", () => {
    assert.equal(decodeText(Buffer.from("gr\u00fcn \xff", "utf8"))?.exact, true);
    const broken = decodeText(Buffer.concat([Buffer.from("gr\u00fcn "), Uint8Array.of(0xff)]));
    assert.deepEqual([broken?.encoding, broken?.exact], ["utf-8", false]);
  });

  it("is no binary file", () => {
    assert.equal(decodeText(Uint8Array.of(1, 2, 0, 3, 0, 0, 9, 9)), undefined);
  });
});

describe("files in other encodings", () => {
  let bench: ToolBench;
  before(() => {
    bench = createToolBench();
  });
  after(() => bench.close());
  const bytesOf = (): Buffer => readFileSync(join(bench.root, "a.txt"));

  it("are changed by Edit and Write without becoming UTF-8", async () => {
    bench.write("a.txt", Buffer.from("caf\u00e9\n", "latin1"));
    assert.match(
      await bench.say(readTool, { file_path: "a.txt" }),
      /caf\u00e9\n\[The file is stored as Latin-1 \(Windows-1252\); Edit and Write keep that\.\]/,
    );
    await bench.call(editTool, { file_path: "a.txt", old_string: "caf\u00e9", new_string: "th\u00e9" });
    assert.deepEqual(bytesOf(), Buffer.from("th\u00e9\n", "latin1"));
    await bench.call(writeTool, { file_path: "a.txt", content: "ol\u00e9\n" });
    assert.deepEqual(bytesOf(), Buffer.from("ol\u00e9\n", "latin1"));
    const refused = await bench.say(editTool, { file_path: "a.txt", old_string: "ol\u00e9", new_string: "\u4e2d" });
    assert.match(refused, /Latin-1 \(Windows-1252\), which has no "\u4e2d": nothing was changed/);
    assert.deepEqual(bytesOf(), Buffer.from("ol\u00e9\n", "latin1"));
  });
});
