import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { show, wordsOf } from "../../../../test/support/shell-lines.ts";
import { isPackageRunner, startsOfRun } from "./package-runners.ts";
import { exactWord } from "./shell-words.ts";

describe("what a package runner starts", () => {
  const rows: [line: string, ...started: string[]][] = [
    ["npx a b", "a b"],
    ["npx -y a b", "a b", "b"],
    ["npx --yes=x a b", "a b", "b"],
    ["npx -- a b", "a b", "a b"],
    ["npx a -- b", "a -- b", "b"],
    ["npx a@1.2 b@2", "a b@2"],
    ["npx @x/a@1 b", "@x/a b"],
    ["npx @x/a b", "@x/a b"],
    ["npx -c 'a b'", "a b", "script a b"],
    ["npx --call 'a b' c", "a b c", "c", "script a b"],
    ["npx"],
    ["npx -- "],
    ["npm exec a b", "a b"],
    ["npm x a", "a"],
    ["npm --silent exec a", "a"],
    ["npm run a"],
    ["npm"],
    ["npm --version"],
    ["mise exec --"],
    ["mise x node@20 -- a b", "node -- a b", "a b"],
    ["direnv exec . a b", ". a b", "a b"],
    ["direnv allow a"],
    ["yarn npm publish", "npm publish"],
    [
      "npx -a b -c d -e f -g h -i j -k l -m n",
      ...["b -c d -e f -g h -i j -k l -m n", "d -e f -g h -i j -k l -m n"],
      ...["f -g h -i j -k l -m n", "h -i j -k l -m n", "j -k l -m n", "l -m n", "script d"],
    ],
    ["ls a"],
  ];
  for (const [line, ...started] of rows)
    it(`is told: ${line}`, () => {
      const [name = ""] = line.split(" ");
      const { programs, scripts } = startsOfRun(name, [exactWord(name), ...wordsOf(line)]);
      assert.deepEqual([...programs.map((words) => show(words)), ...scripts.map((text) => `script ${text}`)], started);
    });

  it("is not known where its name is none", () => {
    const open = { kind: "open", text: "a@1", splits: true, tilde: false } as const;
    assert.deepEqual(startsOfRun("npx", [exactWord("npx"), open, exactWord("b@1")]).programs, [[open, exactWord("b@1")]]);
  });

  it("is told for those alone", () => {
    assert.deepEqual(["npx", "bundle", "ls", "toString"].map(isPackageRunner), [true, true, false, false]);
  });
});
