// Runs in a namespace with nothing but loopback: node measure.mjs PLAN.json prints one JSON line for each contestant.
import { readFileSync } from "node:fs";
import { peers } from "./peers.mjs";
import { openPlace, openStage, runOnce } from "./stage.mjs";

const { only, bins, repetitions, atOnce, limitMs } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const manyTurns = 20;

const stage = await openStage();
for (const peer of peers) {
  if (only.length > 0 && peer.name !== "bare Node" && !only.includes(peer.name)) continue;
  const skipped = peer.package !== undefined && bins[peer.name]?.path === undefined;
  const row = skipped ? { skipped: bins[peer.name]?.reason ?? "not installed" } : await measure(peer);
  process.stdout.write(`${JSON.stringify({ name: peer.name, version: bins[peer.name]?.version, ...row })}\n`);
}
await stage.close();

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
      many: shown(await figure(async () => (await run(place.words, { turns: manyTurns })).ms)),
      resume: peer.goOn ? shown(await figure(async () => (await run(peer.goOn(place.words))).first)) : null,
      crowd: shown(await figure(() => crowd(peer))),
    };
  } finally {
    place.remove();
  }
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
