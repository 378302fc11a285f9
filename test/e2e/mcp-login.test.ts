import assert from "node:assert/strict";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { openOAuthServer } from "../support/oauth-server.ts";
import { model, run, tempFolder } from "./command.ts";

/** A browser whose user agrees to everything. */
function browser(): string {
  const path = join(tempFolder(), "browser");
  writeFileSync(path, `#!${process.execPath}\nfetch(process.argv[2]);\n`);
  chmodSync(path, 0o755);
  return path;
}

describe("outrider mcp login", { timeout: 120_000 }, () => {
  it("logs in with a browser; later runs use it until mcp logout", async () => {
    const server = await openOAuthServer();
    after(() => server.close());
    const home = tempFolder();
    const call = { calls: [{ name: "mcp__safe__read", input: {} }] };
    const { env: base } = await model([{ text: "nothing to call" }, call, { text: "ok" }], home);
    const env = { ...base, BROWSER: browser() };
    assert.equal((await run(["mcp", "add", "safe", server.url], { env })).code, 0);
    const before = await run(["mcp", "test", "safe"], { env });
    assert.deepEqual([before.code, /needs-auth/.test(before.stdout)], [1, true]);
    assert.match((await run(["-p", "go"], { env })).stderr, /needs-auth.*outrider mcp login safe/);

    const login = await run(["mcp", "login", "safe"], { env });
    assert.deepEqual([login.code, login.stdout], [0, "Logged in to safe: 2 tools\n"]);
    assert.match(login.stderr, /^Log in here:\nhttp:\/\/127\.0\.0\.1:\d+\/authorize\?/);
    const said = await run(["-p", "go", "--allowedTools", "mcp__safe", "--output-format", "stream-json", "--verbose"], { env });
    assert.match(said.stdout, /done with read/);
    assert.ok(!said.stdout.includes("Bearer"));

    assert.equal((await run(["mcp", "logout", "safe"], { env })).stdout, "The login to safe is forgotten\n");
    assert.equal((await run(["mcp", "logout", "safe"], { env })).stdout, "Nobody was logged in to safe\n");
    assert.equal((await run(["mcp", "test", "safe"], { env })).code, 1);
  });

  it("is not needed where a program has credentials, which may stand in a variable", async () => {
    const server = await openOAuthServer();
    after(() => server.close());
    const env = { OUTRIDER_HOME: tempFolder(), ROBOT_SECRET: "robot-secret" };
    const clientSecret = ["$", "{ROBOT_SECRET}"].join("");
    const entry = { url: server.url, oauth: { grant: "client_credentials", clientId: "robot", clientSecret } };
    assert.equal((await run(["mcp", "add-json", "safe", JSON.stringify(entry)], { env })).code, 0);
    const { stdout, stderr } = await run(["mcp", "test"], { env });
    assert.deepEqual([stdout, stderr], ["safe  works, 2 tools: read, write\n", ""]);
    assert.deepEqual(JSON.parse((await run(["mcp", "test", "--json"], { env })).stdout), [
      {
        ...{ name: "safe", status: "connected", tools: ["read", "write"] },
        ...{ serverInfo: { name: "safe", version: "1" }, protocolVersion: "2025-06-18" },
      },
    ]);
    assert.ok(!readFileSync(join(env.OUTRIDER_HOME, "settings.json"), "utf8").includes("robot-secret"));
  });

  it("tells a refusal in one line, whatever the authorization server would do to a terminal", async () => {
    const why = "no \u001b[31mway\u001b[0m\nLogged in to safe: 9 tools";
    const server = await openOAuthServer({
      lies: {
        "/authorize": ({ query }) => {
          const words = new URLSearchParams({ state: query.get("state") ?? "", error: "access_denied", error_description: why });
          return { status: 302, headers: { location: `${query.get("redirect_uri")}?${words}` } };
        },
      },
    });
    after(() => server.close());
    const env = { OUTRIDER_HOME: tempFolder(), BROWSER: browser() };
    await run(["mcp", "add", "safe", server.url], { env });
    const { code, stdout, stderr } = await run(["mcp", "login", "safe"], { env });
    assert.deepEqual([code, stdout], [78, ""]);
    assert.match(stderr, /^outrider: The login did not work: .*refused the login: access_denied, no /m);
    assert.equal(stderr.includes("\u001b"), false);
    assert.doesNotMatch(stderr, /^Logged in/m);
  });

  it("says what it cannot do", async () => {
    const env = { OUTRIDER_HOME: tempFolder() };
    await run(["mcp", "add", "local", "true"], { env });
    await run(["mcp", "add", "web", "http://127.0.0.1:9/mcp", "--client-id", "me", "--callback-port", "0"], { env });
    const cases: [string[], number, RegExp][] = [
      [["login", "local"], 64, /not reached over HTTP/],
      [["login"], 64, /needs one name/],
      [["login", "nobody"], 66, /is not known/],
      [["add", "x", "tool", "--client-id", "me"], 64, /is for servers on the network/],
      [["add", "x", "http://h/", "--callback-port", "many"], 64, /needs a number/],
    ];
    for (const [words, code, said] of cases) {
      const result = await run(["mcp", ...words], { env });
      assert.match(result.stderr, said);
      assert.equal(result.code, code, words.join(" "));
    }
  });
});
