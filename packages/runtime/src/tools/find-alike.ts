import { basename, dirname, extname, relative } from "node:path";
import { isInside } from "../util/is-inside.ts";
import { listFiles } from "./list-files.ts";
import type { ToolContext } from "./tool.ts";

const longestMs = 2_000;
const most = 3;

/** Files of the project with the name of this one, or its name with another ending; those whose folders are most alike first. */
export async function findAlike(
  path: string,
  context: Pick<ToolContext, "workspace" | "memory"> & Partial<ToolContext>,
): Promise<readonly string[]> {
  const { root } = context.workspace;
  if (!isInside(root, path)) return [];
  const limit = AbortSignal.timeout(longestMs);
  const signal = context.signal ? AbortSignal.any([context.signal, limit]) : limit;
  const files = await listFiles(root, { callId: "", progress: () => {}, ...context, signal }, { ripgrep: true }).catch(() => []);
  context.signal?.throwIfAborted();
  const name = basename(path).toLowerCase();
  const stem = stemOf(name);
  const rank = (file: string): number => {
    const other = basename(file).toLowerCase();
    if (other === name) return 0;
    return stem.length > 1 && stemOf(other) === stem ? 1 : 2;
  };
  const wanted = new Set(relative(root, dirname(path)).split("/"));
  const shared = (file: string): number =>
    relative(root, dirname(file))
      .split("/")
      .filter((folder) => wanted.has(folder)).length;
  return files
    .filter((file) => rank(file) < 2 && (context.mayRead?.(file) ?? true))
    .sort((left, right) => rank(left) - rank(right) || shared(right) - shared(left) || left.length - right.length)
    .slice(0, most);
}

function stemOf(name: string): string {
  return name.slice(0, name.length - extname(name).length);
}
