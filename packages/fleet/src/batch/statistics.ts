import type { TaskResult } from "../run/task-result.ts";

export type ModelLine = {
  readonly model: string;
  readonly results: number;
  readonly passed: number;
  /** Of 1; the interval holds the true rate in 95 of 100 such batches (Wilson). */
  readonly passRate: number;
  readonly low: number;
  readonly high: number;
  /** Null as soon as one price is not known. */
  readonly costUsd: number | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
};

export type BatchSummary = {
  readonly total: number;
  readonly finished: number;
  readonly passed: number;
  readonly failed: number;
  readonly costUsd: number | null;
  readonly models: readonly ModelLine[];
};

export function summarize(results: readonly TaskResult[], total: number): BatchSummary {
  const models = [...new Set(results.map(({ model }) => model))].sort();
  const passed = results.filter((result) => result.passed).length;
  return {
    total,
    finished: results.length,
    passed,
    failed: results.length - passed,
    costUsd: costOf(results),
    models: models.map((model) =>
      toLine(
        model,
        results.filter((result) => result.model === model),
      ),
    ),
  };
}

function toLine(model: string, results: readonly TaskResult[]): ModelLine {
  const passed = results.filter((result) => result.passed).length;
  const times = results.map(({ wall_ms }) => wall_ms).sort((a, b) => a - b);
  const sum = (pick: (result: TaskResult) => number): number => results.reduce((total, result) => total + pick(result), 0);
  return {
    model,
    results: results.length,
    passed,
    passRate: results.length === 0 ? 0 : passed / results.length,
    ...wilson(passed, results.length),
    costUsd: costOf(results),
    inputTokens: sum((result) => result.input_tokens),
    outputTokens: sum((result) => result.output_tokens),
    p50Ms: percentile(times, 0.5),
    p95Ms: percentile(times, 0.95),
  };
}

function costOf(results: readonly TaskResult[]): number | null {
  const costs = results.map(({ total_cost_usd }) => total_cost_usd);
  return costs.includes(null) ? null : costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0);
}

/** The score interval of a share, at 95 %: also right for few results and for shares near 0 and 1. */
export function wilson(passed: number, results: number, z = 1.959964): { low: number; high: number } {
  if (results === 0) return { low: 0, high: 1 };
  const share = passed / results;
  const spread = z * Math.sqrt((share * (1 - share)) / results + z ** 2 / (4 * results ** 2));
  const scale = 1 + z ** 2 / results;
  const middle = share + z ** 2 / (2 * results);
  return { low: Math.max(0, (middle - spread) / scale), high: Math.min(1, (middle + spread) / scale) };
}

/** Of sorted numbers: the smallest that at least this share of them does not exceed. */
function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

/** The exact McNemar test: how likely such a difference is, or a larger one, if both were equally good. Of tasks that only one passed. */
export function exactMcNemar(onlyA: number, onlyB: number): number {
  const total = onlyA + onlyB;
  if (total === 0) return 1;
  const fewer = Math.min(onlyA, onlyB);
  let term = -total * Math.LN2; // the logarithm of C(total, k) / 2^total: large batches do not overflow
  let sum = 0;
  for (let k = 0; k <= fewer; k++) {
    sum += Math.exp(term);
    term += Math.log((total - k) / (k + 1));
  }
  return Math.min(1, 2 * sum);
}
