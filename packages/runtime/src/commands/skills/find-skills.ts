import { closeSync, constants, existsSync, fstatSync, openSync, readdirSync, readSync, realpathSync, type Dirent } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { RuntimeError } from "../../protocol/errors.ts";
import { isInside } from "../../util/is-inside.ts";
import { readOther, readSimple } from "./parse-skill.ts";
import { toSkill } from "./said.ts";
import type { FoundSkills, Skill, SkillFolder } from "./skill.ts";
import { type IndexedSkill, type SkillIndex, type Stamp, stampOf } from "./skill-index.ts";

/** More than anybody writes by hand; models are shown only some of the descriptions long before. */
const maxFiles = 2_000;
const maxDepth = 8;
/** The whole file; Claude Code's limit is about the same. */
const maxBytes = 1024 * 1024;
/** Enough for what a file says about itself and its first line. */
const headBytes = 8 * 1024;

export type SkillPlaces = {
  /** The folder to work in, and the top of the project above it. */
  readonly cwd: string;
  readonly root: string;
  readonly outriderHome: string | undefined;
  readonly userHome: string | undefined;
  /** Claude Code's own folder, where it is not `.claude` of the user's. */
  readonly claudeHome?: string | undefined;
  /** Whose files count. */
  readonly scopes: readonly ("user" | "project")[];
  /** Folders beside the project that belong to the work, whose skills count with the project's. */
  readonly beside?: readonly string[] | undefined;
};

/**
 * Where skills and commands are kept, what counts first in front: skills before commands, the user's before the project's, a folder nearer
 * to the work before one above it.
 */
export function skillFolders({ cwd, root, scopes, beside = [], ...user }: SkillPlaces): SkillFolder[] {
  const claudeHome = user.claudeHome ?? (user.userHome && join(user.userHome, ".claude"));
  const homes = [user.outriderHome, claudeHome].filter((home): home is string => Boolean(home));
  const projects = foldersBetween(cwd, root).flatMap((folder) =>
    [".outrider", ".claude", ".agents"].map((name) => join(folder, name)).filter((path) => !homes.includes(path)),
  );
  const isCommandHome = (path: string): boolean => basename(path) !== ".agents";
  const all: SkillFolder[] = [
    ...homes.map((path) => ({ path: join(path, "skills"), kind: "skill", scope: "user" }) as const),
    ...projects.map((path) => ({ path: join(path, "skills"), kind: "skill", scope: "project", within: root }) as const),
    ...homes.map((path) => ({ path: join(path, "commands"), kind: "command", scope: "user" }) as const),
    ...projects
      .filter(isCommandHome)
      .map((path) => ({ path: join(path, "commands"), kind: "command", scope: "project", within: root }) as const),
    // What Claude Code has fetched from the user's account: any other of its name counts before it.
    ...(claudeHome ? [{ path: join(claudeHome, "skills", "synced"), kind: "skill", scope: "user" } as const] : []),
  ];
  const others = beside.flatMap((folder) =>
    [".outrider", ".claude", ".agents"].map(
      (name): SkillFolder => ({ path: join(folder, name, "skills"), kind: "skill", scope: "beside", within: folder }),
    ),
  );
  const own = all.filter(({ scope }) => scopes.some((wanted) => wanted === scope));
  return scopes.includes("project") ? [...own, ...others] : own;
}

/** Reads what the files say about themselves. The first of a name counts; a file that is wrong is told, and left out if it cannot be used. */
export async function findSkills(folders: readonly SkillFolder[], shownFrom?: string, index?: SkillIndex): Promise<FoundSkills> {
  const warnings: string[] = [];
  const byName = new Map<string, Skill>();
  const targets = new Set<string>();
  const buffer = Buffer.allocUnsafeSlow(headBytes);
  let count = 0;
  for (const folder of folders) {
    const { kind, scope, within, plugin } = folder;
    for (const { name: own, path, folder: beside, realPath } of kind === "skill" ? skillFiles(folder) : commandFiles(folder)) {
      const name = plugin ? `${plugin.name}:${own}` : own;
      const place = { name, path, kind, scope, folder: beside, within, plugin };
      const shown = shownFrom && path.startsWith(shownFrom + sep) ? path.slice(shownFrom.length + 1) : path;
      if (++count > maxFiles) {
        warnings.push(`There are more than ${maxFiles} skills and commands; ${shown} and what comes after it were left out`);
        return { skills: [...byName.values()], warnings };
      }
      const file: IndexedSkill | Opened = index?.get(path, place) ?? openFile({ ...place, realPath }, buffer);
      if ("type" in file && file.type === "absent") {
        if (!plugin && existsSync(join(beside, ".claude-plugin/plugin.json")))
          warnings.push(`${dirname(shown)} is a plugin and no skill: outrider plugins install ${beside} makes it count`);
        continue;
      }
      if ("type" in file && file.type === "refused") {
        warnings.push(`${shown} was left out: ${file.reason}`);
        continue;
      }
      if (targets.has(file.realPath)) continue; // a link to one that is there already
      targets.add(file.realPath);
      const known = byName.get(name);
      if (known) {
        warnings.push(`${shown} was left out: there is another /${name}, in ${known.path}`);
        continue;
      }
      if ("skill" in file) {
        byName.set(name, file.skill);
        warnings.push(...file.problems);
        continue;
      }
      const text = beginningOf(file.text);
      const { said, problems } = readSimple(text, place, shown) ?? (await readOther(text, place, shown));
      index?.keep(place, { stamp: file.stamp, said, realPath: file.realPath, problems });
      byName.set(name, toSkill(said, place));
      warnings.push(...problems);
    }
  }
  return { skills: [...byName.values()], warnings };
}

