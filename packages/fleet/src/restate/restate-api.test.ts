import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, describe, it } from "node:test";
import { EngineFailed, RestateApi } from "./restate-api.ts";

describe("an engine that is away for longer than anybody's patience", async () => {
  let refusals = 0;
  const server = createServer((request, response) => {
    if (refusals-- <= 0) return void response.end('{"type":"ended","value":1}');
    if (refusals % 2 === 0) return void request.socket.destroy();
    response.writeHead(503).end("starting");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on a port
  const api = new RestateApi({ ingress: url, admin: url }, 1);

  it("is waited for by whoever may end the waiting", async () => {
    const { signal } = new AbortController();
    for (const ask of [
      () => api.send("s", "k", {}, signal),
      () => api.attach("s", "k", signal),
      () => api.call({ service: "s", key: "k", handler: "h" }, {}, signal),
    ]) {
      refusals = 4;
      await ask();
      assert.equal(refusals, -1);
    }
  });

  it("is given up by a signal at once, and by others after their patience", async () => {
    refusals = 1_000;
    const waiting = new AbortController();
    const asked = api.attach("s", "k", waiting.signal);
    waiting.abort(new Error("enough"));
    await assert.rejects(asked, /enough/);
    await assert.rejects(api.query("select 1"), EngineFailed);
  });
});
