import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { proxyAuthorization, proxyFor } from "./proxy.ts";

const proxy = "http://proxy.example:3128/";

describe("proxyFor", () => {
  const rows: [url: string, env: Record<string, string>, expected: string | undefined][] = [
    ["https://api.example/", {}, undefined],
    ["https://api.example/", { HTTPS_PROXY: proxy }, proxy],
    ["https://api.example/", { https_proxy: proxy, HTTPS_PROXY: "http://other:1" }, proxy],
    ["https://api.example/", { https_proxy: "", HTTPS_PROXY: proxy }, proxy],
    ["https://api.example/", { HTTP_PROXY: proxy }, undefined],
    ["http://api.example/", { HTTP_PROXY: proxy }, proxy],
    ["http://api.example/", { HTTPS_PROXY: proxy }, undefined],
    ["http://api.example/", { ALL_PROXY: proxy }, proxy],
    ["https://api.example/", { all_proxy: proxy }, proxy],
    ["https://api.example/", { HTTPS_PROXY: "http://first:1", ALL_PROXY: proxy }, "http://first:1/"],
    ["https://api.example/", { HTTPS_PROXY: "proxy.example:3128" }, proxy],
  ];
  for (const [url, env, expected] of rows) {
    it(`answers ${expected ?? "none"} for ${url} with ${JSON.stringify(env)}`, () => {
      assert.equal(proxyFor(new URL(url), env)?.href, expected);
    });
  }

  const exempt: [noProxy: string, url: string, direct: boolean][] = [
    ["*", "https://api.example", true],
    ["api.example", "https://api.example", true],
    ["api.example", "https://sub.api.example", true],
    ["api.example", "https://notapi.example", false],
    [".example", "https://api.example", true],
    ["*.example", "https://api.example", true],
    [".api.example", "https://api.example", true],
    ["other.example , API.example", "https://api.example", true],
    ["other.example api.example", "https://api.example", true],
    ["api.example:8443", "https://api.example:8443", true],
    ["api.example:8443", "https://api.example", false],
    ["api.example:443", "https://api.example", true],
    ["127.0.0.1", "https://127.0.0.1:8080", true],
    ["127.0.0.1", "https://127.0.0.2", false],
    ["127.0.0.1:8080", "https://127.0.0.1:9090", false],
    ["10.0.0.0/8", "https://10.20.30.40", true],
    ["10.0.0.0/8", "https://11.0.0.1", false],
    ["10.0.0.0/99", "https://10.0.0.1", false],
    ["10.0.0.0/8", "https://ten.example", false],
    ["::1", "https://[::1]:99", true],
    ["[::1]:99", "https://[::1]:99", true],
    ["[::1]:99", "https://[::1]:98", false],
    ["fd00::/8", "https://[fd12::3]", true],
    ["fd00::/8", "https://[fe80::3]", false],
    [",,", "https://api.example", false],
    ["0.0.1", "https://127.0.0.1", false],
  ];
  for (const [noProxy, url, direct] of exempt) {
    it(`${direct ? "goes direct" : "uses the proxy"} for ${url} with NO_PROXY=${noProxy}`, () => {
      const env = { HTTPS_PROXY: proxy, NO_PROXY: noProxy };
      assert.equal(proxyFor(new URL(url), env)?.href, direct ? undefined : proxy);
    });
  }

  it("refuses an address that is no HTTP proxy, without showing its password", () => {
    const url = new URL("https://api.example");
    assert.throws(() => proxyFor(url, { HTTPS_PROXY: "socks5://user:secret@host:1080" }), {
      code: "config",
      message: "Proxies of the kind socks5:// are not supported",
    });
    assert.throws(() => proxyFor(url, { HTTPS_PROXY: "http://user:secret@" }), {
      code: "config",
      message: "The proxy address is not a URL",
    });
  });
});

describe("proxyAuthorization", () => {
  it("decodes the credentials of the URL", () => {
    const expected = { "proxy-authorization": `Basic ${Buffer.from("me:p@ss wörd").toString("base64")}` };
    assert.deepEqual(proxyAuthorization(new URL("http://me:p%40ss%20w%C3%B6rd@host:1")), expected);
    assert.deepEqual(proxyAuthorization(new URL("http://host:1")), {});
  });
});
