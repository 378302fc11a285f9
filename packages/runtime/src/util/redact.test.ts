import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { createRedactor } from "./redact.ts";

/** Put together here, so that this file passes through the redactor unchanged. */
const secret = (beginning: string, rest: string): string => beginning + rest;
const pem = (name: string, body: string): string => `-----BEGIN ${name}-----\n${body}\n-----END ${name}-----`;
const letters = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0";
const jwt = [`eyJ${"hbGciOiJIUzI1NiJ9"}`, `eyJ${"zdWIiOiIxMjM0NTY3ODkwIn0"}`, "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"].join(
  ".",
);

const { text: redact, value: redactValue } = createRedactor();
/** Megabytes of text: tells nothing about a mutant that a smaller test would not. */
const heavy = { skip: process.env["OUTRIDER_MUTANT"] !== undefined };

describe("secrets by their shape", () => {
  const keys: [kind: string, key: string][] = [
    ["anthropic-key", secret("sk-ant", "-api03-abcdefghijklmnop")],
    ["api-key", secret("sk-proj", `-${letters}`)],
    ["api-key", secret("sk-or-v1", `-${letters}`)],
    ["google-key", secret("AIza", `Sy${letters.slice(0, 33)}`)],
    ["github-token", secret("ghp_", letters)],
    ["github-token", secret("gho_", letters)],
    ["github-token", secret("github_pat_", `${letters.slice(0, 22)}_${letters}`)],
    ["gitlab-token", secret("glpat-", letters.slice(0, 20))],
    ["slack-token", secret("xoxb-", "123456789012-abcdefghij")],
    ["aws-key-id", secret("AKIA", "IOSFODNN7EXAMPLE")],
    ["aws-session-token", secret("IQoJb3JpZ2lu", `X2VjEJr//////////wEaCXVzLWVhc3QtMSJHMEUC${letters}==`)],
    ["npm-token", secret("npm_", letters.slice(0, 36))],
    ["hugging-face-token", secret("hf_", letters.slice(0, 34))],
    ["groq-key", secret("gsk_", "abcdefghijklmnopqrstuvwxyz")],
    ["stripe-key", secret("sk_live_", letters.slice(0, 24))],
    ["twilio-key", secret("SK", "0a1b2c3d4e5f6a7b".repeat(2))],
    ["doppler-token", secret("dp.pt.", letters)],
    ["doppler-token", secret("dp.st.prd.", letters)],
    ["square-token", secret("EAAA", `l1${letters}${letters.slice(0, 18)}`)],
    ["square-token", secret("sq0atp-", letters.slice(0, 22))],
    ["fly-token", secret("fm2_", `${letters}${letters}==`)],
    ["fly-token", secret("fo1_", letters)],
    ["new-relic-key", secret("NRAK-", "A1B2C3D4E5F6G7H8I9J0K1L2M3N")],
    ["atlassian-token", secret("ATATT", `3xFfGF0${letters}${letters}=A1B2C3D4`)],
    ["bitbucket-password", secret("ATBB", letters.slice(0, 32))],
    ["postman-key", secret("PMAK-", `${"0a1b2c3d4e5f".repeat(2)}-${"0a1b2c3d4e".repeat(3)}`)],
    ["tailscale-key", secret("tskey-", "auth-k1a2b3C4CNTRL-a1b2c3d4e5f6g7h8")],
    ["grafana-token", secret("glsa_", `${letters.slice(0, 32)}_0a1b2c3d`)],
    ["supabase-token", secret("sbp_", "0a1b2c3d4e".repeat(4))],
    ["langsmith-key", secret("lsv2_pt_", `${"0a1b2c3d4e5f6a7b".repeat(2)}_0a1b2c3d4e`)],
    ["json-web-token", jwt],
    ["private-key", pem("RSA PRIVATE KEY", "abc")],
    ["private-key", pem("OPENSSH PRIVATE KEY", `${letters}${letters}\n${letters}==`)],
    ["private-key", pem("PRIVATE KEY", letters).replaceAll("\n", "\\n")],
    [
      "private-key",
      pem(
        "EC PRIVATE KEY",
        `Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123456789ABCDEF\n\n${letters}\n     7\t${letters}/+==`,
      ),
    ],
  ];
  for (const [kind, key] of keys) {
    it(`hides ${key.slice(0, 12)}… wherever it stands`, () => {
      const hidden = `[redacted:${kind}]`;
      for (const around of ["X", " X ", "'X'", '{"a":"X"}', "line\\nX\\n", "(X)", "a=X;", "X, X\nX", "é X 中"]) {
        assert.equal(redact(around.replaceAll("X", () => key)), around.replaceAll("X", hidden));
      }
    });
  }

  it("calls a key the same whatever stands before it", () => {
    const key = secret("ghp_", letters);
    const text = `${key} GH_TOKEN=${key} Authorization: Bearer ${key} https://x:${key}@github.com ?token=${key}`;
    assert.equal(redact(text), text.replaceAll(key, "[redacted:github-token]"));
  });

  it("hides a private key that is cut off, as far as it goes", () => {
    const cut = pem("PRIVATE KEY", `${letters}${letters}\n${letters}`).replace(/\n-----END.*/, "");
    assert.equal(redact(`see\n${cut}\n`), "see\n[redacted:private-key]\n");
  });

  const behindWords: [text: string, shown: string][] = [
    ["Authorization: Bearer secret-thing", "Authorization: Bearer [redacted:authorization]"],
    [`{"authorization":"Bearer ${letters}"}`, '{"authorization":"Bearer [redacted:authorization]"}'],
    [`{\\"authorization\\":\\"Bearer ${letters}\\"}`, '{\\"authorization\\":\\"Bearer [redacted:authorization]\\"}'],
    ["AUTHORIZATION: Basic dXNlcjpwYXNzd29yZA==", "AUTHORIZATION: Basic [redacted:authorization]"],
    ["authorization: s3cret-key-value", "authorization: [redacted:header]"],
    ["curl -H 'x-api-key: abc-123-def'", "curl -H 'x-api-key: [redacted:header]'"],
    ["X-Goog-Api-Key: abc1234567", "X-Goog-Api-Key: [redacted:header]"],
    ["it sent Bearer abc.def-ghi/123", "it sent Bearer [redacted:bearer-token]"],
    ["Basic dXNlcjpwYXNzd29yZA==", "Basic [redacted:basic-auth]"],
    ["Cookie: sid=abcdef123; theme=dark\nnext", "Cookie: [redacted:cookie]\nnext"],
    ["set-cookie: sid=abcdef123; Path=/; HttpOnly", "set-cookie: [redacted:cookie]"],
    ["postgres://app:hunter22@db:5432/x", "postgres://app:[redacted:password]@db:5432/x"],
    [`https://x-access-token:${letters}@github.com/a/b`, "https://x-access-token:[redacted:password]@github.com/a/b"],
    ["GITLAB_TOKEN=abc123def456\nHOME=/root", "GITLAB_TOKEN=[redacted:secret]\nHOME=/root"],
    ["export DB_PASSWORD='hunter2hunter2'", "export DB_PASSWORD='[redacted:secret]'"],
    ["     3\tSTRIPE_SECRET_KEY=abc123def456", "     3\tSTRIPE_SECRET_KEY=[redacted:secret]"],
    ["Server=db;User=sa;Password=Hunter2!x;", "Server=db;User=sa;Password=[redacted:password];"],
    ["https://maps.example/?key=abc123def456ghi", "https://maps.example/?key=[redacted:parameter]"],
    ["https://maps.example?a=b&key=abc123def456ghi", "https://maps.example?a=b&key=[redacted:parameter]"],
    ["https://store.example/x?sig=abc123def456%3D", "https://store.example/x?sig=[redacted:parameter]"],
    [`{"access_token": "${letters}", "expires_in": 3600}`, '{"access_token": "[redacted:token]", "expires_in": 3600}'],
    ['aws_secret_access_key = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"', 'aws_secret_access_key = "[redacted:aws-secret-key]"'],
  ];
  for (const [text, shown] of behindWords) {
    it(`hides the value and not the word: ${shown}`, () => assert.equal(redact(text), shown));
  }

  const harmless = [
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "123e4567-e89b-12d3-a456-426614174000",
    "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "process.env.API_KEY ?? process.env['GITHUB_TOKEN']",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: code as it stands in files
    "headers: { authorization: `Bearer ${token}`, 'x-api-key': apiKey }",
    "Bearer authentication and Basic authentication are described in the specification",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: code as it stands in files
    "curl -H 'Authorization: Bearer $TOKEN' -H \"x-api-key: ${KEY}\" https://example.com/a:b@c",
    "API_KEY=your-api-key-here",
    "KEY_FILE=/etc/ssl/private/key1.pem PRIVATE_KEY=./keys/dev1.pem",
    "MAX_TOKEN=100000000",
    "const cookie: string = request.headers.cookie;",
    "class=sk-fading-circle task-1234567890-abcdefgh disk-0123456789abcdef0123",
    'if (pem.startsWith("-----BEGIN PRIVATE KEY-----") && pem.endsWith("-----END PRIVATE KEY-----")) return;',
    pem("CERTIFICATE", letters),
    pem("PUBLIC KEY", letters),
    "postgres://user:password@localhost http://localhost:3000/@scope/name https://a.b/c:d@e",
    "npm_config_registry npm_package_name hf_hub_download ghp_ AKIA eyJ",
    "Content-Type: application/json; charset=utf-8",
    "React.createElement(Item, { key: item.id })",
    "the token=value form",
  ];
  // Each with a redactor of its own: one that met a private key knows its lines.
  for (const text of harmless) it(`leaves ${text.slice(0, 60)}`, () => assert.equal(createRedactor().text(text), text));

  it("leaves the sources of this project alone, apart from the made-up keys of tests", heavy, () => {
    const root = process.env["OUTRIDER_ROOT"] ?? process.cwd();
    const folders = ["packages/runtime/src", "packages/cli/src", "docs", "scripts", "bench", "test/fixtures"];
    const files = folders.flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
        .filter((name) => /\.(?:ts|mjs|md|json|jsonl)$/.test(name) && !name.endsWith(".test.ts"))
        .map((name) => join(root, folder, name)),
    );
    const changed = files.filter((file) => {
      const text = readFileSync(file, "utf8");
      return redact(text) !== text;
    });
    assert.ok(files.length > 150);
    assert.deepEqual(changed, []);
  });
});

