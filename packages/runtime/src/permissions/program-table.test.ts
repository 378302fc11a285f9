import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { show, wordsOf } from "../../../../test/support/shell-lines.ts";
import { lookingForms } from "./looking-forms.ts";
import { lookingRows } from "./looking-rows.ts";
import { lookingCommand, lookingRowOf, rowOf, takesNames } from "./program-table.ts";

describe("the rows of programs", () => {
  it("are found by name, and by other names for the same", () => {
    assert.equal(rowOf("gmake"), rowOf("make"));
    assert.equal(rowOf("yarn"), rowOf("npm"));
    assert.notEqual(rowOf("make"), undefined);
    assert.deepEqual([rowOf("toString"), rowOf("unheard-of")], [undefined, undefined]);
  });

  it("are those by which a program looks", () => {
    assert.equal(lookingRowOf("tar"), lookingForms["tar"]);
    assert.equal(lookingRowOf("ls"), lookingRows["ls"]);
    assert.deepEqual([lookingRowOf("rm"), lookingRowOf("toString")], [undefined, undefined]);
    assert.deepEqual(["ls", "sed", "jq", "rm", "toString"].map(takesNames), [true, true, true, false, false]);
  });

  it("are those of subcommands that look, with the words behind them", () => {
    const found = (line: string): string => {
      const command = lookingCommand(line.replace(/ .*/, ""), wordsOf(line));
      return command ? `${command.row.operands}: ${show(command.words)}` : "-";
    };
    const rows: [line: string, expected: string][] = [
      ["gh pr view 1 -c", "text: 1 -c"],
      ["docker ps -a", "none: -a"],
      ["gh pr", "-"],
      ["gh", "-"],
      ["gh pr merge", "-"],
      ["gh $x view", "-"],
      ["gh pr toString", "-"],
      ["rm pr view", "-"],
      ["toString name", "-"],
    ];
    for (const [line, expected] of rows) assert.equal(found(line), expected, line);
  });
});
