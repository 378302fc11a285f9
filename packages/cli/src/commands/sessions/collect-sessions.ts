import { lstatSync, readdirSync, statSync } from "node:fs";
import { rm, unlink } from "node:fs/promises";
import { join } from "node:path";
import { RuntimeError } from "@outrider/runtime";
import { type Collected, collectGarbage } from "@outrider/runtime/admin";
import { exitCodes } from "../../exit-codes.ts";
import { visible } from "../../terminal/visible.ts";
import type { OwnWords } from "../../flags/words.ts";
import { type Kept, removeSession, toKept } from "./remove-session.ts";
import { countOf } from "../checkpoints/checkpoint-text.ts";
import type { SessionsPlace } from "./sessions-place.ts";
import { sizeOf } from "./sessions-text.ts";

const dayMs = 24 * 60 * 60 * 1000;

/** One thing to remove, and how. */
type Waste = {
  readonly kind:
    | "session"
    | "empty journal"
    | "damaged end of a journal"
    | "lock of a dead process"
    | "long outputs of a session that is gone";
  readonly what: string;
  readonly bytes: number;
  /** A session, or a file among the journals, that will name no long text any more. */
  readonly journal?: string;
  /** Answers why it stays, if it does. */
  remove(): Promise<Kept | undefined>;
};

/**
 * Removes what nobody needs: long outputs of sessions that are gone, ends of journals that were damaged and cut off a month ago, locks and
 * empty journals that killed processes left, and long texts that no journal names. Sessions only when asked for by age.
 */
export async function collectSessions(place: SessionsPlace, words: OwnWords): Promise<number> {
  const { directory, output } = place;
  const dryRun = words.has("--dry-run");
  const age = words.value("--older-than");
  const olderThan = age === undefined ? undefined : Date.now() - ageOf(age);
  const removed: Waste[] = [];
  const kept: (Kept & { what: string })[] = [];
  const counter = startCounter(process.stderr);
  const found = await findWaste(place, olderThan);
  for (const [index, waste] of found.entries()) {
    counter.show("Removing", index + 1, found.length);
    const problem = dryRun ? undefined : await waste.remove();
    if (problem === undefined) removed.push(waste);
    else kept.push({ what: waste.what, ...problem });
  }
  const gone = removed.flatMap(({ journal }) => journal ?? []);
  const onProgress = (read: number, all: number): void => counter.show("Reading journals", read, all);
  const texts = await collectGarbage(directory, { onProgress, ...(dryRun && { dryRun, except: gone }) });
  counter.end();
  if (removed.some(({ kind }) => kind === "session") && !dryRun) await place.store.summaries(); // forgets what it kept about them
  output.write(words.has("--json") ? toJson({ removed, kept, texts, dryRun }) : describe({ removed, kept, texts, dryRun }));
  await output.drain();
  return kept.every(({ isInUse }) => isInUse) ? exitCodes.success : exitCodes.error;
}

/** For a person who waits: one line that counts, gone in the end. */
function startCounter(stream: NodeJS.WriteStream): { show(what: string, count: number, all: number): void; end(): void } {
  let shownAt = Date.now(); // what is done at once is not shown
  let painted = false;
  return {
    show(what, count, all) {
      if (!stream.isTTY || Date.now() - shownAt < 200) return;
      shownAt = Date.now();
      painted = true;
      stream.write(`\r\x1b[2K${what}: ${count} of ${all}`);
    },
    end() {
      if (painted) stream.write("\r\x1b[2K");
    },
  };
}

function ageOf(text: string): number {
  const units: Readonly<Record<string, number>> = { h: dayMs / 24, d: dayMs, w: 7 * dayMs };
  const [, amount, unit = "d"] = /^(\d{1,5})([hdw])?$/.exec(text) ?? [];
  const milliseconds = Number(amount) * (units[unit] ?? Number.NaN);
  if (milliseconds > 0) return milliseconds;
  throw new RuntimeError("usage", `--older-than needs a time like 30d, 12h or 8w, not ${JSON.stringify(text)}`);
}

