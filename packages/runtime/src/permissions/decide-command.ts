import type { InertGit } from "../protocol/permission.ts";
import { CommandFiles, startsGit, type Use } from "./command-files.ts";
import { forbids, forbidsText, isWholeCommand, wordsAllowed } from "./command-rules.ts";
import { ask, askBy, bypassed, planDenies } from "./decide.ts";
import { gainsRights, isInterpreter } from "./interpreters.ts";
import { workFolders } from "./paths.ts";
import { isInside } from "../util/is-inside.ts";
import { allowed, type BoxReach, type Decision, denied, type Policy, type ResolvePath } from "./policy.ts";
import { riskOf } from "./risky-options.ts";
import { type Action, allows, denies, namesTool, type Rule } from "./rules.ts";
import type { Looking } from "./read-only-commands.ts";
import { isSecretName } from "../util/secret-names.ts";
import { isBuiltin } from "./shell-builtins.ts";
import { parseCommand } from "./parse-command.ts";
import type { ParsedCommand, Program } from "./parsed-command.ts";
import { isHarmlessVariable, isOrdinaryExport, isOrdinaryName } from "./shell-variables.ts";
import { tellsFacts } from "./shown-files.ts";

/** A command is allowed when every part of it is. A part that is forbidden forbids all; what is not understood is never allowed by parts. */
export async function decideCommand(policy: Policy, action: Action, resolve: ResolvePath): Promise<Decision> {
  const { shell = "bash" } = action;
  const known = parseCommand(action.resource);
  const parsed = shell === "bash" ? known : { ...known, understood: false, reason: `${shell} is not bash` };
  const programs = flatten(parsed.programs);
  const files = await CommandFiles.look({ policy, action, parsed, programs }, resolve);
  const question = new Question({ policy, action, parsed, programs, files });
  const forbidden = question.forbidden();
  if (forbidden) return forbidden;
  if (policy.mode === "plan")
    return question.looksOnly() ? (question.askedFor() ?? { ...onlyLooks, ...question.withGit("everything") }) : planDenies;
  const settled = question.askedFor() ?? question.allowedExactly() ?? question.guarded();
  if (settled) return settled;
  const decision = question.allowedWhole() ?? question.allowedByParts();
  if (policy.mode === "sandboxed" && decision.effect === "ask") return question.contained(await policy.box?.()) ?? decision;
  const isByMode = decision.effect === "allow" && (decision.by ?? "mode") === "mode";
  return action.outside && isByMode ? ask(policy, action, leaves) : decision;
}

const leaves = "Running a command outside the sandbox needs permission";
const disturbedPath = "an earlier part of it may change where a path leads";
const onlyAsks: Decision = {
  effect: "allow",
  reason: "It only looks, also on the network, as the settings allow",
  by: "rule",
  source: "permissions.networkReads",
};
const onlyLooks: Decision = { effect: "allow", reason: "It only looks at the project" };

/** What lets a program of a command run. */
type Word = Rule | "mode" | "network" | "environment";
type Given = {
  readonly policy: Policy;
  readonly action: Action;
  readonly parsed: ParsedCommand;
  readonly programs: readonly Program[];
  readonly files: CommandFiles;
};

class Question {
  readonly #policy: Policy;
  readonly #action: Action;
  readonly #parsed: ParsedCommand;
  readonly #programs: readonly Program[];
  readonly #allow: readonly Rule[];
  /** An answer that was given to this very command before. */
  readonly #remembered: Rule | undefined;
  readonly #files: CommandFiles;
  /** Those the mode lets run because they obey no repository. */
  readonly #inert = new Set<Program>();

  constructor({ policy, action, parsed, programs, files }: Given) {
    this.#policy = policy;
    this.#action = action;
    this.#parsed = parsed;
    this.#programs = programs;
    this.#files = files;
    this.#allow = policy.allow.filter((rule) => !rule.exactly && namesTool(rule, action));
    this.#remembered = policy.allow.find((rule) => rule.exactly && allows(rule, action, policy.base));
  }

  /** What the decision rests on, when git is part of it. */
  withGit(reach: InertGit["reach"]): { git?: InertGit } {
    return this.#files.inertGit === undefined || this.#inert.size === 0 ? {} : { git: { folder: this.#files.inertGit, reach } };
  }

