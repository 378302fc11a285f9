import { resolve as resolvePath } from "node:path";
import type { CommandFiles, ProgramFiles } from "./command-files.ts";
import type { Program } from "./parsed-command.ts";
import { workFolders } from "./paths.ts";
import type { Policy } from "./policy.ts";
import { keepsItsPlace, namesIn, takesAnyWord } from "./possible-names.ts";
import type { Action } from "./rules.ts";
import { filesNamedBy } from "./written-files.ts";

export const unsteadyPath =
  "a program in the sandbox is still running and could change where a path in it leads; stop it first, or run this in the sandbox";

type Line = {
  readonly policy: Policy;
  readonly action: Action;
  /** Those that no rule allows to the letter, at any depth. */
  readonly programs: readonly Program[];
  readonly files: Pick<CommandFiles, "of" | "redirections">;
};

/** Would the answer be another one if a path led elsewhere by the time the line uses it? */
export function restsOnPaths({ policy, action, programs, files }: Line): boolean {
  const { base, directories } = policy;
  const cwd = resolvePath(base.root, action.cwd ?? ".");
  const isMoved = !workFolders({ ...base, directories }).includes(cwd);
  const rests = (program: Program): boolean =>
    isMoved || isElsewhere(program) || usesAny(files.of(program)) || namesAny(program, files);
  return files.redirections.length > 0 || programs.some(rests);
}

/** The folder the line is in is no path to git, nor to what shows names only; others open what they find there. */
function usesAny({ looking, uses }: Partial<ProgramFiles> = {}): boolean {
  const staysHere = looking?.repository !== undefined || looking?.names === true;
  return (uses ?? []).some(({ stays }) => !(staysHere && stays));
}

function isElsewhere({ places }: Program): boolean {
  return !(places?.length === 1 && places[0]?.length === 0);
}

/** Of a program whose ways with files are not known, each word may name one. */
function namesAny(program: Program, files: Line["files"]): boolean {
  const { looking, ruled = program } = files.of(program) ?? {};
  const isKnown = looking !== undefined || (filesNamedBy(ruled) !== undefined && !takesAnyWord(program.name));
  if (isKnown || program.transparent || keepsItsPlace(program)) return false;
  return program.words.slice(1).some((word) => namesIn(word).some(({ text }) => mayBePath(program.name, text)));
}

/** These take names of branches, scripts and targets: a word alone is no path to them. */
const namers = /^(?:git|npm|pnpm|yarn|bun|make|cargo|go)$/;

function mayBePath(program: string, text: string): boolean {
  return namers.test(program) ? text.includes("/") : !text.startsWith("-");
}
