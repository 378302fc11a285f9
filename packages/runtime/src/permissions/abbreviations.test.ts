import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { gitRows } from "./git-rows.ts";
import { effects, optionsOf, type Row } from "./option-grammar.ts";
import { allRows } from "./program-table.ts";
import { riskOf } from "./risky-options.ts";
import { ruleRows } from "./rule-rows.ts";
import { exactWord } from "./shell-words.ts";
import { filesNamedBy } from "./written-files.ts";

describe("shortened options", () => {
  it("are judged like the whole ones, in every row", () => {
    const wrong: string[] = [];
    let tried = 0;
    for (const { start, row } of everyRow())
      for (const { whole, short, value } of shortened(row)) {
        tried++;
        const [one, other] = [whole, short].map((option) => verdict([...start, option + value, "b.txt"]));
        if (JSON.stringify(one) !== JSON.stringify(other)) wrong.push(`${start.join(" ")} ${short} for ${whole}`);
      }
    assert.deepEqual(wrong, []);
    assert.ok(tried > 1000, `${tried} shortened options`);
  });
});

function everyRow(): { start: string[]; row: Row }[] {
  const programs = [...allRows(), ...Object.entries(ruleRows)].map(([name, row]) => ({ start: [name], row }));
  return [...programs, ...Object.entries(gitRows).map(([name, row]) => ({ start: ["git", name], row }))];
}

/** Every beginning that only one option of the row has, for options that do more than look. */
function shortened(row: Row): { whole: string; short: string; value: string }[] {
  const longs = optionsOf(row).filter(({ name }) => name.startsWith("--"));
  return longs
    .filter(({ effect }) => effects.indexOf(effect) > effects.indexOf("looks"))
    .flatMap(({ name, arity }) =>
      Array.from({ length: name.length - 3 }, (_, cut) => name.slice(0, cut + 3))
        .filter((short) => longs.filter((one) => one.name.startsWith(short)).length === 1)
        .map((short) => ({ whole: name, short, value: arity === "flag" ? "" : "=../x/*" })),
    );
}

/** Whether a rule for the program covers it, and the files it names. */
function verdict(texts: readonly string[]): unknown {
  const words = texts.map((text) => exactWord(text));
  const program = { name: texts[0] ?? "", words };
  return [riskOf(program, 1) === undefined, filesNamedBy(program)];
}
