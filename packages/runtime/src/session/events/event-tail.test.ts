import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AgentEvent } from "../../protocol/events.ts";
import { EventTail } from "./event-tail.ts";

function event(seq: number, message = "x"): AgentEvent {
  return { seq, at: "", sessionId: "s", type: "warning.raised", message };
}

/** A log of these numbers; says which reads it saw. A read answers when it is let go. */
function logOf(seqs: readonly number[], message?: string) {
  const stored = seqs.map((seq) => event(seq, message));
  const reads: number[] = [];
  let letGo = (): void => {};
  let gate: Promise<void> | undefined;
  return {
    stored,
    reads,
    hold(): () => void {
      gate = new Promise((resolve) => {
        letGo = resolve;
      });
      return () => letGo();
    },
    read: async (after: number): Promise<AgentEvent[]> => {
      reads.push(after);
      const found = stored.filter(({ seq }) => seq > after); // what is there when it is asked for
      await gate;
      return found;
    },
  };
}

const numbers = (events: readonly AgentEvent[]): number[] => events.map(({ seq }) => seq);

describe("EventTail", () => {
  it("reads the log once, whoever asks and from wherever", async () => {
    const log = logOf([1, 4, 5, 9]); // deltas were between them
    const tail = new EventTail({ from: 9, maxBytes: 100_000, read: log.read });
    assert.deepEqual(numbers(await tail.since(2)), [4, 5, 9]);
    assert.deepEqual(numbers(await tail.since(2)), [4, 5, 9]);
    tail.add(event(11));
    assert.deepEqual(numbers(await tail.since(4)), [5, 9, 11]);
    assert.deepEqual(numbers(await tail.since(9)), [11]);
    assert.deepEqual(numbers(await tail.since(11)), []);
    assert.deepEqual(log.reads, [2]);
    assert.deepEqual(numbers(await tail.since(0)), [1, 4, 5, 9, 11]);
    assert.deepEqual(numbers(await tail.since(0)), [1, 4, 5, 9, 11]);
    assert.deepEqual(log.reads, [2, 0]);
  });

  it("misses nothing that is stored while others wait for the same read", async () => {
    const log = logOf([1, 2]);
    const letGo = log.hold();
    const tail = new EventTail({ from: 2, maxBytes: 100_000, read: log.read });
    const first = tail.since(0);
    tail.add(event(3)); // the read has looked before
    const second = tail.since(1);
    letGo();
    assert.deepEqual(
      [numbers(await first), numbers(await second)],
      [
        [1, 2, 3],
        [2, 3],
      ],
    );
    assert.deepEqual(log.reads, [0]);
  });

  it("holds no more than it may, and reads again what is older", async () => {
    const long = "x".repeat(1_000);
    const log = logOf([1, 2, 3, 4], long);
    const tail = new EventTail({ from: 4, maxBytes: 3_500, read: log.read });
    assert.deepEqual(numbers(await tail.since(0)), [1, 2, 3, 4]);
    assert.deepEqual(numbers(await tail.since(1)), [2, 3, 4]);
    assert.deepEqual(log.reads, [0], "three fit");
    assert.deepEqual(numbers(await tail.since(0)), [1, 2, 3, 4]);
    assert.deepEqual(log.reads, [0, 0]);
    for (const seq of [5, 6, 7]) {
      log.stored.push(event(seq, long));
      tail.add(event(seq, long));
    }
    assert.deepEqual(numbers(await tail.since(5)), [6, 7]);
    assert.deepEqual(log.reads, [0, 0]);
    assert.deepEqual(numbers(await tail.since(2)), [3, 4, 5, 6, 7]);
    assert.deepEqual(log.reads, [0, 0, 2]);
  });

  it("reads on where much came during a read that it could not hold", async () => {
    const long = "x".repeat(1_000);
    const log = logOf([1, 2], long);
    const letGo = log.hold();
    const tail = new EventTail({ from: 2, maxBytes: 2_500, read: log.read });
    const reading = tail.since(0);
    for (let seq = 3; seq <= 9; seq++) {
      log.stored.push(event(seq, long));
      tail.add(event(seq, long));
    }
    letGo();
    assert.deepEqual(numbers(await reading), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it("answers what there is where the store has lost events, and passes a failing read on", async () => {
    const lost = new EventTail({ from: 5, maxBytes: 1_000, read: async () => [] });
    lost.add(event(6));
    assert.deepEqual(numbers(await lost.since(0)), [6]);
    let failures = 1;
    const tail = new EventTail({
      from: 1,
      maxBytes: 1_000,
      read: async () => {
        if (failures-- > 0) throw new Error("unreadable");
        return [event(1)];
      },
    });
    await assert.rejects(tail.since(0), /unreadable/);
    assert.deepEqual(numbers(await tail.since(0)), [1]);
  });
});
