import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { keysIn } from "./known-secrets.ts";
import { createRedactor } from "./redact.ts";

const mixed = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0";
const other = "Zz9Yy8Xx7Ww6Vv5Uu4Tt3Ss2Rr1Qq0Pp9Oo8Nn7M";
const key = `ghp_${mixed}`;
const value = "correct-horse1";
const mask = "[redacted:A_TOKEN]";
const known = () => createRedactor({ env: { A_TOKEN: value } });

describe("a text of which the beginning was handed out", () => {
  it("hides what began at most three characters before", () => {
    const { textFrom } = known();
    for (const secret of [value, key]) {
      const shown = secret === key ? "[redacted:github-token]" : mask;
      assert.deepEqual(
        [0, 1, 2, 3, 4, 5].map((from) => textFrom(`${secret} end`, from)),
        [0, 1, 2, 3, 4, 5].map((from) => (from <= 3 ? `${shown} end` : `${secret.slice(from)} end`)),
      );
      assert.deepEqual(
        [0, 1, 2, 8, 12].map((from) => textFrom(`before ${secret}`, from)),
        [0, 1, 2, 8].map((from) => `${"before ".slice(from)}${shown}`).concat(secret.slice(5)),
      );
      assert.equal(textFrom(`${secret} ${secret} ${secret}`, secret.length), ` ${shown} ${shown}`);
    }
  });

  it("shows nothing again of what was handed out when there is nothing to hide", () => {
    assert.deepEqual(
      [0, 3, 11].map((from) => known().textFrom("plain words", from)),
      ["plain words", "in words", ""],
    );
  });
});

describe("what was hidden", () => {
  it("is told by its mask, each text of it", () => {
    const token = `gho_${mixed}`;
    const found = known().hidden({ a: `${value} ${key}`, list: [token, { [value]: "plain" }] });
    assert.deepEqual(
      found,
      new Map([
        [mask, new Set([value])],
        ["[redacted:github-token]", new Set([key, token])],
      ]),
    );
  });

  it("is known by its mask from then on, and a known value from the start", () => {
    const redactor = known();
    const masks = [mask, "[redacted:github-token]", "[redacted:B_TOKEN]"];
    assert.deepEqual(
      masks.map((one) => redactor.standsFor(one)),
      [true, false, false],
    );
    redactor.text(key);
    assert.deepEqual(
      masks.map((one) => redactor.standsFor(one)),
      [true, true, false],
    );
  });

  it("by value only leaves what merely looks like a secret", () => {
    const { known: hideKnown } = createRedactor({ env: { A_TOKEN: value, B_TOKEN: mixed } });
    assert.deepEqual(hideKnown([value, key.slice(0, 4), other, `ghp_${other}`, mixed.slice(0, 20)]), [
      mask,
      "ghp_",
      other,
      `ghp_${other}`,
      "[redacted:B_TOKEN]",
    ]);
    const short = createRedactor({ secrets: ["s3cret!"] });
    assert.deepEqual([short.text("a s3cret!"), short.text("00112233445566778899")], ["a [redacted]", "00112233445566778899"]);
  });
});

describe("a word behind something hidden", () => {
  it("begins anew", () => {
    const { text } = createRedactor({ env: { A_TOKEN: other } });
    assert.equal(text(`${other.slice(0, 20)}ghp_${"a".repeat(40)}`), `${mask}[redacted:github-token]`);
  });

  it("in a value that was refused is not looked at; one that follows it is", () => {
    const { text } = createRedactor();
    assert.equal(text("KEY=./TOKEN=abc123def456"), "KEY=./TOKEN=abc123def456");
    assert.equal(text("?key=abcdefghijklm&key=abc123def456"), "?key=abcdefghijklm&key=[redacted:parameter]");
  });

  it("in the same search begins anew, too, and only there", () => {
    const text = `e2b_${"0".repeat(30)}ghp_${"a".repeat(40)} and task-1234567890-abcdefgh`;
    assert.equal(createRedactor().text(text), "[redacted:e2b-key][redacted:github-token] and task-1234567890-abcdefgh");
  });

  it("a text may be asked about again and again", () => {
    const { isPlain } = createRedactor();
    const piece = `words ${key}!`;
    assert.deepEqual([isPlain("", piece), isPlain("", piece), keysIn(piece), keysIn(piece)], [false, false, [key], [key]]);
    assert.deepEqual([isPlain("", piece), keysIn("plain words")], [false, []]);
  });
});

