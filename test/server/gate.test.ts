import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { Ground } from "./ground.ts";

/** What a request line and headers, sent as they are, are answered with. HOST and TOKEN stand for the right ones. */
type RawCase = { readonly name: string; readonly lines: readonly string[]; readonly body?: string; readonly status: number };

const get = (path: string, ...headers: string[]) => [`GET ${path} HTTP/1.1`, ...headers];
const good = ["Host: HOST", "Authorization: Bearer TOKEN"];

const rawCases: readonly RawCase[] = [
  { name: "the right token", lines: get("/v1/sessions", ...good), status: 200 },
  { name: "localhost is a name of this machine", lines: get("/healthz", "Host: localhost:PORT"), status: 200 },
  { name: "no token", lines: get("/v1/sessions", "Host: HOST"), status: 401 },
  { name: "a wrong token", lines: get("/v1/sessions", "Host: HOST", "Authorization: Bearer abc"), status: 401 },
  {
    name: "a token with something behind it",
    lines: get("/v1/sessions", "Host: HOST", "Authorization: Bearer TOKENx"),
    status: 401,
  },
  { name: "the token as Basic", lines: get("/v1/sessions", "Host: HOST", "Authorization: Basic TOKEN"), status: 401 },
  { name: "the token in the address", lines: get("/v1/sessions?token=TOKEN", "Host: HOST"), status: 401 },
  {
    name: "DNS rebinding: a name that points here",
    lines: get("/v1/sessions", "Host: evil.example", "Authorization: Bearer TOKEN"),
    status: 403,
  },
  { name: "DNS rebinding with the right port", lines: get("/healthz", "Host: evil.example:PORT"), status: 403 },
  { name: "another port in Host", lines: get("/healthz", "Host: 127.0.0.1:1"), status: 403 },
  { name: "no Host", lines: get("/healthz"), status: 400 },
  { name: "two Hosts", lines: get("/healthz", "Host: HOST", "Host: evil.example"), status: 400 },
  { name: "two tokens", lines: get("/v1/sessions", ...good, "Authorization: Bearer abc"), status: 400 },
  { name: "an absolute target", lines: get("http://evil.example/healthz", "Host: HOST"), status: 400 },
  {
    name: "an Origin of elsewhere, with the token",
    lines: get("/v1/sessions", ...good, "Origin: https://evil.example"),
    status: 403,
  },
  { name: "an Origin of this machine", lines: get("/v1/sessions", ...good, "Origin: http://localhost:3000"), status: 403 },
  { name: "the Origin null of a sandboxed frame", lines: get("/v1/sessions", ...good, "Origin: null"), status: 403 },
  { name: "a preflight", lines: ["OPTIONS /v1/sessions HTTP/1.1", "Host: HOST", "Origin: http://localhost:3000"], status: 403 },
  { name: "a preflight without Origin", lines: ["OPTIONS /v1/sessions HTTP/1.1", "Host: HOST"], status: 405 },
  {
    name: "CSRF: a form of a page",
    lines: ["POST /v1/sessions HTTP/1.1", ...good, "Content-Type: text/plain", "Content-Length: 2"],
    body: "{}",
    status: 415,
  },
  {
    name: "smuggling: a length and chunks",
    lines: ["POST /v1/sessions HTTP/1.1", ...good, "Content-Length: 5", "Transfer-Encoding: chunked"],
    body: "0\r\n\r\n",
    status: 400,
  },
  {
    name: "smuggling: two lengths",
    lines: ["POST /v1/sessions HTTP/1.1", ...good, "Content-Length: 2", "Content-Length: 3"],
    body: "{}x",
    status: 400,
  },
  {
    name: "smuggling: a folded header",
    lines: get("/v1/sessions", "Host: HOST", "X-A: b", " c: d", "Authorization: Bearer TOKEN"),
    status: 400,
  },
  { name: "path: dots", lines: get("/v1/sessions/../../etc/passwd", ...good), status: 404 },
  { name: "path: encoded dots", lines: get("/v1/sessions/%2e%2e%2f%2e%2e%2fetc", ...good), status: 404 },
  { name: "path: an encoded slash", lines: get("/v1/sessions/a%2Fb", ...good), status: 404 },
  { name: "path: a zero byte", lines: get("/v1/sessions/a%00b", ...good), status: 404 },
  { name: "path: half an escape", lines: get("/v1/sessions/%E0%A4%A", ...good), status: 404 },
  { name: "path: an empty segment", lines: get("//v1/sessions", ...good), status: 404 },
  { name: "path: a double slash that looks like a host", lines: get("//evil.example/healthz", ...good), status: 404 },
  { name: "path: a prototype's name", lines: get("/v1/sessions/__proto__", ...good), status: 404 },
  { name: "a method that is not there", lines: ["PUT /v1/sessions HTTP/1.1", ...good], status: 405 },
  { name: "a method of proxies", lines: ["TRACE /v1/sessions HTTP/1.1", ...good], status: 405 },
  { name: "no request at all", lines: ["HELO there"], status: 400 },
  { name: "another protocol", lines: ["GET /healthz HTTP/9.9", "Host: HOST"], status: 400 },
  { name: "a WebSocket that is not asked for as one", lines: get("/v1/ws", ...good), status: 426 },
  { name: "headers without end", lines: get("/v1/sessions", ...good, `X-Long: ${"a".repeat(20_000)}`), status: 431 },
  {
    name: "a body that says it is too long",
    lines: ["POST /v1/sessions HTTP/1.1", ...good, "Content-Type: application/json", "Content-Length: 99999999"],
    status: 413,
  },
  {
    name: "a compressed body",
    lines: [
      "POST /v1/sessions HTTP/1.1",
      ...good,
      "Content-Type: application/json",
      "Content-Encoding: gzip",
      "Content-Length: 2",
    ],
    body: "{}",
    status: 415,
  },
  {
    name: "a body where none is taken, and nobody has said who they are",
    lines: ["GET /healthz HTTP/1.1", "Host: HOST", "Content-Type: application/json", "Content-Length: 2000"],
    status: 413,
  },
  {
    name: "a body that is no JSON",
    lines: ["POST /v1/sessions HTTP/1.1", ...good, "Content-Type: application/json", "Content-Length: 1"],
    body: "{",
    status: 400,
  },
  {
    name: "a body with a word that nobody knows",
    lines: ["POST /v1/sessions HTTP/1.1", ...good, "Content-Type: application/json", "Content-Length: 9"],
    body: '{"cwdd":1}'.slice(0, 9),
    status: 400,
  },
  { name: "a parameter that nobody knows", lines: get("/v1/sessions?limits=3", ...good), status: 400 },
  { name: "a parameter that is no number", lines: get("/v1/sessions?limit=1e3", ...good), status: 400 },
  { name: "an expectation that nobody meets", lines: get("/v1/sessions", ...good, "Expect: 200-ok"), status: 417 },
  {
    name: "an offer of HTTP/2, which Java's client makes",
    lines: get(
      "/v1/sessions",
      ...good,
      "Connection: Upgrade, HTTP2-Settings",
      "Upgrade: h2c",
      "HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA",
    ),
    status: 200,
  },
  {
    name: "the same with a body",
    lines: [
      "POST /v1/sessions HTTP/1.1",
      ...good,
      "Connection: Upgrade, HTTP2-Settings",
      "Upgrade: h2c",
      "HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA",
      "Content-Type: application/json",
      "Content-Length: 13",
    ],
    body: '{"name":"h2"}',
    status: 201,
  },
  {
    name: "an offer that hides another Host",
    lines: get("/v1/sessions", "Host: evil.example", "Connection: Upgrade", "Upgrade: x"),
    status: 403,
  },
  { name: "metrics are not for everybody", lines: get("/metrics", "Host: HOST"), status: 401 },
  { name: "metrics", lines: get("/metrics", ...good), status: 200 },
  { name: "readiness", lines: get("/readyz", "Host: HOST"), status: 200 },
  { name: "the document", lines: get("/openapi.json", "Host: HOST"), status: 200 },
];

