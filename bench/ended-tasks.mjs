import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { summarize } from "./statistics.mjs";

const many = 10_000;
const target = 1.25;

/** Going on with a session in which ten thousand tasks have ended, against one in which one has: processor time of the whole process. */
export function measureEndedTasks({ node, quick }) {
  const folder = mkdtempSync(join(tmpdir(), "outrider-bench-tasks-"));
  const counts = [1, many];
  const taken = { 1: [], [many]: [] };
  mkdirSync(join(folder, "made"));
  try {
    for (const count of counts) run(node, "make", join(folder, "made"), count);
    for (let round = 0; round <= (quick ? 5 : 15); round++)
      for (const count of counts) {
        const copy = join(folder, "copy"); // going on with a log makes it longer
        cpSync(join(folder, "made"), copy, { recursive: true });
        const { cpuMs } = JSON.parse(run(node, "open", copy, count));
        rmSync(copy, { recursive: true });
        if (round > 0) taken[count].push(cpuMs);
      }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const [floor, ours] = [summarize(taken[1]), summarize(taken[many])];
  const ratio = ours.median / floor.median;
  const what = `processor time to go on with a session of ${many} ended tasks; floor: of one`;
  return { name: "ended-tasks", what, unit: "ms", floor, ours, ratio, target, ok: ratio <= target };
}

function run(node, mode, folder, count) {
  return execFileSync(node, [join(import.meta.dirname, "ended-tasks-child.mjs"), mode, folder, String(count)], {
    encoding: "utf8",
  });
}
