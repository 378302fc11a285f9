import { dirname } from "node:path";
import { isInside } from "../util/is-inside.ts";
import type { ListFolder } from "./glob-words.ts";
import type { RuleBase } from "./rules.ts";

type Search = { readonly names: readonly string[]; readonly list: ListFolder; readonly base: RuleBase };

/**
 * Does one of these files lie in a folder, or above it? A program that looks for them there does what they say. The home of the user is
 * left out, unless it belongs to the project.
 */
export async function hasOrders(folders: readonly string[], { names, list, base }: Search): Promise<boolean> {
  for (const start of folders) {
    for (let folder = start; ; folder = dirname(folder)) {
      const inProject = isInside(base.root, folder);
      const entries = await list(folder);
      if (!entries && inProject) return true;
      if ((inProject || folder !== base.home) && entries?.some(({ name }) => names.includes(name))) return true;
      if (folder === dirname(folder)) break;
    }
  }
  return false;
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
