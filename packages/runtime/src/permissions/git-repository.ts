import { dirname, join, resolve } from "node:path";

/** What is at a path: the text of a file, `folder`, or undefined for nothing. */
export type LookAt = (path: string) => Promise<{ readonly text: string } | "folder" | undefined>;

export type Repository = {
  /** Where git keeps it; undefined when there is none. */
  readonly directory: string | undefined;
  /** What in it can make a git that only looks run a program; undefined when nothing can. */
  readonly executor: string | undefined;
};

const none: Repository = { directory: undefined, executor: undefined };

/** The repository git would use in `folder`, found the way git finds it: also a bare one that somebody left lying there. */
export async function inspectRepository(folder: string, lookAt: LookAt): Promise<Repository> {
  for (let current = folder; ; current = dirname(current)) {
    const directory = await gitDirectoryIn(current, lookAt);
    if (directory === "unclear") return { directory: undefined, executor: `${join(current, ".git")}, which cannot be read` };
    if (directory !== undefined) return { directory, executor: await executorIn(directory, lookAt) };
    if (dirname(current) === current) return none;
  }
}

async function gitDirectoryIn(folder: string, lookAt: LookAt): Promise<string | "unclear" | undefined> {
  const entry = await lookAt(join(folder, ".git"));
  if (entry === "folder") return join(folder, ".git");
  if (entry) {
    const target = /^gitdir: (.+?)\s*$/.exec(entry.text)?.[1];
    return target === undefined ? "unclear" : resolve(folder, target);
  }
  const bare = await Promise.all(["HEAD", "objects", "refs"].map((name) => lookAt(join(folder, name))));
  return bare[0] !== undefined && bare[1] === "folder" && bare[2] === "folder" ? folder : undefined;
}

async function executorIn(directory: string, lookAt: LookAt): Promise<string | undefined> {
  const common = await lookAt(join(directory, "commondir"));
  const shared = typeof common === "object" ? join(directory, common.text.trim()) : directory;
  const hooks = new Set([join(shared, "hooks")]);
  const files = [join(shared, "config")];
  for (const [index, file] of files.entries()) {
    if (index > maxIncludes) return `more than ${maxIncludes} included files`;
    const config = await lookAt(file);
    if (config === undefined) continue;
    if (config === "folder") return `${file}, which cannot be read`;
    const { executor, includes, hookFolders } = readConfig(config.text);
    if (executor !== undefined) return `${executor} in ${file}`;
    files.push(...includes.map((path) => resolve(dirname(file), path)));
    for (const path of hookFolders) hooks.add(resolve(dirname(shared), path));
  }
  for (const folder of hooks) {
    const hook = join(folder, "post-index-change"); // the one hook that looking runs: it refreshes the index
    if ((await lookAt(hook)) !== undefined) return hook;
  }
  return undefined;
}

const maxIncludes = 8;

/** Keys without influence on which programs run, by section; `*` is every key. What is not listed is taken to run something. */
const harmless: Readonly<Record<string, string>> = {
  core: "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol safecrlf quotepath abbrev whitespace compression longpaths untrackedcache preloadindex fscache sparsecheckout sparsecheckoutcone commentchar excludesfile",
  remote: "url fetch pushurl tagopt prune mirror skipdefaultupdate",
  branch: "*",
  user: "*",
  author: "*",
  committer: "*",
  color: "*",
  advice: "*",
  column: "*",
  status: "*",
  init: "defaultbranch",
  pull: "*",
  push: "*",
  fetch: "*",
  rebase: "*",
  rerere: "*",
  gc: "*",
  pack: "*",
  index: "*",
  feature: "*",
  maintenance: "*",
  submodule: "url active branch ignore fetchrecursesubmodules recurse",
  diff: "renames renamelimit algorithm mnemonicprefix noprefix context interhunkcontext submodule ignoresubmodules colormoved wserrorhighlight indentheuristic statgraphwidth",
  log: "date decorate follow abbrevcommit",
  merge: "conflictstyle ff renames renamelimit",
  commit: "gpgsign verbose status cleanup",
  tag: "gpgsign sort forcesignannotated",
  lfs: "repositoryformatversion access",
  http: "extraheader sslverify postbuffer version",
};

type Config = {
  /** The first key that could run a program. */
  readonly executor: string | undefined;
  readonly includes: readonly string[];
  readonly hookFolders: readonly string[];
};

/** Line by line, and strictly: what is not understood counts as running something. */
export function readConfig(text: string): Config {
  const includes: string[] = [];
  const hookFolders: string[] = [];
  const stop = (executor: string | undefined): Config => ({ executor, includes, hookFolders });
  let section = "";
  for (const line of text
    .replace(/^\ufeff/, "")
    .split("\n")
    .map((line) => line.trim())) {
    if (line === "" || /^[#;]/.test(line)) continue;
    const header = /^\[([A-Za-z][A-Za-z0-9-]*)(\s+"(?:[^"\\]|\\.)*")?\]$/.exec(line);
    if (header) {
      section = sectionOf(header[1]?.toLowerCase() ?? "", header[2] !== undefined);
      continue;
    }
    const [, name, value = ""] = /^([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?$/.exec(line) ?? [];
    if (name === undefined || line.endsWith("\\"))
      return stop(`a line that is not understood (${section || "before any section"})`);
    const key = `${section}.${name.toLowerCase()}`;
    if (key === "include.path" && isPlainPath(value)) includes.push(value);
    else if (key === "core.hookspath" && isPlainPath(value)) hookFolders.push(value);
    else if (key === "core.fsmonitor" && /^(?:true|false)$/i.test(value))
      continue; // git's own, or none
    else if (!isHarmless(section, name.toLowerCase())) return stop(key);
  }
  return stop(undefined);
}

/** `diff "x"` defines a driver, where `diff` is settings; a remote or branch is the same whatever its name. */
function sectionOf(name: string, named: boolean): string {
  if (name === "includeif") return "include";
  return named && !/^(?:remote|branch|submodule|color|advice|lfs|http)$/.test(name) ? `${name}.*` : name;
}

function isHarmless(section: string, key: string): boolean {
  const keys = Object.hasOwn(harmless, section) ? harmless[section] : undefined;
  return keys === "*" || (keys?.split(" ").includes(key) ?? false);
}

/** Nothing that git would expand, unquote or cut off. */
function isPlainPath(value: string): boolean {
  return /^[\w./@+-]+$/.test(value);
}
