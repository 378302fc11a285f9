import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { show } from "../../../../test/support/shell-lines.ts";
import { parseCommand } from "./parse-command.ts";

describe("the words of a command", () => {
  const rows: [line: string, expected: string][] = [
    ["cat $(git ls-files)", "./**+{links names}"],
    ["cat a $(git ls-files) b", "a ./**+{links names} b"],
    ["cat a$(git ls-files)", "a…+"],
    ["cat $(date)", "…+"],
    ["cat `git ls-files`", "./**+{links names}"],
    ["node $(git ls-files)", "…+"],
    ["export A=1 B=$x", "A=1 B=…+"],
    ["declare a[1]=x", "a[1]=x"],
    ["declare a=(1 2)", "a=…"],
    ["declare a=~/x", "a=~/x"],
    ["cat {a,b} c", "a b c"],
  ];
  for (const [line, expected] of rows)
    it(`are told: ${line}`, () => assert.equal(show(parseCommand(line).programs.at(-1)?.words.slice(1) ?? []), expected));
});
