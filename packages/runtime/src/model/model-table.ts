import type { Price, Rates, Tariff } from "./price.ts";
import { defined } from "../util/defined.ts";

/** The generated table by provider. A price stays packed until it is asked for. */
export type ModelTable = ReadonlyMap<string, TableProvider>;

export type TableProvider = {
  /** Whose models it also offers under the same names and prices. */
  readonly fallbacks: readonly string[];
  /** Read at the first call: nobody asks for all of them. */
  models(): readonly TableModel[];
};

export type TableModel = {
  readonly id: string;
  readonly rules: readonly Rule[];
  /** Absent for what answers to the name but writes no words: embeddings, speech. */
  readonly facts?: { readonly contextWindow: number; readonly price: PackedPrice };
};

/** A model that writes. */
export type TableRow = TableModel & Required<Pick<TableModel, "facts">>;

/** "=whole", "^start", "$end", "*part" or "/regex", compared with an id in lower case. */
type Rule = string | { readonly and: readonly Rule[] };
/** In the order of the fields of `Rates`. */
type PackedRates = readonly (number | null)[];
type PackedTariff = Omit<Tariff, "rates" | "tiers"> & { rates: PackedRates; tiers?: readonly [number, PackedRates][] };
type PackedPrice = 0 | PackedRates | readonly PackedTariff[];
type Line = [id: string, rules: 0 | Rule[], contextWindow?: number, price?: PackedPrice];

/** `scripts/generate-catalog.mjs` says what the lines mean. */
export function readTable(text: string): ModelTable {
  const sections = text.trim().slice("@".length).split("\n@");
  return new Map(sections.map(readProvider));
}

function readProvider(section: string): [name: string, provider: TableProvider] {
  const end = section.indexOf("\n");
  const [name = "", ...fallbacks] = section.slice(0, end).split(" ");
  let models: TableModel[] | undefined;
  const read = (): TableModel[] =>
    section
      .slice(end + 1)
      .split("\n")
      .map(readModel);
  return [name, { fallbacks, models: () => (models ??= read()) }];
}

function readModel(line: string): TableModel {
  const [id, rules, contextWindow = 0, price] = JSON.parse(line) as Line; // our own script wrote it
  return { id, rules: rules || ["="], ...(price !== undefined && { facts: { contextWindow, price } }) };
}

/** The first model with a rule for this name; dates are understood with and without dashes. */
export function findRow(table: ModelTable, provider: string, name: string): TableRow | undefined {
  const id = name.trim().toLowerCase();
  const found = firstMatch(table, provider, id) ?? firstMatch(table, provider, id.replace(undashedDate, "-$1-$2-$3"));
  return found && hasFacts(found) ? found : undefined;
}

export function hasFacts(model: TableModel): model is TableRow {
  return model.facts !== undefined;
}

const undashedDate = /-(20\d{2})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=-|:|$)/g;

function firstMatch(table: ModelTable, provider: string, id: string): TableModel | undefined {
  const places = [provider, ...(table.get(provider)?.fallbacks ?? [])];
  for (const place of places) {
    const found = table
      .get(place)
      ?.models()
      .find((model) => model.rules.some((rule) => matches(rule, id, model)));
    if (found) return found;
  }
  return undefined;
}

function matches(rule: Rule, id: string, model: TableModel): boolean {
  if (typeof rule !== "string") return rule.and.every((part) => matches(part, id, model));
  const text = rule.slice(1);
  switch (rule[0]) {
    case "=":
      return id === (text || model.id.toLowerCase());
    case "^":
      return id.startsWith(text);
    case "$":
      return id.endsWith(text);
    case "*":
      return id.includes(text);
    default:
      return new RegExp(text).test(id);
  }
}

export function unpackPrice(packed: PackedPrice): Price | null {
  if (packed === 0) return null;
  const [first, ...others] = isTariffs(packed) ? packed : [{ rates: packed }];
  return first ? [toTariff(first), ...others.map(toTariff)] : null;
}

function isTariffs(packed: PackedRates | readonly PackedTariff[]): packed is readonly PackedTariff[] {
  return typeof packed[0] === "object";
}

function toTariff({ rates, tiers, ...period }: PackedTariff): Tariff {
  return {
    rates: toRates(rates),
    ...(tiers && { tiers: tiers.map(([above, packed]) => ({ above, rates: toRates(packed) })) }),
    ...period,
  };
}

function toRates([input, output, ...others]: PackedRates): Rates {
  const [cacheRead, cacheWrite, cacheWrite1h, reasoning, request] = others.map((rate) => rate ?? undefined);
  return {
    input: input ?? 0,
    output: output ?? 0,
    ...defined({ cacheRead, cacheWrite, cacheWrite1h, reasoning, request }),
  };
}
