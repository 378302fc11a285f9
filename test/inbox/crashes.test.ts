import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { projectRoot } from "../e2e/command.ts";
import { type Life, Lives, liveAtRandom } from "./lives.ts";

const running = { do: "submit", text: "hang on" };
const first = { do: "accept", text: "first", key: "k" };

/** One process is killed at a point; another one opens the session, then hands the same prompt in again and lets everything go on. */
async function crash(
  life: Life,
): Promise<{ lives: Lives; acknowledged: boolean; waiting: string[]; again: boolean; end: string }> {
  const lives = new Lives(projectRoot);
  const killed = await lives.live(life);
  assert.equal(killed.signal, "SIGKILL");
  const later = await lives.live({ steps: [first, { do: "goOn" }, { do: "idle" }] });
  return {
    lives,
    acknowledged: killed.told.some(({ accepted }) => accepted === "first"),
    waiting: later.told[0]?.waiting ?? [],
    again: later.told.find(({ accepted }) => accepted === "first")?.isRepeated ?? false,
    end: later.told.find(({ ended }) => ended === "first")?.type ?? "",
  };
}

const points: Record<
  string,
  { life: Life; acknowledged: boolean; waiting: string[]; again: boolean; end: string; asked: number }
> = {
  "before a prompt is on record: it was not accepted": {
    life: { steps: [running, first], die: { when: "before", type: "prompt.accepted" } },
    ...{ acknowledged: false, waiting: [], again: false, end: "completed", asked: 1 },
  },
  "on record, before that is acknowledged": {
    life: { steps: [running, first], die: { when: "after", type: "prompt.accepted" } },
    ...{ acknowledged: false, waiting: ["first"], again: true, end: "completed", asked: 1 },
  },
  "after that is acknowledged": {
    life: { steps: [running, first, { do: "die" }] },
    ...{ acknowledged: true, waiting: ["first"], again: true, end: "completed", asked: 1 },
  },
  "as its turn is about to be on record": {
    life: { steps: [first, { do: "idle" }], die: { when: "before", type: "turn.started", text: "first" } },
    ...{ acknowledged: true, waiting: ["first"], again: true, end: "completed", asked: 1 },
  },
  "after its turn is on record, before the model is asked: it has begun, and is not begun again": {
    life: { steps: [first, { do: "idle" }], die: { when: "after", type: "turn.started", text: "first" } },
    ...{ acknowledged: true, waiting: [], again: true, end: "failed", asked: 0 },
  },
  "in its turn": {
    life: { steps: [first, { do: "idle" }], die: { asked: "first" } },
    ...{ acknowledged: true, waiting: [], again: true, end: "failed", asked: 1 },
  },
  "as it is about to join a turn": {
    life: {
      steps: [{ do: "submit", text: "tool" }, { ...first, mode: "steer" }, { do: "idle" }],
      die: { when: "before", type: "input.added" },
    },
    ...{ acknowledged: true, waiting: ["first"], again: true, end: "completed", asked: 1 },
  },
  "after it has joined a turn": {
    life: {
      steps: [{ do: "submit", text: "tool" }, { ...first, mode: "steer" }, { do: "idle" }],
      die: { when: "after", type: "input.added" },
    },
    ...{ acknowledged: true, waiting: [], again: true, end: "failed", asked: 0 },
  },
  "after its turn has ended": {
    life: { steps: [first, { do: "idle" }], die: { when: "after", type: "turn.ended" } },
    ...{ acknowledged: true, waiting: [], again: true, end: "completed", asked: 1 },
  },
  "before it is cancelled on record": {
    life: { steps: [running, first, { do: "cancel", text: "first" }], die: { when: "before", type: "prompt.cancelled" } },
    ...{ acknowledged: true, waiting: ["first"], again: true, end: "completed", asked: 1 },
  },
  "after it is cancelled on record": {
    life: { steps: [running, first, { do: "cancel", text: "first" }], die: { when: "after", type: "prompt.cancelled" } },
    ...{ acknowledged: true, waiting: [], again: true, end: "cancelled", asked: 0 },
  },
};

describe("a process is killed", () => {
  for (const [point, { life, asked, ...expected }] of Object.entries(points))
    it(point, async () => {
      const { lives, ...found } = await crash(life);
      try {
        assert.deepEqual({ ...found, asked: lives.asked("first") }, { ...expected, asked });
        const begun = [...(await lives.onRecord()).values()].filter(({ text }) => text === "first").map((prompt) => prompt.begun);
        assert.ok(begun.length === 1 && (begun[0] ?? 0) <= 1, `it began ${begun} times`);
      } finally {
        lives.end();
      }
    });

  it("at random moments of random prompts: each is begun or cancelled once, and nothing that was acknowledged is lost", async () => {
    let kills = 0;
    for (const seed of [1, 2, 3, 4]) {
      const run = await liveAtRandom(projectRoot, seed, 4);
      assert.deepEqual(run.broken, [], `seed ${seed}`);
      kills += run.kills;
    }
    assert.ok(kills > 4, `${kills} processes were killed`);
  });
});
