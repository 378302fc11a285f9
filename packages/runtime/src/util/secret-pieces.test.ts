import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { createRedactor } from "./redact.ts";
import { looksRandom } from "./secret-pieces.ts";

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const line = fc
  .array(fc.constantFrom(...alphabet), { minLength: 64, maxLength: 64 })
  .map((list) => list.join(""))
  .filter(looksRandom);
const lines = fc.array(line, { minLength: 2, maxLength: 6 });
const wrap = (text: string, width: number): string => text.match(new RegExp(`.{1,${width}}`, "g"))?.join("\n") ?? "";
const toPem = (body: readonly string[]): string =>
  ["-----BEGIN RSA PRIVATE KEY-----", ...body, "-----END RSA PRIVATE KEY-----"].join("\n");

/** How tools and commands show a text of several lines. */
const forms: Readonly<Record<string, (text: string) => string>> = {
  "as it is": (text) => text,
  "cat -n": (text) => text.replace(/^/gm, "     7\t"),
  "grep -n": (text) => text.replace(/^/gm, "12:"),
  Grep: (text) => text.replace(/^/gm, "src/a.pem:12:"),
  "sed s/^/+/": (text) => text.replace(/^/gm, "+"),
  diff: (text) => text.replace(/^/gm, "> "),
  "one line": (text) => text.split("\n")[1] ?? "",
  tail: (text) => text.split("\n").slice(-3).join("\n"),
  "CR LF": (text) => text.replaceAll("\n", "\r\n"),
  JSON: (text) => JSON.stringify({ text }),
};

function assertHidden(shown: string, secrets: readonly string[]): void {
  for (const secret of secrets)
    for (let at = 0; at + 16 <= secret.length; at++)
      assert.ok(!shown.includes(secret.slice(at, at + 16)), `${secret.slice(at, at + 16)} of ${secret} in ${shown}`);
}

describe("secrets of several lines", () => {
  for (const [name, form] of Object.entries(forms)) {
    it(`known by value, are hidden line by line: ${name}`, () => {
      fc.assert(
        fc.property(lines, (body) => {
          const { text } = createRedactor({ env: { MULTI_SECRET: body.join("\n") } });
          assertHidden(text(form(body.join("\n"))), body);
        }),
        { numRuns: 40 },
      );
    });

    it(`a private key that was met is hidden line by line: ${name}`, () => {
      fc.assert(
        fc.property(lines, (body) => {
          const redactor = createRedactor();
          redactor.meet(toPem(body));
          assertHidden(redactor.text(form(body.join("\n"))), body);
          assertHidden(redactor.text(form(toPem(body))), body);
        }),
        { numRuns: 40 },
      );
    });
  }

  for (const width of [10, 20, 40, 64, 76]) {
    it(`are hidden in base64 wrapped after ${width} characters`, () => {
      fc.assert(
        fc.property(line, line, (one, other) => {
          const { text } = createRedactor({ env: { LONG_API_TOKEN: one + other } });
          const encoded = Buffer.from(one + other).toString("base64");
          const shown = text(wrap(encoded, width)).replaceAll("\n", "");
          assertHidden(shown, [encoded.slice(0, -4)]);
        }),
        { numRuns: 40 },
      );
    });
  }

  it("the beginning and the end of a key are known by their shape, numbered and diffed", () => {
    const body = [
      "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0a1B2c3D4e5F6g7H8i9J0k1L2",
      "Zz9Yy8Xx7Ww6Vv5Uu4Tt3Ss2Rr1Qq0Pp9Oo8Nn7Mm6Ll5Kk4Jj3Ii2Hh1Gg0Ff9E",
    ];
    for (const form of ["as it is", "cat -n", "grep -n", "Grep", "sed s/^/+/", "diff"]) {
      const text = (forms[form] ?? String)(toPem(body));
      assertHidden(createRedactor().text(text.split("\n").slice(0, -1).join("\n")), body);
      assertHidden(createRedactor().text(text.split("\n").slice(1).join("\n")), body);
    }
  });

  it("words and names in a secret of several lines stay", () => {
    const { text } = createRedactor({
      env: {
        SERVICE_CREDENTIALS:
          '{\n"type": "service_account",\n"uri": "https://accounts.example.com/o/oauth2/auth",\n"client": "applicationServerProduction"\n}',
      },
    });
    for (const plain of ["service_account", "https://accounts.example.com/o/oauth2/auth", "applicationServerProduction"])
      assert.equal(text(`see ${plain} here`), `see ${plain} here`);
  });
});

describe("keys at the end of another word", () => {
  const mixed = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0";
  const keys: readonly (readonly [kind: string, key: string])[] = [
    ["github-token", `ghp_${mixed.slice(0, 36)}`],
    ["api-key", `sk-proj-${mixed}`],
    ["anthropic-key", `sk-ant-api03-${mixed}`],
    ["aws-key-id", `AKIA${"IOSFODNN7EXAMPLE"}`],
    ["gitlab-token", `glpat-${mixed.slice(0, 20)}`],
    ["google-key", `AIza${mixed.slice(0, 35)}`],
    ["npm-token", `npm_${mixed.slice(0, 36)}`],
    ["stripe-key", `sk_live_${mixed.slice(0, 24)}`],
    ["slack-token", `xoxb-123456789012-1234567890123-${mixed.slice(0, 24)}`],
    ["json-web-token", `eyJ${"hbGciOiJIUzI1NiJ9"}.eyJ${"zdWIiOiIxMjM0NTY3ODkwIn0"}.${mixed}`],
  ];
  for (const [kind, key] of keys)
    for (const before of ["-", "dir-", "_", "a_", "x", "1", "%20"])
      it(`hides ${key.slice(0, 8)}… behind ${before}`, () =>
        assert.equal(createRedactor().text(`${before}${key}`), `${before}[redacted:${kind}]`));

  for (const plain of [
    "task-1234567890-abcdefgh",
    "disk-proj-migration-of-the-old-volumes-2024",
    "task_test_abcdefghij1234567890",
    "my_npm_config_registry_for_packages_2024_and_more",
    "risk-ant-colony-optimisation-chapter-12-results",
  ])
    it(`leaves ${plain}`, () => assert.equal(createRedactor().text(plain), plain));
});
