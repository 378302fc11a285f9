import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { createRedactor } from "./redact.ts";

const secret = "correct-horse-battery-staple-42";
const redactor = createRedactor({ env: { SERVICE_TOKEN: secret } });

/** How programs write bytes. */
const writers: Record<string, (bytes: Buffer) => string> = {
  "one piece": (bytes) => bytes.toString("hex"),
  "large letters": (bytes) => bytes.toString("hex").toUpperCase(),
  "xxd -p": (bytes) => bytes.toString("hex").replace(/.{60}/g, "$&\n"),
  xxd: (bytes) => dump(bytes, (line) => `: ${line.toString("hex").replace(/.{4}/g, "$& ").padEnd(40)} ${asText(line)}`),
  "hexdump -C": (bytes) =>
    dump(
      bytes,
      (line) =>
        `  ${pairs(line)
          .join(" ")
          .replace(/^(.{23}) /, "$1  ")
          .padEnd(49)} |${asText(line)}|`,
    ),
  "od -A x -t x1": (bytes) => dump(bytes, (line) => ` ${pairs(line).join(" ")}`),
  "od -A n -t x1": (bytes) => dump(bytes, (line) => ` ${pairs(line).join(" ")}`).replace(/^[0-9a-f]{8}/gm, ""),
  "with colons": (bytes) => pairs(bytes).join(":"),
  "with dashes": (bytes) => pairs(bytes).join("-").toUpperCase(),
  "as a list of C": (bytes) =>
    pairs(bytes)
      .map((pair) => `0x${pair}`)
      .join(", ")
      .replace(/(?:0x.., ){12}/g, "$&\n  "),
  "as escapes": (bytes) =>
    pairs(bytes)
      .map((pair) => `\\x${pair}`)
      .join(""),
  "as a URL": (bytes) =>
    pairs(bytes)
      .map((pair) => `%${pair.toUpperCase()}`)
      .join(""),
};

function pairs(bytes: Buffer): string[] {
  return bytes.toString("hex").match(/../g) ?? [];
}

function asText(bytes: Buffer): string {
  return bytes.toString("latin1").replace(/[^ -~]/g, ".");
}

function dump(bytes: Buffer, toLine: (line: Buffer) => string): string {
  const starts = Array.from({ length: Math.ceil(bytes.length / 16) }, (_, index) => index * 16);
  return starts.map((at) => at.toString(16).padStart(8, "0") + toLine(bytes.subarray(at, at + 16))).join("\n");
}

describe("known values in hexadecimal digits", () => {
  for (const [name, write] of Object.entries(writers))
    it(`are hidden: ${name}`, () => {
      fc.assert(
        fc.property(
          fc.uint8Array({ maxLength: 70 }),
          fc.uint8Array({ maxLength: 70 }),
          fc.constantFrom("", "it is:\n", "numbered"),
          (before, after, words) => {
            const written = write(Buffer.concat([before, Buffer.from(secret), after]));
            const number = (line: string, index: number): string => `${String(index + 1).padStart(6)}\t${line}`;
            const isNumbered = words === "numbered" && /^0{8}/.test(written);
            const shown = redactor.text(isNumbered ? written.split("\n").map(number).join("\n") : `${words}\n${written}\n`);
            assert.match(shown, /\[redacted:SERVICE_TOKEN\]/);
            const left = shown
              .replace(/^[ \t]*[0-9a-f]{8}:? /gm, "")
              .replace(/0x|[^0-9a-f]/gi, "")
              .toLowerCase();
            for (const piece of [secret.slice(0, 9), secret.slice(9, 18), secret.slice(18, 27)])
              assert.equal(left.includes(Buffer.from(piece).toString("hex")), false, shown);
            for (const piece of ["correct", "battery", "staple"]) assert.equal(shown.includes(piece), false, shown);
          },
        ),
      );
    });

  it("are hidden wherever their first digit stands, and a line of a dump once", () => {
    const hex = Buffer.from(secret).toString("hex");
    assert.equal(redactor.text(`a${hex}b`), "a[redacted:SERVICE_TOKEN]b");
    assert.equal(redactor.text(`00000000: ${hex}`), "00000000: [redacted:SERVICE_TOKEN]");
    const short = createRedactor({ secrets: ["8letters"] });
    for (let before = 0; before < 40; before++)
      assert.equal(short.text(`${"z".repeat(before)}386c657474657273zz`), `${"z".repeat(before)}[redacted]zz`);
  });

  it("are hidden in a dump whose text holds the signs of another's", () => {
    for (const before of ["\0 >", "\0 |", "ab >cd", "  |  >"]) {
      const shown = redactor.text(
        Object.values(writers)
          .map((write) => write(Buffer.from(before + secret)))
          .join("\n\n"),
      );
      for (const piece of ["correct", "battery", "staple"]) assert.equal(shown.includes(piece), false, shown);
    }
  });

  it("are hidden backwards", () => {
    assert.equal(redactor.text(`rev: ${[...secret].reverse().join("")}.`), "rev: [redacted:SERVICE_TOKEN].");
  });

  it("are hidden in a piece of a text that comes in pieces", () => {
    const piece = ` ${Buffer.from(secret).toString("hex")} `;
    assert.equal(redactor.isPlain("", piece), false);
    assert.equal(redactor.textFrom(`abc${piece}`, 3), " [redacted:SERVICE_TOKEN] ");
  });

  it("leave other bytes as they are", () => {
    for (const text of [
      "commit 4fec7b9d3f0c2a1b5e6d7c8b9a0f1e2d3c4b5a69 and 017f53d",
      "id 6f1c1c9e-9a53-4b0e-8a53-1d2f0a7e9b11",
      "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
      "#ffcc00 #abcdef #deadbe; a bad cafe, a faced decade, 0xdeadbeef, 0x00, 00:1a:2b:3c:4d:5e",
      `${" ".repeat(40)}deed${"\n".repeat(20)}${"ab ".repeat(50)}`,
      dump(Buffer.from("nothing that is secret stands in these lines"), (line) => `: ${line.toString("hex")}  ${asText(line)}`),
    ])
      assert.equal(redactor.text(text), text);
  });

  it("are told with what they hide", () => {
    const hex = Buffer.from(secret).toString("hex");
    assert.deepEqual(redactor.hidden({ a: `x ${hex}` }), new Map([["[redacted:SERVICE_TOKEN]", new Set([hex])]]));
  });

  it("take time in proportion to the text, whatever it is made of", () => {
    for (const unit of [
      "6",
      "63 ",
      "63:",
      "0x63, ",
      "\n63",
      " ",
      "00000000: 63\n",
      "00000000: 6364 6566 6768 696a 6b6c 6d6e 6f70 7172  zzzzzzzzzzzzzzzz\n",
      "63-6f \n\n\n\n\n\n\n\n\n",
      Buffer.from(secret.slice(0, -1)).toString("hex"),
    ]) {
      const text = unit.repeat(Math.ceil(400_000 / unit.length));
      const startedAt = process.cpuUsage().user;
      redactor.text(text);
      assert.ok(process.cpuUsage().user - startedAt < 2_000_000, unit);
    }
  });
});

