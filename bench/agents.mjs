import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { summarize } from "./statistics.mjs";

const many = 200;
const maxHeapKb = 2_000;

/** Two hundred agents at once in one process, against one alone: processor time of each, and what each keeps in memory. */
export function measureAgents({ node, quick }) {
  const alone = [];
  const beside = [];
  const heaps = [];
  for (let round = 0; round < (quick ? 3 : 7); round++) {
    alone.push(run(node, 1).cpuMs);
    const { cpuMs, heapKb } = run(node, many);
    beside.push(cpuMs);
    heaps.push(heapKb);
  }
  const floor = summarize(alone);
  const ours = summarize(beside);
  const heap = Math.round(summarize(heaps).median);
  const ratio = ours.median / floor.median;
  const what = `processor time of an agent, ${many} at once in one process, against one alone; ${heap} KB of memory each`;
  return { name: "agents", what, unit: "ms", floor, ours, ratio, target: 1, ok: ratio <= 1 && heap <= maxHeapKb };
}

function run(node, count) {
  const args = ["--expose-gc", join(import.meta.dirname, "agents-child.mjs"), String(count)];
  return JSON.parse(execFileSync(node, args, { encoding: "utf8" }));
}
