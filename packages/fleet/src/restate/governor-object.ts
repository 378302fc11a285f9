import type { ObjectContext } from "@restatedev/restate-sdk";
import type { JsonValue } from "@outrider/runtime";
import type { RequestFacts } from "../limits/governor.ts";
import type { ToldLimits } from "../limits/rate-headers.ts";
import type { SharedKeeper } from "../limits/shared-governor.ts";
import {
  type Admission,
  admitShared,
  endShared,
  isLimited,
  noLimits,
  type SharedLimits,
  tellShared,
  throttleShared,
} from "../limits/shared-limits.ts";
import type { RestateSdk } from "./load-sdk.ts";
import type { RestateApi } from "./restate-api.ts";

/** The limits of all batches; those of a batch have its name. */
export const fleetKey = "fleet";

/** One per batch, and one for the fleet: the engine lets one caller in at a time, so that what is counted is right, whoever asks. */
export function governorObject(sdk: RestateSdk, name: string): ReturnType<RestateSdk["object"]> {
  const read = async (engine: ObjectContext): Promise<SharedLimits> => ({
    ...noLimits,
    ...(await engine.get<SharedLimits>("limits")),
  });
  const object = sdk.object({
    name,
    handlers: {
      limit: async (engine: ObjectContext, limits: GivenLimits): Promise<void> => {
        const all = { ...(await read(engine)), ...limits };
        engine.set("limits", Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null)));
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
        engine.set("limits", throttleShared(await read(engine), told, await engine.date.now()));
      },
      told: async (engine: ObjectContext, { provider, limits }: { provider: string; limits: ToldLimits }): Promise<void> => {
        engine.set("limits", tellShared(await read(engine), provider, limits, await engine.date.now()));
      },
      show: async (engine: ObjectContext): Promise<SharedLimits> => await read(engine),
    },
  });
  return object as unknown as ReturnType<RestateSdk["object"]>; // its handlers are called by name, over HTTP
}

/** What somebody sets; `null` takes a limit away. */
export type GivenLimits = {
  readonly maxBudgetUsd?: number | null | undefined;
  readonly rates?: SharedLimits["rates"] | null | undefined;
};

export function governorName(service: string): string {
  return `${service}Limits`;
}

/** The same from outside, over HTTP. */
export function openKeeper(api: RestateApi, service: string, key: string): SharedKeeper & LimitsDesk {
  const ask = async (handler: string, body: object = {}, signal?: AbortSignal): Promise<JsonValue> =>
    await api.call({ service: governorName(service), key, handler }, JSON.parse(JSON.stringify(body)) as JsonValue, signal);
  const show = async (): Promise<SharedLimits> => (await ask("show")) as unknown as SharedLimits; // what the handler answers
  return {
    admit: async (request, signal) => (await ask("admit", request, signal)) as unknown as Admission,
    ended: async (end, signal) => void (await ask("ended", end, signal)),
    throttled: async (told) => void (await ask("throttled", told)),
    told: async (told) => void (await ask("told", told)),
    isLimited: async () => isLimited(await show()),
    show,
    limit: async (limits) => void (await ask("limit", limits)),
  };
}

export interface LimitsDesk {
  show(): Promise<SharedLimits>;
  limit(limits: GivenLimits): Promise<void>;
}
