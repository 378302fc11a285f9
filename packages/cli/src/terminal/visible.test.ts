import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { describe, it } from "node:test";
import { print } from "./visible.ts";

describe("print", () => {
  it("leaves no listener behind, however often it is called", async () => {
    const written: string[] = [];
    const output = new Writable({
      write(chunk, _, done) {
        written.push(String(chunk));
        setImmediate(done);
      },
    });
    for (let line = 0; line < 20; line++) await print(`${line}\n`, output);
    assert.deepEqual([written.length, output.listenerCount("error")], [20, 0]);
  });

  it("comes back when nobody reads any more, and lets that failure end nothing", async () => {
    const output = new Writable({
      write(_chunk, _encoding, done) {
        setImmediate(done, Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
      },
    });
    for (let line = 0; line < 20; line++) await print("x", output);
    await new Promise((done) => setImmediate(() => setImmediate(done))); // the event follows the answer
    assert.equal(output.listenerCount("error"), 0);
  });
});
