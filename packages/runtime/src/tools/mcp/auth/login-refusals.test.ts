import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { type Lies, metadataOf, openOAuthServer } from "../../../../../../test/support/oauth-server.ts";
import { McpServers } from "../mcp-servers.ts";
import { parseMcpServers } from "../server-config.ts";
import { AuthorizationRequests } from "./authorization-requests.ts";
import { logIn } from "./log-in.ts";
import { openLoopback, personBehind } from "./loopback.ts";

const { signal } = new AbortController();
const issuerAt = "/.well-known/oauth-authorization-server";
const resourceAt = "/.well-known/oauth-protected-resource/mcp";

async function openPlace(lies: Lies) {
  const folder = mkdtempSync(join(tmpdir(), "outrider-refusals-"));
  const loginFolder = join(folder, "mcp-logins");
  const server = await openOAuthServer({ lies });
  after(() => {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const visited: string[] = [];
  /** A browser whose user agrees to everything. */
  const logInOnce = async (): Promise<void> => {
    const loopback = await openLoopback();
    const person = personBehind(loopback, async (url) => {
      visited.push(url.href);
      await fetch(url);
      return undefined;
    });
    const config = { type: "http" as const, url: server.url, headers: {}, oauth: {} };
    await logIn(config, { loginFolder, person }).finally(() => loopback.close());
  };
  const connect = async (entry: object = {}): Promise<McpServers> => {
    const mcp = new McpServers({ cwd: folder, env: {}, loginFolder });
    after(() => mcp.close());
    await mcp.connect(parseMcpServers({ s: { url: server.url, ...entry } }, { source: "a test", env: {} }));
    return mcp;
  };
  const failure = async () => {
    const [state] = (await connect()).states;
    return { status: state?.status, error: state?.error };
  };
  return { ...server, loginFolder, visited, logInOnce, connect, failure };
}

/** Sends the browser back with these words. */
const back =
  (words: Readonly<Record<string, string>>): Lies[string] =>
  ({ query }) => {
    const all = new URLSearchParams({ state: query.get("state") ?? "", ...words });
    return { status: 302, headers: { location: `${query.get("redirect_uri")}?${all}` } };
  };

const answer =
  (body: object | string, status = 200): Lies[string] =>
  () => ({ status, body });

/** Metadata that is right but for this. */
const issuer =
  (more: object): Lies[string] =>
  ({ origin }) => ({ body: { ...metadataOf(origin), ...more } });

const page = "<html><title>Oops</title><body>words for people</body></html>";

/** What an authorization server does, and what is said about it. */
const refusals: readonly (readonly [what: string, lies: Lies, said: RegExp])[] = [
  [
    "says no",
    { "/authorize": back({ error: "access_denied", error_description: "not you" }) },
    /refused the login: access_denied, not you$/,
  ],
  [
    "sends another's name back",
    { "/authorize": back({ code: "x", iss: "https://evil.example" }) },
    /Issuer mismatch.*evil\.example/,
  ],
  [
    "keeps back its name, which it promised",
    { [issuerAt]: issuer({ authorization_response_iss_parameter_supported: true }) },
    /Issuer mismatch/,
  ],
  ["sends nothing back", { "/authorize": back({}) }, /does not belong to this login$/],
  ["sends a code back that it does not know", { "/authorize": back({ code: "x" }) }, /\/token refused: invalid_grant$/],
  ["calls itself by another name", { [issuerAt]: issuer({ issuer: "https://evil.example" }) }, /Issuer mismatch.*evil\.example/],
  [
    "cannot do PKCE",
    { [issuerAt]: issuer({ code_challenge_methods_supported: ["plain"] }) },
    /does not support code challenge method S256$/,
  ],
  [
    "registers nobody",
    { [issuerAt]: issuer({ registration_endpoint: undefined }) },
    /does not support dynamic client registration$/,
  ],
  [
    "does not take where we are sent back to",
    { "/register": answer({ error: "invalid_redirect_uri", error_description: "not there" }, 400) },
    /\/register does not register us: invalid_redirect_uri, not there$/,
  ],
  ["fails where it should register", { "/register": answer(page, 500) }, /\/register does not register us: HTTP 500$/],
  [
    "registers nonsense",
    { "/register": answer({ hello: 1 }, 201) },
    /\/register gave an answer that cannot be used: .*client_id: /,
  ],
  ["describes itself by nonsense", { [issuerAt]: answer({ hello: 1 }) }, /server gave an answer that cannot be used: issuer: /],
  ["describes itself by a page", { [issuerAt]: answer(page) }, /server answered with something that is no JSON$/],
  [
    "describes itself at length",
    { [issuerAt]: issuer({ more: "x".repeat(2_000_000) }) },
    /answered with more than 1048576 bytes$/,
  ],
  [
    "would have a program run",
    { [issuerAt]: issuer({ authorization_endpoint: "javascript:alert(1)" }) },
    /authorization_endpoint: URL cannot use javascript:/,
  ],
  [
    "would have a file opened",
    { [issuerAt]: issuer({ authorization_endpoint: "file:///etc/passwd" }) },
    /file:\/\/\/etc\/passwd, is none for a browser$/,
  ],
  [
    "has its page where everybody listens",
    { [issuerAt]: issuer({ authorization_endpoint: "http://a.example/x" }) },
    /a\.example\/x, is none for a browser$/,
  ],
  [
    "gives tokens where everybody listens",
    { [issuerAt]: issuer({ token_endpoint: "http://a.example/x" }) },
    /non-https token endpoint/,
  ],
  [
    "is for another server",
    { [resourceAt]: ({ origin }) => ({ body: { resource: "https://evil.example/mcp", authorization_servers: [origin] } }) },
    /evil\.example\/mcp does not match expected/,
  ],
  [
    "is not there",
    { [resourceAt]: ({ origin }) => ({ body: { resource: `${origin}/mcp`, authorization_servers: ["http://127.0.0.1:1"] } }) },
    /127\.0\.0\.1:1\/\S+ cannot be asked: /,
  ],
  [
    "refuses the token",
    { "/token": answer({ error: "invalid_grant", error_description: "used before" }, 400) },
    /\/token refused: invalid_grant, used before$/,
  ],
  ["does not know us any more", { "/token": answer({ error: "invalid_client" }, 401) }, /\/token refused: invalid_client$/],
  ["fails where it gives tokens", { "/token": answer(page, 503) }, /\/token answered HTTP 503$/],
  ["gives a page for a token", { "/token": answer(page) }, /\/token answered with something that is no JSON$/],
  [
    "gives no token",
    { "/token": answer({ token_type: "Bearer" }) },
    /\/token gave an answer that cannot be used: access_token: /,
  ],
  [
    "gives a token that is two headers",
    { "/token": answer({ access_token: "a\r\nX-Evil: 1", token_type: "Bearer" }) },
    /gave a token that cannot be sent$/,
  ],
  [
    "sends us elsewhere for the token",
    { "/token": () => ({ status: 307, headers: { location: "http://127.0.0.1:1/steal" } }) },
    /\/token answered HTTP 307$/,
  ],
]; // prettier-ignore

describe("an authorization server", { timeout: 120_000 }, () => {
  for (const [what, lies, said] of refusals)
    it(`that ${what} ends the login with a word about it, and nothing is kept`, async () => {
      const { logInOnce, failure, loginFolder } = await openPlace(lies);
      await assert.rejects(logInOnce(), ({ message }: Error) => {
        assert.match(message, said);
        assert.doesNotMatch(message, /<html|words for people|Unexpected token/);
        return true;
      });
      assert.match((await failure()).error ?? "", /nobody has logged in/);
      for (const file of existsSync(loginFolder) ? readdirSync(loginFolder) : [])
        assert.deepEqual(JSON.parse(readFileSync(join(loginFolder, file), "utf8")).servers, {}); // what we are called there is kept
    });

  it("that gives a token which lets nobody in costs its server alone", async () => {
    const { logInOnce, failure } = await openPlace({ "/token": answer({ access_token: "never", token_type: "Bearer" }) });
    await logInOnce();
    const { status, error = "" } = await failure();
    assert.equal(status, "needs-auth");
    assert.match(error, /not accepted, and it came with nothing to renew it: somebody has to log in anew$/);
  });

  it("that does not answer is waited for no longer than it may take", async () => {
    const { url } = await openPlace({ "/token": () => "hang" });
    const requests = new AuthorizationRequests({ patience: 200 });
    const asked = requests.fetch(url.replace("/mcp", "/token"), { method: "POST", body: "x" });
    await assert.rejects(asked, /\/token did not answer within 200 ms$/);
  });

  it("that stops in the middle of its answer is one that does not answer", async () => {
    const server = createServer((_, response) => void response.writeHead(200).write('{"issuer":'));
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    after(() => server.closeAllConnections());
    after(() => server.close());
    const requests = new AuthorizationRequests({ patience: 200 });
    const asked = requests.fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await assert.rejects(asked, /did not answer within 200 ms$/);
  });

  it("whose page nobody comes back from is waited for no longer than a person may take", async () => {
    const loopback = await openLoopback();
    after(() => loopback.close());
    const person = personBehind(loopback, async () => undefined, { patience: 200 });
    await assert.rejects(person.visit(new URL("https://a.example/")), /^Error: nobody came back from the browser within 0\.2 s$/);
  });
});

describe("a login that has to be renewed", { timeout: 60_000 }, () => {
  const renewals: readonly (readonly [what: string, lie: ReturnType<Lies[string]>, status: string, said: RegExp])[] = [
    [
      "is taken back",
      { status: 400, body: { error: "invalid_grant" } },
      "needs-auth",
      /renews it no more: somebody has to log in anew$/,
    ],
    [
      "meets a server that fails",
      { status: 503, body: page },
      "failed",
      /the login to it could not be renewed: \S+\/token answered HTTP 503$/,
    ],
    ["meets nonsense", { body: page }, "failed", /could not be renewed: \S+\/token gave an answer that cannot be used$/],
    [
      "meets another refusal",
      { status: 400, body: { error: "invalid_scope", error_description: "no" } },
      "failed",
      /\/token refused: invalid_scope, no$/,
    ],
  ]; // prettier-ignore
  for (const [what, lie, status, said] of renewals)
    it(`and ${what} says so, in a call too, and is good again when that is over`, async () => {
      let now: typeof lie;
      const { logInOnce, connect, failure, expireTokens } = await openPlace({ "/token": () => now });
      await logInOnce();
      const mcp = await connect();
      expireTokens();
      now = lie;
      await assert.rejects(mcp.call("mcp__s__read", {}, signal), said);
      const anew = await failure();
      now = undefined;
      assert.equal(anew.status, status);
      if (status === "needs-auth") return assert.match(anew.error ?? "", /nobody has logged in/); // it is kept no more
      assert.match(anew.error ?? "", /^the login to it could not be renewed: [^<>]+$|refused: invalid_scope, no$/);
      assert.equal(anew.error?.match(/\/token/g)?.length, 1); // told once
      assert.equal(await mcp.call("mcp__s__read", {}, signal), "done with read");
    });

  it("for more than a program may have is refused for that call alone", async () => {
    const lie: Lies[string] = ({ query }) =>
      query.get("scope")?.includes("write") ? { status: 400, body: { error: "invalid_scope" } } : undefined;
    const { connect } = await openPlace({ "/token": lie });
    const mcp = await connect({ oauth: { grant: "client_credentials", clientId: "robot", clientSecret: "robot-secret" } });
    await assert.rejects(mcp.call("mcp__s__write", {}, signal), /\/token refused: invalid_scope$/);
    assert.equal(await mcp.call("mcp__s__read", {}, signal), "done with read");
  });

  it("for more and more without an end is asked for twice", async () => {
    let wanted = 0;
    const more: Lies[string] = ({ body }) => {
      if (!body.includes("tools/call")) return undefined;
      const challenge = `Bearer error="insufficient_scope", scope="more-${++wanted}"`;
      return { status: 403, headers: { "www-authenticate": challenge } };
    };
    const { connect } = await openPlace({ "/mcp": more });
    const mcp = await connect({ oauth: { grant: "client_credentials", clientId: "robot", clientSecret: "robot-secret" } });
    await assert.rejects(mcp.call("mcp__s__read", {}, signal), /Insufficient scope: required "more-3"/);
    assert.equal(wanted, 3);
  });
});
