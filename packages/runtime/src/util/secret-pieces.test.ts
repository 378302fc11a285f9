import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import fc from "fast-check";
import { createRedactor } from "./redact.ts";
import { HeldDeltas } from "../session/events/held-deltas.ts";
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

const isMutant = process.env["OUTRIDER_MUTANT"] !== undefined;
const numRuns = isMutant ? 3 : 40;

describe("secrets of several lines", () => {
  for (const [name, form] of Object.entries(forms)) {
    it(`known by value, are hidden line by line: ${name}`, () => {
      fc.assert(
        fc.property(lines, (body) => {
          const { text } = createRedactor({ env: { MULTI_SECRET: body.join("\n") } });
          assertHidden(text(form(body.join("\n"))), body);
        }),
        { numRuns },
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
        { numRuns },
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
        { numRuns },
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

  it("known by value, lines of words are hidden one by one, numbered and diffed too", () => {
    const { text } = createRedactor({ env: { RECOVERY_SECRET: "correct horse battery\nstaple-goes-here-too\nshort" } });
    const mask = "[redacted:RECOVERY_SECRET]";
    assert.equal(text("     2\tstaple-goes-here-too"), `     2\t${mask}`);
    assert.equal(text("+correct horse battery\n-short"), `+${mask}\n-short`);
    assert.equal(text(JSON.stringify(["correct horse battery"])), `["${mask}"]`);
  });

  it("what stands behind the name of a secret in a known value is hidden alone too", () => {
    const { text } = createRedactor({
      env: {
        DB_CREDENTIALS: '{"host":"db.example.com","password":"tr0ub4dor","port":5432}',
        INI_SECRET: "user=app\ntoken = open-sesame",
      },
    });
    assert.equal(text("password is tr0ub4dor"), "password is [redacted:DB_CREDENTIALS]");
    assert.equal(text("say open-sesame"), "say [redacted:INI_SECRET]");
    assert.equal(text("db.example.com 5432 app"), "db.example.com 5432 app");
  });

  it("a mask has the name of the value whose part it hides", () => {
    const [one, two] = ["a1B2c3D4e5F6g7H8i9J0k1L2", "Zz9Yy8Xx7Ww6Vv5Uu4Tt3Ss2"];
    const { text } = createRedactor({ env: { ONE_TOKEN: one, TWO_TOKEN: two } });
    assert.equal(text(`${one.slice(4)} ${two.slice(0, 20)}!`), "[redacted:ONE_TOKEN] [redacted:TWO_TOKEN]!");
    assert.equal(text(`${one.slice(0, 15)} ${two.slice(9)}`), `${one.slice(0, 15)} ${two.slice(9)}`);
  });

  it("what is met beyond 64 KiB is known as a whole only", () => {
    const redactor = createRedactor();
    const bodies = Array.from({ length: 1600 }, (_, index) => createHash("sha256").update(String(index)).digest("base64"));
    redactor.meet(toPem(bodies.slice(0, 10)));
    for (let at = 10; at < bodies.length; at += 100) redactor.meet(toPem(bodies.slice(at, at + 100)));
    assert.equal(redactor.text(bodies[5] ?? ""), "[redacted:private-key]");
    assert.equal(redactor.text(bodies[1599] ?? ""), bodies[1599]);
    assert.equal(redactor.text(`x\n${toPem(bodies.slice(1590))}\ny`), "x\n[redacted:private-key]\ny");
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
    ["api-key", `sk-${mixed}`],
    ["hugging-face-token", `hf_${mixed.slice(0, 34)}`],
    ["groq-key", `gsk_${mixed}`],
    ["docker-token", `dckr_pat_${mixed.slice(0, 27)}`],
    ["sendgrid-key", `SG.${mixed.slice(0, 22)}.${mixed}`],
    ["digitalocean-token", `dop_v1_${"0a1b2c3d4e5f6a7b".repeat(4)}`],
    ["twilio-key", `SK${"0a1b2c3d4e5f6a7b".repeat(2)}`],
    ["json-web-token", `eyJ${"hbGciOiJIUzI1NiJ9"}.eyJ${"zdWIiOiIxMjM0NTY3ODkwIn0"}.${mixed}`],
  ];
  for (const [kind, key] of keys)
    for (const before of ["-", "dir-", "_", "a_", "x", "1", "%20"])
      it(`hides ${key.slice(0, 8)}… behind ${before}`, () =>
        assert.equal(createRedactor().text(`${before}${key}`), `${before}[redacted:${kind}]`));

  for (const mark of ["%3D", "\\n", "\\u0022", "\u001b[31m", "\u001b[0;1m"])
    it(`a key begins behind ${JSON.stringify(mark)}`, () =>
      assert.equal(createRedactor().text(`x${mark}sk-0123456789abcdef0123`), `x${mark}[redacted:api-key]`));

  it("is hidden in a text that comes in pieces, wherever it is cut", () => {
    const redactor = createRedactor();
    for (const [kind, key] of keys)
      for (const before of ["dir-", "a_", "%20"])
        for (let cut = 1; cut < key.length; cut += 5) {
          const held = new HeldDeltas(redactor);
          const delta = (text: string) => ({ type: "text.delta" as const, messageId: "m", at: 0, text });
          const out = [
            held.pass(delta(before)),
            held.pass(delta(key.slice(0, cut))),
            held.pass(delta(`${key.slice(cut)} end`)),
            held.release(),
          ];
          const shown = out.map((one) => (one?.type === "text.delta" ? one.text : "")).join("");
          assert.ok(
            shown.endsWith(`[redacted:${kind}] end`) && !shown.includes(key.slice(4, 12)),
            `${shown} of ${before}${key} cut at ${cut}`,
          );
        }
  });

  for (const plain of [
    "task-5f3e9a1b2c4d5e6f7a8b9c0d",
    "task-0a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7f8a9b",
    "flask-sklearn-pipelines-and-more",
    "x_hf_transformersmodelnames",
    "task-1234567890-abcdefgh",
    "disk-proj-migration-of-the-old-volumes-2024",
    "task_test_abcdefghij1234567890",
    "my_npm_config_registry_for_packages_2024_and_more",
    "risk-ant-colony-optimisation-chapter-12-results",
  ])
    it(`leaves ${plain}`, () => assert.equal(createRedactor().text(plain), plain));
});

describe("the search for parts and keys", { skip: isMutant }, () => {
  const texts = [
    "-----END CERTIFICATE-----\n",
    "-----END PRIVATE KEY-----\n",
    "-----BEGIN PRIVATE KEY-----\n",
    "sk-",
    "eyJ",
    "ghp_",
    "12345678:AA",
    "SKa1b2",
    "a1B2c3D4",
    "aaaaaaaa",
  ];
  for (const piece of texts)
    it(`takes time in proportion to the text: ${piece.trim()}`, () => {
      const { text } = createRedactor({ env: { LONG_TOKEN: `${"a".repeat(2000)}a1B2c3D4e5F6g7H8i9J0` } });
      const cost = (length: number, before = ""): number => {
        const startedAt = process.cpuUsage().user;
        text(before + piece.repeat(length / piece.length));
        return process.cpuUsage().user - startedAt;
      };
      cost(20_000);
      const small = Math.min(cost(50_000, "1"), cost(50_000, "2"), cost(50_000, "3"));
      const large = cost(400_000);
      assert.ok(large < small * 24 + 50_000, `${small} µs for 50 KB, ${large} µs for 400 KB`);
    });
});
