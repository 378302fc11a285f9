import { basename } from "node:path";
import { smallText } from "./host-files.ts";
import { type LaterGroup, laterGroups } from "./later-files.ts";

type Rank = { readonly rank: number; readonly pattern: RegExp };

const words = (text = ""): string[] => text.split(" ").filter((word) => word !== "");
const toPattern = (text: string): string => text.replaceAll(/[.+]/g, "\\$&").replaceAll("*", "[^/]*");
const each = <Item>(make: (group: LaterGroup, rank: number) => readonly Item[]): Item[] => laterGroups.flatMap(make);

// The first group that has a name counts.
const byName = new Map(
  each(({ names }, rank) =>
    words(names)
      .filter((name) => !name.includes("*"))
      .map((name) => [name, rank] as const),
  ).reverse(),
);
const patterns = each<Rank>(({ names }, rank) => {
  const wide = words(names).filter((name) => name.includes("*"));
  return [{ rank, pattern: new RegExp(`^(?:${wide.map(toPattern).join("|")})$`) }];
});
const folders = each<Rank>(({ folders: list }, rank) => {
  const inside = words(list).map(toPattern).join("|");
  return inside === "" ? [] : [{ rank, pattern: new RegExp(`/(?:${inside})(?:/|$)`) }];
});
const anyPattern = new RegExp(patterns.map(({ pattern }) => pattern.source).join("|"));
const anyFolder = new RegExp(folders.map(({ pattern }) => pattern.source).join("|"));
/** A link can stand for a folder that is listed, or for one around it. */
const outerFolders = new Map(
  each(({ folders: list }, rank) => words(list).map((folder) => [folder.replace(/\/.*/, ""), rank] as const)).reverse(),
);
const folderParts = new Set(each(({ folders: list }) => words(list).flatMap((folder) => folder.split("/"))));

/** Where agents keep their own notes. Our memory is told to every session. */
const notes = /\/(?:(?:\.outrider|\.claude)\/(?:worktrees|tasks|plans|tmp)|\.claude\/memory)(?:\/|$)/;
/** What installers bring in: all of it is code of others. Of Python's only what is read at every start counts. */
const packages = /\/(?:node_modules|site-packages|dist-packages)(?:\/|$)/;
const startOfPython = /^(?:sitecustomize\.py|usercustomize\.py|.*\.pth)$/;

/** For the files and links of one folder: which group of `laterGroups` each is in; undefined for one that nothing runs by itself. */
export function groupsIn(folder: string): (name: string) => number | undefined {
  const place = folder.toLowerCase();
  if (packages.test(place)) {
    const counts = !place.includes("/node_modules");
    return (name) => (counts && startOfPython.test(name) ? byName.get("sitecustomize.py") : undefined);
  }
  const isNote = notes.test(place);
  const around = isNote || !anyFolder.test(place) ? undefined : firstOf(folders, place);
  return (name) => {
    const small = name.toLowerCase();
    const own = byName.get(small) ?? (anyPattern.test(small) ? firstOf(patterns, small) : undefined);
    const asFolder =
      folderParts.has(small) && !isNote ? (outerFolders.get(small) ?? firstOf(folders, `${place}/${small}`)) : undefined;
    return least(least(own, asFolder), around);
  };
}

function firstOf(list: readonly Rank[], text: string): number | undefined {
  return list.find(({ pattern }) => pattern.test(text))?.rank;
}

function least(one: number | undefined, two: number | undefined): number | undefined {
  return one === undefined || two === undefined ? (one ?? two) : Math.min(one, two);
}

/** Keys of `package.json` and its like beside `scripts` and `tasks` that name programs, or modules to load. */
const runningKeys =
  "packageManager husky simple-git-hooks gitHooks pre-commit lint-staged commitlint jest babel eslintConfig prettier stylelint ava mocha nyc xo pnpm wireit".split(
    " ",
  );

/** What in the file can be run, as far as it can be told in parts; undefined for files that count as a whole, such as one too long to read. */
export function scriptsOf(path: string): Readonly<Record<string, string>> | undefined {
  if (!/^(?:package|composer|deno)\.json$/.test(basename(path).toLowerCase())) return undefined;
  try {
    const { scripts, tasks, ...rest } = JSON.parse(smallText(path) ?? "");
    const other = runningKeys.filter((key) => Object.hasOwn(rest, key)).map((key) => [key, rest[key]]);
    const all = [...Object.entries(scripts ?? {}), ...Object.entries(tasks ?? {}), ...other];
    return Object.fromEntries(all.map(([name, script]) => [name, typeof script === "string" ? script : JSON.stringify(script)]));
  } catch {
    return undefined; // others may read it all the same
  }
}

/** Names of scripts that are new or different, those first that an install runs; scripts that went away run nothing. */
export function changedScripts(
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): readonly string[] {
  const changed = Object.keys(after).filter((name) => before[name] !== after[name]);
  return [...changed.filter(isLifecycle), ...changed.filter((name) => !isLifecycle(name))];
}

function isLifecycle(name: string): boolean {
  return /^(?:(?:pre|post)?(?:install|prepare|pack|publish)|dependencies|prepublishOnly|post-\w+-cmd|pre-\w+-cmd)$/.test(name);
}
