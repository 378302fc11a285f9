import { existsSync } from "node:fs";
import { runChild, runForCpu, runForMemory } from "./children.mjs";
import { buildingTurns, measuredTurns, singleCalls, textDeltas, thoughtMs, toolCalls } from "./scripts.mjs";
import { median, summarize } from "./statistics.mjs";

const atOnce = 20;
const historyBytes = 2_000_000;
const longTurns = { full: 2_000, quick: 200 };
const lastTurns = 100;

/**
 * Every scene is played by both contestants in turn; `measure` gives one number per row. `target` is the most that ours may be of the floor.
 * `sides` names other contestants for the two. A `script` may depend on the size, `full` or `quick`.
 */
export const scenes = [
  {
    script: "answer",
    format: "text",
    repetitions: { full: 41, quick: 9 },
    rows: {
      "first-request": { what: "spawn to first request", unit: "ms", target: 1.3 },
      "one-answer": { what: "spawn to exit, one answer", unit: "ms", target: 1.6 },
    },
    async measure({ command, settings, model }) {
      const { spawnedAt, endedAt } = await runChild(command, settings);
      const [first] = requestsIn(await model.seen());
      return { "first-request": first.at - spawnedAt, "one-answer": endedAt - spawnedAt };
    },
  },
  {
    script: "toolCalls",
    format: "text",
    repetitions: { full: 15, quick: 3 },
    rows: { "tool-turn": { what: `a turn with a trivial call (of ${toolCalls})`, unit: "ms", target: 2 } },
    measure: async (stage) => ({ "tool-turn": await measureToolTurn(stage) }),
  },
  boxedScene({
    script: "thoughtfulCalls",
    repetitions: { full: 7, quick: 2 },
    name: "boxed-turn",
    row: { what: `the same in the sandbox, a model that thinks for ${thoughtMs} ms`, unit: "ms", target: 1.5 },
  }),
  boxedScene({
    script: "toolCalls",
    repetitions: { full: 9, quick: 2 },
    name: "boxed-burst",
    row: { what: "the same, a model that answers at once", unit: "ms", target: 1.5 },
  }),
  {
    script: "deltas",
    format: "stream-json",
    repetitions: { full: 11, quick: 3 },
    rows: { "stream-cpu": { what: `CPU of ${textDeltas} deltas as stream-json`, unit: "ms", target: 2.5 } },
    async measure({ command, settings }) {
      const { cpuMs, lines } = await runForCpu(command, settings);
      expectDeltas(lines);
      return { "stream-cpu": cpuMs };
    },
  },
  {
    script: "answer",
    format: "text",
    available: hasProc,
    repetitions: { full: 11, quick: 3 },
    rows: { "memory-answer": { what: "peak memory, one answer", unit: "MB", target: 1.2 } },
    async measure({ command, settings }) {
      return { "memory-answer": (await runForMemory(command, settings)).peakMb };
    },
  },
  {
    script: "deltas",
    format: "stream-json",
    available: hasProc,
    repetitions: { full: 9, quick: 3 },
    rows: { "memory-stream": { what: `peak memory, ${textDeltas} deltas`, unit: "MB", target: 1.7 } },
    async measure({ command, settings }) {
      const { peakMb, lines } = await runForMemory(command, settings);
      expectDeltas(lines);
      return { "memory-stream": peakMb };
    },
  },
  {
    script: "history",
    format: "text",
    repetitions: { full: 9, quick: 3 },
    rows: { "long-history": { what: "a turn at 2 MB of history", unit: "ms", target: 1.5 } },
    async measure({ command, settings, model }) {
      await runChild(command, settings);
      const turns = turnsIn(await model.seen()).slice(buildingTurns + 1);
      const smallest = Math.min(...turns.map((turn) => turn.bytes));
      expect(turns.length === measuredTurns, `${measuredTurns} turns, not ${turns.length}`);
      expect(smallest >= historyBytes && smallest < historyBytes * 1.1, `requests of 2 MB, not of ${smallest} bytes`);
      return { "long-history": median(turns.map((turn) => turn.ms)) };
    },
  },
  {
    script: (size) => singleCalls(longTurns[size], "Bash"),
    format: "text",
    flags: ["--max-requests", String(longTurns.full * 2)],
    repetitions: { full: 2, quick: 1 },
    rows: {
      "build-turns": {
        what: `${longTurns.full} turns of one trivial call, in one session (quick: ${longTurns.quick})`,
        unit: "ms",
        target: 1.5,
      },
      "build-last": { what: `a turn of the last ${lastTurns} of them`, unit: "ms", target: 1.5 },
    },
    async measure({ command, settings, model, size }) {
      await runChild(command, settings);
      const turns = turnsIn(await model.seen()).map(({ ms }) => ms);
      expect(turns.length === longTurns[size], `${longTurns[size]} turns, not ${turns.length}`);
      return { "build-turns": turns.reduce((sum, ms) => sum + ms, 0), "build-last": median(turns.slice(-lastTurns)) };
    },
  },
  {
    script: "answer",
    format: "text",
    repetitions: { full: 7, quick: 2 },
    rows: { parallel: { what: `${atOnce} runs at once`, unit: "ms", target: 2 } },
    async measure({ command, settings }) {
      const runs = await Promise.all(Array.from({ length: atOnce }, () => runChild(command, settings)));
      return { parallel: Math.max(...runs.map((run) => run.endedAt)) - Math.min(...runs.map((run) => run.spawnedAt)) };
    },
  },
];

