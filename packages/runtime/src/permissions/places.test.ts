import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseCommand } from "./parse-command.ts";
import { eitherPlace, type Places, placesAfterCd } from "./places.ts";
import { exactWord } from "./shell-words.ts";

const here: Places = [[]];
const wordsOf = (command: string) => parseCommand(command).programs[0]?.words ?? assert.fail(command);
const shown = (places: Places): string[] | undefined => places?.map((chain) => chain.map(({ text }) => text).join(" "));

describe("the places of a command", () => {
  it("move with cd to what is written out, and are unknown otherwise", () => {
    const cases: [string, string[] | undefined][] = [
      ["cd src", ["src"]],
      ["cd -P -- src", ["src"]],
      ["cd", ["~"]],
      ["cd -", undefined],
      ["cd ''", undefined],
      ["cd a b", undefined],
      ["cd $x", undefined],
      ["cd s*", undefined],
    ];
    for (const [command, expected] of cases) assert.deepEqual(shown(placesAfterCd(wordsOf(command), here)), expected, command);
    assert.deepEqual(shown(placesAfterCd(wordsOf("cd b"), [[exactWord("a")], []])), ["a b", "b"]);
    assert.equal(placesAfterCd(wordsOf("cd b"), undefined), undefined);
  });

  it("are all those that either way leads to, unless there are too many", () => {
    const chain = [exactWord("a")];
    assert.equal(eitherPlace(here, here), here);
    assert.equal(eitherPlace(here, undefined), undefined);
    assert.equal(eitherPlace(undefined, here), undefined);
    assert.equal(eitherPlace(undefined, undefined), undefined);
    assert.deepEqual(eitherPlace([chain], [[], chain]), [chain, []]);
    const many = (count: number): Places => Array.from({ length: count }, () => []);
    assert.equal(eitherPlace(many(4), many(4))?.length, 8);
    assert.equal(eitherPlace(many(4), many(5)), undefined);
  });
});