describe("a dump behind something else", () => {
  const bytes = Buffer.concat([Buffer.from("token = "), Buffer.from(secret), Buffer.from("\nmore of it\n")]);
  const ways = Object.entries(writers).filter(([name]) => /^xxd|hexdump|od|list of C/.test(name));
  const prefixes: Record<string, (index: number) => string> = {
    "a file and a number": (index) => `src/key-2.hex${index === 1 ? ":" : "-"}${index + 9}${index === 1 ? ":" : "-"}`,
    "a file": () => "dump.txt:",
    "a number and a colon": (index) => `${index + 1234}:`,
    "a number and a dash": (index) => `${index + 99}-`,
    "numbers of Read": (index) => `${String(index + 1).padStart(6)}\t`,
    "an arrow": (index) => `${String(index + 1).padStart(6)}\u2192`,
    "an added line": () => "+",
    "a removed line": () => "- ",
    "a changed line": () => "> ",
    "a line of context": () => " ",
    "a number and a sign": (index) => `${index + 10}: + `,
  };
  for (const [way, write] of ways)
    for (const [name, prefix] of Object.entries(prefixes))
      it(`is recognised: ${way}, ${name}`, () => {
        const lines = write(bytes)
          .split("\n")
          .map((line, index) => prefix(index) + line);
        const first = lines.findIndex((line) => line.includes("63") || line.includes("6f72"));
        for (const text of [lines.join("\n"), `some code\n${lines.join("\n")}\ndone`]) {
          const shown = redactor.text(text);
          assert.match(shown, /\[redacted:SERVICE_TOKEN\]/, text);
          for (const word of ["rect-hor", "battery", "staple"]) {
            assert.equal(shown.includes(word), false, shown);
            assert.equal(shown.replace(/0x|[ ,]/g, "").includes(Buffer.from(word.slice(0, 5)).toString("hex")), false, shown);
          }
        }
        assert.ok(first >= 0);
      });

  it("is hidden in the lines of a list and of a difference, one by one", () => {
    const lines = (writers["xxd"] ?? String)(bytes).split("\n");
    const patch = redactor.value({ structuredPatch: [{ lines: lines.map((line) => `+${line}`) }] });
    const diff = redactor.value(lines.map((text, index) => ({ type: "add", text, line: index + 1 })));
    for (const shown of [JSON.stringify(patch), JSON.stringify(diff)]) {
      assert.match(shown, /\[redacted:SERVICE_TOKEN\]/);
      for (const word of ["correct", "horse", "battery", "staple", "7374", "7461"])
        assert.equal(shown.includes(word), false, shown);
    }
    assert.deepEqual(
      diff.map(({ type, line }) => [type, line]),
      lines.map((_, index) => ["add", index + 1]),
    );
    const two = (writers["xxd"] ?? String)(Buffer.from(secret)).split("\n");
    assert.equal(two.length, 2);
    for (const line of redactor.value(two)) assert.match(line, /\[redacted:SERVICE_TOKEN\]/);
    const plain = ["one", "two\nthree"];
    assert.equal(redactor.value(plain), plain);
    assert.deepEqual(redactor.value(["a\nb", `c ${secret}`, "d"]), ["a\nb", "c [redacted:SERVICE_TOKEN]", "d"]);
  });
});
