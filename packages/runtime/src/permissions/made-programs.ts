import { basename } from "node:path";
import type { Target } from "./command-paths.ts";
import type { Moment } from "./moments.ts";
import type { FileUse, Program } from "./parsed-command.ts";
import { changesBefore } from "./path-order.ts";
import { withoutPatterns } from "./resolve-words.ts";
import { isLanguage, isShell } from "./interpreters.ts";
import { namesIn } from "./possible-names.ts";
import { isPlain, type ShellWord } from "./shell-words.ts";
import { filesNamedBy } from "./written-files.ts";

type Find = (use: FileUse) => Promise<readonly Target[]>;
type Line = { readonly programs: readonly Program[]; readonly writes: readonly FileUse[] };

/** Files that a line puts somewhere itself: each may be a copy of a program, or a link to one, under another name. */
export type Made = {
  readonly moment: Moment;
  readonly paths: readonly string[];
  /** Where one of them lies is not written out. */
  readonly isAnywhere: boolean;
};

export async function madeBy({ programs, writes }: Line, find: Find): Promise<readonly Made[]> {
  const makers = programs.filter(({ name }) =>
    /^(?:cp|mv|ln|link|install|tee|dd|rsync|scp|g?sed|sort|uniq|xxd|curl|wget)$/.test(name),
  );
  const uses: readonly FileUse[] = [
    ...writes,
    ...makers.flatMap((program) =>
      (filesNamedBy(withoutPatterns(program))?.writes ?? program.words.slice(1)).map((word) => ({ ...program, word })),
    ),
  ];
  return Promise.all(
    uses.flatMap(({ word, places, moment }) =>
      moment
        ? [
            find({ word, places }).then(
              (found): Made => ({
                moment,
                paths: found.flatMap((one) => one?.path ?? []),
                isAnywhere: found.includes(undefined),
              }),
            ),
          ]
        : [],
    ),
  );
}

/** Why this program, or the script it runs, may be another one than its name says: the line has made it. */
export async function madeRisk(program: Program, made: readonly Made[], find: Find): Promise<string | undefined> {
  const before = made.length === 0 ? [] : changesBefore(program.moment, made);
  if (before.length === 0) return undefined;
  const isMade = async (word: ShellWord): Promise<boolean> => {
    const found = await find({ word, places: program.places });
    return found.some((target) =>
      before.some((one) => one.isAnywhere || (target !== undefined && one.paths.includes(target.path))),
    );
  };
  for (const { word, isName } of programsIn(program)) {
    const isNamed = isName && before.some((one) => one.paths.some((path) => basename(path) === word.text));
    if (isNamed || ((!isName || word.text.includes("/")) && (await isMade(word))))
      return `${word.text} is made by the line that runs it`;
  }
  return undefined;
}

/** The program, and the words of an interpreter that may name its script: the first one, and those that may be values of options before it. */
function programsIn({ name, words }: Program): readonly { readonly word: ShellWord; readonly isName: boolean }[] {
  const [first, ...rest] = words;
  const found = isPlain(first) ? [{ word: first, isName: true }] : [];
  if (!isShell(name) && !isLanguage(name) && !/^(?:source|\.)$/.test(name)) return found;
  const isOption = (at: number): boolean => rest[at]?.text.startsWith("-") ?? false;
  const script = rest.findIndex((_, at) => !isOption(at) && !isOption(at - 1));
  const candidates = rest.slice(0, script === -1 ? undefined : script + 1);
  return [...found, ...candidates.flatMap(namesIn).map((word) => ({ word, isName: false }))];
}
