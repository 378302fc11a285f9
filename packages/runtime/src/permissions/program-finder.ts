import { isAbsolute } from "node:path";
import { isInside } from "../util/is-inside.ts";

/** A program as the PATH finds it, and with links followed. */
export type FoundProgram = { readonly file: string; readonly real: string };

/** Where the name of a program leads. */
export type ProgramFinder = {
  /** The file, outside the project; looked for once. Absent: nothing is known of version managers. */
  found?(name: string): Promise<FoundProgram | undefined>;
  /** `system`: where the system keeps its programs. `other`: elsewhere, but nowhere the project can reach. */
  place(name: string): Promise<"system" | "other" | "project" | undefined>;
  /** May the name lead to a program of the project? `changed`: files may have been made since. */
  isShadowed(name: string, changed: boolean): Promise<boolean>;
};

type Machine = {
  /** The PATH commands are run with. */
  readonly path: string | undefined;
  /** Folders of the project, with links followed. */
  readonly roots: readonly string[];
  isFile(path: string): Promise<boolean>;
  resolve(path: string): Promise<string>;
};

export function createProgramFinder(machine: Machine): ProgramFinder {
  const { path = "", roots } = machine;
  const isOurs = (real: string): boolean => roots.some((root) => isInside(root, real));
  let searched: Promise<readonly Entry[]> | undefined;
  const entries = (): Promise<readonly Entry[]> =>
    (searched ??= Promise.all(path.split(":").map((folder) => toEntry(folder, machine, isOurs))));
  const place: ProgramFinder["place"] = async (name) => {
    for (const { folder, ours } of await entries()) {
      if (folder === undefined) return "project";
      const file = `${folder}/${name}`;
      if (!(await machine.isFile(file))) continue;
      if (ours || isOurs(await machine.resolve(file))) return "project";
      return /^\/(?:usr\/)?s?bin$/.test(folder) ? "system" : "other";
    }
    return undefined;
  };
  const find = async (name: string): Promise<FoundProgram | undefined> => {
    for (const { folder, ours } of await entries()) {
      const file = `${folder}/${name}`;
      if (folder === undefined || ours || !(await machine.isFile(file))) continue;
      return { file, real: await machine.resolve(file).catch(() => file) };
    }
    return undefined;
  };
  const known = new Map<string, Promise<FoundProgram | undefined>>();
  return {
    place,
    found: (name) => {
      const found = known.get(name) ?? find(name);
      known.set(name, found);
      return found;
    },
    isShadowed: async (name, changed) =>
      (await entries()).some(({ ours }) => ours) && (changed || (await place(name)) === "project"),
  };
}

/** `folder` is undefined where it depends on the folder a command is in: an empty or relative part of the PATH. */
type Entry = { readonly folder: string | undefined; readonly ours: boolean };

async function toEntry(folder: string, { resolve }: Machine, isOurs: (real: string) => boolean): Promise<Entry> {
  if (!isAbsolute(folder)) return { folder: undefined, ours: true };
  const real = await resolve(folder).catch(() => folder);
  return { folder, ours: isOurs(folder) || isOurs(real) };
}
