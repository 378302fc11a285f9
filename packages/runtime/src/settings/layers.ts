import { lstatSync, realpathSync, type Stats, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { JsonObject } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import type { KeyPath } from "./json-text.ts";
import { onlyTightening, outerProjects } from "./outer-layers.ts";

/** `project` is committed with the project, `local` is beside it; both are content of the project. `flag` was given for this once. */
export type SettingScope = "user" | "project" | "local" | "flag";
export type SettingSource = Exclude<SettingScope, "flag">;

/** One settings file as it is written; nothing is merged yet. */
export type SettingsLayer = {
  readonly scope: SettingScope;
  /** Whose words it speaks: `claude` files hold keys of Claude Code that mean nothing here. */
  readonly dialect: "outrider" | "claude";
  /** The file, or the name of what was given for this once. */
  readonly path: string;
  readonly values: JsonObject;
  /** Undefined where there are no lines: JSON on the command line. */
  lineOf(keyPath: KeyPath): number | undefined;
  /** What a person should hear about the file as a whole. */
  readonly note?: string | undefined;
};

export type SettingsPlace = {
  /** See `outriderHome`. */
  readonly outriderHome: string;
  /** The folder that holds `.claude`. */
  readonly userHome: string;
  /** Claude Code's own folder; `.claude` in the user's home when absent. */
  readonly claudeHome?: string | undefined;
  /** See `findProjectRoot`. */
  readonly root: string;
  /** `--setting-sources`; all when absent. */
  readonly sources?: readonly SettingSource[] | undefined;
  /** What somebody gave for this once: a file, or JSON. */
  readonly inline?: string | undefined;
  /** What messages call that; `settings` when absent. */
  readonly inlineName?: string | undefined;
};

export type SettingsFile = Pick<SettingsLayer, "scope" | "dialect" | "path">;

/** The settings files that exist, lowest first, then what was given for this once. Without any it costs a few `stat`s and loads nothing. */
export async function loadLayers(place: SettingsPlace): Promise<SettingsLayer[]> {
  const files = findSettingsFiles(place);
  const outer = outerProjects(place.root, place.userHome).map((root) => ({ root, files: projectFiles({ ...place, root }) }));
  if (files.length === 0 && outer.length === 0 && place.inline === undefined) return [];
  const { readInline, readLayer } = await import("./read-layer.ts");
  return [
    ...outer.flatMap(({ root, files: around }) => around.map((file) => onlyTightening(readLayer(file), root))),
    ...files.map(readLayer),
    ...(place.inline === undefined ? [] : [readInline(place.inline, place.inlineName)]),
  ];
}

/**
 * The folder a project's settings belong to, however deep in it a run starts: the nearest with `.outrider`, `.claude` or `.git`.
 * The home folder's own `.outrider` and `.claude` make no project of everything below it.
 */
export function findProjectRoot(cwd: string, userHome: string): string {
  if (isMarked(cwd) || cwd === dirname(cwd)) return cwd;
  const home = realPath(userHome);
  for (let folder = dirname(cwd); folder !== dirname(folder); folder = dirname(folder)) {
    if (folder === home || folder === userHome) break;
    if (isMarked(folder)) return folder;
  }
  return cwd;
}

function isMarked(folder: string): boolean {
  return [".git", ".outrider", ".claude"].some((name) => lookOrSkip(join(folder, name), lstatSync));
}

/** `user,project,local`, or nothing for none of them. */
export function parseSettingSources(text: string): SettingSource[] {
  const words = text.split(",").map((word) => word.trim());
  return words.filter(Boolean).map((word) => {
    if (word === "user" || word === "project" || word === "local") return word;
    throw new RuntimeError(
      "usage",
      `--setting-sources cannot be ${JSON.stringify(word)}. Choose from: user, project, local, separated by commas, or "" for none`,
    );
  });
}

function findSettingsFiles({ outriderHome, userHome, root, sources, ...place }: SettingsPlace): SettingsFile[] {
  const folders = [
    { folder: outriderHome, dialect: "outrider", scopes: ["user", "user"] },
    { folder: place.claudeHome ?? join(userHome, ".claude"), dialect: "claude", scopes: ["user", "user"] },
    { folder: join(root, ".outrider"), dialect: "outrider", scopes: ["project", "local"] },
    { folder: join(root, ".claude"), dialect: "claude", scopes: ["project", "local"] },
  ] as const;
  const seen = new Set<string>();
  const found: SettingsFile[] = [];
  for (const { folder, dialect, scopes } of folders) {
    const wanted = (scope: SettingSource): boolean => !sources || sources.includes(scope);
    // Also looked for when nobody wants it: met again as the project's, as when a run starts in the home folder, it stays the user's.
    const look = scopes.some(wanted) ? lookOrFail : lookOrSkip;
    if (!look(folder, statSync)?.isDirectory()) continue;
    for (const [name, scope] of [["settings.json", scopes[0]] as const, ["settings.local.json", scopes[1]] as const]) {
      const path = join(folder, name);
      const entry = look(path, lstatSync);
      if (!entry) continue;
      const file = entry.isSymbolicLink() ? look(path, statSync) : entry;
      // A link that leads nowhere counts as there: reading it fails, and nobody's rules are dropped in silence.
      const identity = file ? `${file.dev}:${file.ino}` : path;
      if (seen.has(identity)) continue;
      seen.add(identity);
      if (wanted(scope)) found.push({ scope, dialect, path });
    }
  }
  return found;
}

function projectFiles(place: SettingsPlace): SettingsFile[] {
  return findSettingsFiles(place).filter(({ scope }) => scope !== "user");
}

type Look = typeof statSync | typeof lstatSync;

function lookOrFail(path: string, stat: Look): Stats | undefined {
  try {
    return stat(path, { throwIfNoEntry: false });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException; // fs throws nothing else
    if (code === "ENOTDIR") return undefined; // what lies below a file is nowhere
    throw new RuntimeError("config", `${path} may hold settings and cannot be looked at: ${message}`, {
      hint: "Make it readable, point HOME or OUTRIDER_HOME elsewhere, or leave it out (settingSources, --setting-sources)",
    });
  }
}

function lookOrSkip(path: string, stat: Look): Stats | undefined {
  try {
    return stat(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
