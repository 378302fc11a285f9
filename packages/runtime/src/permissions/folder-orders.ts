import { dirname, join } from "node:path";
import { isInside } from "../util/is-inside.ts";
import type { ListFolder } from "./glob-words.ts";
import type { RuleBase } from "./rules.ts";

/** Files by which a project tells a program what to do. `matters`: does what this one says count? */
export type Orders = {
  readonly names: readonly string[];
  readonly matters?: ((file: string) => Promise<boolean>) | undefined;
};

type Search = Orders & { readonly list: ListFolder; readonly base: RuleBase };

/**
 * Does one of these files lie in a folder, or above it? A program that looks for them there does what they say. The home of the user is
 * left out, unless it belongs to the project.
 */
export async function hasOrders(folders: readonly string[], { names, matters, list, base }: Search): Promise<boolean> {
  const above = [...new Set(folders.flatMap(withParents))];
  const found = await Promise.all(
    above.map(async (folder) => {
      const inProject = isInside(base.root, folder);
      const entries = await list(folder);
      if (!entries) return inProject;
      if (!inProject && folder === base.home) return false;
      const files = entries.filter(({ name }) => names.includes(name)).map(({ name }) => join(folder, name));
      return matters ? (await Promise.all(files.map(matters))).includes(true) : files.length > 0;
    }),
  );
  return found.includes(true);
}

function withParents(folder: string): string[] {
  return folder === dirname(folder) ? [folder] : [folder, ...withParents(dirname(folder))];
}

/** Is there something of this name in a folder, with or without an ending, so that the name may be taken for it? */
export async function holdsName(folders: readonly string[], name: string, list: ListFolder): Promise<boolean> {
  const found = await Promise.all(folders.map((folder) => list(folder)));
  return found.some((entries) => entries?.some((entry) => entry.name.toLowerCase().split(".")[0] === name) ?? true);
}

/** Might python, started in one of these folders, import something that lies there? A folder with nothing in it tells nothing. */
export async function mayHoldModules(folders: readonly string[], list: ListFolder): Promise<boolean> {
  for (const folder of folders) {
    const entries = (await list(folder)) ?? [];
    if (entries.length === 0 || entries.some(({ name }) => isModule(name))) return true;
    for (const { name } of entries.filter(({ kind }) => kind !== "file")) {
      const inner = (await list(`${folder}/${name}`)) ?? [];
      if (inner.some((entry) => entry.name.startsWith("__init__."))) return true;
    }
  }
  return false;
}

function isModule(name: string): boolean {
  return /\.(?:py[cdiow]?|so|zip|egg|pth)$/.test(name);
}
