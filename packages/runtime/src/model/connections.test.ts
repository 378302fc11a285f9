import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, request as httpRequest, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { ConnectionOptions } from "./connections.ts";
import { createHttpClient, type HttpClient, readText } from "./http.ts";

// Started again by the last test: a process that asks once and then has nothing more to do.
const childTask = process.env["OUTRIDER_TEST_CHILD"];
if (childTask) await runChild(JSON.parse(childTask));
else describeConnections();

type ChildTask = { url: string; env: Record<string, string>; caFile?: string };

async function runChild({ url, env, caFile }: ChildTask): Promise<void> {
  const http = createHttpClient({ env, ca: caFile ? [await readFile(caFile, "utf8")] : [] });
  process.stdout.write(await get(http, url));
}

async function get(http: HttpClient, url: string): Promise<string> {
  const { body } = await http.openStream({ url, method: "GET", headers: {}, signal: new AbortController().signal });
  return readText(body, 1_000);
}

function describeConnections(): void {
  const closers: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
  });
  const client = (options: ConnectionOptions): HttpClient => {
    const http = createHttpClient(options);
    closers.unshift(() => http.close());
    return http;
  };
  const listen = async (server: Server): Promise<number> => {
    server.keepAliveTimeout = 0; // never the one that hangs up
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    closers.push(() => {
      server.closeAllConnections();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  };

  describe("an http target behind a proxy", () => {
    it("is asked for by its whole address, with the proxy's credentials", async () => {
      const target = await listen(
        createServer((request, response) => response.end(`target got ${request.url} for ${request.headers.host}`)),
      );
      const seen: (string | undefined)[][] = [];
      const proxy = await listen(createServer((request, response) => forward(request, response, { port: target, seen })));
      const http = client({ env: { HTTP_PROXY: `http://me:secret@127.0.0.1:${proxy}` } });
      for (let n = 0; n < 2; n++) assert.equal(await get(http, "http://model.test/v1?q=1"), "target got /v1?q=1 for model.test");
      const credentials = `Basic ${Buffer.from("me:secret").toString("base64")}`;
      assert.deepEqual(seen, [
        ["http://model.test/v1?q=1", credentials],
        ["http://model.test/v1?q=1", credentials],
      ]);
    });
  });

  describe("TLS", { skip: opensslMissing() }, () => {
    let folder = "";
    let key = "";
    let cert = "";
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), "outrider-tls-"));
      const args = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=model.test";
      const names = ["-addext", "subjectAltName=DNS:model.test,IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"];
      await promisify(execFile)("openssl", [...args.split(" "), ...names], { cwd: folder });
      key = await readFile(join(folder, "key.pem"), "utf8");
      cert = await readFile(join(folder, "cert.pem"), "utf8");
    });
    after(() => rm(folder, { recursive: true }));
    const secureServer = (): { server: Server; connections: () => number } => {
      const server = createSecureServer({ key, cert }, (_, response) => response.end("secure hello"));
      let count = 0;
      server.on("secureConnection", () => count++);
      return { server, connections: () => count };
    };

    it("trusts a certificate only when its authority is named", async () => {
      const { server, connections } = secureServer();
      const port = await listen(server);
      const trusting = client({ ca: [cert] });
      for (let n = 0; n < 2; n++) assert.equal(await get(trusting, `https://127.0.0.1:${port}/`), "secure hello");
      assert.equal(connections(), 1);
      await assert.rejects(get(client({}), `https://127.0.0.1:${port}/`), {
        code: "provider-unavailable",
        retryable: false,
        message: `The TLS certificate of 127.0.0.1:${port} is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT)`,
      });
      await assert.rejects(get(trusting, `https://localhost:${port}/`), {
        retryable: false,
        message: /ERR_TLS_CERT_ALTNAME_INVALID/,
      });
    });

    it("goes through a proxy's tunnel and uses it again", async () => {
      const { server, connections } = secureServer();
      const target = await listen(server);
      const seen: (string | undefined)[][] = [];
      const proxy = await listen(tunnelProxy({ port: target, seen }));
      const http = client({ ca: [cert], env: { HTTPS_PROXY: `http://me:secret@127.0.0.1:${proxy}` } });
      for (let n = 0; n < 3; n++) assert.equal(await get(http, "https://model.test/"), "secure hello");
      assert.deepEqual(seen, [["model.test:443", `Basic ${Buffer.from("me:secret").toString("base64")}`]]);
      assert.equal(connections(), 1);
    });

    it("goes through a proxy that itself speaks TLS", async () => {
      const target = await listen(secureServer().server);
      const seen: (string | undefined)[][] = [];
      const secure = createSecureServer({ key, cert });
      secure.on("connect", (request, socket: Socket, head) => tunnel(request, socket, { head, port: target, seen }));
      const proxy = await listen(secure);
      const http = client({ ca: [cert], env: { HTTPS_PROXY: `https://127.0.0.1:${proxy}` } });
      assert.equal(await get(http, "https://model.test/"), "secure hello");
      assert.deepEqual(seen, [["model.test:443", undefined]]);
    });

    it("says what the proxy refused", async () => {
      const refusing = createServer();
      refusing.on("connect", (request, socket) =>
        socket.end(request.url === "down.test:443" ? "HTTP/1.1 502 No\r\n\r\n" : "HTTP/1.1 407 No\r\n\r\n"),
      );
      const port = await listen(refusing);
      const http = client({ env: { HTTPS_PROXY: `http://127.0.0.1:${port}` } });
      await assert.rejects(get(http, "https://model.test/"), {
        code: "config",
        retryable: false,
        message: `The proxy 127.0.0.1:${port} refused a connection to model.test:443 (HTTP 407)`,
        hint: "Check the user and password in HTTPS_PROXY",
      });
      await assert.rejects(get(http, "https://down.test/"), { code: "provider-unavailable", retryable: true });
      const unreachable = client({ env: { HTTPS_PROXY: "http://127.0.0.1:9" } });
      await assert.rejects(get(unreachable, "https://model.test/"), {
        code: "provider-unavailable",
        retryable: true,
        message: "the proxy 127.0.0.1:9 refused the connection (ECONNREFUSED)",
      });
    });

    it("gives up a tunnel that is aborted while it is made", async () => {
      const controller = new AbortController();
      const silent = createServer();
      const closed = new Promise((resolve) => {
        silent.on("connect", (_, socket) => {
          socket.once("close", resolve).once("error", () => {}); // the client may hang up with a reset
          socket.once("end", () => socket.end()).resume();
          controller.abort(new Error("enough"));
        });
      });
      const http = client({ env: { HTTPS_PROXY: `http://127.0.0.1:${await listen(silent)}` } });
      const asked = http.openStream({ url: "https://model.test/", method: "GET", headers: {}, signal: controller.signal });
      await assert.rejects(asked, { message: "enough" });
      await closed;
    });

    it("never keeps a process alive that has nothing else to do", async () => {
      const target = await listen(secureServer().server);
      const plain = await listen(createServer((_, response) => response.end("plain hello")));
      const hop = { port: target, seen: [] };
      const proxy = await listen(tunnelProxy(hop));
      const secure = createSecureServer({ key, cert });
      secure.on("connect", (request, socket: Socket, head) => tunnel(request, socket, { ...hop, head }));
      const secureProxy = await listen(secure);
      const caFile = join(folder, "cert.pem");
      const tasks: [ChildTask, string][] = [
        [{ url: `http://127.0.0.1:${plain}/`, env: {} }, "plain hello"],
        [{ url: `https://127.0.0.1:${target}/`, env: {}, caFile }, "secure hello"],
        [{ url: "https://model.test/", env: { HTTPS_PROXY: `http://127.0.0.1:${proxy}` }, caFile }, "secure hello"],
        [{ url: "https://model.test/", env: { HTTPS_PROXY: `https://127.0.0.1:${secureProxy}` }, caFile }, "secure hello"],
      ];
      for (const [task, expected] of tasks) {
        assert.deepEqual(await runInChild(task), { code: 0, signal: null, output: expected });
      }
    });
  });
}

