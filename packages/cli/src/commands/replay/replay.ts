import { closeSync, openSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { type AgentEvent, createFileStore, RuntimeError } from "@outrider/runtime";
import { readJournalFile } from "@outrider/runtime/admin";
import { nearest, outriderHome } from "@outrider/runtime/host";
import { exitCodes } from "../../exit-codes.ts";
import { type OwnWords, takeOwnWords } from "../../flags/words.ts";
import { findSession } from "../../request/find-session.ts";
import { isColoured } from "../../terminal/paint.ts";
import { print, visible } from "../../terminal/visible.ts";
import { type Pace, play } from "./play.ts";

const usage = `Usage: outrider replay SESSION|FILE [--speed 4x] [--max-pause 2s] [--step | --instant]

Plays a run back on a terminal, as it was shown when it ran and at the same pace.

  --speed N       play faster or slower, as in 4x or 0.5 (1x)
  --max-pause T   shorten longer pauses to this: 500ms, 2s, 1m (2s)
  --step          wait for Enter or space before each step
  --instant       print everything at once; the default if the output is not a terminal

SESSION is an id, the first 8 or more characters of one, or a name. FILE is a session's log, an ATIF trajectory, what
--output-format stream-json printed, or a transcript of Claude Code.
While it plays: space pauses, Enter goes to the next step, g to the end, q leaves. Secrets are masked as in sessions,
and control characters are shown, not obeyed.
`;

const flags = { switches: ["--help", "-h", "--step", "--instant"], values: ["--speed", "--max-pause"] };

/** A run, told again. */
export async function runReplay(args: readonly string[]): Promise<number> {
  const words = takeOwnWords(args, flags);
  if (words.has("--help") || words.has("-h")) {
    await print(usage);
    return exitCodes.success;
  }
  const flag = words.rest.find((word) => word.startsWith("-"));
  if (flag !== undefined) throw misuse(`replay has no flag ${flag}`, nearest(flag, [...flags.switches, ...flags.values]));
  const [word, ...more] = words.rest;
  if (word === undefined || more.length > 0) throw misuse("replay takes one session or file");
  const { stdin, stdout } = process;
  const pace = paceOf(words, stdout.isTTY);
  if (pace.type === "step" && (!stdin.isTTY || !stdout.isTTY))
    throw misuse("--step needs a terminal: nobody is here to press a key");
  const events = await loadEvents(word);
  if (events.length === 0) throw new RuntimeError("no-input", `Nothing has happened in ${word} yet`);
  if (pace.type === "instant" && !stdout.isTTY) {
    await printAll(events);
    return exitCodes.success;
  }
  const columns = (): number => stdout.columns || 100;
  await play(events, { pace, output: stdout, keys: stdin.isTTY ? stdin : undefined, coloured: isColoured(stdout), columns });
  return exitCodes.success;
}

function paceOf(words: OwnWords, isTerminal: boolean): Pace {
  if (words.has("--step") && words.has("--instant")) throw misuse("--step and --instant exclude each other");
  const speed = speedOf(words.value("--speed") ?? "1");
  const maxPauseMs = durationOf(words.value("--max-pause") ?? "2s");
  if (words.has("--step")) return { type: "step" };
  return words.has("--instant") || !isTerminal ? { type: "instant" } : { type: "timed", speed, maxPauseMs };
}

function speedOf(text: string): number {
  const speed = /^\d{1,5}(?:\.\d{1,3})?x?$/.test(text) ? Number.parseFloat(text) : 0;
  if (speed > 0) return speed;
  throw misuse(`--speed takes a number like 4x or 0.5, not ${JSON.stringify(text)}`);
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };

function durationOf(text: string): number {
  const [, amount, unit = "s"] = /^(\d{1,6}(?:\.\d{1,3})?)(ms|s|m)?$/.exec(text) ?? [];
  if (amount !== undefined) return Number(amount) * (units[unit] ?? 0);
  throw misuse(`--max-pause takes a time like 500ms, 2s or 1m, not ${JSON.stringify(text)}`);
}

/** For a pipe: the same words, and as slowly as somebody reads them. */
async function printAll(events: readonly AgentEvent[]): Promise<void> {
  const { ReplayTeller } = await import("./tell-replay.ts");
  const teller = new ReplayTeller({ coloured: false, columns: () => 100 });
  for (const event of events) {
    const lines = teller.apply(event);
    if (lines.length > 0) await print(lines.map((text) => `${text}\n`).join(""));
  }
}

/** A word names a file where there is one, and else a session of ours. */
async function loadEvents(word: string): Promise<readonly AgentEvent[]> {
  const isFile = statSync(word, { throwIfNoEntry: false })?.isFile() === true;
  const journal = isFile && isJournal(word) ? await readJournalFile(word) : undefined;
  if (isFile && !journal?.events.length) {
    const [{ loadRun }, { toEvents }] = await Promise.all([import("../report/load-run.ts"), import("./run-events.ts")]);
    return toEvents((await loadRun(word)).run);
  }
  const { events, warnings } = journal ?? (await readSession(word));
  for (const warning of warnings) process.stderr.write(`outrider: ${visible(warning)}\n`);
  return events;
}

async function readSession(word: string): ReturnType<typeof readJournalFile> {
  const sessions = join(outriderHome(process.env), "sessions");
  return await readJournalFile(join(sessions, `${await findSession(createFileStore(sessions), word)}.jsonl`));
}

/** Begins as the lines of our logs do. */
function isJournal(path: string): boolean {
  const head = Buffer.alloc(64);
  const file = openSync(path, "r");
  try {
    readSync(file, head, 0, head.length, 0);
    return /^\{"seq":\d+,"at":"/.test(head.toString("latin1"));
  } finally {
    closeSync(file);
  }
}

function misuse(message: string, guess?: string): RuntimeError {
  return new RuntimeError("usage", `${message}${guess === undefined ? "" : `; did you mean ${guess}?`}\n${usage}`);
}
