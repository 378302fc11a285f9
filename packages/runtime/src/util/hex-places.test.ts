import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findInHex, mayHoldHex } from "./hex-secrets.ts";
import { findAnyOf } from "./secret-texts.ts";

const secret = "correct-horse-battery";
const known = findAnyOf(new Map([[secret, "token"]]));
const digits = Buffer.from(secret).toString("hex");
const shown = (text: string, from = 0): string[] =>
  findInHex(known, text, from).map(({ start, end, name }) => `${name} ${text.slice(start, end)}`);

describe("a known value in hexadecimal digits", () => {
  it("is found exactly, wherever its bytes begin and whatever stands between them", () => {
    assert.deepEqual(shown(`x ${digits} y`), [`token ${digits}`]);
    assert.deepEqual(shown(`0${digits}0`), [`token ${digits}`]);
    assert.deepEqual(shown(`ab${digits.toUpperCase()}cd`), [`token ${digits.toUpperCase()}`]);
    for (const between of [" ", ":", ", 0x", "\\x", "%"]) {
      const written = digits.match(/../g)?.join(between) ?? "";
      assert.deepEqual(shown(`=${written};`), [`token ${written}`], between);
    }
    assert.deepEqual(shown(`${digits} and ${digits}`), [`token ${digits}`, `token ${digits}`]);
    assert.deepEqual(shown(digits.slice(2)), []);
  });

  it("is told from where the text is not hidden yet", () => {
    const text = `${digits} ${"-".repeat(20)} ${digits}`;
    assert.equal(findInHex(known, text, digits.length + 10).length, 1);
  });

  it("hides the lines of a dump that hold a part of it, and no others", () => {
    const bytes = Buffer.from(`${"a".repeat(16)}${secret}${"b".repeat(27)}`);
    const lines = Array.from({ length: 4 }, (_, line) => {
      const part = bytes.subarray(line * 16, line * 16 + 16);
      const hex = part.toString("hex").match(/.{4}/g)?.join(" ") ?? "";
      return `${(line * 16).toString(16).padStart(8, "0")}: ${hex}  ${part.toString("latin1")}`;
    });
    const text = `${lines.join("\n")}\n`;
    const hidden = findInHex(known, text, 0);
    const kept = lines.filter((line) => {
      const at = text.indexOf(line);
      return !hidden.some(({ start, end }) => start < at + line.length && end > at);
    });
    assert.deepEqual(kept, [lines[0], lines[3]]);
    assert.ok(hidden.every((place, index) => index === 0 || place.start >= (hidden[index - 1]?.end ?? 0)));
  });

  it("leaves nothing of it beside its bytes, at the start of a line and far down in a text", () => {
    const short = "horse-staple";
    const pass = findAnyOf(new Map([[short, "pass"]]));
    const bytes = Buffer.from(`${short}....`);
    const line = `00000000: ${bytes.toString("hex").match(/.{4}/g)?.join(" ")}  ${bytes.toString("latin1")}`;
    for (const before of ["", `${"words and words\n".repeat(100)}`]) {
      const text = `${before}${line}\nend`;
      const [place, ...others] = findInHex(pass, text, 0);
      assert.deepEqual(others, []);
      assert.equal(text.slice(place?.start, place?.end), line.slice(10));
      assert.equal(place?.name, "pass");
    }
  });

  it("may stand only where sixteen digits do, close together", () => {
    const half = "12345678";
    assert.equal(mayHoldHex(half + half), true);
    assert.equal(mayHoldHex(`${half}1234567`), false);
    assert.equal(mayHoldHex(`${half}${" ".repeat(7)}${half}`), true);
    assert.equal(mayHoldHex(`${half}${" ".repeat(40)}${half}`), false);
    assert.equal(mayHoldHex(`${half}ß${half}`), false);
    assert.equal(mayHoldHex("ß".repeat(40)), false);
    assert.equal(mayHoldHex("nothing of that kind in a sentence of words"), false);
  });
});
