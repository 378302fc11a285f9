import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { makeFolder } from "@outrider/runtime/host";
import { RuntimeError } from "@outrider/runtime";
import type { BatchRun } from "../batch/run-batch.ts";
import { openEngineExecutor } from "../restate/engine-executor.ts";
import { EngineFailed, RestateApi, type RestateAddress } from "../restate/restate-api.ts";
import { createRestateBackend } from "../restate/restate-backend.ts";
import { defaultService } from "../restate/restate-worker.ts";
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

/**
 * Lets the workers of an engine run the units of a batch. A batch that is resumed joins the runs that it began. Rejects when the engine cannot
 * be reached, or has no workers: at once for a new batch; the engine of one that was begun may be starting again, and is waited for.
 */
export async function batchInEngine(
  path: string,
  given: GivenEngine,
  env: Readonly<Record<string, string | undefined>>,
): Promise<NonNullable<BatchRun["openExecutor"]>> {
  const begun = engineOf(path);
  const { batch, ingress, admin, service, store, tenant } = { batch: randomUUID(), ...begun, ...defined(given) };
  if (!ingress || !admin || !store)
    throw new RuntimeError("usage", "A batch on an engine needs --ingress URL, --admin URL and --store ADDRESS");
  needUrl("--ingress", ingress);
  needUrl("--admin", admin);
  await needEngine({ ingress, admin }, { service, patienceMs: begun ? 60_000 : 2_000 });
  return async ({ maxBudgetUsd, rates, bare = false, onQuestion, warn }) => {
    makeFolder(path, 0o777);
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

function needUrl(flag: string, text: string): void {
  if (/^https?:$/.test(URL.canParse(text) ? new URL(text).protocol : "")) return;
  throw new RuntimeError("usage", `${flag} is an address such as http://127.0.0.1:8080, not ${text}`);
}

type Needed = { readonly service: string | undefined; readonly patienceMs: number };

/** Tasks that were begun without an engine, or without workers, would all fail one by one. */
async function needEngine(address: RestateAddress, { service = defaultService, patienceMs }: Needed): Promise<void> {
  const api = new RestateApi(address, patienceMs);
  const until = Date.now() + patienceMs;
  while (true) {
    const troubles = await api.troubles();
    if (troubles.length === 0 && (await api.knowsService(service))) return;
    if (Date.now() >= until) {
      const what =
        troubles.join(". ") || `The engine at ${address.admin} has no workers for ${service}; outrider worker starts some`;
      throw new EngineFailed(`${what}. No task was started`);
    }
    await delay(250);
  }
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
