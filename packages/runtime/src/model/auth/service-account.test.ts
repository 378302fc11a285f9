import assert from "node:assert/strict";
import { createVerify, generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, it } from "node:test";
import { userText } from "../../protocol/content.ts";
import { type ModelServer, type ServerReply, startModelServer } from "../../testing/model-server.ts";
import { createHttpClient } from "../http.ts";
import { createProvider } from "../providers/create-provider.ts";
import { requireProvider } from "../providers/definitions.ts";
import { createTokenSource, parseServiceAccount, type ServiceAccount, signAssertion } from "./service-account.ts";

const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const now = Date.UTC(2026, 0, 2, 3, 4, 5);
const signal = new AbortController().signal;
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

describe("signAssertion", () => {
  it("states who asks for what, signed with the account's key", () => {
    const account = parseServiceAccount(keyFile("https://example.com/token"), "k.json");
    const [header = "", claims = "", signature = ""] = signAssertion(account, now).split(".");
    assert.deepEqual(parse(header), { alg: "RS256", typ: "JWT", kid: "key-1" });
    assert.deepEqual(parse(claims), {
      iss: "robot@p1.iam.gserviceaccount.com",
      scope: "https://www.googleapis.com/auth/cloud-platform",
      aud: "https://example.com/token",
      iat: now / 1_000,
      exp: now / 1_000 + 3_600,
    });
    const verify = createVerify("RSA-SHA256").update(`${header}.${claims}`);
    assert.equal(verify.verify(publicKey, signature, "base64url"), true);
  });
});

describe("createTokenSource", () => {
  it("asks once for all who wait, and again only shortly before the token expires", async () => {
    const { server, account } = await setUp([token("one"), token("two")]);
    const source = open(account);
    assert.deepEqual(await Promise.all([source({ signal, now }), source({ signal, now })]), ["one", "one"]);
    assert.equal(await source({ signal, now: now + 3_500_000 }), "one");
    assert.equal(await source({ signal, now: now + 3_545_000 }), "two");
    assert.equal(server.requests.length, 2);
    const form = new URLSearchParams(String(server.requests[0]?.body));
    assert.equal(form.get("grant_type"), "urn:ietf:params:oauth:grant-type:jwt-bearer");
    assert.equal(form.get("assertion"), signAssertion(account, now));
    assert.equal(server.requests[0]?.url, "/token");
  });

  it("lets one who waits give up without taking the token from the others", async () => {
    const { account } = await setUp([{ ...token("shared"), delayMs: 50 }]);
    const source = open(account);
    const impatient = new AbortController();
    const first = source({ signal: impatient.signal, now });
    const second = source({ signal, now });
    impatient.abort(new Error("enough"));
    await assert.rejects(first, { message: "enough" });
    assert.equal(await second, "shared");
  });

  it("tells why there is no token, and asks anew the next time", async () => {
    const refusal = { error: "invalid_grant", error_description: "Invalid JWT Signature." };
    const { account } = await setUp([{ status: 400, body: refusal }, { status: 503, body: "busy" }, token("at last")]);
    const source = open(account);
    await assert.rejects(source({ signal, now }), {
      code: "provider-auth",
      retryable: false,
      message: /gave no access token \(HTTP 400\): invalid_grant: Invalid JWT Signature\.$/,
      hint: "Check GOOGLE_APPLICATION_CREDENTIALS",
    });
    await assert.rejects(source({ signal, now }), { code: "provider-unavailable", retryable: true });
    assert.equal(await source({ signal, now }), "at last");
  });
});

describe("parseServiceAccount", () => {
  it("says what is wrong with a key file, and nothing of what is in it", () => {
    const rows: [text: string, words: RegExp][] = [
      ["not json", /The key file k\.json is no JSON object/],
      ['{"type":"authorized_user"}', /type "authorized_user", not of a service account/],
      ['{"type":"service_account"}', /lacks client_email or private_key/],
      ['{"type":"service_account","client_email":"e","private_key":"very secret"}', /private_key that cannot be read/],
    ];
    for (const [text, message] of rows) {
      assert.throws(
        () => parseServiceAccount(text, "k.json"),
        (error: Error) => message.test(error.message) && !String(error.stack).includes("very secret"),
      );
    }
  });
});

describe("vertex with a key file", () => {
  it("exchanges the key for a token, keeps it, and names the account's project", async () => {
    const { server, account } = await setUp([token("vertex-token"), { text: "one" }, { text: "two" }]);
    const folder = await mkdtemp(join(tmpdir(), "outrider-vertex-"));
    closers.push(() => rm(folder, { recursive: true }));
    const path = join(folder, "key.json");
    await writeFile(path, keyFile(account.tokenURL));
    const provider = await createProvider(requireProvider("vertex"), {
      env: { GOOGLE_APPLICATION_CREDENTIALS: path },
      baseURL: server.url,
      model: "claude-x",
    });
    closers.push(() => provider.close());
    for (const expected of ["one", "two"]) {
      let text = "";
      const request = { model: "claude-x", system: "", messages: [userText("hi")], tools: [] };
      for await (const event of provider.stream(request, { signal })) if (event.type === "text.delta") text += event.text;
      assert.equal(text, expected);
    }
    const claude = "/v1/projects/p1/locations/global/publishers/anthropic/models/claude-x:streamRawPredict";
    assert.deepEqual(
      server.requests.map(({ url, headers }) => [url, headers.authorization]),
      [
        ["/token", undefined],
        [claude, "Bearer vertex-token"],
        [claude, "Bearer vertex-token"],
      ],
    );
  });

  it("says which file it cannot read", async () => {
    const settings = { env: { GOOGLE_APPLICATION_CREDENTIALS: "/nowhere/key.json" } };
    await assert.rejects(createProvider(requireProvider("vertex"), settings), {
      code: "config",
      message: "The key file /nowhere/key.json cannot be read",
    });
  });
});

function keyFile(tokenURL: string): string {
  return JSON.stringify({
    type: "service_account",
    project_id: "p1",
    private_key_id: "key-1",
    private_key: pem,
    client_email: "robot@p1.iam.gserviceaccount.com",
    token_uri: tokenURL,
  });
}

function token(access_token: string): ServerReply {
  return { body: { access_token, expires_in: 3_600, token_type: "Bearer" } };
}

async function setUp(replies: readonly ServerReply[]): Promise<{ server: ModelServer; account: ServiceAccount }> {
  const server = await startModelServer({ replies });
  closers.push(() => server.close());
  return { server, account: parseServiceAccount(keyFile(`${server.url}/token`), "k.json") };
}

function open(account: ServiceAccount): ReturnType<typeof createTokenSource> {
  const http = createHttpClient();
  closers.push(() => http.close());
  return createTokenSource(account, http);
}

function parse(part: string): unknown {
  return JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
}
