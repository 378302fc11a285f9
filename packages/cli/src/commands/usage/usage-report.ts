import type { Usage } from "@outrider/runtime";

export const waysToGroup = ["day", "model", "project"] as const;
export type Way = (typeof waysToGroup)[number];

export function isWay(word: string): word is Way {
  return waysToGroup.some((way) => way === word);
}

/** One answer with its price; null when nobody knows it. */
export type Spent = {
  readonly session: string;
  readonly key: Readonly<Record<Way, string>>;
  readonly usage: Usage;
  readonly costUsd: number | null;
};

/** `costUsd` is null as soon as one price is not known; `knownUsd` is the sum of the others. */
export type UsageRow = {
  key: string;
  sessions: number;
  calls: number;
  usage: Usage;
  costUsd: number | null;
  knownUsd: number;
  unpricedCalls: number;
};

export type UsageReport = { by: Way; rows: UsageRow[]; total: Omit<UsageRow, "key">; unpricedModels: string[] };

/** Days in their order, models and projects the dearest first. */
export function reportUsage(spent: readonly Spent[], by: Way): UsageReport {
  const groups = groupBy(spent, ({ key }) => key[by]);
  const rows = [...groups].map(([key, group]) => ({ key, ...sum(group) }));
  const inOrder = (one: UsageRow, other: UsageRow): number => (one.key < other.key ? -1 : 1);
  rows.sort(
    by === "day" ? inOrder : (one, other) => other.knownUsd - one.knownUsd || other.calls - one.calls || inOrder(one, other),
  );
  const unpriced = spent.filter(({ costUsd }) => costUsd === null).map(({ key }) => key.model);
  return { by, rows, total: sum(spent), unpricedModels: [...new Set(unpriced)].sort() };
}

function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}

function sum(group: readonly Spent[]): Omit<UsageRow, "key"> {
  const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
  let picoUsd = 0;
  let unpricedCalls = 0;
  for (const { usage: one, costUsd } of group) {
    for (const name of Object.keys(usage) as (keyof Usage)[]) usage[name] += one[name] ?? 0; // the names are those of the line above
    if (costUsd === null) unpricedCalls++;
    else picoUsd += Math.round(costUsd * picosPerUsd);
  }
  const knownUsd = picoUsd / picosPerUsd;
  const sessions = new Set(group.map(({ session }) => session)).size;
  return { sessions, calls: group.length, usage, costUsd: unpricedCalls > 0 ? null : knownUsd, knownUsd, unpricedCalls };
}

/** Prices are multiples of it: whole numbers are added without a rest, in any order. */
const picosPerUsd = 1e12;
