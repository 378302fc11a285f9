import { rmSync } from "node:fs";

const kept = new Set<string>();

/** Removes a folder when the process ends, unless the answered function did so before. One listener serves all folders of the process. */
export function removeAtExit(folder: string): () => void {
  if (kept.size === 0) process.once("exit", removeAll);
  kept.add(folder);
  return () => {
    kept.delete(folder);
    if (kept.size === 0) process.off("exit", removeAll);
    rmSync(folder, { recursive: true, force: true });
  };
}

function removeAll(): void {
  for (const folder of kept) {
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // The process ends; there is nobody to tell.
    }
  }
}
