import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { median, quantileOf } from "./statistics.mjs";

/** A decision about an ordinary command: 99 of 100 are taken within a millisecond. */
export function measureDecision({ node, quick }) {
  const child = join(import.meta.dirname, "decision-child.mjs");
  const output = execFileSync(node, [child, String(quick ? 5 : 21)], { encoding: "utf8", maxBuffer: 1 << 26 });
  const { first, others } = JSON.parse(output);
  const slow = quantileOf(others, 0.99);
  const what = `decide on a command, p99 (p50 ${median(others).toFixed(2)} ms, the first ${first.toFixed(0)} ms)`;
  return { name: "decision", what, unit: "ms", ours: { median: slow, spread: 0, values: others }, target: 1, ok: slow <= 1 };
}
