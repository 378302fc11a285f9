// On paper to internet scale: a discrete-event simulation of a fleet, from the figures that bench/fleet.mjs has measured (fleet-measured.json).
// It has to find the measured points first; then it is asked what nobody here can measure. node bench/scale.mjs prints the tables of docs/scale.md,
// with --write it puts them there.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

const root = dirname(import.meta.dirname);
const document = join(root, "docs/scale.md");

/** The document with its tables renewed. */
export function withTables(content, text) {
  return content.replace(/(<!-- tables -->\n)[\s\S]*(<!-- end -->)/, (_, begin, end) => `${begin}${text}\n${end}`);
}

/**
 * Runs that go through stations, step by step. A station has so many servers and a line before it; a delay holds nobody up. Answers how many
 * runs end in a second, how long one takes, and how busy the stations are.
 */
export function simulate({ stations, steps, concurrency, runs, seed = 1 }) {
  const random = createRandom(seed);
  const lines = new Map(
    Object.entries(stations).map(([name, { servers }]) => [name, { free: servers, servers, waiting: [], busyMs: 0 }]),
  );
  const events = new Heap();
  const took = [];
  let now = 0;
  let begun = 0;
  const beginRun = () => {
    if (begun++ < runs) next({ startedAt: now, at: 0 });
  };
  const next = (run) => {
    const step = steps[run.at];
    if (step === undefined) {
      took.push(now - run.startedAt);
      return beginRun();
    }
    run.at++;
    const ms = step.spread ? -Math.log(1 - random()) * step.ms : step.ms;
    const line = lines.get(step.station);
    if (!line) return events.push(now + ms, () => next(run));
    const serve = () => {
      line.free--;
      line.busyMs += ms;
      events.push(now + ms, () => {
        line.free++;
        line.waiting.shift()?.();
        next(run);
      });
    };
    if (line.free > 0) serve();
    else line.waiting.push(serve); // bounded by the runs at once
  };
  for (let lane = 0; lane < concurrency; lane++) beginRun();
  for (let event = events.pop(); event; event = events.pop()) {
    now = event.at;
    event.act();
  }
  took.sort((a, b) => a - b);
  return {
    runsPerSecond: (took.length * 1000) / now,
    medianMs: took[Math.floor(took.length / 2)],
    busy: Object.fromEntries([...lines].map(([name, { servers, busyMs }]) => [name, busyMs / (now * servers)])),
  };
}

/** The steps of a task of so many calls, as a run on an engine does them. What each costs is what was measured. */
function stepsOf({ calls, modelMs, cpu, storeMs }) {
  const answer = { station: "model", ms: modelMs, spread: true };
  const keep = [{ station: "engine", ms: cpu.engine }, ...(storeMs > 0 ? [{ station: "store", ms: storeMs }] : [])];
  const step = [{ station: "workers", ms: cpu.workers }, ...keep];
  const begin = [...step, ...step, ...step]; // who took it up, the beginning, the folder
  const rounds = Array.from({ length: calls }, () => [answer, ...step, ...step]).flat();
  return [...begin, ...rounds, answer, ...step, ...step];
}

/** Everything that is said in docs/scale.md in figures. */
export function scaleTables(measured) {
  const { cpuMsPerStep: cpu, processorsGiven, points, stepsOfTask, ours, storedBytes } = measured.engine;
  return [
    "### The measured points, found again",
    "",
    `Measured with Node ${measured.node} on ${measured.processors} processors at load ${measured.load.toFixed(0)}, of which the fleet was given ${processorsGiven.toFixed(2)}. A step takes ${cpu.workers.toFixed(2)} ms of a worker's processor, ${cpu.engine.toFixed(2)} ms of the engine's and ${cpu.command.toFixed(2)} ms of the command's; a run of ${stepsOfTask} steps leaves ${Math.round(storedBytes / 1000)} kB in the store.`,
    "",
    ...table(["point", "measured", "simulated", "ratio"], reproduced({ cpu, processorsGiven, points, stepsOfTask, ours })),
    "",
    ...(measured.load > measured.processors
      ? ["The machine was busy with other work, and not equally from point to point: these ratios are rough.", ""]
      : []),
    "### At scale",
    "",
    "A task of 20 calls, 3 s per answer on average; processors of workers and engine as they were measured; a step's store takes 15 ms and holds up 512 at a time; half of the processors in use on average.",
    "",
    ...table(
      [
        "runs a day",
        "runs at once",
        "answers per minute",
        "worker processors",
        "engine processors",
        "busiest partition of 24",
        "stored a day",
      ],
      [1e3, 1e5, 1e7].map((perDay) => scaled(perDay, { cpu, storedBytes, stepsOfTask })),
    ),
    "",
    "### What breaks first",
    "",
    "Runs per second as worker processors are added to an engine of 4 processors, 6,000 runs at once:",
    "",
    ...table(
      ["worker processors", "runs per second", "workers busy", "engine busy", "store busy"],
      [4, 16, 64, 256].map((workers) => grown(workers, cpu)),
    ),
  ].join("\n");
}

