import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { BackgroundTaskStatus } from "../../protocol/background-task.ts";
import { BackgroundTaskError } from "./task-error.ts";
import { type BackgroundTaskTransition, isTerminal, transitionBackgroundTaskStatus } from "./task-status.ts";

const statuses: readonly BackgroundTaskStatus[] = [
  "queued",
  "running",
  "waiting_permission",
  "sleeping",
  "paused",
  "completed",
  "failed",
  "cancelled",
];
const events: readonly BackgroundTaskTransition[] = [
  "START",
  "REQUEST_PERMISSION",
  "PERMISSION_ALLOWED",
  "PERMISSION_DENIED",
  "COMPLETE",
  "FAIL",
  "CANCEL",
  "SLEEP",
  "WAKE",
  "PAUSE",
  "RESUME",
];
const legal = new Map<string, BackgroundTaskStatus>([
  ["queued START", "running"],
  ["queued CANCEL", "cancelled"],
  ["running REQUEST_PERMISSION", "waiting_permission"],
  ["running COMPLETE", "completed"],
  ["running FAIL", "failed"],
  ["running CANCEL", "cancelled"],
  ["running SLEEP", "sleeping"],
  ["running PAUSE", "paused"],
  ["waiting_permission PERMISSION_ALLOWED", "running"],
  ["waiting_permission PERMISSION_DENIED", "failed"],
  ["waiting_permission CANCEL", "cancelled"],
  ["sleeping WAKE", "running"],
  ["sleeping PAUSE", "paused"],
  ["sleeping CANCEL", "cancelled"],
  ["paused RESUME", "sleeping"],
  ["paused CANCEL", "cancelled"],
]);

describe("transitionBackgroundTaskStatus", () => {
  for (const status of statuses)
    for (const event of events) {
      const next = legal.get(`${status} ${event}`);
      it(`${status} + ${event} is ${next ?? "refused"}`, () => {
        if (next !== undefined) return assert.equal(transitionBackgroundTaskStatus(status, event), next);
        const why = ["completed", "failed", "cancelled"].includes(status) ? "terminal status" : "unsupported event";
        assert.throws(() => transitionBackgroundTaskStatus(status, event), {
          category: "validation",
          message: `Invalid background task transition: ${status} + ${event} (${why})`,
        });
      });
    }

  it("never leaves an end, whatever happens", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...events), { maxLength: 40 }), (sequence) => {
        let status: BackgroundTaskStatus = "queued";
        for (const event of sequence) {
          const before: BackgroundTaskStatus = status;
          try {
            status = transitionBackgroundTaskStatus(status, event);
            assert.equal(isTerminal(before), false);
          } catch (error) {
            assert.ok(error instanceof BackgroundTaskError);
            assert.equal(status, before);
          }
        }
      }),
    );
  });
});
