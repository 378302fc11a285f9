import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { RuntimeError } from "@outrider/runtime";
import type { BatchRun } from "../batch/run-batch.ts";
import { openEngineExecutor } from "../restate/engine-executor.ts";
import { createRestateBackend } from "../restate/restate-backend.ts";
import { openStore } from "../stores/open-store.ts";

/** Where a batch runs, as its folder remembers it. */
type EngineOfBatch = {
  readonly batch: string;
  readonly ingress: string;
  readonly admin: string;
  readonly service?: string | undefined;
  readonly store: string;
  readonly tenant?: string | undefined;
};

/** Which engine and store; what is absent is as the batch was begun. */
export type GivenEngine = { readonly [Name in "ingress" | "admin" | "service" | "store" | "tenant"]?: string | undefined };

/** Lets the workers of an engine run the units of a batch. A batch that is resumed joins the runs that it began. */
export function batchInEngine(
  path: string,
  given: GivenEngine,
  env: Readonly<Record<string, string | undefined>>,
): BatchRun["openExecutor"] {
  return async ({ maxBudgetUsd, rates, bare = false, onQuestion, warn }) => {
    const engine = { batch: randomUUID(), ...engineOf(path), ...defined(given) };
    const { batch, ingress, admin, service, store, tenant } = engine;
    if (!ingress || !admin || !store)
      throw new RuntimeError("usage", "A batch on an engine needs --ingress URL, --admin URL and --store ADDRESS");
    mkdirSync(path, { recursive: true });
    writeFileSync(fileIn(path), `${JSON.stringify({ batch, ingress, admin, service, store, tenant }, null, 2)}\n`);
    const opened = await openStore(store, env);
    const executor = await openEngineExecutor({
      ...{ ingress, admin, service, tenant, batch, bare, onQuestion, warn },
      store: opened,
      folder: path,
      limits: { maxBudgetUsd, rates },
    });
    return {
      ...executor,
      async close() {
        await executor.close();
        await opened.close();
      },
    };
  };
}

/** Answers what a run of the batch asks on its engine. */
export async function answerInEngine(path: string, runId: string, answer: { name: string; approved: boolean }): Promise<void> {
  const engine = engineOf(path);
  if (!engine) throw new RuntimeError("not-found", `The batch of ${path} runs on no engine`);
  const backend = createRestateBackend(engine);
  await backend.answer(`${engine.batch}/${runId}`, answer.name, { approved: answer.approved });
  await backend.close();
}

/** Undefined where the batch runs on no engine. */
function engineOf(path: string): EngineOfBatch | undefined {
  const file = fileIn(path);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as EngineOfBatch) : undefined; // of our own writing
}

function fileIn(path: string): string {
  return join(path, "engine.json");
}

function defined<T extends object>(value: T): Partial<T> {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as Partial<T>; // the same keys
}
