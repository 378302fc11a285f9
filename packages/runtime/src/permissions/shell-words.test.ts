import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseCommand } from "./parse-command.ts";
import { exactWord, mayBeOption, type ShellWord, unknownWord } from "./shell-words.ts";

describe("a word", () => {
  it("may be an option unless it is known to begin otherwise", () => {
    const rows: [boolean, ...Partial<ShellWord>[]][] = [
      [
        true,
        { text: "-n" },
        { text: "--" },
        { kind: "glob", text: "*" },
        { kind: "glob", text: "-*" },
        { kind: "glob", text: "[-a]" },
      ],
      [
        true,
        { kind: "open" },
        { kind: "open", text: "a", splits: true },
        { kind: "open", text: "-a" },
        { kind: "glob", text: "+(-)" },
      ],
      [true, { kind: "glob", text: "a*", splits: true }],
      [false, { text: "-" }, { text: "a-" }, { text: "" }, { kind: "glob", text: "a*" }, { kind: "open", text: "a-" }],
      [
        false,
        { kind: "glob", text: "a*-" },
        { kind: "open", text: "*" },
        { kind: "open", text: "-", tilde: true },
        { text: "-n", tilde: true },
      ],
      [false, { kind: "below", text: "-a" }, { kind: "below", text: "a", splits: true }, { kind: "below", text: "" }],
    ];
    for (const [expected, ...words] of rows)
      for (const word of words) assert.equal(mayBeOption({ ...exactWord(""), ...word }), expected, JSON.stringify(word));
    assert.equal(mayBeOption(unknownWord), true);
  });
});

describe("a pattern that has found a file", () => {
  it("is not matched again in quotes, whatever number stands beside it", () => {
    const { programs } = parseCommand('for f in *.txt; do cat "$f"$#; done');
    assert.deepEqual(
      programs.map(({ words }) => words.map(({ kind, text, pattern }) => [kind, text, pattern])),
      [
        [
          ["exact", "cat", undefined],
          ["open", "*.txt", undefined],
        ],
      ],
    );
  });
});
