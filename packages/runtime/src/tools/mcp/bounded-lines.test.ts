import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { boundedFetch } from "./bounded-fetch.ts";
import { type BoundedLine, boundedLines } from "./bounded-lines.ts";
import { lengthOfOversized, toShortMessage } from "./oversized-message.ts";

async function* chunks(...parts: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part);
}

async function linesOf(maxLength: number, ...parts: (string | Uint8Array)[]): Promise<BoundedLine[]> {
  const lines: BoundedLine[] = [];
  for await (const line of boundedLines(chunks(...parts), maxLength)) lines.push(line);
  return lines;
}

describe("lines of a server", () => {
  it("end at LF, in whatever pieces they come, the last one also without it", async () => {
    const euro = Buffer.from("€");
    assert.deepEqual(await linesOf(10, "a", "b\nc\n\nd", euro.subarray(0, 1), euro.subarray(1)), [
      { type: "line", text: "ab" },
      { type: "line", text: "c" },
      { type: "line", text: "" },
      { type: "line", text: "d€" },
    ]);
    assert.deepEqual(await linesOf(10, "a\n"), [{ type: "line", text: "a" }]);
  });

  it("show half a character at the end as what it is", async () => {
    assert.deepEqual(await linesOf(10, "a", Buffer.from("€").subarray(0, 2)), [{ type: "line", text: "a\ufffd" }]);
  });

  it("are whole up to the limit, and have two ends and a length beyond it", async () => {
    assert.deepEqual(await linesOf(4, "ab", "cd\nef"), [
      { type: "line", text: "abcd" },
      { type: "line", text: "ef" },
    ]);
    assert.deepEqual(await linesOf(4, "abcde\nf"), [
      { type: "oversized", start: "abcd", end: "abcde", length: 5 },
      { type: "line", text: "f" },
    ]);
    const [long] = await linesOf(4, "abc", "d", "x".repeat(9_000), "end");
    assert.deepEqual(long, { type: "oversized", start: "abcd", end: `${"x".repeat(4_093)}end`, length: 9_007 });
  });
});

describe("an answer over HTTP", () => {
  const get = async (kind: string | undefined, body: string, sent?: string, maxLength = 40): Promise<string> => {
    const headers = kind === undefined ? {} : { "content-type": kind };
    const bounded = boundedFetch(async () => new Response(Buffer.from(body), { status: 201, headers }), maxLength);
    const response = await bounded("http://127.0.0.1/", sent === undefined ? {} : { body: sent });
    assert.equal(response.status, 201);
    return await response.text();
  };

  it("comes through as it is where it is short", async () => {
    assert.equal(await get("application/json", '{"a":\n1}'), '{"a": 1}');
    assert.equal(await get("application/json", ""), "");
    assert.equal(await get("text/event-stream", "data: 1\ndata: 2\n\n"), "data: 1\ndata: 2\n\n");
    assert.equal(await get(undefined, "x".repeat(40)), "x".repeat(40));
    const empty = boundedFetch(async () => new Response(null, { status: 202 }));
    assert.equal((await empty("http://127.0.0.1/")).status, 202);
  });

  it("is cut where it is no message, and stands for itself in words where it is one", async () => {
    assert.equal(await get("text/html", "x".repeat(41)), "");
    const answered = `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"${"x".repeat(100)}"}]}}`;
    const { id, result } = JSON.parse(await get("application/json", answered)) as { id: number; result: object };
    assert.deepEqual([id, lengthOfOversized(result)], [7, answered.length]);
    const long = answered.replace("xxx", "x".repeat(500));
    const events = await get("text/event-stream", `data: ${long}\n\n`, undefined, 400);
    assert.match(events, /^data: \{"jsonrpc":"2\.0","id":7,.*\n\n$/);
    assert.equal(await get("text/event-stream", `: ${"x".repeat(60)}\n\n`), ": a line that was too long\n\n");
  });

  it("belongs to the only request that was asked, and to none of several", async () => {
    const odd = `[${" ".repeat(60)}]`;
    assert.match(await get("application/json", odd, '{"id":"q","method":"m"}'), /"id":"q"/);
    await assert.rejects(get("application/json", odd, '[{"id":1},{"id":2}]'), /answered with 62 characters, which is too long/);
    await assert.rejects(get("application/json", odd, '{"method":"m"}'), /too long/);
  });

  it("has no event of more than two long lines, counted anew for each event", async () => {
    const line = `data: ${"x".repeat(34)}\n`;
    assert.equal(await get("text/event-stream", `${line}${line}\n${line}${line}\n`), `${line}${line}\n${line}${line}\n`);
    await assert.rejects(get("text/event-stream", `${line}${line}:\n`), /an event of more than 81 characters/);
  });
});

describe("a message that was too long", () => {
  const short = (start: string, end = "", asked: (string | number)[] = []) =>
    toShortMessage({ type: "oversized", start, end, length: 5_000 }, asked);
  const textsOf = (message: ReturnType<typeof short>): string[] =>
    ((message?.result ?? { content: [] }) as { content: { text: string }[] }).content.map(({ text }) => text);

  it("is answered under its own id, which stands before or after the result", () => {
    assert.equal(short('{"jsonrpc":"2.0","id":7,"result":{')?.id, 7);
    assert.equal(short('{"id":"a\\"b","result":{')?.id, 'a"b');
    assert.equal(short('{"result":{', '},"id":9,"jsonrpc":"2.0"}')?.id, 9);
    assert.equal(short('{"result":{', '},"id":9}', [1])?.id, 9);
    assert.equal(short("{", "", [1])?.id, 1);
    assert.equal(short("{", "", [1, 2]), undefined);
    assert.equal(short("{"), undefined);
  });

  it("is none where it is a question or a notice", () => {
    assert.equal(short('{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{'), undefined);
  });

  it("shows the words of its first text, whatever stands in them", () => {
    const note = /answered with 5000 characters.*Only the first 8 of them follow/;
    const [head = "", text] = textsOf(short('{"id":1,"result":{"content":[{"type":"text","text":"a\\"b\\\\\\nc\\u00e9d","x":1'));
    assert.match(head, note);
    assert.equal(text, 'a"b\\\ncéd');
    assert.equal(textsOf(short('{"id":1,"result":{"text":"abc'))[1], "abc");
    assert.equal(textsOf(short('{"id":1,"result":{"text":"abc\\u00'))[1], "abc");
    assert.equal(textsOf(short('{"id":1,"result":{"text":"ends\\\\","x":"y"'))[1], "ends\\");
    assert.equal(textsOf(short('{"id":1,"result":{"n":1'))[1], '{"id":1,"result":{"n":1');
  });

  it("shows nothing of a file, unless words came before it", () => {
    const file = `"data":"${"A".repeat(1_000)}`;
    assert.match(textsOf(short(`{"id":1,"result":{"content":[{"type":"image",${file}`))[0] ?? "", /an image or another file/);
    assert.equal(textsOf(short(`{"id":1,"result":{"content":[{"text":"w"},{${file}`))[1], "w");
    assert.equal(textsOf(short(`{"id":1,"result":{"content":[{${file}","text":"late"`)).length, 1);
  });
});
