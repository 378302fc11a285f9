import { existsSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { createFileStore, RuntimeError } from "@outrider/runtime";
import { readJournalFile, type SessionSummary } from "@outrider/runtime/admin";
import { LineOutput, nearest, outriderHome } from "@outrider/runtime/host";
import { checkSessionName } from "../../request/choose-session.ts";
import { exitCodes } from "../../exit-codes.ts";
import { findSession } from "../../request/find-session.ts";
import { positiveInteger } from "../../flags/numbers.ts";
import { visible } from "../../terminal/visible.ts";
import { type OwnWords, takeOwnWords } from "../../flags/words.ts";
import { countOf } from "../checkpoints/checkpoint-text.ts";
import { findStored, findSummary, type SessionsPlace } from "./sessions-place.ts";
import { describeList, describeSession } from "./sessions-text.ts";

const usage = `Usage:
  outrider sessions list [--all] [--cwd DIR] [--limit N] [--json | --plain]
                                          list the sessions of this folder, or of all, the latest first; at a terminal you
                                          can choose and open one, unless --plain
  outrider sessions show SESSION [--json] show its turns, tools, usage and cost, its origin and its journal
  outrider sessions rename SESSION NEWNAME [--json]
  outrider sessions rm SESSION… [--yes] [--dry-run] [--json]
                                          delete sessions for good
  outrider sessions export SESSION [--format jsonl|markdown|json] [--output FILE [--force]]
                                          export all events (jsonl, the default), a transcript (markdown), or the messages (json)
  outrider sessions gc [--older-than 30d] [--dry-run] [--json]
                                          delete what no session needs any more; with --older-than also older sessions

SESSION is an id, the first 8 or more characters of one, or a name; one that begins with - comes after --.
Continue one: outrider -p --resume SESSION "…", or outrider --resume SESSION at a terminal

Exit codes: 0 done · 1 something was left undone · 64 wrong usage · 66 no such session · 78 cannot be read or written
`;

type Action = {
  readonly switches: readonly string[];
  readonly values: readonly string[];
  /** How many names it takes. */
  readonly names: readonly [least: number, most: number];
  run(place: SessionsPlace, words: OwnWords): Promise<number>;
};

const actions: Readonly<Record<string, Action>> = {
  list: { switches: ["--all", "--json", "--plain"], values: ["--cwd", "--limit"], names: [0, 0], run: list },
  show: { switches: ["--json"], values: [], names: [1, 1], run: show },
  rename: { switches: ["--json"], values: [], names: [2, 2], run: rename },
  rm: {
    switches: ["--yes", "-y", "--dry-run", "--json"],
    values: [],
    names: [1, Number.POSITIVE_INFINITY],
    run: remove,
  },
  export: {
    switches: ["--force"],
    values: ["--format", "--output", "-o"],
    names: [1, 1],
    run: async (place, words) => (await import("./export-session.ts")).exportSession(place, words),
  },
  gc: {
    switches: ["--dry-run", "--json"],
    values: ["--older-than"],
    names: [0, 0],
    run: async (place, words) => (await import("./collect-sessions.ts")).collectSessions(place, words),
  },
};

/** Stored sessions: find them, look at them, take them elsewhere, tidy up. */
export async function runSessions(args: readonly string[]): Promise<number> {
  const output = new LineOutput(process.stdout);
  const [name = "", ...rest] = args;
  if (args.length === 0 || args.includes("--help") || args.includes("-h")) return await say(output, usage);
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (!action) {
    const guess = nearest(name, Object.keys(actions));
    const question = guess ? `; did you mean ${guess}?` : "";
    throw new RuntimeError("usage", `sessions has no action ${JSON.stringify(name)}${question}\n${usage}`);
  }
  const words = checkWords(name, action, takeOwnWords(rest, action));
  const home = outriderHome(process.env);
  const directory = join(home, "sessions");
  return await action.run({ home, directory, store: createFileStore(directory), output }, words);
}

function checkWords(name: string, action: Action, words: OwnWords): OwnWords {
  const end = words.rest.indexOf("--");
  const [before, after] = end === -1 ? [words.rest, []] : [words.rest.slice(0, end), words.rest.slice(end + 1)];
  const flag = before.find((word) => word.startsWith("-"));
  if (flag !== undefined) {
    const guess = nearest(flag, [...action.switches, ...action.values]);
    const way = guess ? `did you mean ${guess}?` : "a name that begins with - comes after --";
    throw new RuntimeError("usage", `sessions ${name} has no flag ${flag}; ${way}\n${usage}`);
  }
  const names = [...before, ...after];
  const [least, most] = action.names;
  if (names.length < least || names.length > most)
    throw new RuntimeError(
      "usage",
      `sessions ${name} takes ${takes[name] ?? "no names"}, not ${countOf(names.length, "word")}\n${usage}`,
    );
  return { ...words, rest: names };
}

const takes: Readonly<Record<string, string>> = {
  show: "one session",
  export: "one session",
  rename: "a session and its new name",
  rm: "at least one session",
};

async function list({ store, output }: SessionsPlace, words: OwnWords): Promise<number> {
  if (words.has("--all") && words.value("--cwd") !== undefined)
    throw new RuntimeError("usage", "--all and --cwd exclude each other");
  const limit = words.value("--limit");
  const most = limit === undefined ? Number.POSITIVE_INFINITY : positiveInteger("--limit", limit);
  const cwd = realPath(words.value("--cwd") ?? ".");
  const stored = await store.summaries({
    onSkipped: (_, { message, hint }) => process.stderr.write(`${visible(`Not listed: ${message}. ${hint ?? ""}`.trim())}\n`),
  });
  const chosen = words.has("--all") ? stored : stored.filter((summary) => summary.cwd === cwd);
  const shown = chosen.slice(0, most);
  if (words.has("--json")) {
    for (const summary of shown) {
      output.write(`${JSON.stringify(summary)}\n`);
      if (output.full) await output.drain();
    }
    return await say(output, "");
  }
  if (shown.length === 0) return await say(output, `${visible(nothingToShow(cwd, { all: words.has("--all"), stored }))}\n`);
  if (process.stdin.isTTY && process.stdout.isTTY && !words.has("--plain")) return await choose(shown);
  await say(output, describeList(shown, { folders: words.has("--all"), width: widthOf(process.stdout) }));
  if (shown.length < chosen.length) process.stderr.write(`${chosen.length - shown.length} more (--limit)\n`);
  return exitCodes.success;
}

/** At a terminal one of them can be opened: the conversation goes on in its own folder. */
async function choose(sessions: readonly SessionSummary[]): Promise<number> {
  const { pickFrom } = await import("../../conversation/pick-session.ts");
  const picked = await pickFrom(sessions);
  if (!picked) return exitCodes.success;
  if (!existsSync(picked.cwd))
    throw new RuntimeError("not-found", `The folder of this session is gone: ${picked.cwd}`, {
      hint: `outrider --resume ${picked.id} goes on with it in another folder`,
    });
  process.chdir(picked.cwd);
  const [{ parseArguments }, { runConversation }] = await Promise.all([
    import("../../flags/args.ts"),
    import("../../conversation/conversation.ts"),
  ]);
  return await runConversation(parseArguments(["--resume", picked.id]));
}

function nothingToShow(cwd: string, { all, stored }: { all: boolean; stored: readonly SessionSummary[] }): string {
  if (all || stored.length === 0) return "No session is stored";
  return `No session worked in ${cwd}. ${countOf(stored.length, "session")} elsewhere: outrider sessions list --all`;
}

/** A folder that is gone by now can still have sessions. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

async function show(place: SessionsPlace, words: OwnWords): Promise<number> {
  const { store, directory, home, output } = place;
  const summary = await findSummary(store, words.rest[0] ?? "");
  const { reportSession } = await import("./session-report.ts");
  const file = join(directory, `${summary.id}.jsonl`);
  const { events, warnings: damage } = await readJournalFile(file);
  const report = await reportSession(events, { summary, file, home, damage });
  return await say(output, words.has("--json") ? toJson(report) : describeSession(report));
}

async function rename({ store, output }: SessionsPlace, words: OwnWords): Promise<number> {
  const [word = "", name = ""] = words.rest;
  checkSessionName("NEWNAME", name);
  const id = await findSession(store, word);
  await store.rename(id, name);
  const others = (await store.summaries()).filter((summary) => summary.name === name && summary.id !== id);
  if (others.length > 0)
    process.stderr.write(`outrider: ${countOf(others.length, "other session")} of that name: only their ids tell them apart\n`);
  return await say(output, words.has("--json") ? toJson({ id, name }) : `${id} is called ${visible(name)} now\n`);
}

async function remove({ store, home, output }: SessionsPlace, words: OwnWords): Promise<number> {
  const chosen = new Map<string, SessionSummary | undefined>();
  for (const word of words.rest) {
    const { id, summary } = await findStored(store, word); // all of them, before the first is removed
    chosen.set(id, summary);
  }
  const dryRun = words.has("--dry-run");
  if (!dryRun && !words.has("--yes") && !words.has("-y") && !(await confirmRemoval(chosen))) {
    process.stderr.write("outrider: nothing was removed\n");
    return exitCodes.error;
  }
  const { removeSession } = await import("./remove-session.ts");
  const removed: string[] = [];
  const kept: { id: string; reason: string }[] = [];
  for (const id of chosen.keys()) {
    const problem = dryRun ? undefined : await removeSession({ store, home }, id);
    if (problem === undefined) removed.push(id);
    else kept.push({ id, reason: problem.reason });
  }
  if (!dryRun) await store.summaries(); // what is kept about sessions for a faster list is brought up to date
  for (const { id, reason } of kept) process.stderr.write(`outrider: ${id} was not removed: ${visible(reason)}\n`);
  const lines = removed.map((id) => `${dryRun ? "Would remove" : "Removed"} ${id}\n`).join("");
  await say(output, words.has("--json") ? toJson({ dryRun, removed, kept }) : lines);
  return kept.length > 0 ? exitCodes.error : exitCodes.success;
}

async function confirmRemoval(chosen: ReadonlyMap<string, SessionSummary | undefined>): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new RuntimeError("usage", "sessions rm removes for good, and there is no terminal to ask on", {
      hint: "--yes says it",
    });
  const readable = [...chosen.values()].filter((summary) => summary !== undefined);
  const unreadable = [...chosen].flatMap(([id, summary]) => (summary ? [] : [`${id}  nothing of it can be read\n`]));
  process.stderr.write(describeList(readable, { folders: true, width: widthOf(process.stderr) }) + unreadable.join(""));
  const { createInterface } = await import("node:readline/promises");
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question(`Remove ${countOf(chosen.size, "session")} for good? [y/N] `);
    return /^y(?:es)?$/i.test(answer.trim());
  } finally {
    terminal.close();
  }
}

function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Lines are cut for a terminal, never for a program. */
function widthOf(stream: NodeJS.WriteStream): number | undefined {
  return stream.isTTY ? stream.columns : undefined;
}

async function say(output: LineOutput, text: string): Promise<number> {
  output.write(text);
  await output.drain();
  return exitCodes.success;
}
