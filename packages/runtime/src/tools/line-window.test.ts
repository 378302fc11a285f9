import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { readLineWindow, type LineWindow, type WindowWanted } from "./line-window.ts";
import { createToolBench, type ToolBench } from "../../../../test/support/tool-bench.ts";

describe("some lines of a large file", () => {
  let bench: ToolBench;
  before(() => {
    bench = createToolBench();
  });
  after(() => bench.close());

  const read = (content: string | Uint8Array, wanted: Partial<WindowWanted> = {}): Promise<LineWindow> => {
    const path = bench.write("large.txt", content);
    return readLineWindow({ path, offset: 1, limit: 100, maxCharacters: 10_000, ...wanted }, bench.context);
  };

  it("are those from the first that is wanted to the last", async () => {
    const content = "one\r\ntwo\nthree\nfour";
    assert.deepEqual(await read(content), { lines: ["one", "two", "three", "four"], more: false, total: 4 });
    assert.deepEqual(await read(content, { offset: 2, limit: 2 }), { lines: ["two", "three"], more: true, total: undefined });
    assert.deepEqual(await read(content, { offset: 3, limit: 2 }), { lines: ["three", "four"], more: false, total: 4 });
    assert.deepEqual(await read("one\ntwo\n", { limit: 2 }), { lines: ["one", "two"], more: false, total: 2 });
    assert.deepEqual(await read(content, { offset: 9 }), { lines: [], more: false, total: 4 });
  });

  it("fill the room to the last character, with eight for each line's number, and the first comes in any case", async () => {
    const three = ["a".repeat(12), "b".repeat(12), "c".repeat(12)];
    const linesIn = async (maxCharacters: number): Promise<number> =>
      (await read(three.join("\n"), { maxCharacters })).lines.length;
    const counts: number[] = [];
    for (const room of [1, 31, 32, 51, 52]) counts.push(await linesIn(room)); // one after the other: each writes the file anew
    assert.deepEqual(counts, [1, 1, 2, 2, 3]);
  });

  it("are cut when they are longer than 8 KiB, and what was skipped is not counted", async () => {
    const just = "x".repeat(8_192);
    assert.deepEqual((await read(`${just}\nend`)).lines, [just, "end"]);
    assert.deepEqual((await read(`${just}x\nend`)).lines, [`${"x".repeat(1_900)}… [line cut: it has 8193 bytes]`, "end"]);
    assert.deepEqual((await read(`${just}${just}\nsecond\nend`, { offset: 2 })).lines, ["second", "end"]);
  });

  it("are none of a file that is binary at its start", async () => {
    await assert.rejects(read(Buffer.from([97, 0, 98])), /binary/);
    assert.equal((await read(`${"x".repeat(8_192)}\0`)).total, 1);
    await assert.rejects(read(`${"x".repeat(8_191)}\0`), /binary/);
  });

  it("are none of a file that cannot be read", async () => {
    const wanted = { path: `${bench.root}/missing`, offset: 1, limit: 1, maxCharacters: 100 };
    await assert.rejects(readLineWindow(wanted, bench.context), /could not be read/);
  });
});
