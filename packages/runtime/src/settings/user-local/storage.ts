import { accessSync, constants, existsSync, lstatSync, readdirSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { RuntimeError } from "../../protocol/errors.ts";
import { isInside } from "../../util/is-inside.ts";

export const userLocalCategories = [
  "preferences",
  "view-state",
  "memory-projections",
  "task-associations",
  "workflow-metadata",
  "inspection-index",
] as const;
export type UserLocalCategory = (typeof userLocalCategories)[number];

export type UserLocalItem = {
  readonly name: string;
  readonly location: string;
  readonly bytes: number;
  readonly modifiedAt: string;
};

/** What is kept for the user alone, never in a repository. */
export type UserLocalStorage = {
  readonly root: string;
  /** The repository that is worked in. */
  readonly activeRepository: string | undefined;
  readonly categories: readonly {
    readonly category: UserLocalCategory;
    readonly location: string;
    readonly exists: boolean;
    readonly items: readonly UserLocalItem[];
    /** Only the memory has items that can be switched off and deleted by their names. */
    readonly canDisable: boolean;
    readonly canDelete: boolean;
  }[];
};

export type UserLocalPlace = {
  /** The user's folder, absolute. */
  readonly root: string;
  /** The top of the repository that is worked in. */
  readonly repository?: string | undefined;
};

/** The root as it really is, or an error in words: it must not be a part of the repository, also not behind links. */
export function checkUserLocalRoot({ root, repository }: UserLocalPlace): string {
  const refuse = (why: string): RuntimeError =>
    new RuntimeError("config", `User-local storage cannot be in ${JSON.stringify(root)}: ${why}`);
  if (root.trim() === "") throw refuse("it is empty");
  if (!isAbsolute(root)) throw refuse("it is no absolute path");
  const plain = resolve(root);
  const real = realOf(plain);
  if (repository !== undefined) {
    const tops = [resolve(repository), realOf(resolve(repository))];
    for (const top of tops)
      for (const place of [plain, real]) {
        if (place === top) throw refuse("it is the repository itself");
        if (isInside(top, place)) throw refuse("it is inside of the repository");
      }
  }
  const existing = nearestExisting(real);
  if (!statSync(existing).isDirectory()) throw refuse(`${existing} is no folder`);
  try {
    accessSync(existing, constants.W_OK);
  } catch {
    throw refuse(`${existing} cannot be written to`);
  }
  return real;
}

/** What there is. Reads names and sizes, writes nothing. */
export function listUserLocalStorage(place: UserLocalPlace): UserLocalStorage {
  const root = checkUserLocalRoot(place);
  return {
    root,
    activeRepository: place.repository,
    categories: userLocalCategories.map((category) => {
      const location = join(root, "user-local", category);
      const isMemory = category === "memory-projections";
      const items = itemsIn(location);
      return { category, location, exists: existsSync(location), items, canDisable: isMemory, canDelete: isMemory };
    }),
  };
}

function itemsIn(folder: string): UserLocalItem[] {
  let names: string[] = [];
  try {
    names = readdirSync(folder).sort();
  } catch {
    return []; // nothing was kept yet
  }
  return names.flatMap((name) => {
    const location = join(folder, name);
    const stat = lstatSync(location, { throwIfNoEntry: false });
    return stat?.isFile() ? [{ name, location, bytes: stat.size, modifiedAt: stat.mtime.toISOString() }] : [];
  });
}

/** With links followed as far as there is something; the rest as it is written. */
function realOf(path: string): string {
  const existing = nearestExisting(path);
  return join(realpathSync(existing), path.slice(existing.length));
}

function nearestExisting(path: string): string {
  let folder = path;
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}