describe("a value", () => {
  const { value: redact } = createRedactor();
  const shown = "[redacted:github-token]";

  it("of 501 levels is kept, objects and lists alike; what lies deeper is not, but for numbers and words", () => {
    for (const [open, close] of [
      ['{"a":', "}"],
      ["[", "]"],
    ] as const) {
      const nest = (levels: number, inner: string): string => `${open.repeat(levels)}${inner}${close.repeat(levels)}`;
      const cases: readonly (readonly [text: string, expected: string])[] = [
        [nest(501, "7"), nest(501, "7")],
        [nest(501, "null"), nest(501, "null")],
        [nest(501, `"${key}"`), nest(501, `"${shown}"`)],
        [nest(502, "7"), nest(501, '"[nested too deeply to be kept]"')],
      ];
      for (const [text, expected] of cases) assert.equal(JSON.stringify(redact(JSON.parse(text))), expected);
    }
    const beside = { a: key, b: JSON.parse(`${"[".repeat(500)}7${"]".repeat(500)}`) };
    assert.equal(JSON.stringify(redact(beside)), JSON.stringify({ ...beside, a: shown }));
    const { hidden } = createRedactor();
    assert.equal(hidden(JSON.parse(`${"[".repeat(501)}"${key}"${"]".repeat(501)}`)).size, 1);
  });

  it("keeps the order of its properties, which stay like any others", () => {
    const copy: object = redact({ a: 1, b: key, c: 2 });
    assert.deepEqual(Object.keys(copy), ["a", "b", "c"]);
    assert.deepEqual(Object.getOwnPropertyDescriptor(copy, "b"), {
      value: shown,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  });

  it("keeps what belongs to a provider, but for the signature of a thought that changed", () => {
    const of = (type: string) => ({ type, text: key, providerMetadata: { id: "1" } });
    assert.deepEqual(redact(of("text")), { ...of("text"), text: shown });
    assert.deepEqual(redact(of("reasoning")), { type: "reasoning", text: shown });
    assert.deepEqual(redact([of("text"), of("reasoning")]), [
      { ...of("text"), text: shown },
      { type: "reasoning", text: shown },
    ]);
  });
});

describe("a list that reads like the lines of a difference", () => {
  const { value: redact } = createRedactor();
  const shown = "[redacted:github-token]";

  it("keeps nothing secret in what else its items hold, whether or not a line changed", () => {
    for (const [text, after] of [
      ["plain", "plain"],
      [key, shown],
    ])
      assert.deepEqual(
        redact([
          { type: "context", text, note: key },
          { type: "add", text: "more", note: [key] },
        ]),
        [
          { type: "context", text: after, note: shown },
          { type: "add", text: "more", note: [shown] },
        ],
      );
  });

  it("is looked at line by line where what was hidden went over several", () => {
    const [first, last] = [`-----BEGIN ${"PRIVATE KEY"}-----`, `-----END ${"PRIVATE KEY"}-----`];
    const hidden = "[redacted:private-key]";
    assert.deepEqual(redact(["a", first, mixed, other, last, "z"]), ["a", first, hidden, hidden, last, "z"]);
  });
});

describe("a private key that was met", () => {
  it("is remembered without what stood around it", () => {
    const redactor = createRedactor();
    const pem = `-----BEGIN ${"PRIVATE KEY"}-----\n${mixed}\n-----END ${"PRIVATE KEY"}-----`;
    redactor.meet(`${other}\n${pem}`);
    assert.deepEqual([redactor.text(mixed), redactor.text(other)], ["[redacted:private-key]", other]);
  });

  it("is hidden in a value whose long text had nothing to hide before", () => {
    const redactor = createRedactor();
    const words = "words ".repeat(60);
    const value = { text: `${words}${mixed}` };
    assert.equal(redactor.value(value), value);
    redactor.meet(`-----BEGIN ${"PRIVATE KEY"}-----\n${mixed}\n-----END ${"PRIVATE KEY"}-----`);
    assert.deepEqual(redactor.value(value), { text: `${words}[redacted:private-key]` });
  });
});
