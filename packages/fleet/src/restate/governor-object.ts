import type { ObjectContext } from "@restatedev/restate-sdk";
import type { RequestFacts } from "../limits/governor.ts";
import {
  type Admission,
  admitShared,
  endShared,
  noLimits,
  type SharedLimits,
  throttleShared,
} from "../limits/shared-governor.ts";
import type { RestateSdk } from "./load-sdk.ts";

/** One per batch: the engine lets one caller in at a time, so that what is counted is right, whoever asks from wherever. */
export function governorObject(sdk: RestateSdk, name: string): ReturnType<RestateSdk["object"]> {
  const read = async (engine: ObjectContext): Promise<SharedLimits> => (await engine.get<SharedLimits>("limits")) ?? noLimits;
  const object = sdk.object({
    name,
    handlers: {
      limit: async (engine: ObjectContext, limits: Pick<SharedLimits, "maxBudgetUsd" | "rates">): Promise<void> => {
        engine.set("limits", { ...(await read(engine)), ...limits });
      },
      admit: async (engine: ObjectContext, request: RequestFacts): Promise<Admission> => {
        const { limits, admission } = admitShared(await read(engine), request, await engine.date.now());
        engine.set("limits", limits);
        return admission;
      },
      ended: async (engine: ObjectContext, end: { costUsd: number }): Promise<void> => {
        engine.set("limits", endShared(await read(engine), end));
      },
      throttled: async (engine: ObjectContext, told: { provider: string; waitMs: number }): Promise<void> => {
        const now = await engine.date.now();
        engine.set("limits", throttleShared(await read(engine), told.provider, now + told.waitMs));
      },
    },
  });
  return object as unknown as ReturnType<RestateSdk["object"]>; // its handlers are called by name, over HTTP
}

export function governorName(service: string): string {
  return `${service}Limits`;
}
