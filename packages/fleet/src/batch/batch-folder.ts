import { existsSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { makeFolder } from "@outrider/runtime/host";
import { type JsonObject, RuntimeError } from "@outrider/runtime";
import { isOwnerAlive, parseOwner } from "@outrider/runtime/admin";
import type { TaskResult } from "../run/task-result.ts";
import type { BatchUnit } from "../tasks/task.ts";
import { AppendLog, readLog } from "../util/append-log.ts";

/** What has become of a batch, in order. Results are in results.jsonl: a unit that has one there is finished. */
type QueueRecord =
  | { readonly type: "batch"; readonly version: 1; readonly at: string; readonly settings: JsonObject }
  | { readonly type: "unit"; readonly unit: BatchUnit }
  | { readonly type: "started"; readonly id: string; readonly attempt: number; readonly at: string }
  /** The next start is this attempt. */
  | { readonly type: "again"; readonly id: string; readonly attempt: number; readonly failure: string }
  | { readonly type: "question"; readonly id: string; readonly name: string; readonly tool: string; readonly reason: string };

export type UnitState = {
  readonly unit: BatchUnit;
  readonly attempt: number;
  readonly isStarted: boolean;
  readonly result: TaskResult | undefined;
};

export type Question = Omit<Extract<QueueRecord, { type: "question" }>, "type">;

/** What is known of a batch, by whoever looks. */
export type BatchState = {
  readonly settings: JsonObject;
  readonly units: readonly UnitState[];
  readonly questions: readonly Question[];
  /** Somebody works on it now. */
  readonly isRunning: boolean;
};

/** What others have to say to the batch. */
export type Order = { readonly type: "cancel"; readonly ids?: readonly string[] | undefined };

/** The folder of a batch: its queue, its results, and all that its runs leave. One process writes to it, any may look. */
export class BatchFolder {
  readonly path: string;
  readonly #queue: AppendLog<QueueRecord>;
  #results: AppendLog<TaskResult>;
  readonly #finished = new Set<string>();
  #isUntouched = false;

  private constructor(
    path: string,
    queue: AppendLog<QueueRecord>,
    results: { log: AppendLog<TaskResult>; records: TaskResult[] },
  ) {
    this.path = resolve(path); // programs that run elsewhere are told places in it
    this.#queue = queue;
    this.#results = results.log;
    for (const { unit_id } of results.records) this.#finished.add(unit_id);
  }

  /** A new batch. Refused where there is one. */
  static async create(path: string, units: readonly BatchUnit[], settings: JsonObject): Promise<BatchFolder> {
    if (existsSync(join(path, "queue.jsonl")))
      throw new RuntimeError("usage", `${path} holds a batch already`, {
        hint: "Go on with --resume, or choose another folder with --out",
      });
    makeFolder(path, 0o777);
    await takeLock(path);
    const fresh = join(path, `queue.jsonl.${process.pid}`);
    rmSync(fresh, { force: true });
    const { log } = AppendLog.open<QueueRecord>(fresh);
    log.append({ type: "batch", version: 1, at: new Date().toISOString(), settings });
    for (const unit of units) log.append({ type: "unit", unit });
    await log.sync();
    renameSync(fresh, join(path, "queue.jsonl")); // whole or not there: a crash before this leaves no batch
    const folder = new BatchFolder(path, log, AppendLog.open<TaskResult>(join(path, "results.jsonl")));
    folder.#isUntouched = true;
    return folder;
  }

  /** A batch that was stopped, with what is left of it. */
  static async open(name: string): Promise<BatchFolder> {
    const path = resolve(name); // programs that run in folders of tasks are given paths in it
    if (!existsSync(join(path, "queue.jsonl"))) throw new RuntimeError("no-input", `${path} holds no batch`);
    await takeLock(path);
    const { log } = AppendLog.open<QueueRecord>(join(path, "queue.jsonl"));
    return new BatchFolder(path, log, AppendLog.open<TaskResult>(join(path, "results.jsonl")));
  }

  get state(): BatchState {
    return readBatch(this.path);
  }

  /** It is new, and nothing of it was begun or decided. */
  get isUntouched(): boolean {
    return this.#isUntouched;
  }

  started(id: string, attempt: number): void {
    this.#isUntouched = false;
    this.#queue.append({ type: "started", id, attempt, at: new Date().toISOString() });
  }

  again(id: string, attempt: number, failure: string): void {
    this.#queue.append({ type: "again", id, attempt, failure });
  }

  question(question: Question): void {
    this.#queue.append({ type: "question", ...question });
  }

  /** Once per unit, whatever happens: a result that is there already stays. */
  async finish(result: TaskResult): Promise<void> {
    if (this.#finished.has(result.unit_id)) return;
    this.#isUntouched = false;
    this.#finished.add(result.unit_id);
    this.#results.append(result);
    await this.#results.sync();
  }

  /** Takes results back, so that their units are run again. The old ones are kept in results-before.jsonl. */
  takeBack(isWanted: (result: TaskResult) => boolean): number {
    const path = join(this.path, "results.jsonl");
    const all = readLog<TaskResult>(path);
    const taken = all.filter(isWanted);
    const before = AppendLog.open<TaskResult>(join(this.path, "results-before.jsonl")).log;
    for (const result of taken) {
      before.append(result);
      this.again(result.unit_id, result.attempt + 1, "asked for");
      this.#finished.delete(result.unit_id);
    }
    before.close();
    this.#results.close();
    const rest = all.filter((result) => !taken.includes(result));
    writeFileSync(`${path}.new`, rest.map((result) => `${JSON.stringify(result)}\n`).join(""));
    renameSync(`${path}.new`, path);
    this.#results = AppendLog.open<TaskResult>(path).log;
    return taken.length;
  }

  /** Processes that work for this one: whoever takes the folder over waits for their end. */
  addWorker(pid: number): void {
    writeFileSync(join(this.path, "workers"), `${pid}\n`, { flag: "a" });
  }

  /** Takes a batch away that was refused, so that the next try finds its place free. Files of others stay, and their folder with them. */
  discard(): void {
    this.close();
    for (const name of ["queue.jsonl", "results.jsonl"]) rmSync(join(this.path, name), { force: true });
    if (readdirSync(this.path).length === 0) rmdirSync(this.path);
  }

  close(): void {
    this.#queue.close();
    this.#results.close();
    rmSync(join(this.path, "workers"), { force: true });
    rmSync(join(this.path, "lock"), { force: true });
  }
}

export function readBatch(path: string): BatchState {
  const records = readLog<QueueRecord>(join(path, "queue.jsonl"));
  const [first] = records;
  if (first?.type !== "batch") throw new RuntimeError("no-input", `${path} holds no batch`);
  const results = new Map(readLog<TaskResult>(join(path, "results.jsonl")).map((result) => [result.unit_id, result]));
  const attempts = new Map<string, { attempt: number; isStarted: boolean }>();
  const units: BatchUnit[] = [];
  const questions = new Map<string, Question>();
  for (const record of records) {
    if (record.type === "unit") units.push(record.unit);
    if (record.type === "started") attempts.set(record.id, { attempt: record.attempt, isStarted: true });
    if (record.type === "again") attempts.set(record.id, { attempt: record.attempt, isStarted: false });
    if (record.type === "question") questions.set(`${record.id} ${record.name}`, record);
  }
  return {
    settings: first.settings,
    units: units.map((unit) => ({
      unit,
      ...(attempts.get(unit.id) ?? { attempt: 1, isStarted: false }),
      result: results.get(unit.id),
    })),
    questions: [...questions.values()].filter(({ id }) => !results.has(id)),
    isRunning: ownerOf(path) !== undefined,
  };
}

export function giveOrder(path: string, order: Order): void {
  writeFileSync(join(path, "orders.jsonl"), `${JSON.stringify(order)}\n`, { flag: "a" });
}

/** Orders that have not been taken yet; the caller does what they say. */
export function takeOrders(path: string): Order[] {
  const file = join(path, "orders.jsonl");
  if (!existsSync(file)) return [];
  const taken = `${file}.${process.pid}`;
  renameSync(file, taken); // what comes from now on is in a new file
  const orders = readLog<Order>(taken);
  rmSync(taken);
  return orders;
}

function ownerOf(path: string): number | undefined {
  try {
    const owner = parseOwner(readFileSync(join(path, "lock"), "utf8"));
    return owner && isOwnerAlive(owner) !== false ? owner.pid : undefined;
  } catch {
    return undefined;
  }
}

async function takeLock(path: string): Promise<void> {
  const file = join(path, "lock");
  for (let tries = 0; ; tries++) {
    try {
      const own = {
        pid: process.pid,
        token: String(Date.now()),
        host: hostname(),
        startedAt: Math.round(Date.now() - process.uptime() * 1000),
      };
      writeFileSync(file, JSON.stringify(own), { flag: "wx" });
      break;
    } catch (error) {
      if (Object(error).code !== "EEXIST" || tries > 2) throw error;
      const pid = ownerOf(path);
      if (pid !== undefined)
        throw new RuntimeError("busy", `Process ${pid} works on ${path}`, { hint: "outrider batch status shows how far it is" });
      rmSync(file, { force: true }); // of a process that is no more
    }
  }
  await workersGone(path);
}

/** Workers end with the process that started them; that takes a moment. */
async function workersGone(path: string): Promise<void> {
  const file = join(path, "workers");
  if (!existsSync(file)) return;
  const pids = readFileSync(file, "utf8").split("\n").filter(Boolean).map(Number);
  for (let tries = 0; tries < 100 && pids.some(isAlive); tries++) await delay(50);
  rmSync(file, { force: true });
}

function isAlive(pid: number): boolean {
  return isOwnerAlive({ pid, token: "", host: hostname(), started: "", boot: "", space: "", startedAt: 0 }) !== false;
}
