import { nearest } from "../util/nearest.ts";
import { withoutLong } from "./capabilities/record.ts";
import { pricesAsOf } from "./catalog-date.ts";
import type { CatalogOverride, ModelOverride } from "./catalog-override.ts";
import { findRow, hasFacts, type ModelTable, readTable, type TableRow, unpackPrice } from "./model-table.ts";
import type { Price } from "./price.ts";

export type ModelFacts = {
  readonly provider: string;
  readonly id: string;
  /** Tokens that fit into one request together with its answer; absent when unknown, like the next one. */
  readonly contextWindow?: number;
  readonly maxOutputTokens?: number;
  /** Null when unknown, which is not the same as free. */
  readonly price: Price | null;
  /** Whose price it is: the user's own wins. */
  readonly priceFrom: "table" | "override";
};

export type Catalog = {
  /** The day the table's prices were published. */
  readonly asOf: string;
  readonly table: ModelTable;
  readonly overrides: readonly ModelOverride[];
};

let loaded: Promise<Catalog> | undefined;

/** Read once per process, and only when somebody asks. */
export function loadCatalog(): Promise<Catalog> {
  loaded ??= import("./catalog-data.ts").then(({ table }) => ({ asOf: pricesAsOf, table: readTable(table), overrides: [] }));
  return loaded;
}

/** The user's own facts win over the table, and later ones over earlier ones, field by field. */
export function withOverride(catalog: Catalog, override: CatalogOverride): Catalog {
  return { ...catalog, overrides: [...catalog.overrides, ...override.models] };
}

export function findModel(
  catalog: Catalog,
  { provider, model: name }: { readonly provider: string; readonly model: string },
): ModelFacts | undefined {
  const model = withoutLong(name);
  const place = placeOf(provider);
  const row = findRow(catalog.table, place.provider, place.prefix + model.replace(place.drop, ""));
  const listed = row && tableFacts(provider, row);
  return overridesFor(catalog, provider)
    .filter((own) => isSame(own.model, model))
    .reduce((facts, own) => ownFacts(own, facts), listed);
}

/** The model whose price counts: one the user has priced, else the one that answered, else the one that was asked for. */
export function findBilledModel(catalog: Catalog, billed: BilledModel): ModelFacts | undefined {
  const known = billedModels.get(catalog) ?? new Map<string, ModelFacts | undefined>();
  billedModels.set(catalog, known);
  const key = JSON.stringify([billed.provider, billed.served, billed.requested]);
  if (!known.has(key)) known.set(key, lookUpBilled(catalog, billed));
  return known.get(key);
}

type BilledModel = { readonly provider: string; readonly served: string; readonly requested: string };

/** A long session has thousands of calls of one model, and a search in the table takes longer than all else about a call. */
const billedModels = new WeakMap<Catalog, Map<string, ModelFacts | undefined>>();

function lookUpBilled(catalog: Catalog, { provider, served, requested }: BilledModel): ModelFacts | undefined {
  const found = [served, requested].flatMap((model) => findModel(catalog, { provider, model }) ?? []);
  return found.find((facts) => facts.priceFrom === "override") ?? found.find((facts) => facts.price) ?? found[0];
}

/** The id that was probably meant. */
export function nearestModel(catalog: Catalog, provider: string, id: string): string | undefined {
  const ids = listModels(catalog, provider).map((facts) => facts.id);
  return nearest(id, ids);
}

/** Every model of one provider, or of all, by provider and id. */
export function listModels(catalog: Catalog, provider?: string): ModelFacts[] {
  const names = provider === undefined ? providerNames(catalog) : [provider];
  return names.flatMap((name) => {
    const byId = new Map<string, ModelFacts>();
    for (const facts of offeredBy(catalog, name)) byId.set(facts.id.toLowerCase(), facts);
    for (const { model } of overridesFor(catalog, name)) {
      const facts = findModel(catalog, { provider: name, model });
      if (facts) byId.set(model.toLowerCase(), facts);
    }
    return [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  });
}

/** Where a provider's models stand in the table. */
type Place = {
  readonly provider: string;
  /** Comes before the model's id there. */
  readonly prefix: string;
  /** What comes before the id in the provider's own API. */
  readonly drop: RegExp | string;
  /** The table knows the models, but not what this provider takes for them. */
  readonly unpriced?: true;
};

const google: Place = { provider: "google", prefix: "", drop: /^(?:.*\/)?models\// };

/** Providers the table has under another name. Local servers stand nowhere in it: what a call costs there is the user's to say. */
const places: ReadonlyMap<string, Place> = new Map<string, Place>([
  ["gemini", google],
  ["google", google],
  ["vertex", google],
  ["bedrock", { provider: "aws", prefix: "", drop: "" }],
  ["xai", { provider: "x-ai", prefix: "", drop: "" }],
  ["moonshot", { provider: "moonshotai", prefix: "", drop: "" }],
  ["qwen", { provider: "openrouter", prefix: "qwen/", drop: "", unpriced: true }],
]);

function placeOf(provider: string): Place {
  const name = provider.toLowerCase();
  return places.get(name) ?? { provider: name, prefix: "", drop: "" };
}

/** The table's providers by the names we give them, and those only the user knows. */
function providerNames(catalog: Catalog): string[] {
  const ours = new Map([...places].reverse().flatMap(([name, place]) => (place.unpriced ? [] : [[place.provider, name]])));
  const listed = [...catalog.table.keys()].map((name) => ours.get(name) ?? name);
  return [...new Set([...listed, ...catalog.overrides.map((own) => own.provider.toLowerCase())])].sort();
}

function offeredBy(catalog: Catalog, provider: string): ModelFacts[] {
  const place = placeOf(provider);
  const rows = catalog.table.get(place.provider)?.models().filter(hasFacts) ?? [];
  return rows.filter((row) => row.id.startsWith(place.prefix)).map((row) => tableFacts(provider, row));
}

function tableFacts(provider: string, { id, facts }: TableRow): ModelFacts {
  const { prefix, unpriced } = placeOf(provider);
  return {
    provider,
    id: id.slice(prefix.length),
    ...(facts.contextWindow > 0 && { contextWindow: facts.contextWindow }),
    price: unpriced ? null : unpackPrice(facts.price),
    priceFrom: "table",
  };
}

function overridesFor(catalog: Catalog, provider: string): ModelOverride[] {
  return catalog.overrides.filter((own) => isSame(own.provider, provider));
}

function ownFacts(own: ModelOverride, known: ModelFacts | undefined): ModelFacts {
  const { provider, model, price, capabilities: _, ...sizes } = own;
  const ownPrice = price && ({ price: [{ rates: price }], priceFrom: "override" } as const);
  return { price: null, priceFrom: "table", ...known, provider, id: model, ...sizes, ...ownPrice };
}

function isSame(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
