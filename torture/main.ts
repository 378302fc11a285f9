import { join } from "node:path";
import { parseArgs } from "node:util";
import { tortureCheckpoints } from "./checkpoints.ts";
import { countSurvivors } from "./census.ts";
import { crowdHome } from "./crowds.ts";
import { damageLogs, readLog } from "./damage.ts";
import { countEndings } from "./endings.ts";
import { breakDisks } from "./faults.ts";
import { killBatches } from "./batches.ts";
import { fleetKinds, killFleet } from "./fleets.ts";
import { rehearseMachines } from "./machines.ts";
import { killRuns } from "./kills.ts";
import { failProcesses } from "./process-faults.ts";
import { failProviders } from "./provider-faults.ts";
import type { Tally } from "./report.ts";
import { closeScene, openScene, type Programs, runResume } from "./runs.ts";
import { startPlanner } from "./scripted-agent.ts";
import { soakTasks } from "./soak.ts";
import { crowdServer } from "./crowded-server.ts";
import { killTasks } from "./tasks.ts";
import { killWorktrees, settleWorktrees } from "./worktrees.ts";
import { doubleWriters } from "./writers.ts";
import { killInboxes } from "./inboxes.ts";

const sizes = {
  long: {
    corruptions: 100_000,
    logSteps: 6,
    steps: 30,
    points: 3300, // more than a run has boundaries; some fall behind the end of their run
    moments: 1000,
    faults: 500,
    runs: 64,
    rounds: 10,
    attempts: 1000,
    scripts: 5000,
    restores: 500,
    providerFaults: 4200,
    processFaults: 800,
    sessions: 200,
    killed: 1000,
    endings: 5000,
    trees: 1000,
    treeKills: 500,
    batchKills: 200,
    fleetTasks: 10_000,
    machineTasks: 200,
    taskKills: 500,
    soaked: 2000,
    connections: 1000,
    served: 200,
    servedPrompts: 12,
    seconds: 1800,
    rests: 12,
  },
  short: {
    corruptions: 3000,
    logSteps: 2,
    steps: 8,
    points: 60,
    moments: 40,
    faults: 30,
    runs: 8,
    rounds: 1,
    attempts: 50,
    scripts: 150,
    restores: 12,
    providerFaults: 1800,
    processFaults: 200,
    sessions: 6,
    killed: 40,
    endings: 60,
    trees: 30,
    treeKills: 8,
    batchKills: 10,
    fleetTasks: 24,
    machineTasks: 12,
    taskKills: 8,
    soaked: 200,
    connections: 50,
    served: 10,
    servedPrompts: 3,
    seconds: 4,
    rests: 3,
  },
};
const parts = [
  "damage",
  "kills",
  "faults",
  "crowds",
  "writers",
  "checkpoints",
  "contract",
  "inbox",
  "census",
  "endings",
  "worktrees",
  "batches",
  "fleets",
  "fleets-embedded",
  "fleets-engine",
  "fleets-nodes",
  "machines",
  "tasks",
  "soak",
  "server",
] as const;

