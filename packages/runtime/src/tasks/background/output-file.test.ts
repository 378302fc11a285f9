import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { appendPrefixedLogLines, createBackgroundTaskLogPage } from "./log-lines.ts";
import { createLimitedOutputCapture } from "./output-capture.ts";
import { OutputFile } from "./output-file.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-output-"));
after(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

function file(options: { maxBytes?: number; mask?: (text: string) => string } = {}): OutputFile {
  return new OutputFile({ path: join(folder, `deep/${++files}.output`), mask: (text) => text, ...options });
}

const numbered = (count: number): string => Array.from({ length: count }, (_, index) => `line ${index}\n`).join("");

describe("OutputFile", () => {
  it("has 450 lines in pages of 200, 200 and 50, and a place to read on from while more may come", async () => {
    const output = file();
    await output.append(Buffer.from(numbered(450)));
    let page = await output.page("t", "stdout");
    const sizes = [page.lines.length];
    for (let turn = 0; turn < 2; turn++) {
      page = await output.page("t", "stdout", page.nextCursor);
      sizes.push(page.lines.length);
    }
    assert.deepEqual([sizes, page.lines.at(-1), page.nextCursor], [[200, 200, 50], "[stdout] line 449", { offset: 450 }]);
    assert.deepEqual((await output.page("t", "stdout", page.nextCursor)).nextCursor, { offset: 450 });
    await output.append(Buffer.from("one more\n"));
    assert.deepEqual((await output.page("t", "stdout", { offset: 450 })).lines, ["[stdout] one more"]);
    await output.end();
    assert.equal((await output.page("t", "stdout", { offset: 450 })).nextCursor, undefined);
  });

  it("keeps a line together that comes in pieces, characters too, and blank lines", async () => {
    const output = file();
    const bytes = Buffer.from("grün\n\nzwei");
    for (const byte of bytes) await output.append(Buffer.of(byte));
    assert.deepEqual((await output.page("t", "stdout")).lines, ["[stdout] grün", "[stdout] "]);
    await output.end();
    assert.deepEqual((await output.page("t", "stdout")).lines, ["[stdout] grün", "[stdout] ", "[stdout] zwei"]);
  });

  it("shows a question that has no line end", { timeout: 5_000 }, async () => {
    const output = file();
    const grown = new Promise<void>((resolve) => output.onGrowth(resolve));
    await output.append(Buffer.from("Name? "));
    await grown;
    assert.deepEqual(await output.read(0, 100), { text: "Name? ", next: 6 });
    await output.end();
  });

  it("says how it ended, is for its owner alone, and holds no secret", async () => {
    const output = file({ mask: (text) => text.replaceAll("hunter2", "[redacted:X]") });
    await output.append(Buffer.from("it is hun"));
    await output.append(Buffer.from("ter2\n"));
    await output.end("[exited with code 3]");
    assert.equal(readFileSync(output.path, "utf8"), "it is [redacted:X]\n\n[exited with code 3]\n");
    assert.equal(statSync(output.path).mode & 0o777, 0o600);
  });

  it("stops at its limit between two characters, says so once, and has the end of what came after", async () => {
    const output = file({ maxBytes: 10 });
    for (let turn = 0; turn < 3; turn++) await output.append(Buffer.from("1234567ü8\n"));
    assert.equal(readFileSync(output.path, "utf8"), "1234567ü8\n[output truncated]\n");
    await output.end("[exited with code 0]");
    assert.equal(
      readFileSync(output.path, "utf8"),
      "1234567ü8\n[output truncated]\n\n1234567ü8\n1234567ü8\n\n[exited with code 0]\n",
    );
  });

  it("says how much of a long output it left out between its beginning and its end", async () => {
    const output = file({ maxBytes: 1_000 });
    const line = (at: number): string => `${String(at).padStart(9)}\n`;
    for (let at = 0; at < 100_000; at++) await output.append(Buffer.from(line(at)));
    await output.end();
    const text = readFileSync(output.path, "utf8");
    const [, leftOut = "", end = ""] = /\[output truncated\]\n\[(\d+) bytes left out\]\n([\s\S]*)$/.exec(text) ?? [];
    assert.equal(1_000 + Number(leftOut) + end.length, 1_000_000);
    assert.ok(end.endsWith(line(99_999)) && /^ +\d+\n/.test(end) && end.length <= 2 * 64 * 1024, String(end.length));
  });
});

describe("createLimitedOutputCapture", () => {
  it("cuts between two characters and says so once", () => {
    const capture = createLimitedOutputCapture(8);
    for (const piece of ["abcdefg", "ü", "more"]) capture.append(piece);
    assert.deepEqual([capture.truncated, capture.toString()], [true, "abcdefg\n[output truncated]\n"]);
    const whole = createLimitedOutputCapture(8);
    whole.append("abcdefü");
    assert.deepEqual([whole.truncated, whole.toString()], [false, "abcdefü"]);
  });
});

describe("log lines", () => {
  it("name their source, whole, blank ones too", () => {
    const lines: string[] = [];
    const rest = appendPrefixedLogLines(lines, "stderr", "a\n\nhal");
    assert.equal(appendPrefixedLogLines(lines, "stderr", "f\r\n", rest), "");
    assert.deepEqual(lines, ["[stderr] a", "[stderr] ", "[stderr] half"]);
  });

  it("have a next page where there is one, or may be", () => {
    const lines = numbered(201).trimEnd().split("\n");
    assert.deepEqual(createBackgroundTaskLogPage("t", lines).nextCursor, { offset: 200 });
    assert.equal(createBackgroundTaskLogPage("t", lines, { cursor: { offset: 200 } }).nextCursor, undefined);
    assert.deepEqual(createBackgroundTaskLogPage("t", lines, { cursor: { offset: 201 }, isOpen: true }), {
      taskId: "t",
      cursor: { offset: 201 },
      nextCursor: { offset: 201 },
      lines: [],
    });
  });
});
