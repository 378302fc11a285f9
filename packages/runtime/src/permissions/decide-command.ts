import { defined } from "../util/defined.ts";
import type { InertGit } from "../protocol/permission.ts";
import { CommandFiles, type Use } from "./command-files.ts";
import { forbids, forbidsText, isWholeCommand } from "./command-rules.ts";
import { ask, askBy, bypassed, planDenies } from "./decide.ts";
import { gainsRights } from "./interpreters.ts";
import { leavingBox } from "./leaving-box.ts";
import { parseCommand } from "./parse-command.ts";
import type { ParsedCommand, Program } from "./parsed-command.ts";
import { allowed, type BoxReach, type Decision, denied, type Policy, type ResolvePath } from "./policy.ts";
import { isPreset, withPresets } from "./presets.ts";
import { disturbedPath, type LetBy, ProgramObjections, settingRisk } from "./program-objections.ts";
import { riskOf } from "./risky-options.ts";
import { type Action, allows, denies, namesTool, type Rule } from "./rules.ts";
import { withScript } from "./script-names.ts";
import { secretExpanded } from "./secret-expansions.ts";
import { isBuiltin } from "./shell-builtins.ts";
import { isOrder, toldRisk } from "./told-programs.ts";
import { commandsFromInput } from "./code-runners.ts";
import { isOrdinaryExport, isOrdinaryName } from "./shell-variables.ts";
import { restsOnPaths, unsteadyPath } from "./unsteady-paths.ts";

/** A command is allowed when every part of it is. A part that is forbidden forbids all; what is not understood is never allowed by parts. */
export async function decideCommand(given: Policy, action: Action, resolve: ResolvePath): Promise<Decision> {
  const policy = withOpenPresets(given);
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
  const decision = question.unlessPathsMove(question.allowedWhole() ?? question.allowedByParts());
  if (policy.mode === "sandboxed" && decision.effect === "ask") return question.contained(await policy.box?.()) ?? decision;
  const isByMode = decision.effect === "allow" && (decision.by ?? "mode") === "mode";
  return action.outside && isByMode ? ask(policy, action, leaves) : decision;
}

/** In mode `sandboxed` a preset takes nothing out of the box: what it names runs there without a rule. */
function withOpenPresets(policy: Policy): Policy {
  const allow = policy.mode === "sandboxed" ? policy.allow.filter((rule) => !isPreset(rule)) : withPresets(policy.allow);
  return { ...policy, allow, ask: withPresets(policy.ask), deny: withPresets(policy.deny) };
}

