import { dirname, join, resolve as resolvePath } from "node:path";
import { isInside } from "../util/is-inside.ts";
import type { ListFolder } from "./glob-words.ts";
import { isHarmlessDevice } from "./paths.ts";
import type { ResolvePath } from "./policy.ts";
import type { RuleBase } from "./rules.ts";
import type { FileUse } from "./parsed-command.ts";
import type { Places } from "./places.ts";
import type { ShellWord } from "./shell-words.ts";

/** Where a word of a command leads. `pattern` when it has wildcards: its last names are not real yet. Undefined: cannot be told. */
export type Target = { readonly path: string; readonly pattern: boolean } | undefined;

export type Ground = {
  readonly base: RuleBase;
  readonly cwd: string;
  readonly resolve: ResolvePath;
  readonly list?: ListFolder | undefined;
};

/** Every file the word may name: one for each directory the program may be in. */
export async function targetsOf({ word, places }: FileUse, ground: Ground): Promise<Target[]> {
  if (word.kind === "open" || word.text === "" || word.text.includes("\0")) return [undefined];
  const text = word.tilde ? expandTilde(word.text, ground.base.home) : word.text;
  if (text === undefined) return [undefined];
  if (word.kind === "exact" && isHarmlessDevice(text)) return [{ path: text, pattern: false }];
  if (text.startsWith("/")) return [await realTarget("/", text, { word, ground })];
  const folders = await foldersOf(places, ground);
  return folders ? await Promise.all(folders.map((folder) => realTarget(folder, text, { word, ground }))) : [undefined];
}

/** The folders a program may be in; undefined when that cannot be told. */
export async function foldersOf(places: Places, ground: Ground): Promise<string[] | undefined> {
  if (!places) return undefined;
  const folders: string[] = [];
  for (const chain of places) {
    let reached = [ground.cwd];
    for (const word of chain) {
      const text = word.tilde ? expandTilde(word.text, ground.base.home) : word.text;
      const after = (from: string): Promise<string[] | undefined> =>
        word.top ? topsFrom(from, ground) : afterCd(from, text ?? "", ground);
      const next = text === undefined ? undefined : await Promise.all(reached.map(after));
      if (!next || next.includes(undefined)) return undefined;
      reached = [...new Set(next.flatMap((paths) => paths ?? []))];
      if (reached.length > maxFolders) return undefined;
    }
    for (const path of reached) {
      const real = await follow(path, ground.resolve);
      if (real === undefined) return undefined;
      folders.push(real);
    }
  }
  return [...new Set(folders)];
}

const maxFolders = 16;

/**
 * Where the shell believes to be: `cd` goes by names, and by where the names lead with `-P`, or when the names alone lead nowhere.
 */
async function afterCd(from: string, text: string, { resolve }: Ground): Promise<string[] | undefined> {
  const named = resolvePath(from, text);
  const real = await walk(text.startsWith("/") ? "/" : from, text, resolve);
  return real === undefined ? undefined : [...new Set([named, real])];
}

/** Folders that git may take for the top: the next above with a `.git`, or one further up where that is no repository. */
async function topsFrom(from: string, { resolve, list }: Ground): Promise<string[] | undefined> {
  const tops: string[] = [];
  const start = await follow(from, resolve);
  for (let folder = start, last = ""; folder !== undefined && folder !== last; [last, folder] = [folder, dirname(folder)]) {
    const entries = await list?.(folder);
    if (!entries) return undefined;
    if (entries.some(({ name }) => name === ".git")) tops.push(folder);
  }
  return start === undefined ? undefined : tops;
}

async function realTarget(folder: string, text: string, { word, ground }: { word: ShellWord; ground: Ground }): Promise<Target> {
  if (word.kind === "exact") {
    const path = await walk(folder, text, ground.resolve);
    return path === undefined ? undefined : { path, pattern: false };
  }
  if (word.kind === "below") {
    const path = await walk(folder, text, ground.resolve);
    return path === undefined ? undefined : { path: join(path, "**"), pattern: true };
  }
  const slash = text.lastIndexOf("/", text.search(/[*?[]/));
  const rest = text.slice(slash + 1);
  if (/(?:^|\/)\.\.(?:\/|$)/.test(rest)) return undefined;
  const start = slash === -1 ? folder : await walk(folder, text.slice(0, slash) || "/", ground.resolve);
  // Names there may be links that lead elsewhere for every process.
  if (start === undefined || (isInside("/proc", start) && rest.includes("/"))) return undefined;
  return { path: join(start, rest), pattern: true };
}

/** As the kernel does it: `link/..` is the parent of where the link leads. */
async function walk(folder: string, text: string, resolve: ResolvePath): Promise<string | undefined> {
  let current = folder;
  for (const name of text.split("/")) {
    if (name !== "..") current = join(current, name);
    else {
      const parent = await parentOf(current, resolve);
      if (parent === undefined) return undefined;
      current = parent;
    }
  }
  return follow(current, resolve);
}

/** The folder that `..` is in this one. */
export async function parentOf(folder: string, resolve: ResolvePath): Promise<string | undefined> {
  const real = await follow(folder, resolve);
  return real === undefined ? undefined : dirname(real);
}

async function follow(path: string, resolve: ResolvePath): Promise<string | undefined> {
  try {
    return await resolve(path);
  } catch {
    return undefined; // a circle of links, or a name too long: nothing is known about it
  }
}

function expandTilde(text: string, home: string | undefined): string | undefined {
  if (home === undefined || (text !== "~" && !text.startsWith("~/"))) return undefined;
  return home + text.slice(1);
}
