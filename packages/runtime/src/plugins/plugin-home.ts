import { readdirSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { takeLock } from "../journal/lock.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { isInside } from "../util/is-inside.ts";
import { makeFolder } from "../util/make-folder.ts";
import { sleep } from "../util/sleep.ts";
import { randomUuid } from "../util/unique-ids.ts";
import { readRegistry } from "./registry.ts";

/** How long another process may be at it. */
const patienceMs = 5 * 60_000;

/**
 * Work on a folder of plugins, by one process at a time. What a process that was killed has left there, and no registry knows of, goes first; what
 * is empty goes afterwards.
 */
export async function withPluginHome<T>(home: string, work: (staging: string) => Promise<T>): Promise<T> {
  makeFolder(home);
  const lock = await lockOf(home);
  const staging = join(home, "staging", randomUuid());
  try {
    removeLeftovers(home);
    makeFolder(staging);
    return await work(staging);
  } finally {
    rmSync(join(home, "staging"), { recursive: true, force: true });
    removeEmpty(join(home, "cache"));
    lock.release();
    if (readdirSync(home).length === 0) rmdirSync(home);
  }
}

async function lockOf(home: string): ReturnType<typeof takeLock> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    try {
      return await takeLock(join(home, "lock"), "of plugins");
    } catch (error) {
      if (!(error instanceof RuntimeError) || error.code !== "session-locked") throw error;
      if (Date.now() > deadline)
        throw new RuntimeError("busy", `Another process works on ${home}`, {
          retryable: true,
          hint: "Try again when it has ended",
        });
      await sleep(50, new AbortController().signal);
    }
  }
}

/** Folders that an installation has made and not written down. */
function removeLeftovers(home: string): void {
  rmSync(join(home, "staging"), { recursive: true, force: true });
  const kept = new Set([...readRegistry(home).values()].map(({ path }) => resolve(home, path)));
  for (const marketplace of namesIn(join(home, "cache")))
    for (const plugin of namesIn(join(home, "cache", marketplace)))
      for (const version of namesIn(join(home, "cache", marketplace, plugin))) {
        const path = join(home, "cache", marketplace, plugin, version);
        if (!kept.has(path)) rmSync(path, { recursive: true, force: true });
      }
}

/** Removes what is inside the home, and the empty folders around it. */
export function removeFrom(home: string, path: string): void {
  if (path === home || !isInside(home, path)) return;
  rmSync(path, { recursive: true, force: true });
  for (let above = dirname(path); above !== home && isInside(home, above); above = dirname(above)) {
    try {
      rmdirSync(above);
    } catch {
      return; // others are in it
    }
  }
}

/** Only folders in which nothing is. */
function removeEmpty(folder: string): void {
  for (const name of namesIn(folder)) removeEmpty(join(folder, name));
  try {
    rmdirSync(folder);
  } catch {
    // something is in it, or it is a file
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch {
    return [];
  }
}
