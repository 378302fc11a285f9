import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runChild } from "./children.mjs";
import { compactedTurns, singleCalls } from "./scripts.mjs";
import { summarize } from "./statistics.mjs";

/** Sessions of very many turns with one call each; the floor is a new session. `bytes` is what a resume adds to the log. */
const rows = {
  "resume-turns": { what: (turns) => `go on with ${turns} turns of one call`, unit: "ms", target: 2 },
  "fork-turns": { what: (turns) => `fork ${turns} turns of one call`, unit: "ms", target: 2.5 },
  "resume-compacted": { what: (turns) => `go on with ${turns} turns that were compacted`, unit: "ms", target: 3 },
  "resume-bytes": { what: () => "what a resume adds to the log beside its turn", unit: "kB", target: 1 },
};

export const longTurnRows = Object.keys(rows);

/** Each session is made once by the command itself; then new, resumed and forked sessions are started in turn. */
export async function measureLongTurns({ contestants, model, quick, isWanted }) {
  const measured = [];
  const rounds = quick ? 5 : 21;
  if (["resume-turns", "fork-turns", "resume-bytes"].some(isWanted)) {
    const turns = quick ? 200 : 2_000;
    const bench = await openBench({ contestants, model, home: "home", script: singleCalls(turns), turns });
    const numbers = await takeTurns(rounds, {
      fresh: () => bench.start(),
      resumed: () => bench.start("--resume", bench.id),
      forked: () => bench.start("--resume", bench.id, "--fork-session"),
    });
    measured.push(toRow("resume-turns", turns, numbers.fresh, numbers.resumed));
    measured.push(toRow("fork-turns", turns, numbers.fresh, numbers.forked));
    measured.push(bytesRow(await bench.resumeBytes()));
  }
  if (isWanted("resume-compacted")) {
    const turns = quick ? 1_000 : 5_000;
    const bench = await openBench({ contestants, model, home: "home-compacting", script: compactedTurns(turns), turns });
    const numbers = await takeTurns(rounds, { fresh: () => bench.start(), resumed: () => bench.start("--resume", bench.id) });
    measured.push(toRow("resume-compacted", turns, numbers.fresh, numbers.resumed));
  }
  return measured;
}

async function openBench({ contestants, model, home, script, turns }) {
  const id = `turns-${turns}`;
  const settings = (url) => {
    const { cwd, env } = contestants.settings(url);
    return { cwd, env: { ...env, OUTRIDER_HOME: join(env.HOME, home) } };
  };
  const run = async (played, ...flags) => {
    const url = await model.play(played);
    const { spawnedAt } = await runChild([...contestants.commands.ours("text", url), ...flags], settings(url));
    const requests = (await model.seen()).marks.filter(({ type }) => type === "request");
    return { ms: requests[0].at - spawnedAt, requests };
  };
  const folder = settings("").env.OUTRIDER_HOME;
  mkdirSync(folder, { recursive: true });
  if (home !== "home") writeFileSync(join(folder, "settings.json"), "{}");
  const { requests } = await run(script, "--session-id", id, "--max-requests", String(turns * 2));
  if (requests.length <= turns) throw new Error(`Expected more than ${turns} requests, not ${requests.length}`);
  const log = join(folder, "sessions", `${id}.jsonl`);
  return {
    id,
    start: async (...flags) => (await run("answer", ...flags)).ms,
    /** Of the lines that belong to no turn. */
    async resumeBytes() {
      const before = statSync(log).size;
      await run("answer", "--resume", id);
      const lines = readFileSync(log)
        .subarray(before)
        .toString()
        .split(/(?<=\n)/);
      return lines.filter((line) => JSON.parse(line).turnId === undefined).reduce((sum, line) => sum + line.length, 0);
    },
  };
}

/** One after the other in every round: what the machine does meanwhile hits all. The first round warms up and is not counted. */
async function takeTurns(rounds, contestants) {
  const numbers = Object.fromEntries(Object.keys(contestants).map((name) => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const [name, start] of Object.entries(contestants)) {
      const ms = await start();
      if (round > 0) numbers[name].push(ms);
    }
  }
  return numbers;
}

function toRow(name, turns, fresh, taken) {
  const { what, unit, target } = rows[name];
  const [floor, ours] = [summarize(fresh), summarize(taken)];
  const ratio = ours.median / floor.median;
  return { name, what: `${what(turns)}; floor: a new session`, unit, floor, ours, ratio, target, ok: ratio <= target };
}

function bytesRow(bytes) {
  const { what, unit, target } = rows["resume-bytes"];
  return { name: "resume-bytes", what: what(), unit, ours: summarize([bytes / 1000]), target, ok: bytes < target * 1000 };
}
