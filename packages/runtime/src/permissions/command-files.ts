import { dirname } from "node:path";
import { foldersOf, type Ground, type Target, targetsOf } from "./command-paths.ts";
import { ask, askBy, decideOne } from "./decide.ts";
import { hasOrders, mayHoldModules } from "./folder-orders.ts";
import { outOfReach } from "./git-reach.ts";
import { isLanguage, isObscure, isShell, runsProject } from "./interpreters.ts";
import { isOrderly, reachOfLinks } from "./link-makers.ts";
import { type Change, changesBefore, disturbance, namesDisturbed } from "./path-order.ts";
import { mayHold, mayReach } from "./path-patterns.ts";
import { type Guard, guardOf, isHarmlessDevice, toAbsolutePattern, workFolders } from "./paths.ts";
import { isInside } from "../util/is-inside.ts";
import { type Decision, denied, type Policy, type ResolvePath } from "./policy.ts";
import { isAddress, isTracer, keepsItsPlace, namesIn, takesAnyWord } from "./possible-names.ts";
import { ordersFor, questionOf } from "./program-questions.ts";
import { readConflict } from "./read-conflict.ts";
import { lookingOf, type Looking, looksAtNothing } from "./read-only-commands.ts";
import { foldersListed, resolveRead, resolveWords, withoutPatterns } from "./resolve-words.ts";
import { type Action, denies, namesTool, type Rule, unescapeGlob } from "./rules.ts";
import { isBuiltin } from "./shell-builtins.ts";
import type { FileUse, ParsedCommand, Program } from "./parsed-command.ts";
import { exactWord, isPlain, type Needs, type ShellWord, unknownWord } from "./shell-words.ts";
import { shownBy, shownUnknown } from "./shown-files.ts";
import { surveyFolder } from "./survey-folder.ts";
import { writeConflict } from "./write-conflict.ts";
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
  /** Rules for paths that speak against something. */
  readonly #against: readonly { rule: Rule; kind: "look" | "edit"; effect: "deny" | "ask" }[];
  readonly #byProgram = new Map<Program, ProgramFiles>();
  readonly #list: Policy["listFolder"];
  redirections: readonly Use[] = [];
  /** Why a redirection may lead to a file that rules protect. */
  conflict: string | undefined;
  /** A word names a file that a rule speaks against. */
  named: Decision | undefined;
  /** A folder with a `git` that obeys no repository, when git is part of it. */
  inertGit: string | undefined;

  static async look(asked: Asked, resolve: ResolvePath): Promise<CommandFiles> {
    const files = new CommandFiles(asked);
    await files.#look(resolve);
    return files;
  }

  private constructor({ policy, action, parsed, programs }: Asked) {
    this.#policy = policy;
    this.#action = action;
    this.#parsed = parsed;
    this.#programs = programs;
    this.#list = policy.listFolder && remembering(policy.listFolder);
    this.#against = (["deny", "ask"] as const).flatMap((effect) =>
      policy[effect].flatMap((rule) =>
        (["look", "edit"] as const).flatMap((kind) =>
          namesTool(rule, { tool: "", kind, resource: "" }) ? [{ rule, kind, effect }] : [],
        ),
      ),
    );
  }

  of(program: Program): ProgramFiles | undefined {
    return this.#byProgram.get(program);
  }

  /** Of redirections and of all programs. */
  all(): Use[] {
    return [...this.redirections, ...[...this.#byProgram.values()].flatMap((files) => files.uses)];
  }

  async #look(resolve: ResolvePath): Promise<void> {
    const { base } = this.#policy;
    const list = this.#list;
    const ground: Ground = { base, cwd: this.#action.cwd ?? base.root, resolve: remembering(resolve) };
    const find = (use: FileUse): Promise<Target[]> => targetsOf(use, ground);
    const changes = await this.#changes(find, ground);
    const usesOf = async (words: readonly FileUse[], kind: "look" | "edit"): Promise<Use[]> => {
      const uses = await Promise.all(words.map(async (use) => ({ use, targets: await find(use) })));
      return await Promise.all(
        uses.flatMap(({ use, targets }) =>
          targets.flatMap((target) =>
            target && isHarmlessDevice(target.path) ? [] : [this.#useIn(use, { kind, target, changes, resolve: ground.resolve })],
          ),
        ),
      );
    };
    const lost = new Set(outOfReach(this.#parsed.programs));
    for (const program of this.#programs) {
      const { places, moment } = program;
      // After any change, a pattern may find what is not there yet.
      const isFirst = changesBefore(moment, changes).length === 0;
      const resolved = await resolveWords(program, { ground, list: isFirst ? list : undefined });
      const looking =
        lookingOf(resolved) ?? ((await this.#isAnswer(program, isFirst ? ground : undefined)) ? looksAtNothing : undefined);
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
      const uses = files
        ? [
            ...(await usesOf(at(files.reads), "look")),
            ...(await usesOf(listed, "look")),
            ...(await usesOf(at(files.writes), "edit")),
          ]
        : await this.#guardedWords(program, find);
      if (files && !looking && takesAnyWord(program.name)) uses.push(...(await this.#guardedWords(program, find)));
      if (this.#against.length > 0) await this.#searchNames(program, { looking, ruled, find });
      const distrust = looking && startsGit(looking) ? await this.#distrust(program, lost) : undefined;
      const conflict =
        (await this.#conflict(ruled, { looking, find })) ??
        this.#unnamed(uses.filter(({ kind }) => kind === "edit")) ??
        (await this.#writeConflict(ruled, uses));
      const stranger = await this.#strange(program, { looking, changed: !isFirst, ground });
      this.#byProgram.set(program, { looking, ruled, uses, conflict, distrust, stranger });
    }
    const listFirst = ({ moment }: FileUse): typeof list =>
      moment && changesBefore(moment, changes).length === 0 ? list : undefined;
    const reads = await Promise.all(this.#parsed.reads.map((use) => resolveRead(use, { ground, list: listFirst(use) })));
    // A folder as input is a folder by another name: /dev/stdin.
    const inputs = reads.flat().map((use) => ({ ...use, word: { needs: { links: true, names: false }, ...use.word } }));
    const listed = await Promise.all(this.#parsed.patterns.map((use) => this.#listedBy(use, { ground, list: listFirst(use) })));
    this.redirections = [
      ...(await usesOf([...inputs, ...listed.flat()], "look")),
      ...(await usesOf(this.#parsed.writes, "edit")),
    ];
    this.conflict = this.#unnamed(this.redirections);
  }

  /** A list of names that a loop or a variable gets. */
  async #listedBy(use: FileUse, by: Parameters<typeof resolveRead>[1]): Promise<FileUse[]> {
    const found = (await resolveRead(use, by)).map(({ word }) => word);
    return foldersListed([use.word], found).map((word) => ({ ...use, word, namesOnly: true }));
  }

  /** What parts of the line do to the paths of other parts. */
  async #changes(find: (use: FileUse) => Promise<Target[]>, ground: Ground): Promise<readonly Change[]> {
    const changes: Change[] = [];
    for (const use of this.#parsed.writes) {
      const { moment, word } = use;
      if (!moment || (isPlain(word) && isHarmlessDevice(word.text))) continue;
      const targets = await find(use);
      const paths = targets.flatMap((target) => (target ? [target.path] : []));
      changes.push({ moment, type: paths.length < targets.length ? "unknown" : "plain", paths });
    }
    for (const program of this.#programs) {
      const { moment, places, name, inside, transparent } = program;
      if (transparent && inside.length > 0) continue;
      const looking = lookingOf(withoutPatterns(program));
      if (looking && looking.writes.length === 0) continue;
      if (await this.#isAnswer(program, ground)) continue;
      const written = looking?.writes ?? (isOrderly(name) ? filesNamedBy(withoutPatterns(program))?.writes : undefined);
      const targets = (await Promise.all((written ?? []).map((word) => find({ word, places })))).flat();
      const reach = reachOfLinks(program);
      const paths = reach === "anywhere" ? [this.#policy.base.root] : targets.flatMap((target) => (target ? [target.path] : []));
      const isKnown = written !== undefined && paths.length >= targets.length;
      const type = reach !== undefined ? "moves" : isKnown ? "plain" : runsProject(program) ? "runs" : "unknown";
      changes.push({ moment, type, paths });
    }
    return changes;
  }

  async #useIn(
    { word, moment, namesOnly }: FileUse,
    by: { kind: "look" | "edit"; target: Target; changes: readonly Change[]; resolve: ResolvePath },
  ): Promise<Use> {
    const { target } = by;
    const use = this.#use(by.kind, target, { word, namesOnly });
    const disturbed = target && this.#disturbed({ word, moment }, target.path, by.changes);
    if (!target || !word.needs || use.decision.effect !== "allow") return { ...use, disturbed };
    const why = await this.#survey(target.path.replace(/\/\*\*$/, ""), word.needs, by.resolve);
    return { ...use, disturbed, decision: why === undefined ? use.decision : ask(this.#policy, this.#action, why) };
  }

  /** The folder a line is in stays the same one, whatever is moved; the names in it need not. */
  #disturbed({ word, moment }: Pick<FileUse, "word" | "moment">, path: string, changes: readonly Change[]): Use["disturbed"] {
    const { kind, text, needs } = word;
    if (needs && namesDisturbed(path.replace(/\/\*\*$/, ""), moment, changes)) return "moves";
    return kind === "exact" && text === "." && !needs ? undefined : disturbance(path, moment, changes);
  }

  async #survey(folder: string, needs: Needs, resolve: ResolvePath): Promise<string | undefined> {
    const list = this.#list;
    if (!list) return "what is in the folder is not known";
    const mayLead = (path: string): boolean =>
      this.#use("look", { path, pattern: false }, { word: unknownWord }).decision.effect === "allow";
    return surveyFolder(folder, needs, { list, resolve, mayLead });
  }

  /** `NAME --help`, `--version` or `version`, where the project has no say in what that does. */
  async #isAnswer(program: Program, ground: Ground | undefined): Promise<boolean> {
    const question = questionOf(program);
    if (!question) return false;
    if (await this.#obeys(program, { reads: [], ground })) return false;
    const place = await this.#policy.programs?.place(program.name);
    return place === "other" || (place === "system" && question === "certain");
  }

  /** The project may tell this program what to do. Without a ground, what lies in its folders is not known. */
  async #obeys(program: Program, by: { reads: readonly ShellWord[]; ground: Ground | undefined }): Promise<boolean> {
    const { ground } = by;
    const { base } = this.#policy;
    const names = ordersFor(program.name);
    const list = this.#list;
    if (!names) return false;
    const folders = list && ground && (await foldersOf(program.places, ground));
    if (!folders) return true;
    const files = await Promise.all(by.reads.map((word) => targetsOf({ word, places: program.places }, ground)));
    const beside = files.flat().map((target) => (target && !target.pattern ? dirname(target.path) : undefined));
    if (beside.includes(undefined)) return true;
    return hasOrders([...folders, ...beside.flatMap((folder) => folder ?? [])], { names, list, base });
  }

  /** A name may lead to a program of the project, unless bash has it built in. */
  async #strange(
    program: Program,
    by: { looking: Looking | undefined; changed: boolean; ground: Ground },
  ): Promise<string | undefined> {
    const { programs } = this.#policy;
    const list = this.#list;
    if (by.looking && (await this.#obeys(program, { reads: by.looking.reads, ground: by.changed ? undefined : by.ground })))
      return `${program.name} may do what a file of the project says`;
    if (by.looking?.modules) {
      const folders = list && !by.changed ? await foldersOf(program.places, by.ground) : undefined;
      if (!list || !folders || (await mayHoldModules(folders, list))) return `${program.name} may take modules from the project`;
    }
    if (!(by.looking || program.transparent) || !programs || isBuiltin(program.name) || program.words[0]?.text.includes("/"))
      return undefined;
    // The names of what it starts are not known: there must be no folder of the project where they are looked for.
    const changed = by.changed || by.looking?.starts === true;
    return (await programs.isShadowed(program.name, changed)) ? `${program.name} may be a program of the project` : undefined;
  }

  /** A repository can make a git that only looks run programs: it must be the one that cannot be told to. */
  async #distrust(program: Program, lost: ReadonlySet<Program>): Promise<string | undefined> {
    if (this.#policy.mode === "bypassPermissions") return undefined; // nothing rests on it
    this.inertGit ??= await this.#policy.inertGit?.();
    if (this.inertGit === undefined) return "git cannot be kept from running what a repository names";
    const [name] = program.words;
    return name?.text === program.name && !lost.has(program)
      ? undefined
      : "this git is not found by its name, and may run what a repository names";
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
        if (!guard && !keepsItsPlace(program.name) && !isAddress(word) && this.#isOutside(target.path)) {
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

  /** Words of any program that name a file which rules speak against: `cp .env x` reads it as much as `cat` does. */
  async #searchNames(
    program: Program,
    by: { looking: Looking | undefined; ruled: Program; find: (use: FileUse) => Promise<Target[]> },
  ): Promise<void> {
    const words = by.looking ? by.looking.reads : [...program.words.slice(1), ...by.ruled.words.slice(1)];
    for (const word of words.flatMap(namesIn)) {
      for (const target of await by.find({ word, places: program.places })) {
        if (!target) continue;
        for (const { rule, kind, effect } of this.#against) {
          if (kind === "edit" && by.looking) continue;
          const hit = this.#meets(rule, kind, target);
          if (!hit || this.named?.effect === "deny") continue;
          this.named =
            effect === "deny" && hit === "surely"
              ? denied(rule)
              : askBy(rule, ask(this.#policy, this.#action, `The rule ${rule.text} protects what it may read`));
        }
      }
    }
  }

  #meets(rule: Rule, kind: "look" | "edit", { path, pattern }: NonNullable<Target>): "surely" | "maybe" | undefined {
    const { base } = this.#policy;
    if (denies(rule, { tool: "", kind, resource: path }, base)) return "surely";
    if (!pattern || rule.pattern === undefined) return undefined;
    const absolute = toAbsolutePattern(unescapeGlob(rule.pattern), base);
    if (path.endsWith("/**")) return mayReach(absolute, path.slice(0, -3)) ? "maybe" : undefined;
    return mayHold(path, absolute, this.#wildGlobs) === "same" ? "surely" : undefined;
  }

  /** Files that are not written out may be those that rules protect. */
  #unnamed(uses: readonly Use[]): string | undefined {
    for (const { kind, target } of uses) {
      const against = target ? undefined : this.#against.find((one) => one.kind === kind);
      if (against)
        return `it ${kind === "edit" ? "changes" : "reads"} files that are not written out, and the rule ${against.rule.text} protects some`;
    }
    return undefined;
  }

  /** It may show a file that rules protect, although no word names it. */
  async #conflict(
    program: Program,
    by: { looking: Looking | undefined; find: (use: FileUse) => Promise<Target[]> },
  ): Promise<string | undefined> {
    const rules = this.#against.filter(({ kind }) => kind === "look").map(({ rule }) => rule);
    if (rules.length === 0) return undefined;
    const shown = shownBy(program) ?? (by.looking && shownUnknown(`it is not known what ${program.name} reads`));
    if (!shown) return undefined;
    const words = (shown.type === "below" ? shown.reads : undefined) ?? wordsRead(program, by);
    const targets = await Promise.all(words.map((word) => by.find({ word, places: program.places })));
    return readConflict({ shown, targets: targets.flat(), wildGlobs: this.#wildGlobs }, rules, this.#policy.base);
  }

  async #writeConflict(program: Program, uses: readonly Use[]): Promise<string | undefined> {
    const { base } = this.#policy;
    const list = this.#list;
    const rules = this.#against.filter(({ kind, rule }) => kind === "edit" && rule.pattern !== undefined).map(({ rule }) => rule);
    return writeConflict(program, uses, { rules, base, list });
  }

  /** `shopt` or a variable may have changed what patterns stand for. */
  get #wildGlobs(): boolean {
    return /glob/i.test(this.#action.resource);
  }
}

/** Itself, or as a helper: what asks others on the network looks at the repository first, to know whom. */
export function startsGit({ repository, network }: Looking): boolean {
  return repository !== undefined || network === true;
}

/** Each path once: the same folder is behind most words of a command. */
function remembering<Found>(find: (path: string) => Promise<Found>): (path: string) => Promise<Found> {
  const known = new Map<string, Promise<Found>>();
  return (path) => {
    const found = known.get(path) ?? find(path);
    known.set(path, found);
    return found;
  };
}

/** Programs that look at the folder they are in when no other is named. */
const lookAround = new Set(["ls", "find", "rg", "fd", "tree", "du", "grep"]);

function withFolder(program: Program, looking: Looking): Looking {
  const implied = looking.repository !== undefined || (lookAround.has(program.name) && looking.reads.length === 0);
  return implied ? { ...looking, reads: [...looking.reads, exactWord(".")] } : looking;
}

/** Words that name what a program reads: all that may be names, where it is called in a way that is not in the tables. */
function wordsRead(program: Program, { looking }: { looking: Looking | undefined }): readonly ShellWord[] {
  if (looking) return looking.reads.length > 0 ? looking.reads : [exactWord(".")];
  const operands = program.words.slice(1).filter((word) => !word.text.startsWith("-") || word.kind !== "exact");
  return operands.length > 0 ? operands.map((word) => (word.kind === "open" ? unknownWord : word)) : [exactWord(".")];
}
