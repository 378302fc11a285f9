import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import type { BatchEnd, BatchFolder, BatchRun, BatchState } from "@outrider/fleet";
import { RuntimeError } from "@outrider/runtime";
import { modelKeys, nearest } from "@outrider/runtime/host";
import { exitCodes } from "../../exit-codes.ts";
import { type OwnWords, takeOwnWords } from "../../flags/words.ts";
import { surroundings } from "../../request/plan-run.ts";
import { withdrawKeys } from "../../request/withdraw-keys.ts";
import { complain } from "../../run/say.ts";
import { print, visible } from "../../terminal/visible.ts";
import { batchFlags, defaultsOf, settingsOf } from "./batch-flags.ts";
import { usage } from "./batch-usage.ts";
import { asOurs, loadFleet, loadStandaloneFleet } from "./load-fleet.ts";
import { watchBatch } from "./watch-batch.ts";

/** Many tasks, each a run of its own; and what looks after them. */
export async function runBatchCommand(args: readonly string[]): Promise<number> {
  try {
    return await choose(args);
  } catch (error) {
    throw asOurs(error);
  }
}

async function choose(args: readonly string[]): Promise<number> {
  if (args[0] === "--as-worker-of-parent" && process.send) return await (await loadStandaloneFleet()).work();
  const words = takeOwnWords(args, batchFlags);
  if (words.has("--help") || words.has("-h")) {
    await print(usage);
    return exitCodes.success;
  }
  const flag = words.rest.find((word) => word.startsWith("-") && word !== "-");
  if (flag !== undefined)
    throw misuse(`batch has no flag ${flag}`, nearest(flag, [...batchFlags.switches, ...batchFlags.values]));
  const [first, ...more] = words.rest;
  if (first === "status") return await showStatus(more, words);
  if (first === "cancel") return await cancel(more);
  if (first === "approve") return await approve(more, words);
  if (first === "retry") return await retry(more, words);
  if (more.length > 0) throw misuse(`batch takes one file or folder of tasks, not also ${more[0]}`);
  return await begin(first, words);
}

async function begin(source: string | undefined, words: OwnWords): Promise<number> {
  const fleet = await loadFleet();
  const settings = settingsOf(words);
  if (words.has("--resume")) {
    const out = words.value("--out") ?? source ?? "results";
    const openExecutor = await elsewhere(out, words);
    return await work(await fleet.BatchFolder.open(out), words, openExecutor);
  }
  if (source === undefined) throw misuse("batch takes a file or a folder of tasks, or - for stdin");
  const tasks = await fleet.readTasks(source, {
    cwd: process.cwd(),
    defaults: defaultsOf(words),
    stdin: () => text(process.stdin),
  });
  const out = words.value("--out") ?? "results";
  const openExecutor = await elsewhere(out, words);
  return await work(await fleet.createBatch(out, tasks, settings), words, openExecutor);
}

async function work(folder: BatchFolder, words: OwnWords, openExecutor: BatchRun["openExecutor"]): Promise<number> {
  const fleet = await loadFleet();
  const around = surroundings();
  withdrawKeys(modelKeys);
  const stopping = new AbortController();
  let signals = 0;
  const onSignal = (): void => {
    if (++signals > 1) process.exit(exitCodes.killed);
    if (!words.has("--quiet")) complain("Stopping: what runs is kept for --resume. A second Ctrl-C leaves at once.");
    stopping.abort();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, onSignal);
  const watch = watchBatch({ isQuiet: words.has("--quiet"), isAnimated: process.stderr.isTTY && !process.env["CI"] });
  try {
    const end = await fleet.runBatch({
      folder,
      settings: settingsOf(words),
      around,
      signal: stopping.signal,
      onProgress: watch.onProgress,
      warn: words.has("--quiet") ? () => {} : watch.say,
      openExecutor,
    });
    watch.stop();
    await print(words.has("--json") ? `${JSON.stringify(end.summary)}\n` : fleet.summaryText(end.summary));
    if (words.has("--report")) await writeReport(folder.path);
    if (end.left > 0 && !words.has("--quiet")) complain(whyLeft(end, folder.path));
    return exitCodeOfBatch(end);
  } finally {
    watch.stop();
    setImmediate(() => process.exit()); // whatever a tool left open must not keep a finished batch alive
  }
}

/** Pages of what has been run so far; a batch of which nothing was run has none. */
async function writeReport(path: string): Promise<void> {
  if (!existsSync(join(path, "journals"))) return;
  const { reportMany } = await import("../report/report-many.ts");
  await reportMany([join(path, "journals")], join(path, "report"));
}

