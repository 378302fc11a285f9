import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { isTerminal } from "../packages/runtime/src/tasks/background/task-status.ts";
import type { AgentEvent } from "../packages/runtime/src/protocol/events.ts";
import { sleepers } from "./census.ts";
import { createRandom, inParallel, Tally } from "./report.ts";
import {
  closeScene,
  type Ended,
  type Fault,
  framesIn,
  openScene,
  type Programs,
  readSession,
  runChild,
  type Scene,
} from "./runs.ts";
import { goOnPrompt, launchPrompt, startTaskModel } from "./task-model.ts";

type KillOptions = { readonly programs: Programs; readonly kills: number; readonly seed: number };

/** The command, or a program with the library, which also makes a group; killed at a write, or at any moment. */
type Job = { readonly index: number; readonly by: "command" | "library"; readonly fault: Fault & { killAfterMs?: number } };

const guardMs = 10_000;

/**
 * Kills sessions with two agents, a command and a group in the background, and goes on with them twice: what was acknowledged is there, no
 * process is left, each task has ended once and was told once, nothing was started again, and each turn has one result.
 */
export async function killTasks(options: KillOptions): Promise<Tally> {
  const tally = new Tally("kill -9 with agents, commands and groups in the background");
  const random = createRandom(options.seed);
  const length = { command: await measure("command", options.programs), library: await measure("library", options.programs) };
  const jobs = Array.from({ length: options.kills }, (_, index): Job => {
    const by = index % 2 === 0 ? "command" : "library";
    const { operations, ms } = length[by];
    // Every third at a moment of its own; the others at the writes of a run, one after the other and over its whole length.
    if (index % 3 === 0)
      return { index, by, fault: { at: 0, how: "", root: "home", killAfterMs: Math.round(random(1000) * (ms / 1000)) } };
    const at = 1 + Math.floor((index / options.kills) * operations);
    return { index, by, fault: { at, how: ["before", "half", "after"][random(3)] ?? "after", root: "home" } };
  });
  await inParallel(jobs, 2, async (job) => {
    try {
      await killOnce(job, options.programs, tally);
    } catch (error) {
      tally.violate(`${JSON.stringify(job)}: ${error instanceof Error ? error.message : error}`);
    }
  });
  return tally;
}

async function killOnce(job: Job, programs: Programs, tally: Tally): Promise<void> {
  const mark = markOf(job.index);
  const server = await startTaskModel(mark);
  const scene = openScene({ url: server.url, steps: 0 });
  const violate = (what: string): void => tally.violate(`${JSON.stringify(job)}: ${what}`);
  try {
    const killed = await runJob(job.by, { programs, scene, fault: job.fault });
    tally.count(killed.signal === "SIGKILL" ? "kills" : "runs that were over before");
    const left = await processesLeft(mark);
    if (left > 0) violate(`${left} processes live on`);
    const atKill = await readSession(scene);
    for (const what of lostOf(job.by, killed.stdout, atKill)) violate(`lost ${what}`);
    const marks = readMarks(scene);

    const goOn = async (): Promise<AgentEvent[]> => {
      const before = await readSession(scene);
      const ended = await runJob(job.by, { programs, scene, isAgain: true });
      const events = await readSession(scene);
      if (ended.code !== 0) violate(`could not go on: ${ended.stdout.slice(-300)}${ended.stderr.slice(-300)}`);
      if (job.by === "command") for (const what of wrongResults(ended.stdout, events.slice(before.length))) violate(what);
      return events;
    };
    const once = await goOn();
    for (const what of [...wrongTasks(once), ...otherEnds(job.by, killed.stdout, once)]) violate(what);
    const twice = await goOn();
    for (const what of wrongTasks(twice)) violate(`the second time: ${what}`);
    if (atKill.some(({ type }) => type === "turn.started") && readMarks(scene) !== marks) violate("something was started again");
    tally.count(
      "tasks at the kill",
      new Set(atKill.flatMap((event) => (event.type === "background.created" ? [event.task.id] : []))).size,
    );
    tally.count(
      "stale",
      twice.filter((event) => event.type === "background.ended" && event.task.timeoutReason === "stale_worker").length,
    );
    tally.count("groups", twice.filter(({ type }) => type === "group.created").length);
  } finally {
    await server.close();
    closeScene(scene);
  }
}

type Run = { readonly programs: Programs; readonly scene: Scene; readonly fault?: Job["fault"]; readonly isAgain?: boolean };

async function runJob(by: Job["by"], { programs, scene, fault, isAgain = false }: Run): Promise<Ended> {
  const { home, project, sessionId, url } = scene;
  if (by === "library") return await runChild([programs.tasks, home, project, sessionId, url], { programs, scene, fault });
  const isThere = isAgain && (await readSession(scene)).length > 0;
  const which = isThere ? ["--resume", sessionId] : ["--session-id", sessionId];
  const flags = ["--allowedTools", "Bash", "--sandbox", "off", "--output-format", "stream-json", "--background-wait", "30s"];
  const prompt = isThere ? goOnPrompt : launchPrompt;
  return await runChild([programs.command, "-p", prompt, ...which, ...flags], { programs, scene, fault });
}

