import { runChild } from "./children.mjs";
import { callsAtOnce, callsOfTurns } from "./scripts.mjs";
import { summarize } from "./statistics.mjs";

const target = 2;

/** Going on with a session of thousands of tool calls, until the request is on its way, against a new session. Taken in turn. */
export async function measureResume({ contestants, model, quick }) {
  const turns = quick ? 25 : 250;
  const id = `bench-${turns}`;
  const run = async (script, ...flags) => {
    const url = await model.play(script);
    const { spawnedAt } = await runChild([...contestants.commands.ours("text", url), ...flags], contestants.settings(url));
    const { marks } = await model.seen();
    const requests = marks.filter(({ type }) => type === "request");
    return { ms: requests[0].at - spawnedAt, requests };
  };
  const { requests } = await run(callsOfTurns(turns), "--session-id", id);
  if (requests.length !== turns + 1) throw new Error(`Expected ${turns + 1} requests, not ${requests.length}`);
  const whole = requests.at(-1).bytes;
  const numbers = { fresh: [], resumed: [] };
  for (let round = 0; round <= (quick ? 5 : 21); round++) {
    const fresh = await run("answer");
    const resumed = await run("answer", "--resume", id);
    if (resumed.requests[0].bytes < whole) throw new Error("The resumed request does not hold the whole session");
    if (round === 0) continue;
    numbers.fresh.push(fresh.ms);
    numbers.resumed.push(resumed.ms);
  }
  const [floor, ours] = [summarize(numbers.fresh), summarize(numbers.resumed)];
  const ratio = ours.median / floor.median;
  const what = `resume ${turns * callsAtOnce} tool calls; floor: a new session`;
  return { name: "resume", what, unit: "ms", floor, ours, ratio, target, ok: ratio <= target };
}