/** Runs the parts that were asked for, all of them when none was; answers the exit code. */
export async function torture(
  argv: readonly string[],
  programs: Programs & { writer: string; machines: string; project: string },
): Promise<number> {
  const options = {
    short: { type: "boolean", default: false },
    /** A part of the counts, for a look at the long form. */
    share: { type: "string", default: "1" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    /** How long the server is under load, whatever the form. */
    seconds: { type: "string" },
    help: { type: "boolean", default: false },
  } as const;
  const { values, positionals } = parseArgs({ args: [...argv], allowPositionals: true, options });
  if (values.help) {
    process.stdout.write(
      `npm run torture -- [PART…] [--short] [--share 0.1] [--seed N] [--seconds N]\nParts: ${parts.join(", ")}\n`,
    );
    return 0;
  }
  const unknown = positionals.filter((name) => !parts.some((part) => part === name));
  if (unknown.length > 0) {
    process.stderr.write(`There is no part ${unknown.join(", ")}. The parts are: ${parts.join(", ")}\n`);
    return 64;
  }
  const size = take(sizes[values.short ? "short" : "long"], Number(values.share));
  const seed = Number(values.seed);
  const wants = (part: (typeof parts)[number]): boolean => positionals.length === 0 || positionals.includes(part);
  process.stdout.write(`Node ${process.version}, ${values.short ? "short" : "long"} form, seed ${seed}\n`);
  const server = await startPlanner();
  let violations = 0;
  const tell = (tallies: readonly Tally[]): void => {
    for (const tally of tallies) {
      process.stdout.write(`${tally.violations.length === 0 ? "ok  " : "FAIL"} ${tally.text}\n`);
      violations += tally.violations.length;
    }
  };
  try {
    if (wants("damage"))
      tell(await damageLogs({ log: await makeLog(programs, server.url, size.logSteps), corruptions: size.corruptions, seed }));
    if (wants("kills"))
      tell(await killRuns({ programs, server, steps: size.steps, points: size.points, moments: size.moments, seed }));
    if (wants("faults")) tell([await breakDisks({ programs, server, steps: size.steps, points: size.faults })]);
    if (wants("checkpoints")) tell(await tortureCheckpoints({ scripts: size.scripts, kills: size.restores, seed }));
    if (wants("crowds")) tell([await crowdHome({ programs, server, runs: size.runs, rounds: size.rounds })]);
    if (wants("contract")) tell([await failProviders({ runs: size.providerFaults, seed })]);
    if (wants("contract")) tell([await failProcesses({ command: programs.command, runs: size.processFaults, seed })]);
    if (wants("inbox")) tell([await killInboxes({ project: programs.project, sessions: size.sessions, seed })]);
    if (wants("census")) tell([await countSurvivors({ command: programs.command, kills: size.killed, seed })]);
    if (wants("endings")) tell([await countEndings({ ...programs, runs: size.endings, seed })]);
    if (wants("worktrees")) tell([await settleWorktrees({ scripts: size.trees, seed })]);
    if (wants("worktrees")) tell([await killWorktrees({ command: programs.command, kills: size.treeKills, seed })]);
    if (wants("batches")) tell([await killBatches({ command: programs.command, kills: size.batchKills, seed })]);
    for (const kind of fleetKinds) {
      if (!wants("fleets") && !wants(`fleets-${kind}`)) continue;
      const { command, project } = programs;
      tell([await killFleet(kind, { command, project, tasks: size.fleetTasks, workers: 4, seed })]);
    }
    if (wants("machines")) {
      const { command, project, machines: program } = programs;
      tell([await rehearseMachines({ program, command, project, tasks: size.machineTasks, seed })]);
    }
    if (wants("tasks")) tell([await killTasks({ programs, kills: size.taskKills, seed })]);
    if (wants("soak")) tell([await soakTasks({ programs, tasks: size.soaked })]);
    if (wants("server")) {
      const { connections, served: sessions, servedPrompts: prompts } = size;
      const seconds = Number(values.seconds ?? size.seconds);
      tell([await crowdServer({ command: programs.command, connections, sessions, prompts, seconds, parts: size.rests, seed })]);
    }
    if (wants("writers")) tell([await doubleWriters({ program: programs.writer, attempts: size.attempts })]);
  } finally {
    await server.close();
  }
  return violations === 0 ? 0 : 1;
}

function take(size: typeof sizes.long, share: number): typeof sizes.long {
  const part = (count: number): number => Math.max(1, Math.round(count * share));
  const { points, moments, faults, rounds, attempts, corruptions } = size;
  return {
    ...size,
    points: part(points),
    moments: part(moments),
    faults: part(faults),
    rounds: part(rounds),
    attempts: part(attempts),
    corruptions: part(corruptions),
    providerFaults: part(size.providerFaults),
    processFaults: part(size.processFaults),
    sessions: part(size.sessions),
    killed: part(size.killed),
    endings: part(size.endings),
    trees: part(size.trees),
    treeKills: part(size.treeKills),
    batchKills: part(size.batchKills),
    fleetTasks: part(size.fleetTasks),
    machineTasks: part(size.machineTasks),
    taskKills: part(size.taskKills),
    soaked: part(size.soaked),
    connections: part(size.connections),
    served: part(size.served),
    seconds: part(size.seconds),
  };
}

async function makeLog(programs: Programs, url: string, steps: number): Promise<Buffer> {
  const scene = openScene({ url, steps });
  try {
    const ended = await runResume(programs, scene);
    if (ended.code !== 0) throw new Error(`The session to be damaged did not come to its end: ${ended.stdout}${ended.stderr}`);
    return readLog(join(scene.home, "sessions", `${scene.sessionId}.jsonl`));
  } finally {
    closeScene(scene);
  }
}
