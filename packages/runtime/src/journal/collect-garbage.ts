import { createReadStream, existsSync, readdirSync, renameSync, statSync, unlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { referencePattern } from "./large-values.ts";
import { sideFileGraceMs, sideFolder } from "./side-files.ts";
import { logSuffix } from "./store-place.ts";

export type Collected = {
  /** Files that were removed and their size: side files that no log names, and what killed processes left half-written. */
  removed: number;
  bytes: number;
  kept: number;
};

const asideSuffix = ".unused";

/**
 * Removes the side files that no session of the folder names any more. Safe beside running sessions: a writer touches a file before it
 * relies on it, and what was touched within the last hour stays.
 */
export async function collectGarbage(
  directory: string,
  options: { now?: () => number; graceMs?: number } = {},
): Promise<Collected> {
  const before = (options.now ?? Date.now)() - (options.graceMs ?? sideFileGraceMs);
  const collected: Collected = { removed: 0, bytes: 0, kept: 0 };
  // Listed first: what is written from here on is not looked at.
  const files = sideFilesIn(directory);
  const named = await referencesIn(directory);
  for (const { folder, name } of files) {
    const path = join(folder, name);
    if (name.endsWith(asideSuffix) && putBack(path, named)) continue;
    const bytes = named.has(name) ? undefined : removeUntouched(path, before);
    if (bytes === undefined) collected.kept++;
    else {
      collected.removed++;
      collected.bytes += bytes;
    }
  }
  for (const name of namesIn(directory).filter((name) => name.endsWith(".tmp"))) {
    const bytes = removeUntouched(join(directory, name), before);
    if (bytes !== undefined) {
      collected.removed++;
      collected.bytes += bytes;
    }
  }
  return collected;
}

/**
 * Moved aside before it is judged: who touches it later finds it missing and writes it anew, who touched it before is seen in its time.
 * Answers its size, or undefined when it stays.
 */
function removeUntouched(path: string, before: number): number | undefined {
  const aside = `${path}${asideSuffix}`;
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat || stat.mtimeMs > before) return undefined;
  try {
    renameSync(path, aside);
    if (statSync(aside).mtimeMs > before) renameSync(aside, path);
    else {
      unlinkSync(aside);
      return stat.size;
    }
  } catch {
    // Somebody else collects too.
  }
  return undefined;
}

/** A collector that was killed between two steps may have left a file aside that is wanted. */
function putBack(aside: string, named: ReadonlySet<string>): boolean {
  const path = aside.slice(0, -asideSuffix.length);
  if (!named.has(basename(path)) || existsSync(path)) return false;
  renameSync(aside, path);
  return true;
}

/** What whole logs name, and damaged ends that were kept: both may be wanted again. */
async function referencesIn(directory: string): Promise<Set<string>> {
  const named = new Set<string>();
  for (const name of namesIn(directory)) {
    if (!name.includes(logSuffix)) continue;
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
