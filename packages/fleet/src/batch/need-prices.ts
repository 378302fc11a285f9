import { existsSync } from "node:fs";
import { SessionHost } from "@outrider/runtime";
import type { SessionPlan, Surroundings } from "@outrider/runtime/host";
import { needPrice, type PriceOf } from "../limits/governed-provider.ts";
import { toRequest } from "../run/task-request.ts";
import type { BatchUnit } from "../tasks/task.ts";

export type PriceQuestion = {
  readonly around: Surroundings;
  readonly bare: boolean;
  readonly priceOf: PriceOf;
  /** Where tasks are planned whose own folder is not there yet. */
  readonly folder: string;
};

/** Refuses a batch, or tasks, with a budget before anything is spent, when the price of a model that it asks is not known. */
export async function needPrices(units: readonly BatchUnit[], { around, bare, priceOf, folder }: PriceQuestion): Promise<void> {
  const byModel = new Map(units.map((unit) => [`${unit.task.provider ?? ""} ${unit.model ?? ""}`, unit]));
  const host = new SessionHost({ around, warn: () => {}, defaults: { persistent: false, bare } });
  try {
    for (const unit of byModel.values()) {
      const { cwd } = unit.task;
      const plan = await planOf(host, unit, cwd !== undefined && existsSync(cwd) ? cwd : folder);
      if (!plan) continue;
      const { provider, model = provider.model } = plan.options;
      needPrice(priceOf, { provider: provider.name, model });
    }
  } finally {
    await host.shutdown();
  }
}

/** What cannot be planned is told by the tasks themselves. */
async function planOf(host: SessionHost, unit: BatchUnit, cwd: string): Promise<SessionPlan | undefined> {
  try {
    return await host.plan({ ...toRequest(unit, cwd), session: { type: "new", id: "price" } });
  } catch {
    return undefined;
  }
}
