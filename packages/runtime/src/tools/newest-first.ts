import type { Workspace } from "../workspace/workspace.ts";

/** Sorted by time of change, the latest first, then by name. A file that vanished meanwhile is left out. */
export async function newestFirst(workspace: Workspace, paths: readonly string[]): Promise<string[]> {
  const dated: { path: string; mtimeMs: number }[] = [];
  for (let start = 0; start < paths.length; start += 64) {
    const batch = paths.slice(start, start + 64);
    const stats = await Promise.all(batch.map((path) => workspace.stat(path).catch(() => undefined)));
    for (const [index, path] of batch.entries()) {
      const stat = stats[index];
      if (stat) dated.push({ path, mtimeMs: stat.mtimeMs });
    }
  }
  dated.sort((a, b) => b.mtimeMs - a.mtimeMs || comparePaths(a.path, b.path));
  return dated.map((file) => file.path);
}

/** Directory by directory, as ripgrep sorts: everything in `a/` comes before `a-b`. */
export function comparePaths(a: string, b: string): number {
  const left = a.replaceAll("/", "\0");
  const right = b.replaceAll("/", "\0");
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