async function findWaste({ store, directory, home }: SessionsPlace, olderThan: number | undefined): Promise<Waste[]> {
  const summaries = await store.summaries();
  const old = summaries.filter(({ updatedAt }) => olderThan !== undefined && Date.parse(updatedAt) < olderThan);
  const sessions = old.map(
    ({ id, name, updatedAt, bytes }): Waste => ({
      kind: "session",
      what: `${id}${name === undefined ? "" : ` ${name}`}, last used ${updatedAt.slice(0, 10)}`,
      bytes,
      journal: id,
      remove: () => removeSession({ store, home }, id),
    }),
  );
  const gone = new Set(old.map(({ id }) => id));
  const living = new Set((await store.list()).filter((id) => !gone.has(id)));
  return [
    ...sessions,
    ...leftovers(directory, {
      olderThan: olderThan ?? Date.now() - 30 * dayMs,
      gone,
      remove: (id) => removeSession({ store, home }, id),
    }),
    ...overflows(join(home, "overflow"), { living, gone }),
  ];
}

type Leftovers = { olderThan: number; gone: ReadonlySet<string>; remove(id: string): Promise<Kept | undefined> };

/** What processes that were killed, and mended journals, have left among the sessions. */
function leftovers(directory: string, { olderThan, gone, remove }: Leftovers): Waste[] {
  const names = namesIn(directory);
  return names.flatMap((name): Waste[] => {
    const path = join(directory, name);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (!stat?.isFile()) return [];
    const [, id = "", rest = ""] = /^([^.]+)\.jsonl(.*)$/.exec(name) ?? [];
    if (id === "" || gone.has(id)) return []; // goes with its session
    const idle = Date.now() - stat.mtimeMs;
    if (rest.startsWith(".damaged-") && stat.mtimeMs < olderThan)
      return [{ kind: "damaged end of a journal", what: name, bytes: stat.size, journal: name, remove: () => removeFile(path) }];
    // A living owner writes to its lock every few seconds.
    if (rest.startsWith(".lock") && idle > dayMs && !names.includes(`${id}.jsonl`))
      return [{ kind: "lock of a dead process", what: name, bytes: stat.size, remove: () => removeFile(path) }];
    if (rest === "" && stat.size === 0 && idle > dayMs)
      return [{ kind: "empty journal", what: name, bytes: 0, journal: id, remove: () => remove(id) }];
    return [];
  });
}

/** A run that keeps no journal has such a folder too: it is left alone while something in it is younger than a day. */
function overflows(folder: string, { living, gone }: { living: ReadonlySet<string>; gone: ReadonlySet<string> }): Waste[] {
  return namesIn(folder).flatMap((id): Waste[] => {
    const path = join(folder, id);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (!stat?.isDirectory() || living.has(id)) return [];
    const files = namesIn(path).flatMap((name) => lstatSync(join(path, name), { throwIfNoEntry: false }) ?? []);
    const touched = Math.max(stat.mtimeMs, ...files.map(({ mtimeMs }) => mtimeMs));
    if (!gone.has(id) && Date.now() - touched < dayMs) return [];
    const bytes = files.reduce((sum, file) => sum + file.size, 0);
    return [{ kind: "long outputs of a session that is gone", what: id, bytes, remove: () => removeFolder(path) }];
  });
}

async function removeFile(path: string): Promise<Kept | undefined> {
  return await unlink(path).then(() => undefined, toKept);
}

async function removeFolder(path: string): Promise<Kept | undefined> {
  return await rm(path, { recursive: true, force: true }).then(() => undefined, toKept);
}

function namesIn(folder: string): string[] {
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(folder) : [];
}

type Result = {
  removed: readonly Waste[];
  kept: readonly (Kept & { what: string })[];
  texts: Collected;
  dryRun: boolean;
};

function toJson({ removed, kept, texts, dryRun }: Result): string {
  const items = removed.map(({ kind, what, bytes }) => ({ kind, what, bytes }));
  return `${JSON.stringify({ dryRun, removed: items, kept, texts }, null, 2)}\n`;
}

function describe({ removed, kept, texts, dryRun }: Result): string {
  const verb = dryRun ? "Would remove" : "Removed";
  const lines = removed.map(({ kind, what, bytes }) => `${verb} ${kind}: ${what} (${sizeOf(bytes)})`);
  const bytes = removed.reduce((sum, waste) => sum + waste.bytes, texts.bytes);
  if (texts.removed > 0)
    lines.push(`${verb} ${countOf(texts.removed, "file")} with long texts that no journal names (${sizeOf(texts.bytes)})`);
  lines.push(...kept.map(({ what, reason }) => `Left alone: ${what}: ${reason}`));
  lines.push(`${sizeOf(bytes)} ${dryRun ? "would be freed" : "freed"}`);
  return lines.map((line) => `${visible(line)}\n`).join("");
}