/** Who runs the tasks, where an engine does; a batch that was begun on one stays there. */
async function elsewhere(path: string, words: OwnWords): Promise<BatchRun["openExecutor"]> {
  const name = words.value("--engine");
  if (name === undefined && !existsSync(join(path, "engine.json"))) return undefined;
  if (name !== undefined && name !== "restate") throw misuse(`The engine is restate, not ${name}`);
  const { batchInEngine } = await (await loadFleet()).loadEngine();
  const [ingress, admin, service] = [words.value("--ingress"), words.value("--admin"), words.value("--service")];
  const given = { ingress, admin, service, store: words.value("--store"), tenant: words.value("--tenant") };
  return await batchInEngine(resolve(path), given, surroundings().env);
}

function whyLeft({ left, why }: BatchEnd, path: string): string {
  const reason = {
    done: "It ended early",
    signal: "It was stopped",
    "fail-fast": "One did not pass",
    budget: "The budget is spent",
  }[why];
  return `${reason}: ${left} left. Go on with: outrider batch --resume --out ${path}`;
}

function exitCodeOfBatch({ summary, left, why }: BatchEnd): number {
  if (why === "budget" && left > 0) return exitCodes.maxBudget;
  if (why === "signal" && left > 0) return exitCodes.cancelled;
  return summary.failed > 0 || left > 0 ? exitCodes.error : exitCodes.success;
}

async function showStatus([path = "results"]: readonly string[], words: OwnWords): Promise<number> {
  const fleet = await loadFleet();
  const state = fleet.readBatch(path);
  const summary = fleet.summaryOf({ state });
  if (words.has("--json")) {
    const units = state.units.map(({ unit, attempt, isStarted, result }) => {
      return { id: unit.id, attempt, state: result?.status ?? (isStarted ? "started" : "waiting") };
    });
    await print(`${JSON.stringify({ running: state.isRunning, summary, questions: state.questions, units })}\n`);
    return exitCodes.success;
  }
  const asked = state.questions.map(
    ({ id, name, tool, reason }) => `asks: ${visible(id)} ${name}: ${tool} (${visible(reason)})\n`,
  );
  await print(`${state.isRunning ? "running" : "nobody works on it"}\n${fleet.summaryText(summary)}${asked.join("")}`);
  return exitCodes.success;
}

async function cancel([path = "results", ...ids]: readonly string[]): Promise<number> {
  const fleet = await loadFleet();
  const state = fleet.readBatch(path);
  needIds(ids, state);
  const open = state.units.filter(({ result }) => !result).map(({ unit }) => unit);
  const meant = open.filter(({ id, taskId }) => ids.length === 0 || ids.includes(id) || ids.includes(taskId));
  if (meant.length === 0) {
    await print(`${ids.length === 0 ? "All of it" : ids.join(", ")} is finished: nothing is cancelled\n`);
    return exitCodes.success;
  }
  fleet.giveOrder(path, { type: "cancel", ids: meant.map(({ id }) => id) });
  const when = state.isRunning ? "at once" : "when it is resumed";
  await print(`${ids.length === 0 ? "All that is not finished" : ids.join(", ")} is cancelled ${when}\n`);
  return exitCodes.success;
}

async function approve([path = "results", id, name]: readonly string[], words: OwnWords): Promise<number> {
  if (id === undefined) throw misuse("batch approve takes a folder and the id of a task");
  await (await loadFleet()).answerQuestion(path, id, { name, approved: !words.has("--deny") });
  return exitCodes.success;
}

async function retry([path = "results", ...ids]: readonly string[], words: OwnWords): Promise<number> {
  const fleet = await loadFleet();
  needIds(ids, fleet.readBatch(path));
  const openExecutor = await elsewhere(path, words);
  const folder = await fleet.BatchFolder.open(path);
  const count = folder.takeBack(({ passed, unit_id, task_id }) =>
    ids.length === 0 ? !passed : ids.includes(unit_id) || ids.includes(task_id),
  );
  if (count === 0) complain("Nothing of it is to be run again");
  return await work(folder, words, openExecutor);
}

/** A name that nobody has would do nothing, and say that it did. */
function needIds(ids: readonly string[], { units }: BatchState): void {
  const known = new Set(units.flatMap(({ unit }) => [unit.id, unit.taskId]));
  const wrong = ids.find((id) => !known.has(id));
  if (wrong === undefined) return;
  const guess = nearest(wrong, [...known]);
  throw new RuntimeError("not-found", `The batch has no task ${wrong}${guess === undefined ? "" : `; did you mean ${guess}?`}`);
}

function misuse(message: string, guess?: string): RuntimeError {
  return new RuntimeError("usage", `${message}${guess === undefined ? "" : `; did you mean ${guess}?`}\n${usage}`);
}