/** What it says about itself, and the first words. */
function beginningOf(text: string): string {
  const end = text.startsWith("---") ? text.search(/\n---[ \t]*(?:\r?\n|$)/) : 0;
  return end < 0 ? text : text.slice(0, end + 1024);
}

/** The whole text of a skill as it is now. */
export function readSkill(skill: FilePlace): string {
  const file = openFile(skill);
  if (file.type === "read") return file.text;
  const reason = file.type === "absent" ? "it is not there any more" : file.reason;
  throw new RuntimeError("config", `${skill.path} cannot be used: ${reason}`);
}

type FilePlace = Pick<Skill, "path" | "within" | "plugin">;
type File = { readonly name: string; readonly path: string; readonly folder: string; readonly realPath?: string | undefined };

/** Folders with a `SKILL.md`. A bundle may also name the folder of a skill, or be one. */
function skillFiles({ path: folder, plugin, within }: SkillFolder): File[] {
  if (plugin && existsSync(join(folder, "SKILL.md")))
    return [{ name: folder === within ? plugin.name : basename(folder), path: join(folder, "SKILL.md"), folder }];
  if (plugin && folder === within) return [];
  const entries = entriesOf(folder).filter((entry) => entry.isDirectory() || entry.isSymbolicLink());
  const real = entries.length > 0 ? realFolder(folder) : undefined;
  return entries.map((entry) => {
    const own = `${folder}${sep}${entry.name}`;
    const realPath = real !== undefined && entry.isDirectory() ? `${real}${sep}${entry.name}${sep}SKILL.md` : undefined;
    return { name: entry.name, path: `${own}${sep}SKILL.md`, folder: own, realPath };
  });
}

/** A bundle may also name a file. */
function commandFiles({ path, plugin }: SkillFolder): File[] {
  return plugin && path.endsWith(".md") ? [{ name: basename(path, ".md"), path, folder: dirname(path) }] : commandsBelow(path);
}

/** Folders are parts of the name: `a/b.md` is `a:b`. */
function commandsBelow(folder: string, above: readonly string[] = []): File[] {
  return entriesOf(folder).flatMap((entry): File[] => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return above.length < maxDepth ? commandsBelow(path, [...above, entry.name]) : [];
    if (!entry.name.endsWith(".md")) return [];
    return [{ name: [...above, entry.name.slice(0, -3)].join(":"), path, folder }];
  });
}

function realFolder(folder: string): string | undefined {
  try {
    return realpathSync.native(folder);
  } catch {
    return undefined;
  }
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return []; // nearly nobody has all of these folders
  }
}

function foldersBetween(cwd: string, root: string): string[] {
  const folders = [cwd];
  while (folders.length < 64 && folders.at(-1) !== root && isInside(root, folders.at(-1) ?? root)) {
    const above = dirname(folders.at(-1) ?? root);
    if (above === folders.at(-1)) break;
    folders.push(above);
  }
  return folders;
}

type Opened =
  | { readonly type: "absent" }
  | { readonly type: "refused"; readonly reason: string }
  | { readonly type: "read"; readonly realPath: string; readonly text: string; readonly stamp: Stamp };

/**
 * A regular text file that lies where it seems to lie, or as much of its beginning as the buffer holds. Never throws.
 * `realPath` is where it is unless its own name is that of a link.
 */
function openFile({ path, realPath, within, plugin }: FilePlace & Pick<File, "realPath">, buffer?: Buffer): Opened {
  const open = (real: string): Opened => {
    const isWithin = within === undefined || isInside(within, real) || isInside(realpathSync.native(within), real);
    return isWithin
      ? readFile(real, buffer)
      : { type: "refused", reason: `it leads out of the ${plugin ? "plugin" : "project"}` };
  };
  try {
    return (realPath === undefined ? undefined : unlessLink(() => open(realPath))) ?? open(realpathSync.native(path));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException; // fs throws nothing else
    return code === "ENOENT" || code === "ENOTDIR" ? { type: "absent" } : { type: "refused", reason: message };
  }
}

function unlessLink<T>(open: () => T): T | undefined {
  try {
    return open();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ELOOP") return undefined; // fs throws nothing else
    throw error;
  }
}

function readFile(realPath: string, buffer?: Buffer): Opened {
  // Not blocking and not following: a pipe would wait for ever, and a link put there just now leads elsewhere.
  const descriptor = openSync(realPath, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) return { type: "refused", reason: "it is no regular file" };
    if (stat.size > maxBytes) return { type: "refused", reason: `it has ${stat.size} bytes, and may have ${maxBytes}` };
    const target = buffer ?? Buffer.allocUnsafe(stat.size);
    const length = readSync(descriptor, target, 0, Math.min(stat.size, target.length), 0);
    const nul = target.indexOf(0);
    if (nul >= 0 && nul < length) return { type: "refused", reason: "it is no text" };
    return { type: "read", realPath, text: target.toString("utf8", 0, length), stamp: stampOf(stat) };
  } finally {
    closeSync(descriptor);
  }
}
