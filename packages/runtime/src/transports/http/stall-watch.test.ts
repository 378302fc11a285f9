import assert from "node:assert/strict";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { after, describe, it } from "node:test";
import { StallWatch } from "./stall-watch.ts";

/** More than the buffers of two sockets. */
const message = Buffer.alloc(32 << 20);
const stalledMs = 1_000;

describe("a reader for whom something waits", () => {
  it("is dropped when it takes nothing", async () => {
    const { writer } = await openPair();
    const stalled = new Promise<string>((resolve) => {
      const watch = new StallWatch({ stream: writer, stalledMs, onStall: () => resolve("stalled") });
      writer.write(message);
      watch.begin();
    });
    assert.equal(await stalled, "stalled");
  });

  it("is kept while it takes something, however long one message takes", async () => {
    const { writer, reader } = await openPair();
    const began = Date.now();
    reader.on("data", () => {
      reader.pause();
      setTimeout(() => reader.resume(), 8);
    });
    const end = await new Promise<string>((resolve) => {
      const watch = new StallWatch({ stream: writer, stalledMs, onStall: () => resolve("stalled") });
      writer.write(message, () => resolve("taken"));
      watch.begin();
    });
    assert.equal(end, "taken");
    assert.ok(Date.now() - began > stalledMs, "it took longer than a reader may take nothing");
  });

  it("is not dropped when nothing waits any more", async () => {
    const { writer, reader } = await openPair();
    const watch = new StallWatch({ stream: writer, stalledMs: 10, onStall: () => assert.fail("nothing waited") });
    reader.resume();
    await new Promise<void>((resolve) => writer.write("short", () => resolve()));
    watch.begin();
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setTimeout(resolve, 2));
  });
});

async function openPair(): Promise<{ writer: Socket; reader: Socket }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const accepted = new Promise<Socket>((resolve) => server.once("connection", resolve));
  const reader = connect((server.address() as AddressInfo).port, "127.0.0.1"); // it listens on TCP
  const writer = await accepted;
  after(() => {
    for (const socket of [reader, writer]) socket.destroy();
    server.close();
  });
  for (const socket of [reader, writer]) socket.on("error", () => {});
  return { writer, reader };
}
