import assert from "node:assert/strict";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer } from "node:http";
import { after, before, describe, it } from "node:test";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import type { ToolBench } from "../../../../../test/support/tool-bench.ts";
import { createToolBench } from "../../../../../test/support/tool-bench.ts";
import { createWebFetchTool } from "./web-fetch.ts";

const routes: Readonly<Record<string, (response: ServerResponse, request: IncomingMessage) => void>> = {
  "/page": html("<title>T</title><p>Hello <a href='/next'>next</a></p>"),
  "/json": answer({ "content-type": "application/json" }, '{"a":1}'),
  "/vendor": answer({ "content-type": "application/vnd.api+json; charset=utf-8" }, "{}"),
  "/text": answer({ "content-type": "text/plain; charset=iso-8859-1" }, Buffer.from("gr\xfcn", "latin1")),
  "/meta": html(Buffer.from('<html><meta charset="windows-1252"><p>\x80 5', "latin1")),
  "/untyped": answer({}, "just words"),
  "/untyped-markup": answer({}, "a  <b>  c"),
  "/untyped-page": answer({}, "<HTML><p>Hello  you"),
  "/source": answer({ "content-type": "text/plain" }, "<html>  <p>as it is"),
  "/made": (response) => response.writeHead(201, { "content-type": "text/plain", location: "/page" }).end("made"),
  "/nowhere": (response) => response.writeHead(302, { location: "http://[" }).end(),
  "/untyped-binary": answer({}, Buffer.from([0, 1, 2])),
  "/picture": answer({ "content-type": "image/png", "content-length": "2048" }, Buffer.alloc(2048)),
  "/gzip": answer({ "content-type": "text/plain", "content-encoding": "gzip" }, gzipSync("zipped")),
  "/deflate": answer({ "content-type": "text/plain", "content-encoding": "deflate" }, deflateSync("deflated")),
  "/deflate-raw": answer({ "content-type": "text/plain", "content-encoding": "deflate" }, deflateRawSync("raw")),
  "/br": answer({ "content-type": "text/plain", "content-encoding": "br" }, brotliCompressSync("brotli")),
  "/broken": answer({ "content-type": "text/plain", "content-encoding": "gzip" }, "not zipped"),
  "/bomb": answer({ "content-type": "text/plain", "content-encoding": "gzip" }, gzipSync(Buffer.alloc(3 * 1024 * 1024))),
  "/large": answer({ "content-type": "text/plain" }, Buffer.alloc(3 * 1024 * 1024, "x")),
  "/missing": (response) => response.writeHead(404, { "content-type": "text/html" }).end("<h1>Not here</h1>"),
  "/empty": answer({ "content-type": "text/html" }, ""),
  "/once": (response) => response.writeHead(302, { location: "/page" }).end(),
  "/round": (response) => response.writeHead(301, { location: "/round" }).end(),
  "/away": (response) => response.writeHead(307, { location: "https://elsewhere.example/x?y=1" }).end(),
  "/port": (response) => response.writeHead(307, { location: "http://127.0.0.1:1/x" }).end(),
  "/slow": (response) => response.writeHead(200, { "content-type": "text/plain" }).write("one "),
  "/cut": (response) => {
    response.writeHead(200, { "content-type": "text/plain", "content-length": "100" });
    response.write("half", () => response.destroy());
  },
};