describe("secrets by their value", () => {
  const env = {
    GITHUB_TOKEN: "plain words/with+odd=chars",
    MY_SERVICE_KEY: 'quote"back\\slash\nnewline',
    DEBUG_TOKEN: "true",
    CACHE_KEY: "frontend",
    SSH_KEY: "/home/me/.ssh/id_ed25519",
    AUTH_URL: "https://login.example/path",
    SHORT_SECRET: "abc",
    HOME: "/home/someone",
    PGPASSWORD: "correct-horse",
  };
  const redactor = createRedactor({ env, secrets: ["from settings", "tiny"] });

  it("hides what variables with the name of a secret hold, by their name, and nothing trivial", () => {
    const text = Object.values(env).join(" | ");
    assert.equal(
      redactor.text(text),
      "[redacted:GITHUB_TOKEN] | [redacted:MY_SERVICE_KEY] | true | frontend | /home/me/.ssh/id_ed25519 | " +
        "https://login.example/path | abc | /home/someone | [redacted:PGPASSWORD]",
    );
    assert.equal(redactor.text("It is from settings and tiny"), "It is [redacted] and tiny");
  });

  it("hides them in JSON, in URLs and in base64 at any position", () => {
    for (const value of [env.GITHUB_TOKEN, env.MY_SERVICE_KEY]) {
      const forms = [
        JSON.stringify({ a: value }),
        JSON.stringify(JSON.stringify(value)).slice(3, -3),
        encodeURIComponent(`x ${value} y`),
        ...["", "u", "us", "user:"].map((before) => Buffer.from(`${before}${value}`).toString("base64")),
        ...["", "u", "us"].map((before) => Buffer.from(`${before}${value} and more`).toString("base64url")),
      ].slice(value === env.MY_SERVICE_KEY ? 2 : 0);
      for (const form of forms) assert.match(redactor.text(form), /\[redacted:\w+_(?:TOKEN|KEY)\]/, form);
    }
  });

  it("hides the longer of two that begin alike", () => {
    const { text } = createRedactor({ env: { A_TOKEN: "abcd-1234", B_TOKEN: "abcd-1234-5678" } });
    assert.equal(text("abcd-1234-5678 abcd-1234"), "[redacted:B_TOKEN] [redacted:A_TOKEN]");
  });
});

