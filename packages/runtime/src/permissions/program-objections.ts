import { type CommandFiles, startsGit } from "./command-files.ts";
import { wordsAllowed } from "./command-rules.ts";
import { isInterpreter } from "./interpreters.ts";
import { isPackageRunner } from "./package-runners.ts";
import { beyondNarrow } from "./narrow-rules.ts";
import type { ParsedCommand, Program } from "./parsed-command.ts";
import { workFolders } from "./paths.ts";
import { isInside } from "../util/is-inside.ts";
import type { Policy } from "./policy.ts";
import type { Looking } from "./read-only-commands.ts";
import { riskOf } from "./risky-options.ts";
import type { Rule } from "./rules.ts";
import { isSecretName } from "../util/secret-names.ts";
import { isHarmlessVariable } from "./shell-variables.ts";
import { tellsFacts } from "./shown-files.ts";

/** What lets a program of a command run. */
export type LetBy = Rule | "mode" | "network" | "environment";

export const disturbedPath = "an earlier part of it may change where a path leads";

type Given = {
  readonly policy: Policy;
  readonly parsed: ParsedCommand;
  /** At any depth. */
  readonly programs: readonly Program[];
  readonly files: CommandFiles;
  /** Rules for commands. */
  readonly allow: readonly Rule[];
};

/** What speaks against single programs of a command. */
export class ProgramObjections {
  readonly #policy: Policy;
  readonly #parsed: ParsedCommand;
  readonly #programs: readonly Program[];
  readonly #files: CommandFiles;
  readonly #allow: readonly Rule[];
  /** Those the mode lets run because they obey no repository. */
  readonly inert: Set<Program> = new Set();

  constructor({ policy, parsed, programs, files, allow }: Given) {
    this.#policy = policy;
    this.#parsed = parsed;
    this.#programs = programs;
    this.#files = files;
    this.#allow = allow;
  }

  /** To the letter, where the command starts: elsewhere the same words name other files. */
  isExactlyAllowed(program: Program): boolean {
    const isHere = program.places?.length === 1 && program.places[0]?.length === 0;
    return isHere && this.#allow.some(({ pattern }) => pattern !== undefined && wordsAllowed(pattern, program)?.whole === true);
  }

