import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { Ground } from "./ground.ts";

const page = async () => ({ html: "<!doctype html><title>page</title>", policy: "default-src 'none'" });

describe("the page at the server's own address", () => {
  const ground = new Ground();
  before(async () => void (await ground.start({ page })));

  /** What a browser holds after it has shown its token. */
  const signIn = async (token: string): Promise<{ cookie: string; "outrider-page": string }> => {
    const { status, headers, json } = await ground.ask("POST", "/v1/page/login", { token, headers: { origin: ground.url } });
    assert.equal(status, 201);
    return { cookie: headers["set-cookie"]?.[0]?.split(";")[0] ?? "", "outrider-page": json.key };
  };

  it("is there for everybody, with its policy, and is nobody's frame", async () => {
    const { status, headers, text } = await ground.ask("GET", "/", { token: null });
    assert.deepEqual(
      [status, text, headers["content-type"], headers["content-security-policy"], headers["x-frame-options"]],
      [200, (await page()).html, "text/html; charset=utf-8", "default-src 'none'", "DENY"],
    );
  });

  it("sets a cookie that no script and no other site gets, and keeps only digests", async () => {
    const { headers, json } = await ground.ask("POST", "/v1/page/login", { headers: { origin: ground.url } });
    const [line = ""] = headers["set-cookie"] ?? [];
    assert.match(line, /^outrider-[\w-]+=[\w-]{43}; Path=\/v1; HttpOnly; SameSite=Strict; Max-Age=604800$/);
    const kept = readFileSync(join(ground.folder, "page-logins.json"), "utf8");
    const secrets = [ground.owner, json.key.split(".")[1], line.split("=")[1]?.split(";")[0] ?? "?"];
    assert.deepEqual(
      secrets.map((secret) => kept.includes(secret)),
      [false, false, false],
    );
  });

  const cases: readonly (readonly [string, Record<string, string | undefined>, number, string?])[] = [
    ["both halves, from the page itself", {}, 200],
    ["with the marks of a browser", { "sec-fetch-site": "same-origin" }, 200],
    ["the cookie alone, which other ports of this machine are sent too", { "outrider-page": undefined }, 401],
    ["the key alone", { cookie: undefined }, 401],
    ["another key", { "outrider-page": "KEYx" }, 401],
    ["a key of nobody", { "outrider-page": "abc.def" }, 401],
    ["from another site, by the mark of the browser", { "sec-fetch-site": "cross-site" }, 403],
    ["from another port of this machine", { "sec-fetch-site": "same-site" }, 403],
    ["from another origin", { origin: "http://127.0.0.1:1" }, 403],
    ["something that changes, from the page", { origin: "OWN" }, 201, "POST"],
    ["something that changes, without an origin", {}, 403, "POST"],
    ["something that changes, from elsewhere", { origin: "https://evil.example" }, 403, "POST"],
    ["something that changes, from a frame without an origin", { origin: "null" }, 403, "POST"],
  ];
  for (const [name, changes, status, method = "GET"] of cases)
    it(`answers ${status}: ${name}`, async () => {
      const held = await signIn(ground.owner);
      const all = Object.entries({ ...held, ...changes }).flatMap(([header, value]) =>
        value === undefined ? [] : [[header, value.replace("OWN", ground.url).replace("KEY", held["outrider-page"])] as const],
      );
      const body = method === "POST" ? { body: {} } : {};
      const said = await ground.ask(method, "/v1/sessions", { token: null, headers: Object.fromEntries(all), ...body });
      assert.equal(said.status, status, said.text);
    });

  it("does not take the cookie for a page that --allow-origin names", async () => {
    const other = await new Ground().start({ page, allowedOrigins: ["https://friend.example"] });
    const { headers, json } = await other.ask("POST", "/v1/page/login", { headers: { origin: other.url } });
    const held = { cookie: headers["set-cookie"]?.[0]?.split(";")[0] ?? "", "outrider-page": json.key };
    const from = (origin: string) => other.ask("GET", "/v1/sessions", { token: null, headers: { ...held, origin } });
    assert.deepEqual([(await from("https://friend.example")).status, (await from(other.url)).status], [403, 200]);
  });

  it("has the scopes of the token, and ends with it, with signing out, and not with the process", async () => {
    const token = ground.token({ name: "viewer", scopes: ["view"] });
    const held = { ...(await signIn(token)), origin: ground.url };
    const ask = async (method: string, path: string, body?: object) =>
      (await ground.ask(method, path, { token: null, headers: held, ...(body && { body }) })).status;
    assert.deepEqual([await ask("GET", "/v1/page/sessions"), await ask("POST", "/v1/sessions", {})], [200, 403]);
    const again = await new Ground().start({ page, tokens: ground.tokens });
    const there = await again.ask("GET", "/v1/client", { token: null, headers: { ...held, origin: again.url } });
    assert.equal(there.json.name, "viewer");
    ground.tokens.remove("viewer");
    assert.equal(await ask("GET", "/v1/page/sessions"), 401);
    const own = { ...(await signIn(ground.owner)), origin: ground.url };
    assert.equal((await ground.ask("DELETE", "/v1/page/login", { token: null, headers: own })).status, 204);
    assert.equal((await ground.ask("GET", "/v1/client", { token: null, headers: own })).status, 401);
  });
});