describe("a text that comes in pieces", () => {
  const holds = (env: Record<string, string>, text: string): number => createRedactor({ env }).unsettled(text);

  it("holds back every beginning of a known value and of a key, whatever characters it is made of", () => {
    const value = "pä😀ss-wörd-😀-ende-1";
    const lengths = Array.from({ length: value.length - 4 }, (_, index) => index + 4);
    assert.deepEqual(
      lengths.filter((length) => holds({ MY_SECRET: value }, `is ${value.slice(0, length)}`) !== length),
      [],
    );
    assert.equal(holds({}, "it is AKI"), 3);
    assert.equal(holds({}, "nothing 😀"), 0);
  });
});

describe("texts that need no look", () => {
  it("are too short for any shape, and shorter than every known value", () => {
    const shortest = secret("://:", "secre1@");
    assert.equal(redact(shortest), "://:[redacted:password]@");
    assert.equal(createRedactor({ secrets: ["abc123"] }).text("abc123"), "[redacted]");
    assert.equal(createRedactor({ secrets: ["abc123"] }).text("abc12"), "abc12");
  });

  it("are those that came by last; one that differs at its very end is looked at", () => {
    const long = "word ".repeat(200);
    const key = secret("ghp_", letters);
    assert.deepEqual(
      [redact(long), redact(long), redact(`${long}${key}`), redact(`${long}${key}`)],
      [long, long, `${long}[redacted:github-token]`, `${long}[redacted:github-token]`],
    );
  });
});

