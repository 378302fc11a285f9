import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createRedactor } from "./redact.ts";
import { isPiece, looksRandom, SecretPieces } from "./secret-pieces.ts";

const line = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0a1B2c3D4e5F6g7H8i9J0k1L2";
const other = "Zz9Yy8Xx7Ww6Vv5Uu4Tt3Ss2Rr1Qq0Pp9Oo8Nn7Mm6Ll5Kk4Jj3Ii2Hh1Gg0Ff9E";
const pem = (...body: string[]): string =>
  [`-----BEGIN ${"PRIVATE KEY"}-----`, ...body, `-----END ${"PRIVATE KEY"}-----`].join("\n");

describe("what looks random", () => {
  it("has at least ten letters and digits, and one change in five", () => {
    const cases: Record<string, boolean> = {
      a1b2c3d4e: false,
      a1b2c3d4e5: true,
      "a1-b2_c3/d4+e5": true,
      aaaaaaaa1b: true,
      aaaaaaaaa1: false,
      aaaaaaaaaaaaa1b1: false,
      aaaaaaaaaaaa1b1c: true,
      AaBbCcDdEe: true,
      Aaaaaaaaaa: false,
      "+++++++++++": false,
      az09AZaz09: true,
      "``{{@@[[//::": false,
      AAAA1AAAA1: true,
      "A+A+A+A+A+A+A+A+A+A+": false,
      a1aaaaaaaa: true,
      aaaaaaaaAa: false,
    };
    assert.deepEqual(Object.fromEntries(Object.keys(cases).map((text) => [text, looksRandom(text)])), cases);
    assert.deepEqual([isPiece(line.slice(0, 15)), isPiece(line.slice(0, 16)), isPiece("a".repeat(16))], [false, true, false]);
  });
});

describe("pieces of known texts", () => {
  const pieces = new SecretPieces();
  pieces.add(`${line} ${other.slice(0, 15)}`, "one");
  pieces.add(other, "two");

  it("are found from their first to their last character, in order, with the name of their text", () => {
    const text = `(${line.slice(3, 30)}) ${other.slice(20)}. ${line}`;
    assert.deepEqual(pieces.find(text), [
      { start: 1, end: 28, name: "one" },
      { start: 30, end: 74, name: "two" },
      { start: 76, end: 140, name: "one" },
    ]);
  });

  it("are found wherever they stand, when they have sixteen characters", () => {
    for (let before = 0; before < 9; before++)
      for (let from = 0; from < 9; from++) {
        const text = `${".".repeat(before)}${line.slice(from, from + 16)}`;
        assert.deepEqual(pieces.find(text), [{ start: before, end: before + 16, name: "one" }], text);
        assert.deepEqual(pieces.find(`${".".repeat(before)}${line.slice(from, from + 15)}..`), []);
      }
  });

  it("go on over new lines with numbers and signs before them", () => {
    for (const between of [
      "\n",
      "\r\n",
      "\\n",
      "\\r\\n",
      "\n     7\t",
      "\n12:",
      "\n12-",
      "\n+",
      "\n> ",
      "\n  3\u2192",
      "\n | ",
    ]) {
      const text = `x ${line.slice(0, 12)}${between}${line.slice(12, 24)}${between}${line.slice(24, 40)} y`;
      assert.deepEqual(pieces.find(text), [{ start: 2, end: text.length - 2, name: "one" }], JSON.stringify(between));
    }
    assert.deepEqual(pieces.find(`${line.slice(0, 12)} and ${line.slice(12, 24)}`), []);
  });

  it("are none where nothing was added, or what was added is too short", () => {
    const empty = new SecretPieces();
    empty.add(line.slice(0, 15), "short");
    assert.deepEqual([empty.find(line), empty.size], [[], 1]);
  });
});

