import { type FSWatcher, statSync, watch } from "node:fs";
import { basename, dirname, join } from "node:path";
import { RuntimeError } from "../protocol/errors.ts";
import type { OutputChunk, ProcessEnd, RunningProcess } from "./workspace.ts";

/** Several changes within this time are one. */
const gatherMs = 100;

/** As if a program printed a line for each change of a file, or of what a folder holds. Costs nothing while nothing changes. */
export async function watchPath(path: string, onOutput: (chunk: OutputChunk) => void | Promise<void>): Promise<RunningProcess> {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  const changed = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let finish = (_: ProcessEnd): void => {};
  const ended = new Promise<ProcessEnd>((resolve) => {
    finish = resolve;
  });
  const tell = (): void => {
    timer = undefined;
    const lines = [...changed].map((name) => `${statSync(name, { throwIfNoEntry: false }) ? "changed" : "removed"}: ${name}\n`);
    changed.clear();
    void onOutput({ stream: "stdout", bytes: Buffer.from(lines.join("")) });
  };
  const watcher = open(isFolder ? path : dirname(path), (name) => {
    if (!isFolder && name !== basename(path)) return;
    changed.add(isFolder && name !== undefined ? join(path, name) : path);
    timer ??= setTimeout(tell, gatherMs);
  });
  const stop = (end: ProcessEnd): void => {
    clearTimeout(timer);
    watcher.close();
    finish(end);
  };
  watcher.on("error", () => stop({ end: "exit", exitCode: 1 }));
  return {
    pid: undefined,
    ended,
    write: async () => false,
    endInput: () => {},
    kill: async () => stop({ end: "aborted" }),
  };
}

/** A file is watched by its folder: it may be written anew, and need not be there yet. */
function open(folder: string, onChange: (name: string | undefined) => void): FSWatcher {
  try {
    return watch(folder, { persistent: false }, (_, name) => onChange(name ?? undefined));
  } catch (error) {
    throw new RuntimeError("not-found", `There is no folder ${folder} that could be watched`, { cause: error });
  }
}