describe("whole values", () => {
  const key = secret("ghp_", letters);

  it("come back as the same object when there is nothing to hide", () => {
    const event = { type: "x", list: [1, "two", { three: null }], deep: { a: { b: "c" } } };
    assert.equal(redactValue(event), event);
  });

  it("are copied only along the way to what was hidden, names included", () => {
    const same = { keep: "this" };
    const lines = ["one", "two"];
    const event = { same, lines, list: ["a", { text: key }], [key]: 1 };
    const shown: object = redactValue(event);
    assert.deepEqual(shown, { same, lines, list: ["a", { text: "[redacted:github-token]" }], "[redacted:github-token]": 1 });
    assert.equal((shown as typeof event).same, same);
    assert.equal((shown as typeof event).lines, lines);
    assert.deepEqual(event.list, ["a", { text: key }]);
  });

  it("keep images and what belongs to a provider; thoughts that changed lose their signature", () => {
    const content = [
      { type: "image", mediaType: "image/png", data: key },
      { type: "text", text: "x", providerMetadata: { id: key } },
      { type: "reasoning", text: "so", providerMetadata: { signature: "abc" } },
      { type: "reasoning", text: `so ${key}`, providerMetadata: { signature: "abc" } },
    ];
    assert.deepEqual(redactValue(content), [...content.slice(0, 3), { type: "reasoning", text: "so [redacted:github-token]" }]);
  });

  it("keep what is nested within reason, and no more than can be written down", () => {
    const nest = (levels: number): unknown => JSON.parse(`${'{"a":'.repeat(levels)}"x"${"}".repeat(levels)}`);
    const fine = nest(400);
    assert.equal(redactValue(fine), fine);
    assert.match(JSON.stringify(redactValue(nest(100_000))), /nested too deeply/);
  });

  it("cannot be used to change a prototype", () => {
    const shown: object = redactValue(JSON.parse(`{"__proto__": {"polluted": "${key}"}}`));
    assert.deepEqual(Object.keys(shown), ["__proto__"]);
    assert.equal(Object.hasOwn(Object.prototype, "polluted"), false);
  });
});

const pieces = [
  ...[
    "sk-",
    "sk-ant-",
    "KEY=",
    "eyJ-",
    "eyJaaaaaaaaaa.",
    "-----BEGIN PRIVATE KEY-----",
    "-----END PRIVATE KEY-----",
    "://",
    "://a:",
  ],
  ...["Bearer ", "authorization: Bearer ", "ookie: ", "a=b; ", "pi-key=", "token=1", 'access_token":"', "IQoJb3JpZ2lu/", "ghp_a"],
  ...["a", "A", "1", " ", "\n", "\\n", '"', "\\", "@", "/", "-", "_", "=", "é", "[redacted:", "]", "hunter2hunter2", letters],
];
const anyText = fc.array(fc.constantFrom(...pieces), { maxLength: 30 }).map((list) => list.join(""));

