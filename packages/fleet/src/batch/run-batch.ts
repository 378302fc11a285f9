import { writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { createFileStore, type JsonObject, RuntimeError, type SessionStore, toRuntimeError } from "@outrider/runtime";
import { nearest, type Surroundings } from "@outrider/runtime/host";
import { RunCancelled, RunSuspended, StepFailed } from "../durable/durable.ts";
import { BatchGovernor } from "../limits/batch-governor.ts";
import { needKnownProviders } from "../limits/known-providers.ts";
import { type Rate, RateLimits } from "../limits/rate-limits.ts";
import { failureKind, failureKinds, type TaskResult } from "../run/task-result.ts";
import { runIdOf } from "../run/task-run.ts";
import { type BatchUnit, toUnits, type BatchTask } from "../tasks/task.ts";
import { safeName } from "../util/safe-name.ts";
import { BatchFolder, type Question, takeOrders, type UnitState } from "./batch-folder.ts";
import { type Executor, type ExecutorGround, loadPrices, openExecutor, type RunSettings } from "./executor.ts";
import { toJunit } from "./junit.ts";
import { needPrices } from "./need-prices.ts";
import { type BatchSummary, summarize } from "./statistics.ts";
import { summaryText } from "./summary-text.ts";
import { openWorkers } from "./worker-pool.ts";

/** How a batch is run. What is given here holds over what it was begun with. */
export type BatchSettings = {
  readonly concurrency?: number | "auto" | undefined;
  /** Above 1: runs are in so many child processes. */
  readonly processes?: number | undefined;
  readonly maxBudgetUsd?: number | undefined;
  /** The first unit that does not pass ends the batch; the rest is left for `--resume`. */
  readonly failFast?: boolean | undefined;
  /** How often a unit is tried again, by what was wrong: the code of an error, `check`, `deadline`, `max-turns`. */
  readonly retries?: Readonly<Record<string, number>> | undefined;
  /** Requests and tokens per minute by provider; `*` stands for those that are not named. */
  readonly rates?: Readonly<Record<string, Rate>> | undefined;
  /** Nothing that was written down for folders or the user counts. */
  readonly bare?: boolean | undefined;
  readonly keepWorkspaces?: boolean | undefined;
};

export type BatchProgress =
  | { readonly type: "begun"; readonly total: number; readonly finished: number }
  | { readonly type: "started"; readonly unit: BatchUnit; readonly attempt: number }
  | { readonly type: "again"; readonly unit: BatchUnit; readonly failure: string; readonly attempt: number }
  | { readonly type: "asks"; readonly question: Question }
  | { readonly type: "finished"; readonly result: TaskResult; readonly spentUsd: number };

export type BatchRun = {
  readonly folder: BatchFolder;
  readonly settings: BatchSettings;
  readonly around: Surroundings;
  /** Aborted: the batch stops, and can go on later. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: BatchProgress) => void;
  readonly warn: (line: string) => void;
  /** Who runs the units, where it is not this machine. */
  readonly openExecutor?: ((elsewhere: Elsewhere) => Promise<Executor>) | undefined;
};

/** What who runs units elsewhere has to know. */
export type Elsewhere = Pick<BatchSettings, "maxBudgetUsd" | "rates" | "bare"> & Pick<ExecutorGround, "onQuestion" | "warn">;

/** `stopped`: somebody, `--fail-fast` or the budget; what is left waits for `--resume`. */
export type BatchEnd = {
  readonly summary: BatchSummary;
  readonly left: number;
  readonly why: "done" | "signal" | "fail-fast" | "budget";
};

const defaultRetries: Readonly<Record<string, number>> = {
  "provider-overloaded": 2,
  "provider-rate-limit": 2,
  "provider-timeout": 2,
  "provider-unavailable": 2,
  "session-locked": 2,
};

/** A new batch in a folder. */
export async function createBatch(path: string, tasks: readonly BatchTask[], settings: BatchSettings): Promise<BatchFolder> {
  needKnownKinds(settings);
  needKnownProviders(settings.rates);
  return await BatchFolder.create(path, toUnits(tasks), settings as unknown as JsonObject); // JSON already
}

/** Works on a batch until all units have a result, or it is stopped. Closes the folder; of a new batch that it refuses nothing is left. */
export async function runBatch(run: BatchRun): Promise<BatchEnd> {
  const { folder } = run;
  let isRefused = false;
  try {
    return await new BatchWork(run).run();
  } catch (error) {
    isRefused = folder.isUntouched;
    throw error;
  } finally {
    if (!isRefused) writeReports(folder);
    if (isRefused) folder.discard();
    else folder.close();
  }
}

/** A kind that nothing ever fails with would be a retry that never comes. */
function needKnownKinds({ retries = {} }: BatchSettings): void {
  const wrong = Object.keys(retries).find((kind) => !failureKinds.some((known) => known === kind));
  if (wrong === undefined) return;
  const guess = nearest(wrong, failureKinds);
  throw new RuntimeError("usage", `Nothing fails with ${wrong}${guess === undefined ? "" : `; did you mean ${guess}?`}`, {
    hint: `What is tried again is one of ${failureKinds.join(", ")}`,
  });
}

class BatchWork {
  readonly #run: BatchRun;
  readonly #settings: BatchSettings;
  readonly #stop = new AbortController();
  #why: BatchEnd["why"] = "done";
  #isLooking = false;
  readonly #waiting: { unit: BatchUnit; attempt: number }[] = [];
  readonly #running = new Map<string, { unit: BatchUnit; attempt: number; isCancelled: boolean }>();

  constructor(run: BatchRun) {
    this.#run = run;
    needKnownKinds(run.settings);
    needKnownProviders(run.settings.rates);
    this.#settings = { ...(run.folder.state.settings as BatchSettings), ...withoutUndefined(run.settings) };
  }

  async run(): Promise<BatchEnd> {
    const { folder, around, onProgress, warn } = this.#run;
    const { units } = folder.state;
    const open = units.filter(({ result }) => !result);
    onProgress({ type: "begun", total: units.length, finished: units.length - open.length });
    // Those that were begun first: what was paid for is used soon.
    open.sort((a, b) => Number(b.isStarted) - Number(a.isStarted));
    for (const { unit, attempt } of open) this.#waiting.push({ unit, attempt });
    const { maxBudgetUsd, bare = false, keepWorkspaces = false, processes = 1, rates } = this.#settings;
    let spentUsd = 0;
    const budgeted = open.map(({ unit }) => unit).filter(({ task }) => (maxBudgetUsd ?? task.maxBudgetUsd) !== undefined);
    if (maxBudgetUsd !== undefined || budgeted.length > 0) {
      const prices = await loadPrices(around, bare);
      await needPrices(budgeted, { around, bare, priceOf: prices.priceOf, folder: folder.path });
      if (maxBudgetUsd !== undefined) spentUsd = await spentBefore(folder.path, units, prices);
    }
    const governor = new BatchGovernor({ maxBudgetUsd, rates: new RateLimits(new Map(Object.entries(rates ?? {}))), spentUsd });
    const settings: RunSettings = {
      folder: folder.path,
      bare,
      needsPrice: maxBudgetUsd !== undefined,
      keepsWorkspaces: keepWorkspaces,
    };
    const onQuestion = (question: Question): void => {
      folder.question(question);
      onProgress({ type: "asks", question });
    };
    const ground = { settings, around, governor, warn, onQuestion };
    const elsewhere = await this.#run.openExecutor?.({ maxBudgetUsd, rates, bare, onQuestion, warn });
    const executor =
      elsewhere ??
      (processes > 1
        ? openWorkers({ ...ground, processes, onWorker: (pid) => folder.addWorker(pid) })
        : await openExecutor(ground));
    const onSignal = (): void => this.#end("signal");
    const { signal } = this.#run;
    signal.addEventListener("abort", onSignal, { once: true });
    if (signal.aborted) onSignal();
    const orders = setInterval(() => void this.#obey(executor).catch((error: unknown) => warn(String(error))), 300);
    const budget = setInterval(
      () => void this.#lookAtBudget(executor, governor).catch((error: unknown) => warn(String(error))),
      1_000,
    );
    const stopping = new Promise<void>((done) => {
      this.#stop.signal.addEventListener("abort", () => void executor.close().then(done, done), { once: true });
    });
    try {
      await this.#obey(executor);
      const lanes = Math.min(this.#waiting.length, toConcurrency(this.#settings.concurrency));
      await Promise.all(Array.from({ length: lanes }, () => this.#lane(executor, governor)));
    } finally {
      clearInterval(orders);
      clearInterval(budget);
      signal.removeEventListener("abort", onSignal);
      if (this.#stop.signal.aborted) await stopping;
      else await executor.close();
    }
    const after = folder.state;
    const left = after.units.filter(({ result }) => !result).length;
    if (left === 0) takeOrders(folder.path); // they came too late, and are not meant for what is run again
    return { summary: summaryOf(folder), left, why: left === 0 ? "done" : this.#why };
  }

  async #lane(executor: Executor, governor: BatchGovernor): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const next = this.#waiting.shift();
      if (!next) return;
      if (governor.isSpent) return this.#end("budget");
      await this.#runUnit(executor, governor, next);
    }
  }

  async #runUnit(executor: Executor, governor: BatchGovernor, input: { unit: BatchUnit; attempt: number }): Promise<void> {
    const { folder, onProgress } = this.#run;
    const { unit, attempt } = input;
    const entry = { ...input, isCancelled: false };
    folder.started(unit.id, attempt);
    onProgress({ type: "started", unit, attempt });
    this.#running.set(unit.id, entry);
    let result: TaskResult;
    try {
      result = await executor.run(input);
    } catch (error) {
      if (isSuspended(error) && !entry.isCancelled) {
        if (governor.isSpent) this.#end("budget");
        return;
      }
      result = withoutRun(input, entry.isCancelled || isCancelled(error) ? undefined : error);
    } finally {
      this.#running.delete(unit.id);
    }
    const failure = failureKind(result);
    const retries = { ...defaultRetries, ...this.#settings.retries };
    if (failure !== undefined && failure !== "cancelled" && attempt <= (retries[failure] ?? 0) && !this.#stop.signal.aborted) {
      folder.again(unit.id, attempt + 1, failure);
      onProgress({ type: "again", unit, failure, attempt: attempt + 1 });
      this.#waiting.push({ unit, attempt: attempt + 1 });
      return;
    }
    await folder.finish(result);
    onProgress({ type: "finished", result, spentUsd: governor.spentUsd });
    if (this.#settings.failFast && !result.passed) this.#end("fail-fast");
  }

  /** What other processes want of this batch. */
  async #obey(executor: Executor): Promise<void> {
    for (const { ids } of takeOrders(this.#run.folder.path)) {
      const isMeant = ({ id, taskId }: BatchUnit): boolean => ids === undefined || ids.includes(id) || ids.includes(taskId);
      const waiting = this.#waiting.filter(({ unit }) => isMeant(unit));
      for (const one of waiting) {
        this.#waiting.splice(this.#waiting.indexOf(one), 1);
        const result = withoutRun(one, undefined);
        await this.#run.folder.finish(result);
        this.#run.onProgress({ type: "finished", result, spentUsd: 0 });
      }
      for (const entry of this.#running.values()) {
        if (!isMeant(entry.unit)) continue;
        entry.isCancelled = true;
        await executor.cancel({ unit: entry.unit, attempt: entry.attempt });
      }
    }
  }

  async #lookAtBudget(executor: Executor, governor: BatchGovernor): Promise<void> {
    if (this.#isLooking) return; // an engine that is away is asked once
    this.#isLooking = true;
    const spent = await executor.spent?.().finally(() => {
      this.#isLooking = false;
    });
    if (!spent) return;
    governor.spentElsewhere(spent.usd);
    if (spent.isOver) this.#end("budget");
  }

  #end(why: BatchEnd["why"]): void {
    if (this.#stop.signal.aborted) return;
    this.#why = why;
    this.#stop.abort();
  }
}

export function summaryOf(folder: Pick<BatchFolder, "state">): BatchSummary {
  const { units } = folder.state;
  return summarize(
    units.flatMap(({ result }) => result ?? []),
    units.length,
  );
}

/** Made of the results alone, so that they can be made again at any time. */
function writeReports(folder: BatchFolder): void {
  const summary = summaryOf(folder);
  const results = folder.state.units.flatMap(({ result }) => result ?? []);
  writeFileSync(join(folder.path, "summary.json"), `${JSON.stringify(summary, null, 2)}\n`);
  writeFileSync(join(folder.path, "summary.txt"), summaryText(summary));
  writeFileSync(join(folder.path, "junit.xml"), toJunit(results));
}

function toConcurrency(concurrency: BatchSettings["concurrency"] = "auto"): number {
  return concurrency === "auto" ? Math.min(64, Math.max(8, availableParallelism() * 8)) : concurrency;
}

/** What earlier processes have spent: by results, and by the journals of what they had begun. */
async function spentBefore(
  path: string,
  units: readonly UnitState[],
  { priceOf }: Awaited<ReturnType<typeof loadPrices>>,
): Promise<number> {
  const store: SessionStore = createFileStore(join(path, "journals"));
  let spent = 0;
  for (const { unit, attempt, isStarted, result } of units) {
    if (result) spent += result.total_cost_usd ?? 0;
    const tries = Array.from({ length: result ? attempt - 1 : attempt }, (_, index) => index + 1);
    for (const one of isStarted || attempt > 1 ? tries : []) {
      const calls = await store.read(safeName(runIdOf({ unit, attempt: one })), { types: ["message.ended", "side-call.ended"] });
      for (const call of calls) if (call.type === "message.ended" || call.type === "side-call.ended") spent += priceOf(call) ?? 0;
    }
  }
  return spent;
}

/** The result of a unit that could not be run, or was not. */
function withoutRun({ unit, attempt }: { unit: BatchUnit; attempt: number }, error: unknown): TaskResult {
  const now = new Date().toISOString();
  const { code, message } =
    error instanceof StepFailed
      ? { code: error.failure.code ?? "internal", message: error.failure.message }
      : toRuntimeError(error);
  return {
    type: "result",
    subtype: error === undefined ? "cancelled" : "error_during_execution",
    is_error: true,
    task_id: unit.taskId,
    unit_id: unit.id,
    status: error === undefined ? "cancelled" : "error",
    failure: error === undefined ? "cancelled" : code,
    errors: error === undefined ? ["It was cancelled"] : [message],
    passed: false,
    model: unit.model ?? "unknown",
    repetition: unit.repetition,
    attempt,
    session_id: safeName(runIdOf({ unit, attempt })),
    started_at: now,
    ended_at: now,
    wall_ms: 0,
    total_cost_usd: 0,
    input_tokens: 0,
    output_tokens: 0,
    resumed: 0,
  };
}

/** Also as another process tells it. */
function isSuspended(error: unknown): boolean {
  return error instanceof RunSuspended || Object(error).name === "RunSuspended";
}

function isCancelled(error: unknown): boolean {
  return error instanceof RunCancelled || (error instanceof StepFailed && error.failure.name === "RunCancelled");
}

function withoutUndefined<T extends object>(value: T): Partial<T> {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as Partial<T>; // the same keys
}
