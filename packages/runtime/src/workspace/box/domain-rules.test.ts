import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { canonicalHost, isAllowedTarget, parseDomainRule } from "./domain-rules.ts";

describe("domains that a box may reach", () => {
  const allowed = (rule: string, host: string, port = 443): boolean => isAllowedTarget([parseDomainRule(rule)], { host, port });

  it("are one host, or every host below it and not itself", () => {
    assert.deepEqual(
      ["example.com", "www.example.com", "notexample.com", "example.com.evil.org"].map((host) => allowed("Example.com.", host)),
      [true, false, false, false],
    );
    assert.deepEqual(
      ["example.com", "www.example.com", "a.b.example.com", "notexample.com"].map((host) => allowed("*.example.com", host)),
      [false, true, true, false],
    );
  });

  it("are reached on ports 80 and 443, or on the one that is written", () => {
    assert.deepEqual(
      [80, 443, 8443, 22].map((port) => allowed("example.com", "example.com", port)),
      [true, true, false, false],
    );
    assert.deepEqual(
      [80, 443, 8443].map((port) => allowed("example.com:8443", "example.com", port)),
      [false, false, true],
    );
    assert.equal(isAllowedTarget([], { host: "example.com", port: 443 }), false);
    assert.equal(isAllowedTarget([parseDomainRule("a.org"), parseDomainRule("b.org")], { host: "b.org", port: 80 }), true);
  });

  it("are written as names alone", () => {
    assert.deepEqual(parseDomainRule(" *.example.com:65535 "), { host: "example.com", below: true, port: 65_535 });
    assert.equal(parseDomainRule("example.com:1").port, 1);
    const wrong = [
      "",
      "*",
      "https://example.com",
      "example.com/x",
      "a@example.com",
      "*.*.com",
      "example.com:0",
      "example.com:65536",
    ];
    for (const text of [...wrong, "127.0.0.1", "1.2.3", "0x7f.0x1", "[::1]", "exa mple.com", "a..b"])
      assert.throws(() => parseDomainRule(text), { code: "config" }, text);
  });

  it("have one spelling, and are no longer than names can be", () => {
    assert.equal(canonicalHost("A_b.Example.COM."), "a_b.example.com");
    assert.equal(canonicalHost("1password.com"), "1password.com");
    const label = "a".repeat(63);
    assert.equal(canonicalHost(`${label}.com`), `${label}.com`);
    assert.equal(canonicalHost(`${label}a.com`), undefined);
    const long = `${[label, label, label].join(".")}.${"a".repeat(61)}`;
    assert.deepEqual([canonicalHost(long), canonicalHost(`${long}a`)], [long, undefined]);
    for (const text of ["", ".", "-a.com", "a-.com", "a%00.com", "a\0.com", "10", "a.0x"])
      assert.equal(canonicalHost(text), undefined);
  });
});