function reproduced({ cpu, processorsGiven, points, stepsOfTask, ours }) {
  const all = cpu.workers + cpu.engine + cpu.command;
  const servers = Math.max(1, Math.round(processorsGiven));
  const slow = servers / processorsGiven; // a processor that is shared with others is a slower one
  const run = (delayMs) => {
    const parts = Array.from({ length: stepsOfTask }, () => ({ station: "processors", ms: all * slow }));
    return delayMs > 0
      ? [
          ...parts.slice(0, 3),
          { station: "model", ms: delayMs },
          ...parts.slice(3, 5),
          { station: "model", ms: delayMs },
          ...parts.slice(5),
        ]
      : parts;
  };
  const found = (concurrency, delayMs, runs) =>
    simulate({ stations: { processors: { servers } }, steps: run(delayMs), concurrency, runs });
  const first = found(50, 0, 1_000).runsPerSecond * stepsOfTask;
  const rows = [["50 at once, no delay: steps/s", ours.median, first]];
  for (const { concurrency, delayMs, tasks, runsPerSecond } of points)
    rows.push([
      `${concurrency} at once, ${delayMs} ms per answer: runs/s`,
      runsPerSecond,
      found(concurrency, delayMs, tasks).runsPerSecond,
    ]);
  return rows.map(([name, real, made]) => [name, real.toFixed(1), made.toFixed(1), (made / real).toFixed(2)]);
}

const calls = 20;
const modelMs = 3_000;
const storeMs = 15;

function scaled(perDay, { cpu, storedBytes, stepsOfTask }) {
  const perSecond = perDay / 86_400;
  const steps = stepsOf({ calls, modelMs, cpu, storeMs });
  const concurrency = Math.max(1, Math.ceil((perSecond * steps.reduce((sum, { ms }) => sum + ms, 0)) / 1_000));
  const processors = (ms) =>
    Math.max(
      1,
      Math.ceil((perSecond * steps.filter(({ station }) => station === ms).reduce((sum, one) => sum + one.ms, 0)) / 500),
    );
  const [workers, engine] = [processors("workers"), processors("engine")];
  const stations = { workers: { servers: workers }, engine: { servers: engine }, store: { servers: 512 } };
  const { medianMs } = simulate({
    stations,
    steps,
    concurrency: Math.min(concurrency, 3_000),
    runs: Math.min(6_000, concurrency * 2),
  });
  const engineSteps = perSecond * steps.filter(({ station }) => station === "engine").length;
  const bytes = (storedBytes / stepsOfTask) * steps.filter(({ station }) => station === "engine").length * perDay;
  return [
    perDay.toLocaleString("en-US"),
    Math.ceil((perSecond * medianMs) / 1_000).toLocaleString("en-US"),
    Math.ceil(perSecond * (calls + 1) * 60).toLocaleString("en-US"),
    workers.toLocaleString("en-US"),
    engine.toLocaleString("en-US"),
    `${(engineSteps / 24).toFixed(1)} steps/s`,
    bytes > 1e12 ? `${(bytes / 1e12).toFixed(1)} TB` : `${(bytes / 1e9).toFixed(2)} GB`,
  ];
}

function grown(workers, cpu) {
  const stations = { workers: { servers: workers }, engine: { servers: 4 }, store: { servers: 512 } };
  const { runsPerSecond, busy } = simulate({
    stations,
    steps: stepsOf({ calls, modelMs, cpu, storeMs }),
    concurrency: 6_000,
    runs: 9_000,
  });
  const share = (name) => `${Math.round(busy[name] * 100)} %`;
  return [String(workers), runsPerSecond.toFixed(1), share("workers"), share("engine"), share("store")];
}

function table(head, rows) {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)];
}

function createRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** What happens next, first. */
class Heap {
  #items = [];

  push(at, act) {
    const items = this.#items;
    items.push({ at, act });
    for (let index = items.length - 1; index > 0; ) {
      const parent = (index - 1) >> 1;
      if (items[parent].at <= items[index].at) break;
      [items[parent], items[index]] = [items[index], items[parent]];
      index = parent;
    }
  }

  pop() {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (items.length === 0 || first === undefined) return first;
    items[0] = last;
    for (let index = 0; ; ) {
      const [left, right] = [2 * index + 1, 2 * index + 2];
      let least = index;
      if (left < items.length && items[left].at < items[least].at) least = left;
      if (right < items.length && items[right].at < items[least].at) least = right;
      if (least === index) break;
      [items[least], items[index]] = [items[index], items[least]];
      index = least;
    }
    return first;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const text = scaleTables(JSON.parse(readFileSync(join(import.meta.dirname, "fleet-measured.json"), "utf8")));
  if (!process.argv.includes("--write")) process.stdout.write(`${text}\n`);
  else writeFileSync(document, withTables(readFileSync(document, "utf8"), text));
}
