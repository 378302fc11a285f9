import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createRedactor } from "./redact.ts";

const mask = "[redacted:A_TOKEN]";
const hiding = (value: string) => createRedactor({ env: { A_TOKEN: value } }).text;

describe("the forms of a known value", () => {
  it("in base64 are hidden but for the characters that hold bits of what stands around", () => {
    for (const value of ["s3cret-w", "s3cret-wo", "s3cret-wor"])
      for (const before of ["", "u", "uv", "uvw", "uvwx"])
        for (const after of ["", "y", "yz"]) {
          const encoded = Buffer.from(before + value + after).toString("base64");
          const first = Math.ceil((before.length * 8) / 6);
          const last = after === "" ? encoded.length : Math.floor(((before.length + value.length) * 8) / 6);
          assert.equal(hiding(value)(encoded), `${encoded.slice(0, first)}${mask}${encoded.slice(last)}`);
        }
  });

  it("are its base64 for addresses, and itself in an address", () => {
    const value = "??>>~~??>>~~";
    assert.equal(hiding(value)(Buffer.from(value).toString("base64url")), mask);
    assert.equal(hiding("s3cret w/rd")("a=s3cret%20w%2Frd&b"), `a=${mask}&b`);
  });

  it("are itself backwards and in hexadecimal digits, of eight bytes and more", () => {
    assert.equal(hiding("s3cret-w")("a w-terc3s b"), `a ${mask} b`);
    assert.equal(hiding("s3cret-w")(Buffer.from("s3cret-w").toString("hex")), mask);
    const { text } = createRedactor({ secrets: ["s3cret!"] });
    for (const form of ["!terc3s", Buffer.from("s3cret!").toString("hex"), Buffer.from("s3cret!").toString("base64")])
      assert.equal(text(`a ${form} b ${"0".repeat(16)}`), `a ${form} b ${"0".repeat(16)}`);
  });

  it("are those without the spaces and new lines around it", () => {
    assert.equal(hiding(" s3cret-w\n")("a s3cret-w b"), `a ${mask} b`);
    assert.equal(hiding(" s3cret7\n")("a s3cret7 b\n"), "a s3cret7 b\n");
    assert.equal(hiding(" s3cret7\n")("a s3cret7\n"), "a s3cret7\n");
    assert.equal(createRedactor({ secrets: [" s3cre7\n", " s3cr \n"] }).text("(s3cre7) ( s3cr \n)"), "([redacted]) ( s3cr \n)");
  });

  it("are at most 64 of its lines, and none that is a plain word", () => {
    const lines = Array.from({ length: 70 }, (_, index) => `the line number-${index} is here`);
    const text = hiding(lines.join("\n"));
    assert.deepEqual(
      [0, 63, 64].map((index) => text(`> ${lines[index]}`)),
      [`> ${mask}`, `> ${mask}`, `> ${lines[64]}`],
    );
    const named = hiding("user=app\npassword=changeit\ntoken=change-it-1");
    assert.deepEqual([named("changeit"), named("change-it-1")], ["changeit", mask]);
  });
});

describe("the lines of a private key", () => {
  const [one, two] = ["a1B2c3D4e5F6g7H8i9J0k1L2", "Zz9Yy8Xx7Ww6Vv5Uu4Tt3Ss2"];
  const joined = `${one.slice(-8)}${two.slice(0, 8)}`;

  it("are one text, also behind numbers and escapes; those of another value are not", () => {
    const pem = (newline: string): string =>
      [`-----BEGIN ${"PRIVATE KEY"}-----`, one, two, "=", `-----END ${"PRIVATE KEY"}-----`].join(newline);
    for (const newline of ["\n", "\r\n", "\\n", "\\r\\n", " \n", "\n 7\t"])
      assert.equal(hiding(pem(newline))(`see ${joined}.`), `see ${mask}.`, JSON.stringify(newline));
    assert.equal(hiding(`x: ${one}\ny: ${two}`)(`see ${joined}.`), `see ${joined}.`);
  });
});

describe("what stands behind a word", () => {
  it("is a secret by what it is made of", () => {
    const cases: readonly (readonly [text: string, shown: string])[] = [
      ["Basic QWxhZGRpbg==", "Basic QWxhZGRpbg=="],
      ["Basic QWxhZGRpbjpv", "Basic [redacted:basic-auth]"],
      ["authorization: AWS4-HMAC-SHA256", "authorization: AWS4-HMAC-SHA256"],
      ["authorization: abcdefgh", "authorization: abcdefgh"],
      ["authorization: abcdefg1", "authorization: [redacted:header]"],
      ["?key=123456789012", "?key=123456789012"],
      ["?key=abcdefghijkl", "?key=abcdefghijkl"],
      ["?key=abcdefghijk1", "?key=[redacted:parameter]"],
      ["MONKEY=abc123def456", "MONKEY=abc123def456"],
      [
        `https://hooks.slack.com/services/${"T0123456/B0123456"}/abcdefghijklmnop`,
        "https://hooks.slack.com/services/[redacted:webhook]",
      ],
    ];
    for (const [text, shown] of cases) assert.equal(createRedactor().text(text), shown);
  });
});
