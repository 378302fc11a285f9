import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import { createRedactor } from "./redact.ts";

const mixed = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0";
const line = `${mixed}${mixed.slice(0, 24)}`;
const other = "Zz9Yy8Xx7Ww6Vv5Uu4Tt3Ss2Rr1Qq0Pp9Oo8Nn7M";
const words = "a".repeat(44);
const begin = `-----BEGIN ${"PRIVATE KEY"}-----`;
const end = `-----END ${"PRIVATE KEY"}-----`;
const mask = "[redacted:private-key]";

/** Each with a redactor of its own: one that met a private key knows its lines. */
function assertShown(cases: readonly (readonly [text: string, shown: string])[]): void {
  for (const [text, expected] of cases) {
    const shown = createRedactor().text(text);
    assert.ok(shown === expected, `${text.slice(0, 100)} (${text.length}): ${shown.slice(0, 200)} (${shown.length})`);
  }
}

describe("a key of letters that does not look random", () => {
  it("begins a word; in keys that hold slashes a slash does not end the word before", () => {
    assertShown([
      [`ghp_${words}`, "[redacted:github-token]"],
      [`/ghp_${words}`, "/[redacted:github-token]"],
      [`+ghp_${words}`, "+[redacted:github-token]"],
      [`xghp_${words}`, `xghp_${words}`],
      [`-ghp_${words}`, `-ghp_${words}`],
      [`fm2_${words}`, "[redacted:fly-token]"],
      [`/fm2_${words}`, `/fm2_${words}`],
      [`.fm2_${words}`, ".[redacted:fly-token]"],
      [`\\nghp_${words}`, "\\n[redacted:github-token]"],
      [`%20ghp_${words}`, "%20[redacted:github-token]"],
    ]);
  });

  it("that is still being written is held back as far as its characters go", () => {
    const { unsettled } = createRedactor();
    const cases: Record<string, number> = { "a ghp_qq": 6, "a ghp_q.q": 7, "a ghp_q/q": 0, "a fm2_q/q": 7, "a fm2_q.q": 0 };
    assert.deepEqual(Object.fromEntries(Object.keys(cases).map((text) => [text, unsettled(text)])), cases);
  });

  it("may hold the beginning of another one, which is found in it", () => {
    assertShown([
      [`gsk_live_${mixed.slice(0, 24)}`, "g[redacted:stripe-key]"],
      ['client_secret="a1b2c3d4e5f6g7h8"', 'client_secret="[redacted:token]"'],
      ["client_secret=a1b2c3d4e5f6", "client_secret=[redacted:parameter]"],
    ]);
  });
});

describe("a private key", () => {
  it("begins at its own first line and ends at its own last line", () => {
    assertShown([
      [`${begin}\nabc\n${begin}\n${line}\n${end}`, `${begin}\nabc\n${mask}`],
      [`${begin}${end}`, mask],
      [`${begin}; words\n${end}`, `${begin}; words\n${end}`],
      [`${begin}\n${line}\n${end}\n${"(word) ".repeat(3000)}`, `${mask}\n${"(word) ".repeat(3000)}`],
      [`${begin}\n${line}\n${"(word) ".repeat(3000)}\n${end}`, `${mask}\n${"(word) ".repeat(3000)}\n${end}`],
      [`${begin}\n${mixed.slice(0, 40)}`, mask],
      [`${begin}\n${mixed.slice(0, 39)}`, `${begin}\n${mixed.slice(0, 39)}`],
    ]);
  });

  it("whose first line is not shown begins with its first whole line", () => {
    const far = "word ".repeat(200);
    assertShown([
      [`${line}\n${end}`, mask],
      [`\n${line}\n${end}`, `\n${mask}`],
      [`${line}\n${end} ${far}`, `${mask} ${far}`],
      [`${far}\n${line}\n${end}`, `${far}\n${mask}`],
      [`${other.slice(0, 39)}\n${line}\n${end}`, `${other.slice(0, 39)}\n${mask}`],
      [`${other.slice(0, 40)}\n${line}\n${end}`, mask],
      [`${line}\n${mixed.slice(0, 10)}==\n${end}`, mask],
      [`${line}  \r\n${line}\r\n${end}`, mask],
      [`a.pem:12:${line}\na.pem:13:${end}`, `a.pem:12:${mask}`],
      [`   12\t${line}\n   13\t${line}\n   14\t${end}`, `   12\t${mask}`],
      [`${words}\n${end}`, `${words}\n${end}`],
      [`${line} ${words}\n${end}`, `${line} ${words}\n${end}`],
      [`${end}`, end],
    ]);
  });

  it("is looked for in sixteen thousand characters before its last line", () => {
    const lines = Array.from({ length: 260 }, (_, index) =>
      createHash("sha512").update(`${index}`).digest("base64").slice(0, 64),
    );
    // 251 lines of 65 characters are 16,315; with the last one they are as many as that, or one less.
    for (const [length, kept] of [
      [68, 9],
      [67, 8],
    ] as const)
      assertShown([[[...lines, `${line}abcd`.slice(0, length), end].join("\n"), `${lines.slice(0, kept).join("\n")}\n${mask}`]]);
  });
});

describe("a token of a bot", () => {
  it("follows a number of six digits or more, and has 30 to 40 characters behind its first two", () => {
    const token = (length: number): string => `:AA${`${mixed}${mixed}`.slice(0, length)}`;
    const shown = "[redacted:telegram-token]";
    assertShown([
      [`123456${token(33)}`, `123456:${shown}`],
      [`12345${token(33)}`, `12345${token(33)}`],
      [`${"1".repeat(30)}${token(33)}`, `${"1".repeat(30)}:${shown}`],
      [`word 123456${token(30)} ${"word ".repeat(9)}`, `word 123456:${shown} ${"word ".repeat(9)}`],
      [`123456${token(40)}`, `123456:${shown}`],
      [`123456${token(29)}`, `123456${token(29)}`],
      [`123456${token(41)}`, `123456${token(41)}`],
    ]);
  });
});
