import { join } from "node:path";
import { type Ground, type Target, targetsOf } from "./command-paths.ts";
import { ask, decideOne } from "./decide.ts";
import { fromFolders, splitGit } from "./git-commands.ts";
import { gitFileAmong, gitFileDecision, gitFolderAround } from "./git-folders.ts";
import { outOfReach } from "./git-reach.ts";
import { knownFiles } from "./known-files.ts";
import { isLanguage, isObscure, isShell } from "./interpreters.ts";
import { changesOf } from "./line-changes.ts";
import { type Made, madeBy, madeRisk } from "./made-programs.ts";
import type { FileUse, ParsedCommand, Program } from "./parsed-command.ts";
import { type Change, changesBefore, disturbance, namesDisturbed } from "./path-order.ts";
import { type Guard, guardOf, isHarmlessDevice, workFolders } from "./paths.ts";
import { isInside } from "../util/is-inside.ts";
import type { Decision, Policy, ResolvePath } from "./policy.ts";
import { isAddress, isTracer, keepsItsPlace, namesIn, takesAnyWord } from "./possible-names.ts";
import { ProgramOrders } from "./program-orders.ts";
import { lookingOf, type Looking, looksAtNothing } from "./read-only-commands.ts";
import { foldersListed, resolveRead, resolveWords } from "./resolve-words.ts";
import type { Action } from "./rules.ts";
import { RulesAgainst } from "./rules-against.ts";
import { exactWord, type Needs, type ShellWord, unknownWord } from "./shell-words.ts";
import { surveyFolder } from "./survey-folder.ts";
import { filesNamedBy } from "./written-files.ts";

/** One file a command touches, and what is decided about that. */
export type Use = {
  readonly kind: "look" | "edit";
  readonly target: Target;
  readonly decision: Decision;
  /** It is, or may be, a place that only a rule written for it opens. */
  readonly guarded: boolean;
  /** An earlier part of the line may make the path lead elsewhere. */
  readonly disturbed?: "moves" | "runs" | "unknown" | undefined;
  /** It is the folder the line is in, and nothing is followed from there. */
  readonly stays?: boolean;
};
/** What is known of the files of one program. */
export type ProgramFiles = {
  readonly looking: Looking | undefined;
  /** With what patterns stand for. */
  readonly ruled: Program;
  readonly uses: readonly Use[];
  readonly conflict: string | undefined;
  /** Why it cannot be kept from obeying a repository. */
  readonly distrust: string | undefined;
  /** Why its name may not mean the program that is known. */
  readonly stranger: string | undefined;
  /** Why it may be a copy of another program. */
  readonly made: string | undefined;
  /** Why a rule for git is not about the repository it would find. */
  readonly astray: string | undefined;
};

/** `named`: a word of it names a file that a rule speaks against. */
type FoundFiles = ProgramFiles & { readonly program: Program; readonly named: Decision | undefined };

/** Where a line is looked at, and what its parts do to each other's paths. */
type Scene = {
  readonly ground: Ground;
  readonly find: (use: FileUse) => Promise<Target[]>;
  readonly changes: readonly Change[];
  readonly made: readonly Made[];
};

type Asked = {
  readonly policy: Policy;
  readonly action: Action;
  readonly parsed: ParsedCommand;
  /** All of them, at any depth. */
  readonly programs: readonly Program[];
};

/** The files a command touches: where its words lead, in the order of the line, and what rules and protected places say about each. */
export class CommandFiles {
  readonly #policy: Policy;
  readonly #action: Action;
  readonly #parsed: ParsedCommand;
  readonly #programs: readonly Program[];
  readonly #against: RulesAgainst;
  readonly #byProgram = new Map<Program, ProgramFiles>();
  readonly #list: Policy["listFolder"];
  readonly #resolve: ResolvePath;
  readonly #orders: ProgramOrders;
  redirections: readonly Use[] = [];
  /** Why a redirection may lead to a file that rules protect. */
  conflict: string | undefined;
  /** A word names a file that a rule speaks against. */
  named: Decision | undefined;
  /** A folder with a `git` that obeys no repository, when git is part of it. */
  inertGit: string | undefined;

  static async look(asked: Asked, resolve: ResolvePath): Promise<CommandFiles> {
    const files = new CommandFiles(asked, resolve);
    await files.#look();
    return files;
  }

  private constructor({ policy, action, parsed, programs }: Asked, resolve: ResolvePath) {
    this.#policy = policy;
    this.#action = action;
    this.#parsed = parsed;
    this.#programs = programs;
    const { resolve: known, list } = knownFiles(resolve, policy.listFolder);
    this.#resolve = known;
    this.#list = list;
    this.#orders = new ProgramOrders(policy, list);
    this.#against = new RulesAgainst(policy, action);
  }

