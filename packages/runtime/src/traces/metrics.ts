import type { Attributes, Measure, MetricName } from "./span.ts";

/** What was measured under the same attributes. */
export type Series = {
  readonly attributes: Attributes;
  count: number;
  sum: number;
  min: number;
  max: number;
  /** How many values fell between two bounds; one more than there are bounds. */
  readonly buckets: number[];
};

export type Metric = {
  readonly name: MetricName;
  readonly unit: string;
  /** Absent for a sum. */
  readonly bounds?: readonly number[] | undefined;
  readonly series: readonly Series[];
};

/** The bounds that the convention advises. */
const seconds = Array.from({ length: 14 }, (_, index) => 0.01 * 2 ** index);
const tokens = Array.from({ length: 14 }, (_, index) => 4 ** index);

const kinds: Readonly<Record<MetricName, { readonly unit: string; readonly bounds?: readonly number[] }>> = {
  "gen_ai.client.token.usage": { unit: "{token}", bounds: tokens },
  "gen_ai.client.operation.duration": { unit: "s", bounds: seconds },
  "gen_ai.client.operation.time_to_first_chunk": { unit: "s", bounds: seconds },
  "outrider.cost": { unit: "USD" },
};

/** Counts what was measured, from its beginning on or since it was last asked. */
export class MetricTable {
  #metrics = new Map<MetricName, Map<string, Series>>();

  add({ metric, value, attributes }: Measure): void {
    const { bounds = [] } = kinds[metric];
    const known = this.#metrics.get(metric) ?? new Map<string, Series>();
    this.#metrics.set(metric, known);
    const key = JSON.stringify(attributes);
    const empty = { count: 0, sum: 0, min: value, max: value, buckets: new Array<number>(bounds.length + 1).fill(0) };
    const series = known.get(key) ?? { attributes, ...empty };
    known.set(key, series);
    series.count++;
    series.sum += value;
    series.min = Math.min(series.min, value);
    series.max = Math.max(series.max, value);
    const place = bounds.findIndex((bound) => value <= bound);
    const index = place === -1 ? bounds.length : place;
    series.buckets[index] = (series.buckets[index] ?? 0) + 1;
  }

  get all(): Metric[] {
    return [...this.#metrics].map(([name, series]) => ({ name, ...kinds[name], series: [...series.values()] }));
  }

  clear(): void {
    this.#metrics = new Map();
  }
}
