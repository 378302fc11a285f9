import type { Target } from "./command-paths.ts";
import { runsProject } from "./interpreters.ts";
import { isOrderly, reachOfLinks } from "./link-makers.ts";
import type { FileUse, Program } from "./parsed-command.ts";
import type { Change } from "./path-order.ts";
import { isHarmlessDevice } from "./paths.ts";
import { lookingOf } from "./read-only-commands.ts";
import { withoutPatterns } from "./resolve-words.ts";
import { isPlain } from "./shell-words.ts";
import { filesNamedBy } from "./written-files.ts";

type Line = {
  /** At any depth. */
  readonly programs: readonly Program[];
  /** Targets of redirections. */
  readonly writes: readonly FileUse[];
};

type Ways = {
  readonly root: string;
  readonly find: (use: FileUse) => Promise<readonly Target[]>;
  /** Only tells something about itself. */
  readonly isAnswer: (program: Program) => Promise<boolean>;
};

/** What parts of a line do to the paths of its other parts. */
export async function changesOf({ programs, writes }: Line, ways: Ways): Promise<readonly Change[]> {
  const found = await Promise.all([
    ...writes.map((use) => ofRedirection(use, ways)),
    ...programs.map((program) => ofProgram(program, ways)),
  ]);
  return found.flatMap((change) => change ?? []);
}

async function ofRedirection(use: FileUse, { find }: Ways): Promise<Change | undefined> {
  const { moment, word } = use;
  if (!moment || (isPlain(word) && isHarmlessDevice(word.text))) return undefined;
  const targets = await find(use);
  const paths = pathsOf(targets);
  return { moment, type: paths.length < targets.length ? "unknown" : "plain", paths };
}

async function ofProgram(program: Program, { root, find, isAnswer }: Ways): Promise<Change | undefined> {
  const { moment, places, name, inside, transparent } = program;
  if (transparent && inside.length > 0) return undefined;
  const looking = lookingOf(withoutPatterns(program));
  if (looking && looking.writes.length === 0) return undefined;
  if (await isAnswer(program)) return undefined;
  const written = looking?.writes ?? (isOrderly(name) ? filesNamedBy(withoutPatterns(program))?.writes : undefined);
  const targets = (await Promise.all((written ?? []).map((word) => find({ word, places })))).flat();
  const reach = reachOfLinks(program);
  const paths = reach === "anywhere" ? [root] : pathsOf(targets);
  const isKnown = written !== undefined && paths.length >= targets.length;
  const type = reach !== undefined ? "moves" : isKnown ? "plain" : runsProject(program) ? "runs" : "unknown";
  return { moment, type, paths };
}

function pathsOf(targets: readonly Target[]): string[] {
  return targets.flatMap((target) => (target ? [target.path] : []));
}