const leaves = "Running a command outside the sandbox needs permission";
const onlyAsks: Decision = {
  effect: "allow",
  reason: "It only looks, also on the network, as the settings allow",
  by: "rule",
  source: "permissions.networkReads",
};
const onlyLooks: Decision = { effect: "allow", reason: "It only looks at the project" };

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
  readonly #objections: ProgramObjections;

  constructor({ policy, action, parsed, programs, files }: Given) {
    this.#policy = policy;
    this.#action = action;
    this.#parsed = parsed;
    this.#programs = programs;
    this.#files = files;
    this.#allow = policy.allow.filter((rule) => !rule.exactly && namesTool(rule, action));
    this.#objections = new ProgramObjections({ policy, parsed, programs, files, allow: this.#allow });
    this.#remembered = policy.allow.find((rule) => rule.exactly && allows(rule, action, policy.base));
  }

  /** What the decision rests on, when git is part of it. */
  withGit(reach: InertGit["reach"]): { git?: InertGit } {
    return this.#files.inertGit === undefined || this.#objections.inert.size === 0
      ? {}
      : { git: { folder: this.#files.inertGit, reach } };
  }

  /** A rule for git is not about folders that look like a repository: anybody can write one. */
  #withRuledGit(): { git?: InertGit } {
    const { git } = this.withGit("shell");
    const isRuled = (program: Program): boolean => /^git(?:-|$)/.test(program.name) && !this.#objections.inert.has(program);
    return this.#programs.some(isRuled) ? { git: { reach: "shell", ...git, ruled: true } } : defined({ git });
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
    const programs = this.#programs.filter((program) => !this.#objections.isExactlyAllowed(program));
    const uses = [...this.#files.redirections, ...programs.flatMap((program) => this.#files.of(program)?.uses ?? [])];
    return uses.find(({ decision }) => decision.effect === "deny")?.decision;
  }

  #matching(rules: readonly Rule[]): Rule | undefined {
    return rules.find(({ pattern, ...rule }) => {
      if (!namesTool({ pattern, ...rule }, this.#action)) return false;
      if (pattern === undefined) return true;
      return (
        forbidsText(pattern, this.#action.resource) ||
        this.#programs.flatMap(withScript).some((program) => forbids(pattern, program))
      );
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
      this.#objections.of(program, []) === undefined && (this.#files.of(program)?.uses ?? []).every(({ kind }) => kind === "look")
    );
  }

  askedFor(): Decision | undefined {
    const rule = this.#matching(this.#policy.ask);
    if (rule) return askBy(rule, ask(this.#policy, this.#action, `The rule ${rule.text} wants to be asked`));
    return this.#files.named ?? this.#files.redirections.find((use) => this.#isAskedAbout(use))?.decision;
  }

  #isAskedAbout({ kind, target }: Use): boolean {
    const { ask: asking, base } = this.#policy;
    return asking.some((rule) => target && denies(rule, { tool: this.#action.tool, kind, resource: target.path }, base));
  }

  /** By its whole text, which somebody wrote or was shown. */
  allowedExactly(): Decision | undefined {
    const rule =
      this.#remembered ??
      this.#allow.find(({ pattern }) => pattern !== undefined && isWholeCommand(pattern, this.#action.resource));
    return rule && { ...allowed(rule), ...this.#withRuledGit() };
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
    const other = this.#programs.find((program) => gainsRights(program.name) && !this.#objections.isExactlyAllowed(program));
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
        (bypassing ? this.#told(program) : (riskOf(program, 1) ?? settingRisk(program))) ??
        this.#files.of(program)?.made ??
        this.#files.of(program)?.conflict;
      if (doubt) return doubt;
    }
    return this.#files.conflict ?? (bypassing ? undefined : this.#setsMore());
  }

  /** What runs already is told something that is code, of which rules for commands and files cannot see what it does. */
  #codeTold(): string | undefined {
    const ofInput = this.#programs.filter(({ isFed, hidden }) => isFed && hidden !== commandsFromInput);
    return ofInput.map((program) => (program.hidden && this.#isWatched() ? program.hidden : this.#told(program))).find(Boolean);
  }

  #isWatched(): boolean {
    const { deny, ask: asking } = this.#policy;
    return [...deny, ...asking].some((rule) => namesTool(rule, this.#action) || namesFiles(rule));
  }

  /** Rules for other tools have nothing to say about what a program reads, changes or runs. */
  #told(program: Program): string | undefined {
    if (!this.#isWatched()) return undefined;
    const exported = this.#parsed.settings.find((setting) => setting.exported && isOrder(setting));
    if (exported) return `${exported.name} can make programs run something else`;
    return toldRisk(this.#files.of(program)?.ruled ?? program, this.#files.of(program)?.looking);
  }

  /** It sets a variable that bash or a program may give a meaning to. */
  #setsMore(): string | undefined {
    const { environment } = this.#policy;
    const mayExport = this.#allow.some(({ pattern = "" }) => /^(?:export|declare|typeset|readonly)\b/.test(pattern));
    // What only the shell itself gets to see means nothing to anybody.
    const isShellOnly = this.#programs.every(({ name, words }) => isBuiltin(name) && words[0]?.text === name);
    const found = this.#parsed.settings.find((setting) =>
      setting.exported && !mayExport && !isShellOnly
        ? !isOrdinaryExport(setting, environment)
        : !isOrdinaryName(setting, environment),
    );
    return found && `it sets ${found.name}`;
  }

  /** Mode `sandboxed`: what the box holds may run there, whatever it is. What would leave it is asked about. */
  contained(box: BoxReach | undefined): Decision | undefined {
    const { deny, ask: asking } = this.#policy;
    if (!box) return undefined;
    const doubt = deny.length + asking.length > 0 ? this.#doubt(true) : undefined;
    if (doubt) return ask(this.#policy, this.#action, `Rules forbid some of what may be run, and ${doubt}`);
    const leaving = this.#action.outside
      ? leaves
      : leavingBox({ policy: this.#policy, programs: this.#programs, uses: this.#files.all() }, box);
    if (leaving) return ask(this.#policy, this.#action, leaving);
    return { effect: "allow", reason: "The sandbox contains it" };
  }

  /** What a rule takes outside was judged by where its paths lead now. Where all is bypassed, only rules that forbid files look at paths. */
  unlessPathsMove(decision: Decision): Decision {
    const [policy, action, files] = [this.#policy, this.#action, this.#files];
    if (decision.effect !== "allow" || decision.by === undefined || !policy.mayPathsMove?.()) return decision;
    if (decision.by === "bypass" && ![...policy.deny, ...policy.ask].some(namesFiles)) return decision;
    const programs = this.#programs.filter((program) => !this.#objections.isExactlyAllowed(program));
    return restsOnPaths({ policy, action, programs, files })
      ? ask(policy, action, `Running a command outside the sandbox needs permission now: ${unsteadyPath}`)
      : decision;
  }

  allowedByParts(): Decision {
    const { understood, reason, programs } = this.#parsed;
    const path = this.#files.all().find(({ decision, target }) => decision.effect !== "allow" && target)?.target?.path;
    const no = (why: string): Decision => ({
      ...ask(this.#policy, this.#action, `Running a command needs permission in mode ${this.#policy.mode}: ${why}`),
      ...defined({ path }),
    });
    if (!understood) return no(reason ?? "it is not understood");
    const setting = this.#setsMore();
    if (setting) return no(setting);
    const words = new Set<LetBy>();
    for (const program of programs) {
      const objection = this.#objections.of(program, this.#allow, words);
      if (objection) return no(objection);
    }
    const use = this.#files.redirections.find(({ decision }) => decision.effect !== "allow");
    if (use) return no(use.decision.reason);
    if (this.#files.redirections.some(({ disturbed, kind }) => disturbed && !(disturbed === "runs" && kind === "look")))
      return no(disturbedPath);
    const told = this.#action.isInput ? this.#codeTold() : undefined;
    if (told) return no(`rules forbid some of what may be run, and ${told}`);
    const rule = [...words].find((word) => typeof word !== "string");
    const leaving = rule !== undefined || words.has("network");
    const secret = leaving ? secretExpanded(this.#action.resource, this.#parsed, this.#policy) : undefined;
    if (secret) return no(secret);
    if (!rule && words.has("network"))
      return { ...onlyAsks, ...(words.has("mode") && { partly: true }), ...this.withGit("everything") };
    if (rule) {
      // Beside a program of the user's, nothing is withheld.
      if (words.has("environment")) return no("it shows variables that a program which a rule names is given");
      // What a rule names keeps the git it knows: only the shell itself gets the other one.
      if ([...this.#objections.inert].some((program) => program.name !== "git" || !programs.includes(program)))
        return no("git is started by another program, beside one that a rule names");
      return { ...allowed(rule), ...(words.has("mode") && { partly: true }), ...this.#withRuledGit() };
    }
    const changed = [
      ...new Set(this.#files.all().flatMap(({ kind, target }) => (kind === "edit" && target ? [target.path] : []))),
    ];
    const changes: Decision = { effect: "allow", reason: `It changes ${changed.join(", ")}, which may be edited` };
    return { ...(changed.length === 0 ? onlyLooks : changes), ...this.withGit("everything") };
  }
}

function namesFiles(rule: Rule): boolean {
  return (["look", "edit"] as const).some((kind) => namesTool(rule, { tool: "", kind, resource: "" }));
}

function flatten(programs: readonly Program[]): Program[] {
  return programs.flatMap((program) => [program, ...flatten(program.inside)]);
}
