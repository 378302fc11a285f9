import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { openPlace, runToEnd } from "./stage.mjs";

const graceMs = 2_000;

/** How each program behaves unattended; `isGood` says what a script would hope for. */
export const probes = [
  {
    key: "failing",
    what: "the provider keeps answering 500",
    script: () => ({ status: 500, body: { error: { type: "api_error", message: "internal" } } }),
    look: lookAtEnd,
    isGood: ({ code }) => code !== undefined && code !== 0,
  },
  {
    key: "cut",
    what: "every answer breaks off midway",
    script: () => ({ text: "half of an answer ".repeat(50), dropAfterBytes: 600 }),
    look: lookAtEnd,
    isGood: ({ code }) => code !== undefined && code !== 0,
  },
  {
    key: "circle",
    what: "the model repeats one call forever",
    script: ({ run }) => run("true same"),
    look: lookAtEnd,
    isGood: ({ code }) => code !== undefined && code !== 0,
  },
  {
    key: "term",
    what: "SIGTERM while a command runs",
    script: ({ run, sleeper }) => run(sleeper),
    look: (place, _stage, how) => lookAtSignal(place, { ...how, signal: "SIGTERM" }),
    isGood: ({ code, left }) => code !== undefined && left === 0,
  },
  {
    key: "kill",
    what: "SIGKILL while a command runs",
    script: ({ run, sleeper }) => run(sleeper),
    look: (place, _stage, how) => lookAtSignal(place, { ...how, signal: "SIGKILL" }),
    isGood: ({ left }) => left === 0,
  },
];

/** One probe of one contestant: what happened, or why it could not be asked. `sleeper`: a command that is known by its words, and nobody else's. */
export async function takeProbe(probe, peer, { stage, bin, node, limitMs, sleeper }) {
  const place = openPlace(peer, { url: stage.url, bin, node });
  try {
    stage.follow((asked) => probe.script({ ...asked, sleeper }));
    const seen = await probe.look(place, stage, { limitMs, sleeper });
    return { ...seen, good: seen.error === undefined && probe.isGood(seen) };
  } finally {
    for (const pid of sleepers(sleeper)) process.kill(pid, "SIGKILL");
    place.remove();
  }
}

async function lookAtEnd({ words, options }, stage, { limitMs }) {
  const { code, ms } = await runToEnd(words, { ...options, limitMs });
  return { code, ms, requests: stage.seen.length };
}

/** The signal goes to the program alone, as a supervisor's does; what runs two seconds after its end was left behind. */
async function lookAtSignal({ words, options }, { limitMs, sleeper, signal }) {
  let signalledAt;
  const ended = runToEnd(words, {
    ...options,
    limitMs,
    watchesLeftovers: true,
    async onStart(child) {
      while (child.exitCode === null && child.signalCode === null && sleepers(sleeper).length === 0) await wait(50);
      signalledAt = performance.now();
      child.kill(signal);
    },
  });
  const { code, startedAt, ms } = await ended;
  if (signalledAt === undefined || startedAt + ms < signalledAt) return { error: "it ran no command" };
  await wait(graceMs);
  return { code, ms: startedAt + ms - signalledAt, left: sleepers(sleeper).length };
}

function sleepers(sleeper) {
  return readdirSync("/proc")
    .filter((name) => isSleeper(name, sleeper))
    .map(Number);
}

function isSleeper(name, sleeper) {
  try {
    return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, "utf8") === `${sleeper.replace(" ", "\0")}\0`;
  } catch {
    return false; // it ended meanwhile
  }
}

/** What happened in the words of a table. */
export function describeProbe(seen) {
  if (seen === undefined) return "–";
  if (seen.error !== undefined) return seen.error;
  const end =
    seen.code === undefined ? "still running after two minutes" : typeof seen.code === "number" ? `exit ${seen.code}` : seen.code;
  if (seen.left !== undefined)
    return [
      ...(seen.code === "SIGKILL" ? [] : [seen.code === undefined ? end : `${end} after ${seconds(seen.ms)}`]),
      seen.left === 0 ? "nothing left" : "the command keeps running",
    ].join(", ");
  const requests = `${seen.requests} request${seen.requests === 1 ? "" : "s"}`;
  return seen.code === undefined ? `${end}, ${requests}` : `${end}, ${requests}, ${seconds(seen.ms)}`;
}

function seconds(ms) {
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`;
}
