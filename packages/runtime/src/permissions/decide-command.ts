import type { InertGit } from "../protocol/permission.ts";
import { forbids, forbidsText, isWholeCommand, wordsAllowed } from "./command-rules.ts";
import { type Ground, type Target, targetsOf } from "./command-paths.ts";
import { ask, askBy, bypassed, decideOne, planDenies } from "./decide.ts";
import { outOfReach } from "./git-reach.ts";
import { type Guard, guardOf, isHarmlessDevice, isInside, toAbsolutePattern, workFolders } from "./paths.ts";
import { mayHold, mayReach } from "./path-patterns.ts";
import { type Change, changesBefore, disturbance } from "./path-order.ts";
import { resolveWords, withoutPatterns } from "./resolve-words.ts";
import { isBuiltin } from "./shell-builtins.ts";
import { surveyFolder } from "./survey-folder.ts";
import { allowed, type BoxReach, type Decision, denied, type Policy, type ResolvePath } from "./policy.ts";
import { questionOf } from "./program-questions.ts";
import { lookingOf, type Looking, looksAtNothing } from "./read-only-commands.ts";
import { riskOf } from "./risky-options.ts";
import { readConflict } from "./read-conflict.ts";
import { type Action, allows, denies, namesTool, type Rule, unescapeGlob } from "./rules.ts";
import { type FileUse, type ParsedCommand, parseCommand, type Program } from "./shell.ts";
import { isHarmlessVariable, isOrdinaryExport, isOrdinaryName } from "./shell-variables.ts";
import { exactWord, type Needs, type ShellWord, unknownWord } from "./shell-words.ts";
import { shownBy, shownUnknown, tellsFacts } from "./shown-files.ts";
import { gainsRights, isInterpreter } from "./interpreters.ts";
import { filesNamedBy } from "./written-files.ts";
import { isOrderly, reachOfLinks } from "./link-makers.ts";

