import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { afterEach, beforeEach, describe, it } from "node:test";
import { assert as property, array, constantFrom, property as given } from "fast-check";
import { type CheckpointBench, createBench } from "../../../../test/support/checkpoint-bench.ts";
import { countChangedLines } from "./line-counts.ts";

let bench: CheckpointBench;
beforeEach(() => {
  bench = createBench();
});
afterEach(() => bench.remove());

describe("rewinding files for an SDK client", () => {
  it("tells what a dry run would change and leaves it, then changes it", async () => {
    bench.userWrites("a.txt", "one\ntwo\nthree\n");
    bench.userWrites("picture", Uint8Array.from([0, 1, 2]));
    bench.checkpoints.beginTurn({ turnId: "t1", prompt: "go", userMessageId: "user-1" });
    await bench.agentWrites("a.txt", "one\n2\nthree\nfour\n");
    await bench.agentWrites("new.txt", "x\ny\n");
    await bench.agentWrites("picture", Uint8Array.from([0, 3]));
    await bench.checkpoints.endTurn();
    const expected = {
      canRewind: true,
      filesChanged: ["a.txt", "new.txt", "picture"].map((name) => bench.path(name)),
      insertions: 1,
      deletions: 4,
    };
    assert.deepEqual(await bench.checkpoints.rewindFiles("user-1", { dryRun: true }), expected);
    assert.equal(bench.read("new.txt"), "x\ny\n");
    assert.deepEqual(await bench.checkpoints.rewindFiles("user-1"), expected);
    assert.deepEqual(Object.keys(bench.tree()), ["a.txt", "picture"]);
  });

  it("says why it cannot", async () => {
    await bench.turn("t1", { "a.txt": "1" });
    bench.userWrites("a.txt", "mine");
    assert.deepEqual(
      [await bench.checkpoints.rewindFiles("t1"), await bench.checkpoints.rewindFiles("t9", { dryRun: true })],
      [
        { canRewind: false, error: "Nothing was changed. a.txt: it was changed since turn-0001" },
        { canRewind: false, error: 'There is no checkpoint "t9". There are 1, from turn-0001 to turn-0001' },
      ],
    );
  });

  it("counts nothing for a turn that changed nothing", async () => {
    await bench.turn("t1", {});
    assert.deepEqual(await bench.checkpoints.rewindFiles("t1"), {
      canRewind: true,
      filesChanged: [],
      insertions: 0,
      deletions: 0,
    });
  });
});

describe("changed lines", () => {
  it("are never more than git counts, and lead from one text to the other", async () => {
    const text = array(constantFrom("a\n", "b\n", "c\n", "\n"), { maxLength: 12 });
    await property(
      given(text, text, (before, after) => {
        const { insertions, deletions } = countChangedLines(before.join(""), after.join(""));
        assert.equal(before.length + insertions - deletions, after.length);
        const common = longestCommon(before, after);
        assert.deepEqual([insertions, deletions], [after.length - common, before.length - common]);
      }),
      { numRuns: 500 },
    );
  });

  it("are those of git diff --stat", () => {
    const before = "1\n2\n3\n4\n5\n6\n7\n8\n";
    const after = "1\n2\nx\n4\n5\n7\n8\n9\n10\n";
    bench.userWrites("before", before);
    bench.userWrites("after", after);
    let stat = "";
    try {
      execFileSync("git", ["diff", "--no-index", "--shortstat", "before", "after"], { cwd: bench.project, encoding: "utf8" });
    } catch (error) {
      stat = String((error as { stdout: unknown }).stdout); // git's exit code 1 means "different"
    }
    const { insertions, deletions } = countChangedLines(before, after);
    assert.ok(stat.includes(`${insertions} insertions(+), ${deletions} deletions(-)`), `${insertions} ${deletions} ${stat}`);
  });

  it("of very different texts are all of them, at once", () => {
    const lines = (letter: string) => Array.from({ length: 20_000 }, (_, index) => `${letter}${index}\n`).join("");
    assert.deepEqual(countChangedLines(lines("a"), lines("b")), { insertions: 20_000, deletions: 20_000 });
  });
});

function longestCommon(a: readonly string[], b: readonly string[]): number {
  let row = new Array<number>(b.length + 1).fill(0);
  for (const line of a) {
    const next = [0];
    for (const [index, other] of b.entries()) {
      next.push(line === other ? (row[index] ?? 0) + 1 : Math.max(row[index + 1] ?? 0, next[index] ?? 0));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