describe("WebFetch", () => {
  let bench: ToolBench;
  let server: Server;
  let origin = "";
  before(async () => {
    bench = createToolBench();
    server = createServer((request, response) => {
      const route = routes[request.url ?? ""];
      if (route) route(response, request);
      else response.writeHead(500).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    origin = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  });
  after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await bench.close();
  });

  const open = createWebFetchTool({ allowPrivate: true, maxBytes: 2 * 1024 * 1024 });
  const fetchPath = (path: string): Promise<string> => bench.say(open, { url: origin + path });

  it("asks to reach the address as the parser spells it", async () => {
    assert.deepEqual(await open.access({ url: "HTTP://EXAMPLE.com:80/a/../b" }, bench.workspace), {
      kind: "reach",
      resources: ["http://example.com/b"],
    });
  });

  it("answers with the text of a page, and with JSON and text as they are", async () => {
    assert.equal(await fetchPath("/page"), `Title: T\n\nHello next (${origin}/next)`);
    assert.equal(await fetchPath("/json"), '{"a":1}');
    assert.equal(await fetchPath("/vendor"), "{}");
    assert.equal(await fetchPath("/untyped"), "just words");
    assert.equal(await fetchPath("/untyped-markup"), "a  <b>  c");
    assert.equal(await fetchPath("/untyped-page"), "Hello you");
    assert.equal(await fetchPath("/source"), "<html>  <p>as it is");
    assert.match(await fetchPath("/empty"), /answered with an empty page/);
  });

  it("knows the charset from the header and from the page", async () => {
    assert.equal(await fetchPath("/text"), "grün");
    assert.equal(await fetchPath("/meta"), "€ 5");
  });

  it("unpacks gzip, deflate in both forms and brotli", async () => {
    const texts = await Promise.all(["/gzip", "/deflate", "/deflate-raw", "/br"].map(fetchPath));
    assert.deepEqual(texts, ["zipped", "deflated", "raw", "brotli"]);
    assert.match(await fetchPath("/broken"), /could not be decompressed \(gzip\)/);
  });

  it("refuses other types, with type and size", async () => {
    assert.equal(await fetchPath("/picture"), `${origin}/picture is image/png of 2.0 KB, which cannot be shown as text.`);
    assert.match(await fetchPath("/untyped-binary"), /is binary data \(3 bytes\)/);
  });

  it("stops at the size limit, packed or not", async () => {
    assert.equal(await fetchPath("/large"), `${origin}/large is larger than 2 MB and was not fetched.`);
    assert.equal(await fetchPath("/bomb"), `${origin}/bomb is larger than 2 MB and was not fetched.`);
  });

  it("shows an error page as an error", async () => {
    assert.deepEqual(await bench.call(open, { url: `${origin}/missing` }), {
      content: [{ type: "text", text: `${origin}/missing answered with HTTP 404.\n\n# Not here` }],
      isError: true,
    });
  });

  it("follows redirects on the same host, five at most", async () => {
    assert.match(await fetchPath("/once"), /^Title: T/);
    assert.equal(await fetchPath("/made"), "made");
    assert.equal(await fetchPath("/nowhere"), `${origin}/nowhere redirects to an address that is no URL: http://[`);
    assert.equal(await fetchPath("/round"), `${origin}/round redirects more than 5 times.`);
  });

  it("reports a redirect to another host or port instead of following it", async () => {
    const moved = "redirects to another host and was not followed. To get that page, fetch";
    assert.equal(await fetchPath("/away"), `${origin}/away ${moved} https://elsewhere.example/x?y=1`);
    assert.equal(await fetchPath("/port"), `${origin}/port ${moved} http://127.0.0.1:1/x`);
  });

  it("gives up on a body that does not come", async () => {
    const hasty = createWebFetchTool({ allowPrivate: true, timeoutMs: 200 });
    assert.equal(await bench.say(hasty, { url: `${origin}/slow` }), `${origin}/slow did not answer within 0.2 seconds.`);
  });

  it("ends with the caller's reason when it is stopped", async () => {
    const controller = new AbortController();
    const stopped = createToolBench({ signal: controller.signal });
    try {
      const call = stopped.call(open, { url: `${origin}/slow` });
      controller.abort(new Error("enough"));
      await assert.rejects(call, /enough/);
    } finally {
      await stopped.close();
    }
  });

  it("says when a host cannot be reached or breaks off", async () => {
    assert.match(await bench.say(open, { url: "http://127.0.0.1:1/" }), /^127\.0\.0\.1:1 could not be reached: .*ECONNREFUSED/);
    assert.match(await fetchPath("/cut"), /could not be reached: aborted/);
  });

  it("refuses private addresses in every spelling, before any connection", async () => {
    let connections = 0;
    server.on("connection", () => connections++);
    const closed = createWebFetchTool();
    const port = new URL(origin).port;
    const hosts = [
      "127.0.0.1",
      "localhost",
      "[::1]",
      "0x7f.1",
      "2130706433",
      "0177.0.0.1",
      "127.1",
      "[::ffff:127.0.0.1]",
      "0.0.0.0",
    ];
    for (const host of [
      ...hosts.map((name) => `${name}:${port}`),
      "169.254.169.254",
      "[fd00:ec2::254]",
      "10.0.0.1",
      "192.168.0.1",
    ]) {
      assert.match(await bench.say(closed, { url: `http://${host}/page` }), /is not on the public internet/, host);
    }
    assert.equal(connections, 0);
  });

  it("refuses a name when any of its addresses is private, and connects to none", async () => {
    let connections = 0;
    server.on("connection", () => connections++);
    const answers: Record<string, string[]> = {
      "mixed.example": ["93.184.216.34", "127.0.0.1"],
      "six.example": ["2606:4700::1111", "::ffff:10.0.0.1"],
      "127.0.0.1.nip.example": ["127.0.0.1"],
      "sixtofour.example": ["2002:7f00:1::"],
      "teredo.example": ["2001:0:4136:e378:8000:63bf:3fff:fdd2"],
      "nothing.example": [],
    };
    const resolve = async (host: string) =>
      (answers[host] ?? []).map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
    const closed = createWebFetchTool({ resolve });
    const port = new URL(origin).port;
    for (const host of Object.keys(answers)) {
      const said = await bench.say(closed, { url: `http://${host}:${port}/page` });
      assert.match(said, host === "nothing.example" ? /there is no such host/ : /is not on the public internet/, host);
    }
    assert.equal(connections, 0);
  });

  it("asks for the address of a host once, and connects to that one", async () => {
    const { port } = new URL(origin);
    const asked: string[] = [];
    const rebinding = createWebFetchTool({
      allowPrivate: true,
      resolve: async (host) => {
        asked.push(host);
        return [{ address: asked.length === 1 ? "127.0.0.1" : "127.0.0.2", family: 4 }];
      },
    });
    assert.match(await bench.say(rebinding, { url: `http://rebind.example:${port}/page` }), /^Title: T/);
    assert.deepEqual(asked, ["rebind.example"]);
    assert.match(await bench.say(rebinding, { url: `${origin}/page` }), /^Title: T/);
    assert.deepEqual(asked, ["rebind.example"]); // a number is not looked up
  });

  it("does not tell where a redirect to a private address leads as if it could be fetched", async () => {
    const front = createServer((_request, response) =>
      response.writeHead(302, { location: "http://169.254.169.254/latest/" }).end(),
    );
    await new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve));
    try {
      const address = front.address();
      const port = typeof address === "object" ? address?.port : 0;
      const { httpGet } = await import("../http-get.ts");
      // The first hop is ours; from there on the ordinary rules hold.
      const url = new URL(`http://127.0.0.1:${port}/`);
      let hops = 0;
      const options = {
        url,
        signal: new AbortController().signal,
        maxBytes: 1000,
        get allowPrivate() {
          return hops++ < 2; // asked twice for the first hop
        },
        wantsBody: () => true,
      };
      await assert.rejects(httpGet(options), /169\.254\.169\.254 is not on the public internet/);
    } finally {
      front.closeAllConnections();
      await new Promise((resolve) => front.close(resolve));
    }
  });

  it("refuses other schemes, credentials and what is no URL", async () => {
    assert.equal(
      await bench.say(open, { url: "file:///etc/passwd" }),
      "Only http and https can be fetched, not file: Give an address that starts with https://.",
    );
    assert.match(await bench.say(open, { url: "http://user:secret@example.com/" }), /user name or password/);
    assert.match(await bench.say(open, { url: "example.com" }), /no valid URL/);
  });
});

function answer(headers: Record<string, string>, body: string | Uint8Array): (response: ServerResponse) => void {
  return (response) => {
    response.writeHead(200, headers).end(body);
  };
}

function html(body: string | Uint8Array): (response: ServerResponse) => void {
  return answer({ "content-type": "text/html" }, body);
}
