// Many runs: what a run costs in a batch of 100, 1,000 and 10,000 tasks, and steps per second on an engine against the engine's own floor, a
// workflow of empty steps, in the same run. node bench/fleet.mjs [--tasks 100,1000,10000] [--runs 200] [--workers 2] [--rounds 3] [--json FILE]
// The engine comes with the packages of test/fleet: npm run test:sdk -- fleet/restate installs them.
import cluster from "node:cluster";
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { createServer } from "node:net";
import { once } from "node:events";
import { RestateApi, startRestateServer } from "@outrider/fleet/restate";
import { summarize } from "./statistics.mjs";

const root = dirname(import.meta.dirname);
const command = join(root, "packages/cli/bin/outrider.js");
const { values: flags } = parseArgs({
  options: {
    tasks: { type: "string", default: "100,1000,10000" },
    runs: { type: "string", default: "200" },
    workers: { type: "string", default: "2" },
    rounds: { type: "string", default: "3" },
    json: { type: "string" },
  },
});
/** A task of one call: begin, workspace, an answer, a round of calls, an answer, collect; and the mark of who took it up. */
const stepsOfTask = 7;
const atOnce = 50;

const folder = mkdtempSync(join(tmpdir(), "outrider-bench-fleet-"));
try {
  const figures = {
    node: process.version,
    processors: cpus().length,
    load: loadavg()[0],
    embedded: await measureEmbedded(flags.tasks.split(",").map(Number)),
    engine: await measureEngine({ runs: Number(flags.runs), workers: Number(flags.workers), rounds: Number(flags.rounds) }),
  };
  tell(figures);
  if (flags.json) writeFileSync(flags.json, `${JSON.stringify(figures, null, 2)}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit();

/** One answer each. Wall and processor time for each task, of the whole command. */
async function measureEmbedded(sizes) {
  mkdirSync(join(folder, "work"));
  const model = scripted("one.json", [{ text: "Done." }]);
  const rows = [];
  for (const tasks of sizes) {
    writeTasks(tasks, { model, cwd: "work" });
    const { wallMs, cpuMs } = await runBatch({ out: `out-${tasks}`, concurrency: 8 });
    rows.push({ tasks, wallMs: wallMs / tasks, cpuMs: cpuMs / tasks });
    process.stderr.write(`${tasks} tasks embedded: ${(cpuMs / tasks).toFixed(1)} ms of processor time each\n`);
  }
  return rows;
}

async function measureEngine({ runs, workers, rounds }) {
  const engine = await startRestateServer({
    folder: join(folder, "engine"),
    from: [join(root, "test/fleet")],
    env: { PATH: process.env.PATH },
  });
  try {
    const floor = await openFloor(engine, workers);
    const port = String(await freePort());
    const side = String(await freePort());
    const place = ["--engine", "restate", "--ingress", engine.ingress, "--admin", engine.admin, "--store", join(folder, "store")];
    const worker = spawn(
      process.execPath,
      [
        command,
        "worker",
        ...place,
        "--port",
        port,
        "--side-port",
        side,
        "--processes",
        String(workers),
        "--folder",
        join(folder, "worker"),
      ],
      { env: environment(), stdio: ["ignore", "pipe", "inherit"] },
    );
    await once(worker.stdout, "data");
    const model = scripted("calls.json", [{ calls: [{ name: "Read", input: { file_path: "a.txt" } }] }, { text: "Done." }]);
    writeFileSync(join(folder, "work/a.txt"), "a\n");
    writeTasks(runs, { model, cwd: "work", allowedTools: ["Read"] });
    const onEngine = async (batch) => {
      const before = { engine: cpuOf(engine.process.pid), workers: cpuOfChildren(childrenOf(worker.pid)) };
      const { cpuMs, workedMs } = await runBatch({ ...batch, more: place });
      return {
        engine: cpuOf(engine.process.pid) - before.engine,
        workers: cpuOfChildren(childrenOf(worker.pid)) - before.workers,
        command: cpuMs - startMs,
        workedMs,
      };
    };
    const { cpuMs: startMs } = await timed(["batch", "--help"]);
    const floors = [];
    const ours = [];
    const used = { floorEngine: 0, floorWorkers: 0, engine: 0, workers: 0, command: 0, workedMs: 0 };
    for (let round = 0; round < rounds; round++) {
      const before = { engine: cpuOf(engine.process.pid), floor: cpuOfChildren(floor.pids), ours: 0 };
      floors.push(await floor.stepsPerSecond(runs, `floor-${round}`));
      used.floorEngine += cpuOf(engine.process.pid) - before.engine;
      used.floorWorkers += cpuOfChildren(floor.pids) - before.floor;
      const one = await onEngine({ out: `engine-${round}`, concurrency: atOnce });
      for (const name of ["engine", "workers", "command", "workedMs"]) used[name] += one[name];
      ours.push((runs * stepsOfTask) / (one.workedMs / 1000));
      process.stderr.write(
        `round ${round + 1}: floor ${floors.at(-1).toFixed(0)} steps/s, tasks ${ours.at(-1).toFixed(0)} steps/s\n`,
      );
    }
    const points = [];
    for (const point of [
      { concurrency: 4, delayMs: 200 },
      { concurrency: 16, delayMs: 200 },
    ])
      points.push(await measurePoint(point, onEngine, runs));
    floor.close();
    worker.kill("SIGTERM");
    await once(worker, "exit");
    const [least, mine] = [summarize(floors), summarize(ours)];
    const steps = runs * rounds * stepsOfTask;
    const cpuMsPerStep = Object.fromEntries(
      ["floorEngine", "floorWorkers", "engine", "workers", "command"].map((name) => [name, used[name] / steps]),
    );
    const storedBytes =
      Number(execFileSync("du", ["-sb", join(folder, "store")], { encoding: "utf8" }).split("\t")[0]) / (runs * rounds);
    const given = (used.engine + used.workers + used.command) / used.workedMs;
    return {
      runs,
      workers,
      stepsOfTask,
      floor: least,
      ours: mine,
      ratio: mine.median / least.median,
      cpuMsPerStep,
      processorsGiven: given,
      storedBytes,
      points,
    };
  } finally {
    await engine.stop();
  }
}

/** Tasks whose model takes its time: runs per second with few at once. The simulation of bench/scale.mjs has to find the same. */
async function measurePoint({ concurrency, delayMs }, onEngine, runs) {
  const tasks = Math.min(runs, concurrency * 10);
  const model = scripted(`slow-${concurrency}.json`, [
    { calls: [{ name: "Read", input: { file_path: "a.txt" } }], delayMs },
    { text: "Done.", delayMs },
  ]);
  writeTasks(tasks, { model, cwd: "work", allowedTools: ["Read"] });
  const { workedMs } = await onEngine({ out: `point-${concurrency}`, concurrency });
  return { concurrency, delayMs, tasks, runsPerSecond: tasks / (workedMs / 1000) };
}

/** From the first start to the last end of a task: how long the command takes to start is no matter of the engine. */
function workedMs(out) {
  const results = readFileSync(join(out, "results.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const starts = results.map(({ started_at }) => Date.parse(started_at));
  return Math.max(...results.map(({ ended_at }) => Date.parse(ended_at))) - Math.min(...starts);
}

/** Milliseconds of processor time, by Linux's own count of hundredths. */
function cpuOf(pid) {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ").slice(11, 13).map(Number);
  return (user + system) * 10;
}

function cpuOfChildren(pids) {
  return pids.reduce((sum, pid) => sum + cpuOf(pid), 0);
}

function childrenOf(pid) {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
}

/** Workers of empty steps, as many processes as ours. */
async function openFloor(engine, workers) {
  const port = await freePort();
  cluster.setupPrimary({ exec: join(import.meta.dirname, "fleet-floor-worker.mjs"), args: [] });
  const children = Array.from({ length: workers }, () => cluster.fork({ FLOOR_PORT: String(port) }));
  await Promise.all(children.map((child) => once(child, "message")));
  const api = new RestateApi(engine);
  await api.register(`http://127.0.0.1:${port}`);
  return {
    async stepsPerSecond(runs, name) {
      const startedAt = performance.now();
      let next = 0;
      const lane = async () => {
        while (next < runs) {
          const key = `${name}-${next++}`;
          await api.send("floor", key, { steps: stepsOfTask });
          await api.attach("floor", key);
        }
      };
      await Promise.all(Array.from({ length: atOnce }, lane));
      return (runs * stepsOfTask) / ((performance.now() - startedAt) / 1000);
    },
    pids: children.map((child) => child.process.pid),
    close: () => {
      for (const child of children) child.kill();
    },
  };
}

function scripted(name, replies) {
  writeFileSync(join(folder, name), JSON.stringify(replies));
  return `scripted/${join(folder, name)}`;
}

function writeTasks(count, task) {
  const lines = Array.from({ length: count }, (_, at) => JSON.stringify({ id: `t${at + 1}`, prompt: `Do ${at + 1}`, ...task }));
  writeFileSync(join(folder, "tasks.jsonl"), lines.join("\n"));
}

function environment() {
  return { PATH: process.env.PATH, HOME: folder, OUTRIDER_HOME: join(folder, "home") };
}

async function runBatch({ out, concurrency, more = [] }) {
  const path = join(folder, out);
  const how = ["--out", path, "--concurrency", String(concurrency), "--bare", "--quiet", ...more];
  const took = await timed(["batch", join(folder, "tasks.jsonl"), ...how]);
  return { ...took, workedMs: workedMs(path) };
}

/** Wall and processor time of the command with its children. */
async function timed(words) {
  const startedAt = performance.now();
  const child = spawn("bash", ["-c", 'TIMEFORMAT="%U %S"; time "$0" "$@"', process.execPath, command, ...words], {
    cwd: folder,
    env: environment(),
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    said += text;
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`The batch ended with ${code}: ${said.slice(-500)}`);
  const [user, system] = said.trim().split("\n").at(-1).split(" ").map(Number);
  return { wallMs: performance.now() - startedAt, cpuMs: (user + system) * 1000 };
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

function tell({ embedded, engine, processors, load }) {
  const rows = embedded.map(
    ({ tasks, wallMs, cpuMs }) =>
      `  ${String(tasks).padStart(6)} tasks: ${cpuMs.toFixed(1)} ms of processor time, ${wallMs.toFixed(1)} ms each`,
  );
  const { floor, ours, ratio, workers } = engine;
  process.stdout.write(
    `${processors} processors, load ${load.toFixed(1)}\nembedded, one answer each, 8 at once:\n${rows.join("\n")}\n` +
      `on an engine with ${workers} workers, ${atOnce} at once: ${ours.median.toFixed(0)} steps/s, floor ${floor.median.toFixed(0)} steps/s, ${ratio.toFixed(2)} of it\n`,
  );
}