describe("who is let in", () => {
  const ground = new Ground();
  before(async () => {
    await ground.start({ limits: { bodyBytes: 1 << 20 } });
  });

  for (const { name, lines, body = "", status } of rawCases)
    it(`${name}: ${status}`, async () => {
      const answer = await send(ground, `${lines.join("\r\n")}\r\n\r\n${body}`);
      assert.equal(Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]), status, answer.slice(0, 300));
      assert.doesNotMatch(answer, /access-control-allow-origin/i);
      if (status >= 400) assert.match(answer, /content-type: application\/problem\+json/i);
      assert.ok(!answer.includes(ground.owner));
    });

  it("never tells a token: not in what it warns of, not in what it stores", async () => {
    const token = ground.token({ name: "named", scopes: ["view"] });
    await ground.ask("GET", "/v1/client", { token });
    await ground.ask("GET", `/v1/sessions/${token}`, { token });
    const kept = readFileSync(join(ground.folder, "tokens.json"), "utf8");
    for (const secret of [token, ground.owner]) assert.ok(!`${kept}${ground.warnings.join()}`.includes(secret));
  });

  it("lets pages in that it was told of, and those alone", async () => {
    const listed = await new Ground().start({ allowedOrigins: ["https://app.example"] });
    const headers = { origin: "https://app.example" };
    const answer = await listed.ask("GET", "/v1/sessions", { headers });
    assert.deepEqual([answer.status, answer.headers["access-control-allow-origin"]], [200, "https://app.example"]);
    const asked = await listed.ask("OPTIONS", "/v1/sessions", { headers, token: null });
    assert.equal(asked.status, 204);
    const wanted = { ...headers, "access-control-request-headers": "authorization,x-stainless-os" };
    const told = await listed.ask("OPTIONS", "/v1/chat/completions", { headers: wanted, token: null });
    assert.equal(told.headers["access-control-allow-headers"], "authorization,x-stainless-os");
    assert.match(String(answer.headers["access-control-expose-headers"]), /\betag\b.*\bx-session-id\b/);
    const other = await listed.ask("GET", "/v1/sessions", { headers: { origin: "https://app.example.evil" } });
    assert.deepEqual([other.status, other.headers["access-control-allow-origin"]], [403, undefined]);
  });

  it("slows down whoever guesses tokens, and nobody else's right one is refused from elsewhere", async () => {
    const guessed = await new Ground().start();
    const statuses = new Set<number>();
    for (let tries = 0; tries < 40; tries++)
      statuses.add((await guessed.ask("GET", "/v1/sessions", { token: `guess${tries}` })).status);
    assert.deepEqual([...statuses], [401, 429]);
    assert.equal((await guessed.ask("GET", "/healthz", { token: null })).status, 200);
  });

  it("limits the requests of a token, and tells when to come back", async () => {
    const limited = await new Ground().start();
    const token = limited.token({ name: "busy", scopes: ["view"], limits: { requestsPerMinute: 3 } });
    const answers = [];
    for (let tries = 0; tries < 4; tries++) answers.push(await limited.ask("GET", "/v1/client", { token }));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 429],
    );
    assert.ok(Number(answers[3]?.headers["retry-after"]) >= 1);
    assert.equal((await limited.ask("GET", "/v1/client")).status, 200);
  });

  it("hangs up on a request that never comes to its end (slowloris), and answers others meanwhile", async () => {
    const slow = await new Ground().start({ limits: { headersMs: 300, requestMs: 300 } });
    const socket = connect(Number(new URL(slow.url).port), "127.0.0.1");
    socket.write("GET /healthz HTTP/1.1\r\nHost:");
    const ended = new Promise<string>((resolve) => {
      let text = "";
      socket.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      socket.on("close", () => resolve(text));
    });
    assert.equal((await slow.ask("GET", "/healthz", { token: null })).status, 200);
    assert.match(await ended, /^HTTP\/1\.1 408[\s\S]*"retryable":true/);
  });

  for (const [name, options, message] of [
    ["without TLS", { allowedHosts: ["box"] }, /could be read on the way/],
    ["without a name", { isBehindProxy: true }, /by which name/],
  ] as const)
    it(`does not listen beyond this machine ${name}`, async () => {
      const far = new Ground();
      await assert.rejects(far.start({ ...options, listen: { type: "tcp", address: "0.0.0.0", port: 0 } }), {
        code: "usage",
        message,
      });
    });

  it("listens on a socket that only the user can reach, also where a killed server has left one", async () => {
    const local = new Ground();
    const path = join(local.top, "socket");
    const { spawnSync } = await import("node:child_process");
    const left = `require("node:net").createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, "SIGKILL"))`;
    spawnSync(process.execPath, ["-e", left]);
    await local.start({ listen: { type: "socket", path } });
    const { statSync } = await import("node:fs");
    assert.equal(statSync(path).mode & 0o777, 0o600);
    const { request } = await import("node:http");
    const status = await new Promise((resolve) =>
      request({ socketPath: path, path: "/healthz" }, (response) => resolve(response.statusCode)).end(),
    );
    assert.equal(status, 200);
  });
});

/** Sends bytes and answers what came back until the first answer is whole, or the end. */
async function send(ground: Ground, text: string): Promise<string> {
  const { host, port } = new URL(ground.url);
  const bytes = text.replaceAll("HOST", host).replaceAll("TOKEN", ground.owner).replaceAll("PORT", port);
  return await new Promise((resolve, reject) => {
    const socket = connect(Number(port), "127.0.0.1", () => socket.write(bytes));
    let answer = "";
    socket.setEncoding("utf8").on("data", (chunk: string) => {
      answer += chunk;
      const [head = "", body = ""] = answer.split("\r\n\r\n");
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? Number.NaN);
      if (answer.includes("\r\n\r\n") && Buffer.byteLength(body) >= length) socket.destroy();
    });
    socket.on("close", () => resolve(answer)).on("error", reject);
  });
}
