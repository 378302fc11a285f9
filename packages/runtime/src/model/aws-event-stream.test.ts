import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { crc32 } from "node:zlib";
import { awsEventStream } from "./aws-event-stream.ts";

describe("awsEventStream", () => {
  it("cuts the same payloads out of the bytes, wherever these are split", async () => {
    const bytes = Buffer.concat([chunk('{"n":1}'), chunk('{"text":"日本語 🙂"}'), chunk('{"n":3}')]);
    const expected = ['{"n":1}', '{"text":"日本語 🙂"}', '{"n":3}'];
    for (const size of [1, 2, 3, 5, 11, 12, 13, 64, bytes.length]) {
      assert.deepEqual(await read(bytes, size), expected, `pieces of ${size} bytes`);
    }
  });

  it("reads the message of AWS's published vector", async () => {
    // Payload {'foo':'bar'} with one text header, content-type: not a chunk, so there is nothing for the decoder.
    const vector = Buffer.from(
      "0000003d0000002007fd83960c636f6e74656e742d747970650700106170706c69636174696f6e2f6a736f6e7b27666f6f273a27626172277d8d9c08b1",
      "hex",
    );
    assert.deepEqual(await read(vector, vector.length), []);
    vector.writeUInt8(0, vector.length - 8);
    await assert.rejects(read(vector, vector.length), { code: "provider-protocol" });
  });

  it("skips headers of every kind", async () => {
    const headers = Buffer.concat([
      ...[0, 1].map((type) => header("flag", type, Buffer.alloc(0))),
      header("byte", 2, Buffer.alloc(1)),
      header("short", 3, Buffer.alloc(2)),
      header("int", 4, Buffer.alloc(4)),
      header("long", 5, Buffer.alloc(8)),
      header("bytes", 6, Buffer.from([0, 2, 1, 1])),
      header("time", 8, Buffer.alloc(8)),
      header("uuid", 9, Buffer.alloc(16)),
      text(":message-type", "event"),
      text(":event-type", "chunk"),
    ]);
    assert.deepEqual(await read(message(headers, wrap("{}")), 7), ["{}"]);
  });

  const exceptions: [type: string, said: string, code: string, retryable: boolean][] = [
    ["throttlingException", "slow down", "provider-rate-limit", true],
    ["modelTimeoutException", "late", "provider-timeout", true],
    ["modelStreamErrorException", "odd", "provider-unavailable", true],
    ["internalServerException", "oops", "provider-unavailable", true],
    ["serviceUnavailableException", "full", "provider-overloaded", true],
    ["accessDeniedException", "no", "provider-auth", false],
    ["validationException", "bad field", "provider-bad-request", false],
    ["validationException", "Input is too long for requested model.", "context-overflow", false],
  ];
  for (const [type, said, code, retryable] of exceptions) {
    it(`makes ${code} of ${type}: ${said}`, async () => {
      const headers = Buffer.concat([text(":message-type", "exception"), text(":exception-type", type)]);
      await assert.rejects(read(message(headers, JSON.stringify({ message: said })), 9), {
        code,
        retryable,
        message: `Amazon Bedrock broke off its answer with ${type}: ${said}`,
      });
    });
  }

  it("reports an error message by its code", async () => {
    const headers = [text(":message-type", "error"), text(":error-code", "E1"), text(":error-message", "broken pipe")];
    await assert.rejects(read(message(Buffer.concat(headers), ""), 100), {
      code: "provider-unavailable",
      message: "Amazon Bedrock broke off its answer with E1: broken pipe",
    });
  });

  it("refuses bytes that are no event stream, before it waits for the rest of them", async () => {
    const whole = chunk('{"n":1}');
    const huge = prelude(0x7fffffff, 0);
    const crossed = prelude(20, 100);
    const badHeaders = message(Buffer.from([200, 1, 2]), "{}");
    const rows: [bytes: Buffer, words: RegExp][] = [
      [Buffer.from("HTTP/1.1 200 OK\r\n"), /prelude fails its checksum/],
      [huge, /2147483647 bytes/],
      [crossed, /20 bytes with 100 bytes of headers/],
      [badHeaders, /headers cannot be read/],
      [whole.subarray(0, whole.length - 1), /ends in the middle/],
    ];
    for (const [bytes, words] of rows) {
      await assert.rejects(read(bytes, 1_000), { code: "provider-protocol", retryable: true, message: words });
    }
  });

  it("finds any single flipped bit", async () => {
    const whole = chunk('{"n":1}');
    for (let bit = 0; bit < whole.length * 8; bit++) {
      const bytes = Buffer.from(whole);
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      await assert.rejects(read(bytes, 1_000), { code: "provider-protocol" }, `bit ${bit}`);
    }
  });
});

async function read(bytes: Buffer, size: number): Promise<string[]> {
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
  }
  const found: string[] = [];
  for await (const payloads of awsEventStream.read(pieces())) found.push(...payloads.map(({ data }) => data));
  return found;
}

function chunk(json: string): Buffer {
  const headers = Buffer.concat([text(":event-type", "chunk"), text(":message-type", "event")]);
  return message(headers, wrap(json));
}

function wrap(json: string): string {
  return JSON.stringify({ bytes: Buffer.from(json).toString("base64"), p: "abcdef" });
}

function message(headers: Buffer, body: string): Buffer {
  const start = prelude(16 + headers.length + Buffer.byteLength(body), headers.length);
  const all = Buffer.concat([start, headers, Buffer.from(body)]);
  return Buffer.concat([all, number(crc32(all))]);
}

function prelude(length: number, headersLength: number): Buffer {
  const start = Buffer.concat([number(length), number(headersLength)]);
  return Buffer.concat([start, number(crc32(start))]);
}

function text(name: string, value: string): Buffer {
  const length = Buffer.from([value.length >> 8, value.length & 255]);
  return header(name, 7, Buffer.concat([length, Buffer.from(value)]));
}

function header(name: string, type: number, value: Buffer): Buffer {
  return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from([type]), value]);
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
