import { execFileSync } from "node:child_process";
import { join } from "node:path";

const target = 1;
const reopenSeconds = 5;

/** A session of very many turns: what stays in memory of each ten thousand, whether its log grows evenly, how soon it is open again. */
export function measureLongSession({ node, full }) {
  const turns = full ? 100_000 : 10_000;
  const args = ["--expose-gc", join(import.meta.dirname, "long-session.mjs"), "--turns", String(turns)];
  const output = execFileSync(node, args, { encoding: "utf8", maxBuffer: 1 << 24 });
  const { heapMbPer10000Turns: slope, logGrowth, reopenMs, summaries } = JSON.parse(output.trim().split("\n").at(-1));
  const isEven = Math.abs(logGrowth - 1) < 0.1;
  const what = `memory of 10,000 turns, of ${turns} with ${summaries} compactions; log ${isEven ? "" : "un"}even, reopened in ${reopenMs} ms`;
  const ok = slope <= target && isEven && reopenMs <= reopenSeconds * 1000 && summaries > 0;
  return { name: "long-session", what, unit: "MB", ours: { median: slope, spread: 0, values: [slope] }, target, ok };
}