describe("parts of known values", () => {
  it("are lines of twelve characters that are no settings, no brackets and no frame of a key", () => {
    const secret = [
      "eleven-char",
      "twelve-chars",
      "name: some value",
      "{ some braces }",
      "-----a frame here-----",
      "  indented-words  ",
    ];
    const { text } = createRedactor({ env: { SOME_SECRET: secret.join("\n") } });
    assert.deepEqual(
      secret.map((one) => text(`- ${one.trim()} -`)),
      secret.map((one, index) => (index === 1 || index === 5 ? "- [redacted:SOME_SECRET] -" : `- ${one.trim()} -`)),
    );
  });

  it("one line is no part, and a value keeps the name of the first variable that holds it", () => {
    const { text } = createRedactor({
      env: { ONE_SECRET: "two words here", TWO_SECRET: "two words here", NO_SECRET: undefined },
    });
    assert.equal(text("two words here"), "[redacted:ONE_SECRET]");
    assert.equal(text(Buffer.from("two words here").toString("hex")), "[redacted:ONE_SECRET]");
    assert.equal(text("two words"), "two words");
  });

  it("a value that holds a quote is found in JSON, one of seven bytes only as it is", () => {
    const { text } = createRedactor({ env: {}, secrets: ['pass"word"x', "s3cret!"] });
    assert.equal(text(JSON.stringify('pass"word"x')), '"[redacted]"');
    assert.equal(text("s3cret! !terc3s"), "[redacted] !terc3s");
    assert.equal(text(Buffer.from("s3cret!").toString("base64")), Buffer.from("s3cret!").toString("base64"));
  });
});

describe("a private key that was met", () => {
  it("in a text, is known by its lines from then on, also in a text that was clean before", () => {
    const redactor = createRedactor();
    const long = `${"words ".repeat(60)}${line}`;
    assert.equal(redactor.text(long), long);
    assert.equal(redactor.text(pem(line, other)), "[redacted:private-key]");
    assert.equal(redactor.text(long), `${"words ".repeat(60)}[redacted:private-key]`);
    assert.deepEqual([redactor.isPlain("", line), redactor.isPlain("", "plain words")], [false, true]);
  });

  it("ends at its last line where the first is not shown, and only lines of a key go before it", () => {
    const end = `-----END ${"PRIVATE KEY"}-----`;
    const { text } = createRedactor();
    assert.equal(text(`some words\n${line}\n${other.slice(0, 20)}==\n${end}\nmore`), "some words\n[redacted:private-key]\nmore");
    assert.equal(text(`short1line2\n${other}\n${end}`), "short1line2\n[redacted:private-key]");
    assert.equal(text(`plainwordsonly\n${end}`), `plainwordsonly\n${end}`);
    assert.equal(createRedactor().text(`${other}\n-----END CERTIFICATE-----`), `${other}\n-----END CERTIFICATE-----`);
  });

  it("is met in silence: its mask stands for something only when it was put somewhere", () => {
    const redactor = createRedactor();
    redactor.meet(pem(line));
    redactor.meet("no key at all");
    assert.equal(redactor.standsFor("[redacted:private-key]"), false);
    redactor.text(line);
    assert.equal(redactor.standsFor("[redacted:private-key]"), true);
  });

  it("masks of an earlier run are asked for once", () => {
    const redactor = createRedactor();
    let asked = 0;
    redactor.recall(() => {
      asked++;
      return ["[redacted:github-token]"];
    });
    assert.deepEqual(
      ["[redacted:github-token]", "[redacted:other]", "[redacted:github-token]"].map((mask) => redactor.standsFor(mask)),
      [true, false, true],
    );
    assert.equal(asked, 1);
  });
});

describe("a token of a bot", () => {
  const token = `AA${"a1B2c3D4e5".repeat(3)}xyz`;
  it("is hidden behind the number of the bot, which stays", () => {
    const { text } = createRedactor();
    assert.equal(text(`bot123456789:${token}/getMe`), "bot123456789:[redacted:telegram-token]/getMe");
    for (const plain of [`12345:${token}`, `name:${token}`, "123456789:AAshort", `123456789:${token}${token}`])
      assert.equal(text(plain), plain);
  });
});