/** Killed after ten seconds: a kept connection lives on for a minute. */
async function runInChild(task: ChildTask): Promise<{ code: unknown; signal: unknown; output: string }> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url)], {
    env: { ...env, OUTRIDER_TEST_CHILD: JSON.stringify(task) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), 10_000);
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
  });
  const [code, signal] = await once(child, "close");
  clearTimeout(timer);
  return { code, signal, output };
}

type Hop = { port: number; seen: (string | undefined)[][] };

function forward(request: IncomingMessage, response: import("node:http").ServerResponse, { port, seen }: Hop): void {
  seen.push([request.url, request.headers["proxy-authorization"]]);
  const url = new URL(request.url ?? "");
  const onward = httpRequest({
    host: "127.0.0.1",
    port,
    path: url.pathname + url.search,
    headers: { host: request.headers.host },
  });
  onward.on("response", (answer) => answer.pipe(response));
  onward.end();
}

function tunnelProxy(hop: Hop): Server {
  const server = createServer();
  server.on("connect", (request, socket: Socket, head) => tunnel(request, socket, { ...hop, head }));
  return server;
}

function tunnel(request: IncomingMessage, socket: Socket, { port, seen, head }: Hop & { head: Buffer }): void {
  seen.push([request.url, request.headers["proxy-authorization"]]);
  const onward = connect(port, "127.0.0.1", () => {
    socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
    onward.write(head);
    onward.pipe(socket);
    socket.pipe(onward);
  });
  onward.on("error", () => socket.destroy());
  socket.on("error", () => onward.destroy());
  socket.on("close", () => onward.destroy());
}

function opensslMissing(): string | false {
  const { spawnSync } = process.getBuiltinModule("node:child_process");
  return spawnSync("openssl", ["version"]).status === 0 ? false : "the openssl command is not installed";
}