  of(program: Program): ProgramFiles | undefined {
    return this.#byProgram.get(program);
  }

  /** Of redirections and of all programs. */
  all(): Use[] {
    return [...this.redirections, ...[...this.#byProgram.values()].flatMap((files) => files.uses)];
  }

  /** The parts of a line are looked at together: most of the time goes by waiting for the file system. */
  async #look(): Promise<void> {
    const { base } = this.#policy;
    const ground: Ground = { base, cwd: this.#action.cwd ?? base.root, resolve: this.#resolve, list: this.#list };
    this.#lookAhead(ground);
    const find = (use: FileUse): Promise<Target[]> => targetsOf(use, ground);
    const isAnswer = (program: Program): Promise<boolean> => this.#orders.isAnswer(program, ground);
    const line = { programs: this.#programs, writes: this.#parsed.writes };
    const [changes, made] = await Promise.all([changesOf(line, { root: base.root, find, isAnswer }), madeBy(line, find)]);
    const scene: Scene = { ground, find, changes, made };
    const lost = new Set(outOfReach(this.#parsed.programs));
    const [redirections, ...found] = await Promise.all([
      this.#redirectionsIn(scene),
      ...this.#programs.map((program) => this.#filesOf(program, { ...scene, isLost: lost.has(program) })),
    ]);
    for (const { program, named, ...files } of found) {
      this.#byProgram.set(program, files);
      if (named && this.named?.effect !== "deny") this.named = named;
    }
    this.redirections = redirections;
    this.conflict = this.#against.unnamed(redirections);
    if (this.#policy.mode !== "bypassPermissions") await this.#guardGitFiles();
  }

  /** Most words name files where the line starts, and no link is on the way: the file system is asked for all of them at once. */
  #lookAhead({ cwd, resolve }: Ground): void {
    const words = [...this.#programs.flatMap((program) => program.words.slice(1)), ...this.#parsed.reads.map(({ word }) => word)];
    const isName = ({ kind, text }: ShellWord): boolean => kind === "exact" && /^\w[\w/-]*\.\w+$/.test(text);
    for (const { text } of words.filter(isName).slice(0, 16)) void resolve(join(cwd, text)).catch(() => {});
    if (words.some(({ kind, text }) => kind === "glob" && /^[^/]+$/.test(text))) void this.#list?.(`${cwd}/`);
  }

  async #filesOf(program: Program, scene: Scene & { readonly isLost: boolean }): Promise<FoundFiles> {
    const { ground, find, changes, isLost } = scene;
    const { places, moment } = program;
    const list = this.#list;
    // After any change, a pattern may find what is not there yet.
    const isFirst = changesBefore(moment, changes).length === 0;
    const resolved = await resolveWords(program, { ground, list: isFirst ? list : undefined });
    const looking =
      lookingOf(resolved) ?? ((await this.#orders.isAnswer(program, isFirst ? ground : undefined)) ? looksAtNothing : undefined);
    // A rule lets changes happen before: what is there now is what it can be judged by.
    const ruled = list ? (isFirst ? resolved : await resolveWords(program, { ground, list })) : program;
    const files = looking ? withFolder(program, looking) : filesNamedBy(ruled);
    const at = (words: readonly ShellWord[]): FileUse[] =>
      words
        .filter((word) => word.text !== "-")
        // Mostly, git does not follow links.
        .map((word) => ({
          word: looking?.repository && !looking.follows ? { ...word, needs: undefined } : word,
          places,
          moment,
          ...(looking?.names && { namesOnly: true }),
        }));
    const listed = looking
      ? foldersListed(program.words, resolved.words).map((word) => ({ word, places, moment, namesOnly: true as const }))
      : [];
    const settled = !changesBefore(moment, changes).some(({ type }) => type === "moves" || type === "unknown");
    const against = { find, seen: { base: this.#policy.base, list, resolve: this.#resolve, settled } };
    const isAnyWord = !files || (!looking && takesAnyWord(program.name));
    const [reads, lists, writes, guarded, named, shown, distrust, stranger, astray, made] = await Promise.all([
      this.#usesOf(at(files?.reads ?? []), "look", scene),
      this.#usesOf(listed, "look", scene),
      this.#usesOf(at(files?.writes ?? []), "edit", scene),
      isAnyWord ? this.#guardedWords(program, find) : [],
      this.#against.named(program, { looking, ruled, ...against }),
      this.#against.shown(ruled, { looking, ...against }),
      looking && startsGit(looking) ? this.#distrust(program, isLost) : undefined,
      this.#orders.stranger(program, { looking, changed: !isFirst, ground }),
      program.name === "git" ? this.#astray(program, scene) : undefined,
      madeRisk(program, scene.made, find),
    ]);
    const uses = [...reads, ...lists, ...writes, ...guarded];
    const conflict =
      shown ??
      this.#against.unnamed(uses.filter(({ kind }) => kind === "edit")) ??
      (await this.#against.changed(ruled, uses, against));
    return { program, looking, ruled, uses, conflict, distrust, stranger, astray, made, named };
  }

  async #redirectionsIn(scene: Scene): Promise<readonly Use[]> {
    const { ground, changes } = scene;
    const listFirst = ({ moment }: FileUse): Policy["listFolder"] =>
      moment && changesBefore(moment, changes).length === 0 ? this.#list : undefined;
    const [reads, listed] = await Promise.all([
      Promise.all(this.#parsed.reads.map((use) => resolveRead(use, { ground, list: listFirst(use) }))),
      Promise.all(this.#parsed.patterns.map((use) => this.#listedBy(use, { ground, list: listFirst(use) }))),
    ]);
    // A folder as input is a folder by another name: /dev/stdin.
    const inputs = reads.flat().map((use) => ({ ...use, word: { needs: { links: true, names: false }, ...use.word } }));
    const uses = await Promise.all([
      this.#usesOf([...inputs, ...listed.flat(), ...this.#parsed.tests], "look", scene),
      this.#usesOf(this.#parsed.writes, "edit", scene),
    ]);
    return uses.flat();
  }

  async #usesOf(words: readonly FileUse[], kind: "look" | "edit", { find, changes, ground }: Scene): Promise<Use[]> {
    const found = await Promise.all(
      words.map(async (use) => {
        const targets = (await find(use)).filter((target) => !(target && isHarmlessDevice(target.path)));
        return Promise.all(targets.map((target) => this.#useIn(use, { kind, target, changes, resolve: ground.resolve })));
      }),
    );
    return found.flat();
  }

  /** A list of names that a loop or a variable gets. */
  async #listedBy(use: FileUse, by: Parameters<typeof resolveRead>[1]): Promise<FileUse[]> {
    const found = (await resolveRead(use, by)).map(({ word }) => word);
    return foldersListed([use.word], found).map((word) => ({ ...use, word, namesOnly: true }));
  }

  async #useIn(
    { word, moment, namesOnly }: FileUse,
    by: { kind: "look" | "edit"; target: Target; changes: readonly Change[]; resolve: ResolvePath },
  ): Promise<Use> {
    const { target } = by;
    const use = { ...this.#use(by.kind, target, { word, namesOnly }), stays: isHere(word) };
    const disturbed = target && this.#disturbed({ word, moment }, target.path, by.changes);
    if (!target || !word.needs || use.decision.effect !== "allow") return { ...use, disturbed };
    const why = await this.#survey(target.path.replace(/\/\*\*$/, ""), word.needs, by.resolve);
    return { ...use, disturbed, decision: why === undefined ? use.decision : ask(this.#policy, this.#action, why) };
  }

  /** The folder a line is in stays the same one, whatever is moved; the names in it need not. */
  #disturbed({ word, moment }: Pick<FileUse, "word" | "moment">, path: string, changes: readonly Change[]): Use["disturbed"] {
    const { needs } = word;
    if (needs && namesDisturbed(path.replace(/\/\*\*$/, ""), moment, changes)) return "moves";
    return isHere(word) ? undefined : disturbance(path, moment, changes);
  }

  async #survey(folder: string, needs: Needs, resolve: ResolvePath): Promise<string | undefined> {
    const list = this.#list;
    if (!list) return "what is in the folder is not known";
    const mayLead = (path: string): boolean =>
      this.#use("look", { path, pattern: false }, { word: unknownWord }).decision.effect === "allow";
    return surveyFolder(folder, needs, { list, resolve, mayLead });
  }

  /** A repository can make a git that only looks run programs: it must be the one that cannot be told to. */
  async #distrust(program: Program, isLost: boolean): Promise<string | undefined> {
    if (this.#policy.mode === "bypassPermissions") return undefined; // nothing rests on it
    this.inertGit ??= await this.#policy.inertGit?.();
    if (this.inertGit === undefined) return "git cannot be kept from running what a repository names";
    const [name] = program.words;
    return name?.text === program.name && !isLost
      ? undefined
      : "this git is not found by its name, and may run what a repository names";
  }

  /** Whoever may write files can write a folder that git takes for a repository, and obeys. */
  async #astray(program: Program, { find, isLost }: Scene & { readonly isLost: boolean }): Promise<string | undefined> {
    if (isLost) return "git is started in another environment, and may obey a folder that looks like a repository";
    const word = fromFolders(splitGit(program.words.slice(1))?.folders ?? [], exactWord("."));
    for (const target of await find({ word, places: program.places })) {
      const folder = target && (await gitFolderAround(target.path, this.#projects));
      if (folder !== undefined) return `${folder} looks like a repository, and git would run what it names`;
    }
    return undefined;
  }

  /** Files that make a folder look like a repository are protected as those in `.git` are. */
  async #guardGitFiles(): Promise<void> {
    const paths = this.all().flatMap(({ kind, target }) => (kind === "edit" && target ? [target.path] : []));
    const path = await gitFileAmong(paths, this.#projects);
    if (path === undefined) return;
    const protect = (use: Use): Use =>
      use.kind === "edit" && use.target?.path === path
        ? { ...use, guarded: true, decision: gitFileDecision(this.#policy, path) }
        : use;
    this.redirections = this.redirections.map(protect);
    for (const [program, files] of this.#byProgram) this.#byProgram.set(program, { ...files, uses: files.uses.map(protect) });
  }

  get #projects(): Parameters<typeof gitFolderAround>[1] {
    const { base, directories } = this.#policy;
    return { folders: workFolders({ ...base, directories }), list: this.#list };
  }

  #use(kind: "look" | "edit", target: Target, { word, namesOnly }: Pick<FileUse, "word" | "namesOnly">): Use {
    const action: Action = { tool: this.#action.tool, kind, resource: target?.path ?? "", namesOnly };
    if (!target) {
      const decision = ask(this.#policy, this.#action, "It names a file that is not written out");
      return { kind, target, decision, guarded: /^\/+proc\//.test(word.text) };
    }
    return { kind, target, decision: decideOne(this.#policy, action), guarded: this.guard(kind, target.path) !== undefined };
  }

  guard(kind: "look" | "edit", path: string): Guard | undefined {
    return guardOf(path, kind, { ...this.#policy.base, directories: this.#policy.directories });
  }

  /** A program whose ways with files are not known may write to whatever protected place its words name. */
  async #guardedWords(program: Program, find: (use: FileUse) => Promise<Target[]>): Promise<Use[]> {
    if (program.transparent) return [];
    const uses: Use[] = [];
    // The script of an interpreter is only read.
    const script =
      isShell(program.name) || isLanguage(program.name) || (isObscure(program.name) && !isTracer(program.name))
        ? program.words.findIndex((word, at) => at > 0 && !word.text.startsWith("-"))
        : 0;
    for (const word of (script === -1 ? [] : program.words.slice(script + 1)).flatMap(namesIn)) {
      for (const target of await find({ word, places: program.places })) {
        if (!target || isHarmlessDevice(target.path)) continue;
        const guard = this.guard("edit", target.path) ?? this.guard("look", target.path);
        if (!guard && !keepsItsPlace(program) && !isAddress(word) && this.#isOutside(target.path)) {
          const decision = ask(this.#policy, this.#action, `${target.path} is outside the project`);
          uses.push({ kind: "edit", target, decision, guarded: false });
        }
        if (!guard || isInside(target.path, this.#policy.base.root)) continue;
        const decision = ask(this.#policy, this.#action, `${target.path} is protected: ${guard.reason}`);
        uses.push({ kind: "edit", target, decision, guarded: true });
      }
    }
    return uses;
  }

  #isOutside(path: string): boolean {
    const { base, directories, readable } = this.#policy;
    return ![...workFolders({ ...base, directories }), ...readable].some((folder) => isInside(folder, path));
  }
}

function isHere({ kind, text, needs }: ShellWord): boolean {
  return kind === "exact" && text === "." && !needs;
}

/** Itself, or as a helper: what asks others on the network looks at the repository first, to know whom. */
export function startsGit({ repository, network }: Looking): boolean {
  return repository !== undefined || network === true;
}

/** Programs that look at the folder they are in when no other is named. */
const lookAround = new Set(["ls", "find", "rg", "fd", "tree", "du", "grep"]);

function withFolder(program: Program, looking: Looking): Looking {
  const implied = looking.repository !== undefined || (lookAround.has(program.name) && looking.reads.length === 0);
  return implied ? { ...looking, reads: [...looking.reads, exactWord(".")] } : looking;
}
