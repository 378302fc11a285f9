import type { Provider } from "../model.ts";
import { claudeModels } from "./claude.ts";
import { capabilitiesFrom } from "./overrides.ts";
import type { CatalogOverride } from "../catalog-override.ts";
import { findRecord, type ModelRecord, recordsAsOf } from "./record.ts";

/** So long before its end a model is warned of. */
const noticeMs = 60 * 24 * 3_600_000;

/** What a person should know about a model that is switched off soon, or was. */
export async function retirementWarning(
  { name, model }: Pick<Provider, "name" | "model">,
  { now, override }: { readonly now: number; readonly override?: CatalogOverride | undefined },
): Promise<string | undefined> {
  const record = await recordOf(name, model);
  const retires = capabilitiesFrom(override, name)?.(model)?.retires ?? record?.retires;
  if (retires === undefined) return undefined;
  const left = Date.parse(retires) - now;
  if (left > noticeMs) return undefined;
  const next = record && (await successorOf(name, record));
  const when =
    left > 0 ? `is switched off on ${retires}` : `was switched off on ${retires}, as far as was known on ${recordsAsOf}`;
  return `${model} ${when}${next ? `; ${next} is the newest of its kind` : ""}`;
}

/** Most runs ask Claude: the other tables are loaded for the others only. */
async function recordOf(provider: string, model: string): Promise<ModelRecord | undefined> {
  if (provider === "anthropic") return findRecord(claudeModels, model);
  const { recordAt } = await import("./chat.ts");
  return recordAt(provider, { model });
}

async function successorOf(provider: string, { tier, id }: ModelRecord): Promise<string | undefined> {
  const [{ allModels }, { listRecords }] = await Promise.all([import("./chat.ts"), import("./record.ts")]);
  const table = allModels[provider];
  const newest = table && listRecords(table).find((record) => record.tier === tier && record.retires === undefined);
  return newest?.id === id ? undefined : newest?.id;
}
