import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { RuntimeError } from "@outrider/runtime";
import type { BatchRun } from "../batch/run-batch.ts";
import { openEngineExecutor } from "../restate/engine-executor.ts";
import { openStore } from "../stores/open-store.ts";

/** Where a batch runs, as its folder remembers it. */
type EngineOfBatch = {
  readonly batch: string;
  readonly ingress: string;
  readonly admin: string;
  readonly service?: string | undefined;
  readonly store: string;
};

/** Which engine and store; what is absent is as the batch was begun. */
export type GivenEngine = { readonly [Name in "ingress" | "admin" | "service" | "store"]?: string | undefined };

/** Lets the workers of an engine run the units of a batch. A batch that is resumed joins the runs that it began. */
export function batchInEngine(
  path: string,
  given: GivenEngine,
  env: Readonly<Record<string, string | undefined>>,
): BatchRun["openExecutor"] {
  return async ({ maxBudgetUsd, rates, bare = false }) => {
    const file = join(path, "engine.json");
    const before = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as EngineOfBatch) : undefined; // of our own writing
    const engine = { batch: randomUUID(), ...before, ...defined(given) };
    const { batch, ingress, admin, service, store } = engine;
    if (!ingress || !admin || !store)
      throw new RuntimeError("usage", "A batch on an engine needs --ingress URL, --admin URL and --store ADDRESS");
    mkdirSync(path, { recursive: true });
    writeFileSync(file, `${JSON.stringify({ batch, ingress, admin, service, store }, null, 2)}\n`);
    const opened = await openStore(store, env);
    const limits = { maxBudgetUsd, rates };
    const executor = await openEngineExecutor({ ingress, admin, service, store: opened, folder: path, batch, bare, limits });
    return {
      ...executor,
      async close() {
        await executor.close();
        await opened.close();
      },
    };
  };
}

function defined<T extends object>(value: T): Partial<T> {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as Partial<T>; // the same keys
}
