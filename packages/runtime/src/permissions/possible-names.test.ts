import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isAddress, isTracer, keepsItsPlace, namesIn, takesAnyWord } from "./possible-names.ts";
import { exactWord, type ShellWord, unknownWord } from "./shell-words.ts";

describe("names of files in words of a program", () => {
  it("are the parts of the word that may be one", () => {
    const rows: [text: string, ...names: string[]][] = [
      ["a", "a"],
      ["", ""],
      ["-", "-"],
      ["--file=x", "--file=x", "x"],
      ["-fx", "-fx", "x"],
      ["-abc./x", "-abc./x", "bc./x", "./x"],
      ["-ab/x", "-ab/x", "b/x", "/x"],
      ["@x", "@x", "x"],
      ["HEAD:x", "HEAD:x", "x"],
      ["f=@x;type=y", "f=@x;type=y", "@x;type=y", "x;type=y", "y", "@x", "x"],
      ["a=", "a="],
      ["--db=file:%78?y", "--db=file:%78?y", "file:%78?y", "%78?y", "x"],
      ["a,b", "a,b", "b"],
      ["a<b", "a<b", "b"],
      ["=".repeat(20), "=".repeat(20), ...Array.from({ length: 16 }, (_, at) => "=".repeat(19 - at))],
    ];
    for (const [text, ...names] of rows)
      assert.deepEqual(
        namesIn(exactWord(text)).map((word) => word.text),
        names,
        text,
      );
  });

  it("are at home where their part begins there", () => {
    const tildes = (word: ShellWord): boolean[] => namesIn(word).map(({ tilde }) => tilde);
    assert.deepEqual(tildes(exactWord("a=~/x")), [false, true]);
    assert.deepEqual(tildes({ ...exactWord("~/a=x"), tilde: true }), [true, false]);
    assert.deepEqual(tildes(exactWord("a=~x")), [false, false]);
  });

  it("are not known in a word that is not", () => {
    assert.deepEqual(namesIn(unknownWord), []);
    assert.deepEqual(
      namesIn({ ...exactWord("a=*"), kind: "glob" }).map(({ kind }) => kind),
      ["glob", "glob"],
    );
  });

  it("are not sought in addresses, nor by programs whose words name something else", () => {
    assert.deepEqual(
      ["//x", "/x", "x//"].map((text) => isAddress(exactWord(text))),
      [true, false, false],
    );
    assert.deepEqual(["strace", "perf", "xstrace"].map(isTracer), [true, true, false]);
    assert.deepEqual(["npm", "gpg", "prettier", "cat", "bat"].map(takesAnyWord), [true, true, true, false, false]);
    const keeps = (line: string): boolean => {
      const words = line.split(" ").map(exactWord);
      return keepsItsPlace({ name: words[0]?.text ?? "", words });
    };
    const lines = ["bash x", "ssh h", "strace ls", "docker ps", "cd x", "cat x", "gh api /x", "gh gist x"];
    assert.deepEqual(lines.map(keeps), [true, true, false, true, true, false, true, false]);
  });
});