/** How many operations a run has that nobody disturbs, and how long it takes. */
async function measure(by: Job["by"], programs: Programs): Promise<{ operations: number; ms: number }> {
  const server = await startTaskModel(markOf(by === "command" ? 900_001 : 900_002));
  const scene = openScene({ url: server.url, steps: 0 });
  const startedAt = Date.now();
  try {
    const ended = await runJob(by, { programs, scene });
    const ms = Date.now() - startedAt;
    const wrong = [
      ...wrongTasks(await readSession(scene)),
      ...(readMarks(scene).split("\n").length === 7 ? [] : [readMarks(scene)]),
    ];
    if (ended.code !== 0 || wrong.length > 0)
      throw new Error(`A run that nobody disturbed went wrong: ${wrong.join(", ")}${ended.stderr}${ended.stdout.slice(-500)}`);
    return { operations: ended.operations, ms };
  } finally {
    await server.close();
    closeScene(scene);
  }
}

function markOf(index: number): string {
  return `0.1${process.pid}${String(index).padStart(6, "0")}`;
}

/** The guard of a run that was killed ends what it had started, soon. */
async function processesLeft(mark: string): Promise<number> {
  const limit = Date.now() + guardMs;
  while (sleepers(mark).length > 0 && Date.now() < limit) await pause(20);
  return sleepers(mark).length;
}

/** What was shown and is not on record. */
function lostOf(by: Job["by"], stdout: string, stored: readonly AgentEvent[]): string[] {
  const created = new Set(stored.flatMap((event) => (event.type === "background.created" ? [event.task.id] : [])));
  const ended = new Set(
    stored.flatMap((event) => {
      if (event.type === "background.ended") return [event.task.id];
      return event.type === "task.ended" ? [event.taskId] : [];
    }),
  );
  const groups = new Map(
    stored.flatMap((event) =>
      event.type === "group.created" || event.type === "group.ended" ? [[event.group.id, event.group.status]] : [],
    ),
  );
  const turns = stored.filter(({ type }) => type === "turn.ended").length;
  if (by === "command")
    return (framesIn(stdout) as Shown[]).flatMap((frame) => {
      if (frame.type === "result") return turns > (frame.result_index ?? 0) ? [] : [`result ${frame.result_index}`];
      if (frame.subtype === "task_started") return created.has(frame.task_id ?? "") ? [] : [`the start of ${frame.task_id}`];
      if (frame.subtype === "task_notification") return ended.has(frame.task_id ?? "") ? [] : [`the end of ${frame.task_id}`];
      return [];
    });
  return (framesIn(stdout) as unknown as Said[]).flatMap((line) => {
    if (line.outcome !== undefined && turns === 0) return ["the end of the turn"];
    if (line.task !== undefined && !created.has(line.task)) return [`the task ${line.task}`];
    if (line.group !== undefined && groups.get(line.group) !== (line.status ?? groups.get(line.group) ?? "running"))
      return [`the group ${line.group}, ${line.status ?? "made"}`];
    return [];
  });
}

/** Tasks that were shown as completed, and are remembered as something else. */
function otherEnds(by: Job["by"], stdout: string, stored: readonly AgentEvent[]): string[] {
  if (by !== "command") return [];
  const ends = new Map(
    stored.flatMap((event) => (event.type === "background.ended" ? [[event.task.id, event.task.status]] : [])),
  );
  return (framesIn(stdout) as Shown[]).flatMap(({ subtype, status, task_id = "" }) => {
    if (subtype !== "task_notification" || status !== "completed" || ends.get(task_id) === "completed") return [];
    return [`${task_id} was shown as completed and is ${ends.get(task_id)}`];
  });
}

type Shown = {
  readonly status?: string;
  readonly type: string;
  readonly subtype?: string;
  readonly task_id?: string;
  readonly result_index?: number;
};
type Said = { readonly outcome?: string; readonly task?: string; readonly group?: string; readonly status?: string };

/** Every task has begun and ended at most once and was told once; every group is over, once. */
function wrongTasks(events: readonly AgentEvent[]): string[] {
  const counts = new Map<string, number>();
  const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
  const tasks = new Set<string>();
  const groups = new Set<string>();
  for (const event of events) {
    if (event.type === "background.created") tasks.add(event.task.id);
    if (event.type === "group.created") groups.add(event.group.id);
    if (event.type === "background.created" || event.type === "background.started" || event.type === "background.ended")
      count(`${event.type} ${event.task.id}`);
    if (event.type === "background.ended" && !isTerminal(event.task.status)) count(`ended as ${event.task.status}`);
    if (event.type === "group.created" || event.type === "group.ended") count(`${event.type} ${event.group.id}`);
    if (event.type === "turn.started" || event.type === "input.added") for (const id of event.tasks ?? []) count(`told ${id}`);
  }
  const isOnce = (what: string): string[] => (counts.get(what) === 1 ? [] : [`${what}: ${counts.get(what) ?? 0} times`]);
  return [
    ...[...tasks].flatMap((id) => [
      ...["background.created", "background.ended", "told"].flatMap((what) => isOnce(`${what} ${id}`)),
      ...((counts.get(`background.started ${id}`) ?? 0) > 1 ? [`${id} was started again`] : []),
    ]),
    ...[...groups].flatMap((id) => ["group.created", "group.ended"].flatMap((what) => isOnce(`${what} ${id}`))),
  ];
}

function wrongResults(stdout: string, added: readonly AgentEvent[]): string[] {
  const results = framesIn(stdout).filter(({ type }) => type === "result");
  const turns = added.filter(({ type }) => type === "turn.started").length; // the one that was cut off ends here, too
  return [
    ...(results.length === turns && turns > 0 ? [] : [`${results.length} results of ${turns} turns`]),
    ...results.flatMap((result) => (result.is_error ? [`a result that failed: ${JSON.stringify(result).slice(0, 300)}`] : [])),
  ];
}

function readMarks({ project }: Scene): string {
  try {
    return readFileSync(join(project, "marks"), "utf8");
  } catch {
    return "";
  }
}