/** A command is allowed when every part of it is. A part that is forbidden forbids all; what is not understood is never allowed by parts. */
export async function decideCommand(policy: Policy, action: Action, resolve: ResolvePath): Promise<Decision> {
  const { shell = "bash" } = action;
  const known = parseCommand(action.resource);
  const parsed = shell === "bash" ? known : { ...known, understood: false, reason: `${shell} is not bash` };
  const question = new Question(policy, action, parsed);
  await question.lookAtFiles(resolve);
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
type Word = Rule | "mode" | "network";
type Use = {
  readonly kind: "look" | "edit";
  readonly target: Target;
  readonly decision: Decision;
  /** It is, or may be, a place that only a rule written for it opens. */
  readonly guarded: boolean;
  /** An earlier part of the line may make the path lead elsewhere. */
  readonly disturbed?: "moves" | "unknown" | undefined;
};
type Files = {
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

class Question {
  readonly #policy: Policy;
  readonly #action: Action;
  readonly #parsed: ParsedCommand;
  readonly #programs: readonly Program[];
  readonly #allow: readonly Rule[];
  /** An answer that was given to this very command before. */
  readonly #remembered: Rule | undefined;
  /** Rules for paths that speak against something. */
  readonly #against: readonly { rule: Rule; kind: "look" | "edit"; effect: "deny" | "ask" }[];
  readonly #files = new Map<Program, Files>();
  #redirections: readonly Use[] = [];
  #named: Decision | undefined;
  #inertGit: string | undefined;
  /** Those the mode lets run because they obey no repository. */
  readonly #inert = new Set<Program>();

  constructor(policy: Policy, action: Action, parsed: ParsedCommand) {
    this.#policy = policy;
    this.#action = action;
    this.#parsed = parsed;
    this.#programs = flatten(parsed.programs);
    this.#allow = policy.allow.filter((rule) => !rule.exactly && namesTool(rule, action));
    this.#remembered = policy.allow.find((rule) => rule.exactly && allows(rule, action, policy.base));
    this.#against = (["deny", "ask"] as const).flatMap((effect) =>
      policy[effect].flatMap((rule) =>
        (["look", "edit"] as const).flatMap((kind) =>
          namesTool(rule, { tool: "", kind, resource: "" }) ? [{ rule, kind, effect }] : [],
        ),
      ),
    );
  }

  async lookAtFiles(resolve: ResolvePath): Promise<void> {
    const { base, listFolder: list } = this.#policy;
    const ground: Ground = { base, cwd: this.#action.cwd ?? base.root, resolve: remembering(resolve) };
    const find = (use: FileUse): Promise<Target[]> => targetsOf(use, ground);
    const changes = await this.#changes(find);
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
      const looking = lookingOf(resolved) ?? ((await this.#isAnswer(program)) ? looksAtNothing : undefined);
      // A rule lets changes happen before: what is there now is what it can be judged by.
      const ruled = list ? (isFirst ? resolved : await resolveWords(program, { ground, list })) : program;
      const files = looking ? withFolder(program, looking) : filesNamedBy(ruled);
      const at = (words: readonly ShellWord[]): FileUse[] =>
        words
          .filter((word) => word.text !== "-")
          // git does not follow links.
          .map((word) => ({ word: looking?.repository ? { ...word, needs: undefined } : word, places, moment }));
      const uses = files
        ? [...(await usesOf(at(files.reads), "look")), ...(await usesOf(at(files.writes), "edit"))]
        : await this.#guardedWords(program, find);
      if (this.#against.length > 0) await this.#searchNames(program, { looking, ruled, find });
      const distrust = looking && startsGit(looking) ? await this.#distrust(program, lost) : undefined;
      const conflict = await this.#conflict(ruled, { looking, find });
      const stranger = await this.#strange(program, { looking, changed: !isFirst });
      this.#files.set(program, { looking, ruled, uses, conflict, distrust, stranger });
    }
    this.#redirections = [...(await usesOf(this.#parsed.reads, "look")), ...(await usesOf(this.#parsed.writes, "edit"))];
  }

  /** What parts of the line do to the paths of other parts. */
  async #changes(find: (use: FileUse) => Promise<Target[]>): Promise<readonly Change[]> {
    const changes: Change[] = this.#parsed.writes.flatMap(({ moment }) => (moment ? [{ moment, type: "plain", paths: [] }] : []));
    for (const program of this.#programs) {
      const { moment, places, name, inside, transparent } = program;
      if (transparent && inside.length > 0) continue;
      const looking = lookingOf(withoutPatterns(program));
      if (looking && looking.writes.length === 0) continue;
      if (await this.#isAnswer(program)) continue;
      const written = looking?.writes ?? (isOrderly(name) ? filesNamedBy(withoutPatterns(program))?.writes : undefined);
      const targets = (await Promise.all((written ?? []).map((word) => find({ word, places })))).flat();
      const reach = reachOfLinks(program);
      const paths = reach === "anywhere" ? [this.#policy.base.root] : targets.flatMap((target) => (target ? [target.path] : []));
      const isKnown = written !== undefined && paths.length >= targets.length;
      const type = reach !== undefined ? "moves" : isKnown ? "plain" : "unknown";
      changes.push({ moment, type, paths });
    }
    return changes;
  }

  async #useIn(
    { word, moment }: FileUse,
    by: { kind: "look" | "edit"; target: Target; changes: readonly Change[]; resolve: ResolvePath },
  ): Promise<Use> {
    const { target } = by;
    const use = this.#use(by.kind, target, word);
    const disturbed = target && word.text !== "." ? disturbance(target.path, moment, by.changes) : undefined;
    if (word.kind !== "below" || !target || !word.needs || use.decision.effect !== "allow") return { ...use, disturbed };
    const why = await this.#survey(target.path.replace(/\/\*\*$/, ""), word.needs, by.resolve);
    return { ...use, disturbed, decision: why === undefined ? use.decision : ask(this.#policy, this.#action, why) };
  }

  async #survey(folder: string, needs: Needs, resolve: ResolvePath): Promise<string | undefined> {
    const { listFolder: list } = this.#policy;
    if (!list) return "what is in the folder is not known";
    const mayLead = (path: string): boolean =>
      this.#use("look", { path, pattern: false }, unknownWord).decision.effect === "allow";
    return surveyFolder(folder, needs, { list, resolve, mayLead });
  }

  /** `NAME --help`, `--version` or `version`, where the project has no say in what that does. */
  async #isAnswer(program: Program): Promise<boolean> {
    const question = questionOf(program);
    if (!question) return false;
    const place = await this.#policy.programs?.place(program.name);
    return place === "other" || (place === "system" && question === "certain");
  }

  /** A name may lead to a program of the project, unless bash has it built in. */
  async #strange(program: Program, by: { looking: Looking | undefined; changed: boolean }): Promise<string | undefined> {
    const { programs } = this.#policy;
    if (!(by.looking || program.transparent) || !programs || isBuiltin(program.name) || program.words[0]?.text.includes("/"))
      return undefined;
    return (await programs.isShadowed(program.name, by.changed)) ? `${program.name} may be a program of the project` : undefined;
  }

  /** A repository can make a git that only looks run programs: it must be the one that cannot be told to. */
  async #distrust(program: Program, lost: ReadonlySet<Program>): Promise<string | undefined> {
    if (this.#policy.mode === "bypassPermissions") return undefined; // nothing rests on it
    this.#inertGit ??= await this.#policy.inertGit?.();
    if (this.#inertGit === undefined) return "git cannot be kept from running what a repository names";
    const [name] = program.words;
    return name?.text === program.name && !lost.has(program)
      ? undefined
      : "this git is not found by its name, and may run what a repository names";
  }

  /** What the decision rests on, when git is part of it. */
  withGit(reach: InertGit["reach"]): { git?: InertGit } {
    return this.#inertGit === undefined || this.#inert.size === 0 ? {} : { git: { folder: this.#inertGit, reach } };
  }

  #use(kind: "look" | "edit", target: Target, word: ShellWord): Use {
    const action: Action = { tool: this.#action.tool, kind, resource: target?.path ?? "" };
    if (!target) {
      const decision = ask(this.#policy, this.#action, "It names a file that is not written out");
      return { kind, target, decision, guarded: /^\/+proc\//.test(word.text) };
    }
    return { kind, target, decision: decideOne(this.#policy, action), guarded: this.#guard(kind, target.path) !== undefined };
  }

  #guard(kind: "look" | "edit", path: string): Guard | undefined {
    return guardOf(path, kind, { ...this.#policy.base, directories: this.#policy.directories });
  }

  /** A program whose ways with files are not known may write to whatever protected place its words name. */
  async #guardedWords(program: Program, find: (use: FileUse) => Promise<Target[]>): Promise<Use[]> {
    if (program.transparent) return [];
    const uses: Use[] = [];
    // The script of an interpreter is only read.
    const script = isInterpreter(program.name) ? program.words.findIndex((word, at) => at > 0 && !word.text.startsWith("-")) : 0;
    for (const word of (script === -1 ? [] : program.words.slice(script + 1)).flatMap(namesIn)) {
      for (const target of await find({ word, places: program.places })) {
        const guard = target && (this.#guard("edit", target.path) ?? this.#guard("look", target.path));
        if (!target || !guard || isInside(target.path, this.#policy.base.root)) continue;
        const decision = ask(this.#policy, this.#action, `${target.path} is protected: ${guard.reason}`);
        uses.push({ kind: "edit", target, decision, guarded: true });
      }
    }
    return uses;
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
          if (!hit || this.#named?.effect === "deny") continue;
          this.#named =
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

  /** `shopt` or a variable may have changed what patterns stand for. */
  get #wildGlobs(): boolean {
    return /glob/i.test(this.#action.resource);
  }

  forbidden(): Decision | undefined {
    const { deny, mode } = this.#policy;
    const rule = this.#matching(deny);
    if (rule) return denied(rule);
    if (this.#named?.effect === "deny") return this.#named;
    const use = this.#uses().find((one) => one.decision.effect === "deny" && this.#isForbidden(one));
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
    const uses = [...this.#redirections, ...programs.flatMap((program) => this.#files.get(program)?.uses ?? [])];
    return uses.find(({ decision }) => decision.effect === "deny")?.decision;
  }

  /** To the letter, where the command starts: elsewhere the same words name other files. */
  #isExactlyAllowed(program: Program): boolean {
    const isHere = program.places?.length === 1 && program.places[0]?.length === 0;
    return isHere && this.#allow.some(({ pattern }) => pattern !== undefined && wordsAllowed(pattern, program)?.whole === true);
  }

  #uses(): Use[] {
    return [...this.#redirections, ...[...this.#files.values()].flatMap((files) => files.uses)];
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
      this.#redirections.every(quiet) &&
      this.#parsed.programs.every((program) => this.#only(program))
    );
  }

  #only(program: Program): boolean {
    return (
      this.#objection(program, []) === undefined && (this.#files.get(program)?.uses ?? []).every(({ kind }) => kind === "look")
    );
  }

  askedFor(): Decision | undefined {
    const rule = this.#matching(this.#policy.ask);
    if (rule) return askBy(rule, ask(this.#policy, this.#action, `The rule ${rule.text} wants to be asked`));
    return this.#named;
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
    return this.#uses().find(({ decision, guarded }) => guarded && decision.effect !== "allow")?.decision.reason;
  }

  /** Why it may be more than it seems. */
  #doubt(bypassing: boolean): string | undefined {
    const { understood, reason } = this.#parsed;
    if (!understood) return reason ?? "it is not understood";
    for (const program of this.#programs) {
      const doubt =
        program.hidden ??
        (bypassing ? undefined : (riskOf(program, 1) ?? settingRisk(program))) ??
        this.#files.get(program)?.conflict;
      if (doubt) return doubt;
    }
    return bypassing ? undefined : this.#setsMore();
  }

  /** It sets a variable that bash or a program may give a meaning to. */
  #setsMore(): string | undefined {
    const { environment } = this.#policy;
    const mayExport = this.#allow.some(({ pattern = "" }) => /^(?:export|declare|typeset|readonly)\b/.test(pattern));
    const found = this.#parsed.settings.find(({ name, exported }) =>
      exported && !mayExport ? !isOrdinaryExport(name, environment) : !isOrdinaryName(name, environment),
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
    const uses = [...this.#redirections, ...[...this.#files.values()].flatMap((files) => files.uses)];
    const use = uses.find(
      ({ kind, target }) => kind === "edit" && target && !folders.some((folder) => isInside(folder, target.path)),
    );
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
    const use = this.#redirections.find(({ decision }) => decision.effect !== "allow");
    if (use) return no(use.decision.reason);
    if (this.#redirections.some(({ disturbed }) => disturbed)) return no(disturbedPath);
    const rule = [...words].find((word) => typeof word !== "string");
    if (!rule && words.has("network"))
      return { ...onlyAsks, ...(words.has("mode") && { partly: true }), ...this.withGit("everything") };
    if (rule) {
      // What a rule names keeps the git it knows: only the shell itself gets the other one.
      if ([...this.#inert].some((program) => program.name !== "git" || !programs.includes(program)))
        return no("git is started by another program, beside one that a rule names");
      return { ...allowed(rule), ...(words.has("mode") && { partly: true }), ...this.withGit("shell") };
    }
    const changed = [...new Set(this.#uses().flatMap(({ kind, target }) => (kind === "edit" && target ? [target.path] : [])))];
    const changes: Decision = { effect: "allow", reason: `It changes ${changed.join(", ")}, which may be edited` };
    return { ...(changed.length === 0 ? onlyLooks : changes), ...this.withGit("everything") };
  }

  /** Why this program may not run; undefined when it may. */
  #objection(program: Program, allow: readonly Rule[], used?: Set<Word>): string | undefined {
    let objection = settingRisk(program);
    for (const rule of allow) {
      const match = rule.pattern === undefined ? undefined : wordsAllowed(rule.pattern, program);
      if (!match) continue;
      const why =
        settingRisk(program) ??
        (match.whole ? undefined : riskOf(this.#files.get(program)?.ruled ?? program, match.words)) ??
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
    const { looking, stranger } = this.#files.get(program) ?? {};
    if (program.inside.length > 0 || program.transparent) {
      // `find` looks by itself, too; the others only run what is inside.
      if (!program.transparent || (/^(?:find|xargs)$/.test(program.name) && !looking)) return `${program.name} is not allowed`;
      return this.#firstObjection(program.inside, { allow, used }) ?? stranger ?? this.#fileObjection(program, false);
    }
    if (!looking) return `no rule allows ${program.name || "it"}`;
    if (looking.network && !this.#policy.networkReads) return `${program.name} asks somebody on the network`;
    const why = this.#files.get(program)?.distrust ?? stranger ?? this.#fileObjection(program, false);
    if (why !== undefined) return why;
    used?.add(looking.network ? "network" : "mode");
    if (startsGit(looking)) this.#inert.add(program);
    return undefined;
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
    const { uses = [], conflict } = this.#files.get(program) ?? {};
    if (conflict) return conflict;
    for (const { kind, target, decision, disturbed } of uses) {
      // git itself does not write through links.
      if (disturbed && !(byRule && (disturbed === "unknown" || program.name === "git"))) return disturbedPath;
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
    return workFolders(ground).some((folder) => isInside(folder, path)) && this.#guard("edit", path) === undefined;
  }
}

/** Itself, or as a helper: what asks others on the network looks at the repository first, to know whom. */
function startsGit({ repository, network }: Looking): boolean {
  return repository !== undefined || network === true;
}

/** Each path once: the same folder is behind most words of a command. */
function remembering(resolve: ResolvePath): ResolvePath {
  const known = new Map<string, Promise<string>>();
  return (path) => {
    const found = known.get(path) ?? resolve(path);
    known.set(path, found);
    return found;
  };
}

function flatten(programs: readonly Program[]): Program[] {
  return programs.flatMap((program) => [program, ...flatten(program.inside)]);
}

function settingRisk(program: Program): string | undefined {
  const setting = program.settings.find(({ name }) => !isHarmlessVariable(name) && !(name === "IFS" && program.name === "read"));
  return setting && `${setting.name} may change what ${program.name} does`;
}

/** Programs that look at the folder they are in when no other is named. */
const lookAround = new Set(["ls", "find", "rg", "fd", "tree", "du", "grep"]);

function withFolder(program: Program, looking: Looking): Looking {
  const implied = looking.repository !== undefined || (lookAround.has(program.name) && looking.reads.length === 0);
  return implied ? { ...looking, reads: [...looking.reads, exactWord(".")] } : looking;
}

/** The address in a word, as curl and git take them: `https://host/…`, `git@host:path`. */
function addressIn(word: string): URL | undefined {
  const written = /\b(?:https?|ssh|git|ftps?|wss?):\/\/[^\s'"]+/.exec(word)?.[0];
  const short = /^[\w.-]+@([\w.-]+):(?!\/\/)/.exec(word)?.[1];
  const text = written ?? (short && `ssh://${short}`);
  return text !== undefined && URL.canParse(text) ? new URL(text) : undefined;
}

/** Words that name what a program reads: all that may be names, where it is called in a way that is not in the tables. */
function wordsRead(program: Program, { looking }: { looking: Looking | undefined }): readonly ShellWord[] {
  if (looking) return looking.reads.length > 0 ? looking.reads : [exactWord(".")];
  const operands = program.words.slice(1).filter((word) => !word.text.startsWith("-") || word.kind !== "exact");
  return operands.length > 0 ? operands.map((word) => (word.kind === "open" ? unknownWord : word)) : [exactWord(".")];
}

/** The parts of a word that may be names of files: `--file=x`, `-fx`, `@x`, `HEAD:x`, `f=@x;type=y`. */
function namesIn(word: ShellWord): ShellWord[] {
  if (word.kind === "open") return [];
  const { text } = word;
  const starts = [...text.matchAll(/[=@:<,]/g)].slice(0, 16).map(({ index }) => text.slice(index + 1));
  const parts = [...starts, ...starts.map((part) => part.replace(/[;,].*/s, "")), text.replace(/^-\w/, "")];
  const names = new Set(parts.filter((part) => part !== "" && part !== text));
  return [word, ...[...names].map((part) => ({ ...word, text: part, tilde: part.startsWith("~/") }))];
}
