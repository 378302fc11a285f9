import { basename, dirname, join } from "node:path";
import { RuntimeError } from "../protocol/errors.ts";
import { nearest } from "../util/nearest.ts";
import type { FileStat, Workspace } from "../workspace/workspace.ts";
import { nameHere } from "./working-directory.ts";
import { type ToolContext, ToolFailure } from "./tool.ts";
import { orToolFailure } from "./workspace-failure.ts";

/** Larger files are for Grep and Bash; Read shows them in windows. */
export const maxLoadedBytes: number = 50 * 1024 * 1024;

type Files = Pick<ToolContext, "workspace" | "memory"> & Partial<ToolContext>;

export type LoadedFile = { bytes: Uint8Array; stat: FileStat };

/** The bytes of a file that must be there; every way it can fail is said in words the model can act on. */
export async function loadFile(context: Files, path: string): Promise<LoadedFile> {
  return (await loadFileIfPresent(context, path)) ?? Promise.reject(await missingFile(context, path));
}

/** Like `loadFile`, with undefined for a file that is not there. */
export async function loadFileIfPresent(context: Files, path: string): Promise<LoadedFile | undefined> {
  const { workspace } = context;
  const name = nameHere(context, path);
  const stat = await orToolFailure(workspace.stat(path));
  if (!stat) return undefined;
  if (stat.kind === "directory") throw new ToolFailure(`${name} is a directory. Use Glob to list the files in it.`);
  if (stat.kind === "other")
    throw new ToolFailure(`${name} is no regular file (a device, socket or pipe) and is left alone. Name another file.`);
  if (stat.size > maxLoadedBytes) {
    throw new ToolFailure(`${name} is too large (${sizeInWords(stat.size)}). Find the part you need with Grep, or use Bash.`);
  }
  const bytes = await orToolFailure(workspace.readFile(path, { maxBytes: maxLoadedBytes, unsaved: true }));
  return { bytes, stat };
}

/** `over`: the file that `bytes` were made of, `null` where there was none. One that somebody else has changed meanwhile stays as it is. */
export async function saveFile(
  context: Files,
  path: string,
  { bytes, over }: { readonly bytes: Uint8Array; readonly over: FileStat | null | undefined },
): Promise<FileStat> {
  const { workspace } = context;
  try {
    await workspace.writeFile(path, bytes, { over });
  } catch (error) {
    if (!(error instanceof RuntimeError) || error.code !== "busy") return await orToolFailure(Promise.reject(error));
    const name = nameHere(context, path);
    throw new ToolFailure(`${name} was changed by somebody else just now. Nothing was written. Read it again, then change it.`);
  }
  const stat = await orToolFailure(workspace.stat(path));
  if (!stat) throw new ToolFailure(`${path} was written, but something else removed it at once.`);
  return stat;
}

export async function removeFile(workspace: Workspace, path: string): Promise<void> {
  await orToolFailure(workspace.removeFile(path));
}

export function sizeInWords(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

/** With the file that is meant, where one has nearly that name: beside it, or anywhere in the project. */
async function missingFile(context: Files, path: string): Promise<ToolFailure> {
  const { workspace } = context;
  const name = nameHere(context, path);
  const directory = dirname(path);
  const entries = await workspace.readDirectory(directory).catch(() => undefined);
  const close = nearest(basename(path), entries?.map((entry) => entry.name) ?? []);
  const missing = entries ? `${name} does not exist.` : `${name} does not exist, and neither does its directory.`;
  const { findAlike } = await import("./find-alike.ts");
  const alike = await findAlike(path, context);
  const namesakes = alike.filter((one) => basename(one).toLowerCase() === basename(path).toLowerCase());
  const meant = namesakes.length > 0 ? namesakes : close ? [join(directory, close)] : alike;
  if (meant.length === 0) return new ToolFailure(`${missing} Use Glob to find the file.`);
  return new ToolFailure(`${missing} Did you mean ${meant.map((one) => nameHere(context, one)).join(" or ")}?`);
}
