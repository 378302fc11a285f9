import { claudeModels } from "../../model/capabilities/claude.ts";
import { findRecord } from "../../model/capabilities/record.ts";
import type { Catalog } from "../../model/catalog.ts";
import type { CatalogOverride } from "../../model/catalog-override.ts";
import type { Ledger } from "../../model/ledger.ts";
import { type ModelRef, noUsage } from "../../protocol/content.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import { defined } from "../../util/defined.ts";

/** What the calls of a run cost, and how much their models take and give. */
export type PricedRun = Ledger & { readonly limits: ReadonlyMap<string, ModelLimits> };
export type ModelLimits = {
  readonly contextWindow?: number;
  readonly maxOutputTokens?: number;
  /** The name under which its price was found. */
  readonly pricedAs: string;
  readonly priceFrom: "table" | "override" | "unknown";
};

type Call = AgentEvent<"message.ended" | "side-call.ended">;

/** Prices are looked up when a result is printed, not before. */
export async function priceCalls(calls: readonly Call[], override: CatalogOverride | undefined): Promise<PricedRun> {
  return (await new RunLedger(override).add(calls)).all;
}

/** Grows with a session of many results: each call is priced once. */
export class RunLedger {
  readonly #override: CatalogOverride | undefined;
  #all: PricedRun = nothing;

  constructor(override: CatalogOverride | undefined) {
    this.#override = override;
  }

  /** All calls so far, and these by themselves. */
  async add(calls: readonly Call[]): Promise<{ readonly all: PricedRun; readonly fresh: PricedRun }> {
    if (calls.length === 0) return { all: this.#all, fresh: nothing };
    const { addCall, catalogOf, toPricedCall } = await import("../../model/pricing.ts");
    const catalog = await catalogOf(this.#override);
    const priced = calls.map((call) => toPricedCall(catalog, call));
    this.#all = await withLimits(catalog, priced.reduce<Ledger>(addCall, this.#all));
    return { all: this.#all, fresh: await withLimits(catalog, priced.reduce<Ledger>(addCall, nothing)) };
  }
}

async function withLimits(catalog: Catalog, { total, models }: Ledger): Promise<PricedRun> {
  const { findBilledModel } = await import("../../model/pricing.ts");
  const writes = await Promise.all(models.map(({ served }) => mostWritten(served)));
  const limits = models.flatMap(({ served, requested }, index) => {
    const facts = findBilledModel(catalog, { provider: served.provider, served: served.id, requested });
    if (!facts) return [];
    const { contextWindow, maxOutputTokens = writes[index], id, price, priceFrom } = facts;
    const sizes = defined({ contextWindow, maxOutputTokens });
    return [[served.id, { ...sizes, pricedAs: id, priceFrom: price ? priceFrom : ("unknown" as const) }] as const];
  });
  return { total, models, limits: new Map(limits) };
}

/** As its record says. The models that most runs ask are found without loading the tables of all the others. */
async function mostWritten({ provider, id }: ModelRef): Promise<number | undefined> {
  if (provider === "anthropic") return findRecord(claudeModels, id)?.maxOutputTokens;
  const { recordAt } = await import("../../model/capabilities/chat.ts");
  return recordAt(provider, { model: id })?.maxOutputTokens;
}

const nothing: PricedRun = { total: { calls: 0, usage: noUsage, costUsd: 0, knownUsd: 0 }, models: [], limits: new Map() };
