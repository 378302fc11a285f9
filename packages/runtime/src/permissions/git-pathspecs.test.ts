import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { pathspecFiles, pathspecNames } from "./git-pathspecs.ts";
import { exactWord, type ShellWord } from "./shell-words.ts";

const shown = (words: readonly ShellWord[]): string => words.map(({ kind, text }) => `${kind} ${text}`).join(", ");
const folders = (...names: string[]) => ({ folders: names.map(exactWord), workTree: undefined });

describe("a word that git takes for a pathspec", () => {
  const rows: [word: string, names: string][] = [
    ["a", "exact sub/a"],
    ["/a", "exact /a"],
    ["k*", "glob sub/k*"],
    ["a?", "glob sub/a?"],
    [":(literal)a", "exact sub/a"],
    [":(icase,glob)A", "exact sub/A"],
    [":a", "exact sub/a"],
    ["::a", "exact sub/a"],
    [":!a", ""],
    [":^a", ""],
    [":!/a", ""],
    [":/!a", ""],
    [":(exclude)a", ""],
    [":(top,exclude)a", ""],
  ];
  for (const [word, names] of rows)
    it(`${word} is ${names || "no file"}`, () => {
      assert.equal(shown(pathspecNames(folders("sub"), exactWord(word))), names);
      assert.equal(shown(pathspecFiles(folders("sub"), exactWord(word))), names);
    });

  it("that starts at the top may be in every folder above", () => {
    for (const word of [":/a", ":(top)a", ":(icase,top)a"]) {
      const names = pathspecNames(folders("sub"), exactWord(word));
      assert.equal(shown(names.slice(0, 3)), "exact sub/a, exact sub/../a, exact sub/../../a", word);
      assert.equal(names.length, 12);
      assert.equal(shown(pathspecFiles(folders("sub"), exactWord(word))), "open ", word);
    }
  });

  it("is seen from the work tree, too", () => {
    const call = { folders: [exactWord("x")], workTree: exactWord("tree") };
    assert.equal(shown(pathspecNames(call, exactWord("a"))), "exact x/a, exact x/tree/a");
  });

  it("that is not written out stays so", () => {
    assert.equal(shown(pathspecNames(folders(), { ...exactWord("a*"), kind: "open" })), "open a*");
  });
});
