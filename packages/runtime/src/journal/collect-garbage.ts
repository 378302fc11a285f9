import { createReadStream, existsSync, readdirSync, renameSync, rmSync, statSync, unlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { referencePattern } from "./large-values.ts";
import { sideFileGraceMs, sideFolder } from "./side-files.ts";
import { mapSuffix } from "./line-map.ts";
import { takeLock } from "./lock.ts";
import { isDoor, knock } from "./lock-door.ts";
import { logSuffix } from "./store-place.ts";

export type Collected = {
  /** Files that were removed, or would be, and their size: side files that no log names, and what killed processes left half-written or empty. */
  removed: number;
  bytes: number;
  kept: number;
};

export type CollectOptions = {
  readonly now?: () => number;
  readonly graceMs?: number;
  /** Only counts. */
  readonly dryRun?: boolean;
  /** What is about to go, so that what only it names counts as unused: ids of sessions, or names of files beside their logs. */
  readonly except?: readonly string[];
  /** Told after each journal: reading them all is what takes its time. */
  readonly onProgress?: (read: number, all: number) => void;
};

const asideSuffix = ".unused";

/**
 * Removes the side files that no session of the folder names any more. Safe beside running sessions: a writer touches a file before it
 * relies on it, and what was touched within the last hour stays.
 */
export async function collectGarbage(directory: string, options: CollectOptions = {}): Promise<Collected> {
  const { dryRun = false, except = [] } = options;
  const before = (options.now ?? Date.now)() - (options.graceMs ?? sideFileGraceMs);
  const collected: Collected = { removed: 0, bytes: 0, kept: 0 };
  // Listed first: what is written from here on is not looked at.
  const files = sideFilesIn(directory);
  const named = await referencesIn(directory, new Set(except), options.onProgress);
  const remove = dryRun ? sizeIfUntouched : removeUntouched;
  for (const { folder, name } of files) {
    const path = join(folder, name);
    if (name.endsWith(asideSuffix) && isWanted(path, named)) {
      if (!dryRun) putBack(path);
      continue;
    }
    const bytes = named.has(name) ? undefined : remove(path, before);
    if (bytes === undefined) collected.kept++;
    else {
      collected.removed++;
      collected.bytes += bytes;
    }
  }
  const left = namesIn(directory).filter((name) => name.endsWith(".tmp") || isMapOfNothing(directory, name));
  for (const name of left) {
    const bytes = remove(join(directory, name), before);
    if (bytes !== undefined) {
      collected.removed++;
      collected.bytes += bytes;
    }
  }
  for (const name of namesIn(directory)) {
    if (except.includes(name) || except.includes(basename(name, logSuffix))) continue; // counted by whoever removes it
    const path = join(directory, name);
    const isLeft = name.endsWith(logSuffix) ? await isEmptyLog(path, before) : isDoor(name) && (await knock(path)) === false;
    if (!isLeft) continue;
    if (!dryRun) rmSync(path, { force: true });
    collected.removed++;
  }
  return collected;
}

/** Its writer was killed before its first event; one that is just being made is young, or locked by somebody who lives. */
async function isEmptyLog(path: string, before: number): Promise<boolean> {
  if (sizeIfUntouched(path, before) !== 0) return false;
  try {
    (await takeLock(`${path}.lock`, basename(path, logSuffix), { brief: true })).release();
    return true;
  } catch {
    return false; // in use
  }
}

/** Its log was taken away by hand. */
function isMapOfNothing(directory: string, name: string): boolean {
  return name.endsWith(mapSuffix) && !existsSync(join(directory, name.slice(0, -mapSuffix.length) + logSuffix));
}

/**
 * Moved aside before it is judged: who touches it later finds it missing and writes it anew, who touched it before is seen in its time.
 * Answers its size, or undefined when it stays.
 */
function removeUntouched(path: string, before: number): number | undefined {
  const aside = `${path}${asideSuffix}`;
  const bytes = sizeIfUntouched(path, before);
  if (bytes === undefined) return undefined;
  try {
    renameSync(path, aside);
    if (statSync(aside).mtimeMs > before) renameSync(aside, path);
    else {
      unlinkSync(aside);
      return bytes;
    }
  } catch {
    // Somebody else collects too.
  }
  return undefined;
}

function sizeIfUntouched(path: string, before: number): number | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat && stat.mtimeMs <= before ? stat.size : undefined;
}

/** A collector that was killed between two steps may have left a file aside that is wanted. */
function isWanted(aside: string, named: ReadonlySet<string>): boolean {
  const path = placeOf(aside);
  return named.has(basename(path)) && !existsSync(path);
}

function putBack(aside: string): void {
  renameSync(aside, placeOf(aside));
}

function placeOf(aside: string): string {
  return aside.slice(0, -asideSuffix.length);
}

/** What whole logs name, and damaged ends that were kept: both may be wanted again. */
async function referencesIn(
  directory: string,
  except: ReadonlySet<string>,
  onProgress: CollectOptions["onProgress"],
): Promise<Set<string>> {
  const named = new Set<string>();
  const names = namesIn(directory);
  for (const [index, name] of names.entries()) {
    onProgress?.(index, names.length);
    const end = name.indexOf(logSuffix);
    if (end === -1 || except.has(name) || except.has(name.slice(0, end))) continue;
    let rest = "";
    try {
      for await (const chunk of createReadStream(join(directory, name), { encoding: "latin1", highWaterMark: 1 << 20 })) {
        const text = rest + chunk;
        for (const [, sha256] of text.matchAll(referencePattern)) if (sha256) named.add(sha256);
        rest = text.slice(-200);
      }
    } catch (error) {
      // Removed meanwhile. Any other failure means that references may be overlooked, and then nothing may be removed.
      if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
    }
  }
  return named;
}

function sideFilesIn(directory: string): { folder: string; name: string }[] {
  const root = join(directory, sideFolder);
  return namesIn(root).flatMap((prefix) => namesIn(join(root, prefix)).map((name) => ({ folder: join(root, prefix), name })));
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
