import assert from "node:assert/strict";
import { it } from "node:test";
import { CallEnds } from "./stored-events.ts";

it("a call has ended with its first end, and one of the same name may start again", () => {
  const calls = new CallEnds();
  const steps = ["tool.started", "tool.ended", "tool.ended", "tool.started"];
  for (const [index, type] of steps.entries()) calls.follow(type, "c", index);
  assert.deepEqual([[...calls.endedStarts], calls.open()], [[[0, 1]], [["c", 3]]]);
  calls.follow("tool.ended", "c", 4);
  assert.deepEqual(
    [[...calls.endedStarts], calls.open()],
    [
      [
        [0, 1],
        [3, 4],
      ],
      [],
    ],
  );
});