describe("files of a session for the page", () => {
  const edits = [
    { calls: [{ name: "Write", input: { file_path: "new.txt", content: "one\ntwo\n" } }] },
    { calls: [{ name: "Bash", input: { command: "true" } }] },
    { text: "written", usage: { inputTokens: 1000, outputTokens: 100 } },
  ];
  it("finds files by their letters, and never those that git ignores or rules protect", async () => {
    const ground = new Ground();
    const deny = [{ text: "Read(./secrets/**)", source: "settings" }];
    await ground.start({ defaults: { options: { permissions: { deny } } } });
    for (const folder of ["src/money", "secrets", "node_modules/x", ".git"])
      mkdirSync(join(ground.cwd, folder), { recursive: true });
    for (const file of ["src/money/round.ts", "rounding.md", "secrets/round.key", "node_modules/x/round.js"])
      writeFileSync(join(ground.cwd, file), "x\n");
    writeFileSync(join(ground.cwd, ".gitignore"), "node_modules\n");
    const id = await ground.session();
    const find = async (query: string) => (await ground.ask("GET", `/v1/sessions/${id}/files${query}`)).json.files;
    assert.deepEqual(await find("?query=round"), ["rounding.md", "src/money/round.ts"]);
    assert.deepEqual(await find("?query=smr"), ["src/money/round.ts"]);
    assert.deepEqual(await find("?query=../"), []);
    assert.deepEqual(await find(""), [".gitignore", "rounding.md", "src/money/round.ts"]);
  });

  it("shows what the session changed against its start, also after more changes, and nothing after going back", async () => {
    const ground = new Ground(edits);
    await ground.start({ defaults: { options: { permissionMode: "acceptEdits" } } });
    writeFileSync(join(ground.cwd, "old.txt"), "old\n");
    const id = await ground.session();
    const { status, json } = await ground.ask("POST", `/v1/sessions/${id}/messages`, { body: { text: "write" } });
    assert.deepEqual([status, json.outcome.type], [200, "completed"]);
    const look = async () => (await ground.ask("GET", `/v1/sessions/${id}/diff`)).json;
    const first = await look();
    assert.deepEqual(
      first.files.map(({ file, created, diff }: { file: string; created: boolean; diff: object[] }) => [
        file,
        created,
        diff.length,
      ]),
      [["new.txt", true, 3]],
    );
    assert.equal(first.commands, 1);
    writeFileSync(join(ground.cwd, "new.txt"), "one\ntwo\nthree\n");
    assert.equal((await look()).files[0].diff.length, 4);
    writeFileSync(join(ground.cwd, "new.txt"), "one\ntwo\n");
    const [{ id: checkpoint }] = (await ground.ask("GET", `/v1/sessions/${id}/checkpoints`)).json.checkpoints;
    const restore = `/v1/sessions/${id}/checkpoints/${checkpoint}/restore`;
    assert.equal((await ground.ask("POST", restore, { body: { rollback: true } })).json.type, "restored");
    assert.deepEqual((await look()).files, []);
    const { costs } = (await ground.ask("GET", `/v1/sessions/${id}/costs?after=0`)).json;
    assert.equal(Object.keys(costs).length, 3);
    const [row] = (await ground.ask("GET", "/v1/page/sessions")).json.sessions;
    assert.deepEqual([row.id, row.state], [id, "completed"]);
  });
});
