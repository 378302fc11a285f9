import type { TaskResult } from "../run/task-result.ts";
import { readBatch } from "./batch-folder.ts";
import { exactMcNemar, wilson } from "./statistics.ts";
import { toPercent, toUsd } from "./summary-text.ts";

export type Side = {
  readonly results: number;
  readonly passed: number;
  readonly low: number;
  readonly high: number;
  readonly costUsd: number | null;
};

export type BatchComparison = {
  readonly a: Side;
  readonly b: Side;
  /** Units that both have, by task and repetition. */
  readonly paired: number;
  readonly bothPassed: number;
  readonly neitherPassed: number;
  readonly onlyA: readonly string[];
  readonly onlyB: readonly string[];
  /** How likely such a difference between the pairs is, or a larger one, if both were equally good; null without pairs. */
  readonly pValue: number | null;
};

/** Two batches over the same tasks, pair by pair. `model` keeps the results of one model on each side. */
export function compareBatches(
  a: string,
  b: string,
  models: { a?: string | undefined; b?: string | undefined } = {},
): BatchComparison {
  const [first, second] = [resultsIn(a, models.a), resultsIn(b, models.b)];
  const bySide = [first, second].map((results) => new Set(results.map(({ model }) => model)));
  const byModel = bySide.some(({ size }) => size > 1); // with several models in a batch, each is a pair of its own
  const others = keyed(second, byModel);
  const pairs = [...keyed(first, byModel)].flatMap(([key, one]) => {
    const other = others.get(key);
    return other ? [{ key, a: one.passed, b: other.passed }] : [];
  });
  const onlyA = pairs.filter((pair) => pair.a && !pair.b).map(({ key }) => key);
  const onlyB = pairs.filter((pair) => !pair.a && pair.b).map(({ key }) => key);
  return {
    a: toSide(first),
    b: toSide(second),
    paired: pairs.length,
    bothPassed: pairs.filter((pair) => pair.a && pair.b).length,
    neitherPassed: pairs.filter((pair) => !pair.a && !pair.b).length,
    onlyA,
    onlyB,
    pValue: pairs.length === 0 ? null : exactMcNemar(onlyA.length, onlyB.length),
  };
}

export function comparisonText({ a, b, paired, bothPassed, neitherPassed, onlyA, onlyB, pValue }: BatchComparison): string {
  const side = (name: string, { passed, results, low, high, costUsd }: Side): string =>
    `${name}  ${passed}/${results} passed (${toPercent(results === 0 ? 0 : passed / results)}, 95 % interval ${toPercent(low)}–${toPercent(high)}), ${toUsd(costUsd)}`;
  const listed = (name: string, ids: readonly string[]): string[] =>
    ids.length === 0
      ? []
      : [`only ${name} passed: ${ids.slice(0, 20).join(", ")}${ids.length > 20 ? ` and ${ids.length - 20} more` : ""}`];
  if (pValue === null)
    return [side("A", a), side("B", b), "", "no task of one with its model is in the other: nothing is compared", ""].join("\n");
  const verdict = pValue < 0.05 ? "the difference is significant at 5 %" : "no significant difference at 5 %";
  return [
    side("A", a),
    side("B", b),
    "",
    `${paired} pairs: both passed ${bothPassed}, neither ${neitherPassed}, only A ${onlyA.length}, only B ${onlyB.length}`,
    ...listed("A", onlyA),
    ...listed("B", onlyB),
    `exact McNemar test: p = ${pValue.toPrecision(3)}: ${verdict}`,
    "",
  ].join("\n");
}

function resultsIn(path: string, model: string | undefined): TaskResult[] {
  const results = readBatch(path).units.flatMap(({ result }) => result ?? []);
  return model === undefined ? results : results.filter((result) => result.model === model);
}

function keyed(results: readonly TaskResult[], byModel: boolean): Map<string, TaskResult> {
  return new Map(
    results.map((result) => {
      const round = result.repetition > 1 ? `#${result.repetition}` : "";
      return [byModel ? `${result.task_id}@${result.model}${round}` : `${result.task_id}${round}`, result];
    }),
  );
}

function toSide(results: readonly TaskResult[]): Side {
  const passed = results.filter((result) => result.passed).length;
  const costs = results.map(({ total_cost_usd }) => total_cost_usd);
  const costUsd = costs.includes(null) ? null : costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0);
  return { results: results.length, passed, ...wilson(passed, results.length), costUsd };
}
