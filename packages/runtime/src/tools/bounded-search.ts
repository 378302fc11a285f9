import type { FileStat } from "../workspace/workspace.ts";
import { untilAborted } from "../util/until-aborted.ts";
import { nameHere } from "./working-directory.ts";
import { type ToolContext, ToolFailure } from "./tool.ts";
import { orToolFailure } from "./workspace-failure.ts";

/** Made by the kernel while they are read: they have no end, and reading some of their files waits for an event. */
const kernelTrees = ["/proc", "/sys"];

const limitMs = 60_000;

export type SearchOptions = {
  /** False keeps to the built-in search even where ripgrep is installed. */
  readonly ripgrep?: boolean;
  /** A search that takes longer is given up, in words. A minute when absent. */
  readonly limitMs?: number;
};

/** What a search begins at; undefined when there is nothing. Refuses places where it would wait for ever. */
export async function statSearchRoot(path: string, context: ToolContext): Promise<FileStat | undefined> {
  const stat = await orToolFailure(context.workspace.stat(path));
  const name = nameHere(context, path);
  if (stat?.kind === "other") throw new ToolFailure(`${name} is no regular file (a device, socket or pipe) and is left alone.`);
  if (stat?.kind === "directory" && kernelTrees.some((tree) => path === tree || path.startsWith(`${tree}/`))) {
    throw new ToolFailure(
      `${name} is a view into the running kernel, not a tree of files, and is not searched. Name one file in it, or use Bash.`,
    );
  }
  return stat;
}

/** Met on the way down from the root of the file system, they are passed over. */
export function isKernelTree(path: string): boolean {
  return kernelTrees.includes(path);
}

/** Even a search that hangs in the file system ends, in words. */
export async function searchInTime<Result>(
  context: ToolContext,
  { limitMs: limit = limitMs }: SearchOptions,
  search: (context: ToolContext) => Promise<Result>,
): Promise<Result> {
  const late = new AbortController();
  const signal = AbortSignal.any([context.signal, late.signal]);
  const timer = setTimeout(() => late.abort(tooLong(limit)), limit);
  try {
    return await untilAborted(search({ ...context, signal }), signal);
  } finally {
    clearTimeout(timer);
  }
}

function tooLong(limit: number): ToolFailure {
  return new ToolFailure(`The search took longer than ${limit / 1000} seconds and was given up. Search in a smaller directory.`);
}
