import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { type DomainProxy, openDomainProxy } from "./domain-proxy.ts";
import { canonicalHost, isAllowedTarget, parseDomainRule } from "./domain-rules.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-proxy-test-"));
const socketPath = join(folder, "socket");
let site: Server;
let port: number;
let proxy: DomainProxy;

before(async () => {
  site = createServer((request, response) => response.end(`${request.method} ${request.url} for ${request.headers.host}`));
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  port = (site.address() as AddressInfo).port; // listening on a port
  const names: Readonly<Record<string, string>> = { "good.example.com": "127.0.0.1", "inner.example.com": "10.0.0.1" };
  proxy = await openDomainProxy(socketPath, {
    rules: [parseDomainRule(`*.example.com:${port}`)],
    isAllowedAddress: (address) => address === "127.0.0.1",
    lookup: async (host) => (names[host] ? [{ address: names[host], family: 4 }] : []),
  });
});

after(async () => {
  await proxy.close();
  site.closeAllConnections();
  await new Promise((resolve) => site.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

/** Sends bytes, answers everything that comes back until the other side ends or `enough` says so. */
function exchange(
  parts: readonly (string | Uint8Array)[],
  enough = (_text: string): boolean => false,
  path = socketPath,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    let text = "";
    let next = 0;
    socket.on("connect", () => socket.write(parts[next++] ?? ""));
    socket.on("data", (bytes) => {
      text += bytes.toString("latin1");
      const part = parts[next++];
      if (part !== undefined) socket.write(part);
      else if (enough(text)) socket.destroy();
    });
    socket.on("close", () => resolve(text));
    socket.on("error", reject);
  });
}

const connectRequest = (target: string): string => `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`;
const socksRequest = (host: string | Uint8Array, to = port): Uint8Array[] => {
  const name = Buffer.from(host);
  return [Uint8Array.of(5, 1, 0), Uint8Array.of(5, 1, 0, 3, name.length, ...name, to >> 8, to & 255)];
};

describe("openDomainProxy", () => {
  it("opens a tunnel to a listed domain", async () => {
    const answer = await exchange(
      [connectRequest(`good.example.com:${port}`), "GET /a HTTP/1.1\r\nHost: good.example.com\r\nConnection: close\r\n\r\n"],
      (text) => text.includes("GET /a for good.example.com"),
    );
    assert.match(answer, /^HTTP\/1\.1 200 .*GET \/a for good\.example\.com/s);
  });

  it("forwards a plain request to a listed domain", async () => {
    const host = `good.example.com:${port}`;
    const answer = await exchange([`GET http://${host}/b?c=d HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`]);
    assert.match(answer, new RegExp(`^HTTP/1\\.1 200 .*GET /b\\?c=d for ${host}`, "s"));
  });

  it("speaks SOCKS to a listed domain", async () => {
    const answer = await exchange(
      [...socksRequest("good.example.com"), "GET /s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"],
      (text) => text.includes("GET /s for x"),
    );
    assert.match(answer, /GET \/s for x/);
  });

  const refusals: readonly (readonly [name: string, parts: readonly (string | Uint8Array)[], answer: RegExp])[] = [
    ["another domain", [connectRequest("evil.example.org:443")], /^HTTP\/1\.1 403/],
    ["another port", [connectRequest("good.example.com:22")], /^HTTP\/1\.1 403/],
    ["the domain itself where only those below are listed", [connectRequest(`example.com:${0}`)], /^HTTP\/1\.1 (?:403|400)/],
    ["an address", [connectRequest("127.0.0.1:80")], /^HTTP\/1\.1 403/],
    ["an address written as one number", [connectRequest("2130706433:80")], /^HTTP\/1\.1 403/],
    ["a name with a percent sign", [connectRequest("evil.example.org%00.example.com:80")], /^HTTP\/1\.1 403/],
    ["no target at all", ["GET / HTTP/1.1\r\nHost: good.example.com\r\n\r\n"], /^HTTP\/1\.1 403/],
  ];
  for (const [name, parts, answer] of refusals) {
    it(`refuses ${name}`, async () => assert.match(await exchange(parts, (text) => text.includes("\r\n\r\n")), answer));
  }

  it("refuses a listed name that leads to an address inside", async () => {
    assert.match(await exchange([connectRequest(`inner.example.com:${port}`)]), /403 .*public internet/s);
  });

  it("refuses a Host header that is not the host of the address, in both directions, and two of them", async () => {
    const good = `good.example.com:${port}`;
    const requests = [
      `GET http://evil.example.org/ HTTP/1.1\r\nHost: ${good}\r\n\r\n`,
      `GET http://${good}/ HTTP/1.1\r\nHost: evil.example.org\r\n\r\n`,
      `GET http://${good}/ HTTP/1.1\r\nHost: ${good}\r\nHost: evil.example.org\r\n\r\n`,
      `GET http://evil.example.org@${good}/ HTTP/1.1\r\nHost: evil.example.org\r\n\r\n`,
    ];
    for (const request of requests) {
      assert.match(await exchange([request], (text) => text.includes("\r\n\r\n")), /^HTTP\/1\.1 40[03]/, request);
    }
  });

  it("checks every request of a connection", async () => {
    const good = `good.example.com:${port}`;
    const answer = await exchange(
      [
        `GET http://${good}/ HTTP/1.1\r\nHost: ${good}\r\n\r\n`,
        "GET http://evil.example.org/ HTTP/1.1\r\nHost: evil.example.org\r\n\r\n",
      ],
      (text) => text.includes("403"),
    );
    assert.match(answer, /200 OK.*403/s);
  });

  it("refuses SOCKS names with a NUL in them, other domains, and addresses", async () => {
    const codes = [];
    for (const parts of [
      socksRequest("evil.example.org\0.example.com"),
      socksRequest("evil.example.org"),
      [Uint8Array.of(5, 1, 0), Uint8Array.of(5, 1, 0, 1, 127, 0, 0, 1, port >> 8, port & 255)],
    ]) {
      const answer = Buffer.from(await exchange(parts), "latin1");
      codes.push([...answer]);
    }
    // The method, then the answer as RFC 1928 has it: version, code, and an address that says nothing.
    const refused = (code: number): number[] => [5, 0, 5, code, 0, 1, 0, 0, 0, 0, 0, 0];
    assert.deepEqual(codes, [refused(2), refused(2), refused(8)]);
  });
});

describe("a host that accepts nothing", { skip: process.platform !== "linux" }, () => {
  it("is given up, whichever way it was asked for", async () => {
    // The process holds the port and never looks at it: when the queue is full, the kernel leaves everybody else without an answer.
    const listen = `require("node:net").createServer().listen({ port: 0, host: "127.0.0.1", backlog: 1 }, function () {
      require("node:fs").writeSync(1, String(this.address().port));
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    })`;
    const child = spawn(process.execPath, ["-e", listen], { stdio: ["ignore", "pipe", "inherit"] });
    const [bytes] = await once(child.stdout, "data");
    const to = Number(String(bytes));
    const queued = Array.from({ length: 4 }, () => connect(to, "127.0.0.1").on("error", () => {}));
    await Promise.all(queued.slice(0, 2).map((socket) => once(socket, "connect")));
    const path = join(folder, "deaf");
    const impatient = await openDomainProxy(path, {
      rules: [parseDomainRule(`*.example.com:${to}`)],
      isAllowedAddress: () => true,
      lookup: async () => [{ address: "127.0.0.1", family: 4 }],
      connectTimeoutMs: 50,
    });
    const host = `deaf.example.com:${to}`;
    const ask = (parts: readonly (string | Uint8Array)[]): Promise<string> => exchange(parts, () => false, path);
    const tunnel = await ask([connectRequest(host)]);
    const plain = await ask([`GET http://${host}/ HTTP/1.1\r\nHost: ${host}\r\n\r\n`]);
    const socks = await ask(socksRequest("deaf.example.com", to));
    await impatient.close();
    for (const socket of queued) socket.destroy();
    child.kill("SIGKILL");
    await once(child, "close");
    assert.match(tunnel, /^HTTP\/1\.1 403 .*no answer in time/s);
    assert.match(plain, /^HTTP\/1\.1 502 .*no answer in time/s);
    assert.equal(Buffer.from(socks, "latin1")[3], 4);
  });
});

describe("domain rules", () => {
  it("match whole names, and below only where written so", () => {
    const rules = ["example.com", "*.google.com", "git.example.org:22"].map(parseDomainRule);
    const allowed = ["example.com:443", "example.com:80", "mail.google.com:443", "a.b.google.com:443", "git.example.org:22"];
    const refused = [
      "www.example.com:443",
      "google.com:443",
      "evilgoogle.com:443",
      "example.com.evil.org:443",
      "example.com:22",
      "git.example.org:443",
    ];
    const ask = (text: string): boolean =>
      isAllowedTarget(rules, { host: text.split(":")[0] ?? "", port: Number(text.split(":")[1]) });
    assert.deepEqual([allowed.filter((text) => !ask(text)), refused.filter(ask)], [[], []]);
  });

  it("refuse what is not a name", () => {
    for (const text of [
      "*",
      "",
      "https://example.com",
      "example.com/path",
      "a..b",
      "*.*.com",
      "127.0.0.1",
      "user@example.com",
      "x:99999",
    ]) {
      assert.throws(() => parseDomainRule(text), { code: "config" }, text);
    }
  });

  it("have one spelling for a host", () => {
    const spellings = [
      "Example.COM.",
      "a\0.com",
      "a b.com",
      "1.2.3.4",
      "0x7f.1",
      "017700000001",
      "[::1]",
      "exämple.com",
      "-a.com",
      "a".repeat(64),
    ];
    assert.deepEqual(spellings.map(canonicalHost), ["example.com", ...Array.from({ length: 9 }, () => undefined)]);
  });
});
