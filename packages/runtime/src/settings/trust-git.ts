import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { RuntimeError } from "../protocol/errors.ts";
import { inspectRepository, type LookAt, readConfig } from "../permissions/git-repository.ts";

/** One thing that makes git run a program or look elsewhere: a key of its configuration, or a hook. */
export type GitItem = { readonly name: string; readonly value: string; readonly source: string };

const maxBytes = 1_000_000;
const maxFiles = 16;
const maxHooks = 200;

/**
 * What git would obey in this project. Git itself is never started: it obeys all of this at once.
 * Branches, addresses of remotes and names of users change every day and run nothing, so they do not count.
 * Throws when something cannot be read.
 */
export async function gitItems(root: string): Promise<GitItem[]> {
  const { directory, executor } = await inspectRepository(root, lookAt);
  if (directory === undefined && executor !== undefined) throw new RuntimeError("config", executor);
  if (directory === undefined) return [];
  const shared = commonDirectory(directory);
  const items: GitItem[] = [];
  const files = [join(shared, "config"), join(directory, "config.worktree")];
  const hookFolders = [join(shared, "hooks")];
  for (const [index, file] of files.entries()) {
    if (index >= maxFiles) throw new RuntimeError("config", `${file} is one of more than ${maxFiles} configuration files of git`);
    const text = textOf(file);
    if (text === undefined) continue;
    const found = itemsOf(text, file);
    items.push(...found.items);
    files.push(...found.includes.map((path) => resolve(dirname(file), path)));
    hookFolders.push(...found.hookFolders.map((path) => resolve(dirname(shared), path)));
  }
  return [...items, ...[...new Set(hookFolders)].flatMap(hooksIn)];
}

const lookAt: LookAt = async (path) => {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return undefined;
  return stat.isFile() ? { text: textOf(path) ?? "" } : "folder";
};

function commonDirectory(directory: string): string {
  const text = textOf(join(directory, "commondir"))?.trim();
  return text ? resolve(directory, text) : directory;
}

type Found = { readonly items: GitItem[]; readonly includes: string[]; readonly hookFolders: string[] };

/** Key by key; a file with a line that is not understood counts as a whole. */
function itemsOf(text: string, source: string): Found {
  const found: Found = { items: [], includes: [], hookFolders: [] };
  let header = "";
  for (const line of text.replace(/^\ufeff/, "").split("\n")) {
    const trimmed = line.trim();
    if (trimmed.startsWith("[")) header = trimmed;
    const { executor, includes, hookFolders } = readConfig(trimmed.startsWith("[") ? header : `${header}\n${trimmed}`);
    if (executor?.startsWith("a line that is not understood"))
      return { ...found, items: [{ name: "configuration", value: text, source }] };
    if (executor !== undefined || includes.length + hookFolders.length > 0)
      found.items.push({ name: executor ?? keyOf(trimmed), value: `${header} ${trimmed}`, source });
    found.includes.push(...includes);
    found.hookFolders.push(...hookFolders);
  }
  return found;
}

function keyOf(line: string): string {
  return /^[\w-]+/.exec(line)?.[0] ?? line;
}

/** Those git would run: samples are not, and neither is what nobody may execute. */
function hooksIn(folder: string): GitItem[] {
  const names = namesIn(folder).filter((name) => !name.endsWith(".sample"));
  if (names.length > maxHooks) throw new RuntimeError("config", `${folder} holds more than ${maxHooks} hooks`);
  return names.flatMap((name) => {
    const source = join(folder, name);
    const stat = statSync(source, { throwIfNoEntry: false });
    if (!stat?.isFile() || (stat.mode & 0o111) === 0) return [];
    return [{ name: `hook ${name}`, value: textOf(source) ?? "", source }];
  });
}

function namesIn(folder: string): string[] {
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(folder).sort() : [];
}

function textOf(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return undefined;
  if (!stat.isFile()) throw new RuntimeError("config", `${path} is no file`);
  if (stat.size > maxBytes) throw new RuntimeError("config", `${path} is larger than ${maxBytes} bytes`);
  return readFileSync(path, "utf8");
}
