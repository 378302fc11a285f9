import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createSocketServer, type Socket } from "node:net";
import { afterEach, describe, it } from "node:test";
import { RuntimeError } from "../protocol/errors.ts";
import { createHttpClient, type HttpClient, type HttpRequest, readText } from "./http.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

describe("openStream", () => {
  it("sends the request and streams the answer", async () => {
    const seen: { method: string | undefined; url: string | undefined; type: string | undefined; body: string }[] = [];
    const { url } = await serve(async (request, response) => {
      seen.push({ method: request.method, url: request.url, type: request.headers["content-type"], body: await bodyOf(request) });
      response.writeHead(201, { "x-one": "1" });
      response.write("hel");
      response.end("lo");
    });
    const response = await open({ url: `${url}/path?q=1`, method: "POST", headers: { "content-type": "text/x" }, body: "grüße" });
    assert.equal(response.status, 201);
    assert.equal(response.headers["x-one"], "1");
    assert.equal(await readText(response.body, 100), "hello");
    assert.deepEqual(seen, [{ method: "POST", url: "/path?q=1", type: "text/x", body: "grüße" }]);
  });

  it("uses one connection for requests in a row, and a new one when it is told to", async () => {
    const { url, server } = await serve((_, response) => response.end("ok"));
    let connections = 0;
    server.on("connection", () => connections++);
    const http = client();
    for (let n = 0; n < 3; n++) await readText((await open({ url }, http)).body, 100);
    assert.equal(connections, 1);
    await readText((await open({ url, fresh: true }, http)).body, 100);
    assert.equal(connections, 2);
  });

  it("keeps the connection of an answer that was left a moment before its end", async () => {
    const { url, server } = await serve((_, response) => {
      response.write("enough");
      setTimeout(() => response.end(), 20);
    });
    let connections = 0;
    server.on("connection", () => connections++);
    const http = client();
    for (let n = 0; n < 2; n++) {
      const ended = new Promise((resolve) => server.once("request", (_, response) => response.once("finish", resolve)));
      for await (const _ of (await open({ url }, http)).body) break;
      await ended;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.equal(connections, 1);
  });

  it("asks once more on a new connection when the kept one was closed by the server", async () => {
    let count = 0;
    const { url } = await serve((request, response) => {
      count++;
      // Takes the second request of a connection as a proxy with a stale pool would: hangs up without a word.
      if (connectionCount(request) > 1) request.socket.destroy();
      else response.end("ok");
    });
    const http = client();
    await readText((await open({ url }, http)).body, 100);
    assert.equal(await readText((await open({ url, method: "POST", body: "{}" }, http)).body, 100), "ok");
    assert.equal(count, 3);
  });

  it("stops reading when nobody takes the bytes", async () => {
    const chunk = Buffer.alloc(64 * 1024);
    let sent = 0;
    const { url } = await serve(async (_, response) => {
      for (let n = 0; n < 1_000 && !response.destroyed; n++) {
        sent += chunk.length;
        if (!response.write(chunk)) await Promise.race([once(response, "drain"), once(response, "close")]);
      }
      response.end();
    });
    const response = await open({ url });
    const reader = response.body[Symbol.asyncIterator]();
    await reader.next();
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.ok(sent < 32 * 1024 * 1024, `the server could send ${sent} bytes`);
    await reader.return?.();
  });

  for (const { what, handler } of [
    { what: "a chunked body that is cut", handler: (_, response) => response.write("part", () => response.socket?.destroy()) },
    {
      what: "a body shorter than its content-length",
      handler: (_, response) => {
        response.writeHead(200, { "content-length": "100" });
        response.write("part", () => response.socket?.end());
      },
    },
  ] satisfies { what: string; handler: RequestListener }[]) {
    it(`reports ${what}`, async () => {
      const { url, host } = await serve(handler);
      const response = await open({ url });
      await assert.rejects(
        readText(response.body, 1_000),
        failure("provider-unavailable", `The connection to ${host} was cut (ECONNRESET)`),
      );
    });
  }

  it("says in one sentence what failed on the network", async () => {
    const unused = await serve(() => {});
    await new Promise((resolve) => unused.server.close(resolve));
    await assert.rejects(
      open({ url: unused.url }),
      failure("provider-unavailable", `${unused.host} refused the connection (ECONNREFUSED)`),
    );
    await assert.rejects(open({ url: "http://no-such-host.invalid/" }), (error: unknown) => {
      assert.ok(error instanceof RuntimeError);
      assert.match(error.message, /^The host name no-such-host\.invalid could not be resolved \((ENOTFOUND|EAI_AGAIN)\)$/);
      return true;
    });
    const hangUp = await serveSocket((socket) => socket.destroy());
    await assert.rejects(
      open({ url: hangUp.url }),
      failure("provider-unavailable", `The connection to ${hangUp.host} was cut (ECONNRESET)`),
    );
    const chatter = await serveSocket((socket) => socket.end("SSH-2.0-OpenSSH_9.2\r\n"));
    await assert.rejects(open({ url: chatter.url }), { code: "provider-protocol", retryable: true, message: /is not HTTP/ });
    await assert.rejects(open({ url: chatter.url.replace("http:", "https:") }), {
      code: "provider-unavailable",
      retryable: false,
      message: /does not speak TLS at this port/,
    });
    await assert.rejects(open({ url: unused.url, headers: { "x-api-key": "with\nbreak" } }), {
      code: "config",
      retryable: false,
    });
  });
});

describe("timeouts", () => {
  const never = 60_000;
  const stages = { connectMs: never, headersMs: never, firstByteMs: never, idleMs: never, totalMs: never };
  const words: [keyof typeof stages, string][] = [
    ["headersMs", "sent no response headers within 40 ms"],
    ["firstByteMs", "sent headers but no first byte within 40 ms"],
    ["idleMs", "stopped sending: nothing came within 40 ms"],
  ];
  for (const [stage, message] of words) {
    it(`${stage} has its own limit`, async () => {
      const { url, host } = await serve((_, response) => {
        if (stage === "headersMs") return;
        response.flushHeaders();
        if (stage === "idleMs") response.write("x");
      });
      const read = async (): Promise<string> => readText((await open({ url, timeouts: { ...stages, [stage]: 40 } })).body, 100);
      await assert.rejects(read(), failure("provider-timeout", `${host} ${message}`));
    });
  }

  it("connectMs ends a TLS handshake that does not come to its end", async () => {
    const silent = await serveSocket(() => {});
    const url = silent.url.replace("http:", "https:");
    await assert.rejects(
      open({ url, timeouts: { ...stages, connectMs: 40 } }),
      failure("provider-timeout", `No connection to ${silent.host} within 40 ms`),
    );
  });

  it("totalMs ends an answer that goes on for ever", async () => {
    const { url, host } = await serve((_, response) => {
      const timer = setInterval(() => response.write("x"), 5);
      response.once("close", () => clearInterval(timer));
    });
    const read = async (): Promise<string> => readText((await open({ url, timeouts: { ...stages, totalMs: 1_200 } })).body, 1e9);
    await assert.rejects(read(), failure("provider-timeout", `${host} did not come to the end of its answer within 1.2 s`));
  });

  it("does not count the time a slow reader takes", async () => {
    const { url } = await serve((_, response) => {
      response.write("a");
      setTimeout(() => response.end("b"), 5);
    });
    const response = await open({ url, timeouts: { ...stages, idleMs: 60 } });
    let text = "";
    for await (const chunk of response.body) {
      text += Buffer.from(chunk).toString();
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
    assert.equal(text, "ab");
  });
});

describe("abort", () => {
  const reason = new Error("enough");

  it("rejects at once when the signal was aborted before", async () => {
    await assert.rejects(open({ url: "http://127.0.0.1:9/", signal: AbortSignal.abort(reason) }), reason);
  });

  it("gives up a connection that is being made", async () => {
    const controller = new AbortController();
    const silent = await serveSocket((socket) => {
      socket.once("data", () => controller.abort(reason));
      closed.push(closing(socket));
    });
    const closed: Promise<unknown>[] = [];
    await assert.rejects(open({ url: silent.url.replace("http:", "https:"), signal: controller.signal }), reason);
    await Promise.all(closed);
    assert.equal(closed.length, 1);
  });

  for (const stage of ["headers", "first byte", "middle"] as const) {
    it(`closes the connection while it waits for the ${stage}`, async () => {
      const controller = new AbortController();
      let closed: Promise<unknown> | undefined;
      const { url } = await serve((request, response) => {
        closed = closing(request.socket);
        if (stage === "headers") return controller.abort(reason);
        response.flushHeaders();
        if (stage === "middle") response.write("x");
      });
      const read = async (): Promise<void> => {
        const response = await open({ url, signal: controller.signal });
        if (stage === "first byte") setTimeout(() => controller.abort(reason), 5);
        for await (const _ of response.body) controller.abort(reason);
      };
      await assert.rejects(read(), reason);
      await closed;
      assert.ok(closed);
    });
  }

  it("leaves no listener on the signal behind", async () => {
    const { url } = await serve((_, response) => response.end("ok"));
    const controller = new AbortController();
    const http = client();
    for (let n = 0; n < 3; n++) await readText((await open({ url, signal: controller.signal }, http)).body, 100);
    assert.equal(EventEmitter.getEventListeners(controller.signal, "abort").length, 0);
  });
});

describe("readText", () => {
  it("reads no more than it was allowed to", async () => {
    const { url } = await serve((_, response) => response.end("x".repeat(300_000)));
    assert.equal((await readText((await open({ url })).body, 65_536)).length, 65_536);
  });
});

function client(): HttpClient {
  const http = createHttpClient();
  closers.unshift(() => http.close());
  return http;
}

function open(
  request: Partial<HttpRequest> & { url: string },
  http: HttpClient = client(),
): ReturnType<HttpClient["openStream"]> {
  return http.openStream({ method: "GET", headers: {}, signal: new AbortController().signal, ...request });
}

function failure(code: string, message: string): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof RuntimeError);
    assert.deepEqual(
      { code: error.code, message: error.message, retryable: error.retryable },
      { code, message, retryable: true },
    );
    return true;
  };
}

type Served = { url: string; host: string };

async function serve(
  handler: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<Served & { server: Server }> {
  const server = createServer((request, response) => void handler(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { server, url: `http://127.0.0.1:${port}`, host: `127.0.0.1:${port}` };
}

async function serveSocket(handler: (socket: Socket) => unknown): Promise<Served> {
  const sockets = new Set<Socket>();
  const server = createSocketServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    handler(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, host: `127.0.0.1:${port}` };
}

const counts = new WeakMap<object, number>();
function connectionCount(request: IncomingMessage): number {
  const count = (counts.get(request.socket) ?? 0) + 1;
  counts.set(request.socket, count);
  return count;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** Whichever way: Bun resets the connection of a request that is given up. */
function closing(socket: Socket): Promise<unknown> {
  socket.on("error", () => {});
  return new Promise((resolve) => socket.once("close", resolve));
}
