import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { openOAuthServer } from "../../../../../../test/support/oauth-server.ts";
import { McpServers, type McpOptions } from "../mcp-servers.ts";
import { parseMcpServers } from "../server-config.ts";
import { logIn, logOut } from "./log-in.ts";
import { openLoopback, personBehind } from "./loopback.ts";
import type { AskPerson } from "./login-ways.ts";

const { signal } = new AbortController();

async function openPlace(options: Parameters<typeof openOAuthServer>[0] = {}) {
  const folder = mkdtempSync(join(tmpdir(), "outrider-logins-"));
  const server = await openOAuthServer(options);
  after(() => {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const loginFolder = join(folder, "mcp-logins");
  const connect = async (more: Partial<McpOptions> = {}, entry: object = {}): Promise<McpServers> => {
    const mcp = new McpServers({ cwd: folder, env: {}, loginFolder, ...more });
    after(() => mcp.close());
    await mcp.connect(parseMcpServers({ s: { url: server.url, ...entry } }, { source: "a test", env: {} }));
    return mcp;
  };
  const what = (): string[] => server.asked.map(({ what }) => what);
  return { ...server, loginFolder, connect, what };
}

/** A browser whose user agrees to everything. */
async function somebody(): Promise<AskPerson> {
  const loopback = await openLoopback();
  after(() => loopback.close());
  return personBehind(loopback, async (url) => {
    await fetch(url);
    return undefined;
  });
}

const http = (url: string, oauth = {}) => ({ type: "http" as const, url, headers: {}, oauth });

describe("a login to a server", { timeout: 60_000 }, () => {
  it("where nobody is there, costs the server alone and nothing is registered", async () => {
    const { connect, asked } = await openPlace();
    const [state] = (await connect()).states;
    assert.equal(state?.status, "needs-auth");
    assert.match(state?.error ?? "", /^HTTP 401: nobody has logged in/);
    assert.deepEqual(asked, []);
  });

  it("is made once with PKCE, kept for the user alone, and used by later runs", async () => {
    const { connect, loginFolder, url, what } = await openPlace();
    await logIn(http(url), { loginFolder, person: await somebody() });
    assert.deepEqual(what(), ["register", "authorize", "authorization_code"]);
    assert.equal(await (await connect()).call("mcp__s__read", {}, signal), "done with read");
    assert.equal(what().length, 3);
    const [file = ""] = readdirSync(loginFolder);
    assert.match(file, /^127\.0\.0\.1_\d+-\w+\.json$/);
    assert.equal(statSync(join(loginFolder, file)).mode & 0o777, 0o600);
    assert.equal(statSync(loginFolder).mode & 0o777, 0o700);
    assert.equal(JSON.parse(readFileSync(join(loginFolder, file), "utf8")).issuer, new URL(url).origin);
  });

  it("is renewed without a person, also in the middle of a session, once for calls at the same time", async () => {
    const { connect, loginFolder, url, what, expireTokens } = await openPlace();
    await logIn(http(url), { loginFolder, person: await somebody() });
    const mcp = await connect();
    expireTokens();
    const answers = await Promise.all([1, 2, 3].map(() => mcp.call("mcp__s__read", {}, signal)));
    assert.deepEqual(new Set(answers), new Set(["done with read"]));
    assert.deepEqual(what().slice(3), ["refresh_token"]);
  });

  it("that cannot be renewed any more is needed anew", async () => {
    const { connect, loginFolder, url, what, expireTokens, revokeAll } = await openPlace();
    await logIn(http(url), { loginFolder, person: await somebody() });
    expireTokens();
    revokeAll();
    assert.equal((await connect()).states[0]?.status, "needs-auth");
    assert.equal((await connect()).states[0]?.status, "needs-auth");
    assert.deepEqual(what().slice(3), ["refresh_token"]); // neither tried again nor registered again
    await logIn(http(url), { loginFolder, person: await somebody() });
    assert.equal((await connect()).states[0]?.status, "connected");
  });

  it("for too little says for what it would have to be; a person who is there is asked for more", async () => {
    const { connect, loginFolder, url, asked } = await openPlace();
    await logIn(http(url), { loginFolder, person: await somebody() });
    await assert.rejects((await connect()).call("mcp__s__write", {}, signal), /the scope "read write"/);
    const mcp = await connect({ person: await somebody() });
    assert.equal(await mcp.call("mcp__s__write", {}, signal), "done with read write");
    assert.equal(asked.findLast(({ what }) => what === "authorize")?.scope, "read write");
  });

  it("of a program needs nobody, and is kept nowhere", async () => {
    const { connect, loginFolder, what, expireTokens } = await openPlace();
    const oauth = { grant: "client_credentials", clientId: "robot", clientSecret: "robot-secret" };
    const mcp = await connect({}, { oauth });
    assert.equal(await mcp.call("mcp__s__write", {}, signal), "done with read write"); // a program may ask for more by itself
    expireTokens();
    assert.equal(await mcp.call("mcp__s__read", {}, signal), "done with read write");
    assert.deepEqual(new Set(what()), new Set(["client_credentials"]));
    assert.throws(() => readdirSync(loginFolder));
    const [wrong] = (await connect({}, { oauth: { ...oauth, clientSecret: "wrong" } })).states;
    assert.equal(wrong?.status, "failed");
  });

  it("is forgotten when somebody logs out", async () => {
    const { connect, loginFolder, url } = await openPlace();
    await logIn(http(url), { loginFolder, person: await somebody() });
    assert.deepEqual([await logOut(http(url), loginFolder), await logOut(http(url), loginFolder)], [true, false]);
    assert.equal((await connect()).states[0]?.status, "needs-auth");
  });

  it("is never sent where a header has a token", async () => {
    const { connect, loginFolder, url } = await openPlace();
    await logIn(http(url), { loginFolder, person: await somebody() });
    const [state] = (await connect({}, { headers: { Authorization: "Bearer my-own" } })).states;
    assert.equal(state?.status, "needs-auth"); // with ours it would be let in
  });

  it("takes no answer that belongs to another login", async () => {
    const { loginFolder, url } = await openPlace();
    const loopback = await openLoopback();
    after(() => loopback.close());
    const person = personBehind(loopback, async () => new URL(`${loopback.redirectUrl}?code=stolen&state=other`));
    await assert.rejects(logIn(http(url), { loginFolder, person }), /does not belong to this login/);
  });

  for (const [oauth, problem] of [
    ["x", /oauth must be an object/],
    [{ clientID: "x" }, /oauth\.clientID is not known/],
    [{ grant: "password" }, /can only be/],
    [{ grant: "client_credentials", clientId: "x" }, /needs clientId and clientSecret or privateKey/],
    [{ grant: "cross_app_access", clientId: "x", clientSecret: "y" }, /identity needs tokenEndpoint/],
    [{ callbackPort: 0 }, /must be a port/],
    [{ scopes: ["a"] }, /oauth\.scopes must be a text/],
  ] as const)
    it(`is not written like this: ${JSON.stringify(oauth)}`, () => {
      assert.throws(() => parseMcpServers({ s: { url: "http://x/", oauth } }, { source: "a test", env: {} }), problem);
    });
});
