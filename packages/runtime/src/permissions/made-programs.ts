import { basename } from "node:path";
import type { Target } from "./command-paths.ts";
import type { Moment } from "./moments.ts";
import type { FileUse, Program } from "./parsed-command.ts";
import { changesBefore } from "./path-order.ts";
import { withoutPatterns } from "./resolve-words.ts";
import { isPlain } from "./shell-words.ts";
import { filesNamedBy } from "./written-files.ts";

type Find = (use: FileUse) => Promise<readonly Target[]>;
type Line = { readonly programs: readonly Program[]; readonly writes: readonly FileUse[] };

/** Files that a line puts somewhere itself: each may be a copy of a program, or a link to one, under another name. */
export type Made = { readonly moment: Moment; readonly type: "plain"; readonly paths: readonly string[] };

export async function madeBy({ programs, writes }: Line, find: Find): Promise<readonly Made[]> {
  const copies = programs.filter(({ name }) => /^(?:cp|mv|ln|link|install|tee|dd|rsync)$/.test(name));
  const uses: readonly FileUse[] = [
    ...writes,
    ...copies.flatMap((program) =>
      (filesNamedBy(withoutPatterns(program))?.writes ?? program.words.slice(1)).map((word) => ({ ...program, word })),
    ),
  ];
  return Promise.all(
    uses.flatMap(({ word, places, moment }) =>
      moment
        ? [
            find({ word, places }).then(
              (found): Made => ({ moment, type: "plain", paths: found.flatMap((one) => one?.path ?? []) }),
            ),
          ]
        : [],
    ),
  );
}

/** Why this program may be another one than its name says: the line has made it. */
export async function madeRisk(program: Program, made: readonly Made[], find: Find): Promise<string | undefined> {
  const [first] = program.words;
  const paths = made.length === 0 ? [] : changesBefore(program.moment, made).flatMap((one) => one.paths);
  if (paths.length === 0 || !isPlain(first)) return undefined;
  const found = first.text.includes("/") ? await find({ word: first, places: program.places }) : [];
  const isMade =
    found.some((target) => target !== undefined && paths.includes(target.path)) ||
    paths.some((path) => basename(path) === first.text);
  return isMade ? `${first.text} is made by the line that runs it` : undefined;
}
