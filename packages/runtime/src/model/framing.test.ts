import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createParser } from "eventsource-parser";
import fc from "fast-check";
import { type Payload, serverSentEvents } from "./framing.ts";

async function payloadsOf(chunks: readonly Uint8Array[]): Promise<Payload[]> {
  async function* body(): AsyncGenerator<Uint8Array> {
    yield* chunks;
  }
  const payloads: Payload[] = [];
  for await (const batch of serverSentEvents.read(body())) payloads.push(...batch);
  return payloads;
}

describe("server-sent events", () => {
  const event = (data: string): Buffer => Buffer.from(`event: delta\ndata: ${data}\n\n`);

  it("are the same however their bytes come", async () => {
    const texts = ["plain", "h\u00e9, \u4f60\u597d, \ud83d\ude80", JSON.stringify({ text: "\u2028" })];
    const bytes = Buffer.concat(texts.map(event));
    const expected = texts.map((data) => ({ event: "delta", data }));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length)), async (cuts) => {
        const places = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const chunks = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
        assert.deepEqual(await payloadsOf(chunks), expected);
      }),
    );
  });

  it("are what the whole of the format makes of them", async () => {
    const lines = [
      "data: x",
      "data:",
      "data:  two",
      "data",
      "event: e",
      "event:",
      ": a comment",
      "id: 1",
      "retry: 5",
      "unknown: z",
      "\u00fc",
    ];
    const piece = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.constantFrom(...lines.map((line) => `${line}\n`), "\n", "\n\n", "event: e\ndata: x\n\n", "data: {}\n\n"),
      },
      { weight: 2, arbitrary: fc.constantFrom("\r", "\r\n", "data: x\r\r", "data: x\r\n\r\n", "data: no end", " ") },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 30 }), fc.array(fc.nat(60)), async (pieces, cuts) => {
        const expected: Payload[] = [];
        const parser = createParser({ onEvent: ({ event, data }) => expected.push({ event, data }) });
        parser.feed(pieces.join("").replace(/\r\n?/g, "\n")); // the three ends of a line mean the same
        const bytes = Buffer.from(pieces.join(""));
        const places = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
        const chunks = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
        assert.deepEqual(await payloadsOf(chunks), expected);
      }),
      { numRuns: 5_000 },
    );
  });

  it("are refused when one has no end", async () => {
    const megabyte = Buffer.alloc(1024 * 1024, "data: x");
    await assert.rejects(payloadsOf(Array.from({ length: 65 }, () => megabyte)), { code: "provider-protocol" });
    await assert.rejects(payloadsOf([Buffer.from("\r"), ...Array.from({ length: 65 }, () => megabyte)]), {
      code: "provider-protocol",
    });
  });

  it("may begin with a byte order mark, in one piece or in three, and hold one", async () => {
    const bytes = Buffer.from(`\ufeffdata: one \ufeff\n\ndata: two\n\n`);
    const expected = ["one \ufeff", "two"].map((data) => ({ event: undefined, data }));
    assert.deepEqual(await payloadsOf([bytes]), expected);
    assert.deepEqual(await payloadsOf([...bytes].map((byte) => Uint8Array.of(byte))), expected);
  });

  it("show where bytes are no UTF-8", async () => {
    assert.deepEqual(await payloadsOf([Buffer.from("data: a"), Uint8Array.of(0xff), Buffer.from("b\n\n")]), [
      { event: undefined, data: "a\ufffdb" },
    ]);
  });
});