  /** Why this program may not run; undefined when it may. */
  of(program: Program, allow: readonly Rule[], used?: Set<LetBy>): string | undefined {
    let objection = settingRisk(program);
    for (const rule of this.#mustBeInert(program) ? [] : allow) {
      const match = rule.pattern === undefined ? undefined : wordsAllowed(rule.pattern, program);
      if (!match) continue;
      const why =
        settingRisk(program) ??
        this.#files.of(program)?.astray ??
        (rule.narrow && rule.pattern !== undefined ? beyondNarrow(rule.pattern, program) : undefined) ??
        (match.whole ? undefined : riskOf(this.#files.of(program)?.ruled ?? program, match.words)) ??
        this.#insideObjection(program, { allow, used, words: match.words }) ??
        (match.whole && this.isExactlyAllowed(program) ? undefined : this.#fileObjection(program, true));
      if (why === undefined) {
        used?.add(rule);
        return undefined;
      }
      objection ??= why;
    }
    if (objection) return objection;
    if (program.hidden) return program.hidden;
    const { looking, stranger } = this.#files.of(program) ?? {};
    if (program.inside.length > 0 || program.transparent) {
      // `find` looks by itself, too; the others only run what is inside.
      if (!program.transparent || (/^(?:find|xargs)$/.test(program.name) && !looking)) return `${program.name} is not allowed`;
      return this.#firstObjection(program.inside, { allow, used }) ?? stranger ?? this.#fileObjection(program, false);
    }
    if (!looking) return `no rule allows ${program.name || "it"}`;
    if (looking.network && !this.#policy.networkReads) return `${program.name} asks somebody on the network`;
    const why =
      this.#files.of(program)?.distrust ??
      stranger ??
      secretShown(looking.environment, this.#policy.environment) ??
      this.#fileObjection(program, false);
    if (why !== undefined) return why;
    if (looking.environment) used?.add("environment");
    used?.add(looking.network ? "network" : "mode");
    if (startsGit(looking)) this.inert.add(program);
    return undefined;
  }

  /** The names that it prints are used as files or folders: no rule for git says that a repository holds only harmless ones. */
  #mustBeInert(program: Program): boolean {
    const words = [...this.#programs.flatMap((one) => one.words), ...this.#parsed.reads.map(({ word }) => word)];
    const prints = (...texts: string[]): boolean => program.words.some(({ text }) => texts.includes(text));
    if (program.name !== "git") return false;
    return prints("--show-toplevel")
      ? words.some(({ top }) => top === true)
      : prints("ls-files", "--name-only") && words.some(({ needs }) => needs?.index === true);
  }

  #firstObjection(
    programs: readonly Program[],
    by: { allow: readonly Rule[]; used: Set<LetBy> | undefined },
  ): string | undefined {
    for (const program of programs) {
      const objection = this.of(program, by.allow, by.used);
      if (objection) return objection;
    }
    return undefined;
  }

  /** A rule for the outer program covers what is inside only if it spells that out, or if running anything is what the program is for. */
  #insideObjection(
    program: Program,
    by: { allow: readonly Rule[]; used: Set<LetBy> | undefined; words: number },
  ): string | undefined {
    const { name, inside, insideAt, hidden } = program;
    if (isInterpreter(name)) return undefined;
    if (isPackageRunner(name)) return this.#conflictIn(inside);
    if (hidden && name !== "git") return hidden; // of git, the options that run something are known
    if (insideAt !== undefined && by.words > insideAt) return undefined;
    return this.#firstObjection(inside, by);
  }

  #conflictIn(programs: readonly Program[]): string | undefined {
    return programs.map((program) => this.#files.of(program)?.conflict ?? this.#conflictIn(program.inside)).find(Boolean);
  }

  /** With a rule for the program, ordinary files of the project may be changed. */
  #fileObjection(program: Program, byRule: boolean): string | undefined {
    const { uses = [], conflict } = this.#files.of(program) ?? {};
    if (conflict) return conflict;
    for (const { kind, target, decision, disturbed, guarded } of uses) {
      // git itself does not write through links.
      const isMeant = byRule ? disturbed !== "moves" || program.name === "git" : disturbed === "runs" && kind === "look";
      if (disturbed && !isMeant) return disturbedPath;
      if (decision.effect === "allow") continue;
      if (byRule && kind === "look" && !target && tellsFacts(program.name)) continue;
      if (byRule && kind === "edit" && target && !guarded && this.#isOrdinary(target.path)) continue;
      return decision.reason;
    }
    return undefined;
  }

  /** All that is below the project holds protected places. */
  #isOrdinary(written: string): boolean {
    const path = written.replace(/\/\*\*$/, "");
    const ground = { ...this.#policy.base, directories: this.#policy.directories };
    return workFolders(ground).some((folder) => isInside(folder, path)) && this.#files.guard("edit", path) === undefined;
  }
}

/** What looks like a secret is withheld where nothing but the mode lets a command run: naming it is still asking for it. */
function secretShown(environment: Looking["environment"], known: Policy["environment"]): string | undefined {
  if (environment === "all" && !known) return "it shows all variables, and which there are is not known";
  const name = environment === "all" ? undefined : environment?.find(isSecretName);
  return name === undefined ? undefined : `${name} may hold a secret`;
}

/** A variable that is set for the program may mean something to it. */
export function settingRisk(program: Program): string | undefined {
  const setting = program.settings.find(
    ({ name, value }) => !isHarmlessVariable(name, value) && !(name === "IFS" && program.name === "read"),
  );
  return setting && `${setting.name} may change what ${program.name} does`;
}
