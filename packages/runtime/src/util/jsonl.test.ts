import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { LineTooLong, readLines, toLine } from "./jsonl.ts";

describe("lines of JSON", () => {
  it("come back as they went, wherever the bytes are cut", async () => {
    const records = fc.array(fc.string({ unit: "binary" }), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(records, fc.integer({ min: 1, max: 7 }), async (values, size) => {
        const bytes = Buffer.from(values.map(toLine).join(""));
        assert.deepEqual(
          (await readAll(cut(bytes, size))).map((line) => JSON.parse(line)),
          values,
        );
      }),
    );
  });

  it("hold no character that other readers take for the end of a line", () => {
    assert.equal(toLine("a\u2028b"), '"a\\u2028b"\n');
    assert.equal(toLine("a\u2029b"), '"a\\u2029b"\n');
    assert.equal(toLine("\u2028\u2029\u2028"), '"\\u2028\\u2029\\u2028"\n');
  });

  it("end at line feeds only; blank ones and carriage returns do not count, and the last needs no end", async () => {
    assert.deepEqual(await readAll(cut(Buffer.from('\r\n  \n{"a":"\u2028\u2029"}\r\n\n{"b":1}'), 3)), [
      '{"a":"\u2028\u2029"}',
      '{"b":1}',
    ]);
  });

  it("are read in a time that grows with their length, not with its square", { timeout: 20_000 }, async () => {
    const line = "x".repeat(60_000_000);
    const [read] = await readAll(cut(Buffer.from(`${line}\n`), 16_384));
    assert.equal(read?.length, line.length);
  });

  it("are refused when they do not end", async () => {
    await assert.rejects(readAll(cut(Buffer.from("x".repeat(100)), 10), 50), LineTooLong);
    await assert.rejects(readAll(cut(Buffer.from("x".repeat(51)), 10), 50), LineTooLong);
    assert.deepEqual(await readAll(cut(Buffer.from("x".repeat(50)), 10), 50), ["x".repeat(50)]);
    assert.equal((await readAll(cut(Buffer.from(`${"x".repeat(40)}\n`.repeat(3)), 10), 50)).length, 3);
  });
});

async function* cut(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function readAll(bytes: AsyncIterable<Uint8Array>, maxLength?: number): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of readLines(bytes, maxLength)) lines.push(line);
  return lines;
}