/** A trivial call in the sandbox; the floor is our own command without. */
function boxedScene({ script, repetitions, name, row }) {
  return {
    script,
    format: "text",
    available: hasBubblewrap,
    sides: { floor: "ours", ours: "boxed" },
    repetitions,
    rows: { [name]: row },
    measure: async (stage) => ({ [name]: await measureToolTurn(stage) }),
  };
}

/** Floor, ours, floor, ours: what the machine does meanwhile hits both. The first pair warms up and is not counted. */
export async function playScene(scene, { contestants, model, quick, onPair }) {
  const numbers = { floor: [], ours: [] };
  const size = quick ? "quick" : "full";
  const repetitions = scene.repetitions[size];
  const script = typeof scene.script === "function" ? scene.script(size) : scene.script;
  for (let pair = 0; pair <= repetitions; pair++) {
    onPair(pair / repetitions);
    for (const side of ["floor", "ours"]) {
      const url = await model.play(script);
      const contestant = scene.sides?.[side] ?? side;
      const command = contestants.commands[contestant](scene.format, url);
      if (contestant !== "floor") command.push(...(scene.flags ?? []));
      const measured = await scene.measure({ command, settings: contestants.settings(url), model, size });
      if (pair > 0) numbers[side].push(measured);
    }
  }
  return Object.entries(scene.rows).map(([name, row]) => {
    const [floor, ours] = [numbers.floor, numbers.ours].map((list) => summarize(list.map((measured) => measured[name])));
    const ratio = ours.median / floor.median;
    return { name, ...row, floor, ours, ratio, ok: ratio <= row.target };
  });
}

async function measureToolTurn({ command, settings, model }) {
  await runChild(command, settings);
  const turns = turnsIn(await model.seen());
  expect(turns.length === toolCalls, `${toolCalls} tool calls, not ${turns.length}`);
  return median(turns.map((turn) => turn.ms));
}

function requestsIn({ marks }) {
  return marks.filter((mark) => mark.type === "request");
}

/** A turn is what the client does between the end of one answer and its next request: the server's own time is not in it. */
function turnsIn({ marks, failedCalls }) {
  expect(failedCalls === 0, `every call to succeed, not ${failedCalls} failures`);
  const requests = requestsIn({ marks });
  const answers = marks.filter((mark) => mark.type === "answered");
  return requests.slice(1).map((request, index) => ({ ms: request.at - answers[index].at, bytes: request.bytes }));
}

function expectDeltas(lines) {
  expect(lines >= textDeltas, `at least ${textDeltas} lines, not ${lines}`);
}

function expect(condition, expectation) {
  if (!condition) throw new Error(`The scene did not play as written: expected ${expectation}`);
}

function hasBubblewrap() {
  return ["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap"].some((path) => existsSync(path))
    ? undefined
    : "needs bubblewrap";
}

function hasProc() {
  return existsSync("/proc/self/status") ? undefined : "needs /proc";
}
