// Runs in a namespace with nothing but loopback: node measure.mjs PLAN.json prints one JSON line for each contestant and part.
import { readFileSync } from "node:fs";
import { peers } from "./peers.mjs";
import { probes, takeProbe } from "./probes.mjs";
import { measureServing } from "./serving.mjs";
import { openPlace, openStage, runOnce } from "./stage.mjs";

const { only, parts, bins, repetitions, atOnce, limitMs, probeMs } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const manyTurns = 20;
const longTurns = 100;
const deltas = 4_000;
/** Runs of what takes longer. */
const fewer = Math.ceil(repetitions / 3);

const contestants = peers.filter(({ name, isFloor }) => only.length === 0 || isFloor || only.includes(name));
// One after the other: whoever is measured has the machine to itself.
if (parts.includes("figures")) for (const peer of contestants) await tell("figures", peer, measure);
if (parts.includes("serving")) for (const peer of contestants.filter(({ serve }) => serve)) await tell("serving", peer, serveAll);
// All at once: how one ends depends on waiting more than on the machine.
if (parts.includes("probes"))
  await Promise.all(contestants.filter(({ isFloor }) => !isFloor).map((peer) => tell("probes", peer, probeAll)));

async function tell(part, peer, take) {
  const found = bins[peer.name];
  const isSkipped = peer.package !== undefined && found?.path === undefined;
  const row = isSkipped ? { skipped: found?.reason ?? "not installed" } : await onStage((stage) => take(peer, stage));
  process.stdout.write(`${JSON.stringify({ part, name: peer.name, version: found?.version, ...row })}\n`);
}

async function onStage(take) {
  const stage = await openStage();
  try {
    return await take(stage);
  } finally {
    await stage.close();
  }
}

/** What it did in each case; nothing here depends much on how fast the machine is. */
async function probeAll(peer, stage) {
  const seen = {};
  const sleeper = `sleep 31${process.pid}${peers.indexOf(peer)}`;
  const how = { stage, ...placeOf(peer, stage), limitMs: probeMs, sleeper };
  for (const probe of probes) seen[probe.key] = await takeProbe(probe, peer, how);
  return seen;
}

async function serveAll(peer, stage) {
  const taken = await figure(() => measureServing(peer, stage, { ...placeOf(peer, stage), repetitions, limitMs }));
  return taken.error === undefined ? taken.value : { skipped: taken.error };
}

function placeOf(peer, { url }) {
  const { path: bin, node } = bins[peer.name] ?? {};
  return { url, bin, node };
}

/** Each figure, or why there is none. The first run of all fills whatever caches there are, and is not counted. */
async function measure(peer, stage) {
  const place = openPlace(peer, placeOf(peer, stage));
  const options = { ...place.options, limitMs };
  const run = async ({ words = place.words, turns = 1, script, ...more } = {}) => {
    if (script) stage.follow(script);
    else stage.play(turns);
    const ran = await runOnce(words, { ...options, ...more });
    if (stage.seen.length < turns) throw new Error(`${stage.seen.length} requests of ${turns} came`);
    return { ...ran, first: stage.seen[0] - ran.startedAt, gaps: gapsOf(stage.seen) };
  };
  const speak = () => ({ text: "word ".repeat(deltas) });
  try {
    const warm = await figure(() => run());
    if (warm.error !== undefined) return { skipped: warm.error };
    const runs = await several(repetitions, () => run());
    const many = await several(fewer, () => run({ turns: manyTurns }));
    const streamed = await several(fewer, () => run({ script: speak }));
    const memory = await several(1, () => run({ watchesMemory: true }));
    const long = await several(1, () => run({ turns: longTurns, limitMs: limitMs * 2 }));
    const resumed = peer.goOn ? await several(fewer, () => run({ words: peer.goOn(place.words) })) : undefined;
    return {
      first: leastOf(runs, ({ first }) => first),
      one: leastOf(runs, ({ ms }) => ms),
      deltas: leastOf(streamed, ({ ms }) => ms),
      many: leastOf(many, ({ ms }) => ms),
      turn: middleOf(many, ({ gaps }) => middle(gaps)),
      long: middleOf(long, ({ gaps }) => middle(gaps.slice(-10))),
      resume: resumed ? leastOf(resumed, ({ first }) => first) : null,
      memory: middleOf(memory, ({ peak }) => peak / 1e6),
      crowd: middleOf(await several(1, () => crowd(peer, stage)), (ms) => ms),
    };
  } finally {
    place.remove();
  }
}

/** So many runs, or as many as begin within half a minute: one who takes long is told by fewer. */
async function several(count, take) {
  const taken = [];
  const begunAt = performance.now();
  do taken.push(await figure(take));
  while (taken.length < count && performance.now() - begunAt < 30_000);
  return taken;
}

/** The middle one of the runs that ended well; why the first did not, where none has. */
function middleOf(taken, pick) {
  return ofGood(taken, pick, middle);
}

/** The quickest: some peers wait at times for a network that is not there, which says nothing about their work. */
function leastOf(taken, pick) {
  return ofGood(taken, pick, (numbers) => Math.min(...numbers));
}

function ofGood(taken, pick, choose) {
  const good = taken.flatMap((one) => ("value" in one ? [pick(one.value)] : []));
  return good.length > 0 ? choose(good) : { error: taken[0]?.error ?? "no run" };
}

function gapsOf(times) {
  return times.slice(1).map((at, index) => at - times[index]);
}

/** Many at once, each in a home of its own, until the last has ended. */
async function crowd(peer, stage) {
  const places = Array.from({ length: atOnce }, () => openPlace(peer, placeOf(peer, stage)));
  try {
    stage.play(1);
    const startedAt = performance.now();
    await Promise.all(places.map(({ words, options }) => runOnce(words, { ...options, limitMs: limitMs * 4 })));
    return performance.now() - startedAt;
  } finally {
    for (const { remove } of places) remove();
  }
}

async function figure(take) {
  try {
    return { value: await take() };
  } catch (error) {
    return { error: error.message };
  }
}

function middle(numbers) {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
}
