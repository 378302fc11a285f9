import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { diffLines } from "../../../runtime/src/tools/diff.ts";
import { toldEdits } from "./edits.ts";
import { finalDiff } from "./final-diff.ts";
import type { DiffRow, FileEdit } from "./run-model.ts";

/** The edits that lead from each text to the next, as a session tells them. */
function editsOf(texts: readonly string[]): { step: number; edit: FileEdit }[] {
  return texts.slice(1).flatMap((text, at) => {
    const [edit] = toldEdits({ file: "a.txt", diff: diffLines(texts[at] ?? "", text) });
    return edit ? [{ step: at + 1, edit }] : [];
  });
}

/** The old text with the changes of the rows: what the diff says that the new one is. */
function applied(before: string, rows: readonly DiffRow[]): string {
  const lines = before.split("\n").slice(0, -1);
  let shift = 0;
  for (const { sign, text, line = 0 } of rows) {
    if (sign === "-") {
      const at = line - 1 + shift;
      assert.equal(lines[at], text);
      lines.splice(at, 1);
      shift--;
    }
    if (sign === "+") {
      lines.splice(line - 1, 0, text);
      shift++;
    }
    if (sign === " ") assert.equal(lines[line - 1], text);
  }
  return lines.map((line) => `${line}\n`).join("");
}

const letters = "abcdefghijklmnopqrstuvwxyz".split("");
const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");

describe("what several edits of a file came to", () => {
  it("is one diff, without what came and went again", () => {
    const diff = finalDiff(
      editsOf([text(["a", "b", "c"]), text(["a", "x", "c"]), text(["a", "x", "y", "c"]), text(["a", "b", "y", "c"])]),
    );
    assert.deepEqual(diff, {
      steps: [2],
      edit: {
        path: "a.txt",
        rows: [
          { sign: " ", text: "a", line: 1 },
          { sign: " ", text: "b", line: 2 },
          { sign: "+", text: "y", line: 3 },
          { sign: " ", text: "c", line: 4 },
        ],
        added: 1,
        removed: 0,
      },
    });
  });

  it("leads from the first text to the last, wherever the edits were", () => {
    const edit = fc.record({ at: fc.nat(40), drop: fc.nat(3), add: fc.array(fc.constantFrom(...letters), { maxLength: 3 }) });
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...letters), { maxLength: 40 }),
        fc.array(edit, { minLength: 1, maxLength: 6 }),
        (start, edits) => {
          const texts = [start];
          for (const { at, drop, add } of edits) {
            const now = [...(texts.at(-1) ?? [])];
            now.splice(at, drop, ...add);
            texts.push(now);
          }
          const [before = "", ...after] = texts.map(text);
          const numbered = editsOf([before, ...after]);
          const diff = finalDiff(numbered);
          if (numbered.length > 0) assert.ok(diff);
          assert.equal(applied(before, diff?.edit.rows ?? []), after.at(-1));
        },
      ),
      { numRuns: 2000 },
    );
  });

  it("is not known where a diff was cut, has no numbers, or somebody else changed the file in between", () => {
    const whole = editsOf([text(["a"]), text(["b"])]);
    const other = editsOf([text(["z"]), text(["c"])]);
    const cut = {
      step: 2,
      edit: { path: "a.txt", rows: [{ sign: "@", text: "… 9 more lines" }], added: 0, removed: 0 },
    } as const;
    const plain = { step: 2, edit: { path: "a.txt", rows: [{ sign: "+", text: "b" }], added: 1, removed: 0 } } as const;
    for (const edits of [[...whole, ...other], [...whole, cut], [...whole, plain], []]) assert.equal(finalDiff(edits), undefined);
  });

  it("is the whole file where it was made, and nothing is left of one that is gone", () => {
    const [made] = toldEdits({ file: "a.txt", diff: diffLines("", text(["a", "b"])), created: true });
    const [changed] = toldEdits({ file: "a.txt", diff: diffLines(text(["a", "b"]), text(["a", "c"])) });
    assert.ok(made && changed);
    assert.deepEqual(
      finalDiff([
        { step: 1, edit: made },
        { step: 4, edit: changed },
      ]),
      {
        steps: [1, 4],
        edit: {
          path: "a.txt",
          rows: [
            { sign: "+", text: "a", line: 1 },
            { sign: "+", text: "c", line: 2 },
          ],
          added: 2,
          removed: 0,
          created: true,
        },
      },
    );
  });
});
