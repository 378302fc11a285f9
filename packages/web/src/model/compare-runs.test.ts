import assert from "node:assert/strict";
import { test } from "node:test";
import { compareRuns } from "./compare-runs.ts";
import { readRun } from "./read-run.ts";
import type { RunModel } from "./run-model.ts";
import { summaryOf } from "./run-summary.ts";

/** A run of calls, each `TOOL target`, with `!` behind those that fail. */
function runOf(...deeds: readonly string[]): RunModel {
  const frames = deeds.flatMap((deed, at) => {
    const [, tool = "", target = "", failed] = /^(\w+) (.*?)(!)?$/.exec(deed) ?? [];
    return [
      {
        type: "assistant",
        message: { id: `m${at}`, content: [{ type: "tool_use", id: `t${at}`, name: tool, input: { command: target } }] },
      },
      {
        type: "user",
        message: {
          content: [
            {
              type: "tool_result",
              tool_use_id: `t${at}`,
              is_error: failed !== undefined,
              content: failed ? "Exit code 1" : "ok",
            },
          ],
        },
      },
    ];
  });
  const run = readRun(
    [...frames, { type: "result", subtype: "success", result: "done" }].map((frame) => JSON.stringify(frame)).join("\n"),
  );
  assert.ok(run);
  return run;
}

const told = (a: RunModel, b: RunModel): string[] =>
  compareRuns(a, b).pairs.map(({ kind, a: left, b: right }) => `${kind}: ${left?.preview ?? "-"} | ${right?.preview ?? "-"}`);

test("what both did stands side by side, and what only one did alone", () => {
  const [a, b] = [runOf("Bash test", "Read a", "Edit a", "Bash test"), runOf("Bash test", "Edit a", "Grep x", "Bash test")];
  assert.deepEqual(told(a, b), ["same: test | test", "only-a: a | -", "same: a | a", "only-b: - | x", "same: test | test"]);
  assert.equal(compareRuns(a, b).partsAt, 1);
});

test("the same call with another result is alike, and so are calls of one tool in one place", () => {
  assert.deepEqual(told(runOf("Bash test!"), runOf("Bash test")), ["alike: test | test"]);
  assert.deepEqual(told(runOf("Read a", "Edit b"), runOf("Edit c", "Edit d")), [
    "only-a: a | -",
    "alike: b | c",
    "only-b: - | d",
  ]);
});

test("runs that did the same do not part", () => {
  const { pairs, partsAt, leftOut } = compareRuns(runOf("Bash a", "Bash b"), runOf("Bash a", "Bash b"));
  assert.deepEqual([pairs.map(({ kind }) => kind), partsAt, leftOut], [["same", "same"], undefined, 0]);
});

test("of very long runs, what both begin and end with is compared whole; in between it is said how much is left out", () => {
  const make = (words: string): RunModel =>
    runOf(...Array.from({ length: 2530 }, (_, at) => `Bash ${at < 10 || at >= 2520 ? "both" : words} ${at}`));
  const { pairs, leftOut } = compareRuns(make("one"), make("one"));
  assert.deepEqual([pairs.length, leftOut], [2530, 0]);
  const parted = compareRuns(make("one"), make("other"));
  assert.deepEqual([parted.pairs.length, parted.partsAt, parted.leftOut], [2520, 10, 20]);
});

test("every deed of both is told once, whatever they are", () => {
  let seed = 7;
  const next = (below: number): number => {
    seed = (seed * 48271) % 2147483647;
    return seed % below;
  };
  for (let round = 0; round < 200; round++) {
    const make = (): RunModel =>
      runOf(
        ...Array.from(
          { length: 1 + next(12) },
          () => `${["Bash", "Read", "Edit"][next(3)]} ${next(4)}${next(4) === 0 ? "!" : ""}`,
        ),
      );
    const [a, b] = [make(), make()];
    const { pairs } = compareRuns(a, b);
    for (const [side, run] of [
      ["a", a],
      ["b", b],
    ] as const)
      assert.deepEqual(
        pairs.flatMap((pair) => (pair[side] ? [pair[side].step] : [])),
        run.steps.map((step) => step.n),
      );
  }
});

test("in a list a run has its outcome, its model and what it took", () => {
  const { outcome, steps, errors, word } = summaryOf(runOf("Bash a!", "Bash b"), { word: "x.jsonl" });
  assert.deepEqual(
    { outcome, steps, errors, word },
    { outcome: { state: "completed", what: "done" }, steps: 2, errors: 1, word: "x.jsonl" },
  );
});
