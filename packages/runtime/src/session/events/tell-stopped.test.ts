import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EventBody } from "../../protocol/events.ts";
import { tellStopped } from "./tell-stopped.ts";

function told(lines: readonly string[] | undefined): string[] {
  const events: EventBody[] = [];
  tellStopped(lines ? { stopped: () => [...lines] } : {}, (event) => events.push(event));
  return events.map((event) => (event.type === "warning.raised" ? event.message : event.type));
}

describe("what a session stopped with itself", () => {
  const head = "Stopped with the session, because commands had left it in the background:";

  it("is told where there was something", () => {
    assert.deepEqual(told(["sleep 60", "npm start"]), [`${head} sleep 60; npm start`]);
    assert.deepEqual([told([]), told(undefined)], [[], []]);
  });

  it("is told of five at most, each cut after a hundred characters", () => {
    const five = ["1", "2", "3", "4", "5"];
    assert.deepEqual(told(five), [`${head} 1; 2; 3; 4; 5`]);
    assert.deepEqual(told([...five, "6", "7"]), [`${head} 1; 2; 3; 4; 5 and 2 more`]);
    assert.deepEqual(told(["x".repeat(100)]), [`${head} ${"x".repeat(100)}`]);
    assert.deepEqual(told(["x".repeat(101)]), [`${head} ${"x".repeat(100)}…`]);
  });
});