describe("whatever the text", () => {
  const redactor = createRedactor({ env: { A_TOKEN: "hunter2hunter2" } });

  it("hides nothing twice", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const once = redactor.text(text);
        assert.equal(redactor.text(once), once);
      }),
      { numRuns: heavy.skip ? 100 : 3000 },
    );
  });

  it("keeps JSON whole", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        assert.doesNotThrow(() => JSON.parse(redactor.text(JSON.stringify({ text, list: [text] }))));
      }),
      { numRuns: heavy.skip ? 100 : 3000 },
    );
  });

  it("takes time in proportion to its length", heavy, () => {
    const milliseconds = (text: string): number => {
      const startedAt = process.cpuUsage();
      redactor.text(text);
      return process.cpuUsage(startedAt).user / 1000; // of the processor: the machine may be busy with something else
    };
    milliseconds("a".repeat(100_000));
    for (const piece of pieces) {
      const spent = milliseconds(piece.repeat(Math.ceil(1_000_000 / piece.length)));
      assert.ok(spent < 3_000, `${spent} ms for a megabyte of ${JSON.stringify(piece)}`); // 0.1 s here; a square would be minutes
    }
  });
});

describe("parts of a message that nobody reads", () => {
  const secret = "correct-horse-battery";
  const { value } = createRedactor({ env: { A_TOKEN: secret } });

  it("stay as they are, and what only looks like one does not", () => {
    const image = { type: "image", mediaType: "image/png", data: secret };
    const thought = { type: "reasoning", text: "so", providerMetadata: { anthropic: { signature: secret } } };
    assert.deepEqual(value([image, thought]), [image, thought]);
    for (const other of [
      { type: "image", data: secret },
      { type: "image", mediaType: "image/png", data: "", title: secret },
      { type: "text", providerMetadata: secret },
      { type: "other", providerMetadata: { a: secret } },
      { providerMetadata: { a: secret } },
    ])
      assert.equal(JSON.stringify(value(other)).includes(secret), false, JSON.stringify(other));
  });
});

describe("a value that is looked at in one go", () => {
  const known = secret("correct-horse", "-battery-staple-4711");
  const env = { MY_TOKEN: known };
  const hex = Buffer.from(known).toString("hex");
  /** Secrets, parts of them, and what makes one of what stands beside it. */
  const pieces = [
    ...[known, known.slice(0, 9), known.slice(9), known.slice(2, 24), hex, hex.slice(0, 30), hex.slice(30)],
    ...[
      secret("sk-ant", "-api03-abcdefghijklmnop"),
      "sk-",
      "sk-ant",
      letters,
      jwt,
      "eyJ",
      "Bearer ",
      "Authorization: ",
      "password=",
    ],
    ...[pem("RSA PRIVATE KEY", letters), "-----BEGIN RSA PRIVATE KEY-----", `\n${letters}\n`, "-----END RSA PRIVATE KEY-----"],
    ...[
      "cookie: a=",
      "postgres://u:",
      "hunter2-4711",
      "@host",
      '"',
      "\\n",
      " ",
      "\n",
      ":",
      "words",
      "00000000: 6162 6364  ab",
      "\0",
    ],
  ];
  const text = fc
    .array(fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 3 })), { maxLength: 4 })
    .map((all) => all.join(""));

  it("shows of each text what it shows of that text alone", () => {
    const values = fc.array(fc.tuple(text, text), { maxLength: 4 });
    fc.assert(
      fc.property(values, (pairs) => {
        const alone = createRedactor({ env });
        const expected = pairs.map(([one, other]) => ({ part: { first: alone.text(one) }, other: alone.text(other), number: 1 }));
        const value = { list: pairs.map(([one, other]) => ({ part: { first: one }, other, number: 1 })) };
        const shown = createRedactor({ env }).value(value);
        assert.deepEqual(shown, { list: expected });
        if (isDeepStrictEqual(shown, value)) assert.equal(shown, value, "the very same where nothing is secret");
      }),
      { numRuns: 1_000 },
    );
  });
});