  forbidden(): Decision | undefined {
    const { deny, mode } = this.#policy;
    const rule = this.#matching(deny);
    if (rule) return denied(rule);
    if (this.#files.named?.effect === "deny") return this.#files.named;
    const use = this.#files.all().find((one) => one.decision.effect === "deny" && this.#isForbidden(one));
    if (use && mode !== "plan") return use.decision;
    if (this.#parsed.tooLarge && deny.length > 0)
      return { effect: "deny", reason: `Deny rules cannot be checked: ${this.#parsed.reason}` };
    return undefined;
  }

  #isForbidden({ kind, target }: Use): boolean {
    const { deny, base } = this.#policy;
    return deny.some((rule) => denies(rule, { tool: this.#action.tool, kind, resource: target?.path ?? "" }, base));
  }

  /** What is denied without a rule, unless somebody wrote a rule for exactly this. */
  guarded(): Decision | undefined {
    const programs = this.#programs.filter((program) => !this.#isExactlyAllowed(program));
    const uses = [...this.#files.redirections, ...programs.flatMap((program) => this.#files.of(program)?.uses ?? [])];
    return uses.find(({ decision }) => decision.effect === "deny")?.decision;
  }

  /** To the letter, where the command starts: elsewhere the same words name other files. */
  #isExactlyAllowed(program: Program): boolean {
    const isHere = program.places?.length === 1 && program.places[0]?.length === 0;
    return isHere && this.#allow.some(({ pattern }) => pattern !== undefined && wordsAllowed(pattern, program)?.whole === true);
  }

  #matching(rules: readonly Rule[]): Rule | undefined {
    return rules.find(({ pattern, ...rule }) => {
      if (!namesTool({ pattern, ...rule }, this.#action)) return false;
      if (pattern === undefined) return true;
      return forbidsText(pattern, this.#action.resource) || this.#programs.some((program) => forbids(pattern, program));
    });
  }

  /** Plan mode: no rule can make it change something. */
  looksOnly(): boolean {
    const { understood } = this.#parsed;
    const quiet = (use: Use): boolean => use.kind === "look" && use.decision.effect === "allow" && !use.disturbed;
    return (
      understood &&
      this.#setsMore() === undefined &&
      this.#files.redirections.every(quiet) &&
      this.#parsed.programs.every((program) => this.#only(program))
    );
  }

  #only(program: Program): boolean {
    return (
      this.#objection(program, []) === undefined && (this.#files.of(program)?.uses ?? []).every(({ kind }) => kind === "look")
    );
  }

  askedFor(): Decision | undefined {
    const rule = this.#matching(this.#policy.ask);
    if (rule) return askBy(rule, ask(this.#policy, this.#action, `The rule ${rule.text} wants to be asked`));
    return this.#files.named;
  }

  /** By its whole text, which somebody wrote or was shown. */
  allowedExactly(): Decision | undefined {
    const rule =
      this.#remembered ??
      this.#allow.find(({ pattern }) => pattern !== undefined && isWholeCommand(pattern, this.#action.resource));
    return rule && allowed(rule);
  }

  /** With the whole tool, or because nothing is asked. */
  allowedWhole(): Decision | undefined {
    const { mode, deny } = this.#policy;
    const whole = this.#allow.find(({ pattern }) => pattern === undefined);
    if (!whole && mode !== "bypassPermissions") return undefined;
    const yes = whole ? allowed(whole) : bypassed;
    const beyond = mode === "bypassPermissions" ? undefined : this.#beyondAnyRule();
    if (beyond) return ask(this.#policy, this.#action, beyond);
    const watched = deny.length > 0 || this.#policy.ask.length > 0;
    const doubt = watched ? this.#doubt(mode === "bypassPermissions") : undefined;
    return doubt ? ask(this.#policy, this.#action, `Rules forbid some of what may be run, and ${doubt}`) : yes;
  }

  /** Other rights and protected places are not meant by a rule for all commands. */
  #beyondAnyRule(): string | undefined {
    const other = this.#programs.find((program) => gainsRights(program.name) && !this.#isExactlyAllowed(program));
    if (other) return `${other.name} runs programs with other rights`;
    return this.#files.all().find(({ decision, guarded }) => guarded && decision.effect !== "allow")?.decision.reason;
  }

  /** Why it may be more than it seems. */
  #doubt(bypassing: boolean): string | undefined {
    const { understood, reason } = this.#parsed;
    if (!understood) return reason ?? "it is not understood";
    for (const program of this.#programs) {
      const doubt =
        program.hidden ??
        (bypassing ? undefined : (riskOf(program, 1) ?? settingRisk(program))) ??
        this.#files.of(program)?.conflict;
      if (doubt) return doubt;
    }
    return this.#files.conflict ?? (bypassing ? undefined : this.#setsMore());
  }

  /** It sets a variable that bash or a program may give a meaning to. */
  #setsMore(): string | undefined {
    const { environment } = this.#policy;
    const mayExport = this.#allow.some(({ pattern = "" }) => /^(?:export|declare|typeset|readonly)\b/.test(pattern));
    // What only the shell itself gets to see means nothing to anybody.
    const isShellOnly = this.#programs.every(({ name, words }) => isBuiltin(name) && words[0]?.text === name);
    const found = this.#parsed.settings.find(({ name, exported }) =>
      exported && !mayExport && !isShellOnly ? !isOrdinaryExport(name, environment) : !isOrdinaryName(name, environment),
    );
    return found && `it sets ${found.name}`;
  }

  /** Mode `sandboxed`: what the box holds may run there, whatever it is. What would leave it is asked about. */
  contained(box: BoxReach | undefined): Decision | undefined {
    const { deny, ask: asking } = this.#policy;
    if (!box) return undefined;
    const doubt = deny.length + asking.length > 0 ? this.#doubt(true) : undefined;
    if (doubt) return ask(this.#policy, this.#action, `Rules forbid some of what may be run, and ${doubt}`);
    const leaving = this.#action.outside ? leaves : (this.#writesOutside(box) ?? this.#reachesOutside(box));
    if (leaving) return ask(this.#policy, this.#action, leaving);
    return { effect: "allow", reason: "The sandbox contains it" };
  }

  #writesOutside({ writable }: BoxReach): string | undefined {
    const ground = { ...this.#policy.base, directories: this.#policy.directories };
    const folders = [...workFolders(ground), ...this.#policy.readable, ...writable, "/tmp"];
    const use = this.#files
      .all()
      .find(({ kind, target }) => kind === "edit" && target && !folders.some((folder) => isInside(folder, target.path)));
    return use?.target ? `Changing ${use.target.path}, outside the sandbox, needs permission` : undefined;
  }

  #reachesOutside({ reaches }: BoxReach): string | undefined {
    const addresses = this.#programs.flatMap(({ words }) => words.flatMap(({ text }) => addressIn(text) ?? []));
    const far = addresses.find((address) => !reaches(address));
    return far && `Reaching ${far.host}, outside the sandbox, needs permission`;
  }

  allowedByParts(): Decision {
    const { understood, reason, programs } = this.#parsed;
    const no = (why: string): Decision =>
      ask(this.#policy, this.#action, `Running a command needs permission in mode ${this.#policy.mode}: ${why}`);
    if (!understood) return no(reason ?? "it is not understood");
    const setting = this.#setsMore();
    if (setting) return no(setting);
    const words = new Set<Word>();
    for (const program of programs) {
      const objection = this.#objection(program, this.#allow, words);
      if (objection) return no(objection);
    }
    const use = this.#files.redirections.find(({ decision }) => decision.effect !== "allow");
    if (use) return no(use.decision.reason);
    if (this.#files.redirections.some(({ disturbed, kind }) => disturbed && !(disturbed === "runs" && kind === "look")))
      return no(disturbedPath);
    const rule = [...words].find((word) => typeof word !== "string");
    if (!rule && words.has("network"))
      return { ...onlyAsks, ...(words.has("mode") && { partly: true }), ...this.withGit("everything") };
    if (rule) {
      // Beside a program of the user's, nothing is withheld.
      if (words.has("environment")) return no("it shows variables that a program which a rule names is given");
      // What a rule names keeps the git it knows: only the shell itself gets the other one.
      if ([...this.#inert].some((program) => program.name !== "git" || !programs.includes(program)))
        return no("git is started by another program, beside one that a rule names");
      return { ...allowed(rule), ...(words.has("mode") && { partly: true }), ...this.withGit("shell") };
    }
    const changed = [
      ...new Set(this.#files.all().flatMap(({ kind, target }) => (kind === "edit" && target ? [target.path] : []))),
    ];
    const changes: Decision = { effect: "allow", reason: `It changes ${changed.join(", ")}, which may be edited` };
    return { ...(changed.length === 0 ? onlyLooks : changes), ...this.withGit("everything") };
  }

  /** Why this program may not run; undefined when it may. */
  #objection(program: Program, allow: readonly Rule[], used?: Set<Word>): string | undefined {
    let objection = settingRisk(program);
    for (const rule of this.#mustBeInert(program) ? [] : allow) {
      const match = rule.pattern === undefined ? undefined : wordsAllowed(rule.pattern, program);
      if (!match) continue;
      const why =
        settingRisk(program) ??
        (match.whole ? undefined : riskOf(this.#files.of(program)?.ruled ?? program, match.words)) ??
        this.#insideObjection(program, { allow, used, words: match.words }) ??
        (match.whole && this.#isExactlyAllowed(program) ? undefined : this.#fileObjection(program, true));
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
    if (startsGit(looking)) this.#inert.add(program);
    return undefined;
  }

  /** The names that it prints are used as files: no rule for git says that git's index holds only harmless ones. */
  #mustBeInert(program: Program): boolean {
    const words = [...this.#programs.flatMap((one) => one.words), ...this.#parsed.reads.map(({ word }) => word)];
    return (
      program.name === "git" &&
      program.words.some(({ text }) => text === "ls-files") &&
      words.some(({ needs }) => needs?.index === true)
    );
  }

  #firstObjection(programs: readonly Program[], by: { allow: readonly Rule[]; used: Set<Word> | undefined }): string | undefined {
    for (const program of programs) {
      const objection = this.#objection(program, by.allow, by.used);
      if (objection) return objection;
    }
    return undefined;
  }

  /** A rule for the outer program covers what is inside only if it spells that out, or if running anything is what the program is for. */
  #insideObjection(
    program: Program,
    by: { allow: readonly Rule[]; used: Set<Word> | undefined; words: number },
  ): string | undefined {
    const { name, inside, insideAt, hidden } = program;
    if (isInterpreter(name)) return undefined;
    if (hidden && name !== "git") return hidden; // of git, the options that run something are known
    if (insideAt !== undefined && by.words > insideAt) return undefined;
    return this.#firstObjection(inside, by);
  }

  /** With a rule for the program, ordinary files of the project may be changed. */
  #fileObjection(program: Program, byRule: boolean): string | undefined {
    const { uses = [], conflict } = this.#files.of(program) ?? {};
    if (conflict) return conflict;
    for (const { kind, target, decision, disturbed } of uses) {
      // git itself does not write through links.
      const isMeant = byRule ? disturbed !== "moves" || program.name === "git" : disturbed === "runs" && kind === "look";
      if (disturbed && !isMeant) return disturbedPath;
      if (decision.effect === "allow") continue;
      if (byRule && kind === "look" && !target && tellsFacts(program.name)) continue;
      if (byRule && kind === "edit" && target && this.#isOrdinary(target.path)) continue;
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

function flatten(programs: readonly Program[]): Program[] {
  return programs.flatMap((program) => [program, ...flatten(program.inside)]);
}

/** What looks like a secret is withheld where nothing but the mode lets a command run: naming it is still asking for it. */
function secretShown(environment: Looking["environment"], known: Policy["environment"]): string | undefined {
  if (environment === "all" && !known) return "it shows all variables, and which there are is not known";
  const name = environment === "all" ? undefined : environment?.find(isSecretName);
  return name === undefined ? undefined : `${name} may hold a secret`;
}

function settingRisk(program: Program): string | undefined {
  const setting = program.settings.find(
    ({ name, value }) => !isHarmlessVariable(name, value) && !(name === "IFS" && program.name === "read"),
  );
  return setting && `${setting.name} may change what ${program.name} does`;
}

/** The address in a word, as curl and git take them: `https://host/…`, `git@host:path`. */
function addressIn(word: string): URL | undefined {
  const written = /\b(?:https?|ssh|git|ftps?|wss?):\/\/[^\s'"]+/.exec(word)?.[0];
  const short = /^[\w.-]+@([\w.-]+):(?!\/\/)/.exec(word)?.[1];
  const text = written ?? (short && `ssh://${short}`);
  return text !== undefined && URL.canParse(text) ? new URL(text) : undefined;
}
