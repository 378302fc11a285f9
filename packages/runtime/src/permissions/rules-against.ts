import type { Target } from "./command-paths.ts";
import { ask, askBy } from "./decide.ts";
import type { FileUse, Program } from "./parsed-command.ts";
import { leadsToObjects } from "./object-folders.ts";
import { mayHold } from "./path-patterns.ts";
import { mayMeet, type Seen } from "./forbidden-below.ts";
import { forbiddenPattern } from "./forbidden-paths.ts";
import { type Decision, denied, type Policy } from "./policy.ts";
import { namesOfProgram, namesIn } from "./possible-names.ts";
import { readConflict } from "./read-conflict.ts";
import type { Looking } from "./read-only-commands.ts";
import { type Action, denies, namesTool, type Rule } from "./rules.ts";
import { asModule } from "./script-names.ts";
import { exactWord, type ShellWord, unknownWord } from "./shell-words.ts";
import { shownBy, shownUnknown } from "./shown-files.ts";
import { isForObjects } from "./stored-contents.ts";
import { writeConflict } from "./write-conflict.ts";

type Kind = "look" | "edit";
type Touched = { readonly kind: Kind; readonly target: Target };
type Ground = { readonly find: (use: FileUse) => Promise<Target[]>; readonly seen: Seen };

/** Rules for files that speak against something, and how a command may come into conflict with them without naming a file. */
export class RulesAgainst {
  readonly #policy: Policy;
  readonly #action: Action;
  readonly #rules: readonly { readonly rule: Rule; readonly kind: Kind; readonly effect: "deny" | "ask" }[];

  constructor(policy: Policy, action: Action) {
    this.#policy = policy;
    this.#action = action;
    this.#rules = (["deny", "ask"] as const).flatMap((effect) =>
      policy[effect].flatMap((rule) =>
        (["look", "edit"] as const).flatMap((kind) =>
          namesTool(rule, { tool: "", kind, resource: "" }) ? [{ rule, kind, effect }] : [],
        ),
      ),
    );
  }

  /** A word of a program names a file that a rule speaks against: `cp .env x` reads it as much as `cat` does. */
  async named(
    program: Program,
    by: Ground & { readonly looking: Looking | undefined; readonly ruled: Program },
  ): Promise<Decision | undefined> {
    if (this.#rules.length === 0) return undefined;
    const words = by.looking ? by.looking.reads.flatMap(namesIn) : [program, by.ruled].flatMap(namesOfProgram);
    let named: Decision | undefined;
    for (const word of words) {
      for (const target of await by.find({ word, places: program.places })) {
        if (!target) continue;
        for (const { rule, kind, effect } of this.#rules) {
          const hit = kind === "edit" && by.looking ? undefined : await this.#meets(rule, { kind, target, seen: by.seen });
          if (hit === "surely" && effect === "deny") return denied(rule);
          if (hit) named = askBy(rule, ask(this.#policy, this.#action, `The rule ${rule.text} protects what it may read`));
        }
      }
    }
    return named;
  }

  async #meets(
    rule: Rule,
    { kind, target, seen }: { kind: Kind; target: NonNullable<Target>; seen: Seen },
  ): Promise<"surely" | "maybe" | undefined> {
    const { path, pattern } = target;
    const { base } = seen;
    if (denies(rule, { tool: "", kind, resource: path }, base)) return "surely";
    if (!pattern || rule.pattern === undefined) return undefined;
    if (path.endsWith("/**") && isForObjects(rule))
      return leadsToObjects({ path, pattern }, this.#wildGlobs) ? "maybe" : undefined;
    if (path.endsWith("/**")) return (await mayMeet(rule, path.slice(0, -3), seen)) ? "maybe" : undefined;
    return mayHold(path, forbiddenPattern(rule, base), this.#wildGlobs) === "same" ? "surely" : undefined;
  }

  /** Files that are not written out may be those that rules protect. */
  unnamed(uses: readonly Touched[]): string | undefined {
    for (const { kind, target } of uses) {
      const against = target ? undefined : this.#rules.find((one) => one.kind === kind);
      if (against)
        return `it ${kind === "edit" ? "changes" : "reads"} files that are not written out, and the rule ${against.rule.text} protects some`;
    }
    return undefined;
  }

  /** It may show a file that rules protect, although no word names it. */
  async shown(program: Program, by: Ground & { readonly looking: Looking | undefined }): Promise<string | undefined> {
    const rules = this.#rules.filter(({ kind }) => kind === "look").map(({ rule }) => rule);
    if (rules.length === 0) return undefined;
    const shown = shownBy(asModule(program)) ?? (by.looking && shownUnknown(`it is not known what ${program.name} reads`));
    if (!shown) return undefined;
    const words = (shown.type === "below" ? shown.reads : undefined) ?? wordsRead(program, by.looking);
    const targets = (await Promise.all(words.map((word) => by.find({ word, places: program.places })))).flat();
    const [forObjects, written] = [rules.find(isForObjects), rules.filter((rule) => !isForObjects(rule))];
    const conflict = await readConflict({ shown, targets, wildGlobs: this.#wildGlobs }, written, by.seen);
    if (conflict !== undefined || !forObjects || shown.type !== "below") return conflict;
    return targets.some((target) => target && leadsToObjects(target, this.#wildGlobs))
      ? `it reads what git keeps of files, and the rule ${forObjects.text} protects some`
      : undefined;
  }

  /** It may change a file that rules protect, although no word names it. */
  async changed(program: Program, uses: readonly Touched[], { seen, find }: Ground): Promise<string | undefined> {
    const rules = this.#rules.filter(({ kind, rule }) => kind === "edit" && rule.pattern !== undefined).map(({ rule }) => rule);
    return writeConflict(program, uses, { rules, seen, find });
  }

  /** `shopt` or a variable may have changed what patterns stand for. */
  get #wildGlobs(): boolean {
    return /glob/i.test(this.#action.resource);
  }
}

/** Words that name what a program reads: all that may be names, where it is called in a way that is not in the tables. */
function wordsRead(program: Program, looking: Looking | undefined): readonly ShellWord[] {
  if (looking) return looking.reads.length > 0 ? looking.reads : [exactWord(".")];
  const operands = program.words.slice(1).filter((word) => !word.text.startsWith("-") || word.kind !== "exact");
  return operands.length > 0 ? operands.map((word) => (word.kind === "open" ? unknownWord : word)) : [exactWord(".")];
}
