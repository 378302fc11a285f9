// Runs in a namespace with nothing but loopback: node measure.mjs PLAN.json prints one JSON line for each contestant and part.
import { readFileSync } from "node:fs";
import { peers } from "./peers.mjs";
import { probes, takeProbe } from "./probes.mjs";
import { openPlace, openStage, runOnce } from "./stage.mjs";

const { only, parts, bins, repetitions, atOnce, limitMs, probeMs } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const manyTurns = 20;
const measures = { figures: measure, probes: probeAll };

const stage = await openStage();
for (const peer of peers) {
  if (only.length > 0 && peer.name !== "bare Node" && !only.includes(peer.name)) continue;
  const who = { name: peer.name, version: bins[peer.name]?.version };
  const skipped = peer.package !== undefined && bins[peer.name]?.path === undefined;
  for (const part of parts) {
    if (part === "probes" && peer.isFloor) continue;
    const row = skipped ? { skipped: bins[peer.name]?.reason ?? "not installed" } : await measures[part](peer);
    process.stdout.write(`${JSON.stringify({ part, ...who, ...row })}\n`);
  }
}
await stage.close();

/** What it did in each case; nothing here depends on how fast the machine is. */
async function probeAll(peer) {
  const seen = {};
  for (const probe of probes)
    seen[probe.key] = await takeProbe(probe, peer, { stage, bin: bins[peer.name]?.path, limitMs: probeMs });
  return seen;
}

/** Each figure, or why there is none. The first run of all fills whatever caches there are, and is not counted. */
async function measure(peer) {
  const place = openPlace(peer, { url: stage.url, bin: bins[peer.name]?.path });
  const options = { ...place.options, limitMs };
  const run = async (words = place.words, more = {}) => {
    stage.play(more.turns ?? 1);
    const ran = await runOnce(words, { ...options, ...more });
    if (stage.seen.length < (more.turns ?? 1)) throw new Error(`${stage.seen.length} requests of ${more.turns ?? 1} came`);
    return { ...ran, first: stage.seen[0] - ran.startedAt };
  };
  try {
    const warm = await figure(() => run());
    if (warm.error !== undefined) return { skipped: warm.error };
    const runs = [];
    for (let round = 0; round < repetitions; round++) runs.push(await figure(() => run()));
    const good = runs.flatMap(({ value }) => (value ? [value] : []));
    return {
      first: middle(good.map(({ first }) => first)),
      one: middle(good.map(({ ms }) => ms)),
      memory: shown(await figure(async () => (await run(place.words, { watchesMemory: true })).peak / 1e6)),
      many: await middleOf(async () => (await run(place.words, { turns: manyTurns })).ms),
      resume: peer.goOn ? await middleOf(async () => (await run(peer.goOn(place.words))).first) : null,
      crowd: shown(await figure(() => crowd(peer))),
    };
  } finally {
    place.remove();
  }
}

/** Of fewer runs: each takes longer. */
async function middleOf(take) {
  const runs = [];
  for (let round = 0; round < Math.ceil(repetitions / 3); round++) runs.push(await figure(take));
  const good = runs.flatMap(({ value }) => value ?? []);
  return good.length > 0 ? middle(good) : { error: runs[0]?.error };
}

/** Many at once, each in a home of its own, until the last has ended. */
async function crowd(peer) {
  const places = Array.from({ length: atOnce }, () => openPlace(peer, { url: stage.url, bin: bins[peer.name]?.path }));
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

function shown({ value, error }) {
  return value ?? { error };
}

function middle(numbers) {
  return numbers.length === 0 ? { error: "no run ended well" } : numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
}
